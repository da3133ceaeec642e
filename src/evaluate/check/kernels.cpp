#include "evaluate/check/kernels.h"

#include "kernels/laws.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace monet {

namespace {

class KernelCheck {
 public:
  KernelCheck(const Graph& graph, const KernelLaws& laws, const KernelStep& step)
      : graph_(graph), laws_(laws), step_(step.lowered), costs_(step.costs), memory_(step.memory), times_(step.times) {}

  CheckReport run() {
    check_nodes();
    if (report_.count == 0) check_order();
    check_touches();
    if (report_.count == 0) check_memory();
    check_sums();
    if (report_.count == 0) check_times();
    report_.looked_at = fmt::format("{} launches of {} operators, {} buffers, allocator and sums made again",
                                    step_.launches.size(), graph_.nodes().size(), step_.buffers.size());
    return std::move(report_);
  }

 private:
  static constexpr std::size_t kept = 20;
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  template <class... Arguments>
  void find(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    if (++report_.count <= kept)
      report_.violations.push_back({fmt::format(text, std::forward<Arguments>(arguments)...)});
  }
  const std::string& name(NodeId node) const { return graph_[node].name; }

  void check_nodes() {
    at_.assign(graph_.nodes().size(), nowhere);
    std::vector<int> times(graph_.nodes().size(), 0);
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      for (const NodeId node : step_.launches[i].nodes) {
        ++times[node.index()];
        at_[node.index()] = i;
      }
    }
    for (const NodeId node : step_.silent) ++times[node.index()];
    for (std::size_t n = 0; n < times.size(); ++n) {
      if (times[n] != 1) find("'{}' is carried out {} times", name(NodeId(n)), times[n]);
    }
  }

