// Does a run with rounding round each result once, to the format of its tensor?
#include "graph/builder.h"
#include "interpret/prepared_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace monet {
namespace {

const Format bfloat{.element = ElementType::bfloat16};

TEST(Rounding, IsToTheFormatOfEachTensor) {
  GraphBuilder builder("sums");
  const TensorId x = builder.input("x", {1}, ElementType::bfloat16);
  const TensorId sum = builder.add(Op::Add, "sum", {x, x});
  const TensorId wide =
      builder.add(Op::Cast, "wide", {sum}, {{Attr::to, static_cast<std::int64_t>(ElementType::float32)}});
  const TensorId whole =
      builder.add(Op::Cast, "whole", {sum}, {{Attr::to, static_cast<std::int64_t>(ElementType::int64)}});
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const double given = 300 + 0x1p-10;  // given values are taken as they are
  Values exact = {{x, {{1}, {given}}}};
  ASSERT_TRUE(run(*graph, exact).has_value());
  EXPECT_EQ(exact.at(sum).values[0], 2 * given);
  Values rounded_values = {{x, {{1}, {given}}}};
  ASSERT_TRUE(run(*graph, rounded_values, {.rounds = true}).has_value());
  EXPECT_EQ(rounded_values.at(x).values[0], given);
  EXPECT_EQ(rounded_values.at(sum).values[0], 600);  // bfloat16 has steps of 4 between 512 and 1024
  EXPECT_EQ(rounded_values.at(wide).values[0], 600);
  EXPECT_EQ(rounded_values.at(whole).values[0], 600);
}

// P − lr · g with P = 1, lr = 2^-9, g = 1 + 2^-9: below the middle between 1 and its neighbour 1 - 2^-8. Were the
// product rounded on its own, to 2^-9, the difference would be that middle, and become 1.
TEST(Rounding, OfAnOptimizerIsOnceAtTheEnd) {
  GraphBuilder builder("step");
  const TensorId p = builder.parameter("p", {1}, ElementType::bfloat16);
  const TensorId g = builder.input("g", {1}, ElementType::bfloat16);
  const TensorId rate = builder.input("rate", {}, ElementType::bfloat16);
  const TensorId next = builder.add(Op::SgdUpdate, "update", {p, g, rate}, {{Attr::weight_decay, 0.0}});
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  Values values = {{p, {{1}, {1}}}, {g, {{1}, {1 + 0x1p-9}}}, {rate, {{}, {0x1p-9}}}};
  ASSERT_TRUE(run(*graph, values, {.rounds = true}).has_value());
  EXPECT_EQ(values.at(next).values[0], 1 - 0x1p-8);

  const auto program = PreparedGraph::prepare(*graph, {next});
  ASSERT_TRUE(program.has_value());
  std::vector<Array> by_tensor(graph->tensors().size());
  for (TensorId id : {p, g, rate}) by_tensor[id.index()] = values.at(id);
  ASSERT_TRUE(program->run(by_tensor, {.rounds = true}).has_value());
  EXPECT_EQ(by_tensor[next.index()].values[0], 1 - 0x1p-8);
}

Graph quantizes(std::string mode) {
  GraphBuilder builder("quantizes");
  const TensorId x = builder.input("x", {4096});
  Attributes attributes = {{Attr::format, std::string("int8:e8m0/32@-1")}};
  if (!mode.empty()) attributes.set(Attr::mode, std::move(mode));
  builder.output(builder.add(Op::Quantize, "q", {x}, std::move(attributes)));
  return *builder.finish();
}

std::vector<double> quantized_values(const Graph& graph, std::uint64_t seed) {
  Array x = Array::zeros({4096});
  // The largest of each group is 1, so that the steps are 2^-6, and the others lie a quarter of a step above one.
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = i % 32 == 0 ? 1 : 0.25 * 0x1p-6;
  Values values = {{graph.inputs[0], std::move(x)}};
  EXPECT_TRUE(run(graph, values, {.rounds = true, .seed = seed}).has_value());
  return values.at(graph.outputs[0]).values;
}

TEST(Rounding, ToTheNearestNeedsNoSeed) {
  const std::vector<double> values = quantized_values(quantizes(""), 1);
  EXPECT_EQ(values, quantized_values(quantizes(""), 2));
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0.0), 4096 / 32);
}

TEST(Rounding, AtRandomIsRightOnAverageAndFollowsTheSeed) {
  const Graph graph = quantizes("stochastic");
  const std::vector<double> values = quantized_values(graph, 1);
  EXPECT_EQ(values, quantized_values(graph, 1));
  EXPECT_NE(values, quantized_values(graph, 2));
  const double up = std::accumulate(values.begin(), values.end(), 0.0) - 4096.0 / 32;
  const double trials = 4096.0 * 31 / 32;
  // Each goes up by 2^-6 with probability 1/4: five deviations of a binomial.
  EXPECT_NEAR(up / 0x1p-6, trials / 4, 5 * std::sqrt(trials * 3 / 16));
}

TEST(Rounding, AtRandomOfAnOptimizerIsOfTheParameterAlone) {
  GraphBuilder builder("step");
  const TensorId p = builder.parameter("p", {1000}, ElementType::bfloat16);
  const TensorId g = builder.input("g", {1000}, ElementType::bfloat16);
  const TensorId m = builder.optimizer_state("m", {1000}, ElementType::bfloat16);
  const TensorId rate = builder.input("rate", {}, ElementType::bfloat16);
  const Attributes attributes = {{Attr::weight_decay, 0.0},
                                 {Attr::momentum, 1.0},
                                 {Attr::nesterov, std::int64_t{0}},
                                 {Attr::mode, std::string("stochastic")}};
  const auto results = builder.add_many(Op::MomentumUpdate, "update", {p, g, m, rate}, attributes, 2);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto filled = [](double value) { return Array{{1000}, std::vector<double>(1000, value)}; };
  // m' = 1 + 2^-10, which is 1 in bfloat16; p' = 2 - m', between 1 - 2^-8 and 1.
  Values values = {{p, filled(2)}, {g, filled(0x1p-10)}, {m, filled(1)}, {rate, {{}, {1}}}};
  ASSERT_TRUE(run(*graph, values, {.rounds = true, .seed = 3}).has_value());
  EXPECT_EQ(values.at(results[1]).values, std::vector<double>(1000, 1));
  double below = 0;
  for (double value : values.at(results[0]).values) {
    EXPECT_TRUE(value == 1 || value == 1 - 0x1p-8) << value;
    if (value < 1) ++below;
  }
  EXPECT_NEAR(below, 250, 5 * std::sqrt(1000 * 3.0 / 16));
}

TEST(Rounding, LeavesFloat64AndIntegersAsTheyAre) {
  for (const ElementType type : {ElementType::float64, ElementType::int32, ElementType::boolean}) {
    Array array{{2}, {1.0 / 3, 1e300}};
    round_to({.element = type}, array);
    EXPECT_EQ(array.values, (std::vector<double>{1.0 / 3, 1e300}));
  }
}

TEST(Rounding, OfFloatsGoesToInfinityBeyondTheLargest) {
  Array array{{2}, {1e39, 1.0 / 3}};
  round_to({}, array);
  EXPECT_TRUE(std::isinf(array.values[0]));
  EXPECT_EQ(array.values[1], static_cast<double>(1.0F / 3));
  array = {{1}, {1e39}};
  round_to(bfloat, array);
  EXPECT_TRUE(std::isinf(array.values[0]));
}

}  // namespace
}  // namespace monet
