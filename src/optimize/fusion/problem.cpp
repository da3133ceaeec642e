#include "optimize/fusion/problem.h"

#include "base/checked.h"
#include "evaluate/plan/dependencies.h"
#include "mapping/operators.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::fusion {

namespace {

Kind kind_of(Op op) {
  if (op == Op::Conv) return Kind::convolution;
  if (op == Op::ConvTranspose) return Kind::transposed;
  // The gradient of a convolution's weights is a product in the published graphs.
  if (op == Op::ConvWeightGrad || family_of(op) == OpFamily::contraction) return Kind::product;
  return Kind::other;
}

std::int64_t axis_or_one(const Shape& shape, std::size_t axis) { return axis < shape.size() ? shape[axis] : 1; }

class Making {
 public:
  Making(const Graph& graph, const RoutedMachine& machine, const Rules& rules,
         std::span<const StoredWidth> element_bits)
      : graph_(graph),
        machine_(machine),
        rules_(rules),
        element_bits_(element_bits),
        dependencies_(graph),
        seen_tensor_(graph.tensors().size()),
        seen_node_(graph.nodes().size()) {}

  Expected<Problem> run() {
    find_operators();
    if (result_.size() > max_operators) {
      return Error{.kind = ErrorKind::infeasible,
                   .message = fmt::format("{} operators are too many to fuse", result_.size()),
                   .place = graph_.name,
                   .advice = fmt::format("up to {} can be", max_operators)};
    }
    for (std::size_t kind = 0; kind < machine_.kinds(); ++kind) {
      const MemoryId top = machine_[machine_.first_of_kind(kind)].local[static_cast<std::size_t>(Path::weight)];
      result_.capacities.push_back(top.valid() ? machine_.capacity_bytes(top) : -1);
    }
    for (std::size_t i = 0; i < result_.size(); ++i) {
      add_reads(static_cast<Index>(i));
      add_before(static_cast<Index>(i));
      add_weights(result_.nodes[i]);
    }
    result_.readers = turned(result_.reads, [](const Read& read) { return read.maker; });
    find_neighbours();
    result_.after = turned(result_.before, [](Index before) { return before; });
    return std::move(result_);
  }

 private:
  void find_operators() {
    result_.operator_of.assign(graph_.nodes().size(), Problem::none);
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Node& node = graph_.nodes()[n];
      if (is_free(node, rules_)) continue;
      result_.operator_of[n] = static_cast<Index>(result_.size());
      result_.nodes.emplace_back(n);
      result_.kinds.push_back(kind_of(node.op));
      result_.tilings.push_back(tiling_of(graph_, node));
    }
  }

  void add_reads(Index op) {
    const NodeId reader = result_.nodes[op];
    reads_.clear();
    open_tensors_ = graph_[reader].inputs;
    while (!open_tensors_.empty()) {
      const TensorId id = open_tensors_.back();
      open_tensors_.pop_back();
      if (!id.valid() || seen_tensor_[id.index()] == reader) continue;
      seen_tensor_[id.index()] = reader;
      const NodeId maker = graph_[id].producer;
      if (!maker.valid()) continue;
      const Index made_by = result_.operator_of[maker.index()];
      if (made_by == Problem::none) {
        open_tensors_.insert(open_tensors_.end(), graph_[maker].inputs.begin(), graph_[maker].inputs.end());
      } else {
        reads_.push_back({made_by, number_of(id)});
      }
    }
    std::ranges::sort(reads_, {}, [](const Read& read) { return std::pair(read.maker, read.tensor); });
    result_.reads.add(reads_);
  }

  void find_neighbours() {
    std::vector<std::vector<Index>> beside(result_.size());
    for (Index op = 0; op < result_.size(); ++op) {
      for (const Read& read : result_.reads[op]) {
        if (elements_[read.tensor] <= 1) continue;
        beside[op].push_back(read.maker);
        beside[read.maker].push_back(op);
      }
    }
    for (std::vector<Index>& list : beside) {
      std::ranges::sort(list);
      list.erase(std::unique(list.begin(), list.end()), list.end());
      result_.beside.add(list);
    }
  }

  std::uint32_t number_of(TensorId id) {
    if (number_.empty()) number_.assign(graph_.tensors().size(), Problem::none);
    std::uint32_t& number = number_[id.index()];
    if (number == Problem::none) {
      number = static_cast<std::uint32_t>(result_.bytes.size());
      result_.bytes.push_back(bytes_of(id));
      elements_.push_back(element_count(graph_[id].type.shape));
    }
    return number;
  }

  std::int64_t bytes_of(TensorId id) const {
    const StoredWidth width = rules_.published ? StoredWidth(8) : element_bits_[id.index()];
    return width.bytes(element_count(graph_[id].type.shape));
  }

