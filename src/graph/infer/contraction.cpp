#include "graph/infer.h"

#include "base/checked.h"
#include "base/try.h"
#include "graph/einsum.h"

#include <fmt/format.h>

namespace monet {

namespace {

// A matrix operand as it is multiplied, after its transposition.
struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
};

Matrix matrix_of(const Shape& shape, bool transposed) {
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  return transposed ? Matrix{columns, rows} : Matrix{rows, columns};
}

Expected<Matrix> product(const OperatorTypes& operation) {
  const bool trans_a = operation.attributes.integer_or(Attr::trans_a, 0) != 0;
  const bool trans_b = operation.attributes.integer_or(Attr::trans_b, 0) != 0;
  const Matrix a = matrix_of(operation.shape(0), trans_a);
  const Matrix b = matrix_of(operation.shape(1), trans_b);
  if (a.columns != b.rows) {
    return shape_error(fmt::format("{} cannot multiply {}{} by {}{}: {} columns meet {} rows", name_of(operation.op),
                                   to_string(operation.shape(0)), trans_a ? " transposed" : "",
                                   to_string(operation.shape(1)), trans_b ? " transposed" : "", a.columns, b.rows));
  }
  return Matrix{a.rows, b.columns};
}

Expected<Types> infer_matmul(const OperatorTypes& operation) {
  const Shape& a = operation.shape(0);
  const Shape& b = operation.shape(1);
  if (a.size() < 2 || b.size() < 2) {
    return shape_error(
        fmt::format("MatMul needs operands of two axes or more, and has {} and {}", to_string(a), to_string(b)),
        "reshape vectors to matrices");
  }
  MONET_TRY(const Matrix matrix, product(operation));
  auto shape = broadcast(std::span(a).first(a.size() - 2), std::span(b).first(b.size() - 2));
  if (!shape) {
    return shape_error(
        fmt::format("MatMul cannot broadcast the batch axes of {} with those of {}", to_string(a), to_string(b)));
  }
  shape->push_back(matrix.rows);
  shape->push_back(matrix.columns);
  return Types{{std::move(*shape), operation.format(0)}};
}

Expected<Types> infer_gemm(const OperatorTypes& operation) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (operation.shape(i).size() != 2) {
      return shape_error(
          fmt::format("Gemm multiplies matrices, and input {} is {}", i + 1, to_string(operation.shape(i))),
          "use MatMul for operands with more axes");
    }
  }
  MONET_TRY(const Matrix matrix, product(operation));
  Shape shape = {matrix.rows, matrix.columns};
  if (operation.has(2)) {
    const auto joined = broadcast(shape, operation.shape(2));
    if (!joined || *joined != shape) {
      return shape_error(fmt::format("Gemm cannot broadcast its bias {} to the product {}",
                                     to_string(operation.shape(2)), to_string(shape)));
    }
  }
  return Types{{std::move(shape), operation.format(0)}};
}

constexpr std::size_t max_einsum_operands = 32;

Status check_letters(const std::string& letters, const std::string& equation) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] < 'a' || letters[i] > 'z') {
      return shape_error(fmt::format("the Einsum equation '{}' has '{}' where a letter is due", equation, letters[i]));
    }
    if (letters.find(letters[i], i + 1) != std::string::npos) {
      return shape_error(fmt::format("the Einsum equation '{}' has '{}' twice in one operand", equation, letters[i]),
                         "diagonals are not read");
    }
  }
  return Done{};
}

Status check_operand(const OperatorTypes& operation, const EinsumEquation& equation, std::size_t i) {
  const std::string& letters = equation.operands[i];
  const Shape& shape = operation.shape(i);
  MONET_RETURN_IF_ERROR(check_letters(letters, operation.attributes.text(Attr::equation)));
  if (letters.size() != shape.size()) {
    return shape_error(fmt::format("the Einsum equation '{}' gives operand {} the {} axes '{}', and it is {}",
                                   operation.attributes.text(Attr::equation), i + 1, letters.size(), letters,
                                   to_string(shape)));
  }
  return Done{};
}

