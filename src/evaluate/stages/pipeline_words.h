// Words of --parallel that say how a step is cut into stages, and what is computed again.
#pragma once

#include "evaluate/stages/pipelined_step.h"
#include "parallel/recipe.h"
#include "training/recompute_choice.h"

#include <monet/plan.h>

#include <string>
#include <vector>

namespace monet {

struct PipelineOptions {
  std::int64_t chips = 1;  // along pp
  bool said = false;       // pp was, if only as 1
  PlannedStages stages;
  training::RecomputeChoice recompute = training::RecomputeChoice::none;
  std::vector<std::string> order;  // of axes, outermost first, those of one chip left out; empty: the usual one
};

// "tp=8,pp=4,schedule=interleaved,chunks=3,recompute=selective,cut=12+12": takes out the words that are its own.
Expected<PipelineOptions> take_pipeline_words(std::string& text);
// The same from a plan.
Expected<PipelineOptions> pipeline_of(const PlannedParallel& planned);

// The axis pp, between dp and the axes inside a stage.
void add_pipeline_axis(parallel::ParallelOptions& options, std::int64_t chips);

// The axes in the order that was said. Fails where it does not name each axis of several chips once.
Status put_in_order(parallel::ParallelOptions& options, const std::vector<std::string>& order);

// Fails where words contradict each other. `micro_batches`: of a pipeline.
Expected<PipelineSettings> pipeline_settings(const PipelineOptions& pipeline, const parallel::ParallelOptions& options,
                                             std::int64_t micro_batches);

// ",pp words" as they were parsed; empty: none was said.
std::string to_text(const PipelineOptions& options);

}  // namespace monet
