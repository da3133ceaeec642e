#include "evaluate/cost/tile_costs.h"

#include "base/parallel.h"
#include "evaluate/cost/zigzag_cost.h"
#include "mapping/key.h"
#include "mapping/operators.h"
#include "mapping/order.h"
#include "mapping/precision.h"
#include "mapping/rate.h"
#include "mapping/zigzag/stream_layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

namespace monet {

namespace {

constexpr std::uint8_t path_sets = 1U << path_count;
constexpr std::int64_t unlimited_bits = std::int64_t{1} << 60;

std::vector<Loop> loops_of(std::span<const LoopSize> extents) {
  std::vector<Loop> loops;
  for (const LoopSize& extent : extents) loops.push_back({extent.loop, extent.size});
  return loops;
}

void append(std::string& key, std::int64_t value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

void append(std::string& key, std::span<const LoopSize> extents) {
  for (const LoopSize& extent : extents) {
    append(key, static_cast<std::int64_t>(extent.loop));
    append(key, extent.size);
  }
}

// What stream_layer() tells apart and the nests do not.
void append(std::string& key, const ZigzagLayer& layer) {
  for (const ZigzagOperand& operand : layer.operands) {
    append(key, static_cast<std::int64_t>(operand.loops.size()));
    for (std::uint8_t loop : operand.loops) append(key, loop);
  }
}

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
  return elements(problem.operands[operand], extents) * static_cast<double>(problem.operands[operand].bits);
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
    const double bits = elements(operand, sizes) * static_cast<double>(operand.bits);
    const auto level = static_cast<std::size_t>(std::ranges::find(core.levels, places.home[path], &Level::memory) -
                                                core.levels.begin());
    const Memory& home = hardware[places.home[path]];
    const auto move = [&](bool reads) {
      (reads ? cost.home_read_bits : cost.home_write_bits) += bits;
      for (std::size_t p = 0; p < home.ports.size(); ++p) {
        if (!fits(home.ports[p].kind, reads ? Transfer::to_low : Transfer::from_low)) continue;
        add_use(cost.ports, static_cast<std::uint8_t>(level), static_cast<std::int8_t>(p), bits);
        cost.level_pj[level] +=
            bits / static_cast<double>(home.ports[p].max_bits) * (reads ? home.read_pj : home.write_pj);
        break;
      }
    };
    if (operand.written) move(false);
    if (!operand.written || operand.continues) move(true);
  }
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

}  // namespace

TileCosts::TileCosts(const Graph& graph, const Machine& machine, MappingCache& cache, const CostOptions& options)
    : graph_(&graph), machine_(&machine), cache_(&cache), options_(options) {
  places_.resize(machine.kinds() * path_sets);
  std::unordered_map<std::string, std::uint32_t> known;
  class_of_.reserve(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<Problem> problems = problems_of(graph, node, options.extract);
    std::vector<Path> paths =
        problems.empty() ? std::vector<Path>(node.inputs.size()) : input_paths(graph, node, problems);
    std::string key(name_of(node.op));
    for (const Problem& problem : problems) key += key_of(problem);
    for (Path path : paths) key += static_cast<char>(path);
    if (const auto layer = options.zigzag ? stream_layer(graph, node) : std::nullopt) append(key, *layer);
    const auto [found, added] = known.emplace(std::move(key), static_cast<std::uint32_t>(classes_.size()));
    if (added) {
      NodeClass& of = classes_.emplace_back(
          NodeClass{.first = NodeId(i), .problems = std::move(problems), .input_paths = std::move(paths)});
      if (!of.problems.empty()) {
        for (std::size_t kind = 0; kind < machine.kinds(); ++kind) {
          of.refusals.push_back(refusal_of(of, node.op, kind));
        }
      }
    }
    class_of_.push_back(found->second);
  }
  if (options.zigzag) note_free();
}

void TileCosts::note_free() {
  std::map<std::string, std::size_t> free;
  for (std::size_t i = 0; i < class_of_.size(); ++i) {
    const Node& node = graph_->nodes()[i];
    const bool has_work = !classes_[class_of_[i]].problems.empty();
    if (has_work && !stream_layer(*graph_, node)) ++free[std::string(name_of(node.op))];
  }
  std::vector<std::string> parts;
  for (const auto& [op, count] : free) parts.push_back(fmt::format("{} {}", count, op));
  if (!parts.empty()) notes_.push_back(fmt::format("free by the rules of --zigzag: {}", fmt::join(parts, ", ")));
}

std::string TileCosts::refusal_of(const NodeClass& of, Op op, std::size_t kind) const {
  const Core& core = machine_->hardware()[machine_->first_of_kind(kind)];
  std::string reason = cannot_run(core, op, of.problems);
  if (!reason.empty() || !core.rate) return reason;
  for (const Problem& problem : of.problems) {
    const PrecisionRate* precision = nearest_precision(core.rate->precisions, problem.precision);
    const auto cost = rate_cost(*core.rate, machine_->hardware().clock_hz, problem.per_point,
                                precision != nullptr ? precision->name : problem.precision);
    if (!cost) return cost.error().message;
  }
  return {};
}

Path TileCosts::path_of(NodeId node, std::size_t input) const {
  return classes_[class_of_[node.index()]].input_paths[input];
}

const std::string* TileCosts::refusal(NodeId node, std::size_t kind) const {
  const std::string& reason = classes_[class_of_[node.index()]].refusals[kind];
  return reason.empty() ? nullptr : &reason;
}

const std::vector<TileCosts::Place>& TileCosts::places(std::uint32_t kind, std::uint8_t streamed) {
  std::vector<Place>& known = places_[kind * path_sets + streamed];
  const Hardware& hardware = machine_->hardware();
  const CoreId id = machine_->first_of_kind(kind);
  const Core& core = hardware[id];
  if (!known.empty() || core.rate) return known;
  for (std::size_t unit = 0; unit < core.units.size(); ++unit) {
    auto target = target_of(hardware, id, unit, off_chip_memory(hardware, id));
    if (!target) continue;
    keep_levels(*target, (*machine_)[id], streamed);
    Place place{.unit = unit, .target = *std::move(target), .key = {}, .level = {}};
    for (const TargetMemory& memory : place.target.memories) {
      const auto level = std::ranges::find(core.levels, memory.memory, &Level::memory);
      place.level.push_back(static_cast<std::uint8_t>(level - core.levels.begin()));
    }
    place.key = key_of(place.target);
    known.push_back(std::move(place));
  }
  return known;
}

const TileEstimate& TileCosts::estimate(NodeId node, std::size_t kind, std::span<const LoopSize> extents) {
  NodeClass& of = classes_[class_of_[node.index()]];
  std::string key;
  append(key, static_cast<std::int64_t>(kind));
  append(key, extents);
  const auto [found, added] = of.estimates.emplace(std::move(key), TileEstimate{});
  if (!added) return found->second;
  const Hardware& hardware = machine_->hardware();
  const Core& core = hardware[machine_->first_of_kind(kind)];
  double& cycles = found->second.cycles;
  for (const Problem& whole : of.problems) {
    const Problem problem = tile_of(whole, loops_of(extents), false);
    std::vector<double> sizes;
    for (const Loop& loop : problem.loops) sizes.push_back(static_cast<double>(loop.size));
    for (const ProblemOperand& operand : problem.operands) {
      if (operand.piece_bits > 0) continue;
      found->second.bits[static_cast<std::size_t>(operand.path)] +=
          elements(operand, sizes) * static_cast<double>(operand.bits);
    }
    if (core.rate) {
      const PrecisionRate* precision = nearest_precision(core.rate->precisions, problem.precision);
      const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem),
                                  precision != nullptr ? precision->name : problem.precision);
      if (cost) cycles += cost->cycles;
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    for (const Place& place : places(static_cast<std::uint32_t>(kind), path_sets - 1)) {
      if (!has_operations(place.target.unit, problem)) continue;
      const Problem adapted = coalesce(adapt(problem, place.target.unit, nullptr), place.target.unit);
      double each = 0;
      for (std::size_t count = 0; count < count_kinds; ++count) {
        each += static_cast<double>(problem.per_point.of[count]) * place.target.unit.cycles[count];
      }
      const PrecisionRate* rate = nearest_precision(place.target.unit.precisions, problem.precision);
      if (rate != nullptr) each /= rate->rate;
      const auto choices = spatial_choices(adapted, place.target, {});
      best = std::min(best, choices.front().compute_points * each);
    }
    cycles += best;
  }
  return found->second;
}

