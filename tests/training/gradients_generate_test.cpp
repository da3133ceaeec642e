// Dropout: the gradient passes where the run let values pass.
#include "support/gradient_check.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

TEST(GenerateGradients, OfDropoutFollowTheMaskOfTheRun) {
  for (double ratio : {0.25, 0.5, 0.9}) {
    GraphBuilder builder("dropout");
    const TensorId x = builder.input("x", {5, 8});
    builder.output(builder.add(Op::Dropout, "dropout", {x}, {{Attr::ratio, ratio}}));
    const Graph forward = *builder.finish();
    const auto checked = check_gradients(forward, {{x, random_array({5, 8}, 1)}}, {x});
    ASSERT_TRUE(checked.has_value()) << checked.error().text();
    EXPECT_LE(checked->worst(), 1e-6);
    const TensorId mask = checked->step.nodes()[0].outputs.at(1);
    EXPECT_EQ(checked->step[mask].type.format.element, ElementType::boolean);
    const Array& kept = checked->values.at(mask);
    const Array& cotangent = checked->values.at(checked->step.inputs.back());
    const Array& gradient = checked->values.at(checked->gradients[0]);
    for (std::size_t i = 0; i < kept.values.size(); ++i) {
      EXPECT_DOUBLE_EQ(gradient.values[i], cotangent.values[i] * kept.values[i] / (1 - ratio));
    }
  }
}

TEST(GenerateGradients, OfDropoutThatDropsNothingKeepNoMask) {
  GraphBuilder builder("dropout");
  const TensorId x = builder.input("x", {4});
  builder.output(builder.add(Op::Dropout, "dropout", {x}, {{Attr::ratio, 0.0}}));
  const auto checked = check_gradients(*builder.finish(), {{x, random_array({4}, 1)}}, {x});
  ASSERT_TRUE(checked.has_value());
  EXPECT_LE(checked->worst(), 1e-6);
  EXPECT_EQ(checked->step.nodes().size(), 1);
  EXPECT_EQ(checked->step.nodes()[0].outputs.size(), 1);
}

TEST(GenerateGradients, OfChanceAreZero) {
  GraphBuilder builder("chance");
  const TensorId x = builder.input("x", {4});
  builder.output(builder.add(Op::Bernoulli, "chance", {x}, {{Attr::to, std::int64_t{0}}}));
  const auto checked = check_gradients(*builder.finish(), {{x, {{4}, {0.2, 0.4, 0.6, 0.8}}}}, {x});
  ASSERT_TRUE(checked.has_value());
  EXPECT_FALSE(checked->gradients[0].valid());
}

}  // namespace
}  // namespace monet::test
