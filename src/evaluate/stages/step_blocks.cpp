#include "evaluate/stages/step_blocks.h"

#include "training/blocks.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace monet {

namespace {

constexpr BlockPlace no_block_place = std::numeric_limits<BlockPlace>::max();

bool reads_from_outside(const Graph& graph, TensorId id) {
  return id.valid() && !graph[id].producer.valid() && graph.constant(id) == nullptr;
}

class BlockFinding {
 public:
  explicit BlockFinding(const Graph& graph)
      : graph_(graph), place_(graph.tensors().size(), no_block_place), from_data_(graph.tensors().size(), false) {}

  StepBlocks run() {
    const std::vector<training::Block> blocks = training::find_blocks(graph_);
    result_.count = blocks.size();
    std::vector<BlockPlace> block_of(graph_.nodes().size(), no_block_place);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (NodeId node : blocks[b].nodes) block_of[node.index()] = static_cast<BlockPlace>(b);
      result_.entries.push_back(graph_[blocks[b].entry].name);
    }
    for (TensorId id : graph_.inputs) from_data_[id.index()] = graph_[id].role == Role::input;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) place_forward(graph_.nodes()[i], block_of[i]);
    place_sources();
    return std::move(result_);
  }

 private:
  void place_forward(const Node& node, BlockPlace block) {
    if (node.phase != Phase::forward) return;
    const auto data = [&](TensorId id) { return id.valid() && from_data_[id.index()]; };
    if (!std::ranges::any_of(node.inputs, data)) return;
    BlockPlace place = block;
    if (place == no_block_place) {
      place = before_blocks;
      for (TensorId id : node.inputs) {
        if (data(id) && place_[id.index()] != no_block_place) place = std::max(place, place_[id.index()]);
      }
      const auto last = static_cast<BlockPlace>(result_.count) - 1;
      if (place == last && last >= 0) place = last + 1;
    }
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      from_data_[id.index()] = true;
      place_[id.index()] = place;
      result_.tensors.emplace(graph_[id].name, place);
    }
  }

  // Weights and data, through what is made of weights alone.
  void place_sources() {
    std::vector<BlockPlace> first(graph_.tensors().size(), no_block_place),
        last(graph_.tensors().size(), before_blocks - 1);
    for (std::size_t i = graph_.nodes().size(); i-- > 0;) {
      const Node& node = graph_.nodes()[i];
      if (node.phase != Phase::forward) continue;
      const TensorId made = node.outputs[0];
      const BlockPlace from = place_[made.index()] != no_block_place ? place_[made.index()] : first[made.index()];
      const BlockPlace to = place_[made.index()] != no_block_place ? place_[made.index()] : last[made.index()];
      if (from == no_block_place) continue;
      for (TensorId id : node.inputs) {
        if (!id.valid() || place_[id.index()] != no_block_place) continue;
        first[id.index()] = std::min(first[id.index()], from);
        last[id.index()] = std::max(last[id.index()], to);
      }
    }
    const auto end = static_cast<BlockPlace>(result_.count);
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const TensorId id(i);
      if (!reads_from_outside(graph_, id) || first[i] == no_block_place) continue;
      result_.sources.emplace(graph_[id].name, first[i]);
      if (graph_[id].parameter && first[i] == before_blocks && last[i] == end && end > 0)
        result_.shared.push_back(graph_[id].name);
    }
  }

  const Graph& graph_;
  std::vector<BlockPlace> place_;  // by tensor that is made from data
  std::vector<bool> from_data_;
  StepBlocks result_;
};

// "X~2" is a copy of X.
std::string original_of(const std::string& name) {
  const std::size_t at = name.rfind('~');
  return at == std::string::npos ? name : name.substr(0, at);
}

class PartFinding {
 public:
  PartFinding(const Graph& graph, const StepBlocks& blocks) : graph_(graph), blocks_(blocks), readers_(graph) {}

