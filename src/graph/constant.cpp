#include "graph/constant.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

std::size_t stored_index(const Constant& constant, std::int64_t index) {
  switch (constant.pattern) {
    case Constant::Pattern::dense: return static_cast<std::size_t>(index);
    case Constant::Pattern::uniform: return 0;
    case Constant::Pattern::banded: break;
  }
  const std::int64_t columns = constant.shape.back();
  const std::int64_t rows = constant.shape[constant.shape.size() - 2];
  const std::int64_t column = index % columns;
  const std::int64_t row = index / columns % rows;
  return column - row <= constant.diagonal ? 0 : 1;
}

}  // namespace

Constant Constant::integers(ElementType type, Shape shape, std::vector<std::int64_t> values) {
  return {
      .type = type, .shape = std::move(shape), .pattern = Pattern::dense, .diagonal = 0, .values = std::move(values)};
}

Constant Constant::reals(ElementType type, Shape shape, std::vector<double> values) {
  return {
      .type = type, .shape = std::move(shape), .pattern = Pattern::dense, .diagonal = 0, .values = std::move(values)};
}

std::int64_t Constant::integer_at(std::int64_t index) const {
  const std::size_t at = stored_index(*this, index);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&values)) return (*integers)[at];
  const double real = std::get<std::vector<double>>(values)[at];
  if (std::isnan(real)) return 0;
  if (real >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  if (real < -0x1p63) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(real);
}

double Constant::real_at(std::int64_t index) const {
  const std::size_t at = stored_index(*this, index);
  if (const auto* reals = std::get_if<std::vector<double>>(&values)) return (*reals)[at];
  return static_cast<double>(std::get<std::vector<std::int64_t>>(values)[at]);
}

bool Constant::is_uniformly(double value) const {
  return std::visit(
      [value](const auto& stored) {
        return std::all_of(stored.begin(), stored.end(), [value](auto x) { return static_cast<double>(x) == value; });
      },
      values);
}

}  // namespace monet
