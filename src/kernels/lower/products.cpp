#include "kernels/lower/lowering.h"

#include <algorithm>
#include <utility>

namespace monet::lowering {

namespace {

// A matrix, or a batch of them, as the library takes it: one of the last two axes has stride 1, the other one spans it.
Operand as_matrix(Lowering& lowering, const Operand& operand) {
  const std::size_t rank = operand.shape.size();
  const std::int64_t rows = operand.shape[rank - 2], columns = operand.shape[rank - 1];
  const std::int64_t down = operand.strides[rank - 2], along = operand.strides[rank - 1];
  const bool by_rows = (along == 1 || columns == 1) && (down >= std::max<std::int64_t>(1, columns) || rows == 1);
  const bool by_columns = (down == 1 || rows == 1) && (along >= std::max<std::int64_t>(1, rows) || columns == 1);
  return by_rows || by_columns ? operand : lowering.contiguous(operand);
}

// Leading axes and rows as one axis.
Operand folded(Lowering& lowering, const Operand& operand) {
  const std::int64_t columns = operand.shape.back();
  return lowering.as_shape(operand, {columns == 0 ? 0 : operand.elements() / columns, columns});
}

// All leading axes as one.
Operand batched(Lowering& lowering, const Operand& operand, const Shape& batch) {
  const Shape& own = operand.shape;
  Shape whole = batch;
  whole.insert(whole.end(), own.end() - 2, own.end());
  const Shape merged = {element_count(batch), own[own.size() - 2], own.back()};
  return lowering.as_shape(whole == own ? operand : expanded(operand, whole), merged);
}

bool along_columns(const Operand& operand) { return operand.strides.back() == 1; }

// How the operands of [m, k] · [k, n] lie.
void set_part(Kernel& kernel, const Operand& a, const Operand& b) {
  const bool a_along = along_columns(a), b_along = !along_columns(b);
  if (a_along && b_along) {
    kernel.part = KernelPart::forward;
  } else if (!a_along && !b_along) {
    kernel.part = KernelPart::weight_gradient;
  } else {
    kernel.part = KernelPart::input_gradient;
    if (b_along) std::swap(kernel.m, kernel.n);  // the same product transposed
  }
}

bool is_aligned(const Operand& operand) {
  for (std::size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.shape[i] > 1 && operand.strides[i] != 1 && operand.strides[i] * operand.element_bytes % 16 != 0) {
      return false;
    }
  }
  return true;
}

Kernel product_kernel(const Lowering& lowering, const Operand& a, const Operand& b, const Operand& result) {
  Kernel kernel{.kind = KernelKind::product, .precision = lowering.product_precision(a)};
  const std::size_t rank = a.shape.size();
  kernel.batch = rank == 3 ? a.shape[0] : 1;
  kernel.m = a.shape[rank - 2];
  kernel.k = a.shape[rank - 1];
  kernel.n = b.shape[rank - 1];
  kernel.aligned = is_aligned(a) && is_aligned(b) && is_aligned(result);
  set_part(kernel, a, b);
  kernel.flops = 2.0 * static_cast<double>(kernel.batch) * static_cast<double>(kernel.m) *
                 static_cast<double>(kernel.n) * static_cast<double>(kernel.k);
  return kernel;
}

// The gradient of a weight that is used transposed: the library writes it as the weight lies.
bool is_written_transposed(const Lowering& lowering, TensorId product) {
  for (;;) {
    const auto by = lowering.readers(product);
    if (by.size() != 1) return false;
    const Node& reader = lowering.graph()[by[0]];
    if (reader.op == Op::Transpose) {
      const auto& order = reader.attributes.integers(Attr::perm);
      return order == std::vector<std::int64_t>{1, 0};
    }
    if (reader.op != Op::Cast) return false;
    product = reader.outputs[0];
  }
}

void lower_matmul(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  Operand a = lowering.operand(node.inputs[0]), b = lowering.operand(node.inputs[1]);
  const bool trans_a = node.attributes.integer(Attr::trans_a) != 0,
             trans_b = node.attributes.integer(Attr::trans_b) != 0;
  const TensorId output = node.outputs[0];
  const Shape& shape = lowering.shape(output);
  // Vectors are matrices of one row or column.
  if (a.shape.size() == 1) a = *reshaped(a, {1, a.shape[0]});
  if (b.shape.size() == 1) b = *reshaped(b, {b.shape[0], 1});
  // A linear layer adds its bias in the product where its input is contiguous, and else afterwards.
  const bool bias_within = a.shape.size() <= 2 || is_contiguous(a);
  const bool one_matrix = element_count(std::span(b.shape).first(b.shape.size() - 2)) == 1 && !trans_a;
  if (one_matrix) {
    b = lowering.as_shape(b, Shape(b.shape.end() - 2, b.shape.end()));
    a = folded(lowering, a);
    if (trans_b) b = swapped(b);
  } else {
    const auto leading = [](const Operand& each) { return std::span(each.shape).first(each.shape.size() - 2); };
    const Shape batch = *broadcast(leading(a), leading(b));
    a = batched(lowering, a, batch);
    b = batched(lowering, b, batch);
    if (trans_a) a = swapped(a);
    if (trans_b) b = swapped(b);
    if (a.shape[0] == 1) {
      a = *reshaped(a, {a.shape[1], a.shape[2]});
      b = *reshaped(b, {b.shape[1], b.shape[2]});
    }
  }
  a = as_matrix(lowering, a);
  b = as_matrix(lowering, b);
  const bool transposed = shape.size() == 2 && is_written_transposed(lowering, output);
  const Operand result = transposed ? lowering.allocate(output, {1, shape[0]}) : lowering.allocate(output);
  Kernel kernel = transposed ? product_kernel(lowering, swapped(b), swapped(a), swapped(result))
                             : product_kernel(lowering, a, b, result);
  std::vector<Operand> reads = {a, b};
  std::optional<Operand> bias;
  for (NodeId with : lowering.companions().with(id)) {
    if (lowering.companions().of(with).kind != Companion::bias) continue;
    const Node& add = lowering.graph()[with];
    bias = lowering.operand(add.inputs[add.inputs[0] == output ? 1 : 0]);
    lowering.set(add.outputs[0], result);
  }
  if (bias && bias_within) {
    kernel.bias = true;
    reads.push_back(*bias);
  }
  lowering.emit(id, kernel, reads, {result});
  if (bias && !bias_within) {
    Kernel addition{.kind = KernelKind::elementwise, .op = KernelOp::row_bias};
    addition.elements = result.elements();
    lowering.emit_beside(id, addition, {result, *bias}, {result});
  }
}

void lower_gemm(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  Operand a = lowering.operand(node.inputs[0]), b = lowering.operand(node.inputs[1]);
  if (node.attributes.integer(Attr::trans_a) != 0) a = swapped(a);
  if (node.attributes.integer(Attr::trans_b) != 0) b = swapped(b);
  a = as_matrix(lowering, a);
  b = as_matrix(lowering, b);
  const Operand result = lowering.allocate(node.outputs[0]);
  Kernel kernel = product_kernel(lowering, a, b, result);
  std::vector<Operand> reads = {a, b};
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    kernel.bias = true;
    reads.push_back(lowering.operand(node.inputs[2]));
  }
  lowering.emit(id, kernel, reads, {result});
}

