#include "kernels/compile/padding.h"

#include "kernels/laws.h"

#include <map>
#include <utility>

namespace monet::compiling {

namespace {

class Padding {
 public:
  Padding(LoweredStep& step, const KernelLaws& laws) : step_(step), laws_(laws) {}

  void run() {
    for (Launch& launch : std::exchange(step_.launches, {})) {
      if (launch.kernel.kind == KernelKind::product && !launch.kernel.aligned) pad(launch);
      for (const Touch& read : launch.reads) {
        if (wider_.contains(read.buffer) && launch.kernel.kind == KernelKind::elementwise &&
            launch.kernel.op != KernelOp::bhds_to_bhsd) {
          launch.kernel.op = KernelOp::qkv_slice_to_bhsd;
        }
      }
      step_.launches.push_back(std::move(launch));
    }
  }

 private:
  static std::int64_t rounded(std::int64_t size, KernelPrecision precision) {
    const auto vector = static_cast<std::int64_t>(16 / bytes_of(precision));
    return (size + vector - 1) / vector * vector;
  }

  static Kernel copy_of(double bytes, KernelPrecision precision) {
    Kernel copy{.kind = KernelKind::elementwise, .precision = precision, .op = KernelOp::copy};
    copy.elements = static_cast<std::int64_t>(bytes / bytes_of(precision));
    copy.passes = 2;
    copy.bytes = 2 * bytes;
    return copy;
  }

  // Bytes of an operand of that many as it is, when padded; 0: it stays as it is.
  static double padded_bytes(double bytes, const Kernel& old, const Kernel& wide) {
    const double width = bytes_of(old.precision);
    const auto matrix = [&](std::int64_t a, std::int64_t b) {
      return static_cast<double>(old.batch) * static_cast<double>(a) * static_cast<double>(b) * width;
    };
    const std::pair<double, double> sides[] = {{matrix(old.m, old.k), matrix(wide.m, wide.k)},
                                               {matrix(old.k, old.n), matrix(wide.k, wide.n)}};
    for (const auto& [before, after] : sides) {
      if (bytes == before) return after > before ? after : 0;
    }
    return 0;
  }

  void pad(Launch& launch) {
    const Kernel old = launch.kernel;
    Kernel wide = old;
    for (std::int64_t* side : {&wide.m, &wide.n, &wide.k}) *side = rounded(*side, old.precision);
    if (wide.m == old.m && wide.n == old.n && wide.k == old.k) return;
    wide.aligned = true;
    wide.flops = wide.bytes = 0;
    derive_sizes(wide);
    double us = microseconds(laws_, wide);
    for (const Touch& read : launch.reads) {
      const double bytes = padded_bytes(static_cast<double>(read.bytes), old, wide);
      if (bytes > 0 && !copies_.contains(read.buffer)) us += microseconds(laws_, copy_of(bytes, old.precision));
    }
    if (us >= microseconds(laws_, old)) return;
    for (Touch& read : launch.reads) {
      const double bytes = padded_bytes(static_cast<double>(read.bytes), old, wide);
      if (bytes > 0) read = copied(launch, read, bytes);
    }
    Touch& result = launch.writes[0];
    const double elements = static_cast<double>(wide.batch) * static_cast<double>(wide.m) * static_cast<double>(wide.n);
    Allocation& buffer = step_.buffers[result.buffer.index()];
    result.bytes = static_cast<std::int64_t>(elements * bytes_of(old.precision));
    buffer.bytes = std::max(buffer.bytes, result.bytes);
    if (wide.n != old.n) wider_.emplace(result.buffer, true);
    launch.kernel = wide;
  }

  Touch copied(const Launch& launch, const Touch& read, double bytes) {
    if (const auto found = copies_.find(read.buffer); found != copies_.end()) return found->second;
    step_.buffers.push_back({.bytes = static_cast<std::int64_t>(bytes)});
    const Touch to{AllocationId(step_.buffers.size() - 1), static_cast<std::int64_t>(bytes)};
    Launch copy;
    copy.kernel = copy_of(
        bytes, launch.kernel.precision == KernelPrecision::bf16 ? KernelPrecision::bf16 : KernelPrecision::fp32);
    copy.phase = launch.phase;
    copy.cause = launch.cause;
    copy.reads = {read};
    copy.writes = {to};
    step_.launches.push_back(std::move(copy));
    // Weights are padded anew in the backward part: nobody keeps them.
    if (!step_.buffers[read.buffer.index()].permanent) copies_.emplace(read.buffer, to);
    return to;
  }

  LoweredStep& step_;
  const KernelLaws& laws_;
  std::map<AllocationId, Touch> copies_;
  std::map<AllocationId, bool> wider_;
};

}  // namespace

void pad_products(LoweredStep& step, const KernelLaws& laws) { Padding(step, laws).run(); }

}  // namespace monet::compiling
