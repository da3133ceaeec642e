#include "parallel/check_values.h"

namespace monet::parallel::checked {

namespace {

using Kind = Value::Kind;

// An operator that numbers the places of an axis, of which a chip has its pieces: what must be in pieces is, and all
// else is the same everywhere.
class Numbered {
 public:
  Numbered(const Graph& graph, const Node& node, const std::vector<Value>& inputs)
      : graph_(graph), node_(node), inputs_(inputs) {}

  Results run() const {
    const std::int64_t axis = node_.attributes.integer_or(Attr::axis, node_.op == Op::Gather ? 0 : 1);
    switch (node_.op) {
      case Op::Gather:
      case Op::GatherElements: return rows_found(static_cast<std::size_t>(axis));
      case Op::GatherGrad:
        if (!same(0) || !same(1)) return std::nullopt;
        return std::vector<Value>{made(0, static_cast<std::size_t>(axis))};
      case Op::Range: return std::vector<Value>{made(0, 0)};
      case Op::SoftmaxCrossEntropyLossGrad: {
        const bool knows_all = node_.attributes.text(Attr::reduction) == "mean" ||
                               node_.attributes.real_or(Attr::label_smoothing, 0) != 0 || inputs_.size() > 3;
        if (knows_all || !same(0) || !in_pieces(1, static_cast<std::size_t>(axis)) || !same(2)) return std::nullopt;
        return std::vector<Value>{made(0, static_cast<std::size_t>(axis))};
      }
      case Op::Attention: {
        if (!in_pieces(0, 2) || !same(1) || !same(2) || !mask_fits(3)) return std::nullopt;
        std::vector<Value> results = {made(0, 2)};
        if (node_.outputs.size() > 1) results.push_back(made(1, 2));
        return results;
      }
      case Op::AttentionGrad: return attention_gradient();
      default: return std::nullopt;
    }
  }

 private:
  bool same(std::size_t i) const { return inputs_[i].is(Kind::same); }
  std::int64_t run_of(const Shape& shape, std::size_t axis) const {
    return shape[axis] / node_.attributes.integers(Attr::blocks)[0];
  }
  bool in_pieces(std::size_t i, std::size_t axis) const {
    const Shape& shape = graph_[node_.inputs[i]].type.shape;
    return inputs_[i].is(Kind::pieces) && inputs_[i].can_be({axis, run_of(shape, axis)});
  }
  Value made(std::size_t output, std::size_t axis) const {
    if (!node_.outputs[output].valid()) return Value::same();
    return Value::pieces(axis, run_of(graph_[node_.outputs[output]].type.shape, axis));
  }

  Results rows_found(std::size_t axis) const {
    if (!in_pieces(0, axis) || !same(1)) return std::nullopt;
    return std::vector<Value>{Value::term()};
  }

  bool mask_has_rows(std::size_t i) const {
    const Shape& shape = graph_[node_.inputs[i]].type.shape;
    return shape.size() > 1 && shape[shape.size() - 2] > 1;
  }
  bool mask_fits(std::size_t i) const {
    if (i >= inputs_.size() || !node_.inputs[i].valid()) return true;
    if (!mask_has_rows(i)) return same(i);
    const std::size_t rows = graph_[node_.inputs[i]].type.shape.size() - 2;
    const bool constant = same(i) && (inputs_[i].constant_along >> rows & 1U) != 0;
    return constant || in_pieces(i, rows);
  }

  Results attention_gradient() const {
    for (const std::size_t i : {0U, 1U, 4U, 5U}) {
      if (!in_pieces(i, 2)) return std::nullopt;
    }
    if (!same(2) || !same(3) || !mask_fits(6)) return std::nullopt;
    std::vector<Value> results = {made(0, 2)};
    while (results.size() < node_.outputs.size() && results.size() < 3) results.push_back(Value::term());
    if (node_.outputs.size() > 3 && node_.outputs[3].valid()) {
      const Shape& shape = graph_[node_.outputs[3]].type.shape;
      results.push_back(mask_has_rows(6) ? made(3, shape.size() - 2) : Value::term());
    }
    results.resize(node_.outputs.size(), Value::same());
    return results;
  }

  const Graph& graph_;
  const Node& node_;
  const std::vector<Value>& inputs_;
};

}  // namespace

Results after_own_places(const Graph& graph, const Node& node, const std::vector<Value>& inputs) {
  return Numbered(graph, node, inputs).run();
}

}  // namespace monet::parallel::checked