std::uint32_t TileCosts::request(NodeId node, std::size_t kind, std::uint8_t streamed, bool adds,
                                 std::span<const LoopSize> extents, std::size_t pieces) {
  std::string key;
  if (options_.zigzag) append(key, static_cast<std::int64_t>(pieces));
  const std::uint32_t node_class = class_of_[node.index()];
  append(key, static_cast<std::int64_t>(node_class) << 32 | static_cast<std::int64_t>(kind << 8) | streamed << 1 |
                  (adds ? 1 : 0));
  append(key, extents);
  const auto [found, added] = request_of_.emplace(std::move(key), static_cast<std::uint32_t>(requests_.size()));
  if (added) {
    requests_.push_back({node_class, static_cast<std::uint32_t>(kind), streamed, adds,
                         static_cast<std::uint32_t>(pieces), std::vector<LoopSize>(extents.begin(), extents.end())});
  }
  return found->second;
}

void TileCosts::solve(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& progress) {
  const std::size_t first = costs_.size();
  const std::size_t count = requests_.size() - first;
  if (count == 0) return;
  std::vector<const std::vector<Place>*> places_for;
  for (std::size_t i = first; i < requests_.size(); ++i) {
    places_for.push_back(&places(requests_[i].kind, requests_[i].streamed));
  }
  std::vector<Solution> solutions(count);
  std::atomic<std::size_t> done = 0;
  for_each_index(count, jobs, [&](std::size_t i) {
    solutions[i] = solve(requests_[first + i], *places_for[i]);
    if (progress) progress(++done, count);
  });
  for (Solution& solution : solutions) {
    for (std::string& note : solution.notes) {
      if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
    }
    for (const auto& [digest, mapping] : solution.found) options_.store->add(digest, mapping);
    costs_.push_back(std::move(solution.cost));
    failures_.push_back(std::move(solution.failure));
  }
  solved_ += count;
}

