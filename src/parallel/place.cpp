#include "parallel/place.h"

#include <fmt/format.h>

namespace monet::parallel {

std::string_view name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::max: return "max";
    case Reduction::min: return "min";
    default: return "sum";
  }
}

std::string to_string(const Place& place) {
  if (place.is_whole()) return "whole";
  if (place.is_partial()) return fmt::format("partial ({})", name_of(place.reduction));
  const std::string blocks = place.blocks == 1 ? "" : fmt::format(" in {} blocks", place.blocks);
  return fmt::format("sharded along axis {}{}", place.axis, blocks);
}

bool fits(const Shape& shape, const Place& place, std::int64_t chips) {
  if (!place.is_sharded()) return true;
  return place.axis < shape.size() && place.blocks >= 1 && shape[place.axis] > 0 &&
         shape[place.axis] % place.blocks == 0 && shape[place.axis] / place.blocks % chips == 0;
}

Shape local_shape(Shape shape, const Place& place, std::int64_t chips) {
  if (place.is_sharded()) shape[place.axis] /= chips;
  return shape;
}

}  // namespace monet::parallel
