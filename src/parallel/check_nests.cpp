#include "parallel/check_values.h"

namespace monet::parallel::checked {

namespace {

// Neighbours along an axis while the loop makes `run` steps; nothing: the axis is read some other way.
std::optional<std::int64_t> run_of_axis(const AxisIndex& index, const std::vector<Loop>& loops, std::size_t loop,
                                        std::int64_t run) {
  std::int64_t factor = 0, below = 0;
  for (const Term& term : index.terms) {
    if (term.loop == loop) factor = term.factor;
  }
  if (factor < 1 || index.offset != 0 || index.span != 1) return std::nullopt;
  for (const Term& term : index.terms) {
    if (term.loop != loop && loops[term.loop].size > 1 && term.factor < factor)
      below += term.factor * (loops[term.loop].size - 1);
  }
  if (below >= factor || run * factor % index.divisor != 0) return std::nullopt;
  return run * factor / index.divisor;
}

bool follows(const AxisIndex& index, std::size_t loop) {
  return !index.anywhere && std::ranges::any_of(index.terms, [&](const Term& t) { return t.loop == loop; });
}

struct CutLoop {
  std::size_t loop;
  std::int64_t run;
};

class Nests {
 public:
  Nests(const Graph& graph, const Node& node, const std::vector<Value>& inputs)
      : node_(node), site_(site_of(graph, node)), nests_(nests_of(site_)) {
    values_[0] = inputs;
    values_[1].resize(node.outputs.size());
    values_[2].resize(nests_.scratch.size());
  }

  Results run() {
    for (const Nest& nest : nests_.nests) {
      if (!step(nest)) return std::nullopt;
    }
    return values_[1];
  }

 private:
  const Shape& shape(const Access& access) const {
    if (access.kind == OperandKind::input) return site_.in(access.operand);
    return access.kind == OperandKind::output ? site_.out(access.operand) : nests_.scratch[access.operand].shape;
  }
  Value& value(const Access& access) { return values_[static_cast<std::size_t>(access.kind)][access.operand]; }

  bool step(const Nest& nest) {
    std::vector<CutLoop> candidates;
    bool any_pieces = false;
    for (const Access& read : nest.reads) {
      const Value& from = value(read);
      if (from.is(Value::Kind::term)) return false;
      if (!from.is(Value::Kind::pieces) || any_pieces) continue;
      any_pieces = true;
      for (const Pieces& reading : from.readings) add_candidates(nest, read, reading, candidates);
    }
    // What is added to pieces is added piece by piece.
    for (const Access& write : nest.writes) {
      const Value& to = value(write);
      if (any_pieces || !write.accumulate || !to.is(Value::Kind::pieces)) continue;
      any_pieces = true;
      for (const Pieces& reading : to.readings) add_candidates(nest, write, reading, candidates);
    }
    if (!any_pieces) return give_whole(nest);
    std::vector<Value> results(nest.writes.size());
    bool found = false;
    for (const CutLoop& cut : candidates) {
      std::vector<Value> own;
      if (!agrees(nest, cut, own)) continue;
      for (std::size_t i = 0; i < own.size(); ++i) {
        if (!found) results[i] = own[i];
        const bool term = results[i].can_be_term() || own[i].can_be_term();
        for (const Pieces& reading : own[i].readings) results[i].add(reading);
        if (!results[i].readings.empty()) results[i].kind = Value::Kind::pieces;
        if (own[i].can_be_term()) results[i].joined_by = own[i].joined_by;
        results[i].may_be_term = term && results[i].is(Value::Kind::pieces);
      }
      found = true;
    }
    if (!found) return false;
    for (std::size_t i = 0; i < nest.writes.size(); ++i) {
      if (!write(nest.writes[i], results[i], false)) return false;
    }
    return true;
  }

  static void add_candidates(const Nest& nest, const Access& read, const Pieces& reading,
                             std::vector<CutLoop>& candidates) {
    const AxisIndex& index = read.axes[reading.axis];
    if (index.anywhere) return;
    for (const Term& term : index.terms) {
      const std::int64_t steps = reading.run * index.divisor;
      if (term.factor < 1 || steps % term.factor != 0) continue;
      const std::int64_t run = steps / term.factor, size = nest.loops[term.loop].size;
      if (run >= 1 && run <= size && size % run == 0) candidates.push_back({term.loop, run});
    }
  }

  bool agrees(const Nest& nest, const CutLoop& cut, std::vector<Value>& results) {
    for (const Access& read : nest.reads) {
      const Value& from = value(read);
      std::optional<Pieces> wanted;
      for (std::size_t axis = 0; axis < read.axes.size(); ++axis) {
        if (!follows(read.axes[axis], cut.loop)) continue;
        const auto run = run_of_axis(read.axes[axis], nest.loops, cut.loop, cut.run);
        if (!run || wanted) return false;
        // Of an axis of one element all chips have all.
        if (from.is(Value::Kind::same) && shape(read)[axis] == 1) continue;
        wanted = Pieces{axis, *run};
      }
      if (wanted ? !from.can_be(*wanted) : !from.is(Value::Kind::same)) return false;
    }
    for (const Access& write : nest.writes) {
      Value to = Value::term(node_.op == Op::ReduceMax ? "max" : node_.op == Op::ReduceMin ? "min" : "sum");
      for (std::size_t axis = 0; axis < write.axes.size(); ++axis) {
        if (!follows(write.axes[axis], cut.loop)) continue;
        const auto run = run_of_axis(write.axes[axis], nest.loops, cut.loop, cut.run);
        if (!run || !to.is(Value::Kind::term)) return false;
        to = Value::pieces(axis, *run);
      }
      if (to.is(Value::Kind::term) && !joins(nest, write)) return false;
      results.push_back(std::move(to));
    }
    return true;
  }

