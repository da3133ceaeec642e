#include "pipeline/timeline.h"

#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace monet {

namespace {

using enum PipelinePart;
constexpr double not_done = -1;

class Timeline {
 public:
  Timeline(const PipelineOrder& order, std::span<const StageCost> costs)
      : order_(order),
        costs_(costs),
        next_(order.tasks.size()),
        free_at_(order.tasks.size()),
        ends_(order.chip_of.size() * order.micro_batches * 3, not_done) {
    times_.chips.resize(order.tasks.size());
    times_.begins.resize(order.tasks.size());
  }

  Expected<PipelineTimes> run() && {
    std::vector<std::uint32_t> waiting;  // chips whose next task may be ready
    for (std::uint32_t chip = 0; chip < next_.size(); ++chip) waiting.push_back(chip);
    while (!waiting.empty()) {
      const std::uint32_t chip = waiting.back();
      waiting.pop_back();
      while (advance(chip, waiting)) continue;
    }
    for (std::size_t chip = 0; chip < next_.size(); ++chip) {
      if (next_[chip] < order_.tasks[chip].size())
        return Error{
            .message = fmt::format("chip {} waits for ever before {}", chip, text_of(order_.tasks[chip][next_[chip]])),
            .place = "pipeline",
            .advice = "list a task after all that it needs, on all chips"};
    }
    for (std::size_t chip = 0; chip < next_.size(); ++chip) account(chip);
    return std::move(times_);
  }

 private:
  double& end_of(std::uint32_t stage, std::uint32_t micro_batch, PipelinePart part) {
    return ends_[(stage * std::size_t{order_.micro_batches} + micro_batch) * 3 + static_cast<std::size_t>(part)];
  }

  double duration(const PipelineTask& task) const {
    const StageCost& cost = costs_[task.stage];
    if (task.part == forward) return cost.forward;
    if (task.part == weights) return cost.weights;
    return cost.backward + (order_.splits_backward ? 0 : cost.weights);
  }

  // When all that it needs is there; negative: not known yet.
  double inputs_at(const PipelineTask& task) {
    const auto [stage, micro, part] = task;
    if (part == weights) return end_of(stage, micro, backward);
    if (part == forward) {
      if (stage == 0) return 0;
      const double before = end_of(stage - 1, micro, forward);
      return before < 0 ? not_done : before + costs_[stage - 1].send;
    }
    const double own = end_of(stage, micro, forward);
    if (own < 0 || stage + 1 == order_.chip_of.size()) return own;
    const double after = end_of(stage + 1, micro, backward);
    return after < 0 ? not_done : std::max(own, after + costs_[stage + 1].send_back);
  }

  bool advance(std::uint32_t chip, std::vector<std::uint32_t>& waiting) {
    if (next_[chip] == order_.tasks[chip].size()) return false;
    const PipelineTask& task = order_.tasks[chip][next_[chip]];
    const double ready = inputs_at(task);
    if (ready < 0) return false;
    const double begin = std::max(free_at_[chip], ready);
    times_.begins[chip].push_back(begin);
    free_at_[chip] = end_of(task.stage, task.micro_batch, task.part) = begin + duration(task);
    times_.chips[chip].busy += duration(task);
    ++next_[chip];
    const std::size_t stages = order_.chip_of.size();
    if (task.part == forward && task.stage + 1 < stages) waiting.push_back(order_.chip_of[task.stage + 1]);
    if (task.part == backward && task.stage > 0) waiting.push_back(order_.chip_of[task.stage - 1]);
    return true;
  }

  void account(std::size_t chip) {
    PipelineChip& result = times_.chips[chip];
    const std::vector<PipelineTask>& tasks = order_.tasks[chip];
    if (tasks.empty()) return;
    result.begin = times_.begins[chip].front();
    result.end = free_at_[chip];
    std::int64_t kept = 0;
    std::uint32_t in_flight = 0;
    for (const PipelineTask& task : tasks) {
      const StageCost& cost = costs_[task.stage];
      const std::int64_t for_weights = order_.splits_backward ? cost.kept_for_weights_bytes : 0;
      if (task.part == forward) kept += cost.kept_bytes, ++in_flight;
      result.peak_bytes = std::max(result.peak_bytes, kept + cost.working_bytes);
      result.most_in_flight = std::max(result.most_in_flight, in_flight);
      if (task.part == backward) kept -= cost.kept_bytes - for_weights, --in_flight;
      if (task.part == weights) kept -= for_weights;
    }
    times_.end = std::max(times_.end, result.end);
    times_.span = std::max(times_.span, result.end - result.begin);
  }

  const PipelineOrder& order_;
  std::span<const StageCost> costs_;
  std::vector<std::size_t> next_;
  std::vector<double> free_at_;
  std::vector<double> ends_;
  PipelineTimes times_;
};

}  // namespace

Expected<PipelineTimes> pipeline_times(const PipelineOrder& order, std::span<const StageCost> costs) {
  MONET_REQUIRE(costs.size() == order.chip_of.size());
  return Timeline(order, costs).run();
}

double pipeline_bound(const PipelineOrder& order, std::span<const StageCost> costs) {
  const std::size_t stages = costs.size(), chips = order.tasks.size();
  // The shortest way of a micro-batch to a stage, and from its gradients out of the pipeline.
  std::vector<double> to(stages), back(stages);
  for (std::size_t s = 1; s < stages; ++s) {
    to[s] = to[s - 1] + costs[s - 1].forward + costs[s - 1].send;
    back[s] =
        back[s - 1] + costs[s].send_back + costs[s - 1].backward + (order.splits_backward ? 0 : costs[s - 1].weights);
  }
  double bound = 0;
  for (std::size_t chip = 0; chip < chips; ++chip) {
    double work = 0, before = std::numeric_limits<double>::max(), after = before;
    for (std::size_t s = 0; s < stages; ++s) {
      if (order.chip_of[s] != chip) continue;
      work += costs[s].forward + costs[s].backward + costs[s].weights;
      before = std::min(before, to[s]);
      // Where gradients of weights are apart they may come after all that leaves.
      after = std::min(after, order.splits_backward ? 0 : back[s]);
    }
    if (work > 0) bound = std::max(bound, before + order.micro_batches * work + after);
  }
  return bound;
}

}  // namespace monet
