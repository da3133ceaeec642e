// Rematerialization as a bare problem: runs of nodes with a cost, each making one tensor that takes memory until its
// last use; what is dropped is run again, or paged out and in.
//
// Files of this folder, each using those before it:
//   problem; schedule < check
//   sequence < prices, timing < goal; repair, prune < improve < search
//   exact, stage_bound < bound; milp
//   solve: all of these
//   json_fields, graph_parts < reader (graphs) and device (profiles): problem alone
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet::remat {

using NodeIndex = std::uint32_t;

struct Node {
  std::string name;
  double time = 0;  // in Problem::time_unit
  double energy_j = 0;
  std::int64_t bytes = 0;  // of its output
  bool recomputable = true;
};

// The way to storage, one transfer at a time. Storage itself has no end.
struct Channel {
  double in_latency_s = 0, in_bytes_per_s = 1;  // page in: storage to memory
  double out_latency_s = 0, out_bytes_per_s = 1;
  double power_w = 0;           // while it works
  std::int64_t page_bytes = 1;  // transfers are whole pages

  double in_s(std::int64_t bytes) const { return in_latency_s + whole_pages(bytes) / in_bytes_per_s; }
  double out_s(std::int64_t bytes) const { return out_latency_s + whole_pages(bytes) / out_bytes_per_s; }

 private:
  double whole_pages(std::int64_t bytes) const {
    const std::int64_t pages = (bytes + page_bytes - 1) / page_bytes;
    return static_cast<double>(pages) * static_cast<double>(page_bytes);
  }
};

// Neighbours of every node, one after the other.
class Links {
 public:
  Links() = default;
  // `pairs`: (node, neighbour), none twice. Neighbours come in the order of their numbers.
  Links(std::size_t nodes, std::span<const std::pair<NodeIndex, NodeIndex>> pairs);

  std::span<const NodeIndex> of(NodeIndex node) const {
    return std::span(list_).subspan(start_[node], start_[node + 1] - start_[node]);
  }
  std::size_t size() const { return list_.size(); }

 private:
  std::vector<std::uint32_t> start_{0};
  std::vector<NodeIndex> list_;
};

enum class TimeUnit : std::uint8_t { unit, second };

struct Problem {
  std::string name;
  std::vector<Node> nodes;  // in the given order, a topological one: the first runs
  Links operands;           // smaller than the node
  Links users;              // larger
  TimeUnit time_unit = TimeUnit::unit;
  bool has_energy = false;
  std::optional<Channel> channel;
  std::int64_t fixed_bytes = 0;  // always there

  std::size_t size() const { return nodes.size(); }
  // `pairs`: (operand, user), each operand before its user, none twice.
  void connect(std::span<const std::pair<NodeIndex, NodeIndex>> pairs);
};

// Of running each node once.
double base_time(const Problem& problem);
double base_energy_j(const Problem& problem);
// Memory of the given order, each node run once; fixed bytes included.
std::int64_t base_peak_bytes(const Problem& problem);

// No schedule takes less: a node needs its operands and its output at once.
struct StructuralMinimum {
  std::int64_t bytes = 0;  // fixed bytes included
  NodeIndex node = 0;      // the first that needs so much
};
StructuralMinimum structural_minimum(const Problem& problem);

}  // namespace monet::remat
