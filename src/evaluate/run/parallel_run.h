// A step of many chips: what is asked for, one chip's part of it, and what the result says of all chips.
#pragma once

#include "evaluate/kernels/kernel_step.h"
#include "evaluate/open/opened_step.h"
#include "evaluate/stages/pipeline_words.h"
#include "parallel/recipe.h"

#include <monet/evaluate.h>

#include <memory>
#include <optional>

namespace monet {

struct ParallelRun {
  parallel::ParallelOptions options;
  PipelineOptions pipeline;
  std::int64_t batch = 0;                      // of all chips; 0: what the network has
  std::int64_t micro_batch = 0;                // of one chip of dp
  std::shared_ptr<const ChipNetwork> network;  // null: one chip
  double model_macs = 0;                       // of one micro-batch of all chips, and of the update
  double hardware_macs = 0;                    // with what is computed again
  std::int64_t tokens = 0;
};

// From the options, and what they leave out from the plan, into which all of it goes. Sets batch and micro-batches of
// the step that is opened. None: one chip is asked for.
Expected<std::optional<ParallelRun>> parallel_run(const Hardware& hardware, StepRequest& options, Plan& plan);

// One chip's part.
Expected<OpenedStep> split_over_chips(OpenedStep whole, ParallelRun& run);

// What one chip's collectives and the times of the evaluation say.
ParallelResult parallel_result(const ParallelRun& run, const std::vector<Exchange>& exchanges,
                               const Evaluation& evaluation);
// `part` so many times, and then `last`.
ParallelResult repeated(const ParallelResult& part, std::int64_t times, ParallelResult last);
// Rates, from the times of the whole step.
void set_rates(ParallelResult& result, const ParallelRun& run, const Evaluation& evaluation);

}  // namespace monet
