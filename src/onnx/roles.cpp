#include "onnx/roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace monet::onnx {

namespace {

// How a tensor from outside is used, directly or through operators that only carry it on (views, casts, functions of it
// alone). A tensor may be used in several ways.
enum Use : std::uint16_t {
  weight = 1,       // of a convolution, product or norm
  statistic = 2,    // running mean or variance
  lookup = 4,       // a table that indices choose from
  added = 8,        // added to, multiplied with or joined to activations
  mask = 16,        // added to scores that go into a softmax, or a choice between values
  normalizes = 32,  // subtracted from or dividing the network's input
  left = 64,        // first operand of a product: a weight if it is an initializer, data if it is an input
  of_norm = 128,    // operand of a norm, as it is
  on_input = 256,   // added to or multiplied with the network's input: may normalize it, may be a learned position
  direct = 512,     // a weight or left operand as it is, not by way of others
  of_custom = 1024  // operand of an operator of which nothing is known
};

using Uses = std::vector<std::uint16_t>;  // by tensor

std::uint16_t position_use(const Node& node, std::size_t input) {
  switch (node.op) {
    case Op::Conv:
    case Op::ConvTranspose: return input >= 1 ? weight : 0;
    case Op::MatMul:
    case Op::Gemm:
    case Op::Einsum: return input >= 1 ? weight : left;
    case Op::BatchNormalization: return input == 0 ? 0 : input <= 2 ? weight : statistic;
    case Op::LayerNormalization:
    case Op::RMSNormalization:
    case Op::GroupNormalization:
    case Op::InstanceNormalization: return input >= 1 ? weight | of_norm : 0;
    case Op::PRelu: return input >= 1 ? weight : 0;
    case Op::Attention: return input >= 3 ? mask | added : weight;
    case Op::Where: return mask;
    case Op::Gather:
    case Op::GatherElements:
    case Op::GatherND: return input == 0 ? lookup : 0;
    case Op::Custom: return of_custom;
    default: return 0;
  }
}

// Hands on what it is given, so that the use of its output is the use of its input.
bool carries(Op op, std::size_t inputs_from_data) {
  return inputs_from_data == 0 && family_of(op) != OpFamily::contraction;
}

// A scale or zero point is found by calibration; what it scales is the weight.
bool calibrates(const Node& node, std::size_t input) {
  return input >= 1 && (node.op == Op::QuantizeLinear || node.op == Op::DequantizeLinear);
}

bool scatters(Op op) { return op == Op::ScatterND || op == Op::ScatterElements; }

bool joins(Op op) {
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div || op == Op::Sum || op == Op::Concat ||
         op == Op::Pow || op == Op::Max || op == Op::Min || scatters(op);
}

struct Flow {
  std::vector<bool> from_data;   // depends on an input of the network
  std::vector<bool> is_input;    // an input, a view of one, or one being normalized
  std::vector<bool> to_softmax;  // scores: reaches a softmax through element-wise operators and views
};

// Whether an input changes from step to step. In a training step weights are inputs too: there only the first input and
// integers (tokens, labels) are data.
bool is_data(const Graph& graph, TensorId id, bool is_training_step) {
  return !is_training_step || id == graph.inputs.front() || !is_floating(graph[id].type.format.element);
}

// A step of normalizing the input: a shift by or division by something known, or a single number combined with it.
bool normalizes_input(const Graph& graph, const Node& node, const Flow& flow) {
  const bool subtracts = node.op == Op::Sub || node.op == Op::Div;
  if (!subtracts && node.op != Op::Mul && node.op != Op::Add) return false;
  for (std::size_t i = 0; i < (subtracts ? 1U : 2U); ++i) {
    const TensorId other = node.inputs[1 - i];
    if (!flow.is_input[node.inputs[i].index()] || flow.from_data[other.index()]) continue;
    if (subtracts || element_count(graph[other].type.shape) == 1) return true;
  }
  return false;
}

Flow trace(const Graph& graph, bool is_training_step) {
  const std::size_t count = graph.tensors().size();
  Flow flow{std::vector<bool>(count), std::vector<bool>(count), std::vector<bool>(count)};
  for (TensorId id : graph.inputs) {
    flow.from_data[id.index()] = flow.is_input[id.index()] = is_data(graph, id, is_training_step);
  }
  for (const Node& node : graph.nodes()) {
    const bool data =
        std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && flow.from_data[id.index()]; });
    const bool view = family_of(node.op) == OpFamily::view || node.op == Op::Cast;
    const bool input =
        (view && !node.inputs.empty() && node.inputs[0].valid() && flow.is_input[node.inputs[0].index()]) ||
        normalizes_input(graph, node, flow);
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      flow.from_data[id.index()] = data;
      flow.is_input[id.index()] = input;
    }
  }
  for (std::size_t i = graph.nodes().size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    const bool passes = family_of(node.op) == OpFamily::view || family_of(node.op) == OpFamily::elementwise;
    const bool scores = node.op == Op::Softmax || node.op == Op::LogSoftmax ||
                        (passes && std::ranges::any_of(node.outputs, [&](TensorId id) {
                           return id.valid() && flow.to_softmax[id.index()];
                         }));
    if (!scores) continue;
    for (TensorId id : node.inputs) {
      if (id.valid()) flow.to_softmax[id.index()] = true;
    }
  }
  return flow;
}