Error TileCosts::failure(NodeId node, std::uint32_t cost) const {
  const CoreId core = machine_->first_of_kind(requests_[cost].kind);
  return {.kind = ErrorKind::infeasible,
          .message =
              fmt::format("a tile of it cannot run on core {}: {}", machine_->hardware()[core].name, failures_[cost]),
          .place = (*graph_)[node].name,
          .advice = "give it smaller tiles, or another core"};
}

TileCosts::Solution TileCosts::solve(const Request& request, const std::vector<Place>& places) const {
  Solution solution;
  const NodeClass& of = classes_[request.node_class];
  const Core& core = machine_->hardware()[machine_->first_of_kind(request.kind)];
  solution.cost.streamed = request.streamed;
  solution.cost.level_pj.assign(core.levels.size() + 1, 0);
  const std::vector<Loop> extents = loops_of(request.extents);
  if (options_.zigzag && !core.rate && !places.empty()) {
    const auto layer = stream_layer(*graph_, (*graph_)[of.first], extents);
    const Status added = add_zigzag_cost(solution.cost, layer, core, places.front().target, places.front().level,
                                         request.pieces, static_cast<std::int64_t>(options_.search.factors));
    if (!added) solution.failure = added.error().message;
    return solution;
  }
  for (const Problem& whole : of.problems) {
    add_nest(solution, tile_of(whole, extents, request.adds), request, places);
    if (!solution.failure.empty()) break;
  }
  return solution;
}

