// Options as a user writes them, checked.
#pragma once

#include "training/step.h"

#include <monet/train.h>

namespace monet::training {

// Every error names the option and what may stand there.
Expected<StepOptions> step_options(const TrainOptions& options);

}  // namespace monet::training
