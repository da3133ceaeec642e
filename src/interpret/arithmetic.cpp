// Common arithmetic in plain loops: the same results as execute_elementwise gives, bit by bit, without counting
// indices.
#include "interpret/interpret.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// How an operand lies under the result: element i of the result meets element i % period.
std::optional<std::size_t> period_of(const Array& operand, const Shape& result) {
  if (operand.values.size() == 1) return 1;
  if (operand.shape.size() > result.size()) return std::nullopt;
  // Leading axes of one element aside, the operand is the last axes of the result.
  const auto first = std::ranges::find_if(operand.shape, [](std::int64_t size) { return size != 1; });
  const auto kept = operand.shape.end() - first;
  if (!std::equal(first, operand.shape.end(), result.end() - kept)) return std::nullopt;
  return operand.values.size();
}

template <class Function>
void apply(const Function& function, std::span<const double> a, std::span<double> result) {
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = function(a[i]);
}

template <class Function>
void apply(const Function& function, std::span<const double> a, std::span<const double> b, std::span<double> result) {
  const std::size_t piece = std::max(a.size(), b.size());
  for (std::size_t first = 0; first < result.size(); first += piece) {
    double* const to = result.data() + first;
    if (a.size() == b.size()) {
      for (std::size_t i = 0; i < piece; ++i) to[i] = function(a[i], b[i]);
    } else if (b.size() == 1) {
      for (std::size_t i = 0; i < piece; ++i) to[i] = function(a[i], b[0]);
    } else {
      for (std::size_t i = 0; i < piece; ++i) to[i] = function(a[0], b[i]);
    }
  }
}

// How many operands the arithmetic below takes; 0: it is not among it.
std::size_t operands_of(Op op) {
  switch (op) {
    case Op::Cast:
    case Op::Neg:
    case Op::Relu:
    case Op::Sqrt: return 1;
    case Op::Add:
    case Op::Sum:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::ReluGrad: return 2;
    default: return 0;
  }
}

void unary(Op op, std::span<const double> a, std::span<double> result) {
  switch (op) {
    case Op::Neg: return apply([](double x) { return -x; }, a, result);
    case Op::Relu: return apply([](double x) { return x < 0 ? 0 : x; }, a, result);
    case Op::Sqrt: return apply([](double x) { return std::sqrt(x); }, a, result);
    default: std::ranges::copy(a, result.begin());
  }
}

void binary(Op op, std::span<const double> a, std::span<const double> b, std::span<double> result) {
  switch (op) {
    case Op::Sub: return apply([](double x, double y) { return x - y; }, a, b, result);
    case Op::Mul: return apply([](double x, double y) { return x * y; }, a, b, result);
    case Op::Div: return apply([](double x, double y) { return x / y; }, a, b, result);
    case Op::ReluGrad: return apply([](double x, double y) { return y > 0 ? x : 0.0; }, a, b, result);
    default: return apply([](double x, double y) { return x + y; }, a, b, result);
  }
}

// The operand as often as it must be repeated to fill one period of the other.
std::span<const double> repeated(const Array& operand, std::size_t period, std::vector<double>& storage) {
  const std::size_t size = operand.values.size();
  if (size == 1 || size == period) return operand.values;
  storage.reserve(period);
  while (storage.size() < period) storage.insert(storage.end(), operand.values.begin(), operand.values.end());
  return storage;
}

}  // namespace

std::optional<Array> execute_arithmetic(const Execution& execution) {
  const std::size_t operands = operands_of(execution.op);
  if (operands == 0 || operands != execution.inputs.size() || !execution.wants(0)) return std::nullopt;
  if (!execution.output_types[0]->format.is_real()) return std::nullopt;
  std::size_t period = 1;
  for (std::size_t i = 0; i < operands; ++i) {
    if (!execution.has(i) || !execution.input_types[i]->format.is_real()) return std::nullopt;
    const auto own = period_of(execution.in(i), execution.out_shape(0));
    if (!own) return std::nullopt;
    period = std::max(period, *own);
  }
  Array result = Array::zeros(execution.out_shape(0));
  std::vector<double> first_storage, second_storage;
  const std::span<const double> a = repeated(execution.in(0), period, first_storage);
  if (operands == 1) {
    unary(execution.op, a, result.values);
  } else {
    binary(execution.op, a, repeated(execution.in(1), period, second_storage), result.values);
  }
  return result;
}

}  // namespace monet
