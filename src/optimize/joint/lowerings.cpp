#include "optimize/joint/lowerings.h"

#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/kernels/lowering_choice.h"
#include "optimize/joint/front.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace monet {

Expected<JointResult> optimize_lowerings(const Graph& step, const Hardware& hardware, MappingCache& cache,
                                         const EvaluatorOptions& how, const Plan& plan,
                                         const std::vector<BoundTensor>& decided, const JointOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  JointOptions part = options;
  part.time_limit_s = options.time_limit_s / 2;
  MONET_TRY(JointResult result, optimize_jointly(step, hardware, cache, how, plan, decided, part));
  EvaluatorOptions as_compiled = how;
  as_compiled.lowering = compiled_lowering;
  Plan compiled_plan = plan;
  compiled_plan.lowering = compiled_lowering;
  part.time_limit_s = options.time_limit_s - seconds_since(start);
  MONET_TRY(JointResult compiled, optimize_jointly(step, hardware, cache, as_compiled, compiled_plan, decided, part));
  std::vector<JointPlan> plans = std::move(result.front);
  std::ranges::move(compiled.front, std::back_inserter(plans));
  result.front = front_of(std::move(plans), options.objective);
  result.least_bytes = std::min(result.least_bytes, compiled.least_bytes);
  result.evaluated += compiled.evaluated;
  result.complete = result.complete && compiled.complete;
  return result;
}

}  // namespace monet
