// A step over a pipeline of chips, each stage of which may be split further (tp) and repeated (dp): from what blocks
// cost, in time and memory.
#pragma once

#include "evaluate/kernels/kernel_network.h"
#include "evaluate/stages/data_parallel.h"
#include "evaluate/stages/step_profile.h"
#include "pipeline/timeline.h"

#include <monet/expected.h>

#include <vector>

namespace monet {

// How blocks are dealt out to stages.
enum class StageCut : std::uint8_t {
  balanced,  // so that the slowest stage is as fast as can be, embeddings and head counted
  // As many blocks each; where embeddings and head make it divide, counted as a block each. Else balanced but for
  // these.
  equal,
};

struct PipelineSettings {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::uint32_t chunks = 1;  // stages of a chip
  std::uint32_t micro_batches = 1;
  StageCut cut = StageCut::balanced;
  std::vector<std::size_t> sizes;  // blocks of each stage; empty: by `cut`
  int zero = 0;                    // 2 and 3 without a pipeline alone
  bool overlap = true;             // sums of gradients, weights that are gathered and messages run beside launches
  // Chips that hold the same of what passes between stages, each of which sends its part, and gathers at the other end.
  std::int64_t scatter = 1;
  double gradient_bytes = 0;  // of a number in sums over dp; 0: as the step has them
};

// Chips that do the same, of one pipeline.
struct ChipKind {
  std::size_t chip = 0, count = 0;  // the first of them, and how many
  std::vector<std::size_t> stages;  // of the first: chunks, in order
  std::size_t blocks = 0;
  double forward_s = 0, backward_s = 0, update_s = 0;  // of one micro-batch; of the step
  double busy_s = 0;                                   // of the step, without the update
  std::int64_t static_bytes = 0, peak_bytes = 0;
  std::uint32_t most_in_flight = 0;
};

struct PipelinedStep {
  double seconds = 0;
  double bubble_fraction = 0;  // for which chips of the pipeline stand still, over what they work
  double recomputed_s = 0;     // of one chip of the slowest kind
  double energy_pj = 0;        // of all chips
  std::size_t slowest = 0;     // chip of the pipeline whose work takes longest
  AxisCost tp, dp, pp;         // of that chip
  std::vector<ChipKind> kinds;
  std::vector<std::size_t> sizes;  // blocks by stage
  PipelineOrder order;
  std::vector<StageCost> costs;  // by stage
  PipelineTimes times;

  std::int64_t peak_bytes() const;
};

// `network`: of all chips, its mesh with axes dp, pp and tp as far as there are any.
// Fails where the schedule has no such shape, there are fewer blocks than stages, or sizes do not add up.
Expected<PipelinedStep> pipelined(const StepProfile& profile, const PipelineSettings& settings,
                                  const ChipNetwork& network);

// Blocks by stage.
Expected<std::vector<std::size_t>> stage_sizes(const StepProfile& profile, const PipelineSettings& settings,
                                               std::size_t stages);

}  // namespace monet
