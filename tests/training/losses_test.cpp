// Do the losses and their gradients have the values that PyTorch gives?
//
// x = torch.tensor(scores, dtype=torch.float64, requires_grad=True).reshape(2, 3, 2),
// t = torch.tensor([[2, 0], [1, 1]]), w = torch.tensor([0.5, 2, 1.25]);
// loss = F.cross_entropy(x, t, w, ignore_index=…, reduction=…, label_smoothing=…); loss.sum().backward(); PyTorch 2.15.
#include "support/backward_of.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

const Array scores{{2, 3, 2}, {0.5, -1, 2, 0.25, -0.75, 1.5, 1, 0, -2, 3, 0.5, 0.125}};
const Array labels{{2, 2}, {2, 0, 1, 1}};
const Array class_weights{{3}, {0.5, 2, 1.25}};

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-13 * (1 + std::abs(expected[i]))) << i;
}

// The loss and the gradient of its sum.
std::pair<std::vector<double>, std::vector<double>> loss_and_slope(Op op, const std::vector<Array>& inputs,
                                                                   const Attributes& attributes,
                                                                   std::size_t wanted = 0) {
  std::vector<TensorType> types;
  for (const Array& array : inputs) types.push_back({array.shape, {}});
  const bool over_classes = op == Op::SoftmaxCrossEntropyLoss || op == Op::NegativeLogLikelihoodLoss;
  if (over_classes) types[1].format.element = ElementType::int64;
  const OperatorBackward step = backward_of(op, types, attributes, {wanted});
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values.emplace(step.inputs[i], inputs[i]);
  const Status status = run(step.graph, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  return {values.at(step.graph.outputs[0]).values, values.at(step.derivatives.gradients[0]).values};
}

TEST(Losses, CrossEntropyIsPyTorchs) {
  struct Case {
    std::string reduction;
    bool weighted;
    std::int64_t ignore_index;
    double label_smoothing;
    std::vector<double> loss;
    std::vector<double> slope;
  };
  // clang-format off
  const std::vector<Case> cases = {
      {"mean", false, -100, 0.0, {2.35541759859791},
       {0.0433411230197488, -0.235005551171221, 0.194241437333786, 0.0523357688705492, -0.237582560353534, 0.182669782300672, 0.150937224037156, 0.0112517908132935, -0.242485278107607, -0.0240017401676086, 0.0915480540704501, 0.0127499493543151}},
      {"sum", true, 0, 0.0, {10.9640098044319},
       {0.216705615098744, 0, 0.971207186668928, 0, -1.18791280176767, 0, 1.20749779229725, 0.0900143265063484, -1.93988222486085, -0.192013921340869, 0.732384432563601, 0.101999594834521}},
      {"none", true, 1, 0.2, {3.34461542946145, 1.45395756116922, 0, 0},
       {0.183372281765411, -0.394347766378509, 0.837873853335594, 0.00273966573009467, -1.02124613510101, 0.391608100648414, 0, 0, 0, 0, 0, 0}},
      {"mean", true, 1, 0.2, {2.74204170893181},
       {0.104784161008806, -0.225341580787719, 0.478785059048911, 0.00156552327433981, -0.583569220057717, 0.22377605751338, 0, 0, 0, 0, 0, 0}},
      {"mean", false, 0, 0.2, {2.12207428812924},
       {0.0355659418041095, 0, 0.236766360889492, 0, -0.272332302693601, 0, 0.17902740982732, -0.00721983447116416, -0.278869259699031, 0.0124421242209662, 0.0998418498717112, -0.00522228974980208}},
      {"sum", true, -100, 1.0, {8.01667132632289},
       {0.0500389484320772, -0.0916944225227738, 0.304540520002261, -0.40498782231392, -0.354579468434338, 0.496682244836694, 0.588019453519116, -0.110407712600199, -0.629093057204699, 0.46332463249529, 0.0410736036855837, -0.352916919895091}},
      {"mean", true, -100, 0.1, {2.07573519045613},
       {0.0347893823360134, -0.0751616407583437, 0.157311394783002, 0.00934010464966897, -0.192100777119015, 0.0658215361086747, 0.19922607972512, 0.0121690647992511, -0.314574488364389, -0.0219965332099571, 0.115348408639269, 0.00982746841070604}},
  };
  // clang-format on
  for (const Case& each : cases) {
    std::vector<Array> inputs = {scores, labels};
    if (each.weighted) inputs.push_back(class_weights);
    const auto [loss, slope] = loss_and_slope(Op::SoftmaxCrossEntropyLoss, inputs,
                                              {{Attr::reduction, each.reduction},
                                               {Attr::ignore_index, each.ignore_index},
                                               {Attr::label_smoothing, each.label_smoothing}});
    expect_near(loss, each.loss);
    expect_near(slope, each.slope);
  }
}

TEST(Losses, WhereAllLabelsAreIgnoredTheMeanIsUndefinedAndTheGradientZero) {
  const Attributes attributes = {{Attr::reduction, std::string("mean")}, {Attr::ignore_index, std::int64_t{1}}};
  for (Op op : {Op::SoftmaxCrossEntropyLoss, Op::NegativeLogLikelihoodLoss}) {
    const auto [loss, slope] = loss_and_slope(op, {scores, Array{{2, 2}, {1, 1, 1, 1}}}, attributes);
    EXPECT_TRUE(std::isnan(loss[0]));
    expect_near(slope, std::vector<double>(12, 0));
  }
}

// F.nll_loss(p, t, w, ignore_index=1), F.nll_loss(p, t, reduction="sum") with p = F.log_softmax(x, 1)
TEST(Losses, NegativeLogLikelihoodIsPyTorchs) {
  const Array log_probabilities = [] {
    Array p = scores;
    for (std::int64_t b : {0, 1}) {
      for (std::int64_t at : {0, 1}) {
        double sum = 0;
        for (std::int64_t c = 0; c < 3; ++c) sum += std::exp(p.values[static_cast<std::size_t>(b * 6 + c * 2 + at)]);
        for (std::int64_t c = 0; c < 3; ++c) p.values[static_cast<std::size_t>(b * 6 + c * 2 + at)] -= std::log(sum);
      }
    }
    return p;
  }();
  const auto [mean, mean_slope] =
      loss_and_slope(Op::NegativeLogLikelihoodLoss, {log_probabilities, labels, class_weights},
                     {{Attr::reduction, std::string("mean")}, {Attr::ignore_index, std::int64_t{1}}});
  expect_near(mean, {2.94847953969338});
  expect_near(mean_slope, {0, -0.285714285714286, 0, 0, -0.714285714285714, 0, 0, 0, 0, 0, 0, 0});
  const auto [sum, sum_slope] = loss_and_slope(Op::NegativeLogLikelihoodLoss, {log_probabilities, labels},
                                               {{Attr::reduction, std::string("sum")}});
  expect_near(sum, {9.42167039439164});
  expect_near(sum_slope, {0, -1, 0, 0, -1, 0, 0, 0, -1, -1, 0, 0});
}

// F.mse_loss(a, b), F.binary_cross_entropy_with_logits(a, b), both with the gradients of a and b
TEST(Losses, OfPairsArePyTorchs) {
  const Array a{{5}, {0.5, -50, 50, -1, 0}};
  const Array b{{5}, {1, 0, 1, 0.25, 0.5}};
  struct Case {
    Op op;
    std::string reduction;
    double loss;
    std::vector<double> of_a, of_b;
  };
  const std::vector<Case> cases = {
      {Op::MeanSquaredErrorLoss, "mean", 980.6125, {-0.2, -20, 19.6, -0.5, -0.2}, {0.2, 20, -19.6, 0.5, 0.2}},
      {Op::MeanSquaredErrorLoss, "sum", 4903.0625, {-1, -100, 98, -2.5, -1}, {1, 100, -98, 2.5, 1}},
      {Op::BinaryCrossEntropyLoss,
       "mean",
       0.346097170451655,
       {-0.0755081337596291, 3.85749969592784e-23, 0, 0.00378828427399902, 0},
       {-0.1, 10, -10, 0.2, 0}},
      {Op::BinaryCrossEntropyLoss,
       "sum",
       1.73048585225827,
       {-0.377540668798145, 1.92874984796392e-22, 0, 0.0189414213699951, 0},
       {-0.5, 50, -50, 1, 0}}};
  for (const Case& each : cases) {
    const Attributes attributes = {{Attr::reduction, each.reduction}};
    const auto [loss, of_a] = loss_and_slope(each.op, {a, b}, attributes, 0);
    expect_near(loss, {each.loss});
    expect_near(of_a, each.of_a);
    expect_near(loss_and_slope(each.op, {a, b}, attributes, 1).second, each.of_b);
  }
}

// F.binary_cross_entropy_with_logits(a, b, reduction="sum") where exp(|a|) overflows
TEST(Losses, BinaryCrossEntropyStaysFinite) {
  const auto [loss, slope] =
      loss_and_slope(Op::BinaryCrossEntropyLoss, {Array{{4}, {-1000, 1000, -50, 50}}, Array{{4}, {0, 1, 1, 0}}},
                     {{Attr::reduction, std::string("sum")}});
  expect_near(loss, {100});
  expect_near(slope, {0, 0, -1, 1});
}

}  // namespace
}  // namespace monet::test
