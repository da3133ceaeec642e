#include "base/checked.h"
#include "graph/fold.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// A number as the constant keeps it: exact integer or double.
struct Number {
  bool real = false;
  std::int64_t integer = 0;
  double value = 0;

  double as_real() const { return real ? value : static_cast<double>(integer); }
};

Number of(std::int64_t integer) { return {.real = false, .integer = integer, .value = 0}; }
Number of(double value) { return {.real = true, .integer = 0, .value = value}; }
Number of(bool truth) { return of(std::int64_t{truth ? 1 : 0}); }

using Result = std::optional<Number>;

Result wrap(std::optional<std::int64_t> value) { return value ? Result(of(*value)) : std::nullopt; }

Result modulo(std::int64_t a, std::int64_t b, bool c_style) {
  if (b == 0 || b == -1) return b == 0 ? Result() : of(std::int64_t{0});
  const std::int64_t rest = a % b;
  return of(c_style || rest == 0 || (rest < 0) == (b < 0) ? rest : rest + b);
}

Result binary(Op op, const Attributes& attributes, const Number& a, const Number& b) {
  const double x = a.as_real();
  const double y = b.as_real();
  switch (op) {
    case Op::Equal: return of(a.real ? x == y : a.integer == b.integer);
    case Op::Greater: return of(a.real ? x > y : a.integer > b.integer);
    case Op::GreaterOrEqual: return of(a.real ? x >= y : a.integer >= b.integer);
    case Op::Less: return of(a.real ? x < y : a.integer < b.integer);
    case Op::LessOrEqual: return of(a.real ? x <= y : a.integer <= b.integer);
    case Op::And: return of(a.integer != 0 && b.integer != 0);
    case Op::Or: return of(a.integer != 0 || b.integer != 0);
    case Op::Xor: return of((a.integer != 0) != (b.integer != 0));
    case Op::Add:
    case Op::Sum: return a.real ? of(x + y) : wrap(checked_add(a.integer, b.integer));
    case Op::Sub:
      if (a.real) return of(x - y);
      return b.integer == INT64_MIN ? Result() : wrap(checked_add(a.integer, -b.integer));
    case Op::Mul: return a.real ? of(x * y) : wrap(checked_multiply(a.integer, b.integer));
    case Op::Div:
      if (a.real) return of(x / y);
      if (b.integer == 0 || (b.integer == -1 && a.integer == INT64_MIN)) return std::nullopt;
      return of(a.integer / b.integer);
    case Op::Mod:
      return a.real ? of(std::fmod(x, y)) : modulo(a.integer, b.integer, attributes.integer_or(Attr::fmod, 0) != 0);
    case Op::Pow: {
      const double power = std::pow(x, y);
      if (a.real) return of(power);
      if (!(std::abs(power) < 9.0e15)) return std::nullopt;
      return of(static_cast<std::int64_t>(power));
    }
    case Op::Max: return a.real ? of(std::max(x, y)) : of(std::max(a.integer, b.integer));
    case Op::Min: return a.real ? of(std::min(x, y)) : of(std::min(a.integer, b.integer));
    default: return std::nullopt;
  }
}

Result unary(Op op, const Number& a) {
  const double x = a.as_real();
  switch (op) {
    case Op::Not: return of(a.integer == 0);
    case Op::Neg:
      if (a.real) return of(-x);
      return a.integer == INT64_MIN ? Result() : of(-a.integer);
    case Op::Abs:
      if (a.real) return of(std::abs(x));
      return a.integer == INT64_MIN ? Result() : of(std::abs(a.integer));
    case Op::Sign:
      return a.real ? of(static_cast<double>((x > 0) - (x < 0))) : of(std::int64_t{(a.integer > 0) - (a.integer < 0)});
    case Op::Sqrt: return of(std::sqrt(x));
    case Op::Reciprocal: return of(1.0 / x);
    case Op::Exp: return of(std::exp(x));
    case Op::Log: return of(std::log(x));
    case Op::Floor: return of(std::floor(x));
    case Op::Ceil: return of(std::ceil(x));
    case Op::Round: return of(std::nearbyint(x));
    case Op::IsNaN: return of(std::isnan(x));
    default: return std::nullopt;
  }
}

Result cast(const Number& a, ElementType to) {
  if (is_floating(to)) return of(a.as_real());
  if (to == ElementType::boolean) return of(a.as_real() != 0);
  if (!a.real) return of(a.integer);
  if (!(std::abs(a.value) < 9.2e18)) return std::nullopt;
  return of(static_cast<std::int64_t>(a.value));
}

