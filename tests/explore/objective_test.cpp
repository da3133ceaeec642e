// Objectives of designs that are functions of the user's own: methods and fronts go by them.
#include "explore/analysis/analysis.h"
#include "explore/synthetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace monet::explore {
namespace {

// As near as can be to a latency in the middle; made negative, which has no logarithm.
double nearness(const Outcome& outcome) { return std::abs(outcome.workloads.front().latency_s - 60) - 1000; }

Space space_with_function() {
  Space space = test::synthetic_space({4, 4, 4, 3});
  space.objectives = {{.metric = Metric::utilization,
                       .function = [](const Outcome& outcome, const Space&) { return nearness(outcome); },
                       .function_name = "near"}};
  return space;
}

std::vector<Outcome> outcomes_in(const Space& space) {
  std::vector<Outcome> outcomes;
  for (Design design = 0; design < space.size(); ++design) outcomes.push_back(test::machine_like(space, design));
  return outcomes;
}

TEST(ExploreObjective, AFunctionHasItsNameAndIsMadeSmallAsItIs) {
  const Space space = space_with_function();
  const Outcome outcome = test::ran(0, 61, 5);
  const Objective& objective = space.objectives.front();
  EXPECT_EQ(name_of(objective, space.workloads), "near");
  EXPECT_EQ(amount_of(outcome, space, objective), 1 - 1000);
  EXPECT_EQ(value_of(outcome, space, objective), 1 - 1000);
}

TEST(ExploreObjective, TheFrontOfOneFunctionIsItsBest) {
  const Space space = space_with_function();
  const std::vector<Outcome> outcomes = outcomes_in(space);
  double best = std::numeric_limits<double>::infinity();
  for (const Outcome& outcome : outcomes) best = std::min(best, nearness(outcome));
  const std::vector<Outcome> front = front_of(outcomes, space, space.objectives);
  ASSERT_FALSE(front.empty());
  for (const Outcome& outcome : front) EXPECT_EQ(nearness(outcome), best);
  EXPECT_EQ(sensitivities(outcomes, space, space.objectives.front(), space.objectives).size(), space.axes.size());
}

TEST(ExploreObjective, WhatIsInfiniteIsOnNoFront) {
  Space space = space_with_function();
  space.objectives = {{.function = [](const Outcome& o, const Space&) { return o.design == 0 ? INFINITY : 1; }},
                      {.metric = Metric::energy}};
  const std::vector<Outcome> outcomes = {test::ran(0, 1, 1), test::ran(1, 2, 2), test::ran(2, 1, 3)};
  EXPECT_TRUE(values_of(outcomes[0], space, space.objectives).empty());
  const std::vector<Outcome> front = front_of(outcomes, space, space.objectives);
  ASSERT_EQ(front.size(), 1U);
  EXPECT_EQ(front.front().design, 1U);
}

TEST(ExploreObjective, MethodsThatSearchFindDesignsNearTheBestOfAll) {
  const Space space = space_with_function();
  std::vector<double> values;
  for (const Outcome& outcome : outcomes_in(space)) values.push_back(nearness(outcome));
  std::ranges::sort(values);
  for (const std::string method : {"nsga2", "surrogate", "narrow"}) {
    const MethodOptions options{.method = method, .samples = 96, .population = 16, .batch_hint = [] { return 1; }};
    double found = std::numeric_limits<double>::infinity();
    const auto searched = search(space, options, [&](std::span<const Design> designs) {
      std::vector<Outcome> outcomes;
      for (const Design design : designs) outcomes.push_back(test::machine_like(space, design));
      for (const Outcome& outcome : outcomes) found = std::min(found, nearness(outcome));
      return Expected<std::vector<Outcome>>(std::move(outcomes));
    });
    ASSERT_TRUE(searched.has_value()) << searched.error().text();
    // Half of all designs were looked at: by chance one of the best five would be missed once in 32 times.
    EXPECT_LE(found, values[4]) << method;
  }
}

}  // namespace
}  // namespace monet::explore
