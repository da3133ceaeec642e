// Decisions about memory, priced on the whole step: many at once, each once.
#pragma once

#include "optimize/memory/space.h"
#include "optimize/pricing/pricer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monet {

// Bytes in a memory over time: from `at` on, until the next.
struct MemoryMoment {
  double at = 0;
  std::int64_t bytes = 0;
};

struct MemoryPrice {
  std::string failure;  // why it cannot be carried out; empty: it can
  Price price;
  std::int64_t peak_bytes = 0;         // in the memory of the budget: live, or with addresses once that is known
  bool packed = false;                 // with addresses, and checked by the independent checker
  std::vector<MemoryMoment> profile;   // of that memory
  std::vector<std::uint32_t> at_peak;  // candidates of which something is there at the peak, the largest first
};

struct MemoryPricesInput {
  const Graph& step;
  const Hardware& hardware;
  MappingCache& cache;
  const EvaluatorOptions& how;
  const Plan& plan;
  const MemorySpace& space;
  MemoryId memory;  // of the budget
  std::size_t jobs = 0;
};

class MemoryPrices {
 public:
  // What the input refers to must outlive it.
  explicit MemoryPrices(const MemoryPricesInput& input);

  // One for each genome; what is known is not priced again. The same for any number of threads. One in a hundred is
  // checked by the independent checker: what breaks a rule is a defect.
  Expected<std::vector<const MemoryPrice*>> price(std::span<const Genome> genomes);
  // The same, with addresses and checked.
  Expected<const MemoryPrice*> price_exactly(const Genome& genome);
  // On one thread, without being kept: for those who look at very many.
  Expected<MemoryPrice> once(const Genome& genome, std::size_t worker, bool check);

  const std::map<Genome, MemoryPrice>& known() const { return known_; }
  const MemoryPricesInput& input() const { return in_; }
  std::size_t workers() const { return pricers_.size(); }
  // Complete: gives the same result again.
  Expected<Plan> complete_plan(const Genome& genome);
  // Most of what is alive in the memory at the peak, by name and bytes.
  Expected<std::vector<std::pair<std::string, std::int64_t>>> alive_at_peak(const Genome& genome, std::size_t most);

 private:
  Expected<Priced> carry_out(const Genome& genome, std::size_t worker);
  MemoryPrice describe(const Priced& priced) const;

  MemoryPricesInput in_;
  std::vector<std::unique_ptr<Pricer>> pricers_;  // one a thread
  std::vector<std::uint32_t> candidate_of_;       // by tensor of the step
  std::map<Genome, MemoryPrice> known_;
};

}  // namespace monet
