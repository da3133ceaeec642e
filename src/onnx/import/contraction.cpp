#include "onnx/node_import.h"

#include "onnx/import/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace monet::onnx {

namespace {

Attributes product_attributes(std::int64_t trans_a, std::int64_t trans_b, double alpha) {
  return {{Attr::trans_a, trans_a}, {Attr::trans_b, trans_b}, {Attr::alpha, alpha}};
}

TensorId reshaped(NodeImport& node, TensorId id, Shape shape) {
  return node.make(Op::Reshape, {id}, {{Attr::shape, std::move(shape)}});
}

// A vector on the left is a row and on the right a column; the axis it was given leaves the product again.
void multiply(NodeImport& node, TensorId a, TensorId b, const Attributes& attributes) {
  if (node.failed()) return;
  const std::size_t a_rank = node.shape_of(a).size();
  const std::size_t b_rank = node.shape_of(b).size();
  if (a_rank == 0 || b_rank == 0) {
    node.fail("multiplies a scalar as a matrix", "use Mul");
    return;
  }
  if (a_rank > 1 && b_rank > 1) {
    node.emit(Op::MatMul, {a, b}, attributes);
    return;
  }
  Attributes plain = attributes;
  if (a_rank == 1) {
    a = reshaped(node, a, {1, node.shape_of(a)[0]});
    plain.set(Attr::trans_a, std::int64_t{0});
  }
  if (b_rank == 1) {
    b = reshaped(node, b, {node.shape_of(b)[0], 1});
    plain.set(Attr::trans_b, std::int64_t{0});
  }
  const TensorId product = node.make(Op::MatMul, {a, b}, plain);
  if (node.failed()) return;
  Shape shape = node.shape_of(product);
  if (b_rank == 1) shape.pop_back();
  if (a_rank == 1) shape.erase(shape.end() - (b_rank == 1 ? 1 : 2));
  node.emit(Op::Reshape, {product}, {{Attr::shape, std::move(shape)}});
}

bool has_operands(NodeImport& node, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!node.has_input(i)) {
      node.fail(fmt::format("needs {} inputs, and input {} is missing", count, i + 1));
      return false;
    }
  }
  return true;
}

void matmul(NodeImport& node) {
  if (has_operands(node, 2)) multiply(node, node.input(0), node.input(1), product_attributes(0, 0, 1.0));
}

void fused_matmul(NodeImport& node) {
  if (!has_operands(node, 2)) return;
  if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0) {
    node.fail("transposes batch axes inside the product, which is not read", "transpose in front of it");
  }
  const Attributes attributes =
      product_attributes(node.integer("transA", 0) != 0, node.integer("transB", 0) != 0, node.real("alpha", 1.0));
  multiply(node, node.input(0), node.input(1), attributes);
}

// What an integer operand stands for: its zero point subtracted. Zero points by row of A are a column.
TensorId centred(NodeImport& node, std::size_t operand, std::size_t zero_point, bool by_row) {
  const Attributes to_int32 = {{Attr::to, static_cast<std::int64_t>(ElementType::int32)}};
  const TensorId wide = node.make(Op::Cast, {node.input(operand)}, to_int32);
  if (!node.has_input(zero_point)) return wide;
  if (const Constant* value = node.value(zero_point); value != nullptr && value->is_uniformly(0)) return wide;
  TensorId zero = node.make(Op::Cast, {node.input(zero_point)}, to_int32);
  if (by_row && node.rank(zero_point) == 1 && node.rank(operand) > 1) {
    zero = reshaped(node, zero, {node.shape(zero_point)[0], 1});
  }
  return node.make(Op::Sub, {wide, zero});
}

void matmul_integer(NodeImport& node) {
  if (!has_operands(node, 2)) return;
  const TensorId a = centred(node, 0, 2, true);
  const TensorId b = centred(node, 1, 3, false);
  multiply(node, a, b, product_attributes(0, 0, 1.0));
}

