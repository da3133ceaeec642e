// Values between those that are known, and how sure they are: Gaussian process regression (Rasmussen and Williams,
// Gaussian Processes for RoutedMachine Learning, 2006, algorithm 2.1) with a Matérn 5/2 kernel, a length for each
// coordinate.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace monet::explore {

using Coordinates = std::vector<double>;  // each about 0 to 1

struct Lengths {
  std::vector<double> lengths;  // by coordinate: the distance over which values differ
  double noise = 1e-4;          // variance that no coordinate explains, of a total of 1

  bool operator==(const Lengths&) const = default;
};

class GaussianProcess {
 public:
  struct Guess {
    double mean = 0, deviation = 0;
  };

  // `values` are scaled to mean 0 and variance 1 inside.
  GaussianProcess(std::vector<Coordinates> points, std::span<const double> values, Lengths lengths);

  Guess at(const Coordinates& point) const;
  // Of the values, in nats, but for a constant.
  double log_likelihood() const;

 private:
  double kernel(const Coordinates& a, const Coordinates& b) const;

  std::vector<Coordinates> points_;
  Lengths lengths_;
  double mean_ = 0, scale_ = 1;
  std::vector<double> scaled_;
  std::vector<double> factor_;   // lower triangle of the Cholesky factor, row by row, full rows
  std::vector<double> weights_;  // inverse covariance times values
};

// The lengths under which the values are most likely, each of a few, one coordinate after another.
Lengths likely_lengths(const std::vector<Coordinates>& points, std::span<const double> values, Lengths start);

}  // namespace monet::explore
