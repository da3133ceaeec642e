// Softmax and losses: shapes, counts, and what is refused.
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

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

TEST(InferSoftmax, RefusesSmoothingBeyondOne) {
  for (double smoothing : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    Attributes attributes = reduced("mean");
    attributes.set(Attr::label_smoothing, smoothing);
    EXPECT_THAT(complaint(Op::SoftmaxCrossEntropyLoss, scored({2, 5}, {2}), attributes), HasSubstr("label smoothing"));
  }
}

TEST(InferSoftmax, RefusesTargetsThatDoNotFit) {
  for (Op op : {Op::MeanSquaredErrorLoss, Op::BinaryCrossEntropyLoss}) {
    EXPECT_EQ(complaint(op, floats({{2, 5}, {2, 5}}), reduced("sum")), "");
    EXPECT_THAT(complaint(op, floats({{2, 5}, {5}}), reduced("mean")), HasSubstr("targets of 5 for values of 2x5"));
    EXPECT_THAT(complaint(op, floats({{2, 5}, {2, 5}}), reduced("none")), HasSubstr("no reduction 'none'"));
    EXPECT_THAT(complaint(op, scored({2, 5}, {2, 5}), reduced("mean")), HasSubstr("targets of type int64"));
    EXPECT_THAT(complaint(op, floats({{2, 5}}), reduced("mean")), HasSubstr("needs 2 inputs"));
  }
  for (Op op : {Op::MeanSquaredErrorLossGrad, Op::BinaryCrossEntropyLossGrad}) {
    EXPECT_EQ(complaint(op, floats({{1, 1}, {2, 5}, {2, 5}}), reduced("mean")), "");
    EXPECT_THAT(complaint(op, floats({{2}, {2, 5}, {2, 5}}), reduced("mean")), HasSubstr("one value"));
    EXPECT_THAT(complaint(op, floats({{}, {2, 5}, {5}}), reduced("mean")), HasSubstr("targets of 5 for values of 2x5"));
  }
}

TEST(InferSoftmax, RefusesGradientsOfAnotherShape) {
  for (Op op : {Op::SoftmaxGrad, Op::LogSoftmaxGrad}) {
    const Attributes axes = {{Attr::axes, Integers{1}}};
    EXPECT_EQ(complaint(op, floats({{2, 5}, {2, 5}}), axes), "");
    EXPECT_THAT(complaint(op, floats({{2, 5}, {5}}), axes), HasSubstr("a gradient of 2x5 for an output of 5"));
    EXPECT_THAT(complaint(op, floats({{2, 5}, {2, 5}}), {{Attr::axes, Integers{2}}}), HasSubstr("axis 2"));
  }
  const std::vector<TensorType> gradient = {{{3}, {}}, {{2, 5}, {}}, {{2}, {.element = int64}}};
  EXPECT_THAT(complaint(Op::SoftmaxCrossEntropyLossGrad, gradient, reduced("none")), HasSubstr("for labels of 2"));
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

TEST(SoftmaxNests, CountsOfRowGradients) {
  using enum Count;
  const Attributes axes = {{Attr::axes, Integers{1}}};
  const auto [softmax_complaint, softmax] = checked(Op::SoftmaxGrad, floats({{4, 10}, {4, 10}}), axes);
  EXPECT_EQ(softmax_complaint, "");
  EXPECT_EQ(softmax, counts_of({{multiply, 80}, {add, 80}}));
  const auto [log_complaint, logarithm] = checked(Op::LogSoftmaxGrad, floats({{4, 10}, {4, 10}}), axes);
  EXPECT_EQ(log_complaint, "");
  EXPECT_EQ(logarithm, counts_of({{exp, 40}, {multiply, 40}, {add, 80}}));
}

TEST(SoftmaxNests, CountsOfSmoothedLosses) {
  using enum Count;
  Attributes attributes = reduced("mean");
  attributes.set(Attr::label_smoothing, 0.1);
  // As without smoothing, and the sum over classes of the log-probabilities, which one more term brings in.
  const auto [plain_complaint, plain] = checked(Op::SoftmaxCrossEntropyLoss, scored({4, 10}, {4}), attributes, 2);
  EXPECT_EQ(plain_complaint, "");
  EXPECT_EQ(plain, counts_of({{compare, 40}, {add, 120 + 4 + 4 + 40 + 4}, {exp, 40}, {log, 4}, {multiply, 8 + 1}}));
  const auto [weighted_complaint, weighted] =
      checked(Op::SoftmaxCrossEntropyLoss, scored({4, 10}, {4}, true), attributes, 2);
  EXPECT_EQ(weighted_complaint, "");
  EXPECT_EQ(
      weighted,
      counts_of(
          {{compare, 40}, {add, 120 + 4 + 4 + 40 + 4 + 4}, {exp, 40}, {log, 4}, {multiply, 8 + 40 + 4}, {divide, 1}}));
  // p - part, where the part is one of two constants; or p * parts - (choice + spread * weight), parts = hit + rest.
  std::vector<TensorType> inputs = {{{}, {}}, {{4, 10}, {}}, {{4}, {.element = int64}}};
  const auto [slope_complaint, slope] = checked(Op::SoftmaxCrossEntropyLossGrad, inputs, attributes);
  EXPECT_EQ(slope_complaint, "");
  EXPECT_EQ(slope, counts_of({{exp, 40}, {compare, 40}, {add, 40}, {multiply, 40 + 1}}));
  inputs.push_back({{10}, {}});
  const auto [weighted_slope_complaint, weighted_slope] = checked(Op::SoftmaxCrossEntropyLossGrad, inputs, attributes);
  EXPECT_EQ(weighted_slope_complaint, "");
  EXPECT_EQ(weighted_slope,
            counts_of({{exp, 40}, {compare, 40}, {add, 3 * 40 + 4 + 10}, {multiply, 4 * 40}, {divide, 1}}));
}

TEST(SoftmaxNests, CountsOfLossesOfPairs) {
  using enum Count;
  const auto expect = [](Op op, std::vector<TensorType> inputs, const std::string& how, Counts expected) {
    const auto [text, counts] = checked(op, inputs, reduced(how));
    EXPECT_EQ(text, "") << name_of(op);
    EXPECT_EQ(counts, expected) << name_of(op) << " " << how;
  };
  const std::vector<TensorType> pairs = floats({{4, 5}, {4, 5}});
  expect(Op::MeanSquaredErrorLoss, pairs, "mean", counts_of({{add, 40}, {multiply, 20 + 1}}));
  expect(Op::MeanSquaredErrorLoss, pairs, "sum", counts_of({{add, 40}, {multiply, 20}}));
  expect(Op::BinaryCrossEntropyLoss, pairs, "mean", counts_of({{add, 80}, {multiply, 20 + 1}, {exp, 20}, {log, 20}}));
  const std::vector<TensorType> slopes = floats({{}, {4, 5}, {4, 5}});
  expect(Op::MeanSquaredErrorLossGrad, slopes, "sum", counts_of({{add, 20}, {multiply, 20 + 1}}));
  expect(Op::BinaryCrossEntropyLossGrad, slopes, "sum",
         counts_of({{exp, 20}, {add, 40}, {divide, 20}, {multiply, 20}}));
  expect(Op::BinaryCrossEntropyLossGrad, slopes, "mean",
         counts_of({{exp, 20}, {add, 40}, {divide, 20}, {multiply, 20 + 1}}));
}

}  // namespace
}  // namespace monet::test
