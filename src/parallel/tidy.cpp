#include "parallel/tidy.h"

#include "graph/compact.h"
#include "graph/infer.h"

#include <algorithm>
#include <set>

namespace monet::parallel {

namespace {

bool sums(const Node& node) { return node.op == Op::AllReduce || node.op == Op::ReduceScatter; }

// A sum of terms that a node of an earlier phase makes.
bool may_move(const Graph& graph, const Node& node) {
  if (!sums(node)) return false;
  const Tensor& input = graph[node.inputs[0]];
  return input.producer.valid() && graph[input.producer].phase != node.phase && input.role == Role::weight_gradient;
}

std::vector<Node> moved_up(const Graph& graph) {
  std::vector<std::vector<std::size_t>> after(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (may_move(graph, node)) after[graph[node.inputs[0]].producer.index()].push_back(i);
  }
  std::vector<Node> result;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (may_move(graph, graph.nodes()[i])) continue;
    result.push_back(graph.nodes()[i]);
    for (std::size_t each : after[i]) {
      result.push_back(graph.nodes()[each]);
      // What adds up over micro-batches is summed over chips once, with the last.
      if (!graph[result.back().inputs[0]].updates.valid()) result.back().phase = graph.nodes()[i].phase;
    }
  }
  return result;
}

// A sum over one axis of the mesh that only a sum over another reads: one sum over both.
Graph with_joined_sums(Graph graph) {
  const Readers readers(graph);
  std::vector<Node> nodes = graph.nodes();
  std::vector<bool> gone(nodes.size(), false);
  std::set<TensorId> given(graph.outputs.begin(), graph.outputs.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node& node = nodes[i];
    if (node.op != Op::AllReduce) continue;
    const NodeId producer = graph[node.inputs[0]].producer;
    if (!producer.valid() || nodes[producer.index()].op != Op::AllReduce) continue;
    const Node& inner = nodes[producer.index()];
    const bool alone = readers.of(node.inputs[0]).size() == 1 && !given.contains(node.inputs[0]) &&
                       !graph[node.inputs[0]].updates.valid();
    if (!alone || inner.attributes.text(Attr::reduction) != node.attributes.text(Attr::reduction)) continue;
    gone[producer.index()] = true;
    node.attributes.set(Attr::mesh, node.attributes.text(Attr::mesh) + "+" + inner.attributes.text(Attr::mesh));
    node.attributes.set(Attr::group, node.attributes.integer(Attr::group) * inner.attributes.integer(Attr::group));
    node.inputs[0] = inner.inputs[0];
  }
  std::vector<Node> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(nodes[i]));
  }
  graph.set_nodes(std::move(kept));
  return compact(std::move(graph));
}

// Casts and views of sums of gradients that only the optimizer reads wait until the backward part is done, so that
// nothing waits for the sums before.
class Sinking {
 public:
  explicit Sinking(const Graph& graph) : graph_(graph), readers_(graph) {
    sinks_.assign(graph.nodes().size(), false);
    for (std::size_t i = graph.nodes().size(); i-- > 0;) sinks_[i] = may_sink(graph.nodes()[i]);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
      if (!sinks_[i]) continue;
      const NodeId from = graph[graph.nodes()[i].inputs[0]].producer;
      sinks_[i] = from.valid() && (sums(graph[from]) || sinks_[from.index()]);
    }
  }

  // Of a sum: whether all that reads it sinks.
  bool waits(TensorId id) const {
    return std::ranges::all_of(readers_.of(id), [&](NodeId reader) { return sinks_[reader.index()]; });
  }

  std::vector<Node> run(const std::vector<Node>& nodes) const {
    std::vector<Node> result, sunk;
    std::size_t last = nodes.size();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].phase == Phase::backward) last = i;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const TensorId first = nodes[i].outputs[0];
      (sinks_[graph_[first].producer.index()] ? sunk : result).push_back(nodes[i]);
      if (i == last) result.insert(result.end(), sunk.begin(), sunk.end());
    }
    return result;
  }

 private:
  bool may_sink(const Node& node) const {
    const bool simple = node.op == Op::Cast || (family_of(node.op) == OpFamily::view && node.inputs.size() == 1);
    if (!simple || node.phase != Phase::backward || node.outputs.size() != 1) return false;
    if (graph_[node.outputs[0]].updates.valid()) return false;
    return std::ranges::all_of(readers_.of(node.outputs[0]), [&](NodeId reader) {
      return graph_[reader].phase == Phase::optimizer || sinks_[reader.index()];
    });
  }

  const Graph& graph_;
  Readers readers_;
  std::vector<bool> sinks_;  // by node
};

