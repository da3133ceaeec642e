#include "fabric/mesh.h"

#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace monet {

namespace {

// Neighbouring positions of one dimension, each of so many chips.
struct Row {
  std::size_t level = 0;
  std::int64_t chips_each = 1;
  std::int64_t positions = 1;
};

std::vector<Row> rows_of(const Fabric& fabric) {
  std::vector<Row> rows;
  std::int64_t below = 1;
  for (std::size_t l = 0; l < fabric.levels.size(); ++l) {
    const FabricLevel& level = fabric.levels[l];
    if (level.kind == FabricKind::torus) {
      for (auto size = level.sizes.rbegin(); size != level.sizes.rend(); ++size) {
        rows.push_back({l, below, *size});
        below *= *size;
      }
    } else {
      rows.push_back({l, below, level.chips / below});
      below = level.chips;
    }
  }
  return rows;
}

// Ascending, of that product, with the smallest sum.
std::vector<std::int64_t> equal_sizes(std::int64_t product, std::int64_t dimensions) {
  if (dimensions == 1) return {product};
  std::vector<std::int64_t> best;
  std::int64_t least = 0;
  const auto consider = [&](std::vector<std::int64_t> sizes) {
    std::int64_t sum = 0;
    for (const std::int64_t size : sizes) sum += size;
    if (!best.empty() && sum >= least) return;
    best = std::move(sizes);
    least = sum;
  };
  for (std::int64_t a = 1; dimensions == 2 ? a * a <= product : a * a * a <= product; ++a) {
    if (product % a != 0) continue;
    const std::int64_t rest = product / a;
    if (dimensions == 2) {
      consider({a, rest});
      continue;
    }
    for (std::int64_t b = a; b * b <= rest; ++b)
      if (rest % b == 0) consider({a, b, rest / b});
  }
  return best;
}

Error uneven(const Fabric& fabric, const Mesh& mesh, std::size_t axis, const Row& row) {
  const FabricLevel& level = fabric.levels[row.level];
  return {.message = fmt::format("the axis {} of {} does not lie evenly on the level '{}' of {} chips",
                                 mesh.axes[axis].name, mesh.axes[axis].size, level.name, level.chips),
          .place = "mesh",
          .advice = "take sizes that divide the chips of a level, or are multiples of them, innermost axes first"};
}

}  // namespace

std::int64_t GroupShape::chips() const {
  std::int64_t product = 1;
  for (const GroupSpan& span : spans) product *= span.count;
  return product;
}

DimensionRange dimensions_of(const Fabric& fabric, std::size_t level) {
  DimensionRange range;
  for (std::size_t l = 0; l <= level; ++l) {
    range.first = range.end;
    range.end += fabric.levels[l].kind == FabricKind::torus ? fabric.levels[l].sizes.size() : 1;
  }
  return range;
}

std::int64_t chips_under(const Fabric& fabric, const GroupShape& group, std::size_t level) {
  const std::size_t end = dimensions_of(fabric, level).end;
  std::int64_t product = 1;
  for (std::size_t d = 0; d < end; ++d) product *= group.spans[d].count;
  return product;
}

Expected<Fabric> with_chips(const Fabric& fabric, std::int64_t chips) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  if (chips < 1 || chips > most) {
    return Error{.message = fmt::format("there cannot be {} chips", chips),
                 .place = "chips",
                 .advice = fmt::format("from 1 to {}", most)};
  }
  Fabric result;
  std::int64_t below = 1;
  for (const FabricLevel& level : fabric.levels) {
    if (below >= chips && !result.levels.empty()) break;
    if (chips % below != 0) {
      return Error{.message = fmt::format("{} chips do not fill units of {} of the level '{}'", chips, below,
                                          result.levels.back().name),
                   .place = "chips",
                   .advice = fmt::format("take {}, or another multiple of {}", chips / below * below, below)};
    }
    FabricLevel& made = result.levels.emplace_back(level);
    if (level.chips == any_chips) {
      made.chips = chips;
      if (level.kind == FabricKind::torus) made.sizes = equal_sizes(chips / below, level.dimensions);
    }
    below = made.chips;
  }
  if (chips > below) {
    return Error{.message = fmt::format("the fabric has {} chips, not {}", below, chips),
                 .place = "chips",
                 .advice = "write chips: any for the outermost level, or take fewer"};
  }
  return result;
}

Expected<GroupShape> group_shape(const Fabric& fabric, const Mesh& mesh, std::span<const std::size_t> axes) {
  const std::int64_t chips = mesh.chips();
  const std::vector<Row> rows = rows_of(fabric);
  MONET_REQUIRE(rows.size() <= max_fabric_dimensions);
  GroupShape shape;
  for (const std::size_t axis : axes) {
    const std::int64_t size = mesh.axes[axis].size;
    std::int64_t stride = 1;
    for (std::size_t inner = axis + 1; inner < mesh.axes.size(); ++inner) stride *= mesh.axes[inner].size;
    const std::int64_t reach = stride * size;
    for (std::size_t d = 0; d < rows.size() && size > 1; ++d) {
      const Row& row = rows[d];
      const std::int64_t top = std::min(row.chips_each * row.positions, chips);
      const std::int64_t low = std::max(stride, row.chips_each);
      const std::int64_t high = std::min(reach, top);
      if (low >= high) continue;
      if (low % row.chips_each != 0 || low % stride != 0 || high % low != 0 || top % high != 0)
        return uneven(fabric, mesh, axis, row);
      GroupSpan& span = shape.spans[d];
      span.count *= high / low;
      span.extent = std::max(span.extent, high / row.chips_each);
    }
  }
  return shape;
}

Expected<GroupShape> whole_group(const Fabric& fabric, std::int64_t chips) {
  const Mesh mesh{{{"all", chips}}};
  const std::array<std::size_t, 1> all = {0};
  return group_shape(fabric, mesh, all);
}

}  // namespace monet
