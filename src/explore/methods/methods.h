// Which designs are looked at. Each method is deterministic for a seed, so that one that was interrupted repeats its
// questions and finds the answers in the store.
#pragma once

#include "explore/price/outcome.h"
#include "explore/space/space.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monet::explore {

// Outcomes of these designs, in their order; each asked for once or more often. Fewer when the user wants no more: the
// method then ends.
using Ask = std::function<Expected<std::vector<Outcome>>(std::span<const Design>)>;

struct MethodOptions {
  std::string method = "all";                    // all, random, sobol, nsga2, surrogate, narrow
  std::size_t samples = 0;                       // designs that are looked at, at most; 0: the method's own
  std::size_t population = 64, generations = 0;  // of nsga2; 0: by the samples
  std::uint64_t seed = 1;
  std::function<std::size_t()> batch_hint = [] {
    return std::size_t{64};
  };  // designs asked for at once where the method does not mind
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

struct Method {
  std::string name, description;
};
const std::vector<Method>& methods();

struct Searched {
  std::uint64_t looked_at = 0;  // different designs
  bool complete = true;         // the method ended by itself
};

Expected<Searched> search(const Space& space, const MethodOptions& options, const Ask& ask);

}  // namespace monet::explore
