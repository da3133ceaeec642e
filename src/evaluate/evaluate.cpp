#include "evaluate/evaluate.h"

#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/account/totals.h"
#include "evaluate/kernels/kernel_bound.h"
#include "evaluate/kernels/kernel_plan.h"
#include "evaluate/kernels/kernel_schedule.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/schedule/scheduler.h"
#include "evaluate/tiles/content.h"
#include "mapping/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace monet {

namespace {

// As the mappings cost them: each element at the precision asked for, or as its format says.
std::vector<StoredWidth> stored_widths(const Graph& graph, const std::string& precision) {
  std::vector<StoredWidth> widths;
  widths.reserve(graph.tensors().size());
  for (const Tensor& tensor : graph.tensors()) {
    widths.push_back(precision.empty() ? stored_width(tensor.type) : StoredWidth(bits_of_precision(precision)));
  }
  return widths;
}

// A quarter of the cores is cheap to try. Where T(n) = a / n + b n + c and a half is faster than all, a quarter takes
// less than 1.75 times as long; near that, a half is hardly faster.
constexpr double hardly_longer = 1.5;
constexpr std::uint32_t quarter = 2;  // halvings

// Of a quarter, and of smaller shares too, it counts how long the step takes while that is near; beyond it, only that
// it does. A margin for what the last digits differ in.
double most_in_schedule(CoreShare share, double most_cycles) {
  return (share.halvings == quarter ? 1 : hardly_longer) * most_cycles * (1 + 1e-9);
}

}  // namespace

struct OperatorClassCache {
  OperatorClassTable numbers;
  LoopTable loops;
  TilingTable tiling;
};

std::shared_ptr<OperatorClassCache> new_operator_class_cache() { return std::make_shared<OperatorClassCache>(); }

// What does not depend on the graph, and what is known of operators by their content.
struct Evaluator::Shared {
  Shared(const Hardware& hardware, MappingCache& mappings, const EvaluatorOptions& how)
      : cache(mappings),
        options(how),
        known(options.known ? options.known : new_operator_class_cache()),
        machine(hardware),
        costs(machine, cache, options.cost) {
    if (!options.cost.zigzag && monet::runs_kernels(hardware, options.lowering))
      laws = hardware[kernel_core(hardware)].kernels;
  }

  MappingCache& cache;
  EvaluatorOptions options;
  std::shared_ptr<OperatorClassCache> known;
  RoutedMachine machine;  // before any route is asked for: each evaluator numbers its own
  TileCostTable costs;
  SplitTable splits;
  std::shared_ptr<const KernelLaws> laws;  // null: operators run as loop nests
};

Evaluator::Evaluator(const Graph& graph, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& options)
    : Evaluator(graph, std::make_shared<Shared>(hardware, cache, options)) {}

// By ZigZag's rules the cost of an operator depends on more than its content.
Evaluator::Evaluator(const Graph& graph, const Evaluator& like)
    : Evaluator(graph,
                like.shared_->options.cost.zigzag
                    ? std::make_shared<Shared>(like.machine_.hardware(), like.shared_->cache, like.shared_->options)
                    : like.shared_) {}

Evaluator::Evaluator(const Graph& graph, std::shared_ptr<Shared> shared)
    : graph_(graph),
      shared_(std::move(shared)),
      classes_(graph, shared_->known->numbers),
      binder_(graph, shared_->machine.hardware(), classes_, shared_->known->loops),
      machine_(shared_->machine),
      tiling_(graph, classes_, shared_->known->tiling),
      costs_(graph, classes_, shared_->costs),
      policy_(graph, classes_, binder_.dependencies(), machine_, costs_, tiling_, shared_->splits,
              !shared_->options.off_chip && !shared_->options.cost.zigzag) {
  tile_options_.element_bits = stored_widths(graph, shared_->options.cost.extract.precision);
}

Expected<PlanRequest> Evaluator::bind(const Plan& plan) const {
  PlanRequest request;
  MONET_TRY(request.plan, binder_.bind(plan));
  return request;
}