// Weights that are gathered before they are read: as many together as make a bucket, and each bucket one before the one
// that is read, so that it travels meanwhile.
class Gathers {
 public:
  Gathers(const Graph& graph, std::int64_t bucket_bytes) : graph_(graph), bucket_bytes_(bucket_bytes) {}

  std::vector<Node> run(std::vector<Node> nodes) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (is_ahead(nodes[i])) add(i, nodes[i]);
    }
    std::vector<std::vector<std::size_t>> at(nodes.size());  // buckets that leave before a node
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      const bool first = b == 0 || nodes[buckets_[b - 1].front()].phase != nodes[buckets_[b].front()].phase;
      at[first ? buckets_[b].front() : buckets_[b - 1].front()].push_back(b);
    }
    std::vector<bool> moved(nodes.size(), false);
    for (const auto& bucket : buckets_) {
      for (std::size_t i : bucket) moved[i] = true;
    }
    std::vector<std::size_t> maker(graph_.tensors().size(), nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (TensorId id : nodes[i].outputs) {
        if (id.valid()) maker[id.index()] = i;
      }
    }
    std::vector<Node> result;
    // Casts and views of weights go with what gathers them.
    const auto make_first = [&](auto& self, TensorId id) -> void {
      const std::size_t node = maker[id.index()];
      if (node == nodes.size() || moved[node]) return;
      self(self, nodes[node].inputs[0]);
      result.push_back(nodes[node]);
      moved[node] = true;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t bucket : at[i]) {
        for (std::size_t gather : buckets_[bucket]) make_first(make_first, nodes[gather].inputs[0]);
        result.push_back(joined(nodes, buckets_[bucket]));
      }
      if (moved[i]) continue;
      moved[i] = true;
      result.push_back(nodes[i]);
    }
    return result;
  }

 private:
  // It reads what is there before the step, or casts and views of that.
  bool is_ahead(const Node& node) const {
    if (node.op != Op::AllGather || node.phase == Phase::optimizer) return false;
    TensorId id = node.inputs[0];
    while (graph_[id].producer.valid()) {
      const Node& from = graph_[graph_[id].producer];
      if (from.op != Op::Cast && family_of(from.op) != OpFamily::view) return false;
      if (from.inputs.size() != 1) return false;
      id = from.inputs[0];
    }
    return graph_[id].role != Role::input;
  }

  void add(std::size_t i, const Node& node) {
    const bool fits = !buckets_.empty() && bytes_ < bucket_bytes_ && node.phase == phase_ &&
                      graph_[node.inputs[0]].type.format == format_ && buckets_.back().size() < max_operands &&
                      node.attributes.text(Attr::mesh) == mesh_;
    if (!fits) {
      buckets_.emplace_back();
      bytes_ = 0;
    }
    buckets_.back().push_back(i);
    bytes_ += bytes(graph_[node.outputs[0]]);
    phase_ = node.phase;
    format_ = graph_[node.inputs[0]].type.format;
    mesh_ = node.attributes.text(Attr::mesh);
  }

  static Node joined(const std::vector<Node>& nodes, const std::vector<std::size_t>& bucket) {
    Node all = nodes[bucket[0]];
    for (std::size_t i = 1; i < bucket.size(); ++i) append(all, nodes[bucket[i]]);
    return all;
  }

 public:
  static void append(Node& all, const Node& more) {
    for (const Attr key : {Attr::axes, Attr::blocks}) {
      if (!all.attributes.has(key)) continue;
      std::vector<std::int64_t> values = all.attributes.integers(key);
      values.insert(values.end(), more.attributes.integers(key).begin(), more.attributes.integers(key).end());
      all.attributes.set(key, std::move(values));
    }
    all.inputs.insert(all.inputs.end(), more.inputs.begin(), more.inputs.end());
    all.outputs.insert(all.outputs.end(), more.outputs.begin(), more.outputs.end());
  }

 private:
  const Graph& graph_;
  std::int64_t bucket_bytes_;
  std::vector<std::vector<std::size_t>> buckets_;
  std::int64_t bytes_ = 0;
  Phase phase_ = Phase::forward;
  Format format_;
  std::string mesh_;
};

