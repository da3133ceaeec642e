#include "training/quantized_states.h"

#include "training/quantized_axes.h"
#include "training/quantized_copies.h"
#include "training/quantized_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace monet::training {

namespace {

class StateFormats {
 public:
  StateFormats(Insertions& graph, const Recipe& recipe) : graph_(graph), recipe_(recipe) {
    updated_by_.resize(view().tensors().size());
    for (std::size_t i = 0; i < updated_by_.size(); ++i) {
      const TensorId target = view().tensors()[i].updates;
      if (target.valid()) updated_by_[target.index()] = TensorId(i);
    }
  }

  std::vector<QuantizedClass> run() {
    find_weights();
    if (recipe_.weight_gradients) {
      set_all(Role::weight_gradient, "weight gradients", *recipe_.weight_gradients);
      show_weight_gradients();
    }
    if (recipe_.optimizer_state) set_all(Role::optimizer_state, "optimizer state", *recipe_.optimizer_state);
    if (recipe_.master) set_masters();
    if (recipe_.stored_values) set_stored();
    return std::move(classes_);
  }

 private:
  const Graph& view() const { return graph_.graph(); }

  // A tensor and what replaces it.
  void set(TensorId id, const Format& format) {
    graph_.edit()[id].type.format = format;
    if (updated_by_[id.index()].valid()) graph_.edit()[updated_by_[id.index()]].type.format = format;
    if (view()[id].updates.valid()) graph_.edit()[view()[id].updates].type.format = format;
  }

  static bool is_plain(const Tensor& tensor) {
    return !tensor.type.format.is_scaled() && is_floating(tensor.type.format.element);
  }

  void add_to(QuantizedClass& all, TensorId id) {
    const TensorType& type = view()[id].type;
    all.tensors += 1;
    all.bytes += bytes(type.shape, type.format);
    all.padding_bytes += padding_bytes(type);
  }

  // Floating-point tensors of a role.
  void set_all(Role role, const char* name, ElementType element) {
    QuantizedClass all{.name = name, .format = std::string(name_of(element))};
    for (std::size_t i = 0; i < view().tensors().size(); ++i) {
      const Tensor& tensor = view().tensors()[i];
      if (tensor.role != role || !is_plain(tensor)) continue;
      set(TensorId(i), real_format(element));
      if (!tensor.updates.valid()) add_to(all, TensorId(i));
    }
    classes_.push_back(std::move(all));
  }

  // What a gradient is a view of, where nobody else reads it.
  void show_weight_gradients() {
    const Readers readers(view());
    for (std::size_t i = view().nodes().size(); i-- > 0;) {
      const Node& node = view().nodes()[i];
      if (family_of(node.op) != OpFamily::view || node.inputs.size() != 1 || node.outputs.size() != 1) continue;
      const TensorId base = node.inputs[0];
      const bool ends_here = view()[node.outputs[0]].role == Role::weight_gradient || seen_.contains(node.outputs[0]);
      if (!ends_here || !is_storable(base) || !view()[base].producer.valid() || readers.of(base).size() != 1) continue;
      graph_.edit()[base].type.format = real_format(*recipe_.weight_gradients);
      seen_.insert(base);
    }
  }

  // What products read as weights, with the groups of the first of them.
  void find_weights() {
    if (!recipe_.master && !recipe_.stored_values) return;
    for (const Node& node : view().nodes()) {
      if (!is_product(node.op)) continue;
      const auto operands = operand_axes(view(), node);
      if (!operands) continue;
      for (const OperandAxes& axes : *operands) {
        const TensorId id = node.inputs[axes.input];
        const TensorId base = behind_views(view(), id);
        const auto note = [&](std::map<TensorId, Format>& where, const Format& number) {
          const Source source = source_of(view(), id, number, axes.contracted, axes.other);
          where.try_emplace(source.tensor, source.format);
        };
        if (recipe_.stored_values) note(read_stored_, recipe_.stored_values->number.format);
        if (!view()[base].producer.valid() && view()[base].role == Role::weight && recipe_.master)
          note(weights_, recipe_.master->number.format);
      }
    }
  }

