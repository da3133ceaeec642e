#include "evaluate/cost/tile_solution.h"

#include "evaluate/cost/zigzag_cost.h"
#include "mapping/canonical.h"
#include "mapping/kept_mappings.h"
#include "mapping/key.h"
#include "mapping/operators.h"
#include "mapping/order.h"
#include "mapping/precision.h"
#include "mapping/rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr std::int64_t unlimited_bits = std::int64_t{1} << 60;

// Bits of an operand in one memory of the target, all instances together.
double held_bits(const Problem& problem, const MappedProblem& mapped, std::size_t operand, std::uint8_t memory) {
  const auto& levels = mapped.cost.levels[operand];
  const auto level = std::ranges::find(levels, memory);
  if (level == levels.end()) return 0;
  // What passes between nests is there piece by piece.
  const auto piece = static_cast<double>(problem.operands[operand].piece_bits);
  if (piece > 0 && level + 1 == levels.end()) return piece;
  const std::uint8_t cut = mapped.mapping.cuts[operand][static_cast<std::size_t>(level - levels.begin())];
  std::vector<double> extents(problem.loops.size(), 1);
  for (const SpatialLoop& loop : mapped.mapping.spatial) extents[loop.loop] *= static_cast<double>(loop.size);
  for (std::size_t i = 0; i < cut; ++i) {
    const TemporalLoop& loop = mapped.mapping.temporal[i];
    extents[loop.loop] *= static_cast<double>(loop.size);
  }
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents[i] = std::min(extents[i], static_cast<double>(problem.loops[i].size));
  }
  return elements(problem.operands[operand], extents) * problem.operands[operand].bits;
}

void add_use(std::vector<PortUse>& uses, std::uint8_t level, std::int8_t port, double bits) {
  for (PortUse& use : uses) {
    if (use.level == level && use.port == port) {
      use.bits += bits;
      return;
    }
  }
  uses.push_back({level, port, bits});
}

// Over the first port of home memory that can.
void stream_bits(TileCost& cost, const Hardware& hardware, const CorePlaces& places, const Core& core, std::size_t path,
                 bool reads, double bits) {
  const auto level =
      static_cast<std::size_t>(std::ranges::find(core.levels, places.home[path], &Level::memory) - core.levels.begin());
  const Memory& home = hardware[places.home[path]];
  (reads ? cost.home_read_bits : cost.home_write_bits) += bits;
  for (std::size_t p = 0; p < home.ports.size(); ++p) {
    if (!fits(home.ports[p].kind, reads ? Transfer::to_low : Transfer::from_low)) continue;
    add_use(cost.ports, static_cast<std::uint8_t>(level), static_cast<std::int8_t>(p), bits);
    cost.level_pj[level] += bits / static_cast<double>(home.ports[p].max_bits) * (reads ? home.read_pj : home.write_pj);
    break;
  }
}

// The same with the positions that its steps leave out between those that it touches.
ProblemOperand without_gaps(ProblemOperand operand, std::span<const double> sizes) {
  for (ProblemAxis& axis : operand.axes) {
    if (axis.scattered || axis.divisor != 1 || axis.terms.empty()) continue;
    const auto step = [](const Term& term) { return std::abs(term.factor); };
    const auto longest = std::ranges::max_element(axis.terms, {}, step);
    double inside = static_cast<double>(axis.span);
    for (auto term = axis.terms.begin(); term != axis.terms.end(); ++term) {
      if (term != longest) inside += static_cast<double>(step(*term)) * (sizes[term->loop] - 1);
    }
    const double gap = static_cast<double>(step(*longest)) - inside;
    if (gap > 0) axis.span += static_cast<std::int64_t>(gap);
  }
  return operand;
}

// A core that is described by its rate says nothing of how often it reads what streams: each element moves once. One
// without a memory of its own works on home itself.
void stream_once(TileCost& cost, const Problem& problem, const Hardware& hardware, const CorePlaces& places,
                 const Core& core, std::uint8_t streamed) {
  if (std::ranges::none_of(places.local, &MemoryId::valid)) return;
  std::vector<double> sizes;
  for (const Loop& loop : problem.loops) sizes.push_back(static_cast<double>(loop.size));
  for (const ProblemOperand& operand : problem.operands) {
    const auto path = static_cast<std::size_t>(operand.path);
    // What passes between nests is its own business.
    if ((streamed >> path & 1U) == 0 || operand.piece_bits > 0) continue;
    const double bits = elements(operand, sizes) * operand.bits;
    const auto move = [&](bool reads) { stream_bits(cost, hardware, places, core, path, reads, bits); };
    if (operand.written) move(false);
    if (!operand.written || operand.continues) move(true);
  }
}

