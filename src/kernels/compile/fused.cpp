#include "kernels/compile/fused.h"

#include "kernels/laws.h"

#include <algorithm>
#include <array>
#include <map>

namespace monet::compiling {

namespace {

// Operators whose time is not that of the bytes they move.
bool binds(KernelOp op) {
  switch (op) {
    case KernelOp::gelu:
    case KernelOp::gelu_backward:
    case KernelOp::sigmoid:
    case KernelOp::silu:
    case KernelOp::silu_backward:
    case KernelOp::nchw_to_nhwc:
    case KernelOp::nhwc_to_nchw:
    case KernelOp::bhds_to_bhsd: return true;
    default: return false;
  }
}

class Fusing {
 public:
  Fusing(const LoweredStep& step, const std::vector<Part>& parts, const KernelLaws& laws)
      : step_(step), parts_(parts), order_(step), laws_(laws) {
    result_.buffers = step.buffers;
    result_.silent = step.silent;
  }

  void add(const LaunchGroup& group) {
    if (group.size() == 1 && parts_[group[0]].kind == PartKind::library) {
      result_.launches.push_back(step_.launches[group[0]]);
      return;
    }
    Launch made;
    bool columns = false, sums = false;
    std::int64_t domain = 0, kept = 0;
    for (std::uint32_t each : group) {
      const Launch& launch = step_.launches[each];
      made.phase = launch.phase;
      if (!made.cause.valid() || !launch.nodes.empty()) made.cause = launch.cause;
      made.nodes.insert(made.nodes.end(), launch.nodes.begin(), launch.nodes.end());
      made.repeats.insert(made.repeats.end(), launch.repeats.begin(), launch.repeats.end());
      if (launch.nodes.empty() && launch.repeats.empty()) made.repeats.push_back(launch.cause);
      domain = std::max(domain, parts_[each].domain);
      columns |= parts_[each].kind == PartKind::columns;
      sums |= parts_[each].kind != PartKind::element;
      kept = std::max(kept, parts_[each].kept);
    }
    set_touches(made, group);
    std::vector<Touch> results;  // sums, finished apart
    if (columns && is_split(domain, kept)) results = take_sums(made, group);
    std::int64_t kept_now = kept;
    if (!results.empty()) kept_now *= parts_of_a_sum(kept);
    set_kernel(made, group, domain, sums ? std::max<std::int64_t>(1, kept_now) : 0);
    const std::size_t first = result_.launches.size();
    result_.launches.push_back(std::move(made));
    if (!results.empty()) finish(first, results, kept);
  }

  LoweredStep take() { return std::move(result_); }

 private:
  static bool contains(const LaunchGroup& group, std::uint32_t launch) {
    return std::ranges::binary_search(group, launch);
  }

  bool made_inside(AllocationId buffer, const LaunchGroup& group, std::uint32_t reader) const {
    const auto& writers = order_.writers(buffer);
    return std::ranges::any_of(writers, [&](std::uint32_t w) { return w < reader && contains(group, w); });
  }

  bool leaves(AllocationId buffer, const LaunchGroup& group) const {
    const Allocation& allocation = step_.buffers[buffer.index()];
    if (allocation.permanent || allocation.until_end || allocation.result) return true;
    const auto& readers = order_.readers(buffer);
    return readers.empty() ||
           !std::ranges::all_of(readers, [&](std::uint32_t reader) { return contains(group, reader); });
  }

  // Each buffer once: parts of it add up to no more than all of it.
  void set_touches(Launch& made, const LaunchGroup& group) const {
    std::map<AllocationId, std::int64_t> reads, writes;
    for (std::uint32_t each : group) {
      const Launch& launch = step_.launches[each];
      for (const Touch& read : launch.reads) {
        if (!made_inside(read.buffer, group, each)) add_up(reads, read);
      }
      for (const Touch& write : launch.writes) {
        if (leaves(write.buffer, group)) add_up(writes, write);
      }
    }
    for (const auto& [buffer, bytes] : reads) made.reads.push_back({buffer, bytes});
    for (const auto& [buffer, bytes] : writes) made.writes.push_back({buffer, bytes});
  }

  void add_up(std::map<AllocationId, std::int64_t>& touched, const Touch& touch) const {
    std::int64_t& bytes = touched[touch.buffer];
    bytes = std::min(bytes + touch.bytes, std::max({step_.buffers[touch.buffer.index()].bytes, touch.bytes, bytes}));
  }