Uses trace_uses(const Graph& graph, const Flow& flow) {
  Uses uses(graph.tensors().size(), 0);
  for (std::size_t n = graph.nodes().size(); n-- > 0;) {
    const Node& node = graph.nodes()[n];
    if (node.phase != Phase::forward) continue;
    std::uint16_t onward = 0;
    for (TensorId id : node.outputs) {
      if (id.valid()) onward |= uses[id.index()];
    }
    const auto data_inputs = static_cast<std::size_t>(
        std::ranges::count_if(node.inputs, [&](TensorId id) { return id.valid() && flow.from_data[id.index()]; }));
    const bool of_input =
        std::ranges::any_of(node.inputs, [&](TensorId id) { return id.valid() && flow.is_input[id.index()]; });
    const bool scores = !node.outputs.empty() && node.outputs[0].valid() && flow.to_softmax[node.outputs[0].index()];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i].valid()) continue;
      std::uint16_t use = position_use(node, i);
      if (use & (weight | left)) use |= direct;
      if (carries(node.op, data_inputs) && !calibrates(node, i)) use |= onward & ~(of_norm | direct);
      if (joins(node.op) && data_inputs > 0) {
        const bool shifts = of_input && node.op != Op::Concat && !scatters(node.op);
        const bool subtracts = node.op == Op::Sub || node.op == Op::Div;
        use |= shifts ? (subtracts ? normalizes : on_input) : scores && node.op == Op::Add ? mask | added : added;
      }
      uses[node.inputs[i].index()] |= use;
    }
  }
  return uses;
}

std::size_t wide_axes(const Shape& shape) {
  return static_cast<std::size_t>(std::ranges::count_if(shape, [](std::int64_t size) { return size > 1; }));
}

// The last part of a dotted name.
std::string_view leaf(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

// What PyTorch modules commonly call buffers that are not trained.
bool named_like_buffer(std::string_view name) {
  static constexpr std::array<std::string_view, 18> buffers = {"final_logits_bias",
                                                               "relative_coords_table",
                                                               "pe",
                                                               "mask",
                                                               "attn_mask",
                                                               "causal_mask",
                                                               "masked_bias",
                                                               "inv_freq",
                                                               "cos_cached",
                                                               "sin_cached",
                                                               "cos",
                                                               "sin",
                                                               "freqs",
                                                               "freqs_cis",
                                                               "position_ids",
                                                               "pos_table",
                                                               "positional_encoding",
                                                               "running_mean"};
  return std::ranges::find(buffers, leaf(name)) != buffers.end();
}

// Why a floating-point initializer is not trained; empty when it is.
std::string_view reason_not_trained(const Tensor& tensor, std::uint16_t uses, const Signature& signature,
                                    const RoleHints& hints) {
  const bool number = element_count(tensor.type.shape) <= 1 && !signature.is_member(tensor.name);
  if (number && (uses & direct) == 0) return "a single number";
  if ((uses & of_norm) != 0 && !signature.parameters.empty() && signature.made_up(tensor.name))
    return "computed when the file was exported, for a norm";
  if (uses & weight) return "";
  if (uses & statistic) return "running statistic";
  if (named_like_buffer(tensor.name)) return "named like a buffer";
  if (uses & left) return "";
  const std::size_t wide = wide_axes(tensor.type.shape);
  if (uses & lookup) return wide >= 2 ? "" : "a table of numbers";
  if ((uses & mask) != 0 && wide >= 2) {
    // A learned bias stands where a mask does: its values tell them apart.
    const bool learned = (uses & added) != 0 && hints.is_mask && !hints.is_mask(tensor.name).value_or(true);
    if (!learned) return "a mask";
  }
  if (uses & added)
    return wide >= 2 && signature.made_up(tensor.name) ? "a table added to activations, without a name of its own" : "";
  if ((uses & on_input) != 0 && signature.is_member(tensor.name)) return "";
  if (uses & (normalizes | on_input)) return "it normalizes the input";
  if (uses & mask) return "a choice between values";
  if (uses & of_custom) return "a custom operator reads it, which has no gradient";
  return "not in a trainable position";
}

void assign_produced_roles(Graph& graph) {
  const Readers readers(graph);
  for (const Node& node : graph.nodes()) {
    for (TensorId id : node.outputs) {
      if (!id.valid()) continue;
      graph[id].role = node.phase == Phase::forward    ? Role::activation
                       : node.phase == Phase::backward ? Role::gradient
                                                       : Role::optimizer_state;
    }
    // New running statistics replace the old ones.
    if (node.op != Op::BatchNormalization) continue;
    for (std::size_t i = 1; i < node.outputs.size() && i < 3; ++i) {
      const TensorId output = node.outputs[i];
      const TensorId target = node.inputs[i + 2];
      if (!output.valid() || graph[target].producer.valid() || graph[target].type != graph[output].type) continue;
      graph[output].role = Role::statistic;
      // Statistics that an exporter merged serve several norms: replacing them for one would take them from the others.
      if (readers.of(target).size() == 1) graph[output].updates = target;
    }
  }
}

std::string not_counted(const Tensor& tensor, std::string_view reason) {
  return fmt::format("'{}' ({}) is not counted as a parameter: {}", tensor.name, to_string(tensor.type.shape), reason);
}

// Values of a graph's own that stand where a weight does; a fill is a number of the formula.
bool weight_in_constant(const Graph& graph, TensorId id, std::uint16_t uses) {
  if (graph[id].role != Role::constant || (uses & weight) == 0 || wide_axes(graph[id].type.shape) == 0) return false;
  const Constant* value = graph.constant(id);
  return value == nullptr || (value->pattern == Constant::Pattern::dense && !value->is_uniformly(value->real_at(0)));
}

// An input that a convolution, product or norm reads as its weight. The first input is what the network is for, and the
// operands of attention are data.
void note_weight_inputs(const Graph& graph, std::vector<std::string>& notes) {
  std::vector<bool> open(graph.tensors().size(), false);
  for (std::size_t i = 1; i < graph.inputs.size(); ++i) open[graph.inputs[i].index()] = true;
  for (const Node& node : graph.nodes()) {
    if (node.op == Op::Attention) continue;
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid() || !open[id.index()] || (position_use(node, i) & weight) == 0) continue;
      open[id.index()] = false;
      if (is_floating(graph[id].type.format.element) && !graph[id].parameter)
        notes.push_back(not_counted(graph[id], "it is an input; keep weights in the file when exporting it"));
    }
  }
}

