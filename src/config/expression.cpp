#include "config/expression.h"

#include "base/require.h"
#include "base/try.h"
#include "config/expression_code.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace monet {

using namespace expression_code;

namespace {

double binary(int code, double a, double b) {
  switch (code) {
    case add: return a + b;
    case subtract: return a - b;
    case multiply: return a * b;
    case divide: return a / b;
    case remainder_of: return a - b * std::floor(a / b);
    case power: return std::pow(a, b);
    case equal: return a == b;
    case unequal: return a != b;
    case less: return a < b;
    case less_equal: return a <= b;
    case greater: return a > b;
    case greater_equal: return a >= b;
    case both: return a != 0 && b != 0;
    case either: return a != 0 || b != 0;
    case minimum: return b < a ? b : a;
    default: return a < b ? b : a;
  }
}

double unary(int code, double a) {
  switch (code) {
    case negate: return -a;
    case invert: return a == 0;
    case ceiling: return std::ceil(a);
    case floor_of: return std::floor(a);
    case round_of: return std::round(a);
    case absolute: return std::abs(a);
    case logarithm: return std::log2(a);
    default: return std::sqrt(a);
  }
}

Error mixed_units(std::string_view what) {
  return {.message = fmt::format("{} needs two values with the same unit", what)};
}

// A bare 0 has every unit.
bool comparable(const Quantity& a, const Quantity& b) {
  return a.dimension == b.dimension || (a.value == 0 && a.dimension.is_number()) ||
         (b.value == 0 && b.dimension.is_number());
}

Expected<Dimension> binary_dimension(int code, const Quantity& a, const Quantity& b) {
  const Dimension common = a.dimension.is_number() ? b.dimension : a.dimension;
  switch (code) {
    case multiply: return a.dimension + b.dimension;
    case divide: return a.dimension - b.dimension;
    case both:
    case either: return Dimension{};
    case power: {
      if (a.dimension.is_number() && b.dimension.is_number()) return Dimension{};
      return Error{.message = "a power takes numbers without units"};
    }
    case add:
    case subtract:
    case remainder_of:
    case minimum:
    case maximum:
      if (!comparable(a, b)) return mixed_units(code == add || code == subtract ? "a sum" : "min, max or %");
      return common;
    default:
      if (!comparable(a, b)) return mixed_units("a comparison");
      return Dimension{};
  }
}

Expected<Dimension> unary_dimension(int code, const Dimension& a) {
  if (code == invert) return Dimension{};
  if ((code == logarithm || code == square_root) && !a.is_number()) {
    return Error{.message = "log2 and sqrt take a number without a unit"};
  }
  return a;
}

}  // namespace

double Expression::evaluate(std::span<const double> values) const {
  MONET_REQUIRE(values.size() >= names_.size());
  std::array<double, max_stack> stack;  // NOLINT: written before it is read
  std::size_t top = 0;                  // one past the last
  for (const Instruction& step : program_) {
    if (step.code == push_number) {
      stack[top++] = step.number;
    } else if (step.code == push_name) {
      stack[top++] = values[static_cast<std::size_t>(step.argument)];
    } else if (step.code <= maximum) {
      --top;
      stack[top - 1] = binary(step.code, stack[top - 1], stack[top]);
    } else if (step.code == choose) {
      top -= 2;
      stack[top - 1] = stack[top - 1] != 0 ? stack[top] : stack[top + 1];
    } else {
      stack[top - 1] = unary(step.code, stack[top - 1]);
    }
  }
  return stack[0];
}

Expected<Quantity> Expression::evaluate(std::span<const Quantity> values) const {
  MONET_REQUIRE(values.size() >= names_.size());
  std::vector<Quantity> stack;
  for (const Instruction& step : program_) {
    if (step.code == push_number) {
      stack.push_back({step.number, step.dimension});
    } else if (step.code == push_name) {
      stack.push_back(values[static_cast<std::size_t>(step.argument)]);
    } else if (step.code <= maximum) {
      const Quantity b = stack.back();
      stack.pop_back();
      Quantity& a = stack.back();
      MONET_TRY(const Dimension dimension, binary_dimension(step.code, a, b));
      a = {binary(step.code, a.value, b.value), dimension};
    } else if (step.code == choose) {
      const Quantity otherwise = stack.back();
      stack.pop_back();
      const Quantity then = stack.back();
      stack.pop_back();
      if (!comparable(then, otherwise)) return mixed_units("if");
      stack.back() = stack.back().value != 0 ? then : otherwise;
    } else {
      Quantity& a = stack.back();
      MONET_TRY(const Dimension dimension, unary_dimension(step.code, a.dimension));
      a = {unary(step.code, a.value), dimension};
    }
  }
  return stack.front();
}

}  // namespace monet
