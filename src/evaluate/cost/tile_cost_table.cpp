#include "evaluate/cost/tile_cost_table.h"

#include "base/parallel.h"
#include "base/stop.h"
#include "evaluate/cost/custom_cost.h"
#include "mapping/key.h"
#include "mapping/operators.h"
#include "mapping/order.h"
#include "mapping/precision.h"
#include "mapping/rate.h"
#include "mapping/spatial.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

namespace monet {

namespace {

constexpr std::uint32_t no_class = 0xffffffffU;

std::vector<Loop> loops_of(std::span<const LoopSize> extents) {
  std::vector<Loop> loops;
  loops.reserve(extents.size());
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

}  // namespace

TileCostTable::TileCostTable(const RoutedMachine& machine, MappingCache& cache, const CostOptions& options)
    : machine_(machine), cache_(cache), options_(options), places_(machine.kinds() * path_sets) {
  options_.custom = asked_once(std::move(options_.custom));
}

std::uint32_t TileCostTable::class_of(const Graph& graph, NodeId node, std::uint32_t content) {
  if (options_.zigzag) return make_class(graph, node);
  if (content >= class_of_.size()) class_of_.resize(content + 1, no_class);
  if (class_of_[content] == no_class) class_of_[content] = make_class(graph, node);
  return class_of_[content];
}

std::uint32_t TileCostTable::make_class(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  std::vector<Problem> problems = problems_of(graph, node, options_.extract);
  std::vector<Path> paths =
      problems.empty() ? std::vector<Path>(node.inputs.size()) : input_paths(graph, node, problems);
  std::string key(name_of(node.op));
  for (const Problem& problem : problems) key += key_of(problem);
  for (Path path : paths) key += static_cast<char>(path);
  CustomTile tile;
  if (node.op == Op::Custom || (options_.custom && !problems.empty())) {
    tile = custom_tile(graph, node, options_.extract.precision);
    key += key_of(tile);
  }
  if (const auto layer = options_.zigzag ? stream_layer(graph, node) : std::nullopt) append(key, *layer);
  const auto [found, added] = known_classes_.emplace(std::move(key), static_cast<std::uint32_t>(classes_.size()));
  if (!added) return found->second;
  NodeClass& of = classes_.emplace_back(NodeClass{.first = id,
                                                  .name = node.name,
                                                  .op = node.op,
                                                  .problems = std::move(problems),
                                                  .input_paths = std::move(paths),
                                                  .tile = std::move(tile)});
  of.custom.resize(machine_.kinds());
  for (std::size_t kind = 0; kind < machine_.kinds() && !of.problems.empty(); ++kind) {
    of.refusals.push_back(refusal_of(of, kind));
    // The bound must not depend on which cores a plan asks for.
    if (of.op != Op::Custom && of.refusals.back().empty()) custom_cost(of, kind, {});
  }
  return found->second;
}

std::string TileCostTable::refusal_of(NodeClass& of, std::size_t kind) {
  const Core& core = machine_.hardware()[machine_.first_of_kind(kind)];
  if (of.op == Op::Custom) {
    if (!may_run_custom(machine_.hardware(), core)) {
      return fmt::format("{} is not among the operators of core {}", of.tile.op, core.name);
    }
    const bool known = custom_cost(of, kind, {}).has_value() || options_.zigzag;
    return known ? "" : fmt::format("no cost is known for {} on core {}", of.tile.op, core.name);
  }
  return cannot_run(core, machine_.hardware().clock_hz, of.op, of.problems);
}

std::optional<CustomCost> TileCostTable::custom_cost(NodeClass& of, std::size_t kind,
                                                     std::span<const LoopSize> extents) {
  if (!options_.custom || custom_error_) return std::nullopt;
  CustomTile tile = of.tile;
  tile.core = machine_.hardware()[machine_.first_of_kind(kind)].type;
  for (const LoopSize& extent : extents) {
    for (auto& [name, size] : tile.loops) {
      if (name == name_of(extent.loop)) size = extent.size;
    }
  }
  auto cost = options_.custom(tile);
  if (!cost) {
    custom_error_ = std::move(cost).error();
    if (custom_error_->place.empty()) custom_error_->place = fmt::format("node '{}'", of.name);
    return std::nullopt;
  }
  // Of a known operator other tiles may cost anything.
  if (*cost && !of.custom[kind]) of.custom[kind] = of.op == Op::Custom ? **cost : CustomCost{};
  return *cost;
}

Status TileCostTable::check_custom(std::uint32_t node_class) const {
  if (custom_error_) return *custom_error_;
  const NodeClass& of = classes_[node_class];
  if (of.op != Op::Custom || options_.zigzag) return Done{};
  bool allowed = false;
  for (std::size_t kind = 0; kind < machine_.kinds(); ++kind) {
    if (of.custom[kind]) return Done{};
    allowed |= may_run_custom(machine_.hardware(), machine_.hardware()[machine_.first_of_kind(kind)]);
  }
  if (!allowed) return Done{};  // which is another mistake
  return Error{.message = fmt::format("no cost is known for the custom operator '{}' (node '{}')", of.tile.op, of.name),
               .place = {},
               .advice = "give its cycles and energy in a file (--custom FILE), or by a function"};
}

const std::vector<UnitPlace>& TileCostTable::places(std::uint32_t kind, std::uint8_t streamed) {
  std::vector<UnitPlace>& known = places_[kind * path_sets + streamed];
  const bool rate = machine_.hardware()[machine_.first_of_kind(kind)].rate.has_value();
  if (known.empty() && !rate) known = unit_places(machine_, kind, streamed, options_.search);
  return known;
}

const TileEstimate& TileCostTable::estimate(std::uint32_t node_class, std::size_t kind,
                                            std::span<const LoopSize> extents) {
  NodeClass& of = classes_[node_class];
  key_.clear();
  append(key_, static_cast<std::int64_t>(kind));
  append(key_, extents);
  if (const auto found = of.estimates.find(key_); found != of.estimates.end()) return found->second;
  return of.estimates.emplace(key_, make_estimate(of, kind, extents)).first->second;
}

TileEstimate TileCostTable::make_estimate(NodeClass& of, std::size_t kind, std::span<const LoopSize> extents) {
  TileEstimate estimate;
  const std::optional<CustomCost> custom = custom_cost(of, kind, extents);
  const Hardware& hardware = machine_.hardware();
  const Core& core = hardware[machine_.first_of_kind(kind)];
  for (const Problem& whole : of.problems) {
    const Problem problem = tile_of(whole, loops_of(extents), false);
    std::vector<double> sizes;
    for (const Loop& loop : problem.loops) sizes.push_back(static_cast<double>(loop.size));
    for (const ProblemOperand& operand : problem.operands) {
      if (operand.piece_bits > 0) continue;
      estimate.bits[static_cast<std::size_t>(operand.path)] += elements(operand, sizes) * operand.bits;
    }
    if (custom) continue;
    if (core.rate) {
      const PrecisionRate* precision = precision_for(core.rate->precisions, problem);
      const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem),
                                  precision != nullptr ? precision->name : problem.precision);
      if (cost) estimate.cycles += cost->cycles;
      continue;
    }
    double best = std::numeric_limits<double>::infinity();
    for (const UnitPlace& place : places(static_cast<std::uint32_t>(kind), path_sets - 1)) {
      if (!can_do(place.target.unit, problem)) continue;
      const Problem adapted = coalesce(adapt(problem, place.target.unit, nullptr), place.target.unit);
      double each = 0;
      for (std::size_t count = 0; count < count_kinds; ++count) {
        each += static_cast<double>(problem.per_point.of[count]) * place.target.unit.cycles[count];
      }
      const PrecisionRate* rate = precision_for(place.target.unit.precisions, problem);
      if (rate != nullptr) each /= rate->rate;
      const auto choices = spatial_choices(adapted, place.target, {});
      best = std::min(best, choices.front().compute_points * each);
    }
    estimate.cycles += best;
  }
  if (custom) estimate.cycles = custom->cycles;
  return estimate;
}