  // Fewer sums than keep all multiprocessors busy are made in parts (torch/_inductor/choices.py: 64 for each).
  bool is_split(std::int64_t domain, std::int64_t kept) const {
    return static_cast<double>(kept) < 64 * laws_.multiprocessors && domain > 32 * kept;
  }
  std::int64_t parts_of_a_sum(std::int64_t kept) const {
    return std::max<std::int64_t>(2, static_cast<std::int64_t>(64 * laws_.multiprocessors) / kept);
  }

  // Mean and deviation come from one pair of sums; gradients of parameters from one each.
  std::vector<Touch> take_sums(Launch& made, const LaunchGroup& group) const {
    std::vector<Touch> results;
    for (std::uint32_t each : group) {
      if (parts_[each].kind != PartKind::columns) continue;
      for (const Touch& write : step_.launches[each].writes) {
        const auto found = std::ranges::find(made.writes, write.buffer, &Touch::buffer);
        if (found == made.writes.end()) continue;
        results.push_back(*found);
        made.writes.erase(found);
      }
    }
    return results;
  }

  void finish(std::size_t first, const std::vector<Touch>& results, std::int64_t kept) {
    const bool together = result_.launches[first].phase == Phase::forward;
    const std::size_t kernels = together ? 1 : results.size();
    for (std::size_t i = 0; i < kernels; ++i) {
      const std::int64_t numbers = kept * parts_of_a_sum(kept);
      result_.buffers.push_back({.bytes = 4 * numbers});
      const Touch partial{AllocationId(result_.buffers.size() - 1), 4 * numbers};
      result_.launches[first].writes.push_back(partial);
      Launch last;
      last.phase = result_.launches[first].phase;
      last.cause = result_.launches[first].cause;
      last.reads = {partial};
      last.writes = together ? results : std::vector{results[i]};
      last.kernel = {.kind = KernelKind::elementwise, .op = KernelOp::mean_23};
      last.kernel.elements = numbers;
      last.kernel.columns = kept;
      last.kernel.passes = 1;
      last.kernel.bytes = static_cast<double>(4 * numbers);
      result_.launches.push_back(std::move(last));
    }
  }

  // `sums`: how many it leaves; 0: it makes none.
  void set_kernel(Launch& made, const LaunchGroup& group, std::int64_t domain, std::int64_t sums) const {
    Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::add};
    kernel.elements = std::max<std::int64_t>(1, domain);
    std::array<double, 2> bytes = {};  // by width: 16 bits, more
    for (const auto* list : {&made.reads, &made.writes}) {
      for (const Touch& touch : *list) kernel.bytes += static_cast<double>(touch.bytes);
    }
    for (std::uint32_t each : group) {
      const Launch& launch = step_.launches[each];
      bytes[launch.kernel.precision == KernelPrecision::bf16 ? 0 : 1] += launch.kernel.bytes;
    }
    kernel.precision = bytes[0] >= bytes[1] ? KernelPrecision::bf16 : KernelPrecision::fp32;
    const double width = bytes_of(kernel.precision);
    kernel.passes = kernel.bytes / (static_cast<double>(kernel.elements) * width);
    made.kernel = kernel;
    if (sums > 0) {
      // A sum of all that is read and written.
      made.kernel.op = KernelOp::mean_23;
      made.kernel.elements = std::max<std::int64_t>(1, static_cast<std::int64_t>(kernel.bytes / width));
      made.kernel.passes = 1;
      made.kernel.columns = sums;
    }
    double slowest = microseconds(laws_, made.kernel);
    for (std::uint32_t each : group) {
      const KernelOp op = step_.launches[each].kernel.op;
      if (!binds(op) || parts_[each].domain != domain) continue;
      Kernel other = kernel;
      other.op = op;
      if (const double us = microseconds(laws_, other); us > slowest) {
        slowest = us;
        made.kernel = other;
      }
    }
  }

  const LoweredStep& step_;
  const std::vector<Part>& parts_;
  Order order_;
  const KernelLaws& laws_;
  LoweredStep result_;
};

}  // namespace

LoweredStep fused(const LoweredStep& step, const std::vector<Part>& parts, const std::vector<LaunchGroup>& groups,
                  const KernelLaws& laws) {
  Fusing fusing(step, parts, laws);
  for (const LaunchGroup& group : groups) fusing.add(group);
  return fusing.take();
}

}  // namespace monet::compiling
