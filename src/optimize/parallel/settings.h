// The settings of a parallel plan, and what can be said of one without putting it in time.
#pragma once

#include "evaluate/stages/pipelined_step.h"
#include "training/recompute_choice.h"

#include <monet/parallel.h>

#include <string>
#include <vector>

namespace monet::many_chips {

// What chips inside a stage do: settings that differ in all else share it.
struct ChipChoice {
  std::int64_t tp = 1, micro_batch = 1;
  bool sequence = false;
  training::RecomputeChoice recompute = training::RecomputeChoice::none;
  bool operator==(const ChipChoice&) const = default;
};

// Orders of dp, pp and tp, outermost first; the usual one comes first.
inline constexpr std::size_t placements = 6;
const std::vector<std::vector<std::string>>& placement_orders();

struct Setting {
  ChipChoice chip;
  std::int64_t chips = 1, pp = 1, dp = 1, micro_batches = 1, chunks = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  int zero = 0;
  std::size_t placement = 0;

  Mesh mesh() const;
};

// As --parallel takes it, and the order of the axes where it is not the usual one.
std::string words_of(const Setting& setting);

// All for so many chips and that batch, grouped by chip choice in the order of `choices`.
struct SettingSpace {
  std::int64_t chips = 0, batch = 0;
  std::size_t blocks = 0;
};
std::vector<ChipChoice> chip_choices(const SettingSpace& space, const ParallelSearchOptions& options);
std::vector<Setting> settings_of(const SettingSpace& space, const ChipChoice& chip,
                                 const ParallelSearchOptions& options);

// Sums over the blocks of a chip, from which bounds follow.
class SettingBounds {
 public:
  SettingBounds(const StepProfile& profile, std::size_t blocks);

  // No setting needs less: of the first chip of the pipeline, with what it has in flight.
  std::int64_t memory_bytes(const Setting& setting) const;
  // No setting is faster: the work of the busiest chip, and of the first micro-batch until it gets there.
  double seconds(const Setting& setting) const;
  double energy_pj(const Setting& setting) const;

 private:
  const StepProfile& profile_;
  BlockProfile least_;  // of all blocks, each quantity by itself
  double blocks_ = 0;
  double forward_ = 0, backward_ = 0, update_ = 0;  // of all blocks together
  double energy_ = 0, update_energy_ = 0;
};

}  // namespace monet::many_chips
