// The model's time of published steps; what equal chips do is worked out once.
#pragma once

#include "evaluate/stages/pipelined_step.h"
#include "hardware/hardware.h"
#include "validate/parallel_cases.h"

#include <map>
#include <memory>
#include <string>

namespace monet {

class ParallelSteps {
 public:
  // `folder`: where machine files of sources lie.
  explicit ParallelSteps(std::string folder) : folder_(std::move(folder)) {}

  // Fails where the row's step cannot be modelled, and says why.
  Expected<PipelinedStep> step(const ParallelCase& of);

 private:
  struct Chip {
    std::shared_ptr<const Hardware> hardware;
    StepProfile profile;
  };
  Expected<const Chip*> chip(const ParallelCase& of, const Mesh& mesh);
  Expected<std::shared_ptr<const Hardware>> machine(const std::string& name);

  std::string folder_;
  std::map<std::string, std::shared_ptr<const Hardware>> machines_;
  std::map<std::string, Chip> chips_;
};

}  // namespace monet
