// Are nodes read as ZigZag reads them from ONNX?
#include "compat/zigzag/layer.h"

#include "graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using ::testing::ElementsAre;
using Integers = std::vector<std::int64_t>;

Attributes product(std::int64_t trans_a = 0, std::int64_t trans_b = 0) {
  return {{Attr::trans_a, trans_a}, {Attr::trans_b, trans_b}, {Attr::alpha, 1.0}};
}

// "C 512, D 1, K 1000"
std::string loops(const ZigzagLayer& layer) {
  std::string text;
  for (const Loop& loop : layer.loops) {
    text += (text.empty() ? "" : ", ") + name_of(loop.name) + " " + std::to_string(loop.size);
  }
  return text;
}

std::string indices(const ZigzagLayer& layer, std::size_t operand) {
  std::string text(1, layer.operands[operand].name);
  for (std::uint8_t loop : layer.operands[operand].loops) text += " " + name_of(layer.loops[loop].name);
  return text + (layer.operands[operand].windows ? " IX IY" : "");
}

TEST(ZigzagLayer, ConvolutionsTakeTheFirstAxisForTheWidth) {
  GraphBuilder builder("g");
  const TensorId x = builder.input("x", {2, 12, 20, 31});
  const TensorId w = builder.parameter("w", {8, 6, 5, 3});
  const TensorId y = builder.add(Op::Conv, "conv", {x, w},
                                 {{Attr::strides, Integers{2, 1}},
                                  {Attr::dilations, Integers{1, 2}},
                                  {Attr::pads, Integers{0, 0, 0, 0}},
                                  {Attr::group, std::int64_t{2}}});
  builder.output(builder.add(Op::Relu, "relu", {y}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  const ZigzagWorkload work = zigzag_layers(*graph);
  ASSERT_EQ(work.layers.size(), 1U);
  const ZigzagLayer& layer = work.layers[0];
  EXPECT_EQ(layer.name, "conv");
  EXPECT_EQ(layer.type, "Conv");
  EXPECT_EQ(loops(layer), "B 2, K 4, G 2, OX 27, OY 8, C 6, FX 5, FY 3");
  EXPECT_EQ(indices(layer, 0), "O B G K OY OX");
  EXPECT_EQ(indices(layer, 1), "W G K C FY FX");
  EXPECT_EQ(indices(layer, 2), "I B G C IX IY");
  EXPECT_EQ(layer.windows[0].stride, 2);
  EXPECT_EQ(layer.windows[0].limit, 31);
  EXPECT_EQ(layer.windows[1].dilation, 2);
  EXPECT_EQ(layer.windows[1].limit, 20);
  EXPECT_EQ(layer.operands[0].bits, 16);
  EXPECT_EQ(layer.final_bits, 8);
  ASSERT_EQ(work.skipped.size(), 1U);
  EXPECT_EQ(work.skipped[0].reason, "ZigZag costs Conv, MatMul and Gemm only");
}

TEST(ZigzagLayer, ProductsHaveBatchAndHeadsWhereTheInputHas) {
  GraphBuilder builder("g");
  const TensorId x = builder.input("x", {2, 3, 5, 7});
  const TensorId w = builder.parameter("w", {7, 11});
  const TensorId constant = builder.add(Op::MatMul, "constant", {x, w}, product());
  const TensorId variable =
      builder.add(Op::MatMul, "variable", {constant, builder.add(Op::Relu, "relu", {constant})}, product(0, 1));
  builder.output(variable);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  const ZigzagWorkload work = zigzag_layers(*graph, {4, 8, 32, 16});
  ASSERT_EQ(work.layers.size(), 2U);
  EXPECT_EQ(loops(work.layers[0]), "C 7, D 5, K 11, B 2, H 3");
  EXPECT_EQ(indices(work.layers[0], 0), "O B H D K");
  EXPECT_EQ(indices(work.layers[0], 1), "I B H D C");
  EXPECT_EQ(indices(work.layers[0], 2), "W C K");
  EXPECT_EQ(work.layers[0].operands[2].bits, 4);
  EXPECT_EQ(loops(work.layers[1]), "C 11, D 5, K 5, B 2, H 3");
  EXPECT_EQ(indices(work.layers[1], 2), "W B H C K");
  EXPECT_EQ(work.layers[1].operands[2].bits, 8) << "weights that are data have the precision of data";
  EXPECT_EQ(work.layers[1].operands[0].bits, 32);
  EXPECT_EQ(work.layers[1].final_bits, 16);
}

TEST(ZigzagLayer, TransposedProductsAreTurned) {
  GraphBuilder builder("g");
  const TensorId x = builder.input("x", {7, 5});
  const TensorId w = builder.parameter("w", {11, 7});
  builder.output(builder.add(Op::MatMul, "fc", {x, w}, product(1, 1)));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(loops(zigzag_layers(*graph).layers.at(0)), "C 7, D 5, K 11");
}

TEST(ZigzagLayer, WhatZigzagDoesNotReadIsListedWithTheReason) {
  GraphBuilder builder("g");
  const TensorId signal = builder.input("signal", {1, 4, 30});
  const TensorId filter = builder.parameter("filter", {8, 4, 3});
  builder.output(builder.add(Op::Conv, "conv_1d", {signal, filter},
                             {{Attr::strides, Integers{1}},
                              {Attr::dilations, Integers{1}},
                              {Attr::pads, Integers{0, 0}},
                              {Attr::group, std::int64_t{1}}}));
  const TensorId deep = builder.input("deep", {2, 2, 2, 3, 4});
  const TensorId w = builder.parameter("w", {4, 5});
  builder.output(builder.add(Op::MatMul, "five_axes", {deep, w}, product()));
  const TensorId flat = builder.input("flat", {3, 4});
  const TensorId batched = builder.parameter("batched", {6, 4, 5});
  builder.output(builder.add(Op::MatMul, "broadcast", {flat, batched}, product()));
  const TensorId one = builder.input("one", {1, 3, 4});
  builder.output(builder.add(Op::MatMul, "broadcast_batch", {one, batched}, product()));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  const ZigzagWorkload work = zigzag_layers(*graph);
  EXPECT_TRUE(work.layers.empty());
  std::vector<std::string> reasons;
  for (const ZigzagSkipped& skipped : work.skipped) reasons.push_back(skipped.reason);
  EXPECT_THAT(
      reasons,
      ElementsAre("a convolution over 1 axes; ZigZag reads those over 2", "a product of 5 axes; ZigZag reads 2 to 4",
                  "its first input and its output have different numbers of axes", "its first input is broadcast"));
}

TEST(ZigzagLayer, WorkIsTheSameWhateverTheName) {
  const ZigzagLayer a = zigzag_conv("a", {.output_channels = 8});
  const ZigzagLayer b = zigzag_conv("b", {.output_channels = 8});
  EXPECT_TRUE(a.same_work(b));
  EXPECT_FALSE(a == b);
  EXPECT_FALSE(a.same_work(zigzag_conv("a", {.output_channels = 9})));
  EXPECT_EQ(a.macs(), 8);
}

}  // namespace
}  // namespace monet
