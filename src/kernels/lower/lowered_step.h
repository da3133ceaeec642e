// A training step as the launches by which a framework runs it, and the buffers that they read and write.
#pragma once

#include "graph/graph.h"
#include "kernels/kernel.h"

#include <cstdint>
#include <vector>

namespace monet {

using AllocationId = Id<struct AllocationTag>;

// A piece of memory that one allocation gives.
struct Allocation {
  std::int64_t bytes = 0;
  TensorId tensor;         // that it was made for; not valid: a copy or a temporary
  bool permanent = false;  // there before the step and after it: weights, states, the batch
  bool until_end = false;  // kept until the step ends: gradients of parameters, outputs
  bool result = false;     // the step gives it: written even where nothing in it reads it
};

struct Touch {
  AllocationId buffer;
  std::int64_t bytes = 0;  // of the buffer that are read or written
};

struct Launch {
  Kernel kernel;
  Phase phase = Phase::forward;
  NodeId cause;                      // the node of the graph for which it is made
  std::vector<NodeId> nodes;         // that it carries out; none: a copy or fill that the framework makes for `cause`
  std::vector<NodeId> repeats = {};  // that others carry out: it computes them, or a part of them, too
  std::vector<Touch> reads, writes;
  bool collective = false;  // with other chips: it takes no launch of this one, and is not in the order of the others
};

struct LoweredStep {
  std::vector<Allocation> buffers;
  std::vector<Launch> launches;  // in the order in which they run, one after the other
  std::vector<NodeId> silent;    // nodes that launch nothing: views, and what is known before the step
};

}  // namespace monet
