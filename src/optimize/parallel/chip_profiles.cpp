#include "optimize/parallel/chip_profiles.h"

#include "base/stopwatch.h"
#include "base/try.h"

#include <algorithm>

namespace monet::many_chips {

ChipProfiles::ChipProfiles(const Network& network, const StepRequest& request, const Hardware& hardware)
    : network_(network), request_(request), hardware_(hardware) {}

Expected<const ChipProfiles::Opened*> ChipProfiles::opened(std::int64_t micro_batch, bool accumulates) {
  const std::pair key(micro_batch, accumulates);
  if (const auto found = opened_.find(key); found != opened_.end()) return &found->second;
  StepRequest request = request_;
  request.train.batch = micro_batch;
  request.train.accumulate = accumulates ? 2 : 1;
  Opened made;
  MONET_TRY(made.step, open_step(network_, request, false));
  MONET_TRY(made.step, fitted_to(std::move(made.step), hardware_, request));
  made.macs = macs_of(made.step.graph);
  if (auto shorter = shortened(made.step.graph)) {
    made.step.graph = std::move(shorter->graph);
    made.blocks = shorter->blocks;
  } else {
    made.blocks = blocks_of(made.step.graph).count;
  }
  return &opened_.emplace(key, std::move(made)).first->second;
}

Expected<std::size_t> ChipProfiles::blocks() {
  MONET_TRY(const Opened* first, opened(1, true));
  return first->blocks;
}

Expected<const ChipProfile*> ChipProfiles::of(const ChipChoice& choice, bool accumulates, const ChipNetwork& network) {
  GroupShape group;
  if (const auto axis = network.mesh.find("tp")) group = network.groups[*axis];
  for (const auto& known : known_) {
    if (!(known->choice == choice) || known->accumulates != accumulates || !(known->group == group)) continue;
    if (!known->profile) return known->profile.error();
    return &*known->profile;
  }
  const auto start = std::chrono::steady_clock::now();
  const auto make = [&]() -> Expected<ChipProfile> {
    MONET_TRY(const Opened* whole, opened(choice.micro_batch, accumulates));
    MONET_TRY(const auto laws, laws_of(hardware_));
    parallel::ParallelOptions options;
    options.mesh = network.mesh;
    options.sequence = choice.sequence;
    MONET_TRY(const ChipStep chip, chip_step(whole->step, options, choice.recompute));
    const bool tf32 = request_.products == "tf32" || request_.train.precision == "tf32";
    ChipProfile made{.profile = profile_of(chip.graph, chip.blocks, *laws, &network, {.tf32 = tf32}),
                     .model_macs = whole->macs,
                     .tokens = chip.tokens};
    if (made.profile.blocks.size() == kept_blocks && whole->blocks > kept_blocks)
      made.profile = with_blocks(std::move(made.profile), whole->blocks);
    return made;
  };
  known_.push_back(std::make_unique<Known>(Known{choice, accumulates, group, make()}));
  ++made_;
  seconds_ += seconds_since(start);
  if (!known_.back()->profile) return known_.back()->profile.error();
  return &*known_.back()->profile;
}

}  // namespace monet::many_chips