void gemm(NodeImport& node) {
  node.ignore({"broadcast"});
  const double beta = node.real("beta", 1.0);
  Attributes attributes =
      product_attributes(node.integer("transA", 0) != 0, node.integer("transB", 0) != 0, node.real("alpha", 1.0));
  attributes.set(Attr::beta, beta);
  std::vector<TensorId> inputs = {node.input(0), node.input(1)};
  if (node.has_input(2) && beta != 0) inputs.push_back(node.input(2));
  node.emit(Op::Gemm, std::move(inputs), std::move(attributes));
}

// ---- Einsum

// One operand and nothing summed: another order of its axes.
bool is_transpose(const EinsumEquation& equation) {
  if (equation.operands.size() != 1) return false;
  std::string from = equation.operands[0];
  std::string to = equation.output;
  std::ranges::sort(from);
  std::ranges::sort(to);
  return from == to && std::ranges::adjacent_find(from) == from.end();
}

void einsum(NodeImport& node) {
  if (!has_operands(node, std::max<std::size_t>(node.input_count(), 1))) return;
  std::vector<std::size_t> ranks;
  for (std::size_t i = 0; i < node.input_count(); ++i) ranks.push_back(node.rank(i));
  auto equation = normalized_einsum(node.text("equation", ""), ranks);
  if (!equation) {
    node.fail(equation.error().message);
    return;
  }
  if (is_transpose(*equation)) {
    std::vector<std::int64_t> perm;
    for (char letter : equation->output) perm.push_back(static_cast<std::int64_t>(equation->operands[0].find(letter)));
    node.emit(Op::Transpose, {node.input(0)}, {{Attr::perm, std::move(perm)}});
    return;
  }
  std::string normal = equation->operands[0];
  for (std::size_t i = 1; i < equation->operands.size(); ++i) normal += ',' + equation->operands[i];
  node.emit(Op::Einsum, node.inputs(), {{Attr::equation, normal + "->" + equation->output}});
}

// ---- attention

// What every kind of attention comes to: four axes each, and masks as the file gives them.
struct AttentionParts {
  TensorId query;
  TensorId key;
  TensorId value;
  TensorId mask;
  double softcap = 0;
  bool causal = false;
  std::int64_t causal_offset = 0;  // query i sees keys up to i + offset
};

// [batch, sequence, heads * channels] -> [batch, heads, sequence, channels]
TensorId to_heads(NodeImport& node, TensorId id, std::int64_t heads) {
  if (node.failed()) return id;
  const Shape shape = node.shape_of(id);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) {
    node.fail(fmt::format("cannot divide {} into {} heads", to_string(shape), heads),
              "give batch, sequence and channels, and a number of heads that divides the channels");
    return id;
  }
  const TensorId split = reshaped(node, id, {shape[0], shape[1], heads, shape[2] / heads});
  return node.make(Op::Transpose, {split}, {{Attr::perm, std::vector<std::int64_t>{0, 2, 1, 3}}});
}

// The last node of a rule whose further outputs are aliases.
void emit_first(NodeImport& node, Op op, std::vector<TensorId> inputs, Attributes attributes) {
  if (node.output_count() > 1) {
    node.alias(0, node.make(op, std::move(inputs), std::move(attributes)));
  } else {
    node.emit(op, std::move(inputs), std::move(attributes));
  }
}

// A causal mask that is not a plain triangle, joined with the mask that is there.
TensorId shifted_causal_mask(NodeImport& node, const AttentionParts& parts) {
  const bool boolean = !parts.mask.valid() || node.type_of(parts.mask) == ElementType::boolean;
  Constant band{.type = boolean ? ElementType::boolean : node.type_of(parts.mask),
                .shape = {node.shape_of(parts.query)[2], node.shape_of(parts.key)[2]},
                .pattern = Constant::Pattern::banded,
                .diagonal = parts.causal_offset,
                .values = std::vector<std::int64_t>{1, 0}};
  if (!boolean) band.values = std::vector<double>{0, -std::numeric_limits<double>::infinity()};
  const TensorId causal = node.make_constant(std::move(band));
  return parts.mask.valid() ? node.make(boolean ? Op::And : Op::Add, {parts.mask, causal}) : causal;
}

