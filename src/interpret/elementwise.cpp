#include "graph/quantize.h"
#include "interpret/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace monet {

namespace {

double truth(bool value) { return value ? 1.0 : 0.0; }

// The two's complement pattern of an integer held in a double.
std::uint64_t pattern(double value) {
  if (std::isnan(value) || std::isinf(value)) return 0;
  const double whole = std::trunc(value);
  if (whole >= 0x1p64 || whole < -0x1p63) return 0;
  return whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) : static_cast<std::uint64_t>(whole);
}

// An integer as `type` keeps it: without fraction, high bits cut off.
double wrapped(double value, ElementType type) {
  const int bits = bits_of(type);
  std::uint64_t kept = pattern(value);
  if (bits < 64) kept &= (std::uint64_t{1} << bits) - 1;
  if (!is_signed_integer(type)) return static_cast<double>(kept);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  return static_cast<double>(static_cast<std::int64_t>((kept ^ sign) - sign));
}

double saturated(double value, ElementType type) {
  const int bits = bits_of(type);
  const double low = is_signed_integer(type) ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double high = std::ldexp(1.0, is_signed_integer(type) ? bits - 1 : bits) - 1.0;
  return std::isnan(value) ? 0.0 : std::clamp(value, low, high);
}

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double unit_clamp(double x) { return std::clamp(x, 0.0, 1.0); }

double gelu(double x, bool with_tanh) {
  if (!with_tanh) return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
  const double slope = std::sqrt(2 / std::numbers::pi);
  return 0.5 * x * (1 + std::tanh(slope * (x + 0.044715 * x * x * x)));
}

double clip(double x, const Attributes& attributes) {
  if (attributes.has(Attr::min) && x < attributes.real(Attr::min)) x = attributes.real(Attr::min);
  if (attributes.has(Attr::max) && x > attributes.real(Attr::max)) x = attributes.real(Attr::max);
  return x;
}

double shrink(double x, double bias, double lambd) {
  if (x < -lambd) return x + bias;
  return x > lambd ? x - bias : 0.0;
}

bool is_wanted_infinity(double x, const Attributes& attributes) {
  return std::isinf(x) && attributes.integer(x < 0 ? Attr::detect_negative : Attr::detect_positive) != 0;
}

double sign(double x) {
  if (std::isnan(x)) return x;
  return truth(x > 0) - truth(x < 0);
}

double activation(Op op, double x, const Attributes& attributes) {
  switch (op) {
    case Op::Celu: {
      const double alpha = attributes.real(Attr::alpha);
      return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
    }
    case Op::Clip: return clip(x, attributes);
    case Op::Elu: return x < 0 ? attributes.real(Attr::alpha) * std::expm1(x) : x;
    case Op::Gelu: return gelu(x, attributes.text(Attr::approximate) == "tanh");
    case Op::HardSigmoid: return unit_clamp(attributes.real(Attr::alpha) * x + attributes.real(Attr::beta));
    case Op::HardSwish: return x * unit_clamp(x / 6 + 0.5);
    case Op::LeakyRelu: return x < 0 ? attributes.real(Attr::alpha) * x : x;
    case Op::Mish: return x * std::tanh(softplus(x));
    case Op::Relu: return x < 0 ? 0 : x;
    case Op::Selu: return attributes.real(Attr::gamma) * (x > 0 ? x : attributes.real(Attr::alpha) * std::expm1(x));
    case Op::Shrink: return shrink(x, attributes.real(Attr::bias), attributes.real(Attr::lambd));
    case Op::Sigmoid: return sigmoid(x);
    case Op::Silu: return x * sigmoid(x);
    case Op::Softplus: return softplus(x);
    case Op::Softsign: return x / (1 + std::abs(x));
    case Op::ThresholdedRelu: return x > attributes.real(Attr::alpha) ? x : 0;
    default: return x;
  }
}

double unary(Op op, double x, const Attributes& attributes) {
  switch (op) {
    case Op::Abs: return std::abs(x);
    case Op::Acos: return std::acos(x);
    case Op::Acosh: return std::acosh(x);
    case Op::Asin: return std::asin(x);
    case Op::Asinh: return std::asinh(x);
    case Op::Atan: return std::atan(x);
    case Op::Atanh: return std::atanh(x);
    case Op::BitwiseNot: return static_cast<double>(~static_cast<std::int64_t>(pattern(x)));
    case Op::Ceil: return std::ceil(x);
    case Op::Cos: return std::cos(x);
    case Op::Cosh: return std::cosh(x);
    case Op::Erf: return std::erf(x);
    case Op::Exp: return std::exp(x);
    case Op::Floor: return std::floor(x);
    case Op::IsInf: return truth(is_wanted_infinity(x, attributes));
    case Op::IsNaN: return truth(std::isnan(x));
    case Op::Log: return std::log(x);
    case Op::Neg: return -x;
    case Op::Not: return truth(x == 0);
    case Op::Reciprocal: return 1 / x;
    case Op::Round: return std::nearbyint(x);
    case Op::Sign: return sign(x);
    case Op::Sin: return std::sin(x);
    case Op::Sinh: return std::sinh(x);
    case Op::Sqrt: return std::sqrt(x);
    case Op::Tan: return std::tan(x);
    case Op::Tanh: return std::tanh(x);
    default: return activation(op, x, attributes);
  }
}

