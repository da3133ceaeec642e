// Chips as a grid: names and sizes of its axes, outermost first. Chip numbers count row by row, so that chips that are
// neighbours along the innermost axis have neighbouring numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const MeshAxis&) const = default;
};

struct Mesh {
  std::vector<MeshAxis> axes;

  std::int64_t chips() const;
  std::optional<std::size_t> find(std::string_view name) const;
  // The axes of a name such as "dp+cp", in the order of the mesh; nothing: it names none, or one that there is not.
  std::optional<std::vector<std::size_t>> find_all(std::string_view names) const;
  // How far apart the numbers of neighbours along an axis are.
  std::int64_t stride(std::size_t axis) const;
  std::int64_t coordinate(std::int64_t chip, std::size_t axis) const;
  // The chips that differ from this one along that axis alone, itself among them, in the order of the axis.
  std::vector<std::int64_t> group(std::int64_t chip, std::size_t axis) const;
  // Along several axes.
  std::vector<std::int64_t> group(std::int64_t chip, const std::vector<std::size_t>& along) const;
  std::int64_t chips_along(const std::vector<std::size_t>& along) const;
  bool operator==(const Mesh&) const = default;
};

}  // namespace monet