std::uint32_t TileCostTable::request(const TileRequest& request, std::span<const LoopSize> extents) {
  key_.clear();
  TileRequest asked = request;
  // What does not stream shares nothing; neither does one core with itself.
  if (!options_.zigzag) {
    const auto cores = static_cast<std::uint32_t>(machine_.cores_of_kind(request.kind).size());
    asked.pieces = request.streamed == 0 ? 1 : std::min(request.pieces, cores);
  }
  append(key_, static_cast<std::int64_t>(asked.pieces));
  append(key_, static_cast<std::int64_t>(request.node_class) << 32 | static_cast<std::int64_t>(request.kind) << 8 |
                   request.streamed << 1 | (request.adds ? 1 : 0));
  append(key_, extents);
  if (const auto found = known_requests_.find(key_); found != known_requests_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(requests_.size());
  known_requests_.emplace(key_, number);
  requests_.push_back(std::move(asked));
  requests_.back().extents = loops_of(extents);
  requests_.back().custom = custom_cost(classes_[request.node_class], request.kind, extents);
  return number;
}

Status TileCostTable::solve(const Graph& graph, std::size_t jobs,
                            const std::function<void(std::size_t, std::size_t)>& progress,
                            const std::function<bool()>& stop) {
  if (custom_error_) return *custom_error_;
  const std::size_t first = solutions_.size();
  const std::size_t count = requests_.size() - first;
  if (count == 0) return Done{};
  std::vector<const std::vector<UnitPlace>*> places_for;
  for (std::size_t i = first; i < requests_.size(); ++i) {
    places_for.push_back(&places(requests_[i].kind, requests_[i].streamed));
  }
  solutions_.resize(requests_.size());
  const TileSolver solver(machine_, cache_, options_);
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> stopped = false;
  const std::thread::id caller = std::this_thread::get_id();
  for_each_index(count, jobs, [&](std::size_t i) {
    if (stop && std::this_thread::get_id() == caller && stop()) stopped = true;
    if (stopped) return;
    const TileRequest& request = requests_[first + i];
    const NodeClass& of = classes_[request.node_class];
    if (request.custom) {
      solutions_[first + i] = solver.solve_custom(request, of.problems);
    } else if (of.op == Op::Custom) {
      solutions_[first + i] = solver.solve_unknown(request);
    } else if (options_.zigzag && !places_for[i]->empty()) {
      const auto layer = stream_layer(graph, graph[of.first], request.extents);
      solutions_[first + i] = solver.solve_zigzag(request, layer, places_for[i]->front());
    } else {
      solutions_[first + i] = solver.solve(request, of.problems, *places_for[i]);
    }
    if (progress) progress(++done, count);
  });
  if (stopped) {
    solutions_.resize(first);
    return stopped_error();
  }
  for (std::size_t i = first; i < solutions_.size(); ++i) {
    for (const auto& [digest, mapping] : solutions_[i].found) options_.store->add(digest, mapping);
    solutions_[i].found = {};
  }
  return Done{};
}

// Every element that a nest reads or writes crosses a port of the memory in which the core works on its path, or of
// home where it streams, at least once.
double TileCostTable::moving_cycles(const Problem& problem, const Unit& unit, CoreId id) const {
  const Hardware& hardware = machine_.hardware();
  const Core& core = hardware[id];
  std::int64_t widest = 0;  // a unit may work on narrower elements than are stored
  for (const PrecisionRate& precision : unit.precisions) {
    widest = std::max(widest, bits_of_precision(precision.name));
  }
  std::vector<double> sizes;
  for (const Loop& loop : problem.loops) sizes.push_back(static_cast<double>(loop.size));
  std::array<double, path_count> bits{};
  for (const ProblemOperand& operand : problem.operands) {
    if (operand.piece_bits > 0) continue;  // it may pass between nests inside the core
    const double each = widest > 0 ? std::min<double>(operand.bits, static_cast<double>(widest)) : operand.bits;
    bits[static_cast<std::size_t>(operand.path)] += elements(operand, sizes) * each;
  }
  const auto width = [&](MemoryId memory) {
    if (!memory.valid()) return 0.0;
    double ports = 0;
    for (const Port& port : hardware[memory].ports) ports += port.bits_per_cycle();
    const auto level = std::ranges::find(core.levels, memory, &Level::memory);
    return ports * static_cast<double>(level == core.levels.end() ? 1 : instances(core, *level));
  };
  double cycles = 0;
  for (std::size_t p = 0; p < path_count; ++p) {
    const double most = std::max(width(machine_[id].local[p]), width(machine_[id].home[p]));
    if (most > 0) cycles = std::max(cycles, bits[p] / most);
  }
  return cycles;
}

OperatorBound TileCostTable::bound(std::uint32_t node_class) const {
  const NodeClass& of = classes_[node_class];
  OperatorBound result;
  if (of.problems.empty()) return result;
  result.core_cycles = result.pj = std::numeric_limits<double>::infinity();
  const Hardware& hardware = machine_.hardware();
  for (std::size_t kind = 0; kind < machine_.kinds(); ++kind) {
    if (!of.refusals[kind].empty()) continue;
    const auto& cores = machine_.cores_of_kind(kind);
    result.cores.insert(result.cores.end(), cores.begin(), cores.end());
    if (of.custom[kind]) {
      result.core_cycles = std::min(result.core_cycles, of.custom[kind]->cycles);
      result.pj = std::min(result.pj, of.custom[kind]->energy_pj);
      continue;
    }
    const Core& core = hardware[cores.front()];
    double cycles = 0;
    double pj = 0;
    for (const Problem& problem : of.problems) {
      double best_cycles = std::numeric_limits<double>::infinity();
      double best_pj = std::numeric_limits<double>::infinity();
      if (core.rate) {
        const PrecisionRate* precision = precision_for(core.rate->precisions, problem);
        const auto cost = rate_cost(*core.rate, hardware.clock_hz, operations_of(problem),
                                    precision != nullptr ? precision->name : problem.precision);
        if (cost) {
          best_cycles = cost->cycles;
          best_pj = cost->compute_pj;
        }
      }
      for (const Unit& unit : core.units) {
        if (!can_do(unit, problem)) continue;
        const PrecisionRate* rate = precision_for(unit.precisions, problem);
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
        best_cycles = std::min(best_cycles, std::max(problem.points() * each / usable_lanes(problem, unit),
                                                     moving_cycles(problem, unit, cores.front())));
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