  void set_masters() {
    QuantizedClass all{.name = "master weights", .format = recipe_.master->number.name};
    for (const auto& [id, format] : weights_) {
      if (view()[id].producer.valid() || !is_plain(view()[id])) continue;
      // What no optimizer keeps is stored as products read it.
      const bool as_read = recipe_.weights && recipe_.weights->number.name != recipe_.master->number.name;
      if (as_read && !updated_by_[id.index()].valid()) continue;
      set(id, format);
      add_to(all, id);
      if (updated_by_[id.index()].valid()) set_update(updated_by_[id.index()], all);
    }
    classes_.push_back(std::move(all));
  }

  // New weights in blocks are made of sums. Those with one scale, or with none, are rounded where they are added up, in
  // place: integer training keeps the scale of its weights (NITI, arXiv 2009.13108; Tin-Tin, arXiv 2504.09405).
  void set_update(TensorId now, QuantizedClass& all) {
    const Format& format = view()[now].type.format;
    if (format.is_scaled() && format.grouping == Grouping::block) {
      all.copies += 1;
      all.elements += element_count(view()[now].type.shape);
      convert(now, ".sum", Role::workspace, recipe_.master->rounding);
    } else if (recipe_.master->rounding == Rounding::stochastic) {
      graph_.edit()[view()[now].producer].attributes.set(Attr::mode, std::string("stochastic"));
    }
  }

  // Gradients are rounded as the recipe rounds gradients.
  Rounding stored_rounding(TensorId id) const {
    const bool as_gradient = view()[id].role == Role::gradient && recipe_.gradients;
    return (as_gradient ? *recipe_.gradients : *recipe_.stored_values).rounding;
  }

  // The node that makes `id` makes accumulators instead, of which a Quantize makes `id`.
  TensorId convert(TensorId id, const char* suffix, Role role, Rounding rounding) {
    const Tensor tensor = view()[id];
    const NodeId producer = tensor.producer;
    const TensorType type{tensor.type.shape, real_format(recipe_.accumulators)};
    const TensorId sum = graph_.add_tensor(tensor.name + suffix, type, role);
    std::ranges::replace(graph_.edit()[producer].outputs, id, sum);
    Attributes attributes = {{Attr::format, to_string(tensor.type.format)}};
    if (rounding == Rounding::stochastic) attributes.set(Attr::mode, std::string("stochastic"));
    graph_.add(producer.index() + 1, {.name = tensor.name + ".Quantize",
                                      .op = Op::Quantize,
                                      .phase = view()[producer].phase,
                                      .attributes = std::move(attributes),
                                      .inputs = {sum},
                                      .outputs = {id}});
    return sum;
  }

  // Tensors of which every reader is where they lead to, or passes on what leads there.
  template <class Arrives, class Passes>
  std::vector<bool> on_the_way(const Arrives& arrives, const Passes& passes) const {
    const Readers readers(view());
    std::vector<bool> result(view().tensors().size(), false);
    for (std::size_t i = view().nodes().size(); i-- > 0;) {
      for (TensorId id : view().nodes()[i].outputs) {
        if (!id.valid()) continue;
        const auto leads_there = [&](NodeId reader) {
          const Node& node = view()[reader];
          return arrives(node) || (passes(node) && result[node.outputs[0].index()]);
        };
        const auto by = readers.of(id);
        result[id.index()] = !by.empty() && std::ranges::all_of(by, leads_there);
      }
    }
    return result;
  }

  // Tensors that lead to nothing but gradients of weights, through sums and views.
  std::vector<bool> on_the_way_to_weight_gradients() const {
    const auto sums = [](const Node& node) {
      const OpFamily family = family_of(node.op);
      return family == OpFamily::view || family == OpFamily::reduction || node.op == Op::Cast || node.op == Op::Sum ||
             node.op == Op::Add;
    };
    const auto arrives = [&](const Node& node) {
      return sums(node) && view()[node.outputs[0]].role == Role::weight_gradient;
    };
    return on_the_way(arrives, sums);
  }

  // Tensors that lead to nothing but a softmax, through what masks and scales them: the huge numbers of a mask would
  // set the scale of all others.
  std::vector<bool> on_the_way_to_softmax() const {
    const auto arrives = [](const Node& node) { return node.op == Op::Softmax || node.op == Op::LogSoftmax; };
    const auto masks = [](const Node& node) {
      switch (node.op) {
        case Op::Add:
        case Op::Cast:
        case Op::Div:
        case Op::Expand:
        case Op::Mul:
        case Op::Neg:
        case Op::Sub:
        case Op::Sum:
        case Op::Where: return true;
        default: return family_of(node.op) == OpFamily::view;
      }
    };
    return on_the_way(arrives, masks);
  }

