#include "evaluate/open/opened.h"

#include "base/try.h"
#include "evaluate/plan/hash.h"
#include "evaluate/open/hardware.h"

namespace monet {

Expected<Opened> open_step_on_machine(const std::string& model, EvaluateOptions& options, bool inference) {
  Opened opened;
  MONET_TRY(opened.hardware, open_hardware(options.hardware, {.parameters = options.parameters}));
  MONET_TRY(opened.plan, plan_of(options));
  MONET_TRY(opened.numbers, choose_numbers(model, opened.hardware, options.train, options.zigzag));
  options.train.precision = opened.numbers.precision();
  MONET_TRY(opened.subject, open_subject(model, options, inference));
  MONET_TRY(opened.subject, fitted_to(std::move(opened.subject), opened.hardware, options, opened.plan));
  opened.plan.expanded = opened.subject.expanded;
  MONET_TRY(opened.warnings, check_hashes(opened.plan, opened.subject.graph, opened.hardware, options.force));
  return opened;
}

}  // namespace monet
