#include "explore/methods/sample_budget.h"

#include "base/try.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <unordered_set>

namespace monet::explore {

SampleBudget::SampleBudget(const Space& space, const MethodOptions& options, const Ask& ask, std::size_t samples,
                           bool remember)
    : space_(space), options_(options), ask_(ask), samples_(samples), remember_(remember) {}

Status SampleBudget::look(std::span<const Design> designs) {
  std::vector<Design> fresh;
  std::unordered_set<Design> listed;
  for (const Design design : designs) {
    if (find(design) == nullptr && listed.insert(design).second) fresh.push_back(design);
  }
  // Excluded designs cost no sample: a question is never longer than the samples that are left.
  for (std::size_t begin = 0; begin < fresh.size() && !over();) {
    const std::size_t count = std::min(fresh.size() - begin, left());
    MONET_RETURN_IF_ERROR(ask(std::span(fresh).subspan(begin, count)));
    begin += count;
  }
  return Done{};
}

Status SampleBudget::ask(std::span<const Design> designs) {
  MONET_TRY(const std::vector<Outcome> outcomes, ask_(designs));
  stopped_ = outcomes.size() < designs.size();
  for (const Outcome& outcome : outcomes) {
    ++looked_at_;
    if (!outcome.excluded) ++counted_;
    if (!remember_) continue;
    Seen seen{.values = {}, .excluded = outcome.excluded};
    if (!outcome.excluded && outcome.ran()) seen.values = values_of(outcome, space_, space_.objectives);
    seen_.emplace(outcome.design, std::move(seen));
  }
  if (options_.progress) options_.progress(options_.method, counted_, samples_);
  return Done{};
}

const Seen* SampleBudget::find(Design design) const {
  const auto found = seen_.find(design);
  return found == seen_.end() ? nullptr : &found->second;
}

std::vector<Design> SampleBudget::front() const {
  std::vector<std::pair<const std::vector<double>*, Design>> all;
  for (const auto& [design, seen] : seen_) {
    if (seen.ran()) all.emplace_back(&seen.values, design);
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return *a.first != *b.first ? *a.first < *b.first : a.second < b.second;
  });
  // Sorted so, one can only be dominated by one before it.
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool beaten = std::ranges::any_of(
        kept, [&](std::size_t k) { return *all[k].first == *all[i].first || dominates(*all[k].first, *all[i].first); });
    if (!beaten) kept.push_back(i);
  }
  std::vector<Design> designs;
  for (const std::size_t i : kept) designs.push_back(all[i].second);
  return designs;
}

}  // namespace monet::explore