Expected<MappedProblem> TileCosts::search(const Problem& problem, const Target& target, const std::string& key) const {
  if (options_.store != nullptr) {
    if (const Mapping* kept = options_.store->find(digest_of(key))) {
      if (auto cost = cost_of(problem, target, *kept)) return cost;
    }
  }
  return map_problem(problem, target, options_.search);
}

void TileCosts::add_nest(Solution& solution, const Problem& problem, const Request& request,
                         const std::vector<Place>& places) const {
  TileCost& total = solution.cost;
  const Hardware& hardware = machine_->hardware();
  const CoreId id = machine_->first_of_kind(request.kind);
  const Core& core = hardware[id];
  if (core.rate) {
    const PrecisionRate* precision = nearest_precision(core.rate->precisions, problem.precision);
    const std::string& name = precision != nullptr ? precision->name : problem.precision;
    const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem), name);
    if (!cost) {
      solution.failure = cost.error().message;
      return;
    }
    total.cycles += cost->cycles;
    total.compute_cycles += cost->cycles;
    total.ideal_cycles += cost->cycles;
    total.bound_cycles += cost->cycles;
    total.macs += cost->macs;
    total.compute_pj += cost->compute_pj;
    total.precision = name;
    total.bound_by = "compute";
    stream_once(total, problem, hardware, (*machine_)[id], core, request.streamed);
    return;
  }
  const Place* best = nullptr;
  Problem best_problem;
  MappingCache::Result best_result;
  std::string best_note;
  for (const Place& place : places) {
    if (!has_operations(place.target.unit, problem)) continue;
    std::string note;
    Problem adapted = coalesce(adapt(problem, place.target.unit, &note), place.target.unit);
    const std::string key = key_of(adapted) + place.key + key_of(options_.search);
    MappingCache::Result result = cache_->find(key);
    if (!result) {
      result = std::make_shared<const Expected<MappedProblem>>(search(adapted, place.target, key));
      cache_->put(key, result);
      if (options_.store != nullptr && result->has_value()) {
        solution.found.emplace_back(digest_of(key), (**result).mapping);
      }
    }
    if (!result->has_value()) {
      solution.failure = result->error().message;
      continue;
    }
    const auto score = [&](const MappedProblem& mapped) {
      return score_of(options_.search.objective, mapped.cost.cycles, mapped.cost.energy_pj);
    };
    if (best != nullptr && !(score(**result) < score(**best_result))) continue;
    best = &place;
    best_problem = std::move(adapted);
    best_result = std::move(result);
    best_note = std::move(note);
  }
  if (best == nullptr) {
    if (solution.failure.empty()) solution.failure = "no unit has its operations";
    return;
  }
  solution.failure.clear();
  if (!best_note.empty()) solution.notes.push_back(fmt::format("core {}: {}", core.type, best_note));
  const MappedProblem& mapped = **best_result;
  const MappingCost& cost = mapped.cost;
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
  total.precision = best_problem.precision;
  total.bound_by = cost.bound_by;
  const CorePlaces& core_places = (*machine_)[id];
  std::vector<std::pair<std::uint8_t, double>> held;  // bits, by level
  for (std::size_t m = 0; m < cost.memory_pj.size(); ++m) total.level_pj[best->level[m]] += cost.memory_pj[m];
  for (std::size_t o = 0; o < best_problem.operands.size(); ++o) {
    const auto path = static_cast<std::size_t>(best_problem.operands[o].path);
    const auto& levels = cost.levels[o];
    for (std::size_t level = 0; level < levels.size(); ++level) {
      const TargetMemory& target_memory = best->target.memories[levels[level]];
      const MemoryId memory = target_memory.memory;
      const bool shared = memory == core_places.home[path] || memory == core_places.local[path];
      for (std::size_t t = 0; t < transfer_count && shared; ++t) {
        const std::int8_t port = target_memory.port[path][t];
        const double cycles = cost.traffic[o][level].cycles[t];
        if (port == no_port || cycles <= 0) continue;
        const double bits = cycles * target_memory.ports[static_cast<std::size_t>(port)].bits_per_cycle();
        add_use(total.ports, best->level[levels[level]], port, bits);
      }
      if (memory == core_places.home[path] && (request.streamed >> path & 1U) != 0) {
        const Traffic& traffic = cost.traffic[o][level];
        total.home_read_bits += traffic.bits[static_cast<std::size_t>(Transfer::to_low)];
        total.home_write_bits += traffic.bits[static_cast<std::size_t>(Transfer::from_low)];
      } else if (memory == core_places.local[path] &&
                 ((request.streamed >> path & 1U) != 0 || best_problem.operands[o].piece_bits > 0)) {
        const double bits = held_bits(best_problem, mapped, o, levels[level]);
        const auto known = std::ranges::find(held, best->level[levels[level]], &std::pair<std::uint8_t, double>::first);
        if (known != held.end()) {
          known->second += bits;
        } else {
          held.emplace_back(best->level[levels[level]], bits);
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

OperatorBound TileCosts::bound(NodeId node) {
  const NodeClass& of = classes_[class_of_[node.index()]];
  OperatorBound result;
  if (of.problems.empty()) return result;
  result.core_cycles = result.pj = std::numeric_limits<double>::infinity();
  const Hardware& hardware = machine_->hardware();
  for (std::size_t kind = 0; kind < machine_->kinds(); ++kind) {
    if (!of.refusals[kind].empty()) continue;
    const auto& cores = machine_->cores_of_kind(kind);
    result.cores.insert(result.cores.end(), cores.begin(), cores.end());
    const Core& core = hardware[cores.front()];
    double cycles = 0;
    double pj = 0;
    for (const Problem& problem : of.problems) {
      double best_cycles = std::numeric_limits<double>::infinity();
      double best_pj = std::numeric_limits<double>::infinity();
      if (core.rate) {
        const PrecisionRate* precision = nearest_precision(core.rate->precisions, problem.precision);
        const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem),
                                    precision != nullptr ? precision->name : problem.precision);
        if (cost) {
          best_cycles = cost->cycles;
          best_pj = cost->compute_pj;
        }
      }
      for (const Unit& unit : core.units) {
        if (!has_operations(unit, problem)) continue;
        const PrecisionRate* rate = nearest_precision(unit.precisions, problem.precision);
        double each = 0;
        double each_pj = 0;
        for (std::size_t count = 0; count < count_kinds; ++count) {
          const auto number = static_cast<double>(problem.per_point.of[count]);
          each += number * unit.cycles[count];
          each_pj += number * unit.energy_pj[count];
        }
        if (rate != nullptr) each /= rate->rate;
        if (rate != nullptr && hardware.effects.energy_by_precision) each_pj *= rate->energy;
        // A rule of its own may be faster than what its lanes can do: then nothing is known.
        if (unit.cycle_rule) each = 0;
        best_cycles = std::min(best_cycles, problem.points() * each / static_cast<double>(unit.lanes()));
        best_pj = std::min(best_pj, problem.points() * each_pj);
      }
      cycles += best_cycles;
      pj += best_pj;
    }
    result.core_cycles = std::min(result.core_cycles, cycles);
    result.pj = std::min(result.pj, pj);
  }
  // By ZigZag's rules an operator may cost less than it can.
  if (result.cores.empty() || options_.zigzag) result.core_cycles = result.pj = 0;
  std::ranges::sort(result.cores);
  return result;
}

}  // namespace monet
