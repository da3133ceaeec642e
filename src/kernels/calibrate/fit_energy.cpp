#include "kernels/calibrate/fit.h"
#include "kernels/calibrate/minimize.h"
#include "kernels/laws.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

constexpr int energy_rounds = 25;
constexpr std::size_t few_slowed = 4;  // of which no exponent of the clock can be told

using EnergyValues = std::array<double, 9>;

// From where the search begins: watts, picojoules a flop by precision, a byte, a byte of memory, watts again, and the
// exponent of the clock: voltage and clock change alike, and energy goes with the voltage's square.
constexpr EnergyValues start_values = {100, 8, 1.5, 0.7, 30, 75, 100, 150, 2};

EnergyLaw law_of(std::span<const double> x, double limit_w) {
  return {x[0], {x[1], x[2], x[3]}, x[4], x[5], x[6], x[7], limit_w, x[8]};
}

// Rows to fit, and what is known beside them.
struct EnergyRows {
  std::vector<const MeasuredEnergy*> rows;
  double full_clock_mhz = 0;  // 0: no clock is known
  double base_w = 0;          // what the smallest kernels draw; 0: they were not measured
  bool slowed = false;        // enough of them to tell what a lower clock saves

  double clock_of(const MeasuredEnergy& row) const { return row.clock_mhz > 0 ? row.clock_mhz / full_clock_mhz : 1; }
};

EnergyRows rows_of(const std::vector<MeasuredEnergy>& energies) {
  EnergyRows result;
  double tiny = 0;
  for (const MeasuredEnergy& row : energies) {
    if (row.tiny) {
      result.base_w += row.watts;
      ++tiny;
    }
    if (row.idle || row.tiny || row.zeros) continue;
    result.rows.push_back(&row);
    result.full_clock_mhz = std::max(result.full_clock_mhz, row.clock_mhz);
  }
  if (tiny > 0) result.base_w /= tiny;
  constexpr double hardly = 0.98;
  const auto slowed =
      std::ranges::count_if(result.rows, [&](const MeasuredEnergy* row) { return result.clock_of(*row) < hardly; });
  result.slowed = static_cast<std::size_t>(slowed) >= few_slowed;
  return result;
}

EnergyLaw fitted(const KernelLaws& laws, const EnergyRows& all, const std::vector<const MeasuredEnergy*>& rows) {
  EnergyValues x = start_values;
  if (all.base_w > 0) x.front() = all.base_w;
  if (!all.slowed) x.back() = 0;
  std::vector<SearchRange> ranges;
  for (const double value : x) ranges.push_back({value / 10, value * 10});
  if (all.base_w > 0) ranges.front() = {all.base_w, all.base_w};
  ranges.back() = all.slowed ? SearchRange{0.25, 4} : SearchRange{};
  minimize(x, ranges, energy_rounds, [&](std::span<const double> tried) {
    KernelLaws changed;
    changed.multiprocessors = laws.multiprocessors;
    changed.memory = laws.memory;
    changed.ceiling = laws.ceiling;
    changed.energy = law_of(tried, 0);
    double sum = 0;
    for (const MeasuredEnergy* row : rows)
      sum += std::abs(std::log(millijoules(changed, row->kernel, row->us, all.clock_of(*row)) / row->mj));
    return sum;
  });
  return law_of(x, laws.energy.limit_w);
}

double error_of(const KernelLaws& laws, const MeasuredEnergy& row, double clock) {
  return std::abs(millijoules(laws, row.kernel, row.us, clock) / row.mj - 1);
}

}  // namespace

ClassError fit_energy(KernelLaws& laws, const std::vector<MeasuredEnergy>& energies, int folds) {
  const EnergyRows all = rows_of(energies);
  const std::vector<const MeasuredEnergy*>& rows = all.rows;
  ClassError error{{}, rows.size(), 0, 0};
  if (rows.size() < 12) return error;
  const auto count = static_cast<double>(rows.size());
  KernelLaws others = laws;
  const auto parts = static_cast<std::size_t>(folds);
  for (std::size_t fold = 0; fold < parts; ++fold) {
    std::vector<const MeasuredEnergy*> kept;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i % parts != fold) kept.push_back(rows[i]);
    others.energy = fitted(laws, all, kept);
    for (std::size_t i = fold; i < rows.size(); i += parts)
      error.left_out += error_of(others, *rows[i], all.clock_of(*rows[i])) / count;
  }
  laws.energy = fitted(laws, all, rows);
  for (const MeasuredEnergy* row : rows) error.law += error_of(laws, *row, all.clock_of(*row)) / count;
  return error;
}

}  // namespace monet
