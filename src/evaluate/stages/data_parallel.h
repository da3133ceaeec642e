// What chips that hold the same weights exchange around a step: sums of gradients, weights after the update; and
// messages of a pipeline.
#pragma once

#include "evaluate/stages/step_profile.h"
#include "pipeline/timeline.h"

#include <map>
#include <tuple>
#include <vector>

namespace monet {

struct PipelineSettings;

struct Exchanged {
  double seconds = 0, sent_bytes = 0, energy_pj = 0, share = 0;  // share: of the chip, meanwhile

  void add(const Exchanged& other);
};

// When the gradients of each block are complete on one chip, in that order.
struct ChipWork {
  double end = 0;       // of its last task
  double shared_s = 0;  // of the sum of gradients of weights that two stages share
  struct Ready {
    double at = 0;
    const BlockProfile* block = nullptr;
  };
  std::vector<Ready> ready;
  std::vector<const BlockProfile*> first;  // blocks of its first task, in order
};

// What a chip does with others along one axis of the mesh.
struct AxisCost {
  std::int64_t collectives = 0;
  double sent_bytes = 0, communication_s = 0, exposed_s = 0;
};

struct ChipUpdate {
  double reduced_at = 0;  // gradients of all micro-batches and chips are there
  double after_s = 0;     // from then on: update, weights gathered
  double energy_pj = 0;
  AxisCost dp;
};

class DataParallel {
 public:
  // `network` must outlive it.
  explicit DataParallel(const ChipNetwork& network) : network_(network) {}

  // Nothing where there is no such axis, or one chip along it.
  Exchanged of(const char* axis, CollectiveKind kind, double bytes) const;

  ChipUpdate update(ChipWork work, const PipelineSettings& settings) const;
  double updated_s(const BlockProfile& block, const PipelineSettings& settings) const;
  std::int64_t static_bytes(const BlockProfile& block, const PipelineSettings& settings) const;
  // Weights that lie over dp are gathered for each micro-batch, one block ahead of what is computed, forward and again
  // backward; gradients are scattered behind.
  void add_gathers(const StepProfile& profile, const PipelineSettings& settings, StageCost& cost) const;

 private:
  double dp() const;
  double gradient_bytes(const BlockProfile& block, const PipelineSettings& settings) const;

  const ChipNetwork& network_;
  mutable std::map<std::tuple<std::size_t, CollectiveKind, double>, Exchanged> known_;  // equal ones are priced once
};

}  // namespace monet
