// One operator in a graph of its own, and whether its nests are sound.
#pragma once

#include "base/checked.h"
#include "graph/builder.h"
#include "graph/nests.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace monet::test {

// A graph of one node with inputs of these types, or the mistake that infer() finds.
inline Expected<Graph> single(Op op, const std::vector<TensorType>& inputs, Attributes attributes = {},
                              std::size_t wanted = 1) {
  GraphBuilder builder("test");
  std::vector<TensorId> ids;
  for (const TensorType& type : inputs) {
    ids.push_back(builder.input("input" + std::to_string(ids.size()), type.shape, type.format.element));
  }
  for (TensorId id : builder.add_many(op, "node", ids, std::move(attributes), wanted)) builder.output(id);
  return builder.finish();
}

inline std::vector<TensorType> floats(const std::vector<Shape>& shapes) {
  std::vector<TensorType> types;
  for (const Shape& shape : shapes) types.push_back({shape, {}});
  return types;
}

inline TensorType real(Shape shape) { return {std::move(shape), {}}; }
inline TensorType whole(Shape shape) { return {std::move(shape), {.element = ElementType::int64}}; }

// What infer() refuses in an operator; empty where it refuses nothing.
inline std::string complaint(Op op, const std::vector<TensorType>& inputs, Attributes attributes) {
  const auto graph = single(op, inputs, std::move(attributes));
  return graph ? "" : graph.error().message;
}

class NestCheck {
 public:
  explicit NestCheck(const OperatorSite& site) : site_(site), nests_(nests_of(site)) {}

  // What is wrong: two loops of one name, an access that does not fit its operand, scratch that is read before it is
  // written, an element that several points write without accumulating, an output element that nothing writes. Empty
  // when nothing is. Goes through every point: for small operators.
  std::string complaint() {
    for (const Nest& nest : nests_.nests) {
      std::set<Dim> names;
      for (const Loop& loop : nest.loops) {
        if (!names.insert(loop.name).second) return fmt::format("two loops are called {}", name_of(loop.name));
      }
      for (const Access& access : nest.reads) {
        if (auto text = check(nest, access, false); !text.empty()) return text;
      }
      for (const Access& access : nest.writes) {
        if (auto text = check(nest, access, true); !text.empty()) return text;
      }
    }
    for (std::size_t i = 0; i < site_.outputs.size(); ++i) {
      const auto found = written_.find({OperandKind::output, i});
      const std::size_t covered = found == written_.end() ? 0 : found->second.size();
      if (site_.has_output(i) && static_cast<std::int64_t>(covered) != element_count(site_.out(i))) {
        return fmt::format("{} elements of output {} are written, of {}", covered, i, to_string(site_.out(i)));
      }
    }
    return {};
  }

 private:
  const Shape* operand_shape(const Access& access) const {
    switch (access.kind) {
      case OperandKind::input: return site_.has_input(access.operand) ? &site_.in(access.operand) : nullptr;
      case OperandKind::output: return site_.has_output(access.operand) ? &site_.out(access.operand) : nullptr;
      case OperandKind::scratch:
        return access.operand < nests_.scratch.size() ? &nests_.scratch[access.operand].shape : nullptr;
    }
    return nullptr;
  }

  std::string check(const Nest& nest, const Access& access, bool write) {
    const Shape* shape = operand_shape(access);
    if (shape == nullptr) return fmt::format("operand {} is absent", access.operand);
    if (shape->size() != access.axes.size()) return fmt::format("{} axes of {}", access.axes.size(), to_string(*shape));
    for (const AxisIndex& axis : access.axes) {
      for (const Term& term : axis.terms) {
        if (term.loop >= nest.loops.size()) return fmt::format("there is no loop {}", term.loop);
      }
    }
    const std::set<Shape> reached = elements(nest, access, *shape);
    const bool placed_by_data = std::ranges::any_of(access.axes, &AxisIndex::anywhere);
    if (write && !access.accumulate && !placed_by_data && static_cast<std::int64_t>(reached.size()) < *points(nest)) {
      return fmt::format("operand {} is overwritten", access.operand);
    }
    auto& known = written_[{access.kind, access.operand}];
    if (write) {
      known.insert(reached.begin(), reached.end());
    } else if (access.kind == OperandKind::scratch) {
      for (const Shape& index : reached) {
        if (!known.contains(index)) return fmt::format("scratch {} is read unwritten", access.operand);
      }
    }
    return {};
  }

  // Every element of the operand that the access touches; outside is padding.
  static std::set<Shape> elements(const Nest& nest, const Access& access, const Shape& shape) {
    std::set<Shape> result;
    Shape at(nest.loops.size(), 0);
    for (std::int64_t left = *points(nest); left > 0; --left) {
      add(nest, access, shape, at, {}, result);
      for (std::size_t i = at.size(); i-- > 0;) {
        if (++at[i] < nest.loops[i].size) break;
        at[i] = 0;
      }
    }
    return result;
  }

  static void add(const Nest& nest, const Access& access, const Shape& shape, const Shape& at, Shape index,
                  std::set<Shape>& result) {
    if (index.size() == shape.size()) {
      result.insert(index);
      return;
    }
    const AxisIndex& axis = access.axes[index.size()];
    std::int64_t position = axis.offset;
    for (const Term& term : axis.terms) position += term.factor * at[term.loop];
    position = floor_divide(position, axis.divisor);
    const std::int64_t size = shape[index.size()];
    for (std::int64_t k = position; k < position + axis.span; ++k) {
      if (k < 0 || k >= size) continue;
      index.push_back(k);
      add(nest, access, shape, at, index, result);
      index.pop_back();
    }
  }

  OperatorSite site_;
  OperatorNests nests_;
  std::map<std::pair<OperandKind, std::size_t>, std::set<Shape>> written_;
};

// Operations of an operator whose nests are sound.
struct Checked {
  std::string complaint;
  Counts counts;
};

inline Checked checked(Op op, const std::vector<TensorType>& inputs, Attributes attributes, std::size_t wanted = 1) {
  const auto graph = single(op, inputs, std::move(attributes), wanted);
  if (!graph) return {graph.error().text(), {}};
  const OperatorSite site = site_of(*graph, graph->nodes().back());
  const auto counts = operation_counts(nests_of(site));
  if (!counts) return {counts.error().text(), {}};
  return {NestCheck(site).complaint(), *counts};
}

}  // namespace monet::test
