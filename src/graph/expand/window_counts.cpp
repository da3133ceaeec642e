#include "graph/expand/window_counts.h"

#include "base/checked.h"

#include <algorithm>
#include <functional>

namespace monet {

namespace {

// Along one axis, for each of its places; one number where they are all alike.
std::vector<double> axis_counts(const Attributes& pool, std::size_t axis, std::int64_t size, std::int64_t places,
                                bool with_padding) {
  const std::vector<std::int64_t>& pads = pool.integers(Attr::pads);
  const std::int64_t dilation = pool.integers(Attr::dilations)[axis];
  const std::int64_t begin = with_padding ? -pads[axis] : 0;
  const std::int64_t end = with_padding ? size + pads[pads.size() / 2 + axis] : size;
  std::vector<double> counts;
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t at = place * pool.integers(Attr::strides)[axis] - pads[axis];
    const std::int64_t first = std::max<std::int64_t>(ceil_divide(begin - at, dilation), 0);
    const std::int64_t last = std::min(ceil_divide(end - at, dilation), pool.integers(Attr::kernel_shape)[axis]);
    counts.push_back(static_cast<double>(std::max<std::int64_t>(last - first, 0)));
  }
  const bool alike = std::ranges::adjacent_find(counts, std::not_equal_to()) == counts.end();
  if (alike && counts.size() > 1) counts.erase(counts.begin() + 1, counts.end());
  return counts;
}

}  // namespace

TensorId window_counts(OpWriter& writer, const Attributes& pool, const Shape& wide, const Shape& narrow,
                       bool with_padding, TensorId like) {
  std::vector<double> counts = {1};
  Shape shape = {1, 1};
  for (std::size_t axis = 0; axis + 2 < wide.size(); ++axis) {
    const std::vector<double> along = axis_counts(pool, axis, wide[axis + 2], narrow[axis + 2], with_padding);
    std::vector<double> product;
    for (double outer : counts) {
      for (double inner : along) product.push_back(outer * inner);
    }
    counts = std::move(product);
    shape.push_back(static_cast<std::int64_t>(along.size()));
  }
  for (double& count : counts) count = std::max(count, 1.0);
  if (counts.size() == 1) return writer.scalar(counts.front(), like);
  return writer.builder().constant("window_counts", Constant::reals(writer.type(like), shape, std::move(counts)));
}

}  // namespace monet