bool Evaluator::runs_kernels() const { return shared_->laws != nullptr; }

Status Evaluator::find_kernels(const PlanRequest& request) {
  const bool tf32 = shared_->options.cost.extract.products == "tf32";
  if (shared_->options.lowering == compiled_lowering) {
    CompileOptions how{.tf32_products = tf32};
    if (!request.plan.stacks.empty()) {
      how.stacks.emplace();
      for (const BoundStack& stack : request.plan.stacks) {
        how.stacks->push_back(stack.nodes);
        std::ranges::sort(how.stacks->back());
      }
    }
    MONET_TRY(KernelStep step, compiled_kernel_step(graph_, *shared_->laws, how));
    kernels_ = std::make_shared<const KernelStep>(std::move(step));
  } else if (!kernels_) {
    kernels_ = eager_kernels();
  }
  return Done{};
}

std::shared_ptr<const KernelStep> Evaluator::eager_kernels() const {
  const bool tf32 = shared_->options.cost.extract.products == "tf32";
  return std::make_shared<const KernelStep>(kernel_step(graph_, *shared_->laws, tf32, shared_->options.network.get()));
}

Expected<Evaluated> Evaluator::evaluate_kernels(const PlanRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  MONET_RETURN_IF_ERROR(machine_.check());
  const bool compiled = shared_->options.lowering == compiled_lowering;
  MONET_RETURN_IF_ERROR(check_kernel_plan(request, graph_, machine_.hardware(), compiled));
  MONET_RETURN_IF_ERROR(find_kernels(request));
  Evaluated result;
  result.kernels = kernels_;
  KernelSchedule scheduled = schedule_of(graph_, machine_, *result.kernels, *shared_->laws);
  result.assignment = std::move(scheduled.assignment);
  result.tiles = std::move(scheduled.tiles);
  result.schedule = std::move(scheduled.schedule);
  result.schedule_s = seconds_since(start);
  return result;
}

std::vector<OperatorBound> Evaluator::operator_bounds() {
  if (runs_kernels()) {
    if (!kernels_ && !find_kernels(PlanRequest{})) kernels_ = eager_kernels();
    return kernel_bounds(machine_.hardware(), *kernels_, *shared_->laws);
  }
  std::vector<OperatorBound> bounds;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) bounds.push_back(costs_.bound(NodeId(n)));
  return bounds;
}

bool Evaluator::counts_streams() const { return !shared_->options.cost.zigzag; }

std::vector<std::string> Evaluator::notes() const { return {costs_.notes().begin(), costs_.notes().end()}; }

