#include "parallel/expert_parallel.h"

#include "graph/nests.h"
#include "parallel/cut.h"
#include "parallel/tensor_parallel.h"
#include "parallel/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet::parallel {

namespace {

bool follows(const Access& access, std::size_t loop) {
  return std::ranges::any_of(access.axes, [&](const AxisIndex& index) {
    return std::ranges::any_of(index.terms, [&](const Term& term) { return term.loop == loop; });
  });
}

// The axis of its weight along which a product consists of products side by side.
std::optional<std::size_t> expert_axis(const Graph& graph, const Node& node, std::size_t weight) {
  if (node.op != Op::MatMul && node.op != Op::Einsum) return std::nullopt;
  const OperatorNests nests = nests_of(site_of(graph, node));
  const Nest& nest = nests.nests.front();
  const Access* of_weight = nullptr;
  const Access* of_other = nullptr;
  for (const Access& read : nest.reads) {
    if (read.kind == OperandKind::input) (read.operand == weight ? of_weight : of_other) = &read;
  }
  if (of_weight == nullptr || of_other == nullptr) return std::nullopt;
  for (std::size_t axis = 0; axis < of_weight->axes.size(); ++axis) {
    for (const Term& term : of_weight->axes[axis].terms) {
      const bool beside = follows(*of_other, term.loop) && follows(nest.writes.front(), term.loop);
      if (beside && nest.loops[term.loop].size > 1) return axis;
    }
  }
  return std::nullopt;
}

class Experts {
 public:
  Experts(const Graph& graph, std::int64_t chips, const Places& at_home)
      : graph_(graph), chips_(chips), at_home_(at_home), readers_(graph), weights_(graph) {}

  Expected<ExpertParallel> run() {
    for (const Node& node : graph_.nodes()) {
      const auto weight = weights_.weight_of(node);
      if (node.phase != Phase::forward || !weight) continue;
      const auto axis = expert_axis(graph_, node, *weight);
      if (!axis) continue;
      const std::int64_t experts = graph_[node.inputs[*weight]].type.shape[*axis];
      const TensorId used = node.inputs[*weight];
      const Place place = Place::sharded(*axis);
      const TensorId parameter = weights_.parameter_behind(used);
      const auto stored = fits(graph_[used].type.shape, place, chips_)
                              ? weights_.place_behind(parameter, used, place, chips_)
                              : std::nullopt;
      if (!stored) {
        return Error{.message = fmt::format("{} experts cannot be divided over the {} chips of ep", experts, chips_),
                     .place = fmt::format("node '{}'", node.name),
                     .advice = fmt::format("choose ep as a divisor of {}", experts)};
      }
      result_.stored.emplace(graph_[parameter].name, *stored);
      result_.products.push_back(node.name);
      products_.insert(node.outputs[0]);
    }
    if (products_.empty()) {
      return Error{.message = "the network has no experts: no product of a weight with a loop of experts",
                   .place = graph_.name,
                   .advice = "choose ep=1, or a mixture of experts whose experts are one product, as moe has them"};
    }
    for (TensorId id : products_) settle(id);
    add_states(graph_, chips_, result_.stored);
    return std::move(result_);
  }

 private:
  // Behind collectives over other axes; where only elementwise operators and other experts read it, it stays.
  void settle(TensorId id) {
    bool leaves = false;
    for (NodeId reader : readers_.of(id)) {
      const Node& node = graph_[reader];
      if (node.phase != Phase::forward) continue;
      if (is_collective(node.op)) return settle(node.outputs[0]);
      leaves = leaves || (family_of(node.op) != OpFamily::elementwise && !products_.contains(node.outputs[0]));
    }
    const auto home = at_home_.find(graph_[id].name);
    if (leaves && home != at_home_.end()) result_.settled.insert(*home);
  }

  const Graph& graph_;
  std::int64_t chips_;
  const Places& at_home_;
  Readers readers_;
  Weights weights_;
  std::set<TensorId> products_;  // results
  ExpertParallel result_;
};

}  // namespace

Expected<ExpertParallel> expert_parallel(const Graph& step, std::int64_t chips, const Places& at_home) {
  return Experts(step, chips, at_home).run();
}

}  // namespace monet::parallel
