#include "kernels/lower/lowering.h"

#include "base/require.h"

#include <algorithm>
#include <utility>

namespace monet::lowering {

namespace {

// The units that multiply round what they read: nothing is written.
bool rounds_to_tf32(const Graph& graph, const Node& node) {
  if (node.op != Op::Quantize && node.op != Op::Cast) return false;
  const Format& from = graph[node.inputs[0]].type.format;
  const Format& to = graph[node.outputs[0]].type.format;
  return to.element == ElementType::tfloat32 && from.element == ElementType::float32 && !from.is_scaled();
}

}  // namespace

Lowering::Lowering(const Graph& graph, const LoweringOptions& options)
    : graph_(graph),
      options_(options),
      readers_(graph),
      companions_(graph),
      operands_(graph.tensors().size()),
      done_(graph.nodes().size(), false),
      carried_(graph.nodes().size(), false) {
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    // Of a recipe that rounds what products read.
    if (graph.tensors()[i].type.format.element == ElementType::tfloat32) options_.tf32_products = true;
    if (graph.tensors()[i].producer.valid()) continue;
    allocate(TensorId(i));
    step_.buffers.back().permanent = true;
    // Masks and positions are made where they are read.
    if (graph.tensors()[i].role == Role::constant) step_.buffers.back().bytes = 0;
  }
}

LoweredStep Lowering::run() {
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i) lower_node(NodeId(i));
  for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
    if (!carried_[i]) silent(NodeId(i));
  }
  const auto keep = [&](TensorId id) {
    const AllocationId buffer = operands_[id.index()].buffer;
    if (buffer.valid()) step_.buffers[buffer.index()].until_end = true;
  };
  for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
    if (graph_.tensors()[i].role == Role::weight_gradient) keep(TensorId(i));
  }
  for (TensorId output : graph_.outputs) {
    const AllocationId buffer = operands_[output.index()].buffer;
    if (buffer.valid()) step_.buffers[buffer.index()].result = true;
  }
  return std::move(step_);
}

const Operand& Lowering::operand(TensorId id) {
  const NodeId producer = graph_[id].producer;
  if (producer.valid() && !operands_[id.index()].buffer.valid()) {
    lower_node(producer);
    // What runs with another node that comes later is there when that has run.
    const NodeId leader = companions_.of(producer).leader;
    if (!operands_[id.index()].buffer.valid() && leader.valid()) lower_node(leader);
  }
  MONET_REQUIRE(operands_[id.index()].buffer.valid());
  return operands_[id.index()];
}

void Lowering::set(TensorId id, Operand operand) { operands_[id.index()] = std::move(operand); }

AllocationId Lowering::new_buffer(std::int64_t bytes, TensorId tensor) {
  step_.buffers.push_back({.bytes = bytes, .tensor = tensor});
  return AllocationId(step_.buffers.size() - 1);
}

const Operand& Lowering::allocate(TensorId id) { return allocate(id, contiguous_strides(shape(id))); }

const Operand& Lowering::allocate(TensorId id, Strides strides) {
  const int bits = bits_of(graph_[id].type.format.element);
  set(id, {.buffer = new_buffer(bytes(graph_[id]), id),
           .shape = shape(id),
           .strides = std::move(strides),
           .element_bytes = std::max(1, bits / 8)});
  return operands_[id.index()];
}

void Lowering::set_nothing(TensorId id) {
  allocate(id);
  step_.buffers.back().permanent = true;
  step_.buffers.back().bytes = 0;
}

Operand Lowering::temporary(const Shape& shape, std::int64_t element_bytes) {
  return {.buffer = new_buffer(element_count(shape) * element_bytes, {}),
          .shape = shape,
          .strides = contiguous_strides(shape),
          .element_bytes = element_bytes};
}

Operand Lowering::contiguous(const Operand& from) { return copied(from, static_cast<int>(graph_[current_].phase)); }

