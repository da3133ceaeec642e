#include "base/try.h"
#include "explore/methods/each_method.h"
#include "explore/methods/sample_budget.h"
#include "explore/methods/sequences.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <optional>

namespace monet::explore {

namespace {

constexpr double violation_of_failed = 1, violation_of_excluded = 2;
// Generations without a new design after which there will be none.
constexpr std::size_t most_generations_in_vain = 50;
constexpr std::size_t most_generations = 100000;

// Evenly over the space, and its two corners: the least and the most of everything.
std::vector<Genome> first_population(const Space& space, std::size_t count, std::uint64_t seed) {
  std::vector<Genome> seeds = {space.choice(0), space.choice(space.size() - 1)};
  EvenOrder order(space, seed);
  while (seeds.size() < count && !order.done()) seeds.push_back(space.choice(order.next()));
  return seeds;
}

}  // namespace

Expected<Searched> evolve(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask) {
  SampleBudget budget(space, options, ask, samples);
  std::optional<Error> failed;
  const auto evaluate = [&](std::span<GeneticPoint> points) {
    std::vector<Design> designs;
    for (const GeneticPoint& point : points) designs.push_back(space.design(point.genome));
    if (auto looked = budget.look(designs); !looked) failed = std::move(looked).error();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Seen* seen = budget.find(designs[i]);
      points[i].objectives.assign(space.objectives.size(), 0);
      if (seen != nullptr && seen->ran()) {
        points[i].objectives = seen->values;
      } else {
        points[i].violation = seen != nullptr && !seen->excluded ? violation_of_failed : violation_of_excluded;
      }
    }
  };

  std::vector<std::uint16_t> choices;
  double open_axes = 0;
  for (const Axis& axis : space.axes) {
    choices.push_back(static_cast<std::uint16_t>(axis.texts.size()));
    open_axes += axis.texts.size() > 1 ? 1 : 0;
  }
  std::size_t evaluated = 0, in_vain = 0;
  GeneticOptions genetic;
  genetic.population = std::clamp<std::size_t>(options.population, 2, std::max<std::size_t>(samples, 2));
  genetic.generations = options.generations > 0 ? options.generations : most_generations;
  genetic.mutation = 1 / std::max(open_axes, 1.0);
  genetic.ordered = true;
  genetic.seed = options.seed;
  genetic.progress = [&](std::size_t, std::size_t count) {
    in_vain = count > evaluated ? 0 : in_vain + 1;
    evaluated = count;
  };
  genetic.stop = [&] { return failed || budget.over() || in_vain >= most_generations_in_vain; };
  nsga2(choices, first_population(space, genetic.population, options.seed), evaluate, genetic);
  if (failed) return *std::move(failed);
  return budget.result();
}

}  // namespace monet::explore
