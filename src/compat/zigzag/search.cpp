#include "compat/zigzag/search.h"

#include "base/try.h"
#include "compat/zigzag/bandwidth.h"
#include "compat/zigzag/evaluate.h"
#include "compat/zigzag/factors.h"
#include "compat/zigzag/machine.h"
#include "compat/zigzag/plan.h"
#include "compat/zigzag/result.h"
#include "compat/zigzag/spatial.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace monet {

namespace zigzag {

namespace {

// The largest number of MACs whose products stay exact.
constexpr double max_macs = 9007199254740992.0;  // 2^53

constexpr std::int64_t max_bits = 4096;  // of an element

Status check_layer(const ZigzagLayer& layer) {
  if (layer.loops.empty() || layer.loops.size() > max_loops || layer.windows.size() > 2) {
    return Error{ErrorKind::user,
                 fmt::format("the layer has {} loops and {} windows", layer.loops.size(), layer.windows.size()),
                 layer.name, fmt::format("give 1 to {} loops and at most 2 windows", max_loops)};
  }
  for (const Loop& loop : layer.loops) {
    if (loop.size >= 1) continue;
    return Error{ErrorKind::user, fmt::format("loop {} has {} iterations", name_of(loop.name), loop.size), layer.name,
                 "give at least 1"};
  }
  for (const ZigzagWindow& window : layer.windows) {
    if (window.stride >= 1 && window.dilation >= 1 && window.limit >= 1) continue;
    return Error{ErrorKind::user,
                 fmt::format("{} has stride {}, dilation {} and size {}", name_of(window.name), window.stride,
                             window.dilation, window.limit),
                 layer.name, "give at least 1"};
  }
  const auto is_precision = [](std::int64_t bits) { return bits >= 0 && bits <= max_bits; };
  for (const ZigzagOperand& operand : layer.operands) {
    if (is_precision(operand.bits) && is_precision(layer.final_bits)) continue;
    return Error{ErrorKind::user, fmt::format("operand {} has elements of {} bits", operand.name, operand.bits),
                 layer.name, fmt::format("give 0 to {}", max_bits)};
  }
  if (layer.macs() > max_macs) {
    return Error{ErrorKind::user, fmt::format("the layer has {:.3g} MACs", layer.macs()), layer.name,
                 "at most 2^53 are counted exactly; split the layer"};
  }
  return Done{};
}

Status check_options(const ZigzagOptions& options) {
  if (options.factors < 0 || options.spatial_candidates < 1) {
    return Error{ErrorKind::user,
                 fmt::format("a search with {} factors and {} unrollings", options.factors, options.spatial_candidates),
                 {},
                 "give 0 (all) or more factors, and 1 or more unrollings"};
  }
  if (options.parallel_cores >= 0) return Done{};
  return Error{ErrorKind::user,
               fmt::format("{} cores at the same time", options.parallel_cores),
               {},
               "give 0 (not counted) or more"};
}

struct Cost {
  double latency;
  double energy;
};

bool better(const Cost& a, const Cost& b, const ZigzagOptions& options) {
  if (options.parallel_cores > 0) return a.latency < b.latency;
  switch (options.objective) {
    case Objective::latency: return a.latency < b.latency || (a.latency == b.latency && a.energy < b.energy);
    case Objective::energy: return a.energy < b.energy || (a.energy == b.energy && a.latency < b.latency);
    case Objective::edp: return a.latency * a.energy < b.latency * b.energy;
  }
  return false;
}

bool keeps_places(std::span<const Factor> order, const std::vector<FixedPlace>& fixed) {
  return std::ranges::all_of(fixed, [&](const FixedPlace& place) {
    const Factor& factor = order[place.position];
    return factor.loop == place.loop && (place.size == 0 || factor.size == place.size);
  });
}

Error misfit(const ZigzagLayer& layer) {
  return {ErrorKind::infeasible, "no order of its loops fits the memories", layer.name,
          "the smallest tile of each operand must fit its lowest memory, and the whole layer the highest"};
}

Error portless(const ZigzagLayer& layer) {
  return {ErrorKind::infeasible, "partial sums come back through a memory without a port for them", layer.name,
          "give outputs a port to the level below and from the level above"};
}

struct Best {
  Cost cost{};
  std::vector<Factor> order;
  std::size_t mapping = 0;
};

// The best order under one unrolling, if it is better than what is known.
Status search_orders(const ZigzagLayer& layer, const Plan& plan, const Factors& factors, const ZigzagOptions& options,
                     std::size_t mapping, std::optional<Best>& best, double& evaluated) {
  State state;
  Ceiling ceiling;
  bool fits = false;
  Orders orders(layer, factors.factors);
  do {
    const std::span<const Factor> order = factors.complete ? std::span<const Factor>(factors.factors) : orders.order();
    if (!keeps_places(order, factors.fixed)) continue;
    const bool by_energy = options.objective == Objective::energy && options.parallel_cores == 0;
    if (best && options.prune && by_energy) ceiling.energy_pj = best->cost.energy;
    const Verdict verdict = evaluate(plan, order, ceiling, state);
    if (verdict == Verdict::no_port) return portless(layer);
    if (verdict == Verdict::too_small) continue;
    fits = true;
    ++evaluated;
    if (verdict == Verdict::too_costly) continue;
    Cost cost{state.latency, state.energy_pj};
    if (options.parallel_cores > 0) cost.latency = latency_when_shared(plan, state, options.parallel_cores);
    if (!best || better(cost, best->cost, options)) {
      best = Best{cost, {order.begin(), order.end()}, mapping};
    }
  } while (!factors.complete && orders.next());
  if (!fits) return misfit(layer);
  return Done{};
}

}  // namespace

}  // namespace zigzag

Expected<ZigzagResult> zigzag_map(const ZigzagLayer& layer, const Target& target, const ZigzagMapping& mapping,
                                  const ZigzagOptions& options) {
  MONET_RETURN_IF_ERROR(zigzag::check_layer(layer));
  MONET_RETURN_IF_ERROR(zigzag::check_options(options));
  MONET_TRY(const zigzag::Machine machine, zigzag::machine_of(target));
  MONET_TRY(const zigzag::Links links, zigzag::links_of(layer, mapping));
  MONET_TRY(const auto arrays, zigzag::array_mappings(layer, machine, links, mapping, options));
  std::optional<zigzag::Best> best;
  double evaluated = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    MONET_TRY(const zigzag::Unrolling unrolling, zigzag::unroll(layer, machine, links, arrays[i]));
    const zigzag::Plan plan = zigzag::plan_of(layer, machine, links, unrolling, options);
    MONET_TRY(const zigzag::Factors factors, zigzag::factors_of(layer, unrolling, mapping, options));
    MONET_RETURN_IF_ERROR(zigzag::search_orders(layer, plan, factors, options, i, best, evaluated));
  }
  MONET_TRY(const zigzag::Unrolling unrolling, zigzag::unroll(layer, machine, links, arrays[best->mapping]));
  const zigzag::Plan plan = zigzag::plan_of(layer, machine, links, unrolling, options);
  zigzag::State state;
  zigzag::evaluate(plan, best->order, {}, state);
  ZigzagResult result = zigzag::result_of(layer, plan, state, arrays[best->mapping], unrolling);
  result.evaluated = evaluated;
  result.mapped.evaluated = evaluated;
  return result;
}

}  // namespace monet
