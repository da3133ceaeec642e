#include "kernels/lower/memory.h"

#include "kernels/lower/caching_allocator.h"

#include <algorithm>

namespace monet {

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
  lowering::CachingAllocator allocator;
  const std::vector<BufferLife> life = buffer_lives(step);
  std::vector<std::vector<std::size_t>> comes(step.launches.size()), goes(step.launches.size() + 1);  // buffers
  result.buffer_bytes.assign(step.buffers.size(), 0);
  const auto allocate = [&](std::size_t buffer) {
    const std::size_t handle = allocator.allocate(step.buffers[buffer].bytes);
    result.buffer_bytes[buffer] = allocator.bytes_of(handle);
    return handle;
  };
  for (std::size_t i = 0; i < step.buffers.size(); ++i) {
    if (step.buffers[i].permanent) {
      allocate(i);
    } else if (life[i].used) {
      comes[life[i].first].push_back(i);
      goes[life[i].last].push_back(i);
    }
  }
  result.static_bytes = result.after_forward_bytes = allocator.held_bytes();
  std::vector<std::size_t> handles(step.buffers.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < step.launches.size(); ++i) {
    const Launch& launch = step.launches[i];
    for (std::size_t buffer : comes[i]) handles[buffer] = allocate(buffer);
    const std::size_t beside = allocator.allocate(workspace(launch.kernel));
    result.workspace_bytes.push_back(allocator.bytes_of(beside));
    const std::int64_t held = allocator.held_bytes();
    allocator.release(beside);
    std::int64_t& peak = result.peak_bytes[static_cast<std::size_t>(launch.phase)];
    peak = std::max(peak, held);
    if (held > most) {
      most = held;
      result.largest = i;
    }
    for (std::size_t buffer : goes[i]) allocator.release(handles[buffer]);
    if (launch.phase == Phase::forward) result.after_forward_bytes = allocator.held_bytes();
  }
  return result;
}

}  // namespace monet
