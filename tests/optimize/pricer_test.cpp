// Is a price what an evaluation that knows nothing gives, whatever was priced before?
#include "optimize/pricing/pricer.h"

#include "evaluate/random_evaluation.h"
#include "optimize/pricing/plan_for.h"

#include <gtest/gtest.h>

#include <optional>

namespace monet {
namespace {

using namespace test;

struct PricedCase {
  Plan plan;
  std::vector<BoundTensor> tensors;
};

// By recompute() and an evaluator of its own.
Expected<Price> priced_alone(const Graph& step, const Hardware& hardware, const PricedCase& example) {
  std::vector<TensorId> again;
  for (const BoundTensor& tensor : example.tensors) {
    if (tensor.retention == Retention::recompute) again.push_back(tensor.tensor);
  }
  MONET_TRY(const training::Recomputed after, training::recompute(step, again));
  MappingCache cache;
  Evaluator evaluator(after.graph, hardware, cache, quick_options());
  const Plan plan = again.empty() ? example.plan : plan_for(example.plan, step, after, Dependencies(after.graph));
  MONET_TRY(PlanRequest request, evaluator.bind(plan));
  request.paged.resize(after.graph.tensors().size());
  for (const BoundTensor& tensor : example.tensors) {
    const TensorId now = after.tensors[tensor.tensor.index()];
    if (tensor.retention == Retention::page && now.valid()) request.paged[now.index()] = tensor.memory;
  }
  MONET_TRY(const Evaluated evaluated, evaluator.evaluate(request));
  const Totals sums = totals(hardware, evaluated.schedule);
  return Price{.cycles = sums.cycles, .energy_pj = sums.energy_pj, .peak_bytes = sums.live_peak_bytes};
}

TEST(Pricer, PricesAsAFreshEvaluatorInAnyOrder) {
  std::size_t compared = 0, checked = 0;
  for (std::uint64_t seed = 100; seed < 130; ++seed) {
    Random random(seed);
    const auto step = random_step(random);
    const auto hardware = read_hardware_text(RandomHardware(random).make(), "random.yaml");
    if (!step || !hardware) continue;
    MappingCache cache;
    const EvaluatorOptions options = quick_options();
    Pricer pricer(*step, *hardware, cache, options);
    std::vector<PricedCase> cases;
    for (int i = 0; i < 3; ++i) {
      PricedCase example{.plan = RandomPlan(random, *step, *hardware).make(), .tensors = {}};
      example.plan.tensors = random_tensors(random, *step, *hardware);
      const auto bound = bind_tensors(example.plan, *step, *hardware);
      ASSERT_TRUE(bound.has_value()) << seed;
      example.tensors = *bound;
      cases.push_back(std::move(example));
    }
    // There and back again: each is priced after different others.
    for (const std::size_t i : {0, 1, 2, 1, 0}) {
      const auto expected = priced_alone(*step, *hardware, cases[i]);
      const auto found = pricer.price(cases[i].plan, cases[i].tensors);
      ASSERT_EQ(expected.has_value(), found.has_value()) << seed << (found ? "" : found.error().text());
      if (!found) continue;
      EXPECT_EQ(found->price.cycles, expected->cycles) << seed;
      EXPECT_EQ(found->price.energy_pj, expected->energy_pj) << seed;
      EXPECT_EQ(found->price.peak_bytes, expected->peak_bytes) << seed;
      const auto by_names = pricer.price(cases[i].plan);
      ASSERT_TRUE(by_names.has_value());
      EXPECT_EQ(by_names->price.cycles, expected->cycles);
      ++compared;
      const Status sound = pricer.check(*by_names);
      EXPECT_TRUE(sound.has_value()) << seed << ": " << (sound ? "" : sound.error().text());
      for (std::size_t m = 0; m < hardware->memories.size(); ++m) {
        if (!by_names->variant->evaluator.machine().is_home(MemoryId(m))) continue;
        const auto packed = pricer.packed_peak(*by_names, MemoryId(m));
        ASSERT_TRUE(packed.has_value()) << packed.error().text();
        EXPECT_GE(*packed, by_names->price.peak_bytes[m]);
        ++checked;
      }
    }
  }
  EXPECT_GT(compared, 30U);
  EXPECT_GT(checked, 30U);
}

TEST(Pricer, Objectives) {
  const Price price{.cycles = 3, .energy_pj = 5, .peak_bytes = {}};
  EXPECT_EQ(value_of(price, SearchObjective::latency), 3);
  EXPECT_EQ(value_of(price, SearchObjective::energy), 5);
  EXPECT_EQ(value_of(price, SearchObjective::edp), 15);
  EXPECT_EQ(name_of(SearchObjective::edp), "edp");
}

}  // namespace
}  // namespace monet
