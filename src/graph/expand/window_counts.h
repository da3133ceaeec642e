// How many elements each place of a pool's window averages over.
#pragma once

#include "graph/op_writer.h"

namespace monet {

// A constant that broadcasts to [B, C, places…], of the type of `like`: for each place of the window the number of
// elements under it that lie in the tensor it slides over, or in that tensor with its padding; 1 where there are none.
// `pool`: kernel_shape, strides, dilations, pads. `wide`: the shape that the window slides over; `narrow`: its places.
TensorId window_counts(OpWriter& writer, const Attributes& pool, const Shape& wide, const Shape& narrow,
                       bool with_padding, TensorId like);

}  // namespace monet
