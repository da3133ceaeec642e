#include "training/rewrite.h"

#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_set>

namespace monet::training {

namespace {

// By id: X~k with the least k that no name of the graph has. Different names never give the same copy.
template <class Things>
std::vector<std::string> copy_names(const Things& things) {
  std::unordered_set<std::string_view> names;
  for (const auto& thing : things) names.insert(thing.name);
  std::vector<std::string> copies;
  copies.reserve(things.size());
  for (const auto& thing : things) {
    std::string name;
    int k = 0;
    do {
      name = fmt::format("{}~{}", thing.name, ++k);
    } while (names.contains(name));
    copies.push_back(std::move(name));
  }
  return copies;
}

// The new step: first in numbers alone, then written down once. Copies of tensors are numbered after all others.
class Rewrite {
 public:
  // Keeps references.
  Rewrite(const RewriteBase& base, const std::vector<bool>& recomputed)
      : base_(base), before_(base.graph), can_(base.can), copies_(base.graph.tensors().size()) {
    find_kept(recomputed);
    find_wanted();
    replaced_by_.resize(before_.tensors().size());
    repeated_.assign(before_.nodes().size(), false);
    for (std::size_t i = 0; i < before_.nodes().size(); ++i) {
      const Node& node = before_.nodes()[i];
      if (node.phase != Phase::forward) repeat_for(node);
      Draft& draft = drafts_.emplace_back(Draft{NodeId(i), false, operands_.size(), node.inputs.size(), 0});
      for (TensorId id : node.inputs) operands_.push_back(node.phase == Phase::forward ? id : value_of(id));
      for (TensorId id : node.outputs) {
        operands_.push_back(id);
        if (id.valid() && before_[id].updates.valid()) replaced_by_[before_[id].updates.index()] = id;
      }
      draft.outputs = node.outputs.size();
    }
    leave_out_unread();
  }

