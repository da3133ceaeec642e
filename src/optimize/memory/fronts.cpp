#include "optimize/memory/fronts.h"

#include "base/try.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace monet {

namespace {

class MemoryFront {
 public:
  MemoryFront(MemoryPrices& prices, const MemoryGoal& goal, MemoryMeasure measure)
      : prices_(prices), goal_(goal), measure_(measure) {}

  GeneticPoint point(const Genome& genome, const Price& price, std::int64_t peak_bytes) const {
    const std::int64_t memory =
        measure_ == MemoryMeasure::saved ? prices_.input().space.kept_bytes(genome) : peak_bytes;
    const auto bytes = static_cast<double>(memory);
    if (goal_.objective.is_function()) {
      // What is forbidden violates: its value says nothing.
      const bool forbidden = goal_.objective.forbids(price, peak_bytes);
      return {.genome = genome, .objectives = {bytes, forbidden ? 0 : goal_.objective(price, peak_bytes)}};
    }
    return {.genome = genome, .objectives = {bytes, price.cycles, price.energy_pj}};
  }

  // Of points within budget and deadline. With addresses a plan may need more than the budget: it then stands in no
  // other's way.
  Expected<std::vector<Genome>> of(std::vector<GeneticPoint> points) {
    std::ranges::stable_sort(points, {}, &GeneticPoint::objectives);  // dominated only by one before
    std::vector<GeneticPoint> live, packed;
    for (GeneticPoint& each : points) {
      const bool beaten = std::ranges::any_of(live, [&](const GeneticPoint& other) {
        return other.objectives == each.objectives || dominates(other.objectives, each.objectives);
      });
      if (beaten) continue;
      MONET_TRY(const MemoryPrice* price, prices_.price_exactly(each.genome));
      if (price->peak_bytes > goal_.budget_bytes) continue;
      packed.push_back(point(each.genome, price->price, price->peak_bytes));
      live.push_back(std::move(each));
    }
    std::vector<Genome> front;
    for (GeneticPoint& each : front_of(std::move(packed))) front.push_back(std::move(each.genome));
    return front;
  }

 private:
  MemoryPrices& prices_;
  const MemoryGoal& goal_;
  MemoryMeasure measure_;
};

}  // namespace

Expected<std::vector<Genome>> genetic_front(MemoryPrices& prices, const MemoryGoal& goal, MemoryMeasure measure,
                                            const GeneticOptions& options) {
  MemoryFront front(prices, goal, measure);
  std::optional<Error> defect;
  const auto evaluate = [&](std::span<GeneticPoint> points) {
    std::vector<Genome> genomes;
    for (const GeneticPoint& point : points) genomes.push_back(point.genome);
    const auto found = prices.price(genomes);
    if (!found && !defect) defect = found.error();
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (!found || !(*found)[i]->failure.empty()) {
        points[i].objectives.assign(goal.objective.is_function() ? 2 : 3, 0);
        points[i].violation = std::numeric_limits<double>::infinity();
        continue;
      }
      const MemoryPrice& price = *(*found)[i];
      points[i] = front.point(points[i].genome, price.price, price.peak_bytes);
      points[i].violation = violation_of(price, goal);
    }
  };
  const MemorySpace& space = prices.input().space;
  const std::vector<Genome> seeds = {space.all_kept()};
  nsga2(space.choices(), seeds, evaluate, options);
  if (defect) return *defect;
  std::vector<GeneticPoint> points;
  for (const auto& [genome, price] : prices.known()) {
    if (violation_of(price, goal) == 0) points.push_back(front.point(genome, price.price, price.peak_bytes));
  }
  return front.of(std::move(points));
}

Expected<std::vector<Genome>> exact_front(MemoryPrices& prices, std::span<const ExactPoint> points,
                                          const MemoryGoal& goal, MemoryMeasure measure) {
  MemoryFront front(prices, goal, measure);
  const std::vector<std::uint16_t> choices = prices.input().space.choices();
  std::vector<GeneticPoint> fitting;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const ExactPoint& point = points[i];
    if (point.peak_bytes < 0 || point.peak_bytes > goal.budget_bytes || point.cycles > goal.deadline_cycles) continue;
    const Price price{.cycles = point.cycles, .energy_pj = point.energy_pj};
    fitting.push_back(front.point(genome_at(choices, i), price, point.peak_bytes));
  }
  return front.of(std::move(fitting));
}

}  // namespace monet
