#include "optimize/memory/seeds.h"

#include "training/recompute.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace monet {

namespace {

// The forward part, cut after each of its operators.
class ForwardCuts {
 public:
  ForwardCuts(const Graph& step, const MemorySpace& space) : space_(space) {
    std::vector<std::size_t> made(step.tensors().size(), 0), read(step.tensors().size(), 0);
    std::size_t position = 0;
    for (const Node& node : step.nodes()) {
      if (node.phase != Phase::forward || family_of(node.op) == OpFamily::view) continue;
      for (TensorId output : node.outputs) {
        if (output.valid()) made[output.index()] = position;
      }
      for (TensorId input : node.inputs) {
        if (!input.valid()) continue;
        for (TensorId stored : training::stored_behind(step, input)) {
          if (step[stored].producer.valid()) read[stored.index()] = position;
        }
      }
      ++position;
    }
    crossing_.assign(position, 0);
    for (std::size_t t = 0; t < made.size(); ++t) {
      for (std::size_t p = made[t]; p < read[t]; ++p) crossing_[p] += bytes(step.tensors()[t]);
    }
    for (const MemoryCandidate& candidate : space.candidates()) {
      made_.push_back(made[candidate.tensor.index()]);
      read_.push_back(read[candidate.tensor.index()]);
    }
  }

  // Positions of `count` cuts: each the narrowest in its share of the saved bytes.
  std::vector<std::size_t> cuts(std::size_t count) const {
    std::int64_t all = 0;
    std::vector<std::int64_t> saved(crossing_.size(), 0);
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (!space_.candidates()[i].saved) continue;
      saved[made_[i]] += space_.candidates()[i].bytes;
      all += space_.candidates()[i].bytes;
    }
    std::vector<std::size_t> narrowest(count, crossing_.size());
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < crossing_.size(); ++p) {
      sum += saved[p];
      // The shares around i / (count + 1) of all bytes, half a share to both sides.
      const double share = static_cast<double>(sum) / static_cast<double>(all) * static_cast<double>(count + 1);
      const auto i = static_cast<std::size_t>(std::llround(share));
      if (i < 1 || i > count || crossing_[p] == 0) continue;
      std::size_t& best = narrowest[i - 1];
      if (best == crossing_.size() || crossing_[p] < crossing_[best]) best = p;
    }
    std::erase(narrowest, crossing_.size());
    return narrowest;
  }

  Genome genome(const std::vector<std::size_t>& cuts) const {
    Genome result = space_.all_kept();
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const auto& choices = space_.candidates()[i].choices;
      const auto again = std::ranges::find(choices, Retention::recompute, &MemoryChoice::retention);
      const bool crosses = std::ranges::any_of(cuts, [&](std::size_t p) { return made_[i] <= p && p < read_[i]; });
      if (again != choices.end() && !crosses) result[i] = static_cast<std::uint16_t>(again - choices.begin());
    }
    return result;
  }

 private:
  const MemorySpace& space_;
  std::vector<std::int64_t> crossing_;    // by position: bytes that the forward part still needs
  std::vector<std::size_t> made_, read_;  // by candidate: positions in the forward part
};

}  // namespace

std::vector<Genome> memory_seeds(const Graph& step, const MemorySpace& space) {
  std::vector<Genome> seeds = {space.all_kept()};
  const ForwardCuts forward(step, space);
  const auto saved = static_cast<std::size_t>(std::ranges::count(space.candidates(), true, &MemoryCandidate::saved));
  for (std::size_t count = 1; count <= saved; count += std::max<std::size_t>(1, count / 3)) {
    seeds.push_back(forward.genome(forward.cuts(count)));
  }
  std::set<MemoryId> stores;
  for (const MemoryCandidate& candidate : space.candidates()) {
    for (const MemoryChoice& choice : candidate.choices) {
      if (choice.retention == Retention::page) stores.insert(choice.memory);
    }
  }
  for (MemoryId store : stores) {
    // Saved tensors alone, what outlives the step alone, both.
    for (int which = 1; which <= 3; ++which) {
      Genome paged = space.all_kept();
      for (std::size_t i = 0; i < space.candidates().size(); ++i) {
        const MemoryCandidate& candidate = space.candidates()[i];
        if ((which & (candidate.saved ? 1 : 2)) == 0) continue;
        const auto found = std::ranges::find(candidate.choices, store, &MemoryChoice::memory);
        if (found != candidate.choices.end()) {
          paged[i] = static_cast<std::uint16_t>(found - candidate.choices.begin());
        }
      }
      seeds.push_back(std::move(paged));
    }
  }
  const std::size_t of_one_order = seeds.size();
  const auto orders = static_cast<std::uint16_t>(space.orders().size());
  for (std::uint16_t order = 1; order < orders; ++order) {
    for (std::size_t i = 0; i < of_one_order; ++i) {
      seeds.push_back(seeds[i]);
      seeds.back().back() = order;
    }
  }
  std::ranges::sort(seeds);
  seeds.erase(std::ranges::unique(seeds).begin(), seeds.end());
  return seeds;
}

}  // namespace monet