  Recomputed write() {
    find_used();
    Recomputed result;
    result.graph.name = before_.name;
    const std::size_t tensors = before_.tensors().size();
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i]) continue;
      if (i < tensors) {
        target_[i] = result.graph.add_tensor(before_.tensors()[i]);
      } else {
        const Tensor& original = before_[copied_[i - tensors]];
        target_[i] = result.graph.add_tensor({.name = base_.tensor_copies[copied_[i - tensors].index()],
                                              .type = original.type,
                                              .role = original.role,
                                              .producer = {},
                                              .parameter = false,
                                              .updates = {}});
      }
    }
    for (std::size_t i = 0; i < result.graph.tensors().size(); ++i) {
      TensorId& updates = result.graph[TensorId(i)].updates;
      updates = now(updates);
    }
    for (TensorId id : before_.inputs) result.graph.inputs.push_back(now(id));
    for (TensorId id : before_.outputs) result.graph.outputs.push_back(now(id));
    for (const auto& [id, constant] : before_.constants) {
      if (used_[id.index()]) result.graph.constants.emplace(now(id), constant);
    }
    std::vector<Node> nodes;
    nodes.reserve(drafts_.size());
    result.copy_of.reserve(drafts_.size());
    for (const Draft& draft : drafts_) {
      nodes.push_back(node_of(draft));
      result.copy_of.push_back(draft.copy ? draft.source : NodeId());
    }
    result.graph.set_nodes(std::move(nodes));
    for (TensorId& id : copies_) id = now(id);
    result.copies = std::move(copies_);
    target_.resize(tensors);
    result.tensors = std::move(target_);
    return result;
  }

 private:
  // A node of the new step: inputs, then outputs in `operands_`.
  struct Draft {
    NodeId source;
    bool copy = false;
    std::size_t first = 0, inputs = 0, outputs = 0;
  };
  std::span<TensorId> inputs_of(const Draft& draft) { return std::span(operands_).subspan(draft.first, draft.inputs); }
  std::span<TensorId> outputs_of(const Draft& draft) {
    return std::span(operands_).subspan(draft.first + draft.inputs, draft.outputs);
  }

  // What the backward part can read as the forward part left it.
  void find_kept(const std::vector<bool>& recomputed) {
    kept_.assign(before_.tensors().size(), true);
    for (const Node& node : before_.nodes()) {
      if (node.phase != Phase::forward) continue;
      const bool view = family_of(node.op) == OpFamily::view;
      const bool all = std::ranges::all_of(node.inputs, [&](TensorId id) { return !id.valid() || kept_[id.index()]; });
      for (TensorId id : node.outputs) {
        if (!id.valid()) continue;
        const bool stays = (can_.is_saved(id) && !recomputed[id.index()]) || can_.is_there_anyway(id);
        kept_[id.index()] = view ? all : stays;
      }
    }
  }

  // What must be made again: from the readers in the backward part back to what is kept.
  void find_wanted() {
    wanted_.assign(before_.tensors().size(), false);
    for (std::size_t i = before_.nodes().size(); i-- > 0;) {
      const Node& node = before_.nodes()[i];
      const bool again = node.phase != Phase::forward ||
                         std::ranges::any_of(node.outputs, [&](TensorId id) { return id.valid() && is_wanted(id); });
      if (!again) continue;
      for (TensorId id : node.inputs) {
        if (id.valid() && !kept_[id.index()]) wanted_[id.index()] = true;
      }
    }
  }

  bool is_wanted(TensorId id) const { return wanted_[id.index()]; }
  bool has_copy(TensorId id) const { return id.valid() && !kept_[id.index()] && copies_[id.index()].valid(); }
  TensorId value_of(TensorId id) const { return has_copy(id) ? copies_[id.index()] : id; }

  // Repeats what `reader` needs and nobody before it did, in the order of the forward part.
  void repeat_for(const Node& reader) {
    to_repeat_.clear();
    open_.assign(1, &reader);
    while (!open_.empty()) {
      const Node& node = *open_.back();
      open_.pop_back();
      for (TensorId id : node.inputs) {
        if (!id.valid() || kept_[id.index()]) continue;
        const NodeId producer = before_[id].producer;
        if (repeated_[producer.index()]) continue;
        repeated_[producer.index()] = true;
        to_repeat_.push_back(producer);
        open_.push_back(&before_[producer]);
      }
    }
    std::ranges::sort(to_repeat_);
    for (NodeId id : to_repeat_) repeat(id);
  }

  void repeat(NodeId id) {
    const Node& node = before_[id];
    Draft draft{id, true, operands_.size(), node.inputs.size(), node.outputs.size()};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId input = node.inputs[i];
      const bool gone = input.valid() && replaced_by_[input.index()].valid();
      // What a copy does not look at may be the newer value.
      const bool newer = gone && !Repeatable::reads_again(node, i);
      MONET_REQUIRE(newer || !gone || has_copy(input));
      operands_.push_back(newer ? replaced_by_[input.index()] : value_of(input));
    }
    if (const TensorId mask = can_.kept_mask(node); mask.valid()) {
      operands_.push_back(mask);
      ++draft.inputs;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId output = node.outputs[i];
      const bool made = i == 0 || (output.valid() && is_wanted(output));
      operands_.push_back(made ? copy_of(output) : TensorId());
    }
    for (; !operands_.back().valid(); operands_.pop_back()) --draft.outputs;
    drafts_.push_back(draft);
  }

  TensorId copy_of(TensorId id) {
    copied_.push_back(id);
    return copies_[id.index()] = TensorId(before_.tensors().size() + copied_.size() - 1);
  }

  // Outputs and nodes of the forward part that were there for the backward part only.
  void leave_out_unread() {
    std::vector<std::uint32_t> readers(before_.tensors().size() + copied_.size(), 0);
    for (const Draft& draft : drafts_) {
      for (TensorId id : inputs_of(draft)) {
        if (id.valid()) ++readers[id.index()];
      }
    }
    const auto unread = [&](TensorId id) { return id.valid() && !base_.stays[id.index()] && readers[id.index()] == 0; };
    std::vector<bool> left_out(drafts_.size(), false);
    for (std::size_t i = drafts_.size(); i-- > 0;) {
      const Draft& draft = drafts_[i];
      if (before_[draft.source].phase != Phase::forward || draft.copy) continue;
      const std::span<TensorId> outputs = outputs_of(draft);
      left_out[i] = std::ranges::all_of(outputs, [&](TensorId id) { return !id.valid() || unread(id); });
      for (TensorId& id : outputs.subspan(1)) {
        if (unread(id)) id = {};
      }
      if (!left_out[i]) continue;
      for (TensorId id : inputs_of(draft)) {
        if (id.valid()) --readers[id.index()];
      }
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      if (!left_out[i]) drafts_[at++] = drafts_[i];
    }
    drafts_.resize(at);
  }

  // As graph/compact.h says.
  void find_used() {
    used_.assign(before_.tensors().size() + copied_.size(), false);
    target_.resize(used_.size());
    const auto use = [&](std::span<const TensorId> ids) {
      for (TensorId id : ids) {
        if (id.valid()) used_[id.index()] = true;
      }
    };
    use(before_.inputs);
    use(before_.outputs);
    for (const Draft& draft : drafts_) {
      use(inputs_of(draft));
      use(outputs_of(draft));
    }
    for (std::size_t i = 0; i < before_.tensors().size(); ++i) {
      const TensorId updates = before_.tensors()[i].updates;
      if (used_[i] && updates.valid()) used_[updates.index()] = true;
    }
  }

  TensorId now(TensorId id) const { return id.valid() ? target_[id.index()] : id; }

  Node node_of(const Draft& draft) {
    const Node& original = before_[draft.source];
    Node node{.name = draft.copy ? base_.node_copies[draft.source.index()] : original.name,
              .op = original.op,
              .phase = draft.copy ? Phase::backward : original.phase,
              .recomputed = draft.copy || original.recomputed,
              .attributes = original.attributes,
              .inputs = {},
              .outputs = {}};
    if (draft.copy && can_.kept_mask(original).valid()) node.op = Op::DropoutGrad;
    node.inputs.reserve(draft.inputs);
    for (TensorId id : inputs_of(draft)) node.inputs.push_back(now(id));
    node.outputs.reserve(draft.outputs);
    for (TensorId id : outputs_of(draft)) node.outputs.push_back(now(id));
    return node;
  }

  const RewriteBase& base_;
  const Graph& before_;
  const Repeatable& can_;
  std::vector<bool> kept_, wanted_;    // by tensor before
  std::vector<TensorId> copies_;       // by tensor before
  std::vector<TensorId> copied_;       // by copy
  std::vector<TensorId> replaced_by_;  // by tensor before: what has taken its place so far
  std::vector<bool> repeated_;         // by node before
  std::vector<Draft> drafts_;
  std::vector<TensorId> operands_;
  std::vector<NodeId> to_repeat_;
  std::vector<const Node*> open_;
  std::vector<bool> used_;        // by tensor, copies included
  std::vector<TensorId> target_;  // by tensor, copies included: its number in the new step
};

}  // namespace

RewriteBase::RewriteBase(const Graph& step)
    : graph(step),
      can(step),
      tensor_copies(copy_names(step.tensors())),
      node_copies(copy_names(step.nodes())),
      stays(step.tensors().size(), true) {
  for (const Node& node : step.nodes()) {
    for (TensorId id : node.inputs) {
      if (id.valid() && !step[id].updates.valid()) stays[id.index()] = false;
    }
  }
  for (TensorId id : step.outputs) stays[id.index()] = true;
}

Recomputed rewrite(const RewriteBase& base, const std::vector<bool>& recomputed) {
  return Rewrite(base, recomputed).write();
}

}  // namespace monet::training
