#include "interpret/interpret.h"

#include "graph/einsum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

double at(const Array& array, std::int64_t position) { return array.values[static_cast<std::size_t>(position)]; }

// The last two axes of an operand, read as `columns` elements in each of its rows.
struct MatrixLayout {
  std::int64_t row_step;
  std::int64_t column_step;

  static MatrixLayout of(const Shape& shape, bool transposed) {
    return transposed ? MatrixLayout{1, shape.back()} : MatrixLayout{shape.back(), 1};
  }
};

// The matrix with its rows contiguous; `storage` holds it where they are not.
const double* contiguous(const double* matrix, const MatrixLayout& layout, std::int64_t rows, std::int64_t columns,
                         std::vector<double>& storage) {
  if (layout.column_step == 1) return matrix;
  storage.resize(static_cast<std::size_t>(rows * columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    const double* const from = matrix + column * layout.column_step;
    for (std::int64_t row = 0; row < rows; ++row) {
      storage[static_cast<std::size_t>(row * columns + column)] = from[row * layout.row_step];
    }
  }
  return storage.data();
}

// alpha * A * B over all broadcast batches.
Array product(const Execution& execution) {
  const Array& a = execution.in(0);
  const Array& b = execution.in(1);
  const bool trans_a = execution.attributes.integer_or(Attr::trans_a, 0) != 0;
  const bool trans_b = execution.attributes.integer_or(Attr::trans_b, 0) != 0;
  const double alpha = execution.attributes.real_or(Attr::alpha, 1.0);
  const MatrixLayout a_layout = MatrixLayout::of(a.shape, trans_a);
  const MatrixLayout b_layout = MatrixLayout::of(b.shape, trans_b);
  const auto batch_of = [](const Shape& shape) { return std::span(shape).first(shape.size() - 2); };
  const auto matrix_size = [](const Shape& shape) { return shape.back() * shape[shape.size() - 2]; };

  Array result = Array::zeros(execution.out_shape(0));
  const std::int64_t rows = result.shape[result.shape.size() - 2];
  const std::int64_t columns = result.shape.back();
  const std::int64_t inner = trans_a ? a.shape[a.shape.size() - 2] : a.shape.back();
  std::vector<double> storage;
  double* to = result.values.data();
  for (IndexCounter batch(batch_of(result.shape)); batch.more(); batch.next()) {
    const double* const a_first =
        a.values.data() + broadcast_offset(batch_of(a.shape), batch.index()) * matrix_size(a.shape);
    const double* const b_first =
        b.values.data() + broadcast_offset(batch_of(b.shape), batch.index()) * matrix_size(b.shape);
    const double* const b_rows = contiguous(b_first, b_layout, inner, columns, storage);
    for (std::int64_t row = 0; row < rows; ++row, to += columns) {
      add_row_times_matrix(a_first + row * a_layout.row_step, a_layout.column_step, b_rows, inner, columns, to);
    }
  }
  if (alpha != 1) {
    for (double& value : result.values) value *= alpha;
  }
  return result;
}

void add_bias(Array& result, const Array& bias, double beta) {
  std::size_t position = 0;
  for (IndexCounter index(result.shape); index.more(); index.next()) {
    result.values[position++] += beta * at(bias, broadcast_offset(bias.shape, index.index()));
  }
}

Array einsum(const Execution& execution) {
  const EinsumEquation equation = parse_einsum(execution.attributes.text(Attr::equation));
  const std::string letters = equation.letters();
  Shape sizes;
  for (char letter : letters) {
    sizes.push_back(
        einsum_size(equation, letter, [&](std::size_t i) -> const Shape& { return execution.in(i).shape; }));
  }
  Array result = Array::zeros(execution.out_shape(0));
  Shape index;
  for (IndexCounter point(sizes); point.more(); point.next()) {
    double term = 1;
    for (std::size_t i = 0; i < equation.operands.size(); ++i) {
      index.clear();
      for (char letter : equation.operands[i]) index.push_back(point[letters.find(letter)]);
      term *= at(execution.in(i), broadcast_offset(execution.in(i).shape, index));
    }
    const auto leading = std::span(point.index()).first(equation.output.size());
    result.values[static_cast<std::size_t>(offset(result.shape, leading))] += term;
  }
  return result;
}

// The scores of one query row, scaled, capped and masked.
class AttentionRow {
 public:
  explicit AttentionRow(const Execution& execution)
      : execution_(execution),
        scale_(execution.attributes.real(Attr::scale)),
        softcap_(execution.attributes.real_or(Attr::softcap, 0)),
        causal_(execution.attributes.integer_or(Attr::is_causal, 0) != 0),
        boolean_mask_(execution.has(3) && execution.input_types[3]->format.element == ElementType::boolean) {}

  struct Result {
    std::vector<double> probabilities;
    double log_sum_exp;
  };

  Result softmax(const Shape& row, std::int64_t shared_head) const {
    const Array& query = execution_.in(0);
    const Array& key = execution_.in(1);
    std::vector<double> scores(static_cast<std::size_t>(key.shape[2]));
    const std::int64_t channels = query.shape[3];
    for (std::size_t t = 0; t < scores.size(); ++t) {
      const std::int64_t query_first = offset(query.shape, Shape{row[0], row[1], row[2], 0});
      const std::int64_t key_first = offset(key.shape, Shape{row[0], shared_head, static_cast<std::int64_t>(t), 0});
      double sum = 0;
      for (std::int64_t e = 0; e < channels; ++e) sum += at(query, query_first + e) * at(key, key_first + e);
      scores[t] = masked(sum * scale_, {row[0], row[1], row[2], static_cast<std::int64_t>(t)});
    }
    const double log_sum_exp = normalize(scores);
    return {std::move(scores), log_sum_exp};
  }

 private:
  double masked(double score, const Shape& index) const {
    constexpr double never = -std::numeric_limits<double>::infinity();
    if (softcap_ != 0) score = softcap_ * std::tanh(score / softcap_);
    if (causal_ && index[3] > index[2]) return never;
    if (!execution_.has(3)) return score;
    const double mask = at(execution_.in(3), broadcast_offset(execution_.in(3).shape, index));
    if (boolean_mask_) return mask != 0 ? score : never;
    return score + mask;
  }

  // Scores to probabilities; gives their log-sum-exp. A row that is masked as a whole gives zeros, as the operator's
  // specification says.
  static double normalize(std::vector<double>& scores) {
    if (scores.empty()) return 0;
    const double maximum = *std::ranges::max_element(scores);
    if (std::isinf(maximum) && maximum < 0) {
      std::ranges::fill(scores, 0.0);
      return 0;
    }
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - maximum);
    for (double& score : scores) score /= sum;
    return maximum + std::log(sum);
  }

  const Execution& execution_;
  double scale_;
  double softcap_;
  bool causal_;
  bool boolean_mask_;
};

