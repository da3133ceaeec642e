// All designs, random ones, even ones: which come next does not depend on what the others were.
#include "base/try.h"
#include "explore/methods/each_method.h"
#include "explore/methods/sample_budget.h"
#include "explore/methods/sequences.h"

#include <algorithm>

namespace monet::explore {

namespace {

// `next` gives a design that it did not give before, `count` times.
template <class Next>
Expected<Searched> sample(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask,
                          std::uint64_t count, const Next& next) {
  SampleBudget budget(space, options, ask, samples, false);
  std::vector<Design> chunk;
  for (std::uint64_t given = 0; given < count && !budget.over();) {
    const std::uint64_t wanted = std::min<std::uint64_t>(std::max<std::size_t>(options.batch_hint(), 1), budget.left());
    chunk.clear();
    for (; given < count && chunk.size() < wanted; ++given) chunk.push_back(next(given));
    MONET_RETURN_IF_ERROR(budget.look(chunk));
  }
  return budget.result();
}

std::uint64_t tries(const Space& space, std::size_t samples) {
  return std::min<std::uint64_t>(space.size(), most_tries_per_sample * samples);
}

}  // namespace

Expected<Searched> look_at_all(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask) {
  return sample(space, options, samples, ask, space.size(), [](std::uint64_t i) { return Design{i}; });
}

Expected<Searched> look_at_random(const Space& space, const MethodOptions& options, std::size_t samples,
                                  const Ask& ask) {
  const RandomOrder order(space.size(), options.seed);
  return sample(space, options, samples, ask, tries(space, samples), [&](std::uint64_t i) { return order.at(i); });
}

Expected<Searched> look_evenly(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask) {
  EvenOrder order(space, options.seed);
  return sample(space, options, samples, ask, tries(space, samples), [&](std::uint64_t) { return order.next(); });
}

}  // namespace monet::explore
