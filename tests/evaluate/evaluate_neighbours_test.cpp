// Is what an evaluator takes over from another the same as what it would work out itself? MONET_SEEDS=FIRST-LAST asks
// for other seeds.
#include "evaluate/evaluated_difference.h"
#include "evaluate/open/hardware.h"
#include "evaluate/random_evaluation.h"
#include "evaluate/tiles/content.h"
#include "evaluate/tiles_brute_force.h"
#include "evaluate/tiles_cases.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace monet::test {
namespace {

struct SeedRange {
  std::uint64_t first, last;
};

SeedRange seed_range(std::uint64_t count) {
  const char* wanted = std::getenv("MONET_SEEDS");
  if (wanted == nullptr) return {0, count};
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(wanted, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first + 1};
}

// The example by `shared`, and by an evaluator that knows nothing; then both again, by the policy alone.
void expect_same_as_fresh(Evaluator& shared, const RandomEvaluation& example, const EvaluatorOptions& options,
                          const std::string& what) {
  MappingCache cache;
  Evaluator fresh(example.graph, example.hardware, cache, options);
  const auto expected = evaluate(fresh, example);
  const auto actual = evaluate(shared, example);
  ASSERT_EQ(difference(expected, actual), "") << what;
  if (actual) {
    const CheckReport report = check(shared, *actual);
    EXPECT_EQ(report.count, 0U) << what << ": " << report.violations.front().what;
  }
  const PlanRequest nothing = empty_request(example.graph);
  EXPECT_EQ(difference(fresh.evaluate(nothing), shared.evaluate(nothing)), "") << what;
  EXPECT_EQ(fresh.notes(), shared.notes()) << what;
  for (std::size_t n = 0; n < example.graph.nodes().size(); ++n) {
    const OperatorBound a = fresh.costs().bound(NodeId(n));
    const OperatorBound b = shared.costs().bound(NodeId(n));
    EXPECT_EQ(std::tie(a.core_cycles, a.pj, a.cores), std::tie(b.core_cycles, b.pj, b.cores)) << what;
  }
}

std::vector<TensorId> random_set(Random& random, const Graph& step) {
  std::vector<TensorId> tensors;
  const double share = random.one_of<double>({0.1, 0.5, 0.9});
  for (const training::SavedCandidate& saved : training::saved_candidates(step)) {
    if (saved.reason.empty() && random.chance(share)) tensors.push_back(saved.tensor);
  }
  return tensors;
}

// Steps that recompute different tensors, one after the other, each with a plan of its own.
TEST(EvaluateNeighbours, AreTheSameAsByThemselves) {
  const SeedRange range = seed_range(12);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = range.first; seed < range.last && !testing::Test::HasFailure(); ++seed) {
    Random random(seed);
    const auto step = random_step(random);
    auto hardware = read_hardware_text(RandomHardware(random).make(), "random.yaml");
    if (!step || !hardware) continue;
    ++compared;
    EvaluatorOptions options = quick_options();
    if (random.chance(0.1)) options.off_chip = true;
    if (random.chance(0.1)) options.cost.extract.precision = "int8";
    MappingCache cache;
    const Evaluator base(*step, *hardware, cache, options);
    const training::Recomputation recomputation(*step);
    for (int round = 0; round < 4; ++round) {
      auto rewritten = recomputation.with(random_set(random, *step));
      ASSERT_TRUE(rewritten) << seed << ": " << rewritten.error().text();
      RandomEvaluation example{.graph = std::move(rewritten->graph), .hardware = *hardware, .plan = {}, .paged = {}};
      if (round > 0) example.plan = RandomPlan(random, example.graph, example.hardware).make();
      Evaluator shared(example.graph, base);
      expect_same_as_fresh(shared, example, options, "seed " + std::to_string(seed));
    }
  }
  EXPECT_GE(compared * 2, range.last - range.first);
}