// Collectives of one kind that wait to leave together.
class Buckets {
 public:
  Buckets(const Graph& graph, const Sinking& sinking, std::int64_t most_bytes)
      : graph_(graph), sinking_(sinking), most_bytes_(most_bytes) {}

  std::vector<Node> run(std::vector<Node> nodes) {
    for (Node& node : nodes) {
      const bool reads = std::ranges::any_of(node.inputs, [&](TensorId id) { return waiting_.contains(id); });
      if (reads) flush();
      if (!joins(node)) {
        result_.push_back(std::move(node));
      } else {
        add(std::move(node));
      }
    }
    flush();
    return std::move(result_);
  }

 private:
  bool joins(const Node& node) const {
    return (node.op == Op::AllReduce || node.op == Op::ReduceScatter || node.op == Op::AllGather) &&
           node.phase != Phase::forward && (!is_activation(node.inputs[0]) || sinking_.waits(node.outputs[0]));
  }

  bool is_activation(TensorId id) const {
    return graph_[id].role == Role::gradient || graph_[id].role == Role::activation;
  }

  bool is_alike(const Node& node) const {
    const auto text = [](const Node& of, Attr key) { return of.attributes.has(key) ? of.attributes.text(key) : ""; };
    return open_.op == node.op && open_.phase == node.phase && text(open_, Attr::mesh) == text(node, Attr::mesh) &&
           text(open_, Attr::reduction) == text(node, Attr::reduction) &&
           graph_[open_.inputs[0]].type.format == graph_[node.inputs[0]].type.format;
  }

  void add(Node node) {
    if (!open_.inputs.empty() && (!is_alike(node) || open_.inputs.size() + node.inputs.size() > max_operands)) flush();
    for (TensorId id : node.inputs) bytes_ += bytes(graph_[id]);
    waiting_.insert(node.outputs.begin(), node.outputs.end());
    if (open_.inputs.empty()) {
      open_ = std::move(node);
    } else {
      Gathers::append(open_, node);
    }
    if (bytes_ >= most_bytes_) flush();
  }

  void flush() {
    if (!open_.inputs.empty()) result_.push_back(std::move(open_));
    open_ = {};
    waiting_.clear();
    bytes_ = 0;
  }

  const Graph& graph_;
  const Sinking& sinking_;
  std::int64_t most_bytes_;
  Node open_;
  std::set<TensorId> waiting_;
  std::int64_t bytes_ = 0;
  std::vector<Node> result_;
};

}  // namespace

Graph tidied(Graph step, std::int64_t bucket_bytes) {
  step = with_joined_sums(std::move(step));
  const Sinking sinking(step);
  std::vector<Node> nodes = Gathers(step, bucket_bytes).run(sinking.run(moved_up(step)));
  if (bucket_bytes > 0) nodes = Buckets(step, sinking, bucket_bytes).run(std::move(nodes));
  step.set_nodes(std::move(nodes));
  // Gradients of which a chip keeps its pieces alone are not kept themselves.
  const Readers readers(step);
  for (const Node& node : step.nodes()) {
    if (node.op != Op::ReduceScatter) continue;
    for (TensorId id : node.inputs) {
      Tensor& tensor = step[id];
      if (tensor.role == Role::weight_gradient && !tensor.updates.valid() && readers.of(id).size() == 1)
        tensor.role = Role::gradient;
    }
  }
  return step;
}

}  // namespace monet::parallel