Operand Lowering::copied(const Operand& from, int phase) {
  if (is_contiguous(from)) return from;
  const auto key = std::tuple(phase, from.buffer, from.offset, from.shape, from.strides);
  if (const auto found = copies_.find(key); found != copies_.end()) return found->second;
  Operand copy = temporary(from.shape, from.element_bytes);
  emit_beside(current_, copy_kernel(from, copy), {from}, {copy});
  copies_.emplace(key, copy);
  return copy;
}

Operand Lowering::as_shape(const Operand& from, const Shape& shape) {
  if (auto view = reshaped(from, shape)) return *view;
  constexpr int any_phase = -1;
  return *reshaped(copied(from, any_phase), shape);
}

Operand Lowering::as_image(const Operand& from, bool channels_last) {
  if (!channels_last) return contiguous(from);
  if (is_channels_last(from)) return from;
  const std::vector<std::int64_t> last = {0, 2, 3, 1}, back = {0, 3, 1, 2};
  return permuted(contiguous(permuted(from, last)), back);
}

std::optional<Operand> Lowering::take_pooled(const Shape& shape) {
  for (std::size_t i = pooled_.size(); i-- > 0;) {
    if (pooled_[i].shape != shape) continue;
    const Operand found = pooled_[i];
    pooled_.erase(pooled_.begin() + static_cast<std::ptrdiff_t>(i));
    return found;
  }
  return std::nullopt;
}

Launch& Lowering::launch(NodeId node, Kernel kernel, std::span<const Operand> reads, std::span<const Operand> writes) {
  const bool multiplies = kernel.kind == KernelKind::product || kernel.kind == KernelKind::convolution;
  if (!multiplies) kernel.precision = precision(reads.empty() ? writes[0] : reads[0]);
  kernel.bytes = 0;
  Launch made;
  made.cause = node;
  made.phase = graph_[node].phase;
  for (const Operand& each : reads) made.reads.push_back({each.buffer, moved_bytes(each)});
  for (const Operand& each : writes) made.writes.push_back({each.buffer, moved_bytes(each)});
  for (const auto* list : {&made.reads, &made.writes}) {
    for (const Touch& touched : *list) kernel.bytes += static_cast<double>(touched.bytes);
  }
  made.kernel = std::move(kernel);
  step_.launches.push_back(std::move(made));
  return step_.launches.back();
}

Launch& Lowering::emit(NodeId node, Kernel kernel, const std::vector<Operand>& reads,
                       const std::vector<Operand>& writes) {
  Launch& made = launch(node, std::move(kernel), reads, writes);
  const auto carry = [&](NodeId each) {
    if (carried_[each.index()]) return;
    carried_[each.index()] = true;
    made.nodes.push_back(each);
  };
  for (NodeId each : companions_.with(node)) carry(each);
  carry(node);
  return made;
}

Launch& Lowering::emit(NodeId node, Kernel kernel, std::initializer_list<Operand> reads,
                       std::initializer_list<Operand> writes) {
  return emit(node, std::move(kernel), std::vector(reads), std::vector(writes));
}

Launch& Lowering::emit_beside(NodeId node, Kernel kernel, std::initializer_list<Operand> reads,
                              std::initializer_list<Operand> writes) {
  return launch(node, std::move(kernel), {reads.begin(), reads.size()}, {writes.begin(), writes.size()});
}

Launch& Lowering::emit_beside(NodeId node, Kernel kernel, const std::vector<Operand>& reads,
                              const std::vector<Operand>& writes) {
  return launch(node, std::move(kernel), reads, writes);
}

void Lowering::silent(NodeId node) {
  if (carried_[node.index()]) return;
  carried_[node.index()] = true;
  step_.silent.push_back(node);
}

KernelPrecision Lowering::precision(const Operand& operand) const {
  return operand.element_bytes <= 2 ? KernelPrecision::bf16 : KernelPrecision::fp32;
}

KernelPrecision Lowering::product_precision(const Operand& operand) const {
  if (operand.element_bytes <= 2) return KernelPrecision::bf16;
  return options_.tf32_products ? KernelPrecision::tf32 : KernelPrecision::fp32;
}