  // The launch after which a tensor is there: that of its producer, or where that is silent the last one of what it
  // reads. Nodes are in an order in which they can run.
  void check_order() {
    std::vector<std::size_t> there(graph_.tensors().size(), 0);  // counted from 1; 0: before the step
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      std::size_t needs = 0;
      for (const TensorId input : node.inputs) {
        if (!input.valid()) continue;
        const std::size_t after = there[input.index()];
        needs = std::max(needs, after);
        if (at_[n] != nowhere && after > at_[n] + 1 && !is_there(input, at_[n]) && !is_for_a_part(input, NodeId(n)))
          find("'{}' runs before what it reads, '{}', is there", node.name, graph_[input].name);
      }
      for (const TensorId output : node.outputs) {
        if (output.valid()) there[output.index()] = at_[n] == nowhere ? needs : at_[n] + 1;
      }
    }
  }

  // Whether a launch has a tensor that others make later: it repeats what leads there from what was made before.
  bool is_there(TensorId tensor, std::size_t launch) const {
    std::vector<TensorId> wanted = {tensor};
    std::set<TensorId> seen;
    while (!wanted.empty()) {
      const TensorId next = wanted.back();
      wanted.pop_back();
      const NodeId producer = graph_[next].producer;
      if (!seen.insert(next).second || !producer.valid()) continue;
      const std::size_t at = at_[producer.index()];
      if (at != nowhere && at <= launch) continue;
      const std::vector<NodeId>& repeats = step_.launches[launch].repeats;
      if (at != nowhere && std::ranges::find(repeats, producer) == repeats.end()) return false;
      for (const TensorId input : graph_[producer].inputs) {
        if (input.valid()) wanted.push_back(input);
      }
    }
    return true;
  }

  // Whether a launch after the one that makes a tensor does a part of the node: a bias that is added by itself.
  bool is_for_a_part(TensorId tensor, NodeId node) const {
    const NodeId producer = graph_[tensor].producer;
    if (!producer.valid() || at_[producer.index()] == nowhere) return false;
    for (std::size_t i = at_[producer.index()]; i < step_.launches.size(); ++i) {
      const std::vector<NodeId>& also = step_.launches[i].repeats;
      if (std::ranges::find(also, node) != also.end()) return true;
    }
    return false;
  }

  void check_touches() {
    std::vector<bool> written(step_.buffers.size(), false);
    const auto fits = [&](const Touch& touched, NodeId cause) {
      const bool known = touched.buffer.valid() && touched.buffer.index() < step_.buffers.size();
      const Allocation* buffer = known ? &step_.buffers[touched.buffer.index()] : nullptr;
      // Masks and positions are made where they are read: they have no bytes of their own.
      const bool holds = known && (touched.bytes <= buffer->bytes || (buffer->permanent && buffer->bytes == 0));
      if (!holds || touched.bytes < 0)
        find("a launch for '{}' touches {} bytes that no buffer has", name(cause), touched.bytes);
      return known;
    };
    for (const Launch& launch : step_.launches) {
      for (const Touch& read : launch.reads) {
        if (!fits(read, launch.cause)) continue;
        if (!written[read.buffer.index()] && !step_.buffers[read.buffer.index()].permanent)
          find("a launch for '{}' reads a buffer of {} bytes that nothing has written", name(launch.cause),
               step_.buffers[read.buffer.index()].bytes);
      }
      for (const Touch& write : launch.writes) {
        if (fits(write, launch.cause)) written[write.buffer.index()] = true;
      }
    }
  }

  // A block is the bytes in multiples of 512, and as much of what was left of a larger one as is not worth a block.
  static bool is_block(std::int64_t block, std::int64_t bytes) {
    const std::int64_t least = bytes % 512 == 0 ? bytes : bytes / 512 * 512 + 512;
    const std::int64_t most = least + (bytes == 0 || least <= 1 << 20 ? 0 : 1 << 20);
    return block >= least && block <= most;
  }

  void check_blocks() {
    if (memory_.buffer_bytes.size() != step_.buffers.size() || memory_.workspace_bytes.size() != step_.launches.size())
      return find("{} buffers have {} blocks", step_.buffers.size(), memory_.buffer_bytes.size());
    std::vector<bool> used(step_.buffers.size(), false);
    for (const Launch& launch : step_.launches) {
      for (const auto* list : {&launch.reads, &launch.writes}) {
        for (const Touch& touched : *list) used[touched.buffer.index()] = true;
      }
    }
    for (std::size_t i = 0; i < used.size(); ++i) {
      const Allocation& buffer = step_.buffers[i];
      const std::int64_t bytes = buffer.permanent || used[i] ? buffer.bytes : 0;
      if (!is_block(memory_.buffer_bytes[i], bytes))
        find("a buffer of {} bytes has a block of {}", bytes, memory_.buffer_bytes[i]);
    }
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      const std::int64_t bytes = workspace_bytes(laws_, step_.launches[i].kernel);
      if (!is_block(memory_.workspace_bytes[i], bytes))
        find("a workspace of {} bytes has a block of {}", bytes, memory_.workspace_bytes[i]);
    }
  }

  // An allocator that gives a buffer when it is first touched and takes it back when nobody touches it any more.
  void check_memory() {
    check_blocks();
    if (report_.count > 0) return;
    std::vector<std::size_t> left(step_.buffers.size(), 0);
    const auto each_touch = [](const Launch& launch, const auto& visit) {
      for (const auto* list : {&launch.reads, &launch.writes}) {
        for (const Touch& touched : *list) visit(touched.buffer.index());
      }
    };
    for (const Launch& launch : step_.launches) each_touch(launch, [&](std::size_t buffer) { ++left[buffer]; });
    std::int64_t held = 0;
    for (std::size_t i = 0; i < step_.buffers.size(); ++i) {
      held += step_.buffers[i].permanent ? memory_.buffer_bytes[i] : 0;
    }
    if (held != memory_.static_bytes) find("{} bytes are there before the step, not {}", held, memory_.static_bytes);
    std::vector<bool> given(step_.buffers.size(), false);
    std::array<std::int64_t, phase_count> peak{};
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      const Launch& launch = step_.launches[i];
      each_touch(launch, [&](std::size_t buffer) {
        if (step_.buffers[buffer].permanent || given[buffer]) return;
        given[buffer] = true;
        held += memory_.buffer_bytes[buffer];
      });
      std::int64_t& most = peak[static_cast<std::size_t>(launch.phase)];
      most = std::max(most, held + memory_.workspace_bytes[i]);
      each_touch(launch, [&](std::size_t buffer) {
        const Allocation& allocation = step_.buffers[buffer];
        if (--left[buffer] == 0 && !allocation.permanent && !allocation.until_end) held -= memory_.buffer_bytes[buffer];
      });
    }
    for (std::size_t phase = 0; phase < phase_count; ++phase) {
      if (peak[phase] != memory_.peak_bytes[phase])
        find("the {} part holds {} bytes at most, not {}", name_of(static_cast<Phase>(phase)), peak[phase],
             memory_.peak_bytes[phase]);
    }
  }

  void check_sums() {
    constexpr double rounding = 1e-9;
    if (costs_.us.size() != step_.launches.size() || costs_.mj.size() != step_.launches.size()) {
      find("{} launches, {} times and {} energies", step_.launches.size(), costs_.us.size(), costs_.mj.size());
      return;
    }
    std::array<double, phase_count> phases{};
    double us = 0, mj = 0;
    for (std::size_t i = 0; i < step_.launches.size(); ++i) {
      if (!std::isfinite(costs_.us[i]) || !(costs_.us[i] > 0) || !std::isfinite(costs_.mj[i]) || costs_.mj[i] < 0)
        find("a launch for '{}' takes {} us and {} mJ", name(step_.launches[i].cause), costs_.us[i], costs_.mj[i]);
      phases[static_cast<std::size_t>(step_.launches[i].phase)] += costs_.us[i];
      us += costs_.us[i];
      mj += costs_.mj[i];
    }
    const auto differ = [&](double a, double b) { return std::abs(a - b) > rounding * std::max(a, b); };
    if (differ(us, costs_.total_us)) find("launches take {} us, the step {}", us, costs_.total_us);
    if (differ(mj, costs_.total_mj)) find("launches cost {} mJ, the step {}", mj, costs_.total_mj);
    for (std::size_t phase = 0; phase < phase_count; ++phase) {
      if (differ(phases[phase], costs_.phase_us[phase]))
        find("launches of the {} part take {} us, not {}", name_of(static_cast<Phase>(phase)), phases[phase],
             costs_.phase_us[phase]);
    }
  }

  // Launches one after the other; collectives after the launch before them, one at a time on each level, and before all
  // that touches what they exchange.
  void check_times() {
    constexpr double rounding = 1e-6;
    const std::size_t count = step_.launches.size();
    if (times_.start_us.size() != count || times_.end_us.size() != count)
      return find("{} launches have {} times", count, times_.start_us.size());
    std::vector<double> made(step_.buffers.size(), 0), read(step_.buffers.size(), 0);
    std::array<double, max_fabric_levels> level{};
    std::size_t next = 0;
    double now = 0, last = 0, ran = 0, exposed = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Launch& launch = step_.launches[i];
      const double start = times_.start_us[i], end = times_.end_us[i], slack = rounding * (1 + end);
      double least = now;
      for (const Touch& each : launch.reads) least = std::max(least, made[each.buffer.index()]);
      for (const Touch& each : launch.writes)
        least = std::max({least, made[each.buffer.index()], read[each.buffer.index()]});
      if (launch.collective) {
        if (next >= times_.exchanges.size() || times_.exchanges[next].launch != i)
          return find("'{}' is no collective of the step's times", name(launch.cause));
        const Exchange& exchange = times_.exchanges[next++];
        for (std::size_t l = 0; l < max_fabric_levels; ++l) {
          if (exchange.price.level_seconds[l] <= 0) continue;
          least = std::max(least, level[l]);
          level[l] = end;
        }
        for (const Touch& each : launch.reads) read[each.buffer.index()] = end;
        for (const Touch& each : launch.writes) made[each.buffer.index()] = end;
        exposed += exchange.exposed_us;
        if (exchange.price.bound_seconds > exchange.price.seconds * (1 + rounding))
          find("'{}' is faster than its bound", name(launch.cause));
      } else {
        now = end;
        ran += end - start;
      }
      if (start < least - slack) find("'{}' starts {} us too early", name(launch.cause), least - start);
      if (end - start < costs_.us[i] - slack) find("'{}' is done too early", name(launch.cause));
      last = std::max(last, end);
    }
    if (std::abs(last - times_.total_us) > rounding * (1 + last))
      find("the step takes {} us, its last launch or collective ends at {}", times_.total_us, last);
    if (std::abs(ran + exposed - times_.total_us) > rounding * (1 + last))
      find("launches and what is waited for are {} us, the step {}", ran + exposed, times_.total_us);
  }

  const Graph& graph_;
  const KernelLaws& laws_;
  const LoweredStep& step_;
  const StepCosts& costs_;
  const AllocatorPeak& memory_;
  const LaunchTimes& times_;
  std::vector<std::size_t> at_;  // by node: the launch that carries it out
  CheckReport report_;
};

}  // namespace

CheckReport check_kernels(const Graph& graph, const Hardware& hardware, const KernelStep& step) {
  return KernelCheck(graph, *hardware[kernel_core(hardware)].kernels, step).run();
}

Status verify_kernels(const Graph& graph, const Hardware& hardware, const KernelStep& step) {
  const CheckReport report = check_kernels(graph, hardware, step);
  if (report.count == 0) return Done{};
  return Error{.kind = ErrorKind::defect,
               .message = fmt::format("the launches break {} rules; the first: {}", report.count,
                                      report.violations.front().what),
               .place = "checker",
               .advice = "please report it with the network, the hardware and the plan"};
}

}  // namespace monet
