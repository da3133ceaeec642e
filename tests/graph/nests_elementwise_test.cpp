// Gradients of activations: one kernel each, with the arithmetic of the formula that defines it.
#include "graph/expand.h"
#include "support/nest_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using testing::HasSubstr;

const Attributes activation_attributes = {{Attr::alpha, 0.5}, {Attr::beta, 0.5},
                                          {Attr::gamma, 1.5}, {Attr::min, -1.0},
                                          {Attr::max, 1.0},   {Attr::approximate, std::string("none")}};

constexpr Op gradients[] = {Op::ReluGrad,        Op::CeluGrad,      Op::ClipGrad,      Op::EluGrad,  Op::GeluGrad,
                            Op::HardSigmoidGrad, Op::HardSwishGrad, Op::LeakyReluGrad, Op::MishGrad, Op::SeluGrad,
                            Op::SigmoidGrad,     Op::SiluGrad,      Op::SoftplusGrad,  Op::TanhGrad};

// Everything but choices, which cost a fused kernel nothing.
Counts arithmetic(const Graph& graph) {
  Counts sum;
  for (const Node& node : graph.nodes()) {
    const auto counts = operation_counts(nests_of(site_of(graph, node)));
    for (std::size_t i = 0; i < count_kinds; ++i) sum.of[i] += counts->of[i];
  }
  sum[Count::logic] = 0;
  return sum;
}

void expect_arithmetic_of_definition(Op op, const Attributes& given) {
  SCOPED_TRACE(std::string(name_of(op)));
  const auto graph = single(op, floats({{4, 3}, {4, 3}}), given);
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  EXPECT_EQ(NestCheck(site_of(*graph, graph->nodes().back())).complaint(), "");
  const auto expanded = expand(*graph, [](const Graph&, const Node&) { return true; });
  ASSERT_TRUE(expanded.has_value()) << expanded.error().text();
  EXPECT_EQ(arithmetic(*graph), arithmetic(*expanded));
}

TEST(ElementwiseNests, GradientsDoTheArithmeticOfTheirDefinition) {
  for (Op op : gradients) expect_arithmetic_of_definition(op, activation_attributes);
  Attributes with_tanh = activation_attributes;
  with_tanh.set(Attr::approximate, std::string("tanh"));
  expect_arithmetic_of_definition(Op::GeluGrad, with_tanh);
  expect_arithmetic_of_definition(Op::ClipGrad, {{Attr::max, 1.0}});
  expect_arithmetic_of_definition(Op::ClipGrad, {});
}

TEST(InferElementwise, GradientsHaveTheShapeOfTheValue) {
  for (Op op : gradients) {
    const auto graph = single(op, floats({{4, 3}, {3}}), activation_attributes);
    ASSERT_FALSE(graph.has_value());
    EXPECT_THAT(graph.error().message, HasSubstr("a gradient of 4x3 for a value of 3"));
  }
}

}  // namespace
}  // namespace monet::test
