#include "onnx/node_import.h"

#include <array>
#include <numeric>

namespace monet::onnx {

namespace {

using Integers = std::vector<std::int64_t>;

Integers axes_from(std::int64_t first, std::size_t rank) {
  Integers axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Of one element these give the element.
bool keeps_single_elements(Op op) {
  return op == Op::ReduceMax || op == Op::ReduceMean || op == Op::ReduceMin || op == Op::ReduceProd ||
         op == Op::ReduceSum;
}

// The axes are an attribute before opset `since`, an input from there on.
template <Op op, int since>
void reduce(NodeImport& node) {
  const bool axes_are_input = node.version() >= since;
  Integers axes;
  if (!axes_are_input) {
    axes = node.integers("axes");
  } else if (node.has_input(1)) {
    axes = node.required_integers(1);
  }
  const bool nothing_reduced = node.integer("noop_with_empty_axes", 0) != 0 && axes.empty();
  const std::int64_t keepdims = node.integer("keepdims", 1);
  if (nothing_reduced && keeps_single_elements(op)) {
    node.emit(Op::Identity, {node.input(0)});
    return;
  }
  axes = node.axes(std::move(axes), node.rank(0));
  if (axes.empty() && !nothing_reduced) axes = axes_from(0, node.rank(0));
  node.emit(op, {node.input(0)}, {{Attr::axes, std::move(axes)}, {Attr::keepdims, keepdims}});
}

template <Op op>
void arg(NodeImport& node) {
  node.emit(op, {node.input(0)},
            {{Attr::axis, node.axis(node.integer("axis", 0), node.rank(0))},
             {Attr::keepdims, node.integer("keepdims", 1)},
             {Attr::select_last_index, node.integer("select_last_index", 0)}});
}

void cumulative_sum(NodeImport& node) {
  node.emit(Op::CumSum, {node.input(0)},
            {{Attr::axis, node.axis(node.required_integer(1), node.rank(0))},
             {Attr::exclusive, node.integer("exclusive", 0)},
             {Attr::reverse, node.integer("reverse", 0)}});
}

void top_k(NodeImport& node) {
  const std::int64_t k = node.version() < 10 ? node.integer("k", -1) : node.required_integer(1);
  node.emit(Op::TopK, {node.input(0)},
            {{Attr::axis, node.axis(node.integer("axis", -1), node.rank(0))},
             {Attr::k, k},
             {Attr::largest, node.integer("largest", 1)},
             {Attr::sorted, node.integer("sorted", 1)}});
}

// Before opset 13 the input was taken as a matrix: the axes from `axis` on are its row.
void hardmax(NodeImport& node) {
  const bool as_matrix = node.version() < 13;
  const std::int64_t axis = node.axis(node.integer("axis", as_matrix ? 1 : -1), node.rank(0));
  if (node.failed()) return;
  node.emit(Op::Hardmax, {node.input(0)}, {{Attr::axes, as_matrix ? axes_from(axis, node.rank(0)) : Integers{axis}}});
}

constexpr std::array reduction_entries = {
    ImportEntry{"", "ArgMax", arg<Op::ArgMax>},
    ImportEntry{"", "ArgMin", arg<Op::ArgMin>},
    ImportEntry{"", "CumSum", cumulative_sum},
    ImportEntry{"", "Hardmax", hardmax},
    ImportEntry{"", "ReduceL1", reduce<Op::ReduceL1, 18>},
    ImportEntry{"", "ReduceL2", reduce<Op::ReduceL2, 18>},
    ImportEntry{"", "ReduceLogSum", reduce<Op::ReduceLogSum, 18>},
    ImportEntry{"", "ReduceLogSumExp", reduce<Op::ReduceLogSumExp, 18>},
    ImportEntry{"", "ReduceMax", reduce<Op::ReduceMax, 18>},
    ImportEntry{"", "ReduceMean", reduce<Op::ReduceMean, 18>},
    ImportEntry{"", "ReduceMin", reduce<Op::ReduceMin, 18>},
    ImportEntry{"", "ReduceProd", reduce<Op::ReduceProd, 18>},
    ImportEntry{"", "ReduceSum", reduce<Op::ReduceSum, 13>},
    ImportEntry{"", "ReduceSumSquare", reduce<Op::ReduceSumSquare, 18>},
    ImportEntry{"", "TopK", top_k},
};

}  // namespace

std::span<const ImportEntry> reduction_rules() { return reduction_entries; }

}  // namespace monet::onnx
