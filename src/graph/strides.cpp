#include "graph/strides.h"

#include <algorithm>
#include <numeric>

namespace monet {

namespace {

std::vector<std::size_t> first_to_last(std::size_t rank) {
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Strides dense_strides(const Shape& shape, const std::vector<std::size_t>& order) {
  Strides strides(shape.size(), 0);
  // Without elements any strides do; the other sizes may be larger than can be multiplied.
  if (std::ranges::find(shape, 0) != shape.end()) return strides;
  std::int64_t step = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= shape[order[i]];
  }
  return strides;
}

Strides contiguous_strides(const Shape& shape) { return dense_strides(shape, first_to_last(shape.size())); }

Strides dense_strides_as(const Shape& shape, const Strides& like) {
  std::vector<std::size_t> order = first_to_last(shape.size());
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return like[a] > like[b]; });
  return dense_strides(shape, order);
}

std::optional<Strides> view_strides(const Shape& from, const Strides& strides, const Shape& to) {
  if (element_count(from) == 0 || from.empty()) return contiguous_strides(to);
  Strides result(to.size(), 1);
  std::size_t view = to.size();
  std::int64_t chunk_stride = strides.empty() ? 1 : strides.back();
  std::int64_t chunk_size = 1;  // elements of the run of axes of `from` that memory holds evenly spaced
  std::int64_t view_size = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    chunk_size *= from[i];
    const bool ends = i == 0 || (from[i - 1] != 1 && strides[i - 1] != chunk_size * chunk_stride);
    if (!ends) continue;
    while (view > 0 && (view_size < chunk_size || to[view - 1] == 1)) {
      result[view - 1] = view_size * chunk_stride;
      view_size *= to[view - 1];
      --view;
    }
    if (view_size != chunk_size) return std::nullopt;
    if (i > 0) {
      chunk_stride = strides[i - 1];
      chunk_size = 1;
      view_size = 1;
    }
  }
  if (view != 0) return std::nullopt;
  return result;
}

}  // namespace monet
