// Operators that exporters spell out, put back together: GELU (erf and tanh), SiLU, hard-swish, layer norm, RMS norm,
// and attention as scaled_dot_product_attention is decomposed.
#pragma once

#include "graph/graph.h"

namespace monet::onnx {

// Rewrites in place. A pattern is replaced only when nothing outside it reads its inner values. Constants and views
// that become unused stay behind as tensors without readers; nodes that become unused are removed.
// `gelu_has_an_operator`: the file's operator set has Gelu, so that a spelt-out one was computed that way, with all the
// tensors in between that training then keeps; it stays.
void recognize_idioms(Graph& graph, bool gelu_has_an_operator);

}  // namespace monet::onnx
