#include "interpret/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace monet {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Shape rows_of(Shape shape, std::span<const std::int64_t> axes) {
  for (std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  return shape;
}

// The elements that are reduced together, row by row of what is left; each in the order they lie in memory.
std::vector<std::vector<std::size_t>> groups_of(const Shape& shape, std::span<const std::int64_t> axes) {
  const Shape rows = rows_of(shape, axes);
  std::vector<std::vector<std::size_t>> groups(static_cast<std::size_t>(element_count(rows)));
  std::size_t at = 0;
  for (IndexCounter index(shape); index.more(); index.next(), ++at) {
    groups[static_cast<std::size_t>(broadcast_offset(rows, index.index()))].push_back(at);
  }
  return groups;
}

template <class Combine>
double fold(std::span<const double> values, double start, Combine combine) {
  return std::accumulate(values.begin(), values.end(), start, combine);
}

double reduce_values(Op op, std::span<const double> values) {
  const auto sum = [](double total, double x) { return total + x; };
  const auto sum_of_squares = [](double total, double x) { return total + x * x; };
  switch (op) {
    case Op::ReduceL1: return fold(values, 0, [](double total, double x) { return total + std::abs(x); });
    case Op::ReduceL2: return std::sqrt(fold(values, 0, sum_of_squares));
    case Op::ReduceLogSum: return std::log(fold(values, 0, sum));
    case Op::ReduceLogSumExp: {
      const double largest = fold(values, -infinity, [](double a, double b) { return std::max(a, b); });
      if (std::isinf(largest)) return largest;
      return largest + std::log(fold(values, 0, [&](double total, double x) { return total + std::exp(x - largest); }));
    }
    case Op::ReduceMax: return fold(values, -infinity, [](double a, double b) { return std::max(a, b); });
    case Op::ReduceMean: return fold(values, 0, sum) / static_cast<double>(values.size());
    case Op::ReduceMin: return fold(values, infinity, [](double a, double b) { return std::min(a, b); });
    case Op::ReduceProd: return fold(values, 1, [](double a, double b) { return a * b; });
    case Op::ReduceSumSquare: return fold(values, 0, sum_of_squares);
    default: return fold(values, 0, sum);
  }
}

Array reduce(const Execution& execution) {
  const Array& input = execution.in(0);
  Array output = Array::zeros(execution.out_shape(0));
  const bool whole = !execution.output_types[0]->format.is_real();
  std::size_t row = 0;
  for (const auto& group : groups_of(input.shape, execution.attributes.integers(Attr::axes))) {
    std::vector<double> values;
    for (std::size_t element : group) values.push_back(input.values[element]);
    const double result = reduce_values(execution.op, values);
    output.values[row++] = whole ? std::trunc(result) : result;
  }
  return output;
}

// Which element of the group wins; the first of equals, or the last.
std::size_t winner(const Array& input, std::span<const std::size_t> group, bool smallest, bool last) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < group.size(); ++i) {
    const double value = input.values[group[i]];
    const double leader = input.values[group[best]];
    if (smallest ? value < leader : value > leader) best = i;
    if (last && value == leader) best = i;
  }
  return best;
}

Array arg(const Execution& execution) {
  const bool last = execution.attributes.integer(Attr::select_last_index) != 0;
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  Array output = Array::zeros(execution.out_shape(0));
  std::size_t row = 0;
  for (const auto& group : groups_of(execution.in(0).shape, {&axis, 1})) {
    output.values[row++] = static_cast<double>(winner(execution.in(0), group, execution.op == Op::ArgMin, last));
  }
  return output;
}

Array hardmax(const Execution& execution) {
  Array output = Array::zeros(execution.out_shape(0));
  for (const auto& group : groups_of(execution.in(0).shape, execution.attributes.integers(Attr::axes))) {
    if (!group.empty()) output.values[group[winner(execution.in(0), group, false, false)]] = 1;
  }
  return output;
}

Array cumulative_sum(const Execution& execution) {
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  const bool exclusive = execution.attributes.integer(Attr::exclusive) != 0;
  Array output = Array::zeros(execution.out_shape(0));
  for (auto& group : groups_of(execution.in(0).shape, {&axis, 1})) {
    if (execution.attributes.integer(Attr::reverse) != 0) std::ranges::reverse(group);
    double sum = 0;
    for (std::size_t element : group) {
      if (exclusive) output.values[element] = sum;
      sum += execution.in(0).values[element];
      if (!exclusive) output.values[element] = sum;
    }
  }
  return output;
}

// Sorted always, which `sorted` = 0 allows; of equals the one with the lower index first.
std::vector<Array> top_k(const Execution& execution) {
  const Array& input = execution.in(0);
  const std::int64_t axis = execution.attributes.integer(Attr::axis);
  const bool largest = execution.attributes.integer(Attr::largest) != 0;
  const auto k = static_cast<std::size_t>(execution.attributes.integer(Attr::k));
  Shape picked_shape = input.shape;
  picked_shape[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(k);
  Array values = Array::zeros(picked_shape);
  Array indices = Array::zeros(picked_shape);
  const auto picked = groups_of(picked_shape, {&axis, 1});
  std::size_t row = 0;
  for (const auto& group : groups_of(input.shape, {&axis, 1})) {
    std::vector<std::size_t> order(group.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const double left = input.values[group[a]];
      const double right = input.values[group[b]];
      return largest ? left > right : left < right;
    });
    for (std::size_t i = 0; i < k; ++i) {
      values.values[picked[row][i]] = input.values[group[order[i]]];
      indices.values[picked[row][i]] = static_cast<double>(order[i]);
    }
    ++row;
  }
  return {std::move(values), std::move(indices)};
}

}  // namespace

Expected<std::vector<Array>> execute_reduction(const Execution& execution) {
  switch (execution.op) {
    case Op::ArgMax:
    case Op::ArgMin: return std::vector<Array>{arg(execution)};
    case Op::CumSum: return std::vector<Array>{cumulative_sum(execution)};
    case Op::TopK: return top_k(execution);
    case Op::Hardmax: return std::vector<Array>{hardmax(execution)};
    default: return std::vector<Array>{reduce(execution)};
  }
}

}  // namespace monet
