#include "optimize/memory/space.h"

#include "base/glob.h"
#include "base/require.h"
#include "training/recompute.h"

#include <algorithm>

namespace monet {

namespace {

// Storage that can be written, other than where data are at home.
std::vector<MemoryId> stores_of(const Hardware& hardware, const RoutedMachine& machine) {
  std::vector<MemoryId> stores;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const Memory& memory = hardware.memories[m];
    const bool written = std::ranges::any_of(memory.ports, [](const Port& p) { return p.kind != PortKind::read; });
    if (memory.kind == MemoryKind::storage && written && !machine.is_home(MemoryId(m))) {
      stores.push_back(MemoryId(m));
    }
  }
  return stores;
}

}  // namespace

MemorySpace::MemorySpace(const Graph& step, const Hardware& hardware, const RoutedMachine& machine, const Plan& plan,
                         std::vector<BoundTensor> decided, std::span<const StoredWidth> element_bits,
                         const MemorySpaceOptions& options)
    : step_(step), hardware_(hardware), plan_(plan), decided_(std::move(decided)) {
  const std::vector<MemoryId> stores = options.page ? stores_of(hardware, machine) : std::vector<MemoryId>();
  const auto is_open = [&](TensorId tensor) {
    if (std::ranges::find(decided_, tensor, &BoundTensor::tensor) != decided_.end()) return false;
    return options.tensors.empty() || std::ranges::any_of(options.tensors, [&](const std::string& pattern) {
             return matches(pattern, step[tensor].name);
           });
  };
  const auto add = [&](TensorId tensor, bool saved, bool recompute) {
    MemoryCandidate candidate{.tensor = tensor, .saved = saved, .bytes = 0, .choices = {{Retention::keep, {}}}};
    candidate.bytes = element_bits[tensor.index()].bytes(element_count(step[tensor].type.shape));
    if (recompute) candidate.choices.push_back({Retention::recompute, {}});
    for (MemoryId store : stores) candidate.choices.push_back({Retention::page, store});
    if (candidate.choices.size() > 1) candidates_.push_back(std::move(candidate));
  };
  for (const training::SavedCandidate& saved : training::saved_candidates(step)) {
    if (is_open(saved.tensor)) add(saved.tensor, true, options.recompute && saved.reason.empty());
  }
  for (std::size_t i = 0; i < step.tensors().size() && options.page_static; ++i) {
    const Tensor& tensor = step.tensors()[i];
    const bool outlives =
        tensor.role == Role::weight || tensor.role == Role::master_weight || tensor.role == Role::optimizer_state;
    if (outlives && !tensor.producer.valid() && is_open(TensorId(i))) add(TensorId(i), false, false);
  }
  orders_.push_back(plan.order);
  if (options.reorder && plan.order == PlanOrder::critical_path) orders_.push_back(PlanOrder::frugal);
}

std::vector<std::uint16_t> MemorySpace::choices() const {
  std::vector<std::uint16_t> counts;
  for (const MemoryCandidate& candidate : candidates_) {
    MONET_REQUIRE(candidate.choices.size() <= 0xffff);
    counts.push_back(static_cast<std::uint16_t>(candidate.choices.size()));
  }
  counts.push_back(static_cast<std::uint16_t>(orders_.size()));
  return counts;
}

std::vector<BoundTensor> MemorySpace::tensors(const Genome& genome) const {
  std::vector<BoundTensor> result = decided_;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const MemoryChoice& choice = candidates_[i].choices[genome[i]];
    if (choice.retention == Retention::keep) continue;
    result.push_back({.tensor = candidates_[i].tensor, .retention = choice.retention, .memory = choice.memory});
  }
  std::ranges::sort(result, {}, &BoundTensor::tensor);
  return result;
}

std::int64_t MemorySpace::dropped_bytes(const Genome& genome) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    sum += candidates_[i].saved && genome[i] != 0 ? candidates_[i].bytes : 0;
  return sum;
}

std::int64_t MemorySpace::kept_bytes(const Genome& genome) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    sum += candidates_[i].saved && genome[i] == 0 ? candidates_[i].bytes : 0;
  return sum;
}

std::vector<std::string> MemorySpace::names(const Genome& genome, Retention retention) const {
  std::vector<std::string> result;
  for (const BoundTensor& tensor : tensors(genome)) {
    if (tensor.retention == retention) result.push_back(step_[tensor.tensor].name);
  }
  return result;
}

Plan MemorySpace::plan(const Genome& genome) const {
  Plan result = plan_;
  result.order = order(genome);
  result.tensors.clear();
  for (const BoundTensor& tensor : tensors(genome)) {
    result.tensors.push_back({.name = step_[tensor.tensor].name,
                              .retention = tensor.retention,
                              .memory = tensor.memory.valid() ? hardware_[tensor.memory].name : "",
                              .place = {}});
  }
  return result;
}

}  // namespace monet
