// Operators without a gradient: in front of all that is trained they are fine; behind it they are not.
#include "graph/builder.h"
#include "graph/custom.h"
#include "graph/verify.h"
#include "support/expect_error.h"
#include "support/operator_attributes.h"
#include "training/precision.h"
#include "training/step.h"

#include <gtest/gtest.h>

namespace monet::training {
namespace {

using test::plain_product;

Attributes fancy(Shape shape) {
  return custom_attributes({.domain = "com.example",
                            .type = "FancyNorm",
                            .attributes = {},
                            .outputs = {{std::move(shape), {.element = ElementType::float32}}}});
}

// x · w1 · w2, with a custom operator in front of w1 or between.
NetworkGraph chain(bool between) {
  GraphBuilder b("chain");
  TensorId x = b.input("x", {4, 8});
  if (!between) x = b.add(Op::Custom, "fancy", {x}, fancy({4, 8}));
  x = b.add(Op::MatMul, "first", {x, b.parameter("w1", {8, 8})}, plain_product);
  if (between) x = b.add(Op::Custom, "fancy", {x}, fancy({4, 8}));
  b.output(b.add(Op::MatMul, "second", {x, b.parameter("w2", {8, 3})}, plain_product));
  return {*b.finish(), false, {}, {}};
}

TEST(CustomOperatorsInTraining, InFrontOfWhatIsTrained) {
  const auto step = make_training_step(chain(false), {});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_TRUE(verify(step->graph).has_value());
}

TEST(CustomOperatorsInTraining, BehindWhatIsTrained) {
  const auto step = make_training_step(chain(true), {});
  ASSERT_FALSE(step.has_value());
  test::expect_error(step.error(), {"custom operator FancyNorm has no gradient", "'w1'"}, "node 'fancy'");
  for (const char* word : {"freeze", "--inference", "export"}) {
    EXPECT_NE(step.error().advice.find(word), std::string::npos) << step.error().advice;
  }
}

TEST(CustomOperatorsInTraining, BehindWhatIsFrozen) {
  StepOptions options;
  options.select.freeze = {"w1"};
  const auto step = make_training_step(chain(true), options);
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_TRUE(verify(step->graph).has_value());
}

TEST(CustomOperatorsInTraining, TheirResultsAreOfThePrecisionAskedFor) {
  for (const char* name : {"bf16", "mixed", "fp32"}) {
    const Graph graph = with_precision(chain(true).graph, read_recipe(name)->values);
    EXPECT_TRUE(verify(graph).has_value());
    for (const Node& node : graph.nodes()) {
      if (node.op != Op::Custom) continue;
      const ElementType expected = std::string(name) == "bf16" ? ElementType::bfloat16 : ElementType::float32;
      EXPECT_EQ(graph[node.outputs[0]].type.format.element, expected) << name;
      EXPECT_EQ(graph[node.inputs[0]].type.format.element, expected) << name;
    }
  }
}

}  // namespace
}  // namespace monet::training
