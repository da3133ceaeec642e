#include "onnx/rebatch.h"

namespace monet::onnx {

std::optional<std::vector<std::int64_t>> corrected_reshape(const BatchSite& site, const Shape& input, std::int64_t from,
                                                           std::int64_t to) {
  if (input.size() != site.input.size()) return std::nullopt;
  std::size_t grown = input.size();
  for (std::size_t axis = 0; axis < input.size(); ++axis) {
    if (input[axis] == site.input[axis]) continue;
    if (grown != input.size()) return std::nullopt;
    grown = axis;
  }
  if (grown == input.size()) return site.output;
  // The grown axis holds the batch as its outer factor: old = from * inner, new = to * inner.
  if (site.input[grown] % from != 0 || input[grown] != site.input[grown] / from * to) return std::nullopt;
  std::int64_t before = 1;
  for (std::size_t axis = 0; axis < grown; ++axis) before *= site.input[axis];

  std::optional<std::size_t> place;
  std::int64_t outer = 1;
  for (std::size_t axis = 0; axis < site.output.size(); ++axis) {
    const std::int64_t size = site.output[axis];
    if (outer == before && size % from == 0) {
      if (size == from) {
        place = axis;
        break;
      }
      if (!place) place = axis;
    }
    outer *= size;
    if (outer > before) break;
  }
  if (!place) return std::nullopt;
  std::vector<std::int64_t> target = site.output;
  target[*place] = target[*place] / from * to;
  return target;
}

}  // namespace monet::onnx
