#include "kernels/lower/walk.h"

#include "kernels/laws.h"

#include <algorithm>
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

// What all launches together draw beyond the board's limit is taken from all alike. That the clock falls meanwhile is
// not counted: single kernels in fp32 draw up to 738 W of 700 for half a second without being slowed
// (data/groundtruth/h200_energy.csv), and no power of a whole step says from where on they are.
void keep_to_limit(StepCosts& costs, double limit_w) {
  const double limit_mj = limit_w * costs.total_us * 1e-3;
  if (!(limit_w > 0) || costs.total_mj <= limit_mj) return;
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
    costs.phase_us[static_cast<std::size_t>(launch.phase)] += costs.us.back();
    costs.total_us += costs.us.back();
    costs.total_mj += costs.mj.back();
  }
  keep_to_limit(costs, laws.energy.limit_w);
  return costs;
}

}  // namespace monet
