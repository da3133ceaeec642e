// A minimum cut of a network with capacities.
#pragma once

#include <cstdint>
#include <vector>

namespace monet::compiling {

class Network {
 public:
  explicit Network(std::size_t nodes) : first_(nodes, none) {}

  static constexpr double unlimited = 1e30;
  void add(std::uint32_t from, std::uint32_t to, double capacity);

  // By node: whether it is on the sink's side of the minimum cut that lies nearest to the sink.
  std::vector<bool> sink_side(std::uint32_t source, std::uint32_t sink);

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  struct Arc {
    std::uint32_t to, next;
    double left;
  };
  bool label(std::uint32_t source, std::uint32_t sink);
  double push(std::uint32_t source, std::uint32_t sink);

  std::vector<std::uint32_t> first_;
  std::vector<Arc> arcs_;  // an arc and its reverse follow each other
  std::vector<std::uint32_t> level_, at_;
};

}  // namespace monet::compiling
