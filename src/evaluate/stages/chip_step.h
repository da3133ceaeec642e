// One chip's part of a step whose batch and stages are not yet spread: split over the axes inside a stage alone, with
// what the choice recomputes. Settings that differ in pipeline, data parallelism and batch share it.
#pragma once

#include "evaluate/open/opened_step.h"
#include "evaluate/stages/step_profile.h"
#include "parallel/recipe.h"
#include "training/recompute_choice.h"

#include <monet/evaluate.h>

#include <string>
#include <vector>

namespace monet {

struct ChipStep {
  Graph graph;  // of one chip
  StepBlocks blocks;
  double model_macs = 0;     // of one micro-batch on all chips of a stage's group, nothing computed again
  double hardware_macs = 0;  // with what is computed again
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;  // of a sample; 0: it has none
  std::int64_t saved_bytes = 0;
  std::vector<std::string> notes, warnings;
};

// Multiplications and additions of all nodes up to a phase.
double macs_of(const Graph& graph, Phase last = Phase::optimizer);

// In a sample: of an input of integers with an axis beside the batch's; 0: there is none.
std::int64_t tokens_in(const Graph& graph);

// `whole`: the step of one micro-batch, which adds up its gradients if the step has several.
// Fails as parallel_step() does. dp and pp of the options are left to others.
Expected<ChipStep> chip_step(OpenedStep whole, const parallel::ParallelOptions& options,
                             training::RecomputeChoice recompute);

}  // namespace monet
