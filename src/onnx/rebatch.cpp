#include "onnx/rebatch.h"

#include "base/checked.h"

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
  if (site.input[grown] % from != 0 || input[grown] != checked_multiply(site.input[grown] / from, to))
    return std::nullopt;
  const auto before = checked_product(std::span(site.input).first(grown));

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
    const auto next = checked_multiply(outer, size);
    if (!before || !next || *next > *before) break;
    outer = *next;
  }
  if (!place) return std::nullopt;
  std::vector<std::int64_t> target = site.output;
  const auto grown_size = checked_multiply(target[*place] / from, to);
  if (!grown_size) return std::nullopt;
  target[*place] = *grown_size;
  return target;
}

}  // namespace monet::onnx