double divide(double a, double b, bool integer) {
  if (!integer) return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}

// fmod: the sign of the dividend, as C has it; else that of the divisor, as Python has it.
double modulo(double a, double b, bool integer, bool fmod) {
  if (integer && b == 0) return 0;
  const double rest = std::fmod(a, b);
  return !fmod && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double shift(double a, double b, bool left) {
  const std::uint64_t distance = pattern(b);
  if (distance >= 64) return 0;
  return static_cast<double>(left ? pattern(a) << distance : pattern(a) >> distance);
}

double bitwise(Op op, double a, double b) {
  const std::uint64_t left = pattern(a);
  const std::uint64_t right = pattern(b);
  std::uint64_t result = left ^ right;
  if (op == Op::BitwiseAnd) result = left & right;
  if (op == Op::BitwiseOr) result = left | right;
  return static_cast<double>(static_cast<std::int64_t>(result));
}

double extreme(double a, double b, bool largest) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return largest ? std::max(a, b) : std::min(a, b);
}

double binary(Op op, double a, double b, bool integer, const Attributes& attributes) {
  switch (op) {
    case Op::Add:
    case Op::Mean:
    case Op::Sum: return a + b;
    case Op::And: return truth(a != 0 && b != 0);
    case Op::BitShift: return shift(a, b, attributes.text(Attr::direction) == "LEFT");
    case Op::BitwiseAnd:
    case Op::BitwiseOr:
    case Op::BitwiseXor: return bitwise(op, a, b);
    case Op::Div: return divide(a, b, integer);
    case Op::Equal: return truth(a == b);
    case Op::Greater: return truth(a > b);
    case Op::GreaterOrEqual: return truth(a >= b);
    case Op::Less: return truth(a < b);
    case Op::LessOrEqual: return truth(a <= b);
    case Op::Max: return extreme(a, b, true);
    case Op::Min: return extreme(a, b, false);
    case Op::Mod: return modulo(a, b, integer, attributes.integer(Attr::fmod) != 0);
    case Op::Mul: return a * b;
    case Op::Or: return truth(a != 0 || b != 0);
    case Op::Pow: return std::pow(a, b);
    case Op::PRelu: return a < 0 ? a * b : a;
    case Op::ReluGrad: return b > 0 ? a : 0;
    case Op::Sub: return a - b;
    case Op::Xor: return truth((a != 0) != (b != 0));
    default: return a;
  }
}

double quantized(std::span<const double> x, ElementType to) {
  const double zero_point = x.size() > 2 ? x[2] : 0.0;
  const double level = x[0] / x[1];
  return is_integer(to) ? saturated(std::nearbyint(level) + zero_point, to) : level + zero_point;
}

double element(const Execution& execution, std::span<const double> x) {
  const bool integer = !execution.input_types[0]->format.is_real();
  switch (execution.op) {
    case Op::Cast: return execution.output_types[0]->format.element == ElementType::boolean ? truth(x[0] != 0) : x[0];
    case Op::Where: return x[0] != 0 ? x[1] : x[2];
    case Op::QuantizeLinear: return quantized(x, execution.output_types[0]->format.element);
    case Op::DequantizeLinear: return (x[0] - (x.size() > 2 ? x[2] : 0.0)) * x[1];
    default: break;
  }
  if (x.size() == 1) return unary(execution.op, x[0], execution.attributes);
  double result = x[0];
  for (const double next : x.subspan(1)) result = binary(execution.op, result, next, integer, execution.attributes);
  return execution.op == Op::Mean ? result / static_cast<double>(x.size()) : result;
}

std::vector<Array> quantized_to_format(const Execution& execution) {
  std::vector<Array> results = {execution.in(0)};
  const bool stochastic = execution.attributes.has(Attr::mode) && execution.attributes.text(Attr::mode) == "stochastic";
  quantize(results[0].values, results[0].shape, execution.output_types[0]->format,
           {.rounding = stochastic ? Rounding::stochastic : Rounding::nearest, .seed = execution.seed});
  return results;
}

}  // namespace

Expected<std::vector<Array>> execute_elementwise(const Execution& execution) {
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  if (execution.op == Op::Quantize) return quantized_to_format(execution);
  Array result = Array::zeros(execution.out_shape(0));
  std::vector<const Array*> present;
  for (const Array* input : execution.inputs) {
    if (input != nullptr) present.push_back(input);
  }
  const Format& format = execution.output_types[0]->format;
  const bool integer = !format.is_real() && is_integer(format.element);
  std::vector<double> arguments(present.size());
  std::size_t position = 0;
  for (IndexCounter index(result.shape); index.more(); index.next(), ++position) {
    for (std::size_t i = 0; i < present.size(); ++i) {
      const std::int64_t at = broadcast_offset(present[i]->shape, index.index());
      arguments[i] = present[i]->values[static_cast<std::size_t>(at)];
    }
    const double value = element(execution, arguments);
    result.values[position] = integer ? wrapped(value, format.element) : value;
  }
  std::vector<Array> results;
  results.push_back(std::move(result));
  return results;
}

}  // namespace monet
