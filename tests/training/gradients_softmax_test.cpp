// Do the rules for softmax and losses agree with central differences?
#include "support/backward_of.h"
#include "support/expect_error.h"
#include "support/gradient_check.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr ElementType int64 = ElementType::int64;

TEST(SoftmaxGradients, OverAnyAxes) {
  for (const Integers& axes : {Integers{}, Integers{0}, Integers{1}, Integers{2}, Integers{0, 2}, Integers{1, 2}}) {
    for (Op op : {Op::Softmax, Op::LogSoftmax}) {
      const auto error = operator_gradient_error(op, floats({{2, 3, 4}}), {{Attr::axes, axes}});
      ASSERT_TRUE(error.has_value()) << error.error().text();
      EXPECT_LE(*error, 1e-6) << name_of(op);
      EXPECT_EQ(saved(op, floats({{2, 3, 4}}), {{Attr::axes, axes}}), "output0");
    }
  }
}

struct ClassLoss {
  Op op;
  std::int64_t axis;
  std::string reduction;
  bool weighted;
  std::optional<std::int64_t> ignored;
  double smoothing;
  std::size_t outputs;

  Attributes attributes() const {
    Attributes result = {{Attr::reduction, reduction}};
    if (axis != 1) result.set(Attr::axis, axis);
    if (ignored) result.set(Attr::ignore_index, *ignored);
    if (smoothing != 0) result.set(Attr::label_smoothing, smoothing);
    return result;
  }
  std::string name() const {
    return fmt::format("{} axis {} {} weighted {} ignored {} smoothing {} outputs {}", name_of(op), axis, reduction,
                       weighted, ignored.value_or(-100), smoothing, outputs);
  }
};

void expect_loss_gradient(const ClassLoss& loss) {
  SCOPED_TRACE(loss.name());
  const Shape shape = {2, 3, 4};
  Shape positions = shape;
  positions.erase(positions.begin() + loss.axis);
  const std::int64_t classes = shape[static_cast<std::size_t>(loss.axis)];
  Array labels = Array::zeros(positions);
  for (std::size_t i = 0; i < labels.values.size(); ++i) {
    labels.values[i] = static_cast<double>((5 * i + 1) % static_cast<std::size_t>(classes));
  }
  if (loss.ignored) labels.values[0] = labels.values[2] = static_cast<double>(*loss.ignored);
  std::vector<double> weights;
  for (std::int64_t i = 0; i < classes; ++i) weights.push_back(0.5 + 0.75 * static_cast<double>(i));
  GraphBuilder builder("loss");
  const TensorId scores = builder.input("scores", shape);
  const TensorId targets = builder.input("labels", positions, int64);
  std::vector<TensorId> inputs = {scores, targets};
  if (loss.weighted) {
    inputs.push_back(builder.constant("weights", Constant::reals(ElementType::float32, {classes}, weights)));
  }
  for (TensorId id : builder.add_many(loss.op, "loss", inputs, loss.attributes(), loss.outputs)) builder.output(id);
  const Values values = {{scores, random_array(shape, 5)}, {targets, labels}};
  const auto checked = check_gradients(*builder.finish(), values, {scores});
  ASSERT_TRUE(checked.has_value()) << checked.error().text();
  EXPECT_LE(checked->worst(), 1e-6);
}

TEST(LossGradients, OverClasses) {
  for (std::int64_t axis : {0, 1, 2}) {
    for (const std::string reduction : {"none", "mean", "sum"}) {
      for (bool weighted : {false, true}) {
        for (std::optional<std::int64_t> ignored : {std::optional<std::int64_t>{}, {-1}, {1}}) {
          expect_loss_gradient({Op::NegativeLogLikelihoodLoss, axis, reduction, weighted, ignored, 0, 1});
          for (double smoothing : {0.0, 0.1, 1.0}) {
            for (std::size_t outputs : {1, 2}) {
              expect_loss_gradient(
                  {Op::SoftmaxCrossEntropyLoss, axis, reduction, weighted, ignored, smoothing, outputs});
            }
          }
        }
      }
    }
  }
}

