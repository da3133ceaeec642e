// Where the chips of a step lie on a fabric: a mesh of named axes, and what a group of chips along some of them looks
// like.
#pragma once

#include "graph/mesh.h"
#include "hardware/fabric.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

// Dimensions of a fabric: one for each level, innermost first, but for a torus one for each of its own (the last of its
// sizes first).
constexpr std::size_t max_fabric_dimensions = max_fabric_levels + max_torus_dimensions - 1;

// Along one dimension a group has `count` members, evenly among `extent` neighbouring positions. The other
// extent / count - 1 groups that lie between them talk at the same time over the same wires.
struct GroupSpan {
  std::int64_t count = 1;
  std::int64_t extent = 1;
  bool operator==(const GroupSpan&) const = default;
};

struct GroupShape {
  std::array<GroupSpan, max_fabric_dimensions> spans{};  // by dimension of the fabric; the rest {1, 1}

  std::int64_t chips() const;  // members of the group
  bool operator==(const GroupShape&) const = default;
};

// Dimensions of `level` of a fabric: first and one past the last in GroupShape::spans.
struct DimensionRange {
  std::size_t first = 0, end = 0;
};
DimensionRange dimensions_of(const Fabric& fabric, std::size_t level);

// Members of the group under one unit of that level.
std::int64_t chips_under(const Fabric& fabric, const GroupShape& group, std::size_t level);

// The fabric of exactly that many chips: `any` becomes a number, levels that so few chips do not reach are left out,
// and a torus of any size gets sizes as equal as can be. Fails where units would be filled in part (12 chips in units
// of 8), or there are not so many chips.
Expected<Fabric> with_chips(const Fabric& fabric, std::int64_t chips);

// What the groups along `axes` (indices into mesh.axes) look like; all groups of a mesh look the same.
// Requires: `fabric` comes from with_chips(…, mesh.chips()).
// Fails where an axis does not lie evenly on a level: six chips in a row, in units of eight.
Expected<GroupShape> group_shape(const Fabric& fabric, const Mesh& mesh, std::span<const std::size_t> axes);
// Of all chips.
Expected<GroupShape> whole_group(const Fabric& fabric, std::int64_t chips);

}  // namespace monet
