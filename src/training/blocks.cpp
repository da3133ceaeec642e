#include "training/blocks.h"

#include "training/recompute.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <ranges>

namespace monet::training {

namespace {

constexpr std::size_t most_operators = 512;  // between the ends of a connection
constexpr std::size_t longest_tail = 8;      // operators between a sum and the next block

bool is_weight_product(const Node& node) {
  return family_of(node.op) == OpFamily::contraction || family_of(node.op) == OpFamily::convolution;
}

// A function that bends: without one, two layers are no more than one (as in low-rank additions to a weight).
bool is_activation_function(const Node& node) {
  if (node.op == Op::Attention || family_of(node.op) == OpFamily::softmax) return true;
  if (family_of(node.op) != OpFamily::elementwise) return false;
  constexpr std::array linear = {Op::Add, Op::Cast,     Op::DequantizeLinear, Op::Div, Op::Mean, Op::Mul,
                                 Op::Neg, Op::Quantize, Op::QuantizeLinear,   Op::Sub, Op::Sum,  Op::Where};
  return std::ranges::find(linear, node.op) == linear.end();
}

bool is_tail(const Node& node) {
  const OpFamily family = family_of(node.op);
  return family == OpFamily::elementwise || family == OpFamily::norm || family == OpFamily::view;
}

// The gradients of a sum or a mean need nothing of what was added up; a view saves nothing of its own.
bool may_save_its_input(const Node& node) {
  constexpr std::array never = {Op::Add, Op::ReduceMean, Op::ReduceSum, Op::Sub, Op::Sum};
  return family_of(node.op) != OpFamily::view && std::ranges::find(never, node.op) == never.end();
}

class BlockSearch {
 public:
  explicit BlockSearch(const Graph& graph)
      : graph_(graph), readers_(graph), from_data_(graph.tensors().size(), false), ways_(graph.tensors().size(), 0) {
    for (TensorId id : graph.inputs) from_data_[id.index()] = graph[id].role == Role::input;
    for (const Node& node : graph.nodes()) {
      const bool any =
          std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && from_data_[id.index()]; });
      for (TensorId id : node.outputs) {
        if (id.valid()) from_data_[id.index()] = any;
      }
    }
  }

