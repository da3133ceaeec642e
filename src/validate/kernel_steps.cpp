#include "validate/kernel_steps.h"

#include "base/try.h"
#include "evaluate/open/kernel_network.h"
#include "validate/validation.h"

#include <monet/machine.h>

namespace monet {

Expected<KernelMachine> KernelMachine::open(const std::string& name) {
  KernelMachine result;
  result.name_ = name;
  MONET_TRY(result.hardware_, Machine(name).hardware());
  MONET_TRY(result.laws_, laws_of(*result.hardware_));
  return result;
}

Expected<KernelStep> KernelMachine::step(const MeasuredStep& measured, const std::string& data) const {
  StepRequest how;
  how.train = train_options_of(measured);
  how.machine = name_;
  if (measured.precision == "tf32") how.products = "tf32";
  if (measured.checkpoint) how.recompute = {"blocks"};
  return kernel_step(model_of(measured, data), how, *hardware_, *laws_);
}

}  // namespace monet