Result apply(Op op, const Attributes& attributes, std::span<const Number> in) {
  if (op == Op::Cast) return cast(in[0], static_cast<ElementType>(attributes.integer(Attr::to)));
  if (op == Op::Where) return in[0].integer != 0 ? in[1] : in[2];
  if (op == Op::Clip && in[0].real) {
    return of(std::min(std::max(in[0].value, attributes.real_or(Attr::min, -INFINITY)),
                       attributes.real_or(Attr::max, INFINITY)));
  }
  if (in.size() == 1) return op == Op::Max || op == Op::Min || op == Op::Sum ? Result(in[0]) : unary(op, in[0]);
  Result result = in[0];
  for (std::size_t i = 1; i < in.size() && result; ++i) result = binary(op, attributes, *result, in[i]);
  return result;
}

Number stored(const Constant& constant, std::size_t at) {
  if (const auto* reals = std::get_if<std::vector<double>>(&constant.values)) return of((*reals)[at]);
  return of(std::get<std::vector<std::int64_t>>(constant.values)[at]);
}

Number element(const Constant& constant, std::int64_t index) {
  return std::holds_alternative<std::vector<double>>(constant.values) ? of(constant.real_at(index))
                                                                      : of(constant.integer_at(index));
}

// Whether a type can hold the number. Unsigned 64-bit values are kept in 63 bits.
bool holds(ElementType type, std::int64_t value) {
  if (type == ElementType::boolean) return value == 0 || value == 1;
  const int bits = bits_of(type);
  if (!is_signed_integer(type)) return value >= 0 && (bits == 64 || value < std::int64_t{1} << bits);
  return bits == 64 || (value >= -(std::int64_t{1} << (bits - 1)) && value < std::int64_t{1} << (bits - 1));
}

// Each step is rounded to single precision where that is the type: sizes are often the floor of such a product.
bool append(Constant& output, const Result& result) {
  if (!result) return false;
  if (auto* reals = std::get_if<std::vector<double>>(&output.values)) {
    const double value = result->as_real();
    reals->push_back(output.type == ElementType::float32 ? static_cast<double>(static_cast<float>(value)) : value);
  } else {
    if (result->real || !holds(output.type, result->integer)) return false;
    std::get<std::vector<std::int64_t>>(output.values).push_back(result->integer);
  }
  return true;
}

// Uniform inputs give a uniform output; banded ones with the same band over the output's last two axes a banded one.
Constant::Pattern joint_pattern(std::span<const Constant* const> inputs, const Shape& output, std::int64_t& diagonal) {
  using Pattern = Constant::Pattern;
  Pattern joint = Pattern::uniform;
  for (const Constant* input : inputs) {
    const bool one = input->pattern == Pattern::uniform || element_count(input->shape) == 1;
    if (one) continue;
    const bool spans =
        input->pattern == Pattern::banded && std::equal(input->shape.end() - 2, input->shape.end(), output.end() - 2);
    if (!spans || (joint == Pattern::banded && input->diagonal != diagonal)) return Pattern::dense;
    joint = Pattern::banded;
    diagonal = input->diagonal;
  }
  return joint;
}

}  // namespace

std::optional<Constant> fold_elementwise(Op op, const Attributes& attributes, std::span<const Constant* const> inputs,
                                         const TensorType& output) {
  using Pattern = Constant::Pattern;
  Constant result{
      .type = output.format.element, .shape = output.shape, .pattern = Pattern::dense, .diagonal = 0, .values = {}};
  if (is_floating(result.type)) result.values = std::vector<double>{};
  result.pattern = joint_pattern(inputs, output.shape, result.diagonal);
  std::vector<Number> numbers(inputs.size());
  if (result.pattern != Pattern::dense) {
    const std::size_t cells = result.pattern == Pattern::uniform ? 1 : 2;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const bool banded = inputs[i]->pattern == Pattern::banded && element_count(inputs[i]->shape) != 1;
        numbers[i] = banded ? stored(*inputs[i], cell) : element(*inputs[i], 0);
      }
      if (!append(result, apply(op, attributes, numbers))) return std::nullopt;
    }
    return result;
  }
  const std::int64_t count = element_count(output.shape);
  if (count > most_folded_elements) return std::nullopt;
  Shape index(output.shape.size(), 0);
  for (std::int64_t n = 0; n < count; ++n) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Shape& shape = inputs[i]->shape;
      const std::size_t lead = index.size() - shape.size();
      std::int64_t position = 0;
      for (std::size_t axis = 0; axis < shape.size(); ++axis)
        position = position * shape[axis] + (shape[axis] == 1 ? 0 : index[lead + axis]);
      numbers[i] = element(*inputs[i], position);
    }
    if (!append(result, apply(op, attributes, numbers))) return std::nullopt;
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == output.shape[axis];) index[axis] = 0;
  }
  return result;
}

}  // namespace monet
