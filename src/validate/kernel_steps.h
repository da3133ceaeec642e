// Measured training steps as launches on a machine that has laws of kernels.
#pragma once

#include "evaluate/kernels/kernel_step.h"
#include "validate/groundtruth.h"

#include <memory>
#include <string>

namespace monet {

struct Validation;

// Rows for latency, energy and memory of one step.
void add_step_rows(Validation& validation, const MeasuredStep& measured, const Expected<KernelStep>& modelled);

class KernelMachine {
 public:
  // Fails where there is no such machine, or where nothing is known of its kernels.
  static Expected<KernelMachine> open(const std::string& name);

  // `data`: the folder with models/; `lowering`: eager or compiled.
  Expected<KernelStep> step(const MeasuredStep& measured, const std::string& data,
                            const std::string& lowering = "eager") const;

 private:
  std::string name_;
  std::shared_ptr<const Hardware> hardware_;
  std::shared_ptr<const KernelLaws> laws_;
};

}  // namespace monet