  std::vector<NodePart> run() {
    parts_.resize(graph_.nodes().size());
    find_what_counts();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (node.phase == Phase::optimizer) parts_[i].part = StepPart::update;
      parts_[i].place = place_of(node);
    }
    for (std::size_t i = parts_.size(); i-- > 0;) {
      if (graph_.nodes()[i].phase == Phase::backward) parts_[i].part = part_of(i);
      if (parts_[i].part == StepPart::weight_gradients) move_to_weight(i);
    }
    return std::move(parts_);
  }

 private:
  // What is made of constants or shared weights alone is no reason to be anywhere; what is made of others is one.
  void find_what_counts() {
    counts_.assign(graph_.tensors().size(), false);
    for (std::size_t i = 0; i < counts_.size(); ++i)
      counts_[i] = !graph_.tensors()[i].producer.valid() && place_of_source(graph_.tensors()[i].name);
    for (const Node& node : graph_.nodes()) {
      const bool any = std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && counts_[id.index()]; });
      for (TensorId id : node.outputs) {
        if (id.valid()) counts_[id.index()] = any;
      }
    }
  }

  std::optional<BlockPlace> known(const std::string& name) const {
    if (const auto found = blocks_.tensors.find(name); found != blocks_.tensors.end()) return found->second;
    return std::nullopt;
  }

  BlockPlace place_of(const Node& node) const {
    if (node.phase == Phase::forward || node.recomputed) {
      if (const auto place = known(original_of(graph_[node.outputs[0]].name))) return *place;
    }
    // What was made forward is of the latest of these blocks; gradients come from the earliest so far.
    std::optional<BlockPlace> made, given;
    for (TensorId id : node.inputs) {
      if (!id.valid()) continue;
      const auto place = place_of_input(id);
      if (!place) continue;
      std::optional<BlockPlace>& join = is_gradient(id) ? given : made;
      join = !join ? *place : (&join == &made ? std::max(*join, *place) : std::min(*join, *place));
    }
    if (node.phase == Phase::optimizer && made) return *made;
    if (made && given) return std::min(*made, *given);
    if (made || given) return made ? *made : *given;
    // Of nothing: what the backward part begins with.
    return node.phase == Phase::backward ? static_cast<BlockPlace>(blocks_.count) : before_blocks;
  }

  bool is_gradient(TensorId id) const {
    const NodeId producer = graph_[id].producer;
    return producer.valid() && graph_[producer].phase != Phase::forward && !graph_[producer].recomputed;
  }

  std::optional<BlockPlace> place_of_input(TensorId id) const {
    const Tensor& tensor = graph_[id];
    if (tensor.producer.valid()) {
      const Node& from = graph_[tensor.producer];
      if (from.phase == Phase::forward && !counts_[id.index()]) return std::nullopt;
      return parts_[tensor.producer.index()].place;
    }
    return place_of_source(tensor.name);
  }

  // What is read before the blocks and after them says nothing of where a reader is.
  std::optional<BlockPlace> place_of_source(const std::string& name) const {
    const auto found = blocks_.sources.find(name);
    if (found == blocks_.sources.end() || std::ranges::find(blocks_.shared, name) != blocks_.shared.end())
      return std::nullopt;
    return found->second;
  }

  StepPart part_of(std::size_t i) const {
    const Node& node = graph_.nodes()[i];
    if (parts_[i].place == before_blocks) return StepPart::input_gradients;
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      for (NodeId reader : readers_.of(id)) {
        const NodePart& of = parts_[reader.index()];
        if (graph_[reader].phase != Phase::backward) continue;
        if (of.part == StepPart::weight_gradients) continue;
        if (of.place < parts_[i].place || of.part == StepPart::input_gradients) return StepPart::input_gradients;
      }
    }
    return StepPart::weight_gradients;
  }

  // What makes the gradient of one weight is where the weight is, even if all that it reads comes from the block
  // behind.
  void move_to_weight(std::size_t i) {
    const Node& node = graph_.nodes()[i];
    if (is_collective(node.op)) return;
    std::optional<BlockPlace> place;
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      for (NodeId reader : readers_.of(id)) {
        const Node& of = graph_[reader];
        if (is_collective(of.op) || parts_[reader.index()].part == StepPart::input_gradients) return;
        if (place && *place != parts_[reader.index()].place) return;
        place = parts_[reader.index()].place;
      }
    }
    if (place) parts_[i].place = *place;
  }

  const Graph& graph_;
  const StepBlocks& blocks_;
  Readers readers_;
  std::vector<bool> counts_;  // by tensor: made of weights or data
  std::vector<NodePart> parts_;
};

}  // namespace

StepBlocks blocks_of(const Graph& step) { return BlockFinding(step).run(); }

std::vector<NodePart> parts_of(const Graph& step, const StepBlocks& blocks) { return PartFinding(step, blocks).run(); }

}  // namespace monet
