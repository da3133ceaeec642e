#include "training/recompute_step.h"

#include "base/try.h"
#include "training/recompute.h"

#include <algorithm>

namespace monet::training {

namespace {

// What operators save in the step as it is now.
std::vector<SavedBy> saves_now(const TrainingStep& before, const Recomputed& after) {
  std::vector<bool> repeated(before.graph.nodes().size(), false);
  for (NodeId id : after.copy_of) {
    if (id.valid()) repeated[id.index()] = true;
  }
  std::vector<SavedBy> saves;
  for (const SavedBy& save : before.saves) {
    if (!save.tensor.valid()) continue;
    const TensorId tensor = after.tensors[save.tensor.index()];
    if (!tensor.valid() || after.copies[save.tensor.index()].valid()) continue;
    if (save.kept && save.node.valid() && repeated[save.node.index()]) continue;
    NodeId node;
    if (save.node.valid()) {
      const TensorId made = after.tensors[before.graph[save.node].outputs[0].index()];
      if (!made.valid()) continue;  // the operator is left out
      node = after.graph[made].producer;
    }
    saves.push_back({node, tensor, save.kept});
  }
  std::ranges::copy(saves_of(after.graph), std::back_inserter(saves));
  return saves;
}

}  // namespace

Expected<RecomputedStep> recompute(TrainingStep step, std::span<const TensorId> tensors) {
  MONET_TRY(Recomputed after, recompute(step.graph, tensors));
  step.saves = saves_now(step, after);
  step.saved = saved_tensors(after.graph, step.saves);
  if (step.loss.valid()) step.loss = after.tensors[step.loss.index()];
  for (Trained& each : step.trained) {
    each = {after.tensors[each.parameter.index()], after.tensors[each.gradient.index()]};
  }
  step.graph = std::move(after.graph);
  RecomputedStep result{.step = std::move(step), .copies = {}};
  for (std::size_t i = 0; i < after.copy_of.size(); ++i) {
    if (after.copy_of[i].valid()) result.copies.emplace_back(i);
  }
  return result;
}

}  // namespace monet::training
