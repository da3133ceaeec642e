#include "kernels/calibrate/fit.h"
#include "kernels/calibrate/minimize.h"
#include "kernels/laws.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr int energy_rounds = 25;

using EnergyValues = std::array<double, 8>;

// From where the search begins: watts, picojoules a flop by precision, a byte, a byte of memory, watts again.
constexpr EnergyValues start_values = {100, 8, 1.5, 0.7, 30, 75, 100, 150};

EnergyLaw law_of(std::span<const double> x, double limit_w) {
  return {x[0], {x[1], x[2], x[3]}, x[4], x[5], x[6], x[7], limit_w};
}

EnergyLaw fitted(const KernelLaws& laws, const std::vector<const MeasuredEnergy*>& rows) {
  EnergyValues x = start_values;
  std::vector<SearchRange> ranges;
  for (const double value : x) ranges.push_back({value / 10, value * 10});
  minimize(x, ranges, energy_rounds, [&](std::span<const double> tried) {
    KernelLaws changed;
    changed.multiprocessors = laws.multiprocessors;
    changed.memory = laws.memory;
    changed.ceiling = laws.ceiling;
    changed.energy = law_of(tried, 0);
    double sum = 0;
    for (const MeasuredEnergy* row : rows)
      sum += std::abs(std::log(millijoules(changed, row->kernel, row->us) / row->mj));
    return sum;
  });
  return law_of(x, laws.energy.limit_w);
}

double error_of(const KernelLaws& laws, const MeasuredEnergy& row) {
  return std::abs(millijoules(laws, row.kernel, row.us) / row.mj - 1);
}

}  // namespace

ClassError fit_energy(KernelLaws& laws, const std::vector<MeasuredEnergy>& energies, int folds) {
  std::vector<const MeasuredEnergy*> rows;
  for (const MeasuredEnergy& row : energies)
    if (!row.idle && !row.zeros) rows.push_back(&row);
  ClassError error{{}, rows.size(), 0, 0};
  if (rows.size() < 12) return error;
  const auto count = static_cast<double>(rows.size());
  KernelLaws others = laws;
  const auto parts = static_cast<std::size_t>(folds);
  for (std::size_t fold = 0; fold < parts; ++fold) {
    std::vector<const MeasuredEnergy*> kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i % parts != fold) kept.push_back(rows[i]);
    others.energy = fitted(laws, kept);
    for (std::size_t i = fold; i < rows.size(); i += parts) error.left_out += error_of(others, *rows[i]) / count;
  }
  laws.energy = fitted(laws, rows);
  for (const MeasuredEnergy* row : rows) error.law += error_of(laws, *row) / count;
  return error;
}

}  // namespace monet
