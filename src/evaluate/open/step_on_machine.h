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
  Reach reach;
  std::vector<std::string> warnings;  // of a plan that was made for something else
};

// As the options name them, whose precision becomes the one that was chosen. Fails where one of them cannot be opened,
// or the plan was made for another network or machine and is not forced.
Expected<StepOnMachine> open_step_on_machine(const Network& network, StepRequest& options, bool inference);

// Fails where the plan has its data at home in storage: for searches that know nothing of that.
Status home_in_memory(const Plan& plan);

// What the result of any search says about them.
template <class Result>
void describe(const StepOnMachine& opened, Result& result) {
  result.hardware = opened.hardware.name;
  result.recipe = opened.numbers.recipe;
  result.recipe_from = name_of(opened.numbers.from);
  result.reach = opened.reach;
  result.clock_hz = opened.hardware.clock_hz;
  const OpenedStep& step = opened.opened_step;
  result.warnings.insert(result.warnings.end(), opened.warnings.begin(), opened.warnings.end());
  result.warnings.insert(result.warnings.end(), step.warnings.begin(), step.warnings.end());
  result.notes.insert(result.notes.end(), step.notes.begin(), step.notes.end());
}

}  // namespace monet
