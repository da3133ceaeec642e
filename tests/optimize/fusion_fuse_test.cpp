// Sets as graphs of their own, their prices, and whole steps: never worse than unfused, the same for any number of
// threads, the same from the plan.
#include "evaluate/account/totals.h"
#include "evaluate/evaluate.h"
#include "evaluate/open/hardware.h"
#include "evaluate/plan/hash.h"
#include "evaluate/random_evaluation.h"
#include "graph/builder.h"
#include "graph/verify.h"
#include "networks/open.h"
#include "optimize/fusion/extract.h"
#include "optimize/fusion/fuse.h"
#include "optimize/fusion/shared_loops.h"
#include "support/in_bytes.h"
#include "support/random_network.h"
#include "support/shared.h"

#include <gtest/gtest.h>

namespace monet::fusion {
namespace {

using test::Random;
using Integers = std::vector<std::int64_t>;

Attributes convolution(std::int64_t pad) {
  return {{Attr::strides, Integers{1, 1}},
          {Attr::dilations, Integers{1, 1}},
          {Attr::pads, Integers{pad, pad, pad, pad}},
          {Attr::group, std::int64_t{1}}};
}

// Three layers of a 3x3 convolution and an activation, then one with another; the first reads the input.
Graph layers() {
  GraphBuilder builder("layers");
  TensorId x = builder.input("x", {2, 8, 16, 16});
  for (int i = 0; i < 4; ++i) {
    const TensorId w = builder.parameter("w" + std::to_string(i), {8, 8, 3, 3});
    x = builder.add(Op::Conv, "conv" + std::to_string(i), {x, w}, convolution(1));
    x = builder.add(i == 3 ? Op::Tanh : Op::Relu, "act" + std::to_string(i), {x});
  }
  builder.output(x);
  return *builder.finish();
}

TEST(FusionExtract, SetsOfEqualContentGiveEqualGraphs) {
  const Graph graph = layers();
  const Readers readers(graph);
  const auto set = [&](std::size_t first) {
    return extract(graph, readers, std::vector{NodeId(first), NodeId(first + 1)}).graph;
  };
  EXPECT_TRUE(verify(set(0)).has_value());
  EXPECT_EQ(hash_of(set(2)), hash_of(set(4)));
  EXPECT_NE(hash_of(set(2)), hash_of(set(6)));  // another activation
  EXPECT_EQ(set(0).inputs.size(), 1U);          // the weight is none
  EXPECT_EQ(set(0).outputs.size(), 1U);
}

class FusionExtractRandom : public ::testing::TestWithParam<int> {};

TEST_P(FusionExtractRandom, GraphsAreRight) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const auto graph = test::random_step(random);
  ASSERT_TRUE(graph.has_value());
  const Readers readers(*graph);
  for (int i = 0; i < 10; ++i) {
    std::vector<NodeId> set;
    for (std::size_t n = 0; n < graph->nodes().size(); ++n) {
      if (family_of(graph->nodes()[n].op) != OpFamily::view && random.chance(0.3)) set.emplace_back(n);
    }
    if (set.empty()) continue;
    const Extracted extracted = extract(*graph, readers, set);
    const Status right = verify(extracted.graph);
    EXPECT_TRUE(right.has_value()) << right.error().text();
    ASSERT_EQ(extracted.nodes.size(), set.size());
    for (std::size_t k = 0; k < set.size(); ++k) EXPECT_EQ(extracted.graph[extracted.nodes[k]].op, (*graph)[set[k]].op);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FusionExtractRandom, ::testing::Range(0, 40));

// What the loops of `name` are cut together with, as "conv0.OY act0.OY".
std::vector<std::string> shared_in(const Graph& graph) {
  std::vector<std::string> result;
  for (const SharedLoop& shared : shared_loops(graph, TilingGraph(graph))) {
    std::string text;
    for (const LoopOf& member : shared.members)
      text += (text.empty() ? "" : " ") + graph[member.node].name + "." + name_of(member.loop.name);
    result.push_back(text);
  }
  return result;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

TEST(FusionLoops, RunAlongWhatPassesBetween) {
  const Graph graph = layers();
  const Readers readers(graph);
  const Graph set = extract(graph, readers, std::vector{NodeId(0), NodeId(1), NodeId(2)}).graph;  // conv relu conv
  const auto shared = shared_in(set);
  EXPECT_TRUE(has(shared, "n0.B n1.B n2.B"));
  EXPECT_TRUE(has(shared, "n0.OY n1.OY n2.OY"));
  EXPECT_TRUE(has(shared, "n0.K n1.K n2.C"));  // channels made are channels that are summed over
}

TEST(FusionLoops, AreFollowedThroughViews) {
  GraphBuilder builder("views");
  const TensorId x = builder.input("x", {6, 8});
  const TensorId w = builder.parameter("w", {8, 10});
  TensorId y = builder.add(Op::MatMul, "product", {x, w});  // rows 6, columns 10
  y = builder.add(Op::Reshape, "split", {y}, {{Attr::shape, Integers{2, 3, 10}}});
  y = builder.add(Op::Transpose, "turn", {y}, {{Attr::perm, Integers{2, 0, 1}}});
  builder.output(builder.add(Op::Relu, "relu", {y}));  // 10 x 2 x 3: B D K
  const auto shared = shared_in(*builder.finish());
  EXPECT_TRUE(has(shared, "product.K relu.B"));
  EXPECT_TRUE(has(shared, "product.D relu.D"));
}

class FusionRandom : public ::testing::TestWithParam<int> {};

// Random steps on random machines.
TEST_P(FusionRandom, IsNeverWorseThanUnfusedAndTheSameFromItsPlan) {
  auto example = test::random_evaluation(static_cast<unsigned>(GetParam()));
  if (!example) GTEST_SKIP() << example.error().text();
  MappingCache cache;
  Evaluator evaluator(example->graph, example->hardware, cache, {});
  const PlanRequest base = empty_request(example->graph);
  if (!evaluator.evaluate(base)) GTEST_SKIP() << "it cannot run at all";
  for (const Objective objective : {Objective::latency, Objective::energy, Objective::edp, Objective::sets}) {
    FuseSettings settings;
    settings.objective = objective;
    settings.tile_budget = 3000;
    settings.evaluator.jobs = 1;
    const auto fused = fuse(example->graph, example->hardware, cache, base, settings);
    ASSERT_TRUE(fused.has_value()) << fused.error().text();
    if (objective != Objective::sets) {
      EXPECT_LE(value_of(fused->cost, objective), value_of(fused->unfused, objective) * (1 + 1e-12));
    } else if (fused->fewest.proven) {
      EXPECT_EQ(fused->stacks.size(), static_cast<std::size_t>(fused->fewest.bound + 0.5));
    }
    Plan plan;
    add_to(plan, example->graph, *fused);
    const auto bound = evaluator.bind(plan);
    ASSERT_TRUE(bound.has_value()) << bound.error().text();
    const auto again = evaluator.evaluate(*bound);
    ASSERT_TRUE(again.has_value()) << again.error().text();
    const Totals sums = totals(example->hardware, again->schedule);
    EXPECT_EQ(sums.cycles, fused->cost.cycles);
    EXPECT_EQ(sums.energy_pj, fused->cost.energy_pj);
    settings.evaluator.jobs = 3;
    MappingCache other;
    const auto parallel = fuse(example->graph, example->hardware, other, base, settings);
    ASSERT_TRUE(parallel.has_value());
    EXPECT_EQ(parallel->cost.cycles, fused->cost.cycles);
    EXPECT_EQ(parallel->stacks.size(), fused->stacks.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Random, FusionRandom, ::testing::Range(0, 12));

TEST(FusionRandomCases, MostlyCanRun) {
  int runs = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const auto example = test::random_evaluation(seed);
    if (!example) continue;
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, {});
    if (evaluator.evaluate(empty_request(example->graph))) ++runs;
  }
  EXPECT_GE(runs, 8);
}

TEST(FusionFuse, AStoppedSearchGivesTheStepAsItIs) {
  const Graph graph = test::in_bytes(layers());
  const auto hardware = open_hardware("monet_2x2");
  ASSERT_TRUE(hardware.has_value());
  MappingCache cache;
  FuseSettings settings;
  settings.stop = [] { return true; };
  const auto fused = fuse(graph, *hardware, cache, empty_request(graph), settings);
  ASSERT_TRUE(fused.has_value()) << fused.error().text();
  EXPECT_TRUE(fused->stopped);
  EXPECT_EQ(fused->stacks.size(), fused->operators);
  EXPECT_EQ(fused->cost.cycles, fused->unfused.cycles);
}

// The published graph and rules: 438 operators; the published answer has 128 sets (reference/monet.md).
TEST(FusionPublished, ResNet18NeedsNoMoreThan128Sets) {
  MONET_SHARED_OR_SKIP(path, "reference/monet/resnet18_full_training.onnx");
  const auto network = open_network(path.string(), {});
  ASSERT_TRUE(network.has_value()) << network.error().text();
  const auto hardware = open_hardware("monet_2x2");
  ASSERT_TRUE(hardware.has_value());
  MappingCache cache;
  const Graph graph = test::in_bytes(network->graph);
  Evaluator evaluator(graph, *hardware, cache, {});
  Rules rules;
  rules.published = true;
  const auto problem = make_problem(graph, evaluator.machine(), rules, evaluator.element_bits());
  ASSERT_TRUE(problem.has_value());
  EXPECT_EQ(problem->size(), 438U);
  double last = 1000;
  for (const std::size_t limit : {4, 6, 8}) {
    rules.limit = limit;
    const Candidates candidates = candidates_of(*problem, rules, Reachability(*problem));
    ASSERT_TRUE(candidates.complete);
    const Chosen chosen = choose(*problem, candidates, {}, Objective::sets, {});
    EXPECT_TRUE(chosen.proven);
    EXPECT_LT(chosen.covers.front().cost, last);
    last = chosen.covers.front().cost;
    EXPECT_TRUE(limit != 6 || last <= 128) << last;
  }
}

}  // namespace
}  // namespace monet::fusion