  bool joins(const Nest& nest, const Access& write) const {
    const bool adds = nest.per_point[Count::add] + nest.per_point[Count::mac] > 0;
    return write.accumulate && (adds || node_.op == Op::ReduceMax || node_.op == Op::ReduceMin);
  }

  // All chips do the same; what does not change along a loop in all that is read does not in what is written.
  bool give_whole(const Nest& nest) {
    std::uint64_t constant = ~std::uint64_t{0};  // loops
    for (const Access& read : nest.reads) {
      const Value& from = value(read);
      for (std::size_t axis = 0; axis < read.axes.size(); ++axis) {
        for (const Term& term : read.axes[axis].terms) {
          if ((from.constant_along >> axis & 1U) == 0) constant &= ~(std::uint64_t{1} << term.loop);
        }
        if (read.axes[axis].anywhere && (from.constant_along >> axis & 1U) == 0) constant &= ~std::uint64_t{0};
      }
    }
    const bool generated = family_of(node_.op) == OpFamily::generate && node_.op != Op::Fill && node_.inputs.empty();
    if (generated) constant = 0;
    for (const Access& write : nest.writes) {
      Value to = Value::same();
      for (std::size_t axis = 0; axis < write.axes.size() && axis < 64; ++axis) {
        const auto& terms = write.axes[axis].terms;
        const bool all = std::ranges::all_of(terms, [&](const Term& t) { return (constant >> t.loop & 1U) != 0; });
        if (all && !terms.empty()) to.constant_along |= std::uint64_t{1} << axis;
      }
      if (!this->write(write, to, nest.reads.empty())) return false;
    }
    return true;
  }

  // What two nests write must be the same, but for zeros to begin with.
  bool write(const Access& access, Value now, bool zero) {
    Value& before = value(access);
    const bool fresh = before.is(Value::Kind::unknown) || before.zero;
    now.zero = zero;
    // What does not change along an axis can be its pieces.
    const bool constant = before.is(Value::Kind::same) && now.is(Value::Kind::pieces);
    if (!fresh && before.kind != now.kind && !constant) return false;
    if (!fresh && now.is(Value::Kind::pieces)) {
      std::erase_if(now.readings, [&](const Pieces& reading) { return !before.can_be(reading); });
      if (now.readings.empty()) return false;
    }
    if (!fresh) now.constant_along &= before.constant_along;
    before = std::move(now);
    return true;
  }

  const Node& node_;
  OperatorSite site_;
  OperatorNests nests_;
  std::array<std::vector<Value>, 3> values_;
};

// Operators whose result says more of the whole than their loops do.
bool depends_on_the_whole(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  const auto along = [&](std::size_t input, std::int64_t axis) {
    return input < inputs.size() &&
           std::ranges::any_of(
               inputs[input].readings, [&](const Pieces& reading) { return std::cmp_equal(reading.axis, axis); });
  };
  const bool any = std::ranges::any_of(inputs, [](const Value& v) { return v.is(Value::Kind::pieces); });
  if (!any) return false;
  if (node.attributes.has(Attr::reduction) && node.attributes.text(Attr::reduction) == "mean") return true;
  const auto rank = static_cast<std::int64_t>(graph[node.inputs[0]].type.shape.size());
  const bool causal = node.attributes.integer_or(Attr::is_causal, 0) != 0;
  switch (node.op) {
    case Op::BatchNormalizationGrad: return !along(1, 1);
    case Op::SoftmaxCrossEntropyLossGrad: return along(1, node.attributes.integer_or(Attr::axis, 1));
    case Op::Trilu: return along(0, rank - 1) || along(0, rank - 2);
    case Op::Attention: return causal && (along(0, 2) || along(1, 2));
    case Op::AttentionGrad: return causal && (along(1, 2) || along(2, 2));
    case Op::Quantize:
    case Op::Adam8bitUpdate: return true;
    default: return false;
  }
}

bool is_number(const Graph& graph, TensorId id) { return element_count(graph[id].type.shape) == 1; }

// The sum of what it makes of terms is what it makes of their sum.
bool is_linear(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  std::vector<bool> terms;
  for (const Value& input : inputs) terms.push_back(input.can_be_term());
  const bool all = std::ranges::all_of(terms, [](bool term) { return term; });
  if (std::ranges::any_of(inputs, [](const Value& v) { return v.joined_by != "sum"; })) return false;
  switch (node.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Sum:
    case Op::Neg:
    case Op::Cast:
    case Op::ReduceSum: return all;
    case Op::Mul:
      return (terms[0] && !terms[1] && is_number(graph, node.inputs[1])) ||
             (terms[1] && !terms[0] && is_number(graph, node.inputs[0]));
    case Op::Div: return terms[0] && !terms[1] && is_number(graph, node.inputs[1]);
    case Op::GatherGrad: return terms[0] && inputs[1].is(Value::Kind::same);
    default: return false;
  }
}

}  // namespace

Results after_nests(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  if (std::ranges::any_of(inputs, [](const Value& v) { return v.is(Value::Kind::term); })) {
    if (!is_linear(graph, node, inputs)) return std::nullopt;
    return std::vector<Value>(node.outputs.size(), Value::term());
  }
  if (depends_on_the_whole(graph, node, inputs)) return std::nullopt;
  Results results = Nests(graph, node, inputs).run();
  const bool may_be_terms = std::ranges::any_of(inputs, &Value::may_be_term) && is_linear(graph, node, inputs);
  if (!results && may_be_terms) return std::vector<Value>(node.outputs.size(), Value::term());
  if (!results || !may_be_terms) return results;
  for (Value& result : *results) result.may_be_term = result.is(Value::Kind::pieces);
  return results;
}

}  // namespace monet::parallel::checked
