#include "optimize/memory/prices.h"

#include "base/parallel.h"
#include "base/try.h"
#include "evaluate/account/complete_plan.h"

#include <algorithm>
#include <mutex>

namespace monet {

namespace {

constexpr std::uint32_t no_candidate = 0xffffffffU;
constexpr std::size_t check_every = 100;

std::vector<MemoryMoment> profile_of(const Schedule& schedule, MemoryId memory) {
  std::vector<std::pair<double, std::int64_t>> events;
  for (const TensorStay& stay : schedule.home) {
    if (stay.memory != memory || stay.end <= stay.start) continue;
    events.emplace_back(stay.start, stay.bytes);
    events.emplace_back(stay.end, -stay.bytes);
  }
  for (const Stay& stay : schedule.stays) {
    if (stay.memory != memory || stay.end <= stay.start) continue;
    events.emplace_back(stay.start, stay.bytes);
    events.emplace_back(stay.end, -stay.bytes);
  }
  std::ranges::sort(events);
  std::vector<MemoryMoment> profile;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < events.size();) {
    const double at = events[i].first;
    for (; i < events.size() && events[i].first == at; ++i) bytes += events[i].second;
    profile.push_back({at, bytes});
  }
  return profile;
}

}  // namespace

MemoryPrices::MemoryPrices(const MemoryPricesInput& input) : in_(input) {
  const std::size_t jobs = threads_for(in_.jobs);
  EvaluatorOptions how = in_.how;
  how.jobs = 1;
  how.progress = nullptr;
  for (std::size_t i = 0; i < jobs; ++i) {
    pricers_.push_back(std::make_unique<Pricer>(in_.step, in_.hardware, in_.cache, how));
  }
  candidate_of_.assign(in_.step.tensors().size(), no_candidate);
  for (std::uint32_t i = 0; i < in_.space.candidates().size(); ++i) {
    candidate_of_[in_.space.candidates()[i].tensor.index()] = i;
  }
}

MemoryPrice MemoryPrices::describe(const Priced& priced) const {
  MemoryPrice result{.failure = {}, .price = priced.price};
  result.profile = profile_of(priced.evaluated.schedule, in_.memory);
  const auto highest = std::ranges::max_element(result.profile, {}, &MemoryMoment::bytes);
  if (highest == result.profile.end()) return result;
  result.peak_bytes = highest->bytes;
  // By tensor of the rewritten step: the candidate that it is, or is a copy of.
  const training::Recomputed& step = priced.variant->step;
  std::vector<std::uint32_t> candidate(priced.variant->graph->tensors().size(), no_candidate);
  for (std::size_t i = 0; i < candidate_of_.size(); ++i) {
    if (candidate_of_[i] == no_candidate) continue;
    if (step.tensors[i].valid()) candidate[step.tensors[i].index()] = candidate_of_[i];
    if (i < step.copies.size() && step.copies[i].valid()) candidate[step.copies[i].index()] = candidate_of_[i];
  }
  for (const TensorStay& stay : priced.evaluated.schedule.home) {
    if (stay.memory != in_.memory || stay.start > highest->at || stay.end <= highest->at) continue;
    if (candidate[stay.tensor.index()] != no_candidate) result.at_peak.push_back(candidate[stay.tensor.index()]);
  }
  std::ranges::sort(result.at_peak);
  result.at_peak.erase(std::ranges::unique(result.at_peak).begin(), result.at_peak.end());
  std::ranges::stable_sort(result.at_peak, std::ranges::greater{},
                           [&](std::uint32_t c) { return in_.space.candidates()[c].bytes; });
  return result;
}

Expected<Priced> MemoryPrices::carry_out(const Genome& genome, std::size_t worker) {
  Plan plan = in_.plan;
  plan.order = in_.space.order(genome);
  return pricers_[worker]->price(plan, in_.space.tensors(genome));
}

Expected<MemoryPrice> MemoryPrices::once(const Genome& genome, std::size_t worker, bool check) {
  const auto priced = carry_out(genome, worker);
  if (!priced) {
    if (priced.error().kind == ErrorKind::defect) return priced.error();
    return MemoryPrice{.failure = priced.error().text()};
  }
  if (check) MONET_RETURN_IF_ERROR(pricers_[worker]->check(*priced));
  return describe(*priced);
}

Expected<std::vector<const MemoryPrice*>> MemoryPrices::price(std::span<const Genome> genomes) {
  std::vector<const Genome*> unknown;
  for (const Genome& genome : genomes) {
    if (known_.contains(genome)) continue;
    if (std::ranges::none_of(unknown, [&](const Genome* other) { return *other == genome; }))
      unknown.push_back(&genome);
  }
  std::vector<MemoryPrice> found(unknown.size());
  std::vector<std::optional<Error>> defects(unknown.size());
  const std::size_t before = known_.size();
  // A thread takes whichever pricer is free.
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < pricers_.size(); ++i) free.push_back(i);
  std::mutex mutex;
  for_each_index(unknown.size(), pricers_.size(), [&](std::size_t i) {
    std::size_t worker = 0;
    {
      const std::scoped_lock lock(mutex);
      worker = free.back();
      free.pop_back();
    }
    auto price = once(*unknown[i], worker, (before + i) % check_every == 0);
    if (price) {
      found[i] = *std::move(price);
    } else {
      defects[i] = price.error();
    }
    const std::scoped_lock lock(mutex);
    free.push_back(worker);
  });
  for (const std::optional<Error>& defect : defects) {
    if (defect) return *defect;
  }
  for (std::size_t i = 0; i < unknown.size(); ++i) known_.emplace(*unknown[i], std::move(found[i]));
  std::vector<const MemoryPrice*> result;
  for (const Genome& genome : genomes) result.push_back(&known_.at(genome));
  return result;
}

Expected<const MemoryPrice*> MemoryPrices::price_exactly(const Genome& genome) {
  MONET_TRY(const auto prices, price(std::span(&genome, 1)));
  MemoryPrice& price = known_.at(genome);
  if (price.packed || !price.failure.empty()) return &price;
  MONET_TRY(const Priced priced, carry_out(genome, 0));
  MONET_RETURN_IF_ERROR(pricers_[0]->check(priced));
  MONET_TRY(price.peak_bytes, pricers_[0]->packed_peak(priced, in_.memory));
  price.packed = true;
  return &price;
}

Expected<Plan> MemoryPrices::complete_plan(const Genome& genome) {
  MONET_TRY(const Priced priced, carry_out(genome, 0));
  return complete_plan_of(priced.scheduled(in_.hardware), in_.space.plan(genome), in_.step);
}

Expected<std::vector<std::pair<std::string, std::int64_t>>> MemoryPrices::alive_at_peak(const Genome& genome,
                                                                                        std::size_t most) {
  MONET_TRY(const Priced priced, carry_out(genome, 0));
  const MemoryPrice described = describe(priced);
  const auto highest = std::ranges::max_element(described.profile, {}, &MemoryMoment::bytes);
  std::vector<std::pair<std::string, std::int64_t>> alive;
  if (highest == described.profile.end()) return alive;
  for (const TensorStay& stay : priced.evaluated.schedule.home) {
    if (stay.memory != in_.memory || stay.start > highest->at || stay.end <= highest->at) continue;
    alive.emplace_back((*priced.variant->graph)[stay.tensor].name, stay.bytes);
  }
  std::ranges::stable_sort(alive, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  if (alive.size() > most) alive.resize(most);
  return alive;
}

}  // namespace monet
