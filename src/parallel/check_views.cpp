#include "parallel/check_values.h"

#include <bit>

namespace monet::parallel::checked {

namespace {

using Kind = Value::Kind;

std::int64_t below(const Shape& shape, std::size_t axis) {
  std::int64_t product = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i) product *= shape[i];
  return product;
}

// Every axis in which the place between pieces can lie afterwards.
Value reshaped(const Value& from, const Shape& before, const Shape& after) {
  if (from.is(Kind::same)) {
    const bool everywhere = std::popcount(from.constant_along) >= static_cast<int>(before.size());
    return Value::same(everywhere ? (std::uint64_t{1} << after.size()) - 1 : 0);
  }
  Value to{.kind = Kind::pieces, .may_be_term = from.may_be_term};
  for (const Pieces& reading : from.readings) {
    const std::int64_t place = reading.run * below(before, reading.axis);
    for (std::size_t axis = 0; axis < after.size(); ++axis) {
      const std::int64_t step = below(after, axis);
      if (place % step != 0 || place / step > after[axis] || after[axis] % (place / step) != 0) continue;
      if (place >= step) to.add({axis, place / step});
    }
  }
  return to;
}

// Pieces along an axis of which so many from `start` on are taken.
Value taken(const Value& from, std::size_t axis, std::int64_t start, std::int64_t size) {
  Value to{.kind = Kind::pieces, .may_be_term = from.may_be_term};
  for (const Pieces& reading : from.readings) {
    if (reading.axis != axis || (start % reading.run == 0 && size % reading.run == 0)) to.add(reading);
  }
  return to;
}

Results one(Value value) {
  if (value.is(Kind::pieces) && value.readings.empty()) return std::nullopt;
  return std::vector<Value>{std::move(value)};
}

Value sliced(const Graph& graph, const Node& node, const Value& from, bool own_axis) {
  const auto& axes = node.attributes.integers(Attr::axes);
  const auto& starts = node.attributes.integers(Attr::starts);
  const Shape& before = graph[node.inputs[0]].type.shape;
  const Shape& after = graph[node.outputs[0]].type.shape;
  if (from.is(Kind::same)) {
    if (!own_axis) return from;
    const auto axis = static_cast<std::size_t>(axes[0]);
    return Value::pieces(axis, after[axis]);
  }
  if (own_axis) return {.kind = Kind::pieces};  // pieces of pieces: wrong
  Value to = from;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (before[axis] == after[axis]) continue;
    if (!node.attributes.has(Attr::mesh)) {
      const bool steps = node.attributes.integers(Attr::steps)[i] != 1;
      to = steps ? taken(to, axis, 1, 1) : taken(to, axis, starts[i], after[axis]);
      continue;
    }
    // Another axis' piece of this one.
    for (Pieces& reading : to.readings) {
      if (reading.axis == axis) reading.run = std::min(reading.run, after[axis]);
    }
  }
  return to;
}

Results split_parts(const Graph& graph, const Node& node, const Value& from) {
  const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
  std::vector<Value> results;
  std::int64_t start = 0;
  const auto& sizes = node.attributes.integers(Attr::split);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    results.push_back(from.is(Kind::same) ? from : taken(from, axis, start, sizes[i]));
    if (node.outputs[i].valid() && results.back().is(Kind::pieces) && results.back().readings.empty())
      return std::nullopt;
    start += sizes[i];
  }
  static_cast<void>(graph);
  return results;
}

Results joined_parts(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  const auto pieces = std::ranges::find(inputs, Kind::pieces, &Value::kind);
  if (pieces == inputs.end()) {
    std::uint64_t constant = ~std::uint64_t{0};
    for (const Value& input : inputs) constant &= input.constant_along;
    return one(Value::same(constant & ~(std::uint64_t{1} << node.attributes.integer(Attr::axis))));
  }
  Value to{.kind = Kind::pieces};
  for (const Pieces& reading : pieces->readings) {
    bool all = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool alone = inputs[i].is(Kind::same) && graph[node.inputs[i]].type.shape[reading.axis] == 1 &&
                         !std::cmp_equal(reading.axis, node.attributes.integer(Attr::axis));
      all = all && (alone || inputs[i].can_be(reading));
    }
    if (all) to.add(reading);
  }
  return one(std::move(to));
}

Value expanded(const Graph& graph, const Node& node, const Value& from) {
  const Shape& before = graph[node.inputs[0]].type.shape;
  const Shape& after = graph[node.outputs[0]].type.shape;
  const std::size_t lead = after.size() - before.size();
  Value to = from;
  to.constant_along = from.constant_along << lead;
  for (std::size_t axis = 0; axis < after.size(); ++axis) {
    if (axis < lead || before[axis - lead] != after[axis]) to.constant_along |= std::uint64_t{1} << axis;
  }
  for (Pieces& reading : to.readings) reading.axis += lead;
  std::erase_if(to.readings, [&](const Pieces& r) { return before[r.axis - lead] != after[r.axis]; });
  if (to.is(Kind::pieces)) to.constant_along = 0;
  return to;
}

}  // namespace

