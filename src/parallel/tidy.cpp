#include "parallel/tidy.h"

#include "graph/compact.h"
#include "graph/infer.h"

#include <algorithm>
#include <map>
#include <optional>
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
    for (std::size_t b = 0; b < buckets_.size(); ++b) at[leaves_before(b)].push_back(b);
    bucket_of_.assign(nodes.size(), buckets_.size());
    maker_.assign(graph_.tensors().size(), nodes.size());
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      for (std::size_t i : buckets_[b].gathers) bucket_of_[i] = b;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (TensorId id : nodes[i].outputs) {
        if (id.valid()) maker_[id.index()] = i;
      }
    }
    done_.assign(nodes.size(), false);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t bucket : at[i]) write(nodes, buckets_[bucket].gathers.front());
      write(nodes, i);
    }
    return std::move(result_);
  }

 private:
  struct Bucket {
    std::vector<std::size_t> gathers;
    std::int64_t bytes = 0;
    Phase phase = Phase::forward;
    Format format;
    std::string mesh;
    std::optional<std::size_t> before;  // the one before it over the same axis
  };

  // One before the one that is read.
  std::size_t leaves_before(std::size_t bucket) const {
    const auto before = buckets_[bucket].before;
    const bool first = !before || buckets_[*before].phase != buckets_[bucket].phase;
    return buckets_[first ? bucket : *before].gathers.front();
  }

  // A node, with all of its bucket if it is in one; what makes what they read goes first: casts and views of weights,
  // gathers over other axes.
  void write(const std::vector<Node>& nodes, std::size_t i) {
    if (done_[i]) return;
    const bool gathers = bucket_of_[i] < buckets_.size();
    const std::vector<std::size_t> own = gathers ? buckets_[bucket_of_[i]].gathers : std::vector<std::size_t>{i};
    for (std::size_t each : own) done_[each] = true;
    for (std::size_t each : own) {
      for (TensorId id : nodes[each].inputs) {
        if (id.valid() && maker_[id.index()] < nodes.size()) write(nodes, maker_[id.index()]);
      }
    }
    result_.push_back(gathers ? joined(nodes, own) : nodes[i]);
  }

  // It reads what is there before the step, casts and views of that, or what is gathered of it over another axis.
  bool is_ahead(const Node& node) const {
    if (node.op != Op::AllGather || node.phase == Phase::optimizer) return false;
    TensorId id = node.inputs[0];
    while (graph_[id].producer.valid()) {
      const Node& from = graph_[graph_[id].producer];
      const bool passes = from.op == Op::Cast || from.op == Op::AllGather || family_of(from.op) == OpFamily::view;
      if (!passes || from.inputs.size() != 1) return false;
      id = from.inputs[0];
    }
    return graph_[id].role != Role::input;
  }

  void add(std::size_t i, const Node& node) {
    const std::string& mesh = node.attributes.text(Attr::mesh);
    const Format& format = graph_[node.inputs[0]].type.format;
    const auto open = open_.find(mesh);
    const bool fits = open != open_.end() && buckets_[open->second].bytes < bucket_bytes_ &&
                      buckets_[open->second].phase == node.phase && buckets_[open->second].format == format &&
                      buckets_[open->second].gathers.size() < max_operands;
    if (!fits) {
      Bucket fresh{.gathers = {}, .bytes = 0, .phase = node.phase, .format = format, .mesh = mesh, .before = {}};
      if (open != open_.end()) fresh.before = open->second;
      open_[mesh] = buckets_.size();
      buckets_.push_back(std::move(fresh));
    }
    Bucket& bucket = buckets_[open_[mesh]];
    bucket.gathers.push_back(i);
    bucket.bytes += bytes(graph_[node.outputs[0]]);
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
  std::vector<Bucket> buckets_;
  std::map<std::string, std::size_t> open_;  // by axis of the mesh: the last bucket
  std::vector<std::size_t> bucket_of_;       // by node
  std::vector<std::size_t> maker_;           // by tensor
  std::vector<bool> done_;                   // by node
  std::vector<Node> result_;
};

