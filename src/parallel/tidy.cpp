#include "parallel/tidy.h"

#include "graph/infer.h"

#include <algorithm>
#include <set>

namespace monet::parallel {

namespace {

bool sums(const Node& node) { return node.op == Op::AllReduce || node.op == Op::ReduceScatter; }

// A sum of terms that a node of an earlier phase makes, and that replace nothing.
bool may_move(const Graph& graph, const Node& node) {
  if (!sums(node)) return false;
  const Tensor& input = graph[node.inputs[0]];
  return input.producer.valid() && !input.updates.valid() && graph[input.producer].phase != node.phase &&
         input.role == Role::weight_gradient;
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
      result.back().phase = graph.nodes()[i].phase;
    }
  }
  return result;
}

// Collectives of one kind that wait to leave together.
class Buckets {
 public:
  Buckets(const Graph& graph, std::int64_t most_bytes) : graph_(graph), most_bytes_(most_bytes) {}

  std::vector<Node> run(std::vector<Node> nodes) {
    for (Node& node : nodes) {
      const bool reads = std::ranges::any_of(node.inputs, [&](TensorId id) { return waiting_.contains(id); });
      if (reads || (!open_.inputs.empty() && node.phase != open_.phase)) flush();
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
           node.phase != Phase::forward && graph_[node.inputs[0]].role != Role::gradient &&
           graph_[node.inputs[0]].role != Role::activation;
  }

  bool is_alike(const Node& node) const {
    const auto text = [](const Node& of, Attr key) { return of.attributes.has(key) ? of.attributes.text(key) : ""; };
    return open_.op == node.op && text(open_, Attr::mesh) == text(node, Attr::mesh) &&
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
      for (const Attr key : {Attr::axes, Attr::blocks}) {
        if (!open_.attributes.has(key)) continue;
        std::vector<std::int64_t> values = open_.attributes.integers(key);
        const auto& more = node.attributes.integers(key);
        values.insert(values.end(), more.begin(), more.end());
        open_.attributes.set(key, std::move(values));
      }
      open_.inputs.insert(open_.inputs.end(), node.inputs.begin(), node.inputs.end());
      open_.outputs.insert(open_.outputs.end(), node.outputs.begin(), node.outputs.end());
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
  std::int64_t most_bytes_;
  Node open_;
  std::set<TensorId> waiting_;
  std::int64_t bytes_ = 0;
  std::vector<Node> result_;
};

}  // namespace

Graph tidied(Graph step, std::int64_t bucket_bytes) {
  std::vector<Node> nodes = moved_up(step);
  if (bucket_bytes > 0) nodes = Buckets(step, bucket_bytes).run(std::move(nodes));
  step.set_nodes(std::move(nodes));
  return step;
}

}  // namespace monet::parallel