  std::vector<Block> run() {
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) find_connection(NodeId(i));
    choose_between_nested();
    find_tails();
    join_transformer_layers();
    add_what_only_they_read();
    return std::move(blocks_);
  }

 private:
  // The place of its producer; inputs of the step come first.
  std::size_t place(TensorId id) const { return graph_[id].producer.valid() ? 1 + graph_[id].producer.index() : 0; }
  bool is_made_by_one_of(const std::vector<NodeId>& nodes, TensorId id) const {
    return graph_[id].producer.valid() && std::ranges::binary_search(nodes, graph_[id].producer);
  }

  void find_connection(NodeId id) {
    const Node& sum = graph_[id];
    if (sum.op != Op::Add || sum.phase != Phase::forward || sum.inputs[0] == sum.inputs[1]) return;
    const TensorType& type = graph_[sum.outputs[0]].type;
    if (type.shape.size() < 2) return;
    for (TensorId input : sum.inputs) {
      if (graph_[input].type.shape != type.shape || !from_data_[input.index()]) return;
    }
    Block block{.entry = {}, .exit = sum.outputs[0], .nodes = {id}};
    if (!walk_back(sum, block)) return;
    const auto any = [&](bool (*holds)(const Node&)) {
      return std::ranges::any_of(block.nodes, [&](NodeId node) { return holds(graph_[node]); });
    };
    if (any(is_weight_product) && any(is_activation_function)) blocks_.push_back(std::move(block));
  }

  // Sets the entry, the last tensor behind both inputs of the sum, and adds the nodes between.
  bool walk_back(const Node& sum, Block& block) {
    std::vector<std::pair<std::size_t, TensorId>> open;  // a heap: the latest comes first
    std::vector<TensorId> seen;
    const auto reach = [&](TensorId id, std::uint8_t ways) {
      if (!id.valid() || !from_data_[id.index()]) return;
      if (ways_[id.index()] == 0) {
        seen.push_back(id);
        open.emplace_back(place(id), id);
        std::ranges::push_heap(open);
      }
      ways_[id.index()] |= ways;
    };
    reach(sum.inputs[0], 1);
    reach(sum.inputs[1], 2);
    std::vector<NodeId> behind;
    while (!open.empty() && behind.size() <= most_operators) {
      std::ranges::pop_heap(open);
      const TensorId latest = open.back().second;
      open.pop_back();
      if (ways_[latest.index()] == both_ways) {
        block.entry = latest;
        break;
      }
      const NodeId producer = graph_[latest].producer;
      if (!producer.valid()) break;
      if (behind.empty() || behind.back() != producer) behind.push_back(producer);
      for (TensorId id : graph_[producer].inputs) reach(id, ways_[latest.index()]);
    }
    for (TensorId id : seen) ways_[id.index()] = 0;
    if (!block.entry.valid()) return false;
    // Of what lies behind the sum, what depends on the entry.
    std::vector<NodeId> nodes;
    for (NodeId node : std::views::reverse(behind)) {
      const bool inside = std::ranges::any_of(graph_[node].inputs, [&](TensorId id) {
        return id.valid() && (id == block.entry || is_made_by_one_of(nodes, id));
      });
      if (inside) nodes.push_back(node);
    }
    nodes.push_back(block.nodes.front());
    block.nodes = std::move(nodes);
    return true;
  }

  // Sums come in the order of the graph: what lies inside a block comes just before it.
  void choose_between_nested() {
    std::vector<Block> chosen;
    for (Block& block : blocks_) {
      std::size_t first = chosen.size();
      while (first > 0 && place(chosen[first - 1].exit) > place(block.entry)) --first;
      const auto inside = [&](const Block& other) { return is_made_by_one_of(block.nodes, other.exit); };
      const auto near = std::ranges::subrange(chosen.begin() + static_cast<std::ptrdiff_t>(first), chosen.end());
      if (std::ranges::count_if(near, inside) > 1) continue;
      chosen.erase(std::ranges::remove_if(near, inside).begin(), chosen.end());
      chosen.push_back(std::move(block));
    }
    blocks_ = std::move(chosen);
    std::vector<bool> taken(graph_.nodes().size(), false);
    for (Block& block : blocks_) {
      std::erase_if(block.nodes, [&](NodeId node) { return taken[node.index()]; });
      for (NodeId node : block.nodes) taken[node.index()] = true;
    }
  }

  // The operators that lead from `from` to `to`; none where there are others than activation functions and norms.
  std::vector<NodeId> way(TensorId from, TensorId to) const {
    std::vector<NodeId> nodes;
    while (to != from) {
      const NodeId producer = graph_[to].producer;
      if (!producer.valid() || nodes.size() == longest_tail || !is_tail(graph_[producer])) return {};
      nodes.push_back(producer);
      TensorId before;
      for (TensorId id : graph_[producer].inputs) {
        if (!id.valid() || !from_data_[id.index()]) continue;
        if (before.valid()) return {};
        before = id;
      }
      if (!before.valid()) return {};
      to = before;
    }
    std::ranges::reverse(nodes);
    return nodes;
  }

  // The same operators behind `from`, one reading the other's output, which nobody else of the forward part does.
  std::vector<NodeId> same_way(TensorId from, const std::vector<Op>& ops) const {
    std::vector<NodeId> nodes;
    for (Op op : ops) {
      NodeId next;
      for (NodeId reader : readers_.of(from)) {
        if (graph_[reader].phase != Phase::forward) continue;
        if (next.valid()) return {};
        next = reader;
      }
      if (!next.valid() || graph_[next].op != op) return {};
      nodes.push_back(next);
      from = graph_[next].outputs[0];
    }
    return nodes;
  }

  void extend(Block& block, const std::vector<NodeId>& tail) {
    if (tail.empty()) return;
    block.nodes.insert(block.nodes.end(), tail.begin(), tail.end());
    block.exit = graph_[tail.back()].outputs[0];
  }

  void find_tails() {
    std::vector<Op> before;  // what followed the sum of the last block that had another one behind it
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const TensorId next = i + 1 < blocks_.size() ? blocks_[i + 1].entry : TensorId();
      const std::vector<NodeId> tail = next.valid() ? way(blocks_[i].exit, next) : std::vector<NodeId>();
      if (tail.empty() && blocks_[i].exit != next) {
        extend(blocks_[i], same_way(blocks_[i].exit, before));
        continue;
      }
      before.clear();
      for (NodeId node : tail) before.push_back(graph_[node].op);
      extend(blocks_[i], tail);
    }
  }

  // A product of two tensors that the block makes.
  bool meets_itself(const Block& block) const {
    return std::ranges::any_of(block.nodes, [&](NodeId id) {
      const Node& node = graph_[id];
      return is_weight_product(node) && node.inputs.size() > 1 && is_made_by_one_of(block.nodes, node.inputs[0]) &&
             is_made_by_one_of(block.nodes, node.inputs[1]);
    });
  }

  void join_transformer_layers() {
    std::vector<Block> joined;
    bool layer = false;  // the last of them has attention
    for (Block& block : blocks_) {
      const bool attention = meets_itself(block);
      if (!attention && layer && joined.back().exit == block.entry) {
        joined.back().nodes.insert(joined.back().nodes.end(), block.nodes.begin(), block.nodes.end());
        joined.back().exit = block.exit;
      } else {
        joined.push_back(std::move(block));
        layer = attention;
      }
    }
    blocks_ = std::move(joined);
  }

  // What is made of weights alone, for one block: a weight in another precision, a scaled one.
  void add_what_only_they_read() {
    constexpr std::size_t none = 0, several = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> block_of(graph_.nodes().size(), none);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (NodeId node : blocks_[i].nodes) block_of[node.index()] = i + 1;
    }
    for (std::size_t i = graph_.nodes().size(); i-- > 0;) {
      const Node& node = graph_.nodes()[i];
      if (node.phase != Phase::forward || from_data_[node.outputs[0].index()]) continue;
      std::size_t by = none;
      for (TensorId id : node.outputs) {
        if (!id.valid()) continue;
        for (NodeId reader : readers_.of(id)) {
          if (graph_[reader].phase != Phase::forward) continue;
          const std::size_t block = block_of[reader.index()];
          by = block == none || (by != none && by != block) ? several : block;
        }
      }
      if (by == none || by == several) continue;
      block_of[i] = by;
      blocks_[by - 1].nodes.emplace_back(i);
    }
    for (Block& block : blocks_) std::ranges::sort(block.nodes);
  }

  static constexpr std::uint8_t both_ways = 3;

  const Graph& graph_;
  const Readers readers_;
  std::vector<bool> from_data_;     // by tensor: depends on an input of the step
  std::vector<std::uint8_t> ways_;  // by tensor: to which inputs of a sum it leads; 0 between walks
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> find_blocks(const Graph& graph) { return BlockSearch(graph).run(); }

