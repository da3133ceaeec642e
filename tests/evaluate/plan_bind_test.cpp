// Does a plan become the cuts, cores and stacks that it names, and is one that cannot be carried out refused with the
// reason?
#include "evaluate/plan/bind.h"

#include "evaluate/plan_network.h"
#include "training/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using test::expect_error;
using test::node_named;
using test::plan_of;
using test::small_hardware;
using test::small_network;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlanBind : public testing::Test {
 protected:
  BoundPlan bound(const std::string& text) {
    auto result = binder_.bind(plan_of(text));
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    return result ? *std::move(result)
                  : BoundPlan{.operators = std::vector<BoundOperator>(graph_.nodes().size()), .stacks = {}};
  }
  void refused(const std::string& text, const std::vector<std::string>& words, const std::string& advice,
               const std::string& place = "p.yaml:") {
    const auto result = binder_.bind(plan_of(text));
    ASSERT_FALSE(result.has_value()) << text;
    expect_error(result.error(), words, place);
    EXPECT_THAT(result.error().advice, HasSubstr(advice)) << result.error().text();
  }
  const BoundOperator& of(const BoundPlan& plan, std::string_view name) const {
    return plan.operators[node_named(graph_, name).index()];
  }
  std::vector<std::string> names(const std::vector<CoreId>& cores) const {
    std::vector<std::string> result;
    for (CoreId core : cores) result.push_back(hardware_[core].name);
    return result;
  }

  Graph graph_ = small_network();
  Hardware hardware_ = small_hardware();
  Binder binder_{graph_, hardware_};
};

TEST_F(PlanBind, LeavesOpenWhatIsNotStated) {
  const BoundPlan plan = bound("");
  EXPECT_THAT(plan.stacks, IsEmpty());
  ASSERT_EQ(plan.operators.size(), graph_.nodes().size());
  for (const BoundOperator& each : plan.operators) {
    EXPECT_FALSE(each.tile_stated || each.split_stated || each.priority || each.stack);
    EXPECT_THAT(each.cuts, IsEmpty());
    EXPECT_THAT(each.cores, IsEmpty());
  }
  EXPECT_EQ(plan.order, PlanOrder::critical_path);
  EXPECT_EQ(bound("order: graph\ntransfers: memory\n").order, PlanOrder::graph);
  EXPECT_EQ(bound("order: graph\ntransfers: memory\n").transfers, PlanTransfers::memory);
}

TEST_F(PlanBind, PutsSplitBeforeTilesAndGivesEachPieceACore) {
  const BoundPlan plan =
      bound("operators: {conv1: {tile: {OY: 4, K: 2}, split: {K: 4, OX: 2}, cores: [pe0_0, pe1_0], priority: 2}}\n");
  const BoundOperator& conv = of(plan, "conv1");
  EXPECT_THAT(conv.cuts, ElementsAre(LoopCut{Dim::K, 4, 2}, LoopCut{Dim::OX, 2, 0}, LoopCut{Dim::OY, 1, 4}));
  EXPECT_TRUE(conv.tile_stated && conv.split_stated);
  EXPECT_EQ(conv.priority, 2.0);
  // Eight pieces take turns on two cores.
  EXPECT_THAT(names(conv.cores), ElementsAre("pe0_0", "pe1_0", "pe0_0", "pe1_0", "pe0_0", "pe1_0", "pe0_0", "pe1_0"));
}

TEST_F(PlanBind, CoresWithoutASplitAreThoseItMayRunOn) {
  const BoundPlan plan = bound("operators: {conv1: {cores: [pe1_1, \"pe*\"]}, fc: {split: {C: 2}}}\n");
  EXPECT_THAT(names(of(plan, "conv1").cores), ElementsAre("pe1_1", "pe0_0", "pe0_1", "pe1_0"));
  EXPECT_FALSE(of(plan, "conv1").split_stated);
  EXPECT_TRUE(of(plan, "fc").split_stated);
  EXPECT_THAT(of(plan, "fc").cores, IsEmpty());
}

TEST_F(PlanBind, PatternsTakeAsManyCoresAsThereArePieces) {
  const BoundPlan plan = bound("operators: {\"fc*\": {cores: \"pe*\"}, fc: {split: {K: 2}}}\n");
  EXPECT_THAT(names(of(plan, "fc").cores), ElementsAre("pe0_0", "pe0_1"));
  EXPECT_EQ(of(plan, "fc2").cores.size(), 4U);
}

