#include "graph/mesh.h"

#include <algorithm>

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

std::optional<std::vector<std::size_t>> Mesh::find_all(std::string_view names) const {
  std::vector<std::size_t> result;
  while (true) {
    const std::size_t end = std::min(names.find('+'), names.size());
    const auto axis = find(names.substr(0, end));
    if (!axis) return std::nullopt;
    result.push_back(*axis);
    if (end == names.size()) break;
    names.remove_prefix(end + 1);
  }
  std::ranges::sort(result);
  return result;
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

std::vector<std::int64_t> Mesh::group(std::int64_t chip, const std::vector<std::size_t>& along) const {
  std::vector<std::int64_t> members = {chip};
  for (const std::size_t axis : along) {
    std::vector<std::int64_t> next;
    for (const std::int64_t member : members) {
      for (const std::int64_t other : group(member, axis)) next.push_back(other);
    }
    members = std::move(next);
  }
  return members;
}

std::int64_t Mesh::chips_along(const std::vector<std::size_t>& along) const {
  std::int64_t product = 1;
  for (const std::size_t axis : along) product *= axes[axis].size;
  return product;
}

}  // namespace monet
