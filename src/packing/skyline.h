// Heights over sections: the largest in a range, and one height for a whole range, in logarithmic time each.
#pragma once

#include <cstdint>
#include <vector>

namespace monet::packing {

class Skyline {
 public:
  explicit Skyline(std::int32_t sections);

  // Both require 0 <= first < last <= sections.
  std::int64_t highest(std::int32_t first, std::int32_t last) const { return highest(first, last, 1, 0, width_); }
  void set(std::int32_t first, std::int32_t last, std::int64_t height) { set(first, last, height, 1, 0, width_); }

 private:
  std::int64_t highest(std::int32_t first, std::int32_t last, std::size_t node, std::int32_t begin,
                       std::int32_t end) const;
  void set(std::int32_t first, std::int32_t last, std::int64_t height, std::size_t node, std::int32_t begin,
           std::int32_t end);

  struct Node {
    std::int64_t highest = 0;
    bool level = true;  // all below have this height, whatever they say themselves
  };
  std::int32_t width_ = 1;
  std::vector<Node> nodes_;
};

}  // namespace monet::packing
