// When each task of a pipeline runs, what chips hold meanwhile, and how long they stand still.
#pragma once

#include "pipeline/order.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet {

// One stage, for one micro-batch.
struct StageCost {
  double forward = 0, backward = 0, weights = 0;  // seconds; without tasks for weights these are part of backward
  double send = 0, send_back = 0;  // seconds from the end of a task to when the next stage, or the one before, has it
  std::int64_t kept_bytes = 0;     // from the begin of forward to the end of backward
  std::int64_t kept_for_weights_bytes = 0;  // of these, to the end of the gradients of weights
  std::int64_t working_bytes = 0;           // while one of its tasks runs
};

struct PipelineChip {
  double begin = 0, end = 0, busy = 0;  // seconds: of its first task, of its last, of all
  std::int64_t peak_bytes = 0;          // what micro-batches keep, and the task that runs
  std::uint32_t most_in_flight = 0;  // micro-batches, all chunks together, between begin of forward and end of backward
};

struct PipelineTimes {
  double end = 0;   // of the last task, the first beginning at 0
  double span = 0;  // the longest from a chip's first task to its last: what a step takes where chips need not wait for
                    // each other between steps
  std::vector<PipelineChip> chips;
  std::vector<std::vector<double>> begins;  // by chip and place in its order
};

// A task begins when its chip has done what is listed before and its inputs are there: exact, linear in tasks.
// Requires: check_order(order) holds, a cost for each stage. An order that waits for itself is an error that names
// where.
Expected<PipelineTimes> pipeline_times(const PipelineOrder& order, std::span<const StageCost> costs);

// No order of these tasks is done before: a chip's work after the first micro-batch can reach it and before the last
// can leave.
double pipeline_bound(const PipelineOrder& order, std::span<const StageCost> costs);

}  // namespace monet
