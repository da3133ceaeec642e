#include "training/recompute.h"

#include "base/require.h"
#include "base/try.h"
#include "graph/compact.h"
#include "training/repeatable.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace monet::training {

namespace {

class Rewrite {
 public:
  // Keeps references to the graph and what can be repeated of it.
  Rewrite(const Graph& graph, const Repeatable& can, const std::vector<bool>& recomputed)
      : before_(graph), after_(graph), can_(can), copies_(graph.tensors().size()) {
    find_kept(recomputed);
    find_wanted();
    for (const Tensor& tensor : before_.tensors()) tensor_names_.insert(tensor.name);
    for (const Node& node : before_.nodes()) node_names_.insert(node.name);
  }

  Recomputed run() {
    replaced_by_.resize(before_.tensors().size());
    repeated_.assign(before_.nodes().size(), false);
    for (std::size_t i = 0; i < before_.nodes().size(); ++i) {
      Node node = before_.nodes()[i];
      if (node.phase != Phase::forward) {
        repeat_for(node);
        for (TensorId& id : node.inputs) id = value_of(id);
      }
      for (TensorId id : node.outputs) {
        if (id.valid() && before_[id].updates.valid()) replaced_by_[before_[id].updates.index()] = id;
      }
      nodes_.push_back(std::move(node));
      copy_of_.emplace_back();
    }
    leave_out_unread();
    after_.set_nodes(std::move(nodes_));
    Recomputed result{.graph = {}, .tensors = {}, .copies = std::move(copies_), .copy_of = std::move(copy_of_)};
    result.graph = compact(std::move(after_), &result.tensors);
    for (TensorId& id : result.copies) {
      if (id.valid()) id = result.tensors[id.index()];
    }
    result.tensors.resize(before_.tensors().size());
    return result;
  }

 private:
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
    std::vector<NodeId> order;
    std::vector<const Node*> open = {&reader};
    while (!open.empty()) {
      const Node& node = *open.back();
      open.pop_back();
      for (TensorId id : node.inputs) {
        if (!id.valid() || kept_[id.index()]) continue;
        const NodeId producer = before_[id].producer;
        if (repeated_[producer.index()]) continue;
        repeated_[producer.index()] = true;
        order.push_back(producer);
        open.push_back(&before_[producer]);
      }
    }
    std::ranges::sort(order);
    for (NodeId id : order) repeat(id);
  }

  void repeat(NodeId id) {
    const Node& node = before_[id];
    Node copy{.name = next_name(node.name, node_names_),
              .op = node.op,
              .phase = Phase::backward,
              .attributes = node.attributes,
              .inputs = {},
              .outputs = {}};
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId input = node.inputs[i];
      const bool gone = input.valid() && replaced_by_[input.index()].valid();
      // What a copy does not look at may be the newer value.
      const bool newer = gone && !Repeatable::reads_again(node, i);
      MONET_REQUIRE(newer || !gone || has_copy(input));
      copy.inputs.push_back(newer ? replaced_by_[input.index()] : value_of(input));
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId output = node.outputs[i];
      const bool made = i == 0 || (output.valid() && is_wanted(output));
      copy.outputs.push_back(made ? copy_of(output) : TensorId());
    }
    while (!copy.outputs.back().valid()) copy.outputs.pop_back();
    if (const TensorId mask = can_.kept_mask(node); mask.valid()) {
      copy.op = Op::DropoutGrad;
      copy.inputs.push_back(mask);
    }
    nodes_.push_back(std::move(copy));
    copy_of_.push_back(id);
  }

  TensorId copy_of(TensorId id) {
    Tensor tensor = before_[id];
    tensor.name = next_name(tensor.name, tensor_names_);
    tensor.parameter = false;
    tensor.updates = {};
    return copies_[id.index()] = after_.add_tensor(std::move(tensor));
  }

  static std::string next_name(const std::string& name, std::unordered_set<std::string>& names) {
    for (int k = 1;; ++k) {
      std::string copy = fmt::format("{}~{}", name, k);
      if (names.insert(copy).second) return copy;
    }
  }

  // Outputs and nodes of the forward part that were there for the backward part only.
  void leave_out_unread() {
    std::vector<std::size_t> readers(after_.tensors().size(), 0);
    std::vector<bool> stays(after_.tensors().size(), true);
    for (const Node& node : before_.nodes()) {
      for (TensorId id : node.inputs) {
        if (id.valid() && !before_[id].updates.valid()) stays[id.index()] = false;
      }
    }
    for (TensorId id : before_.outputs) stays[id.index()] = true;
    for (const Node& node : nodes_) {
      for (TensorId id : node.inputs) {
        if (id.valid()) ++readers[id.index()];
      }
    }
    const auto unread = [&](TensorId id) { return id.valid() && !stays[id.index()] && readers[id.index()] == 0; };
    std::vector<bool> left_out(nodes_.size(), false);
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      Node& node = nodes_[i];
      if (node.phase != Phase::forward) continue;
      left_out[i] = std::ranges::all_of(node.outputs, [&](TensorId id) { return !id.valid() || unread(id); });
      for (std::size_t k = 1; k < node.outputs.size(); ++k) {
        if (unread(node.outputs[k])) node.outputs[k] = {};
      }
      if (!left_out[i]) continue;
      for (TensorId id : node.inputs) {
        if (id.valid()) --readers[id.index()];
      }
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (left_out[i]) continue;
      if (at != i) {
        nodes_[at] = std::move(nodes_[i]);
        copy_of_[at] = copy_of_[i];
      }
      ++at;
    }
    nodes_.resize(at);
    copy_of_.resize(at);
  }

  const Graph& before_;
  Graph after_;
  const Repeatable& can_;
  std::vector<bool> kept_, wanted_;    // by tensor before
  std::vector<TensorId> copies_;       // by tensor before
  std::vector<TensorId> replaced_by_;  // by tensor before: what has taken its place so far
  std::vector<bool> repeated_;         // by node before
  std::vector<Node> nodes_;
  std::vector<NodeId> copy_of_;
  std::unordered_set<std::string> tensor_names_, node_names_;
};