std::vector<std::uint32_t> Evaluator::request_costs(const TileGraph& tiles, const Assignment& assignment,
                                                    const Streaming& streaming) {
  constexpr std::uint32_t unknown = 0xffffffffU;
  std::vector<std::uint32_t> cost_of(tiles.tiles());
  std::vector<std::uint32_t> known;
  std::vector<LoopSize> extents;
  std::vector<std::vector<std::size_t>> size_class;  // by axis and index
  std::vector<std::size_t> radix;
  for (std::size_t n = 0; n < tiles.operators.size(); ++n) {
    const OperatorTiles& op = tiles.operators[n];
    if (op.count == 0) continue;
    // Few sizes occur along an axis.
    size_class.assign(op.axes.size(), {});
    radix.assign(op.axes.size(), 1);
    std::size_t combinations = 1;
    for (std::size_t a = 0; a < op.axes.size(); ++a) {
      std::vector<std::int64_t> sizes;
      for (std::size_t i = 0; i < op.axes[a].count(); ++i) {
        const std::int64_t size = op.axes[a].bounds[i + 1] - op.axes[a].bounds[i];
        const auto found = std::ranges::find(sizes, size);
        size_class[a].push_back(static_cast<std::size_t>(found - sizes.begin()));
        if (found == sizes.end()) sizes.push_back(size);
      }
      radix[a] = combinations;
      combinations *= sizes.size();
    }
    known.assign(combinations * 2 * machine_.kinds(), unknown);
    for (std::uint32_t i = 0; i < op.count; ++i) {
      const TileId tile(op.first + i);
      const std::size_t piece = op.count == 1 ? 0 : tiles.piece_of(tile);
      const std::size_t kind = machine_[assignment.operators[n].cores[piece]].kind;
      bool adds = false;
      for (const TileWrite& write : tiles.writes_of(tile)) adds |= write.adds;
      std::size_t slot = kind * 2 + (adds ? 1 : 0);
      std::size_t rest = i;
      for (std::size_t a = op.axes.size(); a-- > 0;) {
        const std::size_t index = rest % op.axes[a].count();
        rest /= op.axes[a].count();
        slot += size_class[a][index] * radix[a] * 2 * machine_.kinds();
      }
      if (known[slot] == unknown) {
        extents.clear();
        for (std::size_t a = 0; a < op.axes.size(); ++a) {
          const std::size_t index = TileGraph::index_along(op, tile, a);
          extents.push_back({op.axes[a].loop, op.axes[a].bounds[index + 1] - op.axes[a].bounds[index]});
        }
        known[slot] = costs_.request(NodeId(n), kind, streaming.of(NodeId(n), kind), adds, extents,
                                     assignment.operators[n].cores.size());
      }
      cost_of[tile.index()] = known[slot];
    }
  }
  return cost_of;
}

Evaluator::Need Evaluator::need_of(const Schedule& schedule) const {
  const std::vector<std::int64_t> peaks = live_peaks(machine_.hardware().memories.size(), schedule);
  Need need;
  for (std::size_t m = 0; m < peaks.size(); ++m) {
    const MemoryId memory(m);
    if (machine_.is_home(memory)) need.home += peaks[m];
    if (!machine_.is_backing(memory)) need.cores += peaks[m];
  }
  return need;
}

Expected<Evaluated> Evaluator::evaluate(const PlanRequest& request) {
  if (runs_kernels()) return evaluate_kernels(request);
  CoreShare share;
  if (request.plan.order != PlanOrder::frugal) return evaluate_as_asked(request, share);
  // On the cores that the order of the graph has: so it never needs more than that does, and a plan that states them
  // comes to the same.
  PlanRequest in_order = request;
  in_order.plan.order = PlanOrder::graph;
  auto other = evaluate_as_asked(in_order, share);
  // An order that does not work out is none.
  if (!other) return evaluate_as_asked(request, share);
  MONET_TRY(std::optional<Evaluated> asked, evaluate_on(request, share, std::numeric_limits<double>::infinity()));
  if (need_of(other->schedule) >= need_of(asked->schedule)) return *std::move(asked);
  other->assignment.order = PlanOrder::frugal;
  return other;
}

std::size_t Evaluator::cores_left_open(const PlanRequest& request) const {
  std::size_t most = 0;
  for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
    const BoundOperator& wanted = request.plan.operators[n];
    if (wanted.split_stated || !wanted.cores.empty() || family_of(graph_.nodes()[n].op) == OpFamily::view) continue;
    for (std::size_t kind = 0; kind < machine_.kinds(); ++kind) {
      most = std::max(most, machine_.cores_of_kind(kind).size());
    }
    break;
  }
  return most;
}