// Collectives of one kind that wait to leave together.
class Buckets {
 public:
  Buckets(const Graph& graph, const Sinking& sinking, std::int64_t most_bytes)
      : graph_(graph), sinking_(sinking), most_bytes_(most_bytes) {}

  std::vector<Node> run(std::vector<Node> nodes) {
    for (Node& node : nodes) {
      if (joins(node)) {
        add(std::move(node));
        continue;
      }
      for (TensorId id : node.inputs) leave(id);
      result_.push_back(std::move(node));
    }
    while (!open_.empty()) leave(open_.begin()->first);
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

  struct Open {
    Node node;
    std::int64_t bytes = 0;
    std::set<int> after;  // what waits too, and must leave before
  };

  bool is_alike(const Node& one, const Node& node) const {
    const auto text = [](const Node& of, Attr key) { return of.attributes.has(key) ? of.attributes.text(key) : ""; };
    return one.op == node.op && one.phase == node.phase && text(one, Attr::mesh) == text(node, Attr::mesh) &&
           text(one, Attr::reduction) == text(node, Attr::reduction) &&
           graph_[one.inputs[0]].type.format == graph_[node.inputs[0]].type.format;
  }

  bool is_after(int one, int other) const {
    if (one == other) return true;
    const auto found = open_.find(one);
    return found != open_.end() &&
           std::ranges::any_of(found->second.after, [&](int each) { return is_after(each, other); });
  }

  void add(Node node) {
    std::set<int> after;
    for (TensorId id : node.inputs) {
      if (const auto found = waiting_.find(id); found != waiting_.end()) after.insert(found->second);
    }
    auto at = std::ranges::find_if(open_, [&](const auto& each) { return is_alike(each.second.node, node); });
    if (at != open_.end()) {
      const int own = at->first;
      const bool full = at->second.node.inputs.size() + node.inputs.size() > max_operands;
      if (full || std::ranges::any_of(after, [&](int each) { return is_after(each, own); })) {
        leave(own);
        at = open_.end();
        std::erase_if(after, [&](int each) { return !open_.contains(each); });
      }
    }
    if (at == open_.end()) at = open_.emplace(next_++, Open{}).first;
    Open& open = at->second;
    for (TensorId id : node.inputs) open.bytes += bytes(graph_[id]);
    for (TensorId id : node.outputs) waiting_.emplace(id, at->first);
    open.after.insert(after.begin(), after.end());
    if (open.node.inputs.empty()) {
      open.node = std::move(node);
    } else {
      Gathers::append(open.node, node);
    }
    if (open.bytes >= most_bytes_) leave(at->first);
  }

  void leave(TensorId id) {
    if (const auto found = waiting_.find(id); found != waiting_.end()) leave(found->second);
  }

  void leave(int which) {
    const auto found = open_.find(which);
    if (found == open_.end()) return;
    const Open open = std::move(found->second);
    open_.erase(found);
    for (int each : open.after) leave(each);
    for (TensorId id : open.node.outputs) waiting_.erase(id);
    result_.push_back(open.node);
  }

  const Graph& graph_;
  const Sinking& sinking_;
  std::int64_t most_bytes_;
  std::map<int, Open> open_;         // in the order in which they began
  std::map<TensorId, int> waiting_;  // results of what is open
  int next_ = 0;
  std::vector<Node> result_;
};

}  // namespace

Graph tidied(Graph step, std::int64_t bucket_bytes) {
  step = with_joined_sums(std::move(step));
  // A sum over one axis of the mesh after that over another.
  constexpr int most_axes = 4;
  for (int axis = 0; axis < most_axes; ++axis) step.set_nodes(moved_up(step));
  const Sinking sinking(step);
  std::vector<Node> nodes = Gathers(step, bucket_bytes).run(sinking.run(step.nodes()));
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