std::vector<TensorId> saved_in_blocks(const Graph& graph, const std::vector<Block>& blocks) {
  constexpr std::size_t none = 0;
  std::vector<std::size_t> block_of(graph.nodes().size(), none);
  std::vector<bool> kept(graph.tensors().size(), false);
  const auto keep = [&](TensorId id) {
    for (TensorId stored : stored_behind(graph, id)) kept[stored.index()] = true;
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (NodeId node : blocks[i].nodes) block_of[node.index()] = i + 1;
    keep(blocks[i].entry);
  }
  const auto made_in = [&](TensorId id) {
    return graph[id].producer.valid() ? block_of[graph[id].producer.index()] : none;
  };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase != Phase::forward || !may_save_its_input(node)) continue;
    for (TensorId id : node.inputs) {
      if (!id.valid()) continue;
      for (TensorId stored : stored_behind(graph, id)) {
        if (made_in(stored) != none && made_in(stored) != block_of[i]) kept[stored.index()] = true;
      }
    }
  }
  std::vector<TensorId> saved;
  for (const SavedCandidate& candidate : saved_candidates(graph)) {
    const bool inside = made_in(candidate.tensor) != none && !kept[candidate.tensor.index()];
    if (inside && candidate.reason.empty()) saved.push_back(candidate.tensor);
  }
  return saved;
}

}  // namespace monet::training