// The gradient of a convolution whose steps are longer than its kernel adds to some elements. The zeros between them
// are stored too: they stream once, with the results.
void stream_gaps(TileCost& cost, const Problem& problem, const Hardware& hardware, const CorePlaces& places,
                 const Core& core, std::uint8_t streamed) {
  constexpr auto path = static_cast<std::size_t>(Path::output);
  if ((streamed >> path & 1U) == 0 || !places.home[path].valid()) return;
  if (std::ranges::none_of(places.local, &MemoryId::valid)) return;  // it works on home itself
  std::vector<double> sizes;
  for (const Loop& loop : problem.loops) sizes.push_back(static_cast<double>(loop.size));
  for (const ProblemOperand& operand : problem.operands) {
    if (!operand.written || operand.continues || operand.piece_bits > 0) continue;
    const double gaps = elements(without_gaps(operand, sizes), sizes) - elements(operand, sizes);
    if (gaps > 0) stream_bits(cost, hardware, places, core, path, false, gaps * operand.bits);
  }
}

// As one of the core's units with its operations works on it, or the core that is described by its rate. The cost that
// a user gives names no unit: of several the one that moves most.
Problem as_on(const Core& core, const Problem& problem, std::string* note) {
  if (core.rate) {
    Unit whole;
    whole.name = "core";
    whole.precisions = core.rate->precisions;
    return adapt(problem, whole, note);
  }
  const auto bits = [](const Problem& each) {
    double sum = 0;
    for (const ProblemOperand& operand : each.operands) sum += operand.bits;
    return sum;
  };
  std::optional<Problem> widest;
  for (const Unit& unit : core.units) {
    if (!can_do(unit, problem)) continue;
    std::string said;
    Problem adapted = adapt(problem, unit, &said);
    if (widest && bits(adapted) <= bits(*widest)) continue;
    widest = std::move(adapted);
    *note = std::move(said);
  }
  return widest ? *std::move(widest) : problem;
}

void add_note(TileSolution& solution, const Core& core, const std::string& note) {
  if (!note.empty()) solution.notes.push_back(fmt::format("core {}: {}", core.type, note));
}

// What streams cannot be faster than the port that it takes longest at.
double streaming_cycles(const TileCost& cost, const Hardware& hardware, const CorePlaces& places, const Core& core) {
  double cycles = 0;
  for (const MemoryId home : places.home) {
    if (!home.valid()) continue;
    const auto level = std::ranges::find(core.levels, home, &Level::memory) - core.levels.begin();
    const std::vector<Port>& ports = hardware[home].ports;
    for (const PortUse& use : cost.ports) {
      if (use.level != level || static_cast<std::size_t>(use.port) >= ports.size()) continue;
      const double width = ports[static_cast<std::size_t>(use.port)].bits_per_cycle();
      if (width > 0) cycles = std::max(cycles, use.bits / width);
    }
  }
  return cycles;
}

// Takes away, from every path that does not stream, the levels above the core's local memory, and from the others those
// above home.
void keep_levels(Target& target, const CorePlaces& core, std::uint8_t streamed) {
  for (std::size_t path = 0; path < path_count; ++path) {
    auto& levels = target.levels[path];
    const bool streams = (streamed >> path & 1U) != 0 || !core.local[path].valid();
    const MemoryId top = streams ? core.home[path] : core.local[path];
    while (levels.size() > 1 && target.memories[levels.back()].memory != top) {
      target.memories[levels.back()].port[path].fill(no_port);
      levels.pop_back();
    }
  }
  // Whether all of a step fits its home is a question of its own.
  for (TargetMemory& memory : target.memories) {
    if (std::ranges::find(core.home, memory.memory) != core.home.end()) memory.size_bits = unlimited_bits;
  }
}

const std::array<MemoryId, path_count>& homes_of(const RoutedMachine& machine, std::uint32_t kind) {
  return machine[machine.first_of_kind(kind)].home;
}

