#include "training/recompute_choice.h"

#include "training/blocks.h"
#include "training/recompute.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace monet::training {

namespace {

constexpr std::array<std::string_view, 3> choice_names = {"none", "selective", "blocks"};

// Products of two tensors that a block makes: the scores, and what they weigh.
class AttentionSearch {
 public:
  AttentionSearch(const Graph& graph, const Block& block) : graph_(graph), block_(block) {}

  // Tensors on a way from such a product to another.
  std::vector<TensorId> between() const {
    std::vector<bool> after(graph_.tensors().size(), false), before(graph_.tensors().size(), false);
    for (NodeId id : block_.nodes) {
      const Node& node = graph_[id];
      const bool from = is_met(node) || std::ranges::any_of(node.inputs, [&](TensorId input) {
                          return input.valid() && after[input.index()];
                        });
      const bool ends = is_met(node) && std::ranges::any_of(node.inputs, [&](TensorId input) {
                          return input.valid() && after[input.index()];
                        });
      if (!from || ends) continue;
      for (TensorId output : node.outputs) {
        if (output.valid()) after[output.index()] = true;
      }
    }
    for (std::size_t i = block_.nodes.size(); i-- > 0;) {
      const Node& node = graph_[block_.nodes[i]];
      const bool leads =
          std::ranges::any_of(node.outputs, [&](TensorId output) { return output.valid() && before[output.index()]; });
      if (!leads && !is_met(node)) continue;
      for (TensorId input : node.inputs) {
        if (input.valid()) before[input.index()] = true;
      }
    }
    std::vector<TensorId> result;
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i] && before[i]) result.emplace_back(i);
    }
    return result;
  }

 private:
  bool is_met(const Node& node) const {
    return family_of(node.op) == OpFamily::contraction && node.inputs.size() > 1 && is_made(node.inputs[0]) &&
           is_made(node.inputs[1]);
  }
  bool is_made(TensorId id) const {
    const NodeId producer = graph_[id].producer;
    return producer.valid() && std::ranges::binary_search(block_.nodes, producer) && from_entry(id, 0);
  }
  // Not a weight in another order or precision.
  bool from_entry(TensorId id, int depth) const {
    constexpr int deepest = 8;  // casts and views before a product
    const NodeId producer = graph_[id].producer;
    if (!producer.valid()) return id == block_.entry;
    const Node& node = graph_[producer];
    const bool passes = node.op == Op::Cast || family_of(node.op) == OpFamily::view;
    return depth == deepest || !passes || from_entry(node.inputs[0], depth + 1);
  }

  const Graph& graph_;
  const Block& block_;
};

}  // namespace

std::string_view name_of(RecomputeChoice choice) { return choice_names[static_cast<std::size_t>(choice)]; }

Expected<RecomputeChoice> recompute_choice(std::string_view name) {
  const auto found = std::ranges::find(choice_names, name);
  if (found != choice_names.end()) return static_cast<RecomputeChoice>(found - choice_names.begin());
  return Error{.message = fmt::format("there is no recompute={}", name),
               .place = "--parallel",
               .advice = fmt::format("give one of {}", fmt::join(choice_names, ", "))};
}

std::vector<TensorId> recomputed_by(const Graph& step, RecomputeChoice choice) {
  if (choice == RecomputeChoice::none) return {};
  const std::vector<Block> blocks = find_blocks(step);
  const std::vector<TensorId> saved = saved_in_blocks(step, blocks);
  if (choice == RecomputeChoice::blocks) return saved;
  std::vector<bool> wanted(step.tensors().size(), false);
  for (const Block& block : blocks) {
    for (TensorId id : AttentionSearch(step, block).between()) wanted[id.index()] = true;
  }
  std::vector<TensorId> result;
  for (TensorId id : saved) {
    if (wanted[id.index()]) result.push_back(id);
  }
  return result;
}

}  // namespace monet::training
