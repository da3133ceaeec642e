// The gradients of normalizations, and what they share with the normalizations themselves.
#pragma once

#include "graph/expand.h"

namespace monet {

ExpansionRule norm_gradient_expansion(Op op);

// Single precision at least, whatever is normalized.
ElementType statistics_type(ElementType of);

// first, first + 1, … up to the last axis.
std::vector<std::int64_t> axes_from(std::int64_t first, std::size_t rank);

// One value for each channel, shaped to broadcast to a tensor of that rank whose axis 1 are the channels.
TensorId by_channel(OpWriter& writer, TensorId values, std::size_t rank);

// B x C x … as B x groups x the rest of each group.
TensorId group_rows(OpWriter& writer, TensorId values, std::int64_t groups);

}  // namespace monet
