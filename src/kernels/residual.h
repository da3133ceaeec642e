// How measured kernels of a class differ from its law, and what follows for others near them: the mean of a Gaussian
// process over logarithms of sizes (Rasmussen, Williams: Gaussian Processes for Machine Learning, 2.2 and 5.4.2).
#pragma once

#include "kernels/kernel_class.h"

#include <vector>

namespace monet {

// Covariance of two residuals: exp(−distance / reach), and `noise` more with itself.
struct Nearness {
  double reach = 1;
  double noise = 0.1;
};

class Residual {
 public:
  Residual() = default;
  // `logs`: of measured over law.
  Residual(std::vector<KernelShape> shapes, std::vector<double> logs, Nearness nearness);

  bool empty() const { return shapes_.empty(); }
  const Nearness& nearness() const { return nearness_; }
  // What the time by the law is to be multiplied with.
  double factor(const KernelShape& shape) const;
  // For each point: the logarithm that the others predict for it.
  std::vector<double> left_out() const;

 private:
  std::vector<double> factored_covariance() const;

  std::vector<KernelShape> shapes_;
  std::vector<double> logs_;
  std::vector<double> weights_;
  Nearness nearness_;
};

}  // namespace monet
