#include "interpret/interpret.h"

#include "graph/einsum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

double at(const Array& array, std::int64_t position) { return array.values[static_cast<std::size_t>(position)]; }

// The matrix at `first` in an operand: element (row, column) lies `row_step` and `column_step` apart.
struct MatrixLayout {
  std::int64_t row_step;
  std::int64_t column_step;

  static MatrixLayout of(const Shape& shape, bool transposed) {
    return transposed ? MatrixLayout{1, shape.back()} : MatrixLayout{shape.back(), 1};
  }
};

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
  std::size_t position = 0;
  for (IndexCounter batch(batch_of(result.shape)); batch.more(); batch.next()) {
    const std::int64_t a_first = broadcast_offset(batch_of(a.shape), batch.index()) * matrix_size(a.shape);
    const std::int64_t b_first = broadcast_offset(batch_of(b.shape), batch.index()) * matrix_size(b.shape);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t c = 0; c < inner; ++c) {
          sum += at(a, a_first + row * a_layout.row_step + c * a_layout.column_step) *
                 at(b, b_first + c * b_layout.row_step + column * b_layout.column_step);
        }
        result.values[position++] = alpha * sum;
      }
    }
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
