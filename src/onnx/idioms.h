// Operators that exporters spell out, put back together: GELU (erf and tanh), SiLU, hard-swish, layer norm, RMS norm,
// and attention as scaled_dot_product_attention is decomposed.
#pragma once

#include "graph/graph.h"

#include <cstddef>

namespace monet::onnx {

// Rewrites in place. A pattern is replaced only when nothing outside it reads its inner values. Constants and views
// that become unused stay behind as tensors without readers; nodes that become unused are removed.
// What was computed as it is spelt out, with all the tensors in between that training then keeps, stays.
struct IdiomsAsWritten {
  bool gelus = false;
  bool layer_norms = false;
  bool rms_norms = false;
};

// The number of norms that stay as they are written.
std::size_t recognize_idioms(Graph& graph, const IdiomsAsWritten& as_written);

}  // namespace monet::onnx
