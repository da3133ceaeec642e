// What is at home: where each tensor has its place, since when each buffer is there, and for how long.
#pragma once

#include "evaluate/schedule/readers.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace monet::scheduling {

// The tensor whose storage a tensor has at home.
inline TensorId stored_as(const Graph& graph, TensorId tensor) {
  while (graph[tensor].updates.valid()) tensor = graph[tensor].updates;
  return tensor;
}

struct BufferAtHome {
  Moment since{never};   // it is there from then on
  bool must_go = false;  // it is wanted there
};

struct TensorAtHome {
  MemoryId memory;
  double start = never, end = 0;
  double page_start = never, page_end = 0;  // in storage
  double out = 0;                           // paged out
  double back = never;                      // paged in

  void use(double from, double until) {
    start = std::min(start, from);
    end = std::max(end, until);
  }
};

class Homes {
 public:
  Homes(const ScheduleInput& input, const TilePlaces& places, const Readers& readers);

  BufferAtHome& operator[](BufferId buffer) { return buffers_[buffer.index()]; }
  bool has(BufferId buffer) const { return buffers_[buffer.index()].since.at < never; }
  // Of those whose place is their own.
  TensorAtHome& operator[](TensorId tensor) { return tensors_[tensor.index()]; }
  TensorAtHome& tensor_of(BufferId buffer) {
    return tensors_[stored_as(graph_, tiles_.buffers[buffer.index()].tensor).index()];
  }
  MemoryId memory_of(BufferId buffer) { return tensor_of(buffer).memory; }
  std::int64_t bytes_of(TensorId tensor) const;

  // After the last tile, in a step of so many cycles.
  void add_stays(double cycles, std::vector<TensorStay>& stays) const;

 private:
  void find_memories(const TilePlaces& places);
  void find_wanted(const TilePlaces& places, const Readers& readers);
  void mark_output(TensorId tensor);
  // By tensor: it is there until the end of the step.
  std::vector<bool> lasting() const;

  const ScheduleInput& in_;
  const Graph& graph_;
  const TileGraph& tiles_;
  std::vector<BufferAtHome> buffers_;
  std::vector<TensorAtHome> tensors_;
};

}  // namespace monet::scheduling
