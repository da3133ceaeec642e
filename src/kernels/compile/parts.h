// What a fusing compiler sees in the launches of a step: which it can write as loops of its own, over how many
// elements.
#pragma once

#include "graph/graph.h"
#include "kernels/lower/lowered_step.h"

#include <vector>

namespace monet::compiling {

enum class PartKind : std::uint8_t {
  library,  // a kernel as it is: products, convolutions, attention, pools, and what runs outside the compiled network
  element,  // element by element, whatever the order of axes in which operands lie
  rows,     // sums along rows: all of a row is at hand in one block of threads
  columns,  // sums down columns or over channels: blocks leave parts of them behind
};

struct Part {
  PartKind kind = PartKind::library;
  std::int64_t domain = 0;  // elements that its loops go over
  std::int64_t kept = 0;    // of sums: how many there are
};

// By launch. A loss runs outside the network, as an eager framework runs it, with the casts before and after it.
std::vector<Part> parts_of(const LoweredStep& step, const Graph& graph);

// Which launches must run before which.
class Order {
 public:
  explicit Order(const LoweredStep& step);

  // The launches that wait for `launch`, each once.
  const std::vector<std::uint32_t>& after(std::size_t launch) const { return after_[launch]; }
  // Readers of what launch `writer` leaves in a buffer, in order.
  const std::vector<std::uint32_t>& readers(AllocationId buffer) const { return readers_[buffer.index()]; }
  const std::vector<std::uint32_t>& writers(AllocationId buffer) const { return writers_[buffer.index()]; }

 private:
  std::vector<std::vector<std::uint32_t>> after_, readers_, writers_;
};

}  // namespace monet::compiling
