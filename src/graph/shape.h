// Sizes of a tensor's axes, outermost first. All are known when a graph exists; none is negative.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet {

using Shape = std::vector<std::int64_t>;

// The product of the sizes. Requires that it fits: every tensor of a verified graph does.
std::int64_t element_count(std::span<const std::int64_t> shape);

// "4x3x32x32"; "scalar" for no axes.
std::string to_string(std::span<const std::int64_t> shape);

// NumPy's rule: aligned at the last axis, equal or one of them 1. Nothing when they do not fit.
std::optional<Shape> broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// -1 is the last axis. Nothing when outside [-rank, rank).
std::optional<std::int64_t> normalized_axis(std::int64_t axis, std::size_t rank);

}  // namespace monet
