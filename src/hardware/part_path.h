// Parts inside others, by name: "core pe: memory sram".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace monet {

constexpr std::string_view part_separator = ": ";

// Empty: not inside anything.
inline std::string part_inside(const std::string& outer, std::string part) {
  return outer.empty() ? part : outer + std::string(part_separator) + part;
}

// From the outermost; of no part: none.
inline std::vector<std::string_view> parts_of_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = path.find(part_separator);
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + part_separator.size());
  }
  return parts;
}

}  // namespace monet
