// Does a plan decide about the saved tensors that it names, and is what cannot be decided so refused?
#include "evaluate/plan/bind_tensors.h"

#include "evaluate/plan_network.h"
#include "graph/verify.h"
#include "networks/builtin.h"
#include "training/blocks.h"
#include "training/recompute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using test::expect_error;
using test::node_named;
using test::plan_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PlanTensors : public testing::Test {
 protected:
  PlanTensors() {
    hardware_.memories.push_back({.name = "flash", .kind = MemoryKind::storage, .size_bits = std::int64_t{1} << 33});
    hardware_.memories.push_back({.name = "tiny", .kind = MemoryKind::storage, .size_bits = 8 * 1024});
    join("flash", true);
    join("tiny", true);
  }
  MemoryId memory(std::string_view name) const {
    for (std::size_t i = 0; i < hardware_.memories.size(); ++i) {
      if (hardware_.memories[i].name == name) return MemoryId(i);
    }
    return {};
  }
  void join(std::string_view name, bool both_ways) {
    hardware_.links.push_back({.name = {},
                               .kind = LinkKind::link,
                               .ends = {{.core = {}, .memory = memory("dram")}, {.core = {}, .memory = memory(name)}},
                               .both_ways = both_ways,
                               .bits_per_cycle = 8});
  }
  std::string made_by(std::string_view node) const { return step_[output(node)].name; }
  TensorId output(std::string_view node) const { return step_[node_named(step_, node)].outputs[0]; }

  std::vector<BoundTensor> bound(const std::string& text) const {
    auto result = bind_tensors(plan_of(text), step_, hardware_);
    EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
    return result ? *std::move(result) : std::vector<BoundTensor>();
  }
  void refused(const std::string& text, const std::vector<std::string>& words, const std::string& advice) const {
    const auto result = bind_tensors(plan_of(text), step_, hardware_);
    ASSERT_FALSE(result.has_value()) << text;
    expect_error(result.error(), words, "p.yaml:2:11");
    EXPECT_THAT(result.error().advice, HasSubstr(advice)) << result.error().text();
  }

  Graph step_ = test::planned_step();
  Hardware hardware_ = test::small_hardware();
};

TEST_F(PlanTensors, FindsThemByNameViewAndPattern) {
  EXPECT_THAT(bound(""), IsEmpty());
  const TensorId relu = output("relu1");
  const TensorId again = output("relu2");
  const BoundTensor recomputed_relu{relu, Retention::recompute, {}};
  EXPECT_THAT(bound("tensors: {" + made_by("relu1") + ": recompute}\n"), ElementsAre(recomputed_relu));
  EXPECT_THAT(bound("tensors: {" + made_by("flat") + ": recompute}\n"), ElementsAre(recomputed_relu));
  EXPECT_THAT(
      bound("tensors: {\"relu*\": {page: flash}, \"*2*\": keep}\n"),
      ElementsAre(BoundTensor{relu, Retention::page, memory("flash")}, BoundTensor{again, Retention::keep, {}}));
  EXPECT_THAT(bound("tensors: {\"relu*\": {keep: dram}}\n").front().memory, memory("dram"));
  const std::vector<BoundTensor> all = bound("tensors: {\"*\": recompute}\n");
  EXPECT_THAT(recomputed(all), testing::Contains(relu));
  const auto after = training::recompute(step_, recomputed(all));
  ASSERT_TRUE(after.has_value()) << after.error().text();
  EXPECT_TRUE(verify(after->graph));
  // That what is there anyway is kept may be said.
  EXPECT_THAT(bound("tensors: {x: keep, conv1.weight.grad: keep}\n"), IsEmpty());
}

TEST_F(PlanTensors, PagesWeightsAndOptimizerState) {
  const auto at = [&](const std::vector<std::string>& names) {
    std::vector<BoundTensor> result;
    for (const std::string& name : names) {
      result.push_back({test::tensor_named(step_, name), Retention::page, memory("flash")});
    }
    return result;
  };
  using testing::UnorderedElementsAreArray;
  EXPECT_EQ(bound("tensors: {conv1.weight: {page: flash}}\n"), at({"conv1.weight"}));
  EXPECT_THAT(bound("tensors: {weights: {page: flash}}\n"),
              UnorderedElementsAreArray(at({"conv1.weight", "fc.weight", "fc2.weight"})));
  EXPECT_THAT(bound("tensors: {optimizer-state: {page: flash}}\n"),
              UnorderedElementsAreArray(at(
                  {"conv1.weight.m", "fc.weight.m", "fc2.weight.m", "conv1.weight.v", "fc.weight.v", "fc2.weight.v"})));
  EXPECT_THAT(bound("tensors: {\"fc*.m\": {page: flash}}\n"),
              UnorderedElementsAreArray(at({"fc.weight.m", "fc2.weight.m"})));
  // A pattern that matches saved tensors means these alone.
  for (const BoundTensor& tensor : bound("tensors: {\"*\": {page: flash}}\n")) {
    EXPECT_TRUE(step_[tensor.tensor].producer.valid()) << step_[tensor.tensor].name;
  }
  EXPECT_EQ(bound("tensors: {weights: {page: flash}, fc.weight: keep}\n").size(), 3U);
}

