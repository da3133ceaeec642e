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

  const auto end = before ? checked_multiply(*before, site.input[grown]) : std::nullopt;
  if (!end || *before < 1) return std::nullopt;

  // By preference: an axis that is the old batch, within what the grown axis became; one that starts where the grown
  // axis did and has the batch as a factor; one that joins what came before the batch with it ([sequence · batch, …]).
  std::optional<std::size_t> exact;
  std::optional<std::size_t> factor;
  std::optional<std::size_t> joined;
  std::int64_t outer = 1;
  for (std::size_t axis = 0; axis < site.output.size(); ++axis) {
    const std::int64_t size = site.output[axis];
    const auto next = checked_multiply(outer, size);
    if (!next || *next < 1) break;
    // A batch of 1 is everywhere: there only the start of the grown axis counts.
    const bool inside = outer == *before || (from > 1 && outer > *before && *next <= *end);
    if (!exact && inside && size == from) exact = axis;
    if (!factor && outer == *before && size % from == 0) factor = axis;
    if (!joined && from > 1 && outer < *before && *before % outer == 0 && size % (*before / outer) == 0 &&
        size / (*before / outer) % from == 0)
      joined = axis;
    outer = *next;
  }
  const auto place = exact ? exact : factor ? factor : joined;
  if (!place) return std::nullopt;
  std::vector<std::int64_t> target = site.output;
  const auto grown_size = checked_multiply(target[*place] / from, to);
  if (!grown_size) return std::nullopt;
  target[*place] = *grown_size;
  return target;
}

}  // namespace monet::onnx