Expected<MappedProblem> search_anew(const Problem& problem, const Target& target, const SearchOptions& options,
                                    std::uint32_t pieces, std::span<const MemoryId> home) {
  if (pieces == 1) return map_problem(problem, target, options);
  Target share = target;
  for (TargetMemory& memory : share.memories) {
    if (std::ranges::find(home, memory.memory) == home.end()) continue;
    for (Port& port : memory.ports) port.words_per_cycle /= pieces;
  }
  auto found = map_problem(problem, share, options);
  if (!found) return found;
  return cost_of(problem, target, found->mapping);
}

}  // namespace

std::vector<UnitPlace> unit_places(const RoutedMachine& machine, std::size_t kind, std::uint8_t streamed,
                                   const SearchOptions& options) {
  std::vector<UnitPlace> places;
  const Hardware& hardware = machine.hardware();
  const CoreId id = machine.first_of_kind(kind);
  const Core& core = hardware[id];
  for (std::size_t unit = 0; unit < core.units.size(); ++unit) {
    auto target = target_of(hardware, id, unit, off_chip_memory(hardware, id));
    if (!target) continue;
    keep_levels(*target, machine[id], streamed);
    UnitPlace place{.unit = unit, .target = *std::move(target), .key = {}, .level = {}};
    for (const TargetMemory& memory : place.target.memories) {
      const auto level = std::ranges::find(core.levels, memory.memory, &Level::memory);
      place.level.push_back(static_cast<std::uint8_t>(level - core.levels.begin()));
    }
    place.key = common_key_of(place.target, options);
    places.push_back(std::move(place));
  }
  return places;
}

struct TileSolver::BestUnit {
  const UnitPlace* place = nullptr;  // null: none can
  Problem problem;
  MappingCache::Result result;
  std::string note;
};

TileSolution TileSolver::empty_solution(const TileRequest& request) const {
  TileSolution solution;
  solution.cost.streamed = request.streamed;
  const Core& core = machine_.hardware()[machine_.first_of_kind(request.kind)];
  solution.cost.level_pj.assign(core.levels.size() + 1, 0);
  return solution;
}

TileSolution TileSolver::solve(const TileRequest& request, std::span<const Problem> problems,
                               const std::vector<UnitPlace>& places) const {
  TileSolution solution = empty_solution(request);
  const bool rate = machine_.hardware()[machine_.first_of_kind(request.kind)].rate.has_value();
  for (const Problem& whole : problems) {
    const Problem problem = tile_of(whole, request.extents, request.adds);
    if (rate) {
      add_rate(solution, problem, request);
    } else {
      add_nest(solution, problem, request, places);
    }
    if (!solution.failure.empty()) break;
  }
  return solution;
}

TileSolution TileSolver::solve_custom(const TileRequest& request, std::span<const Problem> problems) const {
  TileSolution solution = empty_solution(request);
  TileCost& cost = solution.cost;
  const Hardware& hardware = machine_.hardware();
  const CoreId id = machine_.first_of_kind(request.kind);
  const Core& core = hardware[id];
  for (const Problem& whole : problems) {
    std::string note;
    const Problem problem = as_on(core, tile_of(whole, request.extents, request.adds), &note);
    add_note(solution, core, note);
    const double macs = problem.points() * static_cast<double>(problem.per_point[Count::mac]);
    cost.macs += macs;
    if (macs > 0 || cost.macs == 0) cost.precision = problem.precision;
    stream_once(cost, problem, hardware, machine_[id], core, request.streamed);
  }
  cost.compute_cycles = cost.ideal_cycles = cost.bound_cycles = request.custom->cycles;
  cost.compute_pj = request.custom->energy_pj;
  cost.cycles = std::max(cost.compute_cycles, streaming_cycles(cost, hardware, machine_[id], core));
  cost.stall_cycles = cost.cycles - cost.compute_cycles;
  cost.bound_by = "compute";
  return solution;
}

TileSolution TileSolver::solve_unknown(const TileRequest& request) const {
  TileSolution solution = empty_solution(request);
  solution.cost.precision = "int8";
  if (!options_.zigzag) solution.failure = "no cost is known for it there";
  return solution;
}