void attend(NodeImport& node, AttentionParts parts, bool join_heads) {
  if (node.failed()) return;
  for (TensorId id : {parts.query, parts.key, parts.value}) {
    if (node.shape_of(id).size() == 4) continue;
    node.fail(fmt::format("attends with a tensor of {}", to_string(node.shape_of(id))),
              "give batch, head, sequence and channel");
    return;
  }
  if (parts.causal && parts.causal_offset != 0) {
    parts.mask = shifted_causal_mask(node, parts);
    parts.causal = false;
  }
  const auto channels = static_cast<double>(node.shape_of(parts.query)[3]);
  const double scale = node.real("scale", 0.0);
  const Attributes attributes = {{Attr::scale, scale == 0.0 ? 1.0 / std::sqrt(channels) : scale},
                                 {Attr::softcap, parts.softcap},
                                 {Attr::is_causal, std::int64_t{parts.causal}}};
  std::vector<TensorId> inputs = {parts.query, parts.key, parts.value};
  if (parts.mask.valid()) inputs.push_back(parts.mask);
  if (!join_heads) {
    emit_first(node, Op::Attention, std::move(inputs), attributes);
    return;
  }
  const TensorId heads = node.make(Op::Attention, std::move(inputs), attributes);
  const TensorId rows = node.make(Op::Transpose, {heads}, {{Attr::perm, std::vector<std::int64_t>{0, 2, 1, 3}}});
  if (node.failed()) return;
  const Shape shape = node.shape_of(rows);
  emit_first(node, Op::Reshape, {rows}, {{Attr::shape, Shape{shape[0], shape[1], shape[2] * shape[3]}}});
}

void refuse_inputs(NodeImport& node, std::initializer_list<std::pair<std::size_t, std::string_view>> unread) {
  for (const auto& [input, name] : unread) {
    if (node.has_input(input)) node.fail(fmt::format("has the input {}, which is not read", name));
  }
}

void attention(NodeImport& node) {
  if (!has_operands(node, 3)) return;
  node.ignore({"softmax_precision", "qk_matmul_output_mode"});
  if (node.has_output(3)) node.fail("gives out its scores (qk_matmul_output), which is not read");
  if (node.integer("left_window_size", -1) != -1 || node.integer("right_window_size", -1) != -1) {
    node.fail("attends in a sliding window, which is not read");
  }
  if (node.has_input(4) != node.has_input(5)) node.fail("has one of past_key and past_value without the other");
  refuse_inputs(node, {{6, "nonpad_kv_seqlen"}});
  const bool three_axes = node.rank(0) == 3;
  AttentionParts parts{.query = node.input(0),
                       .key = node.input(1),
                       .value = node.input(2),
                       .mask = node.input(3),
                       .softcap = node.real("softcap", 0.0),
                       .causal = node.integer("is_causal", 0) != 0};
  const std::int64_t query_heads = node.integer("q_num_heads", 0);
  const std::int64_t key_heads = node.integer("kv_num_heads", 0);
  if (three_axes) {
    parts.query = to_heads(node, parts.query, query_heads);
    parts.key = to_heads(node, parts.key, key_heads);
    parts.value = to_heads(node, parts.value, key_heads);
  }
  if (node.has_input(4) && !node.failed()) {
    const Shape& past = node.shape(4);
    parts.causal_offset = past.size() == 4 ? past[2] : 0;
    parts.key = node.make(Op::Concat, {node.input(4), parts.key}, {{Attr::axis, std::int64_t{2}}});
    parts.value = node.make(Op::Concat, {node.input(5), parts.value}, {{Attr::axis, std::int64_t{2}}});
  }
  attend(node, parts, three_axes);
  if (node.has_output(1)) node.alias(1, parts.key);
  if (node.has_output(2)) node.alias(2, parts.value);
}

