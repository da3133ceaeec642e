// Does the search over plans find the best of all of them where there are few, and never anything worse than it began
// with? The brute force knows names of operators, cores and loops, and shares nothing with the search but the
// evaluation.
#include "optimize/assignment/search.h"

#include "evaluate/open/hardware.h"
#include "graph/builder.h"
#include "hardware/reader.h"
#include "networks/open.h"
#include "optimize/memory_case.h"
#include "support/in_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace monet::assigning {
namespace {

using namespace test;

// Two equal cores of 1 KiB each on a bus to a memory that is slower than they are.
Hardware two_cores() {
  std::string text =
      "monet: 1\nname: pair\nclock: 1 GHz\nmemories:\n"
      "  ram: {kind: sram, size: 64 MiB, ports: {rw: {width: 32 bit/cycle}}, read_energy: 9 pJ, write_energy: 9 pJ}\n"
      "cores:\n  core:\n    count: 2\n    rate: {operations: {all: 4 GOP/s}, energy: {all: 2 pJ}}\n    memories:\n"
      "      own: {kind: sram, size: 1 KiB, serves: all, ports: {rw: {width: 64 bit/cycle}}, read_energy: 1 pJ, "
      "write_energy: 1 pJ}\n      ram: {use: ram}\n"
      "links:\n  - {bus: [core, ram], width: 64 bit/cycle, name: bus}\n";
  auto hardware = read_hardware_text(text, "pair.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

// A product, two functions of its elements, a product …
Graph chain(int operators, std::int64_t rows) {
  GraphBuilder builder("chain");
  TensorId x = builder.input("x", {rows, 16});
  for (int i = 0; i < operators; ++i) {
    const std::string number = std::to_string(i);
    if (i % 3 == 0) {
      x = builder.add(Op::MatMul, "op" + number, {x, builder.parameter("w" + number, {16, 16})});
    } else {
      x = builder.add(i % 3 == 1 ? Op::Relu : Op::Tanh, "op" + number, {x});
    }
  }
  builder.output(x);
  return in_bytes(*builder.finish());
}

class ChainCase {
 public:
  ChainCase(int operators, std::int64_t rows) : graph_(chain(operators, rows)), hardware_(two_cores()) {
    how_.cost.search.factors = 3;
    how_.jobs = 1;
  }

  // Every operator on one of the cores, or on both where `split`; whole or in two tiles along its first loop.
  double best_of_all(bool split) {
    Pricer pricer(graph_, hardware_, cache_, how_);
    const TilingGraph& tiling = pricer.original().evaluator.tiling();
    const std::size_t ways = split ? 6 : 4;
    std::vector<std::vector<PlannedOperator>> choices;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const Loop loop = tiling.cuttable(NodeId(n)).front().loop;
      auto& own = choices.emplace_back();
      for (std::size_t way = 0; way < ways; ++way) {
        PlannedOperator op{.name = graph_.nodes()[n].name};
        op.cores = {hardware_.cores[way / 2 % 2].name};
        std::int64_t extent = loop.size;
        if (way / 2 == 2) {
          op.cores = {hardware_.cores[0].name, hardware_.cores[1].name};
          op.split = {{loop.name, 2}};
          extent /= 2;
        }
        if (way % 2 == 1) op.tile = {{loop.name, extent / 2}};
        own.push_back(std::move(op));
      }
    }
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::size_t> at(choices.size(), 0);
    for (bool more = true; more;) {
      // The cores are equal: the first operator is on the first one.
      if (at[0] / 2 != 1) {
        Plan plan;
        for (std::size_t i = 0; i < at.size(); ++i) plan.operators.push_back(choices[i][at[i]]);
        if (const auto priced = pricer.price(plan)) best = std::min(best, priced->price.cycles);
        ++evaluated_;
      }
      more = false;
      for (std::size_t i = 0; i < at.size() && !more; ++i) {
        at[i] = (at[i] + 1) % ways;
        more = at[i] != 0;
      }
    }
    return best;
  }

  Found found(const SearchOptions& options, std::vector<Plan> starts = {Plan()}) {
    auto result = search(graph_, hardware_, cache_, how_, starts, {}, options);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    return *std::move(result);
  }

  Graph graph_;
  Hardware hardware_;
  MappingCache cache_;
  EvaluatorOptions how_;
  std::size_t evaluated_ = 0;
};

TEST(Assignment, OfAChainNoPlanOfTwoCoresAndTwoTilesIsFaster) {
  for (const int operators : {2, 3, 5, 7, 8}) {
    ChainCase example(operators, 64);
    const double all = example.best_of_all(false);
    const Found found = example.found({.evaluations = 2000, .jobs = 1});
    EXPECT_LE(found.best.price.cycles, all * (1 + 1e-9))
        << operators << " operators: of " << example.evaluated_ << " plans the best is "
        << 100 * (found.best.price.cycles / all - 1) << "% faster than what was found in " << found.evaluated;
    // Without orders and stacks, of which the brute force knows nothing.
    SearchOptions alike{.evaluations = 2000, .jobs = 1};
    alike.moves.stacks = alike.moves.order = false;
    EXPECT_LE(example.found(alike).best.price.cycles, all * (1 + 1e-9)) << operators << " operators";
  }
}

TEST(Assignment, OfAShortChainNoPlanWithSplitsIsFaster) {
  for (const std::int64_t rows : {32, 96}) {
    ChainCase example(4, rows);
    const double all = example.best_of_all(true);
    const Found found = example.found({.evaluations = 2000, .jobs = 1});
    EXPECT_LE(found.best.price.cycles, all * (1 + 1e-9))
        << "the best is " << 100 * (found.best.price.cycles / all - 1) << "% faster";
  }
}

class StepCase {
 public:
  StepCase() : hardware_(*open_hardware("monet_2x2", {})) { how_.cost.search.factors = 3; }

  Graph graph_ = in_bytes(training_step_of("mlp-robotics:inputs=16,hidden=32,outputs=4,layers=2", 128));
  Hardware hardware_;
  MappingCache cache_;
  EvaluatorOptions how_;
};

TEST(Assignment, PlansAreSoundAndGiveTheirNumbersAgain) {
  StepCase example;
  Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
  const auto start = pricer.price(Plan());
  ASSERT_TRUE(start.has_value());
  for (const SearchObjective objective : {SearchObjective::latency, SearchObjective::energy, SearchObjective::edp}) {
    std::vector<double> answers;
    for (const std::size_t jobs : {1, 2}) {
      const auto found = search(example.graph_, example.hardware_, example.cache_, example.how_, std::vector{Plan()},
                                {}, {.objective = objective, .evaluations = 150, .jobs = jobs});
      ASSERT_TRUE(found.has_value()) << found.error().text();
      EXPECT_LE(value_of(found->best.price, objective), value_of(start->price, objective));
      answers.push_back(value_of(found->best.price, objective));
      std::vector<FoundPlan> all = found->others;
      all.push_back(found->best);
      for (const FoundPlan& each : all) {
        const auto again = pricer.price(each.plan);
        ASSERT_TRUE(again.has_value()) << again.error().text();
        EXPECT_EQ(again->price.cycles, each.price.cycles);
        EXPECT_EQ(again->price.energy_pj, each.price.energy_pj);
        EXPECT_TRUE(pricer.check(*again).has_value());
      }
    }
    EXPECT_EQ(answers[0], answers[1]) << "another number of threads";
    EXPECT_LT(answers[0], 0.95 * value_of(start->price, objective));
  }
}

TEST(Assignment, WhereTensorsAreRecomputedCopiesAreAssignedToo) {
  StepCase example;
  Plan plan;
  plan.tensors.push_back({.name = "relu.*", .retention = Retention::recompute});
  const auto tensors = bind_tensors(plan, example.graph_, example.hardware_);
  ASSERT_TRUE(tensors.has_value()) << tensors.error().text();
  const auto found = search(example.graph_, example.hardware_, example.cache_, example.how_, std::vector{plan},
                            *tensors, {.evaluations = 150, .jobs = 1});
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_TRUE(std::ranges::any_of(found->best.plan.operators,
                                  [](const PlannedOperator& op) { return op.name.ends_with("~1"); }));
  Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
  const auto again = pricer.price(found->best.plan);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->price.cycles, found->best.price.cycles);
  EXPECT_EQ(again->price.energy_pj, found->best.price.energy_pj);
}

TEST(Assignment, LeavesAloneWhatIsDecided) {
  StepCase example;
  Plan plan;
  plan.operators.push_back({.name = "layers.0", .cores = {"pe1_1"}});
  SearchOptions options{.evaluations = 100, .jobs = 1};
  for (const Node& node : example.graph_.nodes()) options.moves.decided.push_back(node.name == "layers.0");
  const auto found =
      search(example.graph_, example.hardware_, example.cache_, example.how_, std::vector{plan}, {}, options);
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_TRUE(std::ranges::any_of(found->best.plan.operators, [](const PlannedOperator& op) {
    return op.name == "layers.0" && op.cores == std::vector<std::string>{"pe1_1"};
  }));
  plan.operators.back().cores = {"nowhere"};
  EXPECT_FALSE(search(example.graph_, example.hardware_, example.cache_, example.how_, std::vector{plan}, {}, options)
                   .has_value());
}

TEST(Assignment, KeepsToABudgetWhereItCan) {
  StepCase example;
  Pricer pricer(example.graph_, example.hardware_, example.cache_, example.how_);
  const auto start = pricer.price(Plan());
  ASSERT_TRUE(start.has_value());
  MemoryId home;
  for (std::size_t m = 0; m < example.hardware_.memories.size(); ++m) {
    if (pricer.original().evaluator.machine().is_home(MemoryId(m))) home = MemoryId(m);
  }
  const std::int64_t peak = start->price.peak_bytes[home.index()];
  const auto found = search(example.graph_, example.hardware_, example.cache_, example.how_, std::vector{Plan()}, {},
                            {.memory = home, .budget_bytes = peak, .evaluations = 100, .jobs = 1});
  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_LE(found->best.price.peak_bytes[home.index()], peak);
  EXPECT_LT(found->best.price.cycles, start->price.cycles);
}

}  // namespace
}  // namespace monet::assigning
