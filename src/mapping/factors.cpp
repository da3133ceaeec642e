#include "mapping/factors.h"

#include "base/checked.h"

#include <algorithm>
#include <utility>

namespace monet {

namespace {

std::vector<std::int64_t> smooth_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t prime : {2, 3, 5, 7}) {
    for (; n % prime == 0; n /= prime) factors.push_back(prime);
  }
  if (n > 1) factors.clear();
  return factors;
}

std::vector<std::int64_t> pieces(std::int64_t n) {
  if (auto factors = smooth_factors(n); !factors.empty()) return factors;
  // A large one like a multiple of a power of two that is less than 1 % above it.
  std::int64_t twos = 0;
  while (n > 1024) {
    n = n / 2 + n % 2;
    ++twos;
  }
  auto factors = smooth_factors(n);
  while (factors.empty()) factors = smooth_factors(++n);
  factors.insert(factors.end(), static_cast<std::size_t>(twos), 2);
  return factors;
}

}  // namespace

std::vector<Factor> factors_of(std::span<const std::int64_t> iterations, std::size_t limit,
                               std::span<const Factor> given) {
  std::vector<std::int64_t> left(iterations.begin(), iterations.end());
  for (const Factor& factor : given) left[factor.loop] = ceil_divide(left[factor.loop], factor.size);
  std::vector<std::vector<std::int64_t>> split(left.size());
  std::size_t count = given.size();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] > 1) split[i] = pieces(left[i]);
    std::ranges::sort(split[i]);
    count += split[i].size();
  }
  while (count > limit) {
    auto most = std::ranges::max_element(split, {}, [](const auto& s) { return s.size(); });
    if (most == split.end() || most->size() < 2) break;
    const std::int64_t joined = (*most)[0] * (*most)[1];
    most->erase(most->begin(), most->begin() + 2);
    most->insert(std::ranges::lower_bound(*most, joined), joined);
    --count;
  }
  std::vector<Factor> factors(given.begin(), given.end());
  for (std::size_t i = 0; i < split.size(); ++i) {
    for (std::int64_t size : split[i]) factors.push_back({static_cast<std::uint8_t>(i), size});
  }
  std::ranges::sort(factors, {}, [](const Factor& f) { return std::pair(f.loop, f.size); });
  return factors;
}

}  // namespace monet
