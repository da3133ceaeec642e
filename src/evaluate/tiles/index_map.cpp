#include "evaluate/tiles/index_map.h"

#include "base/checked.h"
#include "base/require.h"

#include <algorithm>

namespace monet::tiling {

namespace {

// First a, then b.
AffineMap composed(const AffineMap& a, const AffineMap& b) {
  AffineMap result{a.begin, a.end, a.scale * b.scale, a.offset * b.scale + b.offset};
  if (a.scale == 0) {
    if (a.offset < b.begin || a.offset >= b.end) result.end = result.begin;
    return result;
  }
  // a.scale * x + a.offset in [b.begin, b.end)
  const std::int64_t low = b.begin - a.offset;
  const std::int64_t high = b.end - 1 - a.offset;
  const std::int64_t first = a.scale > 0 ? ceil_divide(low, a.scale) : ceil_divide(-high, -a.scale);
  const std::int64_t last = a.scale > 0 ? floor_divide(high, a.scale) : floor_divide(-low, -a.scale);
  result.begin = std::max(result.begin, first);
  result.end = std::max(result.begin, std::min(result.end, last + 1));
  return result;
}

}  // namespace

bool IndexMap::folds() const {
  return std::ranges::any_of(steps, [](const MapStep& step) {
    return step.kind == MapStep::Kind::lookup || (step.kind == MapStep::Kind::affine && step.affine.scale == 0);
  });
}

std::int64_t IndexMap::inner(std::size_t at) const {
  std::int64_t result = 1;
  for (std::size_t i = at + 1; i < sizes.size(); ++i) result *= sizes[i];
  return result;
}

void IndexMap::append_affine(std::size_t at, const AffineMap& map, std::int64_t result) {
  const std::int64_t before = sizes[at];
  const MapStep step{.kind = MapStep::Kind::affine,
                     .inner = inner(at),
                     .size = before,
                     .result = result,
                     .affine = map,
                     .table = nullptr};
  sizes[at] = result;
  if (map == AffineMap{0, before, 1, 0} && before == result) return;
  if (!steps.empty() && steps.back().kind == MapStep::Kind::affine && steps.back().inner == step.inner &&
      steps.back().result == before) {
    steps.back().affine = composed(steps.back().affine, map);
    steps.back().result = result;
    return;
  }
  steps.push_back(step);
}

void IndexMap::append_lookup(std::size_t at, std::shared_ptr<const std::vector<std::int64_t>> table,
                             std::int64_t result) {
  steps.push_back({.kind = MapStep::Kind::lookup,
                   .inner = inner(at),
                   .size = sizes[at],
                   .result = result,
                   .affine = {},
                   .table = std::move(table)});
  sizes[at] = result;
}

void IndexMap::swap_with_next(std::size_t at) {
  steps.push_back({.kind = MapStep::Kind::swap,
                   .inner = inner(at + 1),
                   .size = sizes[at],
                   .result = sizes[at + 1],
                   .affine = {},
                   .table = nullptr});
  std::swap(sizes[at], sizes[at + 1]);
  std::swap(axes[at], axes[at + 1]);
}

void IndexMap::reorder(const std::vector<std::uint8_t>& order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto found = std::ranges::find(axes, order[i]);
    MONET_REQUIRE(found != axes.end());
    for (auto at = static_cast<std::size_t>(found - axes.begin()); at > i; --at) swap_with_next(at - 1);
  }
}

IndexMap join(IndexMap slow, const IndexMap& fast) {
  for (MapStep& step : slow.steps) step.inner *= fast.size;
  slow.steps.insert(slow.steps.end(), fast.steps.begin(), fast.steps.end());
  slow.axes.insert(slow.axes.end(), fast.axes.begin(), fast.axes.end());
  slow.sizes.insert(slow.sizes.end(), fast.sizes.begin(), fast.sizes.end());
  slow.size *= fast.size;
  return slow;
}

}  // namespace monet::tiling