// Graphs that have little in common, on one machine: nothing of one is taken for something of another.
TEST(EvaluateNeighbours, MayBeAnyGraphs) {
  for (const char* machine : {"monet_2x2", "edge_tpu"}) {
    const auto hardware = open_hardware(machine);
    ASSERT_TRUE(hardware) << machine;
    MappingCache cache;
    const Graph nothing;
    const Evaluator base(nothing, *hardware, cache, quick_options());
    const SeedRange range = seed_range(12);
    std::uint64_t compared = 0;
    for (std::uint64_t seed = range.first; seed < range.last && !testing::Test::HasFailure(); ++seed) {
      const auto example = random_evaluation(seed, *hardware);
      if (!example) continue;
      ++compared;
      Evaluator shared(example->graph, base);
      expect_same_as_fresh(shared, *example, quick_options(), machine + (" seed " + std::to_string(seed)));
    }
    EXPECT_GE(compared * 2, range.last - range.first) << machine;
  }
}

// By ZigZag's rules nothing is shared, and the answer is the same.
TEST(EvaluateNeighbours, ByTheRulesOfZigzag) {
  const auto hardware = open_hardware("monet_2x2");
  ASSERT_TRUE(hardware);
  EvaluatorOptions options = quick_options();
  options.cost.zigzag = options.off_chip = true;
  options.cost.extract.precision = "int8";
  MappingCache cache;
  const Graph nothing;
  const Evaluator base(nothing, *hardware, cache, options);
  int compared = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto example = random_evaluation(seed, *hardware);
    if (!example) continue;
    ++compared;
    Evaluator shared(example->graph, base);
    expect_same_as_fresh(shared, *example, options, "seed " + std::to_string(seed));
  }
  EXPECT_GE(compared, 5);
}

// Views, concatenations, gathers with known indices, windows: the tiles of many graphs by one table.
TEST(EvaluateNeighbours, ShareTiles) {
  OperatorClassTable numbers;
  TilingTable table;
  int compared = 0;
  for (unsigned seed = 0; seed < 600 && !testing::Test::HasFailure(); ++seed) {
    const auto graph = TileCase(seed).make();
    if (!graph) continue;
    ++compared;
    const OperatorClasses classes(*graph, numbers);
    const TilingGraph shared(*graph, classes, table);
    const TilingGraph alone(*graph);
    std::mt19937 random(seed);
    for (int round = 0; round < 2; ++round) {
      const Assignment cuts = random_cuts(*graph, alone, random, 40);
      const auto expected = alone.tiles(cuts);
      const auto actual = shared.tiles(cuts);
      ASSERT_TRUE(expected && actual) << seed;
      EXPECT_EQ(difference(*expected, *actual), "") << seed;
    }
  }
  EXPECT_GE(compared, 300);
}

// One evaluator for each thread, one cache of mappings for all.
TEST(EvaluateNeighbours, ThreadsShareACache) {
  Random random(3);
  const auto step = random_step(random);
  const auto hardware = open_hardware("monet_2x2");
  ASSERT_TRUE(step && hardware);
  const training::Recomputation recomputation(*step);
  std::vector<Graph> graphs;
  for (int i = 0; i < 4; ++i) graphs.push_back(recomputation.with(random_set(random, *step))->graph);
  auto store = MappingStore::open(testing::TempDir() + "/no_such_mappings");
  ASSERT_TRUE(store);
  EvaluatorOptions options = quick_options();
  options.cost.store = &*store;
  MappingCache cache;
  constexpr std::size_t threads = 3;
  std::vector<std::vector<Expected<Evaluated>>> results(threads);
  {
    std::vector<std::jthread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        const Evaluator base(*step, *hardware, cache, options);
        for (const Graph& graph : graphs) {
          results[t].push_back(Evaluator(graph, base).evaluate(empty_request(graph)));
        }
      });
    }
  }
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    MappingCache alone;
    Evaluator fresh(graphs[i], *hardware, alone, quick_options());
    const auto expected = fresh.evaluate(empty_request(graphs[i]));
    for (const auto& of_thread : results) EXPECT_EQ(difference(expected, of_thread[i]), "") << i;
  }
}

}  // namespace
}  // namespace monet::test
