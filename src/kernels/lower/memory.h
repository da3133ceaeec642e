// What a caching allocator holds while a lowered step runs.
#pragma once

#include "kernels/lower/lowered_step.h"

#include <array>
#include <functional>

namespace monet {

struct AllocatorPeak {
  std::int64_t static_bytes = 0;         // before the step: weights, states, statistics, the batch
  std::int64_t after_forward_bytes = 0;  // when the forward part has run
  std::array<std::int64_t, phase_count> peak_bytes = {};
  std::size_t largest = 0;                    // the launch at which it holds most
  std::vector<std::int64_t> buffer_bytes;     // by buffer: of the block that it has
  std::vector<std::int64_t> workspace_bytes;  // by launch: of the block for its workspace

  std::int64_t peak() const;
};

// From the first launch that touches a buffer to the last; `last` is the number of launches where it is kept until the
// step ends.
struct BufferLife {
  std::size_t first = 0, last = 0;
  bool used = false;
};
std::vector<BufferLife> buffer_lives(const LoweredStep& step);

// Every buffer is there from its first launch to its last, gradients of parameters until the end, in the blocks of
// an allocator that had nothing before the step but what is static. `workspace`: what a library takes beside it while a
// kernel runs.
AllocatorPeak allocator_peak(const LoweredStep& step, const std::function<std::int64_t(const Kernel&)>& workspace);

}  // namespace monet
