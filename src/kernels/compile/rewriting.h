// Launches of a step in another order, and some of them more than once.
#pragma once

#include "kernels/lower/lowered_step.h"

#include <map>
#include <utility>
#include <vector>

namespace monet::compiling {

// A step written anew, with copies of launches.
class Rewriting {
 public:
  explicit Rewriting(LoweredStep& step) : step_(step), old_(std::exchange(step.launches, {})) {}

  const std::vector<Launch>& old() const { return old_; }
  void keep(Launch launch) { step_.launches.push_back(std::move(launch)); }

  // `launch` once more for `reader`, into buffers of its own.
  void copy(const Launch& launch, std::vector<Touch> reads, const Launch& reader,
            std::map<AllocationId, AllocationId>& copies) {
    Launch again = launch;
    again.repeats.insert(again.repeats.end(), again.nodes.begin(), again.nodes.end());
    again.nodes.clear();
    again.cause = reader.cause;
    again.phase = reader.phase;
    again.reads = std::move(reads);
    for (Touch& write : again.writes) {
      step_.buffers.push_back({.bytes = step_.buffers[write.buffer.index()].bytes});
      const AllocationId fresh(step_.buffers.size() - 1);
      copies[write.buffer] = fresh;
      write.buffer = fresh;
    }
    keep(std::move(again));
  }

 private:
  LoweredStep& step_;
  std::vector<Launch> old_;
};

}  // namespace monet::compiling