TEST_F(PlanTensors, DoesNotRecomputeWeights) {
  for (const char* name : {"conv1.weight", "weights", "conv1.weight.m", "optimizer-state"}) {
    refused(std::string("tensors: {") + name + ": recompute}\n",
            {"'conv1.weight", "cannot be recomputed: it is there before the step begins ("}, "keep it, or page it");
  }
  refused("tensors: {\"conv1.wei*\": recompute}\n", {"no tensor that matches", "before the step begins"}, "page them");
  refused("tensors: {conv1.wieght: {page: flash}}\n", {"there is no tensor 'conv1.wieght'"},
          "did you mean 'conv1.weight'");
}

TEST_F(PlanTensors, SaysWhenThereIsNoOptimizerState) {
  step_ = training::make_training_step({test::small_network(), false, {}, {}},
                                       {.loss = {.kind = training::LossKind::mean_squared_error},
                                        .optimizer = {.kind = training::OptimizerKind::sgd}})
              ->graph;
  refused("tensors: {optimizer-state: {page: flash}}\n", {"the step has no optimizer-state"}, "nothing to decide");
}

TEST_F(PlanTensors, FindsBlocks) {
  step_ = training::make_training_step({*build_builtin("mlp-robotics"), false, {}, {}}, {})->graph;
  refused("tensors: {blocks: recompute}\n", {"no residual blocks or transformer layers"}, "name tensors");
  step_ = training::make_training_step(
              {*build_builtin("gpt2:layers=2,width=8,heads=2,ffn=16,tokens=4,vocabulary=9"), false, {}, {}}, {})
              ->graph;
  const std::vector<TensorId> inside = training::saved_in_blocks(step_, training::find_blocks(step_));
  ASSERT_FALSE(inside.empty());
  EXPECT_EQ(recomputed(bound("tensors: {blocks: recompute}\n")), inside);
  EXPECT_EQ(bound("tensors: {blocks: {page: flash}}\n").size(), inside.size());
}

TEST_F(PlanTensors, NeedsNoMachineToSayWhatIsRecomputed) {
  const Plan plan = plan_of("tensors: {\"relu*\": {page: nowhere}, " + made_by("relu2") + ": recompute}\n");
  const auto bound = bind_tensors(plan, step_);
  ASSERT_TRUE(bound.has_value()) << bound.error().text();
  EXPECT_THAT(*bound, ElementsAre(BoundTensor{output("relu1"), Retention::page, {}},
                                  BoundTensor{output("relu2"), Retention::recompute, {}}));
}

TEST_F(PlanTensors, RefusesWhatIsNotSaved) {
  refused("tensors: {relu1_uot: recompute}\n", {"there is no tensor 'relu1_uot'"}, "did you mean 'relu");
  refused("tensors: {x: recompute}\n", {"'x' is not saved", "before the step begins (input)"}, "take it out");
  refused("tensors: {" + made_by("conv1") + ": recompute}\n", {"the backward part does not read it"}, "take it out");
  refused("tensors: {conv1.weight.grad: recompute}\n", {"the forward part does not make it"}, "take it out");
  refused("tensors: {" + made_by("y") + ": recompute}\n", {"leaves the step"}, "take it out");
  refused("tensors: {\"z*\": recompute}\n", {"no saved tensor matches 'z*'"}, "known: ");
}

TEST_F(PlanTensors, RefusesWhatIsRandom) {
  GraphBuilder b("dropout");
  TensorId x = b.add(Op::Mul, "scale", {b.input("x", {4}), b.parameter("p", {4})});
  x = b.add(Op::Dropout, "drop", {x}, {{Attr::ratio, 0.5}});
  b.output(b.add(Op::Mul, "y", {x, b.parameter("q", {4})}));
  step_ = training::make_training_step({*b.finish(), false, {}, {}},
                                       {.loss = {.kind = training::LossKind::mean_squared_error}})
              ->graph;
  const std::string mask = step_[step_[node_named(step_, "drop")].outputs[1]].name;
  refused("tensors: {" + mask + ": recompute}\n", {"cannot be recomputed", "'drop'", "Dropout gives other values"},
          "keep it, or page it");
  refused("tensors: {\"" + mask + "*\": recompute}\n", {"no tensor that matches", "can be recomputed", "'drop'"},
          "keep");
  // A pattern takes what it can.
  EXPECT_THAT(bound("tensors: {\"*\": recompute}\n").size(), 1U);
  EXPECT_THAT(bound("tensors: {" + mask + ": {page: flash}}\n").size(), 1U);
}

TEST_F(PlanTensors, RefusesMemoriesThatCannotHoldThem) {
  const std::string relu = made_by("relu1");
  refused("tensors: {" + relu + ": {page: flush}}\n", {"there is no memory 'flush'"}, "did you mean 'flash'");
  refused("tensors: {" + relu + ": {page: tiny}}\n", {"has 8192 bytes and memory 'tiny' only 1024"}, "larger");
  refused("tensors: {" + relu + ": {page: pe0_0/weights}}\n", {"registers"}, "larger");
  hardware_.memories.push_back({.name = "island", .kind = MemoryKind::storage, .size_bits = std::int64_t{1} << 33});
  refused("tensors: {" + relu + ": {page: island}}\n", {"'island' cannot be reached from the cores and back"}, "link");
  join("island", false);
  refused("tensors: {" + relu + ": {page: island}}\n", {"'island' cannot be reached from the cores and back"}, "link");
  join("island", true);
  EXPECT_THAT(bound("tensors: {" + relu + ": {page: island}}\n").size(), 1U);
}

}  // namespace
}  // namespace monet