// What runs with another node gives its operands on, or waits for that one.
void Lowering::lower_companion(NodeId id) {
  const Node& node = graph_[id];
  switch (companions_.of(id).kind) {
    case Companion::known:
      for (TensorId output : node.outputs) {
        if (output.valid()) set_nothing(output);
      }
      silent(id);
      break;
    case Companion::promotion:
    case Companion::inverse_root:
    case Companion::mean_gradient:
    case Companion::root_gradient: set(node.outputs[0], operand(node.inputs[0])); break;
    default: break;  // its outputs are set with its leader's
  }
}

void Lowering::lower_node(NodeId id) {
  if (done_[id.index()]) return;
  done_[id.index()] = true;
  const NodeId before = std::exchange(current_, id);
  if (companions_.of(id).kind != Companion::none) {
    lower_companion(id);
  } else if (rounds_to_tf32(graph_, graph_[id])) {
    set(graph_[id].outputs[0], operand(graph_[id].inputs[0]));
    silent(id);
  } else {
    switch (family_of(graph_[id].op)) {
      case OpFamily::elementwise: lower_elementwise(*this, id); break;
      case OpFamily::contraction: lower_contraction(*this, id); break;
      case OpFamily::convolution: lower_convolution(*this, id); break;
      case OpFamily::pool: lower_pool(*this, id); break;
      case OpFamily::reduction: lower_reduction(*this, id); break;
      case OpFamily::softmax: lower_softmax(*this, id); break;
      case OpFamily::norm: options_.in_parts ? lower_norm_in_parts(*this, id) : lower_norm(*this, id); break;
      case OpFamily::view: lower_view(*this, id); break;
      case OpFamily::movement:
      case OpFamily::custom: lower_movement(*this, id); break;
      case OpFamily::collective: lower_collective(*this, id); break;
      case OpFamily::generate: lower_generate(*this, id); break;
      case OpFamily::optimizer: lower_optimizer(*this, id); break;
    }
  }
  add_gradients_that_wait(id);
  current_ = before;
}

// A tensor that is read more than once gets one gradient from each reader: autograd adds each as soon as it is there,
// into the first one where nobody else needs that any more.
void Lowering::add_gradients_that_wait(NodeId id) {
  if (companions_.of(id).kind == Companion::split_part) return;
  for (TensorId output : graph_[id].outputs) {
    if (!output.valid()) continue;
    for (NodeId reader : readers_.of(output)) {
      const Node& sum = graph_[reader];
      if (sum.op != Op::Sum || sum.phase != Phase::backward || done_[reader.index()]) continue;
      const TensorId total = sum.outputs[0];
      if (!operands_[total.index()].buffer.valid()) {
        set(total, operand(output));
        continue;
      }
      const Operand first = operands_[total.index()];
      // Of another such sum that is not complete there is a buffer too.
      const auto arrived = std::ranges::count_if(sum.inputs, [&](TensorId each) {
        const NodeId producer = graph_[each].producer;
        return operands_[each.index()].buffer.valid() && (!producer.valid() || done_[producer.index()]);
      });
      const bool last = arrived == static_cast<std::ptrdiff_t>(sum.inputs.size());
      const NodeId before = std::exchange(current_, reader);
      const bool in_place = !options_.in_parts && is_dense(first) && graph_[total].role != Role::weight_gradient;
      Operand result = first;
      if (!in_place)
        result = allocate(total, dense_strides_as(shape(total), is_broadcast(first) ? contiguous_strides(shape(total))
                                                                                    : first.strides));
      const std::vector<Operand> operands = {first, operand(output)};
      Kernel kernel = elementwise_kernel(in_place ? KernelOp::add_inplace : KernelOp::add, operands, result);
      if (last) {
        done_[reader.index()] = true;
        emit(reader, std::move(kernel), {first, operand(output)}, {result});
        add_gradients_that_wait(reader);
      } else {
        emit_beside(reader, std::move(kernel), {first, operand(output)}, {result});
      }
      current_ = before;
    }
  }
}

}  // namespace monet::lowering

namespace monet {

LoweredStep lower(const Graph& graph, const LoweringOptions& options) {
  return lowering::Lowering(graph, options).run();
}

}  // namespace monet