TileSolution TileSolver::solve_zigzag(const TileRequest& request, const std::optional<ZigzagLayer>& layer,
                                      const UnitPlace& place) const {
  TileSolution solution = empty_solution(request);
  const Core& core = machine_.hardware()[machine_.first_of_kind(request.kind)];
  const Status added = add_zigzag_cost(solution.cost, layer, core, place.target, place.level, request.pieces,
                                       static_cast<std::int64_t>(options_.search.factors));
  if (!added) solution.failure = added.error().message;
  return solution;
}

Expected<MappedProblem> TileSolver::search(const Problem& problem, const Target& target, const std::string& key,
                                           const TileRequest& request) const {
  if (options_.store != nullptr) {
    if (const Mapping* kept = options_.store->find(digest_of(key))) {
      if (auto cost = cost_of(problem, target, *kept)) return cost;
    }
  }
  KeptMappings* const kept = KeptMappings::of_user();
  if (kept != nullptr) {
    if (auto known = kept->find(key, problem, target)) return *std::move(known);
  }
  auto found = search_anew(problem, target, options_.search, request.pieces, homes_of(machine_, request.kind));
  if (kept != nullptr && found) kept->add(key, problem, target, *found);
  return found;
}

// A core that is described by its rate.
void TileSolver::add_rate(TileSolution& solution, const Problem& problem, const TileRequest& request) const {
  const Hardware& hardware = machine_.hardware();
  const CoreId id = machine_.first_of_kind(request.kind);
  const Core& core = hardware[id];
  const PrecisionRate* precision = precision_for(core.rate->precisions, problem);
  const std::string& name = precision != nullptr ? precision->name : problem.precision;
  const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem), name);
  if (!cost) {
    solution.failure = cost.error().message;
    return;
  }
  TileCost& total = solution.cost;
  total.cycles += cost->cycles;
  total.compute_cycles += cost->cycles;
  total.ideal_cycles += cost->cycles;
  total.bound_cycles += cost->cycles;
  total.macs += cost->macs;
  total.compute_pj += cost->compute_pj;
  if (cost->macs > 0 || total.macs == 0) total.precision = name;
  total.converted |= is_converted(problem, name);
  total.bound_by = "compute";
  std::string note;
  const Problem adapted = as_on(core, problem, &note);
  add_note(solution, core, note);
  stream_once(total, adapted, hardware, machine_[id], core, request.streamed);
  stream_gaps(total, problem, hardware, machine_[id], core, request.streamed);
}

TileSolver::BestUnit TileSolver::best_unit(TileSolution& solution, const Problem& problem, const TileRequest& request,
                                           const std::vector<UnitPlace>& places) const {
  BestUnit best;
  const SearchOptions& options = options_.search;
  Score best_score;
  for (const UnitPlace& place : places) {
    if (!can_do(place.target.unit, problem)) continue;
    std::string note;
    Problem adapted = coalesce(adapt(problem, place.target.unit, &note), place.target.unit);
    const std::vector<std::int64_t> useful = useful_bits(adapted, place.target, options);
    std::string key = canonical_key(adapted, place.key, useful);
    if (request.pieces > 1) key += fmt::format("/{}", request.pieces);
    MappingCache::Result result = cache_.find(key);
    if (!result) {
      const Target target = canonical_target(place.target, options, useful);
      result = cache_.put(key, std::make_shared<const Expected<MappedProblem>>(search(adapted, target, key, request)));
      if (options_.store != nullptr && result->has_value()) {
        solution.found.emplace_back(digest_of(key), (**result).mapping);
      }
    }
    if (!result->has_value()) {
      solution.failure = result->error().message;
      solution.advice = result->error().advice;
      continue;
    }
    const MappingCost& cost = (**result).cost;
    const Score score = score_of(options.objective, cost.cycles, energy_on(place.target, options, cost));
    if (best.place != nullptr && !(score < best_score)) continue;
    best_score = score;
    best = {&place, std::move(adapted), std::move(result), std::move(note)};
  }
  return best;
}

