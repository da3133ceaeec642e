// Does checked arithmetic agree with 128-bit arithmetic, and does it notice every overflow?
#include "base/checked.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace monet {
namespace {

__extension__ typedef __int128 Wide;

bool fits(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }

TEST(Checked, SumsAndProductsAgreeWithWideArithmetic) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<std::int64_t>(random()) >> (random() % 64);
    const auto b = static_cast<std::int64_t>(random()) >> (random() % 64);
    const Wide sum = static_cast<Wide>(a) + b;
    const Wide product = static_cast<Wide>(a) * b;
    ASSERT_EQ(checked_add(a, b).has_value(), fits(sum));
    ASSERT_EQ(checked_multiply(a, b).has_value(), fits(product));
    ASSERT_EQ(checked_add(a, b).value_or(0), fits(sum) ? static_cast<std::int64_t>(sum) : 0);
    ASSERT_EQ(checked_multiply(a, b).value_or(0), fits(product) ? static_cast<std::int64_t>(product) : 0);
  }
}

TEST(Checked, ProductOfManyFactors) {
  using Factors = std::vector<std::int64_t>;
  const std::int64_t half = std::int64_t{1} << 31;
  EXPECT_EQ(checked_product(Factors{}), 1);
  EXPECT_EQ(checked_product(Factors{2, 3, 7}), 42);
  EXPECT_EQ(checked_product(Factors{half, half}), std::int64_t{1} << 62);
  EXPECT_EQ(checked_product(Factors{half, half, 2}), std::nullopt);
  // Nothing of anything is nothing.
  EXPECT_EQ(checked_product(Factors{half, half, half, 0}), 0);
  EXPECT_EQ(checked_product(Factors{0, half, half, half}), 0);
}

TEST(Checked, DivisionRoundsDownAndUp) {
  for (std::int64_t denominator = 1; denominator <= 5; ++denominator) {
    for (std::int64_t numerator = -12; numerator <= 12; ++numerator) {
      const double exact = static_cast<double>(numerator) / static_cast<double>(denominator);
      EXPECT_EQ(floor_divide(numerator, denominator), static_cast<std::int64_t>(std::floor(exact)));
      EXPECT_EQ(ceil_divide(numerator, denominator), static_cast<std::int64_t>(std::ceil(exact)));
    }
  }
}

}  // namespace
}  // namespace monet
