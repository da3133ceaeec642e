// A step whose blocks lie on the stages of a pipeline.
#pragma once

#include "evaluate/run/parallel_run.h"

#include <functional>

namespace monet {

// One chip's graph in time, as any step is evaluated.
using EvaluatePart = std::function<Expected<Evaluation>(const Graph&, const Plan&, Evaluation)>;

// `whole`: the step of one micro-batch. The result is that of the chip whose work takes longest, for the whole step;
// what it waits for others is the part `pipeline` of the latency. `result`: what is known of it so far. Requires:
// run.pipeline.chips > 1.
Expected<Evaluation> evaluate_pipeline(OpenedStep whole, const StepRequest& options, const Hardware& hardware,
                                       const Plan& plan, ParallelRun& run, Evaluation result,
                                       const EvaluatePart& evaluate_part);

}  // namespace monet
