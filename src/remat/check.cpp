#include "remat/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::remat {

namespace {

// Where a tensor is, and the times that bind it.
struct Tensor {
  bool here = false, stored = false;
  int runs = 0;
  double ready = 0;       // complete in memory
  double busy_until = 0;  // somebody reads it
  double stored_at = 0;   // the copy is complete
};

class Replay {
 public:
  Replay(const Problem& problem, const CheckRules& rules)
      : problem_(problem), rules_(rules), tensors_(problem.size()), used_(problem.fixed_bytes) {
    result_.peak_bytes = used_;
  }

  CheckedSchedule run(const Schedule& schedule) {
    for (position_ = 0; position_ < schedule.size() && result_.fault.empty(); ++position_) step(schedule[position_]);
    for (NodeIndex node = 0; node < problem_.size() && result_.fault.empty(); ++node)
      if (tensors_[node].runs == 0) result_.fault = fmt::format("{} is never run", name(node));
    if (result_.fault.empty()) check_moments();
    return result_;
  }

 private:
  struct Change {
    double time;
    std::int64_t bytes;  // given back before others are taken
    auto operator<=>(const Change&) const = default;
  };

  std::string name(NodeIndex node) const { return fmt::format("'{}' ({})", problem_.nodes[node].name, node); }

  bool require(bool holds, const Action& action, const std::string& rule) {
    if (!holds && result_.fault.empty())
      result_.fault = fmt::format("action {} on {}: {}", position_, name(action.node), rule);
    return holds;
  }

  void step(const Action& action) {
    if (action.node >= problem_.size()) {
      result_.fault = fmt::format("action {}: there is no node {}", position_, action.node);
      return;
    }
    if (!require(std::isfinite(action.start) && action.start >= 0, action, "its time is none")) return;
    switch (action.kind) {
      case ActionKind::compute: compute(action); break;
      case ActionKind::free: free(action); break;
      case ActionKind::page_out: page_out(action); break;
      case ActionKind::page_in: page_in(action); break;
    }
  }

  void take(const Action& action) {
    Tensor& tensor = tensors_[action.node];
    require(!tensor.here, action, "it is in memory already");
    tensor.here = true;
    const std::int64_t bytes = problem_.nodes[action.node].bytes;
    used_ += bytes;
    changes_.push_back({action.start, bytes});
    result_.peak_bytes = std::max(result_.peak_bytes, used_);
    require(used_ <= rules_.budget, action,
            fmt::format("{} bytes are in use, {} over the budget", used_, used_ - rules_.budget));
  }

  void compute(const Action& action) {
    const Node& node = problem_.nodes[action.node];
    Tensor& tensor = tensors_[action.node];
    const double end = action.start + node.time;
    require(action.start >= processor_free_, action, "the processor is busy");
    for (const NodeIndex operand : problem_.operands.of(action.node)) {
      require(tensors_[operand].here, action, fmt::format("its operand {} is not in memory", name(operand)));
      require(action.start >= tensors_[operand].ready, action,
              fmt::format("its operand {} is not complete", name(operand)));
      tensors_[operand].busy_until = std::max(tensors_[operand].busy_until, end);
    }
    if (tensor.runs == 0) {
      require(!rules_.given_order || action.node == first_runs_, action, "its first run is out of order");
      ++first_runs_;
    } else {
      require(node.recomputable, action, "it cannot be recomputed");
    }
    take(action);
    ++tensor.runs;
    tensor.ready = tensor.busy_until = processor_free_ = end;
    result_.compute_time += node.time;
    result_.energy_j += node.energy_j;
    result_.end_time = std::max(result_.end_time, end);
    ++result_.runs;
  }

  void free(const Action& action) {
    Tensor& tensor = tensors_[action.node];
    require(tensor.here, action, "it is not in memory");
    require(action.start >= tensor.busy_until, action, "it is still in use");
    tensor.here = false;
    used_ -= problem_.nodes[action.node].bytes;
    changes_.push_back({action.start, -problem_.nodes[action.node].bytes});
  }

  // True: there is a channel, and it is free. Pays for the transfer.
  bool transfer(const Action& action, double Channel::* latency, double Channel::* rate, double& end) {
    if (!require(problem_.channel.has_value(), action, "there is no channel to storage")) return false;
    const Channel& channel = *problem_.channel;
    const std::int64_t pages = (problem_.nodes[action.node].bytes + channel.page_bytes - 1) / channel.page_bytes;
    const double seconds =
        channel.*latency + static_cast<double>(pages) * static_cast<double>(channel.page_bytes) / (channel.*rate);
    require(action.start >= channel_free_, action, "the channel is busy");
    end = channel_free_ = action.start + seconds;
    result_.energy_j += seconds * channel.power_w;
    result_.end_time = std::max(result_.end_time, end);
    return true;
  }

  void page_out(const Action& action) {
    Tensor& tensor = tensors_[action.node];
    require(tensor.here, action, "it is not in memory");
    require(action.start >= tensor.ready, action, "it is not complete");
    if (!transfer(action, &Channel::out_latency_s, &Channel::out_bytes_per_s, tensor.stored_at)) return;
    tensor.stored = true;
    tensor.busy_until = std::max(tensor.busy_until, tensor.stored_at);
    ++result_.page_outs;
  }

  void page_in(const Action& action) {
    Tensor& tensor = tensors_[action.node];
    require(tensor.stored, action, "there is no copy in storage");
    require(action.start >= tensor.stored_at, action, "its copy is not complete");
    take(action);
    if (!transfer(action, &Channel::in_latency_s, &Channel::in_bytes_per_s, tensor.ready)) return;
    tensor.busy_until = tensor.ready;
    ++result_.page_ins;
  }

  void check_moments() {
    std::ranges::sort(changes_);
    std::int64_t used = result_.timed_peak_bytes = problem_.fixed_bytes;
    for (const Change& change : changes_) {
      used += change.bytes;
      result_.timed_peak_bytes = std::max(result_.timed_peak_bytes, used);
      if (used <= rules_.budget) continue;
      result_.fault =
          fmt::format("at time {}, {} bytes are in use, {} over the budget", change.time, used, used - rules_.budget);
      return;
    }
  }

  const Problem& problem_;
  CheckRules rules_;
  std::vector<Tensor> tensors_;
  std::vector<Change> changes_;
  std::int64_t used_;
  NodeIndex first_runs_ = 0;
  double processor_free_ = 0, channel_free_ = 0;
  std::size_t position_ = 0;
  CheckedSchedule result_;
};

}  // namespace

CheckedSchedule check_schedule(const Problem& problem, const Schedule& schedule, const CheckRules& rules) {
  return Replay(problem, rules).run(schedule);
}

}  // namespace monet::remat
