// What commands that search for plans work on.
#pragma once

#include "evaluate/open/numbers.h"
#include "evaluate/open/opened_step.h"
#include "hardware/hardware.h"

#include <monet/evaluate.h>
#include <monet/plan.h>

#include <string>
#include <vector>

namespace monet {

struct StepOnMachine {
  Hardware hardware;
  Plan plan;
  OpenedStep opened_step;
  NumberChoice numbers;
  std::vector<std::string> warnings;  // of a plan that was made for something else
};

// As the options name them, whose precision becomes the one that was chosen. Fails where one of them cannot be opened,
// or the plan was made for another network or machine and is not forced.
Expected<StepOnMachine> open_step_on_machine(const Network& network, StepRequest& options, bool inference);

}  // namespace monet
