#include "evaluate/stages/shortened.h"

#include "evaluate/stages/step_blocks.h"
#include "graph/compact.h"

#include <algorithm>
#include <vector>

namespace monet {

namespace {

class Shortening {
 public:
  explicit Shortening(const Graph& step) : step_(step), blocks_(blocks_of(step)), parts_(parts_of(step, blocks_)) {}

  std::optional<ShortenedStep> run() {
    if (blocks_.count <= kept_blocks) return std::nullopt;
    nodes_.resize(blocks_.count);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const BlockPlace place = parts_[i].place;
      if (place >= 0 && place < static_cast<BlockPlace>(blocks_.count))
        nodes_[static_cast<std::size_t>(place)].emplace_back(i);
    }
    for (std::size_t b = 1; b < nodes_.size(); ++b) {
      // The last may be told apart by what follows it; that of its backward part which others read is looked for below.
      if (b + 1 < nodes_.size() && b > 1 && !are_alike(b - 1, b)) return std::nullopt;
    }
    if (!are_alike(last() - 1, last())) return std::nullopt;
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (is_gone(parts_[i].place)) continue;
      Node node = step_.nodes()[i];
      for (TensorId& id : node.inputs) {
        if (!rewire(parts_[i].place, id)) return std::nullopt;
      }
      nodes.push_back(std::move(node));
    }
    Graph graph = step_;
    graph.set_nodes(std::move(nodes));
    drop(graph);
    ShortenedStep result{.graph = compact(std::move(graph)), .blocks = blocks_.count};
    if (blocks_of(result.graph).count != kept_blocks) return std::nullopt;
    return result;
  }

 private:
  std::size_t last() const { return blocks_.count - 1; }
  bool is_gone(BlockPlace place) const { return place >= 2 && place < static_cast<BlockPlace>(last()); }

  bool are_alike(std::size_t a, std::size_t b) const {
    if (nodes_[a].size() != nodes_[b].size()) return false;
    for (std::size_t k = 0; k < nodes_[a].size(); ++k) {
      const Node &one = step_[nodes_[a][k]], &other = step_[nodes_[b][k]];
      const bool same = one.op == other.op && one.phase == other.phase && one.attributes == other.attributes &&
                        types(one.inputs) == types(other.inputs) && types(one.outputs) == types(other.outputs);
      if (!same) return false;
    }
    return true;
  }

  std::vector<std::optional<TensorType>> types(const std::vector<TensorId>& ids) const {
    std::vector<std::optional<TensorType>> result;
    for (TensorId id : ids) result.push_back(id.valid() ? std::optional(step_[id].type) : std::nullopt);
    return result;
  }

  // What a node that stays reads of one that goes: forward of the block before the last, which is as the second;
  // backward of the third, which is as the last.
  bool rewire(BlockPlace reader, TensorId& id) const {
    if (!id.valid() || !step_[id].producer.valid()) return true;
    const NodeId producer = step_[id].producer;
    const BlockPlace place = parts_[producer.index()].place;
    if (!is_gone(place)) return true;
    std::size_t as = 0;
    if (place == static_cast<BlockPlace>(last()) - 1 && reader >= static_cast<BlockPlace>(last())) {
      as = 1;
    } else if (place == 2 && reader <= 1) {
      as = last();
    } else {
      return false;
    }
    const auto& from = nodes_[static_cast<std::size_t>(place)];
    const auto at = static_cast<std::size_t>(std::ranges::lower_bound(from, producer) - from.begin());
    const std::vector<TensorId>& outputs = step_[producer].outputs;
    const auto output = static_cast<std::size_t>(std::ranges::find(outputs, id) - outputs.begin());
    id = step_[nodes_[as][at]].outputs[output];
    return id.valid();
  }

  void drop(Graph& graph) const {
    const auto is_lost = [&](TensorId id) { return step_[id].producer.valid() && !graph[id].producer.valid(); };
    std::erase_if(graph.outputs, is_lost);
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
      if (is_lost(TensorId(i))) graph[TensorId(i)].updates = {};
    }
  }

  const Graph& step_;
  StepBlocks blocks_;
  std::vector<NodePart> parts_;
  std::vector<std::vector<NodeId>> nodes_;  // by block
};

}  // namespace

std::optional<ShortenedStep> shortened(const Graph& step) { return Shortening(step).run(); }

}  // namespace monet
