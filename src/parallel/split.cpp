#include "parallel/split.h"

#include "base/try.h"
#include "parallel/convert.h"
#include "parallel/cut.h"
#include "parallel/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet::parallel {

namespace {

bool may_come_in_parts(const Node& node) {
  const OpFamily family = family_of(node.op);
  return family == OpFamily::softmax || family == OpFamily::norm || family == OpFamily::reduction ||
         node.op == Op::Gemm || family == OpFamily::convolution || family == OpFamily::optimizer;
}

// One way through the graph. Operators that must come in parts first are collected.
class Pass {
 public:
  Pass(const Graph& before, const AxisPlan& plan)
      : before_(before), plan_(plan), writer_(before, plan), gathered_(before.tensors().size(), false) {
    gathered_names_.insert(plan.gathered.begin(), plan.gathered.end());
  }

  Status run() {
    for (std::size_t i = 0; i < before_.tensors().size(); ++i) {
      const TensorId id(i);
      if (before_[id].producer.valid()) continue;
      if (is_open_sum(id)) {
        has_open_sums_ = true;
        continue;
      }
      MONET_RETURN_IF_ERROR(add_source(id));
    }
    for (const Node& node : before_.nodes()) {
      decide_open_sums(node);
      MONET_TRY(const Cut cut, choose(node));
      MONET_RETURN_IF_ERROR(writer_.add_node(node, cut));
    }
    return Done{};
  }

  const std::set<std::string>& in_parts() const { return in_parts_; }
  AxisResult finish() { return writer_.finish(); }

 private:
  // Bytes that should not be sent weigh so much more than others: more than anything costs, less than what cannot be.
  static constexpr double forbidden = 1e30;
  static constexpr double impossible = 1e200;
  // A product that every chip computes whole although its operands are in pieces: more than any bytes cost.
  static constexpr double repeated = 1e18;

  // The cheapest way so far.
  struct Choice {
    Cut cut;
    double cost = 0;
    bool is_whole = true;  // nothing of it is split

    // What is split is done once, what is whole by every chip: it wins if both cost the same.
    void consider(Cut candidate, double price) {
      if (price > cost || (price == cost && !is_whole)) return;
      *this = {std::move(candidate), price, false};
    }
  };

  Status add_source(TensorId id) {
    const Tensor& tensor = before_[id];
    const auto found = plan_.stored.find(tensor.name);
    const Place place = found == plan_.stored.end() ? Place{} : found->second;
    if (!fits(tensor.type.shape, place, plan_.chips)) {
      return Error{
          .message = fmt::format("a tensor of {} cannot be {} over the {} chips of {}",
                                 monet::to_string(tensor.type.shape), to_string(place), plan_.chips, plan_.axis),
          .place = tensor.name,
          .advice = fmt::format("choose sizes that {} divides", plan_.chips)};
    }
    writer_.add_source(id, place);
    gathered_[id.index()] = gathered_names_.contains(tensor.name);
    return Done{};
  }

  // Gradients that add up over micro-batches are kept as they arrive.
  bool is_open_sum(TensorId id) const {
    const Tensor& tensor = before_[id];
    return tensor.role == Role::weight_gradient && !tensor.producer.valid() && !plan_.stored.contains(tensor.name);
  }

  void decide_open_sums(const Node& node) {
    for (TensorId id : node.inputs) {
      if (!id.valid() || !is_open_sum(id) || !decided_.insert(id).second) continue;
      Place place;
      for (TensorId other : node.inputs) {
        if (other.valid() && !is_open_sum(other)) place = writer_.place(other);
      }
      writer_.add_source(id, place);
    }
  }

  // A weight or a state, or a cast or a view of one.
  bool is_parameter(TensorId id) const {
    while (before_[id].producer.valid() && passes_pieces(before_[before_[id].producer]))
      id = before_[before_[id].producer].inputs[0];
    const Role role = before_[id].role;
    if (before_[id].producer.valid()) return false;
    return role == Role::weight || role == Role::master_weight || role == Role::optimizer_state;
  }

  // What is gathered is whole for its readers; only casts and views, and the optimizer, take the pieces.
  bool is_gathered_for(TensorId id, const Node& node) const {
    return gathered_[id.index()] && node.phase != Phase::optimizer && !passes_pieces(node);
  }
  static bool passes_pieces(const Node& node) {
    return node.op == Op::Cast || node.op == Op::Reshape || node.op == Op::Transpose || node.op == Op::Identity;
  }

  // Places of elements in their tensor, which every chip counts in its own pieces.
  bool numbers_places(TensorId id) const {
    constexpr int longest = 8;
    NodeId producer = before_[id].producer;
    for (int i = 0; i < longest && producer.valid(); ++i) {
      const Node& node = before_[producer];
      if (node.op != Op::Cast && family_of(node.op) != OpFamily::view) break;
      id = node.inputs[0];
      producer = before_[id].producer;
    }
    return producer.valid() && before_[producer].op == Op::MaxPool && before_[producer].outputs[0] != id;
  }

  bool may_convert(TensorId id, const Place& to) const {
    if (writer_.place(id).is_partial() || element_count(before_[id].type.shape) <= plan_.chips) return true;
    if (plan_.gathers_parameters) return true;
    const bool exchanged = to.is_sharded() && to.axis != writer_.place(id).axis;
    if (plan_.exchanges_activations && exchanged && !is_parameter(id)) return true;
    return plan_.gathers_activations && !is_parameter(id) && to.is_whole();
  }

