#include "explore/analysis/analysis.h"

#include <algorithm>
#include <cmath>

namespace monet::explore {

namespace {

// The continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes, 3rd edition, 6.4).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300, exact = 1e-14;
  constexpr int most = 500;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m <= most; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1) < exact) break;
  }
  return fraction;
}

// Regularized: the probability that a beta variable of a and b is at most x.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// The probability that the share is at most `share` where the noncentrality is `away`: a mixture of beta distributions
// with Poisson weights, from the largest weight to both sides.
double at_most(double share, double between, double within, double away) {
  const double mean = away / 2;
  const auto weight = [&](double j) {
    return mean > 0 ? std::exp(j * std::log(mean) - mean - std::lgamma(j + 1)) : j == 0 ? 1.0 : 0.0;
  };
  const double middle = std::floor(mean), spread = 10 * std::sqrt(mean) + 20;
  double sum = 0;
  for (double j = std::max(0.0, middle - spread); j <= middle + spread; ++j) {
    const double w = weight(j);
    if (w > 1e-16) sum += w * incomplete_beta(between / 2 + j, within / 2, share);
  }
  return sum;
}

}  // namespace

namespace {

ShareInterval interval(double share, std::size_t groups, std::size_t samples) {
  constexpr double tail = 0.05;
  const double between = static_cast<double>(groups - 1), within = static_cast<double>(samples - groups);
  const double count = static_cast<double>(samples);
  constexpr std::size_t many = 2000;
  if (samples > many) {
    // The error of a share of variance for many samples (Olkin and Finn, Psychological Bulletin 118, 1995).
    const double error = 2 * std::sqrt(share / count) * (1 - share), normal = 1.6449;  // 5 % beyond it
    return {std::max(0.0, share - normal * error), std::min(1.0, share + normal * error)};
  }
  // The noncentrality at which so small a share has `probability`; it falls as the noncentrality grows.
  const auto share_where = [&](double probability) {
    double low = 0, high = 1;
    if (at_most(share, between, within, 0) <= probability) return 0.0;
    while (at_most(share, between, within, high) > probability && high < 1e7) high *= 2;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (at_most(share, between, within, middle) > probability ? low : high) = middle;
    }
    return low / (low + count);
  };
  if (share >= 1) return {1, 1};
  return {share_where(1 - tail), share_where(tail)};
}

}  // namespace

ShareInterval share_interval(double share, std::size_t groups, std::size_t samples) {
  if (samples <= groups) return {};
  if (groups < 2) return {0, 0};
  ShareInterval found = interval(share, groups, samples);
  const double all = static_cast<double>(samples - 1), within = static_cast<double>(samples - groups);
  found.likely = std::clamp(1 - (1 - share) * all / within, found.low, found.high);
  return found;
}

}  // namespace monet::explore
