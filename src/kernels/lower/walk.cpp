#include "kernels/lower/walk.h"

#include "kernels/laws.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monet {

namespace {

// When each buffer was last touched, in bytes touched since the beginning.
class Touches {
 public:
  Touches(std::size_t buffers, double cold_after)
      : last_(buffers, -std::numeric_limits<double>::infinity()), cold_after_(cold_after) {}

  double cold_share(const Launch& launch) {
    double cold = 0, all = 0;
    for (const Touch& read : launch.reads) {
      if (now_ - last_[read.buffer.index()] > cold_after_) cold += static_cast<double>(read.bytes);
      all += static_cast<double>(read.bytes);
    }
    for (const auto* list : {&launch.reads, &launch.writes}) {
      for (const Touch& each : *list) now_ += static_cast<double>(each.bytes);
    }
    for (const auto* list : {&launch.reads, &launch.writes}) {
      for (const Touch& each : *list) last_[each.buffer.index()] = now_;
    }
    return all > 0 ? cold / all : 0;
  }

 private:
  std::vector<double> last_;
  double cold_after_;
  double now_ = 0;
};

// All launches of a step together, by the share of the full clock at which they run.
class StepEnergy {
 public:
  StepEnergy(const LoweredStep& step, const KernelLaws& laws, const std::vector<double>& us)
      : exponent_(laws.energy.clock_exponent) {
    for (std::size_t i = 0; i < us.size(); ++i) {
      Kernel kernel = step.launches[i].kernel;
      derive_sizes(kernel);
      parts_.push_back(energy_parts(laws, kernel, us[i]));
    }
    us_ = &us;
  }

  double us(std::size_t launch, double clock) const {
    return (*us_)[launch] + (1 / clock - 1) * parts_[launch].clocked_us;
  }

  double mj(std::size_t launch, double clock) const {
    const KernelEnergy& part = parts_[launch];
    const double voltage = std::pow(clock, exponent_);
    return 1e-3 * ((part.base_w + part.busy_w * clock * voltage) * us(launch, clock) +
                   (part.operations * voltage + part.bytes) * 1e-6);
  }

  double watts(double clock) const {
    double time = 0, energy = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      time += us(i, clock);
      energy += mj(i, clock);
    }
    return 1e3 * energy / time;
  }

 private:
  std::vector<KernelEnergy> parts_;
  const std::vector<double>* us_ = nullptr;
  double exponent_ = 0;
};

// The highest at which no more than the limit is drawn.
double clock_within(const StepEnergy& energy, double limit_w) {
  constexpr int halvings = 40;
  double least = 0.1, most = 1;  // below: what flows without any work is over the limit
  for (int i = 0; i < halvings; ++i) {
    const double clock = (least + most) / 2;
    (energy.watts(clock) > limit_w ? most : least) = clock;
  }
  return least;
}

void add_up(StepCosts& costs, const LoweredStep& step) {
  costs.phase_us = {};
  costs.total_us = costs.total_mj = 0;
  for (std::size_t i = 0; i < costs.us.size(); ++i) {
    costs.phase_us[static_cast<std::size_t>(step.launches[i].phase)] += costs.us[i];
    costs.total_us += costs.us[i];
    costs.total_mj += costs.mj[i];
  }
}

// Controllers of boards look at power over many launches and give them all one clock. Where it is not known how
// energies fall with it, what is drawn beyond the limit is taken from all launches alike and none is slowed.
void keep_to_limit(StepCosts& costs, const LoweredStep& step, const KernelLaws& laws) {
  const double limit_w = laws.energy.limit_w;
  if (!(limit_w > 0) || costs.total_mj <= limit_w * costs.total_us * 1e-3) return;
  if (laws.energy.clock_exponent > 0) {
    const std::vector<double> at_full_clock = costs.us;
    const StepEnergy energy(step, laws, at_full_clock);
    costs.clock = clock_within(energy, limit_w);
    for (std::size_t i = 0; i < costs.us.size(); ++i) {
      costs.us[i] = energy.us(i, costs.clock);
      costs.mj[i] = energy.mj(i, costs.clock);
    }
    add_up(costs, step);
  }
  const double limit_mj = limit_w * costs.total_us * 1e-3;
  if (costs.total_mj <= limit_mj) return;
  for (double& mj : costs.mj) mj *= limit_mj / costs.total_mj;
  costs.total_mj = limit_mj;
}

}  // namespace

void set_cold_shares(LoweredStep& step, double cold_after) {
  Touches touches(step.buffers.size(), cold_after);
  for (int time = 0; time < 2; ++time) {  // the first leaves what the second finds
    for (Launch& launch : step.launches) launch.kernel.cold_share = touches.cold_share(launch);
  }
}

StepCosts costs_of(const LoweredStep& step, const KernelLaws& laws) {
  StepCosts costs;
  for (const Launch& launch : step.launches) {
    costs.us.push_back(microseconds(laws, launch.kernel));
    costs.mj.push_back(millijoules(laws, launch.kernel, costs.us.back()));
  }
  add_up(costs, step);
  keep_to_limit(costs, step, laws);
  return costs;
}

}  // namespace monet