Error cannot(const Graph& graph, TensorId id, std::string message, std::string advice) {
  return {
      .message = std::move(message), .place = fmt::format("tensor '{}'", graph[id].name), .advice = std::move(advice)};
}

Error not_saved(const Graph& graph, TensorId id) {
  return cannot(graph, id, "there is nothing to recompute: it is not kept from the forward part to the backward part",
                "name a tensor that the forward part makes and the backward part reads");
}

Status check(const Graph& graph, const Repeatable& can, TensorId id) {
  if (can.is_there_anyway(id)) {
    return cannot(graph, id, "it cannot be recomputed: it leaves the step, so it is kept anyway", "take it out");
  }
  if (!can.is_saved(id)) return not_saved(graph, id);
  if (const std::string reason = can.reason(id); !reason.empty()) {
    return cannot(graph, id, fmt::format("it cannot be recomputed: {}", reason), "keep it, or page it");
  }
  return Done{};
}

}  // namespace

std::vector<SavedCandidate> saved_candidates(const Graph& graph) {
  const Repeatable can(graph);
  std::vector<SavedCandidate> result;
  for (const Node& node : graph.nodes()) {
    for (TensorId id : node.outputs) {
      if (id.valid() && can.is_saved(id)) result.push_back({id, bytes(graph[id]), can.reason(id)});
    }
  }
  return result;
}

std::vector<TensorId> stored_behind(const Graph& graph, TensorId tensor) {
  std::vector<TensorId> stored;
  std::vector<TensorId> open = {tensor};
  std::unordered_set<TensorId> seen = {tensor};
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    const NodeId producer = graph[id].producer;
    if (!producer.valid() || family_of(graph[producer].op) != OpFamily::view) {
      stored.push_back(id);
      continue;
    }
    for (TensorId from : graph[producer].inputs) {
      if (from.valid() && seen.insert(from).second) open.push_back(from);
    }
  }
  std::ranges::sort(stored);
  return stored;
}

Expected<Recomputed> recompute(Graph graph, std::span<const TensorId> tensors) {
  const Repeatable can(graph);
  std::vector<bool> recomputed(graph.tensors().size(), false);
  for (TensorId tensor : tensors) {
    bool any = false;
    for (TensorId id : stored_behind(graph, tensor)) {
      if (!can.is_made_forward(id)) continue;  // a view may also show something that is there anyway
      MONET_CHECK(check(graph, can, id));
      recomputed[id.index()] = true;
      any = true;
    }
    if (!any) return not_saved(graph, tensor);
  }
  return Rewrite(graph, can, recomputed).run();
}

}  // namespace monet::training
