// Is the order that keeps little alive an order, and does it save what it should?
#include "evaluate/plan/frugal_order.h"

#include "evaluate/plan/stack_order.h"
#include "optimize/memory_case.h"
#include "optimize/pricing/pricer.h"
#include "support/random_step.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace monet {
namespace {

using namespace test;

TEST(FrugalOrder, EveryStackRunsOnceAndAfterWhatItNeeds) {
  std::size_t steps = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const auto step = random_step(seed);
    if (!step) continue;
    ++steps;
    const Dependencies dependencies(*step);
    std::mt19937 random(seed);
    // Some neighbours as stacks, those that can run.
    std::vector<StackNodes> stacks;
    for (std::size_t n = 0; n + 1 < step->nodes().size(); n += 1 + random() % 4) {
      if (dependencies.is_view(NodeId(n)) || dependencies.is_view(NodeId(n + 1)) || random() % 3 == 0) continue;
      stacks.push_back({.name = "", .nodes = {NodeId(n), NodeId(n + 1)}, .place = {}});
      if (!run_order(*step, dependencies, stacks)) stacks.pop_back();
      ++n;
    }
    const auto listed = run_order(*step, dependencies, stacks);
    ASSERT_TRUE(listed.has_value()) << seed;
    const auto order = frugal_order(*step, dependencies, *listed);
    ASSERT_EQ(order.size(), listed->size()) << seed;
    EXPECT_EQ(std::set(order.begin(), order.end()), std::set(listed->begin(), listed->end())) << seed;
    std::set<NodeId> done;
    for (const std::vector<NodeId>& stack : order) {
      const std::set<NodeId> own(stack.begin(), stack.end());
      for (NodeId node : stack) {
        for (NodeId before : dependencies.before(node)) {
          EXPECT_TRUE(done.contains(before) || own.contains(before)) << seed;
        }
      }
      done.insert(own.begin(), own.end());
    }
    EXPECT_EQ(frugal_order(*step, dependencies, *listed), order) << "the same again";
  }
  EXPECT_GT(steps, 20U);
}

// n layers of w x w weights and hardly any activations: where all updates come last, n gradients are alive together;
// where each follows its gradient, one.
TEST(FrugalOrder, AnUpdateRightAfterItsGradientSavesTheOtherGradients) {
  constexpr std::int64_t width = 64;
  for (const std::int64_t hidden : {1, 3, 6}) {
    const std::int64_t layers = hidden + 1;
    const std::string model = "mlp-robotics:inputs=64,hidden=64,outputs=64,layers=" + std::to_string(hidden);
    MemoryCase example(training_step_of(model, 1), one_memory_machine(false));
    Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
    const auto peak = [&](PlanOrder order) {
      Plan plan;
      plan.order = order;
      const auto priced = pricer.price(plan);
      EXPECT_TRUE(priced.has_value());
      return priced->price.peak_bytes[example.home().index()];
    };
    const std::int64_t gradient = width * width * 4;
    const std::int64_t small = 3 * (layers + 4) * width * 4;  // activations and biases
    const std::int64_t frugal = peak(PlanOrder::frugal);
    // Weights and two moments; a gradient.
    EXPECT_NEAR(static_cast<double>(frugal), static_cast<double>((3 * layers + 1) * gradient),
                static_cast<double>(small + 3 * layers * width * 4));
    EXPECT_NEAR(static_cast<double>(peak(PlanOrder::graph) - frugal), static_cast<double>((layers - 1) * gradient),
                static_cast<double>(small));
  }
}

}  // namespace
}  // namespace monet
