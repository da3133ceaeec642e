#include "evaluate/plan/frugal_order.h"

#include "training/recompute.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>

namespace monet {

namespace {

// Scalars that others wait for are worked out at once.
constexpr std::int64_t scalar_bytes = 8;

class FrugalOrder {
 public:
  FrugalOrder(const Graph& graph, const Dependencies& dependencies, const std::vector<std::vector<NodeId>>& stacks)
      : graph_(graph), stacks_(stacks), stack_of_(graph.nodes().size()), waits_(stacks.size()), next_(stacks.size()) {
    for (std::uint32_t s = 0; s < stacks.size(); ++s) {
      for (NodeId node : stacks[s]) stack_of_[node.index()] = s;
    }
    find_order(dependencies);
    find_tensors();
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
      if (waits_[s] == 0) open(s);
    }
    while (!ready_.empty()) {
      const std::uint32_t chosen = freeing_.empty() ? *ready_.begin() : *freeing_.begin();
      ready_.erase(chosen);
      freeing_.erase(chosen);
      order.push_back(chosen);
      for (std::uint32_t t : reads_[chosen]) read(t, chosen);
      for (std::uint32_t s : next_[chosen]) {
        if (--waits_[s] == 0) open(s);
      }
    }
    return order;
  }

 private:
  void find_order(const Dependencies& dependencies) {
    std::vector<std::uint32_t> before;
    for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
      before.clear();
      for (NodeId node : stacks_[s]) {
        for (NodeId maker : dependencies.before(node)) {
          if (stack_of_[maker.index()] != s) before.push_back(stack_of_[maker.index()]);
        }
      }
      unique(before);
      waits_[s] = before.size();
      for (std::uint32_t b : before) next_[b].push_back(s);
    }
  }

  // Bytes that each stack takes, and which stacks are the readers of what can be freed.
  void find_tensors() {
    reads_.resize(stacks_.size());
    gain_.assign(stacks_.size(), 0);
    takes_.assign(stacks_.size(), 0);
    readers_.resize(graph_.tensors().size());
    std::vector<bool> stays(graph_.tensors().size(), false);
    for (TensorId output : graph_.outputs) {
      for (TensorId stored : training::stored_behind(graph_, output)) stays[stored.index()] = true;
    }
    for (std::uint32_t s = 0; s < stacks_.size(); ++s) {
      for (NodeId node : stacks_[s]) {
        for (TensorId input : graph_[node].inputs) {
          if (!input.valid()) continue;
          for (TensorId stored : training::stored_behind(graph_, input)) {
            if (can_be_freed(stored) && !stays[stored.index()]) reads_[s].push_back(stored.index());
          }
        }
      }
      unique(reads_[s]);
      for (std::uint32_t t : reads_[s]) readers_[t].push_back(s);
    }
    for (std::uint32_t t = 0; t < readers_.size(); ++t) {
      if (readers_[t].empty()) continue;
      const std::uint32_t maker = stack_of_[graph_.tensors()[t].producer.index()];
      if (readers_[t].size() > 1 || readers_[t].front() != maker) takes_[maker] += bytes(graph_.tensors()[t]);
      if (readers_[t].size() == 1) gain_[readers_[t].front()] += bytes(graph_.tensors()[t]);
    }
    for (std::size_t s = 0; s < stacks_.size(); ++s) gain_[s] -= takes_[s];
  }

  // What begins the step, or takes the place of such, stays.
  bool can_be_freed(TensorId id) const { return graph_[id].producer.valid() && !graph_[id].updates.valid(); }

  bool is_eager(std::uint32_t s) const { return gain_[s] > 0 || takes_[s] <= scalar_bytes; }

  void open(std::uint32_t s) {
    ready_.insert(s);
    if (is_eager(s)) freeing_.insert(s);
  }

  void read(std::uint32_t tensor, std::uint32_t by) {
    std::erase(readers_[tensor], by);
    if (readers_[tensor].size() != 1) return;
    const std::uint32_t last = readers_[tensor].front();
    gain_[last] += bytes(graph_.tensors()[tensor]);
    if (is_eager(last) && ready_.contains(last)) freeing_.insert(last);
  }

  static void unique(std::vector<std::uint32_t>& values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
  }

  const Graph& graph_;
  const std::vector<std::vector<NodeId>>& stacks_;
  std::vector<std::uint32_t> stack_of_;
  std::vector<std::size_t> waits_;                   // by stack: others that come before it and have not run
  std::vector<std::vector<std::uint32_t>> next_;     // by stack: those that wait for it
  std::vector<std::vector<std::uint32_t>> reads_;    // by stack: tensors
  std::vector<std::vector<std::uint32_t>> readers_;  // by tensor: stacks that have not run
  std::vector<std::int64_t> gain_;                   // by stack: bytes that it frees, less those that it takes
  std::vector<std::int64_t> takes_;                  // by stack: bytes
  std::set<std::uint32_t> ready_, freeing_;
};

}  // namespace

std::vector<std::vector<NodeId>> frugal_order(const Graph& graph, const Dependencies& dependencies,
                                              std::vector<std::vector<NodeId>> stacks) {
  std::vector<std::vector<NodeId>> result;
  for (std::uint32_t s : FrugalOrder(graph, dependencies, stacks).run()) result.push_back(std::move(stacks[s]));
  return result;
}

}  // namespace monet