Expected<Types> infer_einsum(const OperatorTypes& operation) {
  const std::string& text = operation.attributes.text(Attr::equation);
  const EinsumEquation equation = parse_einsum(text);
  if (equation.operands.size() != operation.inputs.size()) {
    return shape_error(fmt::format("the Einsum equation '{}' has {} operands, and the node has {} inputs", text,
                                   equation.operands.size(), operation.inputs.size()));
  }
  if (equation.operands.size() > max_einsum_operands) {
    return shape_error(
        fmt::format("Einsum has {} operands, and at most {} are read", equation.operands.size(), max_einsum_operands));
  }
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    if (!operation.has(i)) return shape_error(fmt::format("Einsum's input {} is missing", i + 1));
    MONET_RETURN_IF_ERROR(check_operand(operation, equation, i));
  }
  MONET_RETURN_IF_ERROR(check_letters(equation.output, text));
  const auto shape_of = [&](std::size_t i) -> const Shape& { return operation.shape(i); };
  for (std::size_t i = 0; i < operation.inputs.size(); ++i) {
    for (std::size_t axis = 0; axis < operation.shape(i).size(); ++axis) {
      const char letter = equation.operands[i][axis];
      const std::int64_t size = einsum_size(equation, letter, shape_of);
      if (operation.shape(i)[axis] != 1 && operation.shape(i)[axis] != size) {
        return shape_error(fmt::format("'{}' in the Einsum equation '{}' is {} elements and {} elements", letter, text,
                                       operation.shape(i)[axis], size));
      }
    }
  }
  Shape shape;
  for (char letter : equation.output) {
    const bool known = std::ranges::any_of(
        equation.operands, [&](const std::string& operand) { return operand.find(letter) != std::string::npos; });
    if (!known) {
      return shape_error(
          fmt::format("'{}' is in the output of the Einsum equation '{}' and in no operand", letter, text));
    }
    shape.push_back(einsum_size(equation, letter, shape_of));
  }
  return Types{{std::move(shape), operation.format(0)}};
}

Expected<Types> infer_attention(const OperatorTypes& operation) {
  static constexpr std::string_view names[] = {"query", "key", "value"};
  for (std::size_t i = 0; i < 3; ++i) {
    if (operation.shape(i).size() != 4) {
      return shape_error(fmt::format("Attention needs a {} of batch, head, sequence and channel, and has {}", names[i],
                                     to_string(operation.shape(i))));
    }
  }
  const Shape& query = operation.shape(0);
  const Shape& key = operation.shape(1);
  const Shape& value = operation.shape(2);
  if (key[0] != query[0] || value[0] != query[0] || key[3] != query[3] || value[1] != key[1] || value[2] != key[2]) {
    return shape_error(fmt::format("Attention's query {}, key {} and value {} do not fit each other", to_string(query),
                                   to_string(key), to_string(value)));
  }
  if (key[1] < 1 || query[1] % key[1] != 0) {
    return shape_error(fmt::format("Attention cannot share {} key heads among {} query heads", key[1], query[1]));
  }
  const Shape scores = {query[0], query[1], query[2], key[2]};
  if (const auto count = checked_product(scores); !count || *count > max_elements) {
    return shape_error(fmt::format("Attention has {} scores, more elements than can be counted", to_string(scores)));
  }
  if (operation.has(3)) {
    const auto joined = broadcast(operation.shape(3), scores);
    if (!joined || *joined != scores) {
      return shape_error(fmt::format("Attention cannot broadcast its mask {} to the scores {}",
                                     to_string(operation.shape(3)), to_string(scores)));
    }
  }
  return Types{{{query[0], query[1], query[2], value[3]}, operation.format(0)},
               {{query[0], query[1], query[2]}, operation.format(0)}};
}

Expected<Types> infer_attention_grad(const OperatorTypes& operation) {
  std::vector<const TensorType*> forward(operation.inputs.begin() + 1, operation.inputs.begin() + 4);
  if (operation.has(6)) forward.push_back(operation.inputs[6]);
  MONET_TRY(const Types outputs, infer_attention({Op::Attention, operation.attributes, forward}));
  static constexpr std::string_view names[] = {"gradient", "output", "log-sum-exp"};
  static constexpr std::size_t places[] = {0, 4, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    const Shape& expected = outputs[i == 2 ? 1 : 0].shape;
    if (operation.shape(places[i]) != expected) {
      return shape_error(fmt::format("AttentionGrad has the {} {} where {} is due", names[i],
                                     to_string(operation.shape(places[i])), to_string(expected)));
    }
  }
  Types gradients = {*operation.inputs[1], *operation.inputs[2], *operation.inputs[3]};
  if (operation.has(6) && is_floating(operation.format(6).element)) gradients.push_back(*operation.inputs[6]);
  return gradients;
}

}  // namespace

Expected<Types> infer_contraction(const OperatorTypes& operation) {
  switch (operation.op) {
    case Op::MatMul: return infer_matmul(operation);
    case Op::Gemm: return infer_gemm(operation);
    case Op::Einsum: return infer_einsum(operation);
    case Op::AttentionGrad: return infer_attention_grad(operation);
    default: return infer_attention(operation);
  }
}

}  // namespace monet
