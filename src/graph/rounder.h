// Rounding to one element type, prepared once and cheap for each value: the inner part of `rounded` and `quantize`.
#pragma once

#include "graph/number.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace monet {

// 2^exponent, for -1022 to 1023.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// What a stochastic rounding adds to the whole steps below: one with the probability of `fraction`, given an even
// `chance`.
inline double stochastic_step(double fraction, double chance) { return fraction >= 1 - chance ? 1.0 : 0.0; }

// Of a floating-point type with a sign and a mantissa.
class FloatRounder {
 public:
  FloatRounder(const FloatLayout& layout, bool saturate);

  double nearest(double value) const {
    const double magnitude = std::min(bound_, std::abs(value));
    // A sum above 2^52 steps has no room for less than a step: the addition itself rounds, to the even one.
    const double shift = binade(magnitude) * steps_to_shift_;
    return finished((magnitude + shift) - shift, value);
  }

  double stochastic(double value, double chance) const {
    const double magnitude = std::min(bound_, std::abs(value));
    const double step = binade(magnitude) * step_;
    const double steps = magnitude / step;
    const auto whole = static_cast<double>(static_cast<std::int64_t>(steps));
    return finished((whole + stochastic_step(steps - whole, chance)) * step, value);
  }

 private:
  // The power of two at or below the magnitude, or the smallest normal number where that is larger: numbers of the type
  // have the same distance up to twice this.
  double binade(double magnitude) const {
    constexpr std::uint64_t exponent_bits = 0x7ff0000000000000;
    return std::max(smallest_normal_, std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & exponent_bits));
  }

  double finished(double magnitude, double value) const {
    const double result = std::copysign(magnitude > largest_ ? overflow_ : magnitude, value) + added_zero_;
    return std::isnan(value) ? not_a_number_ : result;
  }

  double smallest_normal_;
  double step_;            // of the binade
  double steps_to_shift_;  // 2^52 steps of the binade
  double largest_;
  double overflow_;  // what is beyond the largest
  double bound_;     // far enough beyond the largest, and finite
  double not_a_number_;
  double added_zero_;  // -0 leaves all zeros as they are, 0 makes them positive
};

// Of an integer type of at most 32 bits; `symmetric`: without the lowest number, which has no positive counterpart.
class IntegerRounder {
 public:
  explicit IntegerRounder(ElementType type, bool symmetric = false);

  double nearest(double value) const {
    // As above: at 1.5 * 2^52 the distance between doubles is one.
    constexpr double shift = 0x1.8p52;
    return (clamped(value) + shift) - shift;
  }

  double stochastic(double value, double chance) const {
    const double inside = clamped(value);
    const double whole = std::floor(inside);
    return whole + stochastic_step(inside - whole, chance) + 0.0;
  }

 private:
  double clamped(double value) const { return std::max(lowest_, std::min(largest_, value)); }

  double lowest_;
  double largest_;
};

// Of any type.
struct AnyRounder {
  ElementType type;

  double nearest(double value) const { return rounded(value, type); }
  double stochastic(double value, double chance) const { return rounded(value, type, Rounding::stochastic, chance); }
};

// use(rounder), with the quickest one for the type. `saturate` concerns floating-point types, `symmetric` integers.
template <class Use>
void with_rounder(ElementType type, bool saturate, bool symmetric, const Use& use) {
  if (is_integer(type) && bits_of(type) <= 32) return use(IntegerRounder(type, symmetric));
  if (is_floating(type) && type != ElementType::float64) {
    const FloatLayout layout = layout_of(type);
    if (layout.mantissa_bits > 0) return use(FloatRounder(layout, saturate));
  }
  use(AnyRounder{type});
}

}  // namespace monet
