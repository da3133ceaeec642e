#include "kernels/residual.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// A symmetric positive definite matrix, by rows; becomes its Cholesky factor (lower triangle).
void factorize(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t row = column; row < size; ++row) {
      double sum = matrix[row * size + column];
      for (std::size_t i = 0; i < column; ++i) sum -= matrix[row * size + i] * matrix[column * size + i];
      matrix[row * size + column] =
          row == column ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[column * size + column];
    }
  }
}

// Solves L·Lᵀ·x = b in place.
void solve_factored(const std::vector<double>& factor, std::size_t size, std::vector<double>& x) {
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t i = 0; i < row; ++i) x[row] -= factor[row * size + i] * x[i];
    x[row] /= factor[row * size + row];
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t i = row + 1; i < size; ++i) x[row] -= factor[i * size + row] * x[i];
    x[row] /= factor[row * size + row];
  }
}

}  // namespace

Residual::Residual(std::vector<KernelShape> shapes, std::vector<double> logs, Nearness nearness)
    : shapes_(std::move(shapes)), logs_(std::move(logs)), weights_(logs_), nearness_(nearness) {
  solve_factored(factored_covariance(), shapes_.size(), weights_);
}

std::vector<double> Residual::factored_covariance() const {
  const std::size_t size = shapes_.size();
  std::vector<double> covariance(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      covariance[i * size + j] = std::exp(-distance(shapes_[i], shapes_[j]) / nearness_.reach);
    covariance[i * size + i] += nearness_.noise;
  }
  factorize(covariance, size);
  return covariance;
}

double Residual::factor(const KernelShape& shape) const {
  double sum = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i)
    sum += weights_[i] * std::exp(-distance(shapes_[i], shape) / nearness_.reach);
  return std::exp(sum);
}

// Each by the diagonal of the covariance's inverse, which is the squared length of a column of the factor's inverse.
std::vector<double> Residual::left_out() const {
  const std::size_t size = shapes_.size();
  const std::vector<double> factor = factored_covariance();
  std::vector<double> result(size), column(size);
  for (std::size_t i = 0; i < size; ++i) {
    double squares = 0;
    for (std::size_t row = i; row < size; ++row) {
      double sum = row == i ? 1 : 0;
      for (std::size_t j = i; j < row; ++j) sum -= factor[row * size + j] * column[j];
      column[row] = sum / factor[row * size + row];
      squares += column[row] * column[row];
    }
    result[i] = logs_[i] - weights_[i] / squares;
  }
  return result;
}

}  // namespace monet