// Columns [first, first + size) of the last axis.
TensorId columns(NodeImport& node, TensorId id, std::int64_t first, std::int64_t size) {
  Shape shape = node.shape_of(id);
  const auto axis = static_cast<std::int64_t>(shape.size()) - 1;
  shape.back() = size;
  return node.make(
      Op::Slice, {id},
      {{Attr::axes, Shape{axis}}, {Attr::starts, Shape{first}}, {Attr::steps, Shape{1}}, {Attr::shape, shape}});
}

void attend_by_heads(NodeImport& node, std::array<TensorId, 3> operands) {
  node.ignore({"mask_filter_value"});
  const std::int64_t heads = node.integer("num_heads", 0);
  for (TensorId& id : operands) id = to_heads(node, id, heads);
  AttentionParts parts{.query = operands[0], .key = operands[1], .value = operands[2], .mask = node.input(5)};
  parts.causal = node.integer("unidirectional", 0) != 0;
  if (!node.failed()) parts.causal_offset = node.shape_of(parts.key)[2] - node.shape_of(parts.query)[2];
  attend(node, parts, true);
}

void multi_head_attention(NodeImport& node) {
  if (!has_operands(node, 3)) return;
  refuse_inputs(node, {{4, "key_padding_mask"}, {6, "past_key"}, {7, "past_value"}, {8, "past_sequence_length"}});
  if (node.output_count() > 1) node.fail("gives out its keys and values, which is not read");
  std::array<TensorId, 3> operands = {node.input(0), node.input(1), node.input(2)};
  std::int64_t first = 0;
  for (std::size_t i = 0; i < 3 && node.has_input(3); ++i) {
    if (node.rank(i) != 3 || node.rank(3) != 1) node.fail("has query, key, value and bias packed in a way not read");
    if (node.failed()) return;
    const std::int64_t size = node.shape(i)[2];
    operands[i] = node.make(Op::Add, {operands[i], columns(node, node.input(3), first, size)});
    first += size;
  }
  attend_by_heads(node, operands);
}

// Query, key and value from one product with weights that lie side by side.
void packed_attention(NodeImport& node) {
  if (!has_operands(node, 2)) return;
  refuse_inputs(node, {{3, "mask_index"}, {4, "past"}, {6, "past_sequence_length"}});
  if (node.output_count() > 1) node.fail("gives out its keys and values, which is not read");
  if (node.integer("do_rotary", 0) != 0) node.fail("rotates its positions, which is not read");
  TensorId packed = node.make(Op::MatMul, {node.input(0), node.input(1)}, product_attributes(0, 0, 1.0));
  if (node.has_input(2)) packed = node.make(Op::Add, {packed, node.input(2)});
  if (node.failed()) return;
  const std::int64_t width = node.shape_of(packed).back();
  const std::vector<std::int64_t> sizes = node.integers("qkv_hidden_sizes", {width / 3, width / 3, width / 3});
  if (sizes.size() != 3 || sizes[0] < 0 || sizes[1] < 0 || sizes[0] > width || sizes[1] > width - sizes[0] ||
      sizes[2] != width - sizes[0] - sizes[1]) {
    node.fail(fmt::format("cannot divide {} columns into query, key and value", width));
    return;
  }
  attend_by_heads(node, {columns(node, packed, 0, sizes[0]), columns(node, packed, sizes[0], sizes[1]),
                         columns(node, packed, sizes[0] + sizes[1], sizes[2])});
}

constexpr std::array contraction_entries = {
    ImportEntry{"", "Attention", attention},
    ImportEntry{"", "Einsum", einsum},
    ImportEntry{"", "Gemm", gemm},
    ImportEntry{"", "MatMul", matmul},
    ImportEntry{"", "MatMulInteger", matmul_integer},
    ImportEntry{"com.microsoft", "Attention", packed_attention},
    ImportEntry{"com.microsoft", "FusedMatMul", fused_matmul},
    ImportEntry{"com.microsoft", "MultiHeadAttention", multi_head_attention},
    ImportEntry{"com.microsoft", "TransposeMatMul", fused_matmul},
};

}  // namespace

std::span<const ImportEntry> contraction_rules() { return contraction_entries; }

}  // namespace monet::onnx
