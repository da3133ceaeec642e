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
  std::int64_t launches = 0;
  double recomputed_s = 0;  // of seconds: what repeats some of the forward part, its collectives too

  void add(const PartCost& other, double times = 1);
  bool operator==(const PartCost&) const = default;
};

struct BlockProfile {
  std::array<PartCost, step_parts> parts;
  // Of a micro-batch, from its forward part to its backward part; and at most while one of the two runs.
  std::int64_t kept_bytes = 0, working_bytes = 0;
  std::int64_t kept_data_bytes = 0;  // of kept_bytes, without what allocations are rounded up by
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
  // Collectives in as many pieces as there are chips, each beside the product of the piece that came before, where what
  // they exchange is read or made by a product with weights (Transformer Engine: overlap of communication and GEMM).
  bool in_pieces = false;
  // Collectives leave when what they exchange is made, and not where they stand among the launches: sums of gradients
  // of inputs run beside products for gradients of weights.
  bool early = false;
  // Element-wise launches and softmaxes that follow on one another are one (scale, mask and softmax; bias and function;
  // bias, dropout and sum), so that what only they read is neither written nor read.
  bool fused = false;
  // The host needs so long for a launch: parts of blocks take no less than it needs for theirs. 0: it is always ahead.
  double host_us = 0;
  // Changes launches before they are priced, and prices before they are put in time; empty: nothing.
  std::function<void(const Graph&, LoweredStep&)> launches;
  std::function<void(const Graph&, const LoweredStep&, StepCosts&)> prices;
};

// `network`: of the axes along which `step` is split; null: none.
// Cost: linear in the launches of the step.
StepProfile profile_of(const Graph& step, const StepBlocks& blocks, const KernelLaws& laws, const ChipNetwork* network,
                       const ProfileOptions& options = {});

// As frameworks recompute: the whole block again, with what the backward part does not need (its last product, the sum
// over chips after it). Of a step whose blocks are recomputed.
StepProfile with_whole_blocks_again(StepProfile profile);

// A network of the same blocks with another number of them: the one in the middle is repeated, or left out.
// Requires: at least three blocks.
StepProfile with_blocks(StepProfile profile, std::size_t count);

}  // namespace monet