std::vector<Array> attention(const Execution& execution) {
  const Array& value = execution.in(2);
  const std::int64_t sharing = std::max<std::int64_t>(execution.in(0).shape[1] / value.shape[1], 1);
  const std::int64_t channels = value.shape[3];
  const AttentionRow attention_row(execution);
  Array result = Array::zeros(execution.out_shape(0));
  Array log_sum_exp = Array::zeros(Shape(result.shape.begin(), result.shape.end() - 1));
  std::size_t position = 0;
  std::size_t row_position = 0;
  for (IndexCounter row(log_sum_exp.shape); row.more(); row.next()) {
    const std::int64_t shared_head = row[1] / sharing;
    const auto [probabilities, row_log_sum_exp] = attention_row.softmax(row.index(), shared_head);
    log_sum_exp.values[row_position++] = row_log_sum_exp;
    const std::int64_t first = offset(value.shape, Shape{row[0], shared_head, 0, 0});
    for (std::int64_t f = 0; f < channels; ++f) {
      double sum = 0;
      for (std::size_t t = 0; t < probabilities.size(); ++t) {
        sum += probabilities[t] * at(value, first + static_cast<std::int64_t>(t) * channels + f);
      }
      result.values[position++] = sum;
    }
  }
  return {std::move(result), std::move(log_sum_exp)};
}

}  // namespace

void add_row_times_matrix(const double* a, std::int64_t step, const double* b, std::int64_t inner, std::int64_t columns,
                          double* result) {
  std::int64_t c = 0;
  // Four at a time save loads and stores, and change no bit.
  for (; c + 4 <= inner; c += 4) {
    const double a0 = a[c * step], a1 = a[(c + 1) * step], a2 = a[(c + 2) * step], a3 = a[(c + 3) * step];
    const double* const b0 = b + c * columns;
    const double* const b1 = b0 + columns;
    const double* const b2 = b1 + columns;
    const double* const b3 = b2 + columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      result[j] = (((result[j] + a0 * b0[j]) + a1 * b1[j]) + a2 * b2[j]) + a3 * b3[j];
    }
  }
  for (; c < inner; ++c) {
    const double factor = a[c * step];
    const double* const row = b + c * columns;
    for (std::int64_t j = 0; j < columns; ++j) result[j] += factor * row[j];
  }
}

Expected<std::vector<Array>> execute_contraction(const Execution& execution) {
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  std::vector<Array> results;
  switch (execution.op) {
    case Op::MatMul:
    case Op::Gemm:
      results.push_back(product(execution));
      if (execution.has(2)) add_bias(results[0], execution.in(2), execution.attributes.real_or(Attr::beta, 1.0));
      break;
    case Op::Einsum: results.push_back(einsum(execution)); break;
    default: return attention(execution);
  }
  return results;
}

}  // namespace monet
