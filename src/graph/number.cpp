#include "graph/number.h"

#include "base/require.h"
#include "graph/rounder.h"

#include <limits>
#include <vector>

namespace monet {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool has_not_a_number(const FloatLayout& layout) { return layout.unsigned_zero || layout.specials != Specials::none; }

std::uint32_t low_bits(int count) { return static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1); }

// Code of the largest number, of those without sign.
std::uint32_t largest_code(const FloatLayout& layout) {
  const std::uint32_t all = low_bits(layout.exponent_bits + layout.mantissa_bits);
  switch (layout.specials) {
    case Specials::none: return all;
    case Specials::nan: return all - 1;
    case Specials::ieee: return all - (std::uint32_t{1} << layout.mantissa_bits);
  }
  return all;
}

std::uint32_t not_a_number_code(const FloatLayout& layout) {
  const int magnitude_bits = layout.exponent_bits + layout.mantissa_bits;
  if (layout.unsigned_zero) return std::uint32_t{1} << magnitude_bits;
  if (layout.specials == Specials::none) return largest_code(layout);
  if (layout.specials == Specials::nan) return low_bits(magnitude_bits);
  return low_bits(layout.exponent_bits + 1) << (layout.mantissa_bits - 1);  // quiet
}

double magnitude_of(std::uint32_t code, const FloatLayout& layout) {
  const auto exponent = static_cast<int>(code >> layout.mantissa_bits);
  const std::uint32_t fraction = code & low_bits(layout.mantissa_bits);
  if (!layout.has_sign) return power_of_two(exponent - layout.bias);
  const std::uint32_t whole = exponent == 0 ? 0 : std::uint32_t{1} << layout.mantissa_bits;
  return static_cast<double>(whole + fraction) *
         power_of_two(std::max(exponent, 1) - layout.bias - layout.mantissa_bits);
}

double decoded_float(std::uint32_t code, const FloatLayout& layout) {
  const int magnitude_bits = layout.exponent_bits + layout.mantissa_bits;
  const std::uint32_t magnitude = code & low_bits(magnitude_bits);
  const bool negative = layout.has_sign && (code >> magnitude_bits & 1) != 0;
  if (layout.unsigned_zero && negative && magnitude == 0) return not_a_number;
  double value = magnitude_of(magnitude, layout);
  if (magnitude > largest_code(layout)) {
    const bool infinite = layout.specials == Specials::ieee && (magnitude & low_bits(layout.mantissa_bits)) == 0;
    value = infinite ? infinity : not_a_number;
  }
  return negative ? -value : value;
}

// Of a number that the type has.
std::uint32_t code_of(double number, const FloatLayout& layout) {
  if (std::isnan(number)) return not_a_number_code(layout);
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::abs(number));
  const int exponent = static_cast<int>(bits >> 52) - 1023 + layout.bias;
  if (!layout.has_sign) return static_cast<std::uint32_t>(exponent);
  std::uint32_t code = 0;
  if (std::isinf(number)) {
    code = largest_code(layout) + 1;
  } else if (exponent > 0) {
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    code = static_cast<std::uint32_t>(exponent) << layout.mantissa_bits |
           static_cast<std::uint32_t>(fraction >> (52 - layout.mantissa_bits));
  } else {
    code = static_cast<std::uint32_t>(std::abs(number) * power_of_two(layout.bias - 1 + layout.mantissa_bits));
  }
  const std::uint32_t sign = std::signbit(number) ? 1 : 0;
  return code | sign << (layout.exponent_bits + layout.mantissa_bits);
}

// Of a type without a mantissa: powers of two, and zero unless it is float8e8m0. That one is rounded up from the
// middle, as ONNX's Cast has it.
double rounded_power(double value, const FloatLayout& layout, Rounding rounding, double chance) {
  const double most = magnitude_of(largest_code(layout), layout);
  if (std::isnan(value)) return has_not_a_number(layout) ? value : most;
  const double least = power_of_two((layout.has_sign ? 1 : 0) - layout.bias);
  const double magnitude = std::min(most, layout.has_sign ? std::abs(value) : std::max(least, value));
  double below = 0;
  double distance = least;
  if (magnitude >= least) {
    below = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & 0x7ff0000000000000);
    distance = below;
  }
  const double fraction = (magnitude - below) / distance;
  const bool middle_up = !layout.has_sign || (below > 0 && code_of(below, layout) % 2 == 1);
  const bool up = rounding == Rounding::nearest ? fraction > 0.5 || (fraction == 0.5 && middle_up)
                                                : stochastic_step(fraction, chance) > 0;
  const double result = up ? below + distance : below;
  return layout.has_sign ? std::copysign(result, value) : result;
}

double rounded_wide_integer(double value, ElementType type, Rounding rounding, double chance) {
  const double largest = largest_number(type);
  const double lowest = is_signed_integer(type) ? -power_of_two(bits_of(type) - 1) : 0.0;
  const double inside = std::max(lowest, std::min(largest, value));
  const double whole = std::floor(inside);
  if (rounding == Rounding::stochastic) return whole + stochastic_step(inside - whole, chance) + 0.0;
  return std::nearbyint(inside) + 0.0;
}

template <class Rounder>
double rounded_by(const Rounder& rounder, double value, Rounding rounding, double chance) {
  return rounding == Rounding::nearest ? rounder.nearest(value) : rounder.stochastic(value, chance);
}

constexpr std::size_t named_float_count = static_cast<std::size_t>(ElementType::float4e2m1) + 1;

