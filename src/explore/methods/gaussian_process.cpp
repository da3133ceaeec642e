#include "explore/methods/gaussian_process.h"

#include <algorithm>
#include <cmath>

namespace monet::explore {

namespace {

constexpr double least_length = 0.05, most_length = 12.8, least_noise = 1e-6, most_noise = 1e-1;
constexpr int sweeps = 3;

}  // namespace

GaussianProcess::GaussianProcess(std::vector<Coordinates> points, std::span<const double> values, Lengths lengths)
    : points_(std::move(points)), lengths_(std::move(lengths)), scaled_(values.begin(), values.end()) {
  const std::size_t n = points_.size();
  for (const double value : values) mean_ += value / static_cast<double>(n);
  double variance = 0;
  for (const double value : values) variance += (value - mean_) * (value - mean_) / static_cast<double>(n);
  if (variance > 0) scale_ = std::sqrt(variance);
  for (double& value : scaled_) value = (value - mean_) / scale_;

  factor_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = kernel(points_[i], points_[j]) + (i == j ? lengths_.noise : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= factor_[i * n + k] * factor_[j * n + k];
      // The noise keeps it above 0 but for rounding.
      factor_[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / factor_[j * n + j];
    }
  }
  weights_ = scaled_;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) weights_[i] -= factor_[i * n + k] * weights_[k];
    weights_[i] /= factor_[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) weights_[i] -= factor_[k * n + i] * weights_[k];
    weights_[i] /= factor_[i * n + i];
  }
}

double GaussianProcess::kernel(const Coordinates& a, const Coordinates& b) const {
  double square = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double distance = (a[d] - b[d]) / lengths_.lengths[d];
    square += distance * distance;
  }
  const double r = std::sqrt(5 * square);
  return (1 + r + r * r / 3) * std::exp(-r);
}

GaussianProcess::Guess GaussianProcess::at(const Coordinates& point) const {
  const std::size_t n = points_.size();
  double mean = 0, explained = 0;
  std::vector<double> solved(n);
  for (std::size_t i = 0; i < n; ++i) {
    solved[i] = kernel(point, points_[i]);
    mean += solved[i] * weights_[i];
    for (std::size_t k = 0; k < i; ++k) solved[i] -= factor_[i * n + k] * solved[k];
    solved[i] /= factor_[i * n + i];
    explained += solved[i] * solved[i];
  }
  return {.mean = mean_ + scale_ * mean, .deviation = scale_ * std::sqrt(std::max(0.0, 1 - explained))};
}

double GaussianProcess::log_likelihood() const {
  double result = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    result -= scaled_[i] * weights_[i] / 2 + std::log(factor_[i * points_.size() + i]);
  }
  return result;
}

Lengths likely_lengths(const std::vector<Coordinates>& points, std::span<const double> values, Lengths start) {
  Lengths best = std::move(start);
  double likelihood = GaussianProcess(points, values, best).log_likelihood();
  const auto better = [&](const Lengths& other) {
    const double of_other = GaussianProcess(points, values, other).log_likelihood();
    if (!(of_other > likelihood)) return false;
    likelihood = of_other;
    best = other;
    return true;
  };
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    bool moved = false;
    for (std::size_t d = 0; d < best.lengths.size(); ++d) {
      for (const double factor : {2.0, 0.5}) {
        Lengths other = best;
        other.lengths[d] = std::clamp(other.lengths[d] * factor, least_length, most_length);
        if (better(other)) {
          moved = true;
          break;
        }
      }
    }
    for (const double factor : {10.0, 0.1}) {
      Lengths other = best;
      other.noise = std::clamp(other.noise * factor, least_noise, most_noise);
      if (better(other)) {
        moved = true;
        break;
      }
    }
    if (!moved) break;
  }
  return best;
}

}  // namespace monet::explore