Kernel attention_kernel(const Operand& query, const Operand& key, bool causal) {
  Kernel kernel{.kind = KernelKind::attention};
  kernel.batch = query.shape[0];
  kernel.heads = query.shape[1];
  kernel.s = query.shape[2];
  kernel.d = query.shape[3];
  kernel.keys = key.shape[2];
  kernel.causal = causal;
  return kernel;
}

// As the fused kernels write it: 16 bits in the order of axes of `like`, 32 bits batch, position, head.
Strides attention_strides(const Operand& like) {
  return like.element_bytes <= 2 ? dense_strides_as(like.shape, like.strides) : dense_strides(like.shape, {0, 2, 1, 3});
}

void lower_attention(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  const bool backward = node.op == Op::AttentionGrad;
  const std::size_t first = backward ? 1 : 0;
  std::vector<Operand> reads;
  for (TensorId input : node.inputs) {
    if (input.valid()) reads.push_back(lowering.operand(input));
  }
  Kernel kernel = attention_kernel(reads[first], reads[first + 1], node.attributes.integer_or(Attr::is_causal, 0) != 0);
  std::vector<Operand> writes;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i].valid()) continue;
    const bool like_input = backward ? i < 3 : i == 0;
    if (!like_input) {
      writes.push_back(lowering.allocate(node.outputs[i]));
      continue;
    }
    Operand like = reads[first + (backward ? i : 0)];
    like.shape = lowering.shape(node.outputs[i]);
    writes.push_back(lowering.allocate(node.outputs[i], attention_strides(like)));
  }
  if (backward) kernel.part = KernelPart::backward;
  lowering.emit(id, kernel, reads, writes);
}

// Two operands: a batched product of its letters, on permuted copies.
void lower_einsum(Lowering& lowering, NodeId id) {
  const Node& node = lowering.graph()[id];
  std::vector<Operand> reads;
  for (TensorId input : node.inputs) reads.push_back(lowering.contiguous(lowering.operand(input)));
  const Operand result = lowering.allocate(node.outputs[0]);
  Kernel kernel{.kind = KernelKind::product, .precision = lowering.product_precision(reads[0])};
  kernel.m = std::max<std::int64_t>(
      1, reads[0].elements() / std::max<std::int64_t>(1, reads[0].shape.empty() ? 1 : reads[0].shape.back()));
  kernel.k = reads[0].shape.empty() ? 1 : reads[0].shape.back();
  kernel.n = std::max<std::int64_t>(1, result.elements() / kernel.m);
  lowering.emit(id, kernel, reads, {result});
}

}  // namespace

void lower_contraction(Lowering& lowering, NodeId id) {
  switch (lowering.graph()[id].op) {
    case Op::MatMul: return lower_matmul(lowering, id);
    case Op::Gemm: return lower_gemm(lowering, id);
    case Op::Einsum: return lower_einsum(lowering, id);
    default: return lower_attention(lowering, id);
  }
}

}  // namespace monet::lowering
