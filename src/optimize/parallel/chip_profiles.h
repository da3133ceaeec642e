// Profiles of chips for the settings of a search: a graph for each choice, opened, cut and measured once.
#pragma once

#include "evaluate/open/opened_step.h"
#include "evaluate/stages/chip_step.h"
#include "evaluate/stages/shortened.h"
#include "optimize/parallel/settings.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace monet::many_chips {

struct ChipProfile {
  StepProfile profile;
  double model_macs = 0;  // of one micro-batch on the chips of a stage's group
  std::int64_t tokens = 0;
};

class ChipProfiles {
 public:
  // All must outlive it.
  ChipProfiles(const Network& network, const StepRequest& request, const Hardware& hardware);

  // Blocks of the network, by their structure; opens it.
  Expected<std::size_t> blocks();
  // `tp`: what groups of that axis look like on `network`. `accumulates`: a step has several micro-batches.
  Expected<const ChipProfile*> of(const ChipChoice& choice, bool accumulates, const ChipNetwork& network);

  std::size_t made() const { return made_; }
  double seconds() const { return seconds_; }

 private:
  struct Opened {
    OpenedStep step;
    std::size_t blocks = 0;
    double macs = 0;  // of the whole network
  };
  Expected<const Opened*> opened(std::int64_t micro_batch, bool accumulates);

  const Network& network_;
  const StepRequest& request_;
  const Hardware& hardware_;
  std::map<std::pair<std::int64_t, bool>, Opened> opened_;
  struct Known {
    ChipChoice choice;
    bool accumulates = false;
    GroupShape group;
    Expected<ChipProfile> profile;
  };
  std::vector<std::unique_ptr<Known>> known_;
  std::size_t made_ = 0;
  double seconds_ = 0;
};

}  // namespace monet::many_chips