  void add_before(Index op) {
    const NodeId node = result_.nodes[op];
    before_.clear();
    open_nodes_.assign(dependencies_.before(node).begin(), dependencies_.before(node).end());
    while (!open_nodes_.empty()) {
      const NodeId each = open_nodes_.back();
      open_nodes_.pop_back();
      if (seen_node_[each.index()] == node) continue;
      seen_node_[each.index()] = node;
      if (const Index other = result_.operator_of[each.index()]; other != Problem::none) {
        before_.push_back(other);
      } else {
        open_nodes_.insert(open_nodes_.end(), dependencies_.before(each).begin(), dependencies_.before(each).end());
      }
    }
    std::ranges::sort(before_);
    result_.before.add(before_);
  }

  void add_weights(NodeId id) {
    const Node& node = graph_[id];
    const OpFamily family = family_of(node.op);
    std::int64_t bytes = 0;
    if (family == OpFamily::contraction || family == OpFamily::convolution) {
      for (TensorId input : node.inputs) {
        if (input.valid() && is_weight(stored(input))) bytes += bytes_of(input);
      }
    }
    std::vector<Counts> counts;
    if (bytes > 0) {
      for (const Nest& nest : nests_of(site_of(graph_, node)).nests) counts.push_back(nest.per_point);
    }
    for (std::size_t kind = 0; kind < machine_.kinds(); ++kind) {
      const Core& core = machine_.hardware()[machine_.first_of_kind(kind)];
      const bool runs = bytes > 0 && cannot_run(core, node.op, std::span<const Counts>(counts)).empty();
      const auto parts = node.op == Op::Conv ? 1 : static_cast<std::int64_t>(machine_.cores_of_kind(kind).size());
      result_.weights.push_back(runs ? ceil_divide(bytes, parts) : 0);
    }
  }

  bool is_weight(TensorId id) const {
    return graph_[id].role == Role::weight || graph_[id].role == Role::master_weight;
  }

  TensorId stored(TensorId id) const {
    for (NodeId maker = graph_[id].producer; maker.valid() && family_of(graph_[maker].op) == OpFamily::view;
         maker = graph_[id].producer) {
      id = graph_[maker].inputs.front();
    }
    return id;
  }

  // By maker, those whose lists name it; each once.
  template <class T, class MakerOf>
  static Lists<Index> turned(const Lists<T>& lists, const MakerOf& maker_of) {
    std::vector<std::vector<Index>> to(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      for (const T& item : lists[i]) {
        std::vector<Index>& list = to[maker_of(item)];
        if (list.empty() || list.back() != i) list.push_back(static_cast<Index>(i));
      }
    }
    Lists<Index> result;
    for (const std::vector<Index>& list : to) result.add(list);
    return result;
  }

  const Graph& graph_;
  const RoutedMachine& machine_;
  const Rules& rules_;
  std::span<const StoredWidth> element_bits_;
  Dependencies dependencies_;
  Problem result_;
  std::vector<NodeId> seen_tensor_, seen_node_;  // the last operator for which it was met
  std::vector<std::uint32_t> number_;
  std::vector<std::int64_t> elements_;  // by number
  std::vector<TensorId> open_tensors_;
  std::vector<NodeId> open_nodes_;
  std::vector<Read> reads_;
  std::vector<Index> before_;
};

}  // namespace

bool is_free(const Node& node, const Rules& rules) {
  const OpFamily family = family_of(node.op);
  if (family == OpFamily::view) return true;
  if (!rules.published) return false;
  return node.op == Op::Sum || node.op == Op::Gather || node.op == Op::Pad || node.op == Op::Fill ||
         node.op == Op::Range || node.op == Op::EyeLike;
}

std::int64_t tiling_of(const Graph& graph, const Node& node) {
  const Shape& out = graph[node.outputs.front()].type.shape;
  const Shape& in = node.inputs.empty() || !node.inputs.front().valid() ? out : graph[node.inputs.front()].type.shape;
  std::int64_t pieces = 1;
  if (node.op == Op::ConvTranspose || node.op == Op::AveragePoolGrad) {
    pieces = axis_or_one(in, 2);
  } else if (node.op == Op::ConvWeightGrad) {
    pieces = axis_or_one(out, 0);
  } else if (family_of(node.op) == OpFamily::convolution || family_of(node.op) == OpFamily::pool) {
    pieces = axis_or_one(out, 2);
  } else if (family_of(node.op) == OpFamily::contraction) {
    pieces = out.size() < 2 ? 1 : out[out.size() - 2];
  } else if (family_of(node.op) == OpFamily::reduction) {
    pieces = in.size() < 2 ? 1 : in[in.size() - 2];
  } else {
    pieces = out.size() < 2 ? axis_or_one(out, 0) : out[1];
  }
  return std::max<std::int64_t>(1, pieces);
}

Expected<Problem> make_problem(const Graph& graph, const RoutedMachine& machine, const Rules& rules,
                               std::span<const StoredWidth> element_bits) {
  return Making(graph, machine, rules, element_bits).run();
}

}  // namespace monet::fusion