// Only the log-probabilities are used further on: the loss itself has no part.
TEST(LossGradients, OfTheLogProbabilitiesAlone) {
  GraphBuilder builder("loss");
  const TensorId scores = builder.input("scores", {2, 3});
  const TensorId labels = builder.input("labels", {2}, int64);
  builder.output(builder.add_many(Op::SoftmaxCrossEntropyLoss, "loss", {scores, labels},
                                  {{Attr::reduction, std::string("mean")}}, 2)[1]);
  const Values values = {{scores, random_array({2, 3}, 5)}, {labels, Array{{2}, {2, 0}}}};
  const auto checked = check_gradients(*builder.finish(), values, {scores});
  ASSERT_TRUE(checked.has_value()) << checked.error().text();
  EXPECT_LE(checked->worst(), 1e-6);
}

TEST(LossGradients, OfScalarLabels) {
  for (Op op : {Op::SoftmaxCrossEntropyLoss, Op::NegativeLogLikelihoodLoss}) {
    for (const std::string reduction : {"none", "mean", "sum"}) {
      const auto error = operator_gradient_error(
          op, {{{3}, {}}, {{}, {.element = int64}}},
          {{Attr::reduction, reduction}, {Attr::axis, std::int64_t{0}}, {Attr::ignore_index, std::int64_t{7}}}, 1,
          {{1, Array{{}, {2}}}});
      ASSERT_TRUE(error.has_value()) << error.error().text();
      EXPECT_LE(*error, 1e-6) << name_of(op);
    }
  }
}

TEST(LossGradients, OfPairsOfValueAndTarget) {
  for (Op op : {Op::MeanSquaredErrorLoss, Op::BinaryCrossEntropyLoss}) {
    for (const std::string reduction : {"mean", "sum"}) {
      for (const Shape& shape : {Shape{}, Shape{4}, Shape{2, 3}, Shape{2, 1, 3, 2}}) {
        const auto error = operator_gradient_error(op, floats({shape, shape}), {{Attr::reduction, reduction}});
        ASSERT_TRUE(error.has_value()) << error.error().text();
        EXPECT_LE(*error, 1e-6) << name_of(op);
      }
    }
  }
}

TEST(LossGradients, ReadWhatPyTorchSaves) {
  const Attributes mean = {{Attr::reduction, std::string("mean")}};
  const std::vector<TensorType> scored = {{{2, 3}, {}}, {{2}, {.element = int64}}, {{3}, {}}};
  // The log-probabilities, and not the scores.
  EXPECT_EQ(saved(Op::SoftmaxCrossEntropyLoss, scored, mean, {0}), "input1 input2 node.out1");
  EXPECT_EQ(saved(Op::NegativeLogLikelihoodLoss, scored, mean, {0}), "input0 input1 input2");
  const std::vector<TensorType> pairs = floats({{2}, {2}});
  EXPECT_EQ(saved(Op::MeanSquaredErrorLoss, pairs, mean, {0}), "input0 input1");
  EXPECT_EQ(saved(Op::BinaryCrossEntropyLoss, pairs, mean, {0}), "input0 input1");
  EXPECT_EQ(saved(Op::BinaryCrossEntropyLoss, pairs, mean, {1}), "input0");
}

TEST(LossGradients, RefuseToTrainTheWeightsOfClasses) {
  const std::vector<TensorType> scored = {{{2, 3}, {}}, {{2}, {.element = int64}}, {{3}, {}}};
  for (Op op : {Op::SoftmaxCrossEntropyLoss, Op::NegativeLogLikelihoodLoss}) {
    const auto error = operator_gradient_error(op, scored, {{Attr::reduction, std::string("mean")}});
    ASSERT_FALSE(error.has_value());
    expect_error(error.error(), {"weights of the classes"}, "node 'node'");
  }
}

}  // namespace
}  // namespace monet::test
