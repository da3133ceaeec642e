// What one chip's part of every block of a step costs for one micro-batch: the parts of which stages of pipelines are
// put together, whatever their number. Measured once on the launches of the whole step, in time.
#pragma once

#include "evaluate/kernels/kernel_network.h"
#include "evaluate/kernels/kernel_step.h"
#include "evaluate/stages/step_blocks.h"

#include <array>
#include <functional>
#include <vector>

namespace monet {

// One part of a block.
struct PartCost {
  double seconds = 0;          // launches, and what is waited for
  double exposed_s = 0;        // of it: waiting for collectives
  double communication_s = 0;  // of its collectives, added up
  double sent_bytes = 0;       // that leave a chip
  std::int64_t collectives = 0;
  double energy_pj = 0;
  double recomputed_s = 0;  // of seconds: launches that repeat some of the forward part

  void add(const PartCost& other, double times = 1);
  bool operator==(const PartCost&) const = default;
};

struct BlockProfile {
  std::array<PartCost, step_parts> parts;
  // Of a micro-batch, from its forward part to its backward part; and at most while one of the two runs.
  std::int64_t kept_bytes = 0, working_bytes = 0;
  std::int64_t weight_bytes = 0, gradient_bytes = 0, state_bytes = 0;  // there all the time
  std::int64_t parameters = 0;                                         // of this chip

  const PartCost& operator[](StepPart part) const { return parts[static_cast<std::size_t>(part)]; }
  PartCost& operator[](StepPart part) { return parts[static_cast<std::size_t>(part)]; }
};

struct StepProfile {
  std::vector<BlockProfile> blocks;
  BlockProfile before, after;
  std::int64_t boundary_bytes = 0;     // that go from a block to the next, of this chip
  std::int64_t shared_parameters = 0;  // of this chip: read before the first block and after the last
  std::int64_t shared_bytes = 0;       // of their gradients
  std::int64_t input_bytes = 0;        // data, for one micro-batch
};

struct ProfileOptions {
  bool tf32 = false;
  // Changes launches before they are priced, and prices before they are put in time; empty: nothing.
  std::function<void(const Graph&, LoweredStep&)> launches;
  std::function<void(const Graph&, const LoweredStep&, StepCosts&)> prices;
};

// `network`: of the axes along which `step` is split; null: none.
// Cost: linear in the launches of the step.
StepProfile profile_of(const Graph& step, const StepBlocks& blocks, const KernelLaws& laws, const ChipNetwork* network,
                       const ProfileOptions& options = {});

// A network of the same blocks with another number of them: the one in the middle is repeated, or left out.
// Requires: at least three blocks.
StepProfile with_blocks(StepProfile profile, std::size_t count);

}  // namespace monet
