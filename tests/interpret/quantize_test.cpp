// Does the executor quantize, and calculate with what is quantized as with real numbers?
#include "graph/quantize.h"
#include "graph/builder.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

const Array given_array{{2, 3}, {1.3, -2.6, 0.01, 5, 3.99, 0}};

Values values_of(const Graph& graph) {
  Values values = {{graph.inputs[0], given_array}};
  EXPECT_TRUE(run(graph, values).has_value());
  return values;
}

TEST(ExecuteQuantize, RoundsToItsFormat) {
  for (const char* text : {"bf16", "int8", "fp8e4m3:e8m0/32@-1", "int8:e8m0/2@-2", "int8:fp32/channel@-1"}) {
    GraphBuilder builder("quantize");
    builder.output(
        builder.add(Op::Quantize, "q", {builder.input("x", given_array.shape)}, {{Attr::format, std::string(text)}}));
    const auto graph = builder.finish();
    ASSERT_TRUE(graph.has_value()) << graph.error().text();
    Array expected = given_array;
    quantize(expected.values, expected.shape, *parse_format(text));
    const Array result = values_of(*graph)[graph->outputs[0]];
    EXPECT_EQ(result.shape, given_array.shape);
    EXPECT_EQ(result.values, expected.values) << text;
  }
}

TEST(ExecuteQuantize, RoundsByChanceWhereItIsToldTo) {
  GraphBuilder builder("quantize");
  builder.output(builder.add(Op::Quantize, "q", {builder.input("x", given_array.shape)},
                             {{Attr::format, std::string("int4")}, {Attr::mode, std::string("stochastic")}}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  Array expected = given_array;
  quantize(expected.values, expected.shape, {.element = ElementType::int4}, {.rounding = Rounding::stochastic});
  EXPECT_EQ(values_of(*graph)[graph->outputs[0]].values, expected.values);
}

// Elements of 8-bit integers with a scale stand for fractions: nothing is cut off or wraps around.
TEST(ExecuteQuantize, ScaledIntegersAreRealNumbers) {
  GraphBuilder builder("scaled");
  const TensorId x = builder.input("x", given_array.shape);
  const TensorId q = builder.add(Op::Quantize, "q", {x}, {{Attr::format, std::string("int8:e8m0/32@-1")}});
  const TensorId sum = builder.add(Op::Add, "sum", {q, q});
  builder.output(builder.add(Op::Div, "ratio", {sum, builder.add(Op::Mul, "product", {sum, sum})}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  EXPECT_TRUE((*graph)[sum].type.format.is_real());
  Values values = values_of(*graph);
  const double first = values[q].values[0];
  EXPECT_NEAR(first, 1.3, 1.0 / 64);
  EXPECT_EQ(values[sum].values[0], 2 * first);
  EXPECT_EQ(values[graph->outputs[0]].values[0], 2 * first / (4 * first * first));
}

}  // namespace
}  // namespace monet
