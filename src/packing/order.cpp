#include "packing/order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace monet::packing {

namespace {

// By buffer: the largest of `values` in its sections, by a table of maxima over powers of two.
template <class T>
std::vector<T> largest_in_span(const Problem& problem, std::span<const T> values) {
  std::vector<std::vector<T>> maxima{{values.begin(), values.end()}};
  for (std::size_t width = 2; width <= values.size(); width *= 2) {
    const std::vector<T>& half = maxima.back();
    std::vector<T> whole(values.size() - width + 1);
    for (std::size_t s = 0; s < whole.size(); ++s) whole[s] = std::max(half[s], half[s + width / 2]);
    maxima.push_back(std::move(whole));
  }
  std::vector<T> result(problem.first.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto width = static_cast<std::uint32_t>(problem.last[i] - problem.first[i]);
    const std::size_t level = std::bit_width(width) - 1;
    result[i] = std::max(maxima[level][problem.first[i]], maxima[level][problem.last[i] - (1 << level)]);
  }
  return result;
}

double area_of(const Problem& problem, std::size_t i) {
  return static_cast<double>(problem.lifetime[i]) * static_cast<double>(problem.size[i]);
}

template <std::size_t N>
std::vector<std::int32_t> sorted_by(const std::vector<std::array<double, N>>& keys) {
  std::vector<std::int32_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::int32_t i) { return keys[i]; });
  return order;
}

}  // namespace

std::vector<std::int32_t> order_of(const Problem& problem, OrderKind kind) {
  const std::vector<std::int64_t> totals = largest_in_span<std::int64_t>(problem, problem.load);
  std::vector<std::array<double, 3>> keys(problem.first.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const double area = area_of(problem, i);
    const auto total = static_cast<double>(totals[i]);
    const auto lifetime = static_cast<double>(problem.lifetime[i]);
    switch (kind) {
      case OrderKind::area_total_lifetime: keys[i] = {area, total, lifetime}; break;
      case OrderKind::total_lifetime_area: keys[i] = {total, lifetime, area}; break;
      case OrderKind::lifetime_area_total: keys[i] = {lifetime, area, total}; break;
      case OrderKind::total_area_lifetime: keys[i] = {total, area, lifetime}; break;
    }
  }
  return sorted_by(keys);
}

std::vector<std::int32_t> weighted_order(const Problem& problem, std::span<const double> section_weights) {
  const std::vector<double> weights = largest_in_span<double>(problem, section_weights);
  std::vector<std::array<double, 2>> keys(problem.first.size());
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = {area_of(problem, i) * weights[i], area_of(problem, i)};
  return sorted_by(keys);
}

}  // namespace monet::packing