Results after_view(const Graph& graph, const Node& node, const std::vector<Value>& inputs, bool own_axis) {
  if (std::ranges::any_of(inputs, [](const Value& v) { return v.is(Kind::term); })) {
    if (!std::ranges::all_of(inputs, &Value::can_be_term) || own_axis) return std::nullopt;
    return std::vector<Value>(node.outputs.size(), Value::term(inputs[0].joined_by));
  }
  const Shape& from = graph[node.inputs[0]].type.shape;
  const Shape& to = graph[node.outputs[0]].type.shape;
  switch (node.op) {
    case Op::Identity: return one(inputs[0]);
    case Op::Reshape: return one(reshaped(inputs[0], from, to));
    case Op::Transpose: {
      Value result = inputs[0];
      const auto& perm = node.attributes.integers(Attr::perm);
      std::uint64_t constant = 0;
      for (std::size_t i = 0; i < perm.size(); ++i) {
        if ((inputs[0].constant_along >> perm[i] & 1U) != 0) constant |= std::uint64_t{1} << i;
      }
      result.constant_along = constant;
      for (Pieces& reading : result.readings) {
        const auto at = std::ranges::find(perm, static_cast<std::int64_t>(reading.axis)) - perm.begin();
        reading.axis = static_cast<std::size_t>(at);
      }
      return one(std::move(result));
    }
    case Op::Slice: return one(sliced(graph, node, inputs[0], own_axis));
    case Op::Split: return split_parts(graph, node, inputs[0]);
    case Op::Concat: return joined_parts(graph, node, inputs);
    case Op::Expand: return one(expanded(graph, node, inputs[0]));
    default: {
      Value result = inputs[0];
      std::erase_if(result.readings, [](const Pieces& reading) { return reading.axis != 0; });
      result.constant_along &= 1U;
      return one(std::move(result));
    }
  }
}

Results after_own_collective(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  std::vector<Value> results;
  const auto along = [&](std::size_t i) { return static_cast<std::size_t>(node.attributes.integers(Attr::axes)[i]); };
  const auto run = [&](TensorId id, std::size_t i) {
    return graph[id].type.shape[along(i)] / node.attributes.integers(Attr::blocks)[i];
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& from = inputs[i];
    switch (node.op) {
      case Op::AllReduce:
        if (!from.can_be_term() || from.joined_by != node.attributes.text(Attr::reduction)) return std::nullopt;
        results.push_back(Value::same());
        break;
      case Op::ReduceScatter:
        if (!from.can_be_term() || from.joined_by != "sum") return std::nullopt;
        results.push_back(Value::pieces(along(i), run(node.outputs[i], i)));
        break;
      case Op::AllGather:
        if (!from.is(Kind::pieces) || !from.can_be({along(i), run(node.inputs[i], i)})) return std::nullopt;
        results.push_back(Value::same());
        break;
      case Op::AllToAll:
        if (!from.is(Kind::pieces) || !from.can_be({along(0), run(node.inputs[0], 0)})) return std::nullopt;
        results.push_back(Value::pieces(along(1), run(node.outputs[0], 1)));
        break;
      default: return std::nullopt;
    }
  }
  return results;
}

Results after_other_collective(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  std::vector<Value> results = inputs;
  const std::string_view reduction =
      node.op == Op::AllReduce ? std::string_view(node.attributes.text(Attr::reduction)) : "sum";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is(Kind::term) && inputs[i].joined_by != reduction) return std::nullopt;
    results[i].constant_along = 0;
    if (!node.attributes.has(Attr::axes) || !inputs[i].is(Kind::pieces)) continue;
    const auto& axes = node.attributes.integers(Attr::axes);
    const auto& blocks = node.attributes.integers(Attr::blocks);
    const std::int64_t group = node.attributes.integer(Attr::group);
    const std::size_t first = node.op == Op::AllToAll ? 0 : i, last = node.op == Op::AllToAll ? 1 : i;
    for (std::size_t at = first; at <= last; ++at) {
      const bool grows = node.op == Op::AllGather || (node.op == Op::AllToAll && at == 0);
      const auto axis = static_cast<std::size_t>(axes[at]);
      const std::int64_t here = graph[node.inputs[i]].type.shape[axis];
      const std::int64_t piece = grows ? here / blocks[at] : here / blocks[at] / group;
      Value now{.kind = Kind::pieces, .may_be_term = results[i].may_be_term};
      for (const Pieces& reading : results[i].readings) {
        const bool outside = reading.axis == axis && reading.run > piece;
        // Pieces as long as the collective's may lie inside of them or around them.
        const bool either = reading.axis == axis && reading.run == piece && grows;
        if (!outside) now.add(reading);
        if (outside || either) now.add({axis, grows ? reading.run * group : reading.run / group});
      }
      results[i] = std::move(now);
    }
  }
  return results;
}

}  // namespace monet::parallel::checked
