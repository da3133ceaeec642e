#include "mapping/problem.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace monet {

namespace {

// Distinct values of a * i + b * j for i < m, j < n: all pairs, less those that meet.
double window_positions(std::int64_t a, double m, std::int64_t b, double n) {
  const std::int64_t common = std::gcd(a, b);
  const std::int64_t steps_a = b / common, steps_b = a / common;
  return m * n - std::max(0.0, n - static_cast<double>(steps_b)) * std::max(0.0, m - static_cast<double>(steps_a));
}

}  // namespace

std::uint32_t ProblemOperand::relevant() const {
  std::uint32_t loops = 0;
  for (const ProblemAxis& axis : axes) {
    for (const Term& term : axis.terms) loops |= 1U << term.loop;
  }
  return loops;
}

double Problem::points() const {
  double product = 1;
  for (const Loop& loop : loops) product *= static_cast<double>(loop.size);
  return product;
}

double positions(const ProblemAxis& axis, std::span<const double> extents) {
  const double limit = static_cast<double>(axis.limit);
  const double span = static_cast<double>(axis.span);
  const auto extent = [&](const Term& term) { return extents[term.loop]; };
  if (axis.terms.size() == 1 && axis.divisor == 1 && axis.span == 1) return std::min(limit, extent(axis.terms[0]));
  if (axis.scattered) {
    double product = span;
    for (const Term& term : axis.terms) product *= extent(term);
    return std::min(limit, product);
  }
  if (axis.terms.size() == 2 && axis.divisor == 1 && axis.span == 1) {
    const Term& a = axis.terms[0];
    const Term& b = axis.terms[1];
    return std::min(limit, window_positions(std::abs(a.factor), extent(a), std::abs(b.factor), extent(b)));
  }
  // At most `span` positions for each point, and no more than lie between the first and the last.
  double all = span;
  double steps = 0;
  for (const Term& term : axis.terms) {
    all *= extent(term);
    steps += static_cast<double>(std::abs(term.factor)) * (extent(term) - 1);
  }
  if (axis.divisor > 1) steps = std::ceil((steps + 1) / static_cast<double>(axis.divisor)) - 1;
  return std::min({limit, all, steps + span});
}

double elements(const ProblemOperand& operand, std::span<const double> extents) {
  double product = 1;
  for (const ProblemAxis& axis : operand.axes) product *= positions(axis, extents);
  return product;
}

}  // namespace monet
