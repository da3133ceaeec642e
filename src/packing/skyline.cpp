#include "packing/skyline.h"

#include <algorithm>

namespace monet::packing {

Skyline::Skyline(std::int32_t sections) {
  while (width_ < sections) width_ *= 2;
  nodes_.resize(2 * static_cast<std::size_t>(width_));
}

std::int64_t Skyline::highest(std::int32_t first, std::int32_t last, std::size_t node, std::int32_t begin,
                              std::int32_t end) const {
  if ((first <= begin && end <= last) || nodes_[node].level) return nodes_[node].highest;
  const std::int32_t middle = begin + (end - begin) / 2;
  if (last <= middle) return highest(first, last, 2 * node, begin, middle);
  if (first >= middle) return highest(first, last, 2 * node + 1, middle, end);
  return std::max(highest(first, last, 2 * node, begin, middle), highest(first, last, 2 * node + 1, middle, end));
}

void Skyline::set(std::int32_t first, std::int32_t last, std::int64_t height, std::size_t node, std::int32_t begin,
                  std::int32_t end) {
  if (first <= begin && end <= last) {
    nodes_[node] = {height, true};
    return;
  }
  if (nodes_[node].level) {
    nodes_[2 * node] = nodes_[2 * node + 1] = nodes_[node];
    nodes_[node].level = false;
  }
  const std::int32_t middle = begin + (end - begin) / 2;
  if (first < middle) set(first, last, height, 2 * node, begin, middle);
  if (last > middle) set(first, last, height, 2 * node + 1, middle, end);
  nodes_[node].highest = std::max(nodes_[2 * node].highest, nodes_[2 * node + 1].highest);
}

}  // namespace monet::packing
