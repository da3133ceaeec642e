// Softmax and losses: shapes, counts, and what is refused.
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::HasSubstr;

constexpr ElementType int64 = ElementType::int64;

std::vector<TensorType> scored(Shape scores, Shape labels, bool weights = false) {
  std::vector<TensorType> types = {{scores, {}}, {std::move(labels), {.element = int64}}};
  if (weights) types.push_back({{scores[1]}, {}});
  return types;
}

Attributes reduced(std::string how) { return {{Attr::reduction, std::move(how)}}; }

std::string complaint(Op op, std::vector<TensorType> inputs, Attributes attributes) {
  const auto graph = single(op, inputs, std::move(attributes));
  return graph ? "" : graph.error().message;
}

TEST(InferSoftmax, LossHasOneValueOrOneForEachLabel) {
  for (const std::string how : {"none", "mean", "sum"}) {
    const auto graph = single(Op::SoftmaxCrossEntropyLoss, scored({2, 5, 3}, {2, 3}), reduced(how), 2);
    ASSERT_TRUE(graph.has_value()) << graph.error().text();
    EXPECT_EQ((*graph)[graph->outputs[0]].type.shape, how == "none" ? (Shape{2, 3}) : Shape{});
    EXPECT_EQ((*graph)[graph->outputs[1]].type.shape, (Shape{2, 5, 3}));
  }
}

TEST(InferSoftmax, RefusesWhatDoesNotFit) {
  const Op loss = Op::SoftmaxCrossEntropyLoss;
  EXPECT_THAT(complaint(loss, scored({2, 5, 3}, {2, 5}), reduced("mean")), HasSubstr("labels of 2x5"));
  EXPECT_THAT(complaint(loss, scored({2}, {2}), reduced("mean")), HasSubstr("no class axis 1"));
  EXPECT_THAT(complaint(loss, scored({2, 5}, {2}), reduced("median")), HasSubstr("no reduction 'median'"));
  EXPECT_THAT(complaint(loss, floats({{2, 5}, {2}}), reduced("mean")), HasSubstr("labels of type"));
  auto weighted = scored({2, 5}, {2}, true);
  weighted[2].shape = {4};
  EXPECT_THAT(complaint(loss, weighted, reduced("mean")), HasSubstr("weights of 4 for 5 classes"));
  EXPECT_THAT(complaint(Op::Softmax, floats({{2, 5}}), {{Attr::axes, Integers{2}}}), HasSubstr("axis 2"));
  const std::vector<TensorType> gradient = {{{2}, {}}, {{2, 5}, {}}, {{2}, {.element = int64}}};
  EXPECT_THAT(complaint(Op::SoftmaxCrossEntropyLossGrad, gradient, reduced("mean")), HasSubstr("one value"));
  EXPECT_EQ(complaint(Op::SoftmaxCrossEntropyLossGrad, gradient, reduced("none")), "");
}

TEST(SoftmaxNests, CountsOfRows) {
  using enum Count;
  const Attributes axes = {{Attr::axes, Integers{1}}};
  const auto [softmax_complaint, softmax] = checked(Op::Softmax, floats({{4, 10}}), axes);
  EXPECT_EQ(softmax_complaint, "");
  EXPECT_EQ(softmax, counts_of({{compare, 40}, {add, 80}, {exp, 40}, {divide, 40}}));
  const auto [log_complaint, logarithm] = checked(Op::LogSoftmax, floats({{4, 10}}), axes);
  EXPECT_EQ(log_complaint, "");
  EXPECT_EQ(logarithm, counts_of({{compare, 40}, {add, 120 + 4}, {exp, 40}, {log, 4}}));
}

TEST(SoftmaxNests, CountsOfLosses) {
  using enum Count;
  const Op cross_entropy = Op::SoftmaxCrossEntropyLoss;
  const auto [complaint_one, mean] = checked(cross_entropy, scored({4, 10}, {4}), reduced("mean"));
  EXPECT_EQ(complaint_one, "");
  EXPECT_EQ(mean, counts_of({{compare, 40}, {add, 80 + 4 + 8}, {exp, 40}, {log, 4}, {multiply, 1}}));
  const auto [complaint_two, both] = checked(cross_entropy, scored({4, 10}, {4}), reduced("sum"), 2);
  EXPECT_EQ(complaint_two, "");
  EXPECT_EQ(both, counts_of({{compare, 40}, {add, 120 + 4 + 4}, {exp, 40}, {log, 4}}));
  const auto [complaint_three, likelihood] =
      checked(Op::NegativeLogLikelihoodLoss, scored({2, 10, 3}, {2, 3}, true), reduced("mean"));
  EXPECT_EQ(complaint_three, "");
  EXPECT_EQ(likelihood, counts_of({{add, 2 * 6}, {multiply, 6}, {divide, 1}}));
}

TEST(SoftmaxNests, CountsOfTheLossGradient) {
  using enum Count;
  std::vector<TensorType> inputs = {{{}, {}}, {{2, 3, 10}, {}}, {{2, 3}, {.element = int64}}};
  Attributes attributes = {{Attr::reduction, std::string("mean")}, {Attr::axis, std::int64_t{2}}};
  const auto [plain_complaint, plain] = checked(Op::SoftmaxCrossEntropyLossGrad, inputs, attributes);
  EXPECT_EQ(plain_complaint, "");
  EXPECT_EQ(plain, counts_of({{exp, 60}, {compare, 60}, {add, 60}, {multiply, 60 + 1}}));
  inputs.push_back({{10}, {}});
  const auto [weighted_complaint, weighted] = checked(Op::SoftmaxCrossEntropyLossGrad, inputs, attributes);
  EXPECT_EQ(weighted_complaint, "");
  EXPECT_EQ(weighted, counts_of({{exp, 60}, {compare, 60}, {add, 60 + 6}, {multiply, 120}, {divide, 1}}));
}

}  // namespace
}  // namespace monet::test
