#include "kernels/lower/memory.h"

#include <algorithm>

namespace monet {

std::int64_t in_allocator_blocks(std::int64_t bytes) {
  constexpr std::int64_t block = 512;
  return (bytes + block - 1) / block * block;
}

std::vector<BufferLife> buffer_lives(const LoweredStep& step) {
  std::vector<BufferLife> result(step.buffers.size());
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const auto touch = [&](const Touch& touched) {
      BufferLife& life = result[touched.buffer.index()];
      if (!life.used) life = {i, i, true};
      life.last = i;
    };
    std::ranges::for_each(step.launches[i].reads, touch);
    std::ranges::for_each(step.launches[i].writes, touch);
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (step.buffers[i].until_end) result[i].last = step.launches.size();
  }
  return result;
}

std::int64_t AllocatorPeak::peak() const { return *std::ranges::max_element(peak_bytes); }

AllocatorPeak allocator_peak(const LoweredStep& step, const std::function<std::int64_t(const Kernel&)>& workspace) {
  AllocatorPeak result;
  const std::vector<BufferLife> life = buffer_lives(step);
  std::vector<std::int64_t> comes(step.launches.size() + 2, 0), goes(step.launches.size() + 2, 0);
  for (std::size_t i = 0; i < step.buffers.size(); ++i) {
    const std::int64_t bytes = in_allocator_blocks(step.buffers[i].bytes);
    if (step.buffers[i].permanent) {
      result.static_bytes += bytes;
    } else if (life[i].used) {
      comes[life[i].first] += bytes;
      goes[life[i].last] += bytes;
    }
  }
  std::int64_t now = result.static_bytes, most = 0;
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const Launch& launch = step.launches[i];
    now += comes[i];
    const std::int64_t held = now + in_allocator_blocks(workspace(launch.kernel));
    std::int64_t& peak = result.peak_bytes[static_cast<std::size_t>(launch.phase)];
    peak = std::max(peak, held);
    if (held > most) {
      most = held;
      result.largest = i;
    }
    now -= goes[i];
    if (launch.phase == Phase::forward) result.after_forward_bytes = now;
  }
  return result;
}

}  // namespace monet
