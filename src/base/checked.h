// Integer arithmetic that reports overflow instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace monet {

inline std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

inline std::optional<std::int64_t> checked_product(std::span<const std::int64_t> factors) {
  std::int64_t product = 1;
  bool overflow = false;
  for (std::int64_t factor : factors) {
    if (factor == 0) return 0;
    overflow |= __builtin_mul_overflow(product, factor, &product);
  }
  if (overflow) return std::nullopt;
  return product;
}

// The greatest integer not above numerator / denominator; denominator > 0.
constexpr std::int64_t floor_divide(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  return quotient - ((numerator % denominator != 0) && (numerator < 0) ? 1 : 0);
}

// The least integer not below numerator / denominator; denominator > 0.
constexpr std::int64_t ceil_divide(std::int64_t numerator, std::int64_t denominator) {
  return -floor_divide(-numerator, denominator);
}

}  // namespace monet
