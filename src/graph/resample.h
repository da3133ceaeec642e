// Interpolation along one axis: which elements of the input make an element of the output.
#pragma once

#include "graph/attributes.h"
#include "graph/shape.h"

namespace monet {

// An element along one axis and its weight. Elements outside the axis are put right by who reads them.
struct Tap {
  std::int64_t position;
  double weight;
};
using Taps = std::vector<Tap>;

Taps linear_taps(double x);
Taps cubic_taps(double x, double a);

// By position in an output axis of `to` elements, where `attributes` are those of a Resize: the elements of the input
// axis of `from` elements, all inside it. Empty: beyond the region, where extrapolation_value stands.
std::vector<Taps> resize_taps(const Attributes& attributes, std::size_t axis, std::int64_t from, std::int64_t to);

// Whether an axis is resampled at all.
bool resamples(const Attributes& attributes, std::size_t axis, std::int64_t from, std::int64_t to);

}  // namespace monet
