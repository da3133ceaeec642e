#include "parallel/check.h"

#include "parallel/check_values.h"

#include <fmt/format.h>

#include <set>

namespace monet::parallel {

namespace {

using namespace checked;

class AxisCheck {
 public:
  AxisCheck(const ParallelStep& step, std::size_t layout, std::vector<std::string>& wrong)
      : graph_(step.graph), layouts_(step.layouts), at_(layout), axis_(step.layouts[layout].axis), wrong_(wrong) {
    values_.resize(graph_.tensors().size());
  }

  void run() {
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (!graph_.tensors()[i].producer.valid()) values_[i] = source(TensorId(i));
    }
    for (const Node& node : graph_.nodes()) visit(node);
    for (TensorId id : graph_.outputs) {
      if (value(id).is(Value::Kind::term)) say(graph_[id].name, "is a term of a result, not the result");
    }
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) check_update(TensorId(i));
  }

 private:
  const Value& value(TensorId id) const { return values_[id.index()]; }

  void say(const std::string& place, std::string_view what) {
    wrong_.push_back(fmt::format("{} over {}: {}", place, axis_, what));
  }

  // Later axes of the mesh shorten runs that they cut.
  Value source(TensorId id) const {
    const Tensor& tensor = graph_[id];
    if (const Constant* constant = graph_.constant(id)) {
      std::size_t free = 0;
      if (constant->pattern == Constant::Pattern::uniform) free = tensor.type.shape.size();
      if (constant->pattern == Constant::Pattern::banded) free = tensor.type.shape.size() - 2;
      return Value::same((std::uint64_t{1} << free) - 1);
    }
    const auto place = place_in(at_, tensor.name);
    if (!place || place->is_whole()) return Value::same();
    if (place->is_partial()) return Value::term();
    std::int64_t length = tensor.type.shape[place->axis];
    for (std::size_t later = layouts_.size(); later-- > at_ + 1;) {
      const auto other = place_in(later, tensor.name);
      if (other && other->is_sharded() && other->axis == place->axis) length *= layouts_[later].chips;
    }
    std::int64_t run = length / place->blocks;
    for (std::size_t later = at_ + 1; later < layouts_.size(); ++later) {
      const auto other = place_in(later, tensor.name);
      if (!other || !other->is_sharded() || other->axis != place->axis) continue;
      length /= layouts_[later].chips;
      const std::int64_t piece = length / other->blocks;
      if (piece < run) run /= layouts_[later].chips;
    }
    return Value::pieces(place->axis, run);
  }

  std::optional<Place> place_in(std::size_t layout, const std::string& name) const {
    const auto found = layouts_[layout].places.find(name);
    if (found == layouts_[layout].places.end()) return std::nullopt;
    return found->second;
  }

  void visit(const Node& node) {
    std::vector<Value> inputs;
    for (TensorId id : node.inputs) inputs.push_back(id.valid() ? value(id) : Value::same(~std::uint64_t{0}));
    const bool own = is_over_axis(node);
    Results results;
    if (is_collective(node.op)) {
      results = own ? after_own_collective(graph_, node, inputs) : after_other_collective(graph_, node, inputs);
    } else if (family_of(node.op) == OpFamily::view) {
      results = after_view(graph_, node, inputs, own);
    } else if (own) {
      results = after_own_places(graph_, node, inputs);
    } else {
      results = after_nests(graph_, node, inputs);
    }
    if (!results) say(fmt::format("node '{}' ({})", node.name, name_of(node.op)), "its operands do not go together");
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      Value& now = values_[node.outputs[i].index()];
      now = results ? (*results)[i] : Value::same();
      if (now.is(Value::Kind::unknown)) now = Value::same();
    }
  }

  // Its own axis, or one of several that a sum is over: "dp+cp".
  bool is_over_axis(const Node& node) const {
    if (!node.attributes.has(Attr::mesh)) return false;
    const std::string names = "+" + node.attributes.text(Attr::mesh) + "+";
    return names.find("+" + axis_ + "+") != std::string::npos && (names.size() == axis_.size() + 2 || is_sum(node.op));
  }
  static bool is_sum(Op op) { return op == Op::AllReduce; }

  void check_update(TensorId id) {
    const Tensor& tensor = graph_[id];
    if (!tensor.updates.valid()) return;
    const Value& old = value(tensor.updates);
    const Value& now = value(id);
    const bool both_terms = old.is(Value::Kind::term) && now.can_be_term();
    const bool same =
        both_terms || (old.kind == now.kind && (!old.is(Value::Kind::pieces) || now.can_be(old.readings.front())));
    if (!same) say(tensor.name, "does not lie as what it replaces");
  }

  const Graph& graph_;
  const std::vector<AxisLayout>& layouts_;
  std::size_t at_;
  std::string axis_;
  std::vector<std::string>& wrong_;
  std::vector<Value> values_;
};

// Every chip is in one group of each axis, and every collective's group is that of an axis.
void check_groups(const ParallelStep& step, std::vector<std::string>& wrong) {
  constexpr std::int64_t most = 4096;  // chips that are looked at one by one
  for (std::size_t axis = 0; axis < step.mesh.axes.size() && step.mesh.chips() <= most; ++axis) {
    std::set<std::int64_t> seen;
    for (std::int64_t chip = 0; chip < step.mesh.chips(); ++chip) {
      if (step.mesh.coordinate(chip, axis) != 0) continue;
      for (std::int64_t member : step.mesh.group(chip, axis)) {
        if (!seen.insert(member).second)
          wrong.push_back(fmt::format("chip {} is in two groups of {}", member, step.mesh.axes[axis].name));
      }
    }
    if (!std::cmp_equal(seen.size(), step.mesh.chips()))
      wrong.push_back(fmt::format("groups of {} are not all chips", step.mesh.axes[axis].name));
  }
  for (const Node& node : step.graph.nodes()) {
    if (!node.attributes.has(Attr::mesh)) continue;
    const auto axes = step.mesh.find_all(node.attributes.text(Attr::mesh));
    if (!axes || step.mesh.chips_along(*axes) != node.attributes.integer(Attr::group))
      wrong.push_back(fmt::format("node '{}': its group is none of the mesh", node.name));
  }
}

}  // namespace

std::vector<std::string> check(const ParallelStep& step) {
  std::vector<std::string> wrong;
  check_groups(step, wrong);
  for (std::size_t layout = 0; layout < step.layouts.size(); ++layout) AxisCheck(step, layout, wrong).run();
  return wrong;
}

}  // namespace monet::parallel