// Whether a forward file takes its weights as inputs, as the forward part of a training step does: some input after the
// first is a weight of a convolution or norm, or the matrix by which a product multiplies what a node has made.
bool has_weight_inputs(const Graph& graph) {
  std::vector<bool> open(graph.tensors().size(), false);
  for (std::size_t i = 1; i < graph.inputs.size(); ++i) {
    open[graph.inputs[i].index()] = is_floating(graph[graph.inputs[i]].type.format.element);
  }
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    const bool product = node.op == Op::MatMul || node.op == Op::Gemm;
    const bool windowed = node.op == Op::Conv || node.op == Op::ConvTranspose || family_of(node.op) == OpFamily::norm;
    if ((!product && !windowed) || node.inputs.size() < 2 || !node.inputs[1].valid()) return false;
    if (!open[node.inputs[1].index()]) return false;
    return windowed || (graph[node.inputs[0]].producer.valid() && graph[node.inputs[1]].type.shape.size() == 2);
  });
}

}  // namespace

void assign_roles(Graph& graph, const std::unordered_set<TensorId>& initializers, const Signature& signature,
                  bool is_training_step, std::vector<std::string>& notes, const RoleHints& hints) {
  assign_produced_roles(graph);
  const bool weights_are_inputs = is_training_step || has_weight_inputs(graph);
  const Uses uses = trace_uses(graph, trace(graph, weights_are_inputs));
  std::size_t weight_inputs = 0;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const TensorId id(i);
    Tensor& tensor = graph[id];
    const bool real = is_floating(tensor.type.format.element);
    if (tensor.producer.valid() || !real) continue;
    // In a training step weights are inputs, because the step gives them back.
    const bool weight_input = weights_are_inputs && tensor.role == Role::input && !is_data(graph, id, true) &&
                              (uses[i] & (weight | added)) != 0;
    if (!initializers.contains(id) && !weight_input) {
      if (weight_in_constant(graph, id, uses[i]))
        notes.push_back(
            not_counted(tensor, "it is a constant of the graph; if it is trained, export it as an initializer"));
      continue;
    }
    std::string_view reason = reason_not_trained(tensor, uses[i], signature, hints);
    if (signature.parameters.contains(tensor.name)) reason = "";
    if (signature.buffers.contains(tensor.name) && reason.empty()) reason = "the exporter says it is a buffer";
    if (reason.empty()) {
      tensor.role = Role::weight;
      tensor.parameter = true;
      if (weight_input) ++weight_inputs;
    } else if ((uses[i] & statistic) != 0) {
      tensor.role = Role::statistic;
    } else {
      tensor.role = Role::constant;
      const bool chosen = hints.choice != nullptr && hints.choice->names(tensor.name);
      if (wide_axes(tensor.type.shape) > 0 && !chosen) notes.push_back(not_counted(tensor, reason));
    }
  }
  if (is_training_step) return;
  note_weight_inputs(graph, notes);
  if (weight_inputs > 0)
    notes.push_back(fmt::format("{} inputs stand where weights do and are counted as parameters", weight_inputs));
}

}  // namespace monet::onnx