  bool is_storable(TensorId id) const {
    const Tensor& tensor = view()[id];
    const bool passes = tensor.role == Role::activation || tensor.role == Role::gradient;
    return passes && is_plain(tensor) && !tensor.type.shape.empty() && !tensor.updates.valid();
  }

  Format stored_format(TensorId id) const {
    const Format& number = recipe_.stored_values->number.format;
    if (const auto found = read_stored_.find(id); found != read_stored_.end()) return found->second;
    const std::size_t rank = view()[id].type.shape.size();
    return grouped_along(number, rank, rank - 1, rank > 1 ? rank - 2 : 0);
  }

  void set_stored() {
    const std::vector<bool> to_weights = on_the_way_to_weight_gradients();
    const std::vector<bool> to_softmax = on_the_way_to_softmax();
    QuantizedClass values{.name = "stored values", .format = recipe_.stored_values->number.name};
    QuantizedClass sums{.name = "accumulators", .format = std::string(name_of(recipe_.accumulators))};
    set_other_parameters();
    std::vector<bool> stored(view().tensors().size(), false);
    for (std::size_t i = 0; i < view().nodes().size(); ++i) {
      const Node node = view().nodes()[i];
      const TensorId out = node.outputs[0];
      switch (family_of(node.op)) {
        case OpFamily::view: show(node, stored); continue;
        case OpFamily::softmax:
        case OpFamily::generate:
        case OpFamily::optimizer:
        case OpFamily::collective:
        case OpFamily::custom: continue;
        default: break;
      }
      if (to_weights[out.index()] && is_storable(out)) {
        graph_.edit()[out].type.format = real_format(recipe_.weight_gradients.value_or(recipe_.accumulators));
        continue;
      }
      const bool from_product = is_product(node.op);
      if (!is_storable(out) || (to_softmax[out.index()] && !from_product)) continue;
      stored[out.index()] = true;
      graph_.edit()[out].type.format = stored_format(out);
      add_to(values, out);
      if (!from_product || recipe_.stored_values->number.format.grouping == Grouping::block) continue;
      add_to(sums, convert(out, ".sum", Role::workspace, stored_rounding(out)));
      values.copies += 1;
      values.elements += element_count(view()[out].type.shape);
    }
    classes_.push_back(std::move(values));
    if (sums.tensors > 0) classes_.push_back(std::move(sums));
  }

  // Views of stored values.
  void show(const Node& node, std::vector<bool>& stored) {
    const bool all = !node.inputs.empty() &&
                     std::ranges::all_of(node.inputs, [&](TensorId id) { return id.valid() && stored[id.index()]; });
    if (!all) return;
    for (TensorId id : node.outputs) {
      if (!id.valid() || !is_plain(view()[id]) || view()[id].updates.valid()) continue;
      stored[id.index()] = true;
      graph_.edit()[id].type.format = seen_through(view(), node, view()[node.inputs[0]].type.format);
    }
  }

  // Where sums are integers, parameters that no product reads (biases, scales of norms) are too.
  void set_other_parameters() {
    if (is_floating(recipe_.accumulators)) return;
    for (std::size_t i = 0; i < view().tensors().size(); ++i) {
      const Tensor& tensor = view().tensors()[i];
      if (tensor.parameter && !tensor.producer.valid() && is_plain(tensor) && !weights_.contains(TensorId(i))) {
        set(TensorId(i), real_format(recipe_.accumulators));
      }
    }
  }

  Insertions& graph_;
  const Recipe& recipe_;
  std::vector<TensorId> updated_by_;        // by tensor
  std::map<TensorId, Format> weights_;      // in the format of master weights
  std::map<TensorId, Format> read_stored_;  // by tensor that products read, in the format of stored values
  std::set<TensorId> seen_;                 // of which gradients of weights are views
  std::vector<QuantizedClass> classes_;
};

}  // namespace

Format real_format(ElementType element) {
  Format format{.element = element};
  if (is_floating(element)) return format;
  format.grouping = Grouping::tensor;
  format.scale = ElementType::float8e8m0;
  format.scale_bits = 8;
  return format;
}

std::vector<QuantizedClass> set_state_formats(Insertions& graph, const Recipe& recipe) {
  return StateFormats(graph, recipe).run();
}

}  // namespace monet::training