  double cost(const Node& node, const Cut& cut) const {
    double total = 0;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid()) continue;
      const Place& from = writer_.place(id);
      const Place& to = cut.inputs[i];
      if (writer_.is_made(id, to, node.phase)) continue;
      if (to.is_partial() || numbers_places(id)) return impossible;
      if (is_gathered_for(id, node) && to.is_whole()) continue;
      const double sent = bytes_sent(before_[id], from, to, plan_.chips);
      total += !from.is_whole() && !may_convert(id, to) ? std::max(sent, 1.0) * forbidden : sent;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (!id.valid()) continue;
      const auto there = writer_.final_place(id);
      if (!there && !cut.outputs[i].is_partial()) continue;
      if (there && there->is_partial() && !cut.outputs[i].is_partial()) return impossible;
      total += bytes_sent(before_[id], cut.outputs[i], there.value_or(Place{}), plan_.chips);
    }
    return total;
  }

  // Gradients on the way to a sum over micro-batches stay terms.
  bool stays_partial(const Node& node) const {
    return has_open_sums_ && node.phase == Phase::backward && before_[node.outputs[0]].role == Role::weight_gradient;
  }

  // Gradients go to where the optimizer's states are for those alone that update them or add them up.
  bool is_read_early(TensorId id, const Node& node) const {
    const TensorId result = node.outputs[0];
    const bool adds_up = result.valid() && before_[result].updates.valid();
    return before_[id].role == Role::weight_gradient && node.phase == Phase::backward && !adds_up;
  }

  Expected<Cut> choose(const Node& node) {
    const Cut whole = whole_cut(node);
    Choice best{.cut = whole, .cost = cost(node, whole)};
    std::vector<Place> now;
    std::vector<Seed> seeds;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      now.push_back(id.valid() && !is_gathered_for(id, node) ? writer_.place(id) : Place{});
      if (!id.valid()) continue;
      if (now[i].is_sharded()) seeds.push_back({.operand = i, .place = now[i]});
      if (is_read_early(id, node)) continue;
      const auto preferred = plan_.preferred.find(before_[id].name);
      if (!now[i].is_partial() || preferred == plan_.preferred.end() || !preferred->second.is_sharded()) continue;
      seeds.push_back({.operand = i, .place = preferred->second});
    }
    if (node.op == Op::GatherGrad) {
      const auto rows = plan_.rows.find(before_[node.outputs[0]].name);
      if (rows != plan_.rows.end()) seeds.push_back({.output = true, .operand = 0, .place = rows->second});
    }
    const OpFamily family = family_of(node.op);
    const bool product = family == OpFamily::contraction || family == OpFamily::convolution;
    if (product && !seeds.empty()) best.cost += repeated;
    Error why;
    const Seed* failed = nullptr;
    for (const Seed& seed : seeds) {
      auto candidate = cut(before_, node, plan_.chips, seed);
      if (candidate) {
        const double price = cost(node, *candidate);
        best.consider(*std::move(candidate), price);
      } else if (failed == nullptr) {
        failed = &seed;
        why = std::move(candidate).error();
      }
    }
    if (auto linear = through_linear(before_, node, now)) {
      const double price = stays_partial(node) ? -1 : cost(node, *linear);
      if (price <= best.cost) best = {*std::move(linear), price, false};
    }
    MONET_RETURN_IF_ERROR(consider_parts(node, best, failed, why));
    const bool in_pieces = passes_pieces(node) && gathered_[node.inputs[0].index()] && best.cut.outputs[0].is_sharded();
    if (in_pieces) gathered_[node.outputs[0].index()] = true;
    return best.cut;
  }

  // An operator that cannot be cut as it is comes in parts, rather than that something is gathered for it.
  Status consider_parts(const Node& node, const Choice& best, const Seed* failed, const Error& why) {
    if (failed == nullptr || !gathers(node, best.cut)) return Done{};
    if (has_parts(before_, node) && (may_come_in_parts(node) || best.cost >= forbidden)) {
      in_parts_.insert(node.name);
      if (plan_.gathers_activations) return Done{};
      for (const Node& other : before_.nodes()) {
        if (other.op != node.op || !has_parts(before_, other) || other.inputs.size() <= failed->operand) continue;
        if (!cut(before_, other, plan_.chips, *failed)) in_parts_.insert(other.name);
      }
      return Done{};
    }
    if (best.cost < forbidden) return Done{};
    return Error{.message = fmt::format("{} cannot be split over the {} chips of {}: {}", name_of(node.op), plan_.chips,
                                        plan_.axis, why.message),
                 .place = fmt::format("node '{}'", node.name),
                 .advice = fmt::format("choose {}=1, or sizes and an operator whose loop can be cut", plan_.axis)};
  }

  bool gathers(const Node& node, const Cut& cut) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid() || is_gathered_for(id, node)) continue;
      if (writer_.place(id).is_sharded() && writer_.place(id) != cut.inputs[i]) return true;
    }
    return false;
  }

  const Graph& before_;
  const AxisPlan& plan_;
  StepWriter writer_;
  std::vector<bool> gathered_;  // by tensor
  std::unordered_set<std::string> gathered_names_;
  std::unordered_set<TensorId> decided_;
  std::set<std::string> in_parts_;
  bool has_open_sums_ = false;
};

}  // namespace

Expected<AxisResult> split(Graph step, const AxisPlan& plan) {
  // Parts may have parts: a norm a mean, a mean a sum.
  constexpr int most_rounds = 64;
  for (int round = 0; round < most_rounds; ++round) {
    Pass pass(step, plan);
    MONET_RETURN_IF_ERROR(pass.run());
    if (pass.in_parts().empty()) return pass.finish();
    const std::set<std::string> chosen = pass.in_parts();
    MONET_TRY(step, in_parts(std::move(step), [&](const Node& node) { return chosen.contains(node.name); }));
  }
  return Error{.kind = ErrorKind::defect,
               .message = "operators still have parts to come in after many rounds",
               .place = step.name,
               .advice = {}};
}

}  // namespace monet::parallel