void TileSolver::add_nest(TileSolution& solution, const Problem& problem, const TileRequest& request,
                          const std::vector<UnitPlace>& places) const {
  const BestUnit best = best_unit(solution, problem, request, places);
  if (best.place == nullptr) {
    if (solution.failure.empty()) solution.failure = "no unit has its operations";
    return;
  }
  solution.failure.clear();
  const Core& core = machine_.hardware()[machine_.first_of_kind(request.kind)];
  add_note(solution, core, best.note);
  const MappingCost& cost = (**best.result).cost;
  TileCost& total = solution.cost;
  total.cycles += cost.cycles;
  total.compute_cycles += cost.compute_cycles;
  total.load_cycles += cost.load_cycles + cost.unload_cycles;
  total.fill_cycles += cost.fill_cycles;
  // What is left, so that the parts add up.
  total.stall_cycles += cost.cycles - cost.compute_cycles - cost.load_cycles - cost.unload_cycles - cost.fill_cycles;
  total.ideal_cycles += cost.ideal_cycles;
  total.bound_cycles += cost.bound_cycles;
  total.macs += cost.macs;
  total.compute_pj += cost.compute_pj;
  total.network_pj += cost.network_pj;
  // An operator with products is named by their numbers, whatever its other nests work in.
  if (cost.macs > 0 || total.macs == 0) total.precision = best.problem.precision;
  total.converted |= is_converted(problem, best.problem.precision);
  total.bound_by = cost.bound_by;
  for (std::size_t m = 0; m < cost.memory_pj.size(); ++m) total.level_pj[best.place->level[m]] += cost.memory_pj[m];
  add_traffic(total, best, request);
  const double written = total.home_write_bits;
  const CorePlaces& core_places = machine_[machine_.first_of_kind(request.kind)];
  stream_gaps(total, problem, machine_.hardware(), core_places, core, request.streamed);
  if (total.home_write_bits == written) return;
  const double longer = streaming_cycles(total, machine_.hardware(), core_places, core) - total.cycles;
  if (longer <= 0) return;
  total.cycles += longer;
  total.stall_cycles += longer;
}

// Of memories that others use as well: what it takes of their ports and what it holds there.
void TileSolver::add_traffic(TileCost& total, const BestUnit& best, const TileRequest& request) const {
  const MappedProblem& mapped = **best.result;
  const MappingCost& cost = mapped.cost;
  const UnitPlace& place = *best.place;
  const CorePlaces& core_places = machine_[machine_.first_of_kind(request.kind)];
  std::vector<std::pair<std::uint8_t, double>> held;  // bits, by level
  for (std::size_t o = 0; o < best.problem.operands.size(); ++o) {
    const auto path = static_cast<std::size_t>(best.problem.operands[o].path);
    const auto& levels = cost.levels[o];
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const TargetMemory& target_memory = place.target.memories[levels[level]];
      const MemoryId memory = target_memory.memory;
      const bool shared = memory == core_places.home[path] || memory == core_places.local[path];
      for (std::size_t t = 0; t < transfer_count && shared; ++t) {
        const std::int8_t port = target_memory.port[path][t];
        const double cycles = cost.traffic[o][level].cycles[t];
        if (port == no_port || cycles <= 0) continue;
        const double bits = cycles * target_memory.ports[static_cast<std::size_t>(port)].bits_per_cycle();
        add_use(total.ports, place.level[levels[level]], port, bits);
      }
      if (memory == core_places.home[path] && (request.streamed >> path & 1U) != 0) {
        const Traffic& traffic = cost.traffic[o][level];
        total.home_read_bits += traffic.bits[static_cast<std::size_t>(Transfer::to_low)];
        total.home_write_bits += traffic.bits[static_cast<std::size_t>(Transfer::from_low)];
      } else if (memory == core_places.local[path] &&
                 ((request.streamed >> path & 1U) != 0 || best.problem.operands[o].piece_bits > 0)) {
        const double bits = held_bits(best.problem, mapped, o, levels[level]);
        const auto known = std::ranges::find(held, place.level[levels[level]], &std::pair<std::uint8_t, double>::first);
        if (known != held.end()) {
          known->second += bits;
        } else {
          held.emplace_back(place.level[levels[level]], bits);
        }
      }
    }
  }
  // Nests run one after the other.
  for (const auto& [level, bits] : held) {
    const auto bytes = static_cast<std::int64_t>(std::ceil(bits / 8));
    const auto known = std::ranges::find(total.held, level, &HeldBytes::level);
    if (known != total.held.end()) {
      known->bytes = std::max(known->bytes, bytes);
    } else {
      total.held.push_back({level, bytes});
    }
  }
}

}  // namespace monet