// Of the named types, made once; float32 stands in for those that FloatRounder does not know.
const FloatRounder& named_rounder(ElementType type, bool saturate) {
  struct Both {
    FloatRounder saturating, overflowing;
  };
  static const std::vector<Both> all = [] {
    std::vector<Both> rounders;
    for (std::size_t i = 0; i < named_float_count; ++i) {
      auto named = static_cast<ElementType>(i);
      if (named == ElementType::float64 || named == ElementType::float8e8m0) named = ElementType::float32;
      const FloatLayout layout = layout_of(named);
      rounders.push_back({FloatRounder(layout, true), FloatRounder(layout, false)});
    }
    return rounders;
  }();
  const Both& both = all[static_cast<std::size_t>(type)];
  return saturate ? both.saturating : both.overflowing;
}

}  // namespace

FloatLayout layout_of(ElementType type) {
  using enum ElementType;
  switch (type) {
    case float32: return {.exponent_bits = 8, .mantissa_bits = 23, .bias = 127, .specials = Specials::ieee};
    case float16: return {.exponent_bits = 5, .mantissa_bits = 10, .bias = 15, .specials = Specials::ieee};
    case bfloat16: return {.exponent_bits = 8, .mantissa_bits = 7, .bias = 127, .specials = Specials::ieee};
    case tfloat32: return {.exponent_bits = 8, .mantissa_bits = 10, .bias = 127, .specials = Specials::ieee};
    case float8e4m3fn: return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 7, .specials = Specials::nan};
    case float8e4m3fnuz: return {.exponent_bits = 4, .mantissa_bits = 3, .bias = 8, .unsigned_zero = true};
    case float8e5m2: return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 15, .specials = Specials::ieee};
    case float8e5m2fnuz: return {.exponent_bits = 5, .mantissa_bits = 2, .bias = 16, .unsigned_zero = true};
    case float8e8m0: return {.exponent_bits = 8, .bias = 127, .specials = Specials::nan, .has_sign = false};
    case float6e3m2: return {.exponent_bits = 3, .mantissa_bits = 2, .bias = 3};
    case float6e2m3: return {.exponent_bits = 2, .mantissa_bits = 3, .bias = 1};
    case float4e2m1: return {.exponent_bits = 2, .mantissa_bits = 1, .bias = 1};
    default: break;
  }
  const auto parts = unnamed_float_parts(type);
  MONET_REQUIRE(parts.has_value());
  return {.exponent_bits = parts->exponent_bits,
          .mantissa_bits = parts->mantissa_bits,
          .bias = (1 << (parts->exponent_bits - 1)) - 1,
          .specials = parts->specials};
}

FloatRounder::FloatRounder(const FloatLayout& layout, bool saturate) {
  smallest_normal_ = power_of_two(1 - layout.bias);
  step_ = power_of_two(-layout.mantissa_bits);
  steps_to_shift_ = power_of_two(52 - layout.mantissa_bits);
  largest_ = magnitude_of(largest_code(layout), layout);
  overflow_ = saturate || layout.specials != Specials::ieee ? largest_ : infinity;
  bound_ = 4 * power_of_two(static_cast<int>(std::bit_cast<std::uint64_t>(largest_) >> 52) - 1023);
  not_a_number_ = has_not_a_number(layout) ? not_a_number : largest_;
  added_zero_ = layout.unsigned_zero ? 0.0 : -0.0;
}

IntegerRounder::IntegerRounder(ElementType type, bool symmetric) : lowest_(0), largest_(largest_number(type)) {
  if (is_signed_integer(type)) lowest_ = symmetric ? -largest_ : -largest_ - 1;
}

double largest_number(ElementType type) {
  if (type == ElementType::float64) return std::numeric_limits<double>::max();
  if (type == ElementType::boolean) return 1;
  if (is_floating(type)) {
    const FloatLayout layout = layout_of(type);
    return magnitude_of(largest_code(layout), layout);
  }
  const int bits = bits_of(type) - (is_signed_integer(type) ? 1 : 0);
  // Of 64 bits, the largest that a double can be.
  return bits <= 53 ? power_of_two(bits) - 1 : power_of_two(bits) - power_of_two(bits - 53);
}

int largest_exponent(ElementType type) { return std::ilogb(largest_number(type)); }

double rounded(double value, ElementType type, Rounding rounding, double chance, bool saturate) {
  if (type == ElementType::float64) return value;
  if (type == ElementType::float8e8m0) return rounded_power(value, layout_of(type), rounding, chance);
  if (static_cast<std::size_t>(type) < named_float_count)
    return rounded_by(named_rounder(type, saturate), value, rounding, chance);
  if (type == ElementType::boolean) return value != 0 ? 1 : 0;
  if (is_floating(type)) {
    const FloatLayout layout = layout_of(type);
    if (layout.mantissa_bits == 0) return rounded_power(value, layout, rounding, chance);
    return rounded_by(FloatRounder(layout, saturate), value, rounding, chance);
  }
  if (bits_of(type) <= 32) return rounded_by(IntegerRounder(type), value, rounding, chance);
  return rounded_wide_integer(value, type, rounding, chance);
}

std::uint32_t encoded(double value, ElementType type, bool saturate) {
  MONET_REQUIRE(bits_of(type) <= 32);
  const double number = rounded(value, type, Rounding::nearest, 0, saturate);
  if (is_floating(type)) return code_of(number, layout_of(type));
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(number)) & low_bits(bits_of(type));
}

double decoded(std::uint32_t code, ElementType type) {
  MONET_REQUIRE(bits_of(type) <= 32);
  if (is_floating(type)) return decoded_float(code, layout_of(type));
  const std::int64_t low = code & low_bits(bits_of(type));
  const std::int64_t sign = std::int64_t{1} << (bits_of(type) - 1);
  return static_cast<double>(is_signed_integer(type) && (low & sign) != 0 ? low - 2 * sign : low);
}

}  // namespace monet
