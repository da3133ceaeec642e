#include "graph/mesh.h"

namespace monet {

std::int64_t Mesh::chips() const {
  std::int64_t product = 1;
  for (const MeshAxis& axis : axes) product *= axis.size;
  return product;
}

std::optional<std::size_t> Mesh::find(std::string_view name) const {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name == name) return i;
  }
  return std::nullopt;
}

std::int64_t Mesh::stride(std::size_t axis) const {
  std::int64_t product = 1;
  for (std::size_t i = axis + 1; i < axes.size(); ++i) product *= axes[i].size;
  return product;
}

std::int64_t Mesh::coordinate(std::int64_t chip, std::size_t axis) const {
  return chip / stride(axis) % axes[axis].size;
}

std::vector<std::int64_t> Mesh::group(std::int64_t chip, std::size_t axis) const {
  const std::int64_t step = stride(axis);
  const std::int64_t first = chip - coordinate(chip, axis) * step;
  std::vector<std::int64_t> members;
  for (std::int64_t i = 0; i < axes[axis].size; ++i) members.push_back(first + i * step);
  return members;
}

}  // namespace monet