TEST_F(PlanBind, LaterEntriesOverrideEarlierOnes) {
  const BoundPlan plan = bound(
      "stacks: [{operators: [conv1, relu1], tile: {OY: 4, K: 8}}]\n"
      "operators: {\"relu?\": {priority: 1, tile: {OY: 3}}, relu1: {tile: {OY: 2}}, \"*\": {priority: 5}}\n");
  EXPECT_THAT(of(plan, "conv1").cuts, ElementsAre(LoopCut{Dim::OY, 1, 4}, LoopCut{Dim::K, 1, 8}));
  EXPECT_THAT(of(plan, "relu1").cuts, ElementsAre(LoopCut{Dim::OY, 1, 2}, LoopCut{Dim::K, 1, 8}));
  EXPECT_EQ(of(plan, "relu1").priority, 5.0);
  // relu2 works on rows and columns and has no OY.
  EXPECT_THAT(of(plan, "relu2").cuts, IsEmpty());
}

TEST_F(PlanBind, SizesOfPatternsAndStacksAreCutDownToWhatThereIs) {
  // conv1 has 16 channels, relu1 as many, fc 10 columns.
  const BoundPlan plan = bound(
      "stacks: [{operators: [conv1, relu1, flat, fc], tile: {K: 12}}]\n"
      "operators: {\"*c*\": {split: {K: 16}, cores: [pe0_0, pe0_1]}}\n");
  EXPECT_THAT(of(plan, "conv1").cuts, ElementsAre(LoopCut{Dim::K, 16, 12}));
  EXPECT_THAT(of(plan, "fc").cuts, ElementsAre(LoopCut{Dim::K, 10, 10}));
  EXPECT_EQ(of(plan, "fc").cores.size(), 10U);
}

TEST_F(PlanBind, StacksHoldTheirOperatorsInOrderWithoutViews) {
  const BoundPlan plan = bound("stacks: [{name: tail, operators: [exp, flat, fc]}, [flat], [conv1]]\n");
  ASSERT_EQ(plan.stacks.size(), 2U);
  EXPECT_EQ(plan.stacks[0].name, "tail");
  EXPECT_THAT(plan.stacks[0].nodes, ElementsAre(node_named(graph_, "fc"), node_named(graph_, "exp")));
  EXPECT_EQ(of(plan, "exp").stack, 0U);
  EXPECT_EQ(of(plan, "conv1").stack, 1U);
  EXPECT_FALSE(of(plan, "flat").stack);
}

TEST_F(PlanBind, RefusesNamesThatDoNotExist) {
  refused("stacks: [[conv2]]\n", {"there is no operator 'conv2'"}, "did you mean 'conv1'", "p.yaml:2:10");
  refused("operators: {conv2: {priority: 1}}\n", {"there is no operator 'conv2'"}, "did you mean 'conv1'",
          "p.yaml:2:13");
  refused("operators: {\"z*\": {priority: 1}}\n", {"no operator matches 'z*'"}, "", "p.yaml:2:13");
  refused("operators: {conv1: {cores: pe0_2}}\n", {"there is no core 'pe0_2'"}, "did you mean 'pe0_", "p.yaml:2:13");
  refused("operators: {conv1: {cores: \"q*\"}}\n", {"there is no core 'q*'"}, "known: pe0_0");
  refused("stacks: [[conv1~1]]\n", {"there is no operator 'conv1~1'"}, "'conv1' has no such copy");
}

TEST_F(PlanBind, RefusesCoresThatCannotRunTheOperator) {
  refused("operators: {exp: {cores: pe0_0}}\n",
          {"core 'pe0_0' cannot run operator 'exp'", "Exp is not among the operators"}, "these can: simd");
  refused("operators: {exp: {cores: \"pe*\"}}\n", {"no core that matches 'pe*' can run operator 'exp'"},
          "these can: simd");
  refused("operators: {\"*\": {cores: simd}}\n", {"core 'simd' cannot run operator 'conv1'"}, "these can: pe0_0");
  for (Core& core : hardware_.cores) core.operators.clear();
  refused("operators: {exp: {cores: pe0_0}}\n", {"no unit of core pe0_0 has all of its operations (without exp)"},
          "these can: simd");
  for (Core& core : hardware_.cores) {
    for (Unit& unit : core.units) unit.cycles[static_cast<std::size_t>(Count::exp)] = 0;
  }
  refused("operators: {exp: {cores: simd}}\n", {"(without exp)"}, "no core of this machine can");
}

TEST_F(PlanBind, RefusesAnOperationThatARateCoreLacks) {
  Rate rate;
  rate.operations_per_s.fill(1e9);
  rate.operations_per_s[static_cast<std::size_t>(Count::mac)] = 0;
  hardware_.cores[0].units.clear();
  hardware_.cores[0].operators.clear();
  hardware_.cores[0].rate = rate;
  refused("operators: {fc: {cores: pe0_0}}\n", {"(without mac)"}, "these can: pe0_1");
  EXPECT_EQ(of(bound("operators: {exp: {cores: pe0_0}}\n"), "exp").cores.size(), 1U);
}