Expected<Evaluated> Evaluator::evaluate_as_asked(const PlanRequest& request, CoreShare& share) {
  MONET_TRY(std::optional<Evaluated> all, evaluate_on(request, {}, std::numeric_limits<double>::infinity()));
  Evaluated best = *std::move(all);
  share = {};
  const std::size_t cores = counts_streams() ? cores_left_open(request) : 0;
  if (cores <= 1) return best;
  const auto is_share = [&](std::uint32_t halvings) {
    return halvings <= CoreShare::most_halvings && cores >> halvings > 0;
  };
  // The step on that share of the cores, over that on the best so far; infinite: longer than `most`.
  const auto attempt = [&](std::uint32_t halvings, double most) {
    const double before = best.schedule.cycles;
    auto tried = evaluate_on(request, {halvings}, most * before);
    if (!tried || !*tried) return std::numeric_limits<double>::infinity();
    const double found = (*tried)->schedule.cycles;
    if (found < before) {
      (*tried)->map_s += best.map_s;
      (*tried)->schedule_s += best.schedule_s;
      best = **std::move(tried);
      share = {halvings};
    }
    return found / before;
  };
  if (!is_share(quarter)) {
    attempt(1, 1);
    return best;
  }
  if (attempt(quarter, hardly_longer) >= hardly_longer) return best;
  attempt(1, 1);
  for (std::uint32_t halvings = quarter + 1; is_share(halvings) && attempt(halvings, 1) < hardly_longer;) ++halvings;
  return best;
}

double Evaluator::busiest(const TileGraph& tiles, const Assignment& assignment,
                          std::span<const std::uint32_t> cost_of) const {
  std::vector<double> cycles(machine_.hardware().cores.size(), 0);
  for (std::size_t t = 0; t < tiles.tiles(); ++t) {
    const CoreId core = assignment.operators[tiles.node[t].index()].cores[tiles.piece_of(TileId(t))];
    cycles[core.index()] += costs_[cost_of[t]].cycles;
  }
  return std::ranges::max(cycles);
}

Expected<std::optional<Evaluated>> Evaluator::evaluate_on(const PlanRequest& request, CoreShare share,
                                                          double most_cycles) {
  auto start = std::chrono::steady_clock::now();
  Evaluated result;
  const std::function<bool()>& stop = shared_->options.stop;
  MONET_RETURN_IF_ERROR(machine_.check());
  MONET_RETURN_IF_ERROR(costs_.check_custom());
  auto assignment = policy_.complete(request, share);
  MONET_RETURN_IF_ERROR(costs_.check_custom());
  MONET_TRY(result.assignment, std::move(assignment));
  if (stop && stop()) return stopped_error();
  MONET_TRY(result.tiles, tiling_.tiles(result.assignment, tile_options_));
  Streaming streaming(machine_, costs_, result.assignment, result.tiles, shared_->options.off_chip);
  std::vector<std::uint32_t> cost_of;
  const auto find_costs = [&]() -> Status {
    cost_of = request_costs(result.tiles, result.assignment, streaming);
    result.schedule_s += seconds_since(start);
    start = std::chrono::steady_clock::now();
    MONET_RETURN_IF_ERROR(costs_.solve(shared_->options.jobs, shared_->options.progress, stop));
    result.map_s += seconds_since(start);
    start = std::chrono::steady_clock::now();
    return Done{};
  };
  for (bool again = true; again;) {
    MONET_RETURN_IF_ERROR(find_costs());
    MONET_TRY(again, streaming.widen(cost_of));
  }
  while (counts_streams() && streaming.try_more(cost_of)) {
    const std::vector<std::uint32_t> before = cost_of;
    MONET_RETURN_IF_ERROR(find_costs());
    streaming.decide(before, cost_of);
    cost_of = request_costs(result.tiles, result.assignment, streaming);
  }
  if (std::isfinite(most_cycles) && busiest(result.tiles, result.assignment, cost_of) > most_cycles) {
    return std::optional<Evaluated>();
  }
  MONET_TRY(result.schedule, make_schedule({.graph = graph_,
                                            .dependencies = binder_.dependencies(),
                                            .machine = machine_,
                                            .assignment = result.assignment,
                                            .tiles = result.tiles,
                                            .costs = costs_,
                                            .cost_of = std::move(cost_of),
                                            .streamed = streaming.by_tile(),
                                            .stop = stop,
                                            .most_cycles = most_in_schedule(share, most_cycles)}));
  result.schedule_s += seconds_since(start);
  return std::optional(std::move(result));
}

}  // namespace monet