TEST_F(PlanBind, RefusesMoreCoresThanPieces) {
  refused("operators: {conv1: {split: {K: 2}, cores: [pe0_0, pe0_1, pe1_0]}}\n", {"'conv1' has 3 cores and 2 pieces"},
          "name fewer cores");
  refused("operators: {conv1: {split: {K: 16, C: 3, OY: 8, OX: 8, FY: 3, FX: 3, B: 2}}}\n", {"more than 16384 pieces"},
          "split it less");
}

TEST_F(PlanBind, RefusesSizesBeyondTheLoop) {
  refused("operators: {conv1: {tile: {OY: 9}}}\n", {"9 iterations in a tile along OY of operator 'conv1'", "has 8"},
          "from 1 to 8", "p.yaml:2:13");
  refused("operators: {conv1: {split: {K: 17}}}\n", {"17 pieces along K of operator 'conv1'", "has 16"},
          "from 1 to 16");
  refused("stacks: [{operators: [conv1, fc], tile: {K: 17}}]\n", {"17 iterations", "'conv1'"}, "from 1 to 16");
  Plan plan;
  plan.operators.push_back(
      {.name = "conv1", .tile = {{Dim::OY, 0}}, .split = {}, .cores = {}, .priority = {}, .place = {}});
  const auto result = binder_.bind(plan);
  ASSERT_FALSE(result.has_value());
  expect_error(result.error(), {"0 iterations in a tile"});
}

TEST_F(PlanBind, RefusesLoopsThatAreNotThere) {
  refused("operators: {relu2: {tile: {OY: 1}}}\n", {"operator 'relu2' (Relu) has no loop OY"},
          "it has B of 2, K of 1024");
  refused("operators: {flat: {tile: {OY: 1}}}\n", {"'flat' (Reshape) has no loop OY"}, "a view");
  refused("operators: {\"fc*\": {split: {OY: 1}}}\n", {"none of these operators has a loop OY"}, "take it out");
  refused("stacks: [{operators: [fc, exp], tile: {OZ: 1}}]\n", {"none of these operators has a loop OZ"},
          "take it out");
}

TEST_F(PlanBind, RefusesAnOperatorInTwoStacks) {
  refused("stacks:\n- [conv1]\n- [relu1, conv1]\n", {"operator 'conv1' is in two stacks"}, "p.yaml:3:3", "p.yaml:4:3");
  refused("stacks: [[conv1, conv1]]\n", {"twice in this stack"}, "once");
}

TEST_F(PlanBind, RefusesAStackWithAnOperatorBetween) {
  refused("stacks: [{name: bad, operators: [conv1, fc]}]\n",
          {"stack 'bad' cannot run as one: 'relu1' is outside of it and between its operators 'conv1' and 'fc'"},
          "add it to the stack", "p.yaml:2:10");
  refused("stacks: [[conv1, fc2]]\n", {"stack 1 ('conv1', …)", "'relu1', 'relu2' are outside"}, "add them");
  // A view is no operator between.
  EXPECT_EQ(bound("stacks: [[relu1, fc]]\n").stacks.size(), 1U);
}

TEST_F(PlanBind, RefusesStacksThatWaitForEachOther) {
  refused(
      "stacks: [{name: a, operators: [fc, relu2]}, {name: b, operators: [exp, fc2]}, {name: c, operators: [relu1, "
      "y]}]\n",
      {"stacks wait for each other", "'relu1' of stack 'c' must come before", "of stack 'c'"}, "divide one of them");
  refused("order: listed\nstacks: [{name: a, operators: [fc]}, {name: b, operators: [conv1]}]\n",
          {"stack 'a' is listed before stack 'b'", "'conv1' of stack 'b' must come before 'relu1'"}, "another order");
  EXPECT_EQ(bound("stacks: [{name: a, operators: [fc]}, {name: b, operators: [conv1]}]\n").stacks.size(), 2U);
}

TEST_F(PlanBind, CopiesCanBeNamed) {
  const Graph step = test::planned_step();
  const TensorId relu = step[node_named(step, "relu1")].outputs[0];
  const auto after = training::recompute(step, std::vector{relu});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  const auto plan = bind(plan_of("stacks: [[conv1~1, relu1~1]]\n"), after->graph, hardware_);
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_THAT(plan->stacks[0].nodes,
              ElementsAre(node_named(after->graph, "conv1~1"), node_named(after->graph, "relu1~1")));
}

}  // namespace
}  // namespace monet
