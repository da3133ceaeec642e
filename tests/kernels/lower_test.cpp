// Does a step become the launches that an eager framework makes of it?
#include "kernels/lower/lower.h"

#include "graph/builder.h"
#include "networks/builtin.h"
#include "support/random_step.h"
#include "training/step.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace monet {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using Integers = std::vector<std::int64_t>;

std::string text_of(const Kernel& k) {
  const std::string name =
      k.op == KernelOp::none ? fmt::format("{} {}", name_of(k.kind), name_of(k.part)) : std::string(name_of(k.op));
  switch (k.kind) {
    case KernelKind::product:
      return fmt::format("{} {}x{}x{}x{}{}{}", name, k.batch, k.m, k.n, k.k, k.bias ? " bias" : "",
                         k.aligned ? "" : " unaligned");
    case KernelKind::convolution:
      return fmt::format("{} {}x{}x{} to {}x{}{}", name, k.batch, k.c, k.h, k.o, k.oh,
                         k.channels_last ? " channels last" : "");
    case KernelKind::batch_norm: return fmt::format("{} {}x{}x{}", name, k.batch, k.c, k.h);
    case KernelKind::attention: return fmt::format("{} {}x{}x{}x{}", name, k.batch, k.heads, k.s, k.d);
    case KernelKind::optimizer: return fmt::format("{} of {}", name, k.tensors.size());
    case KernelKind::elementwise: return fmt::format("{} {}", name, k.elements);
    default: return fmt::format("{} {}x{}", name, k.rows, k.columns);
  }
}

std::vector<std::string> texts_of(const LoweredStep& step) {
  std::vector<std::string> texts;
  for (const Launch& launch : step.launches) texts.push_back(text_of(launch.kernel));
  return texts;
}

std::vector<std::string> launches_of(GraphBuilder& builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? texts_of(lower(*graph, {})) : std::vector<std::string>();
}

Graph step_of(GraphBuilder& builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  auto step = training::make_training_step({std::move(*graph), false, {}, {}}, {});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return std::move(step->graph);
}

TEST(Lower, ALinearLayerHasItsBiasInTheProductAndASumBackwards) {
  GraphBuilder builder("linear");
  const TensorId x = builder.input("x", {4, 16});
  const TensorId w = builder.parameter("w", {8, 16});
  const TensorId turned = builder.add(Op::Transpose, "turned", {w}, {{Attr::perm, Integers{1, 0}}});
  const TensorId product =
      builder.add(Op::MatMul, "product", {x, turned},
                  {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
  builder.output(builder.add(Op::Add, "sum", {builder.parameter("b", {8}), product}));
  const Graph graph = step_of(builder);
  EXPECT_THAT(texts_of(lower(graph, {})),
              ElementsAre("product forward 1x4x8x16 bias", "log_softmax forward 4x8", "nll forward 4x8", "fill 1",
                          "nll backward 4x8", "log_softmax backward 4x8", "sum_rows 32",
                          "product weight_gradient 1x8x16x4", "adam of 2"));
}

TEST(Lower, AVocabularyThatIsNoMultipleOfEightIsNotAligned) {
  for (const std::int64_t vocabulary : {32, 33}) {
    GraphBuilder builder("head");
    const TensorId x = builder.input("x", {4, 16}, ElementType::bfloat16);
    const TensorId w = builder.parameter("w", {16, vocabulary}, ElementType::bfloat16);
    builder.output(
        builder.add(Op::MatMul, "product", {x, w},
                    {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
    EXPECT_THAT(launches_of(builder), ElementsAre(fmt::format("product input_gradient 1x4x{}x16{}", vocabulary,
                                                              vocabulary % 8 == 0 ? "" : " unaligned")));
  }
}

TEST(Lower, ResidualBlocksAddGradientsAndCountBatches) {
  auto forward = build_builtin("resnet18-cifar:batch=2");
  ASSERT_TRUE(forward.has_value());
  auto step = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(step.has_value());
  const std::vector<std::string> texts = texts_of(lower(step->graph, {}));
  const auto count = [&](const std::string& start) {
    return std::ranges::count_if(texts, [&](const std::string& text) { return text.starts_with(start); });
  };
  EXPECT_EQ(count("convolution forward"), 20);
  EXPECT_EQ(count("convolution input_gradient"), 19);
  EXPECT_EQ(count("convolution weight_gradient"), 20);
  EXPECT_EQ(count("batch_norm forward"), 20);
  EXPECT_EQ(count("batch_norm backward"), 20);
  EXPECT_EQ(count("relu_backward"), 17);
  EXPECT_EQ(std::ranges::count(texts, "add_inplace 1"), 20);  // counters
  EXPECT_EQ(count("add_inplace"), 20 + 8);                    // one gradient more for each block
  EXPECT_EQ(count("add "), 8);
}

TEST(Lower, HeadsAreCopiedBeforeBatchedProductsAndJoinedBackwards) {
  auto forward = build_builtin("gpt2-tiny:batch=2,layers=1,tokens=32");
  ASSERT_TRUE(forward.has_value());
  auto step = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(step.has_value());
  const std::vector<std::string> texts = texts_of(lower(step->graph, {}));
  const auto count = [&](const std::string& text) { return std::ranges::count(texts, text); };
  EXPECT_EQ(count("qkv_slice_to_bhsd 16384"), 2);  // queries and values
  EXPECT_EQ(count("gelu 65536"), 1);
  EXPECT_EQ(count("gelu_backward 65536"), 1);
  EXPECT_EQ(count("softmax forward 256x32"), 1);
  EXPECT_EQ(count("softmax backward 256x32"), 1);
  EXPECT_EQ(count("layer_norm forward 64x256"), 3);
  EXPECT_EQ(count("layer_norm backward 64x256"), 3);
  EXPECT_EQ(count("product input_gradient 8x32x32x64"), 1);  // scores, from a copy of the keys that is transposed
  EXPECT_EQ(count("embedding 16384"), 1);
  EXPECT_EQ(count("embedding_backward 16384"), 1);
}

// One image of a batch is a view, and so are heads of one sample.
TEST(Lower, HeadsOfOneSampleNeedNoCopies) {
  auto forward = build_builtin("gpt2-tiny:batch=1,layers=1,tokens=32");
  ASSERT_TRUE(forward.has_value());
  const std::vector<std::string> texts = texts_of(lower(*forward, {}));
  EXPECT_THAT(texts, Not(Contains("qkv_slice_to_bhsd 8192")));
  EXPECT_THAT(texts, Contains("bshd_to_bhsd 8192"));  // heads are joined
}

TEST(Lower, PermutedImagesStayChannelsLast) {
  GraphBuilder builder("permuted");
  const TensorId x = builder.input("x", {2, 8, 8, 16});
  const TensorId last = builder.add(Op::Relu, "relu", {x});
  const TensorId image = builder.add(Op::Transpose, "image", {last}, {{Attr::perm, Integers{0, 3, 1, 2}}});
  const TensorId w = builder.parameter("w", {32, 16, 3, 3});
  const TensorId y = builder.add(Op::Conv, "conv", {image, w},
                                 {{Attr::strides, Integers{1, 1}},
                                  {Attr::dilations, Integers{1, 1}},
                                  {Attr::pads, Integers{1, 1, 1, 1}},
                                  {Attr::group, std::int64_t{1}}});
  builder.output(builder.add(Op::Relu, "after", {y}));
  EXPECT_THAT(launches_of(builder),
              ElementsAre("relu 2048", "convolution forward 2x16x8 to 32x8 channels last", "relu 4096"));
}

TEST(Lower, TheGradientOfASliceIsAFillAndACopy) {
  GraphBuilder builder("slice");
  const TensorId x = builder.parameter("x", {4, 6});
  const TensorId part = builder.add(Op::Slice, "part", {x},
                                    {{Attr::axes, Integers{1}},
                                     {Attr::starts, Integers{2}},
                                     {Attr::steps, Integers{1}},
                                     {Attr::shape, Integers{4, 3}}});
  builder.output(builder.add(Op::Relu, "y", {part}));
  const std::vector<std::string> texts = texts_of(lower(step_of(builder), {}));
  EXPECT_THAT(texts, Contains("fill 24"));
  EXPECT_THAT(texts, Contains("copy 12").Times(0));
  EXPECT_THAT(texts, Contains("bshd_to_bhsd 12"));
}

// PyTorch: chunk and split have SplitBackward, one concatenation; their exporter writes slices.
TEST(Lower, SlicesThatCutATensorAreJoinedInTheGradient) {
  for (const std::int64_t second : {3, 2}) {  // the second slice ends with the tensor, or before
    GraphBuilder builder("chunks");
    const TensorId x = builder.parameter("x", {4, 6});
    const auto part = [&](const char* name, std::int64_t start, std::int64_t size) {
      return builder.add(Op::Slice, name, {x},
                         {{Attr::axes, Integers{1}},
                          {Attr::starts, Integers{start}},
                          {Attr::steps, Integers{1}},
                          {Attr::shape, Integers{4, size}}});
    };
    const TensorId left = builder.add(Op::Relu, "left", {part("a", 0, 3)});
    const TensorId right = builder.add(Op::Relu, "right", {part("b", 3, second)});
    builder.output(builder.add(Op::Concat, "y", {right, left}, {{Attr::axis, std::int64_t{1}}}));
    const std::vector<std::string> texts = texts_of(lower(step_of(builder), {}));
    EXPECT_THAT(texts, Contains("fill 24").Times(second == 3 ? 0 : 2));
    EXPECT_THAT(texts, Contains("cat_qkv 24").Times(second == 3 ? 2 : 0));  // along rows: forwards and backwards
  }
}

Attributes convolution_of_one() {
  return {{Attr::strides, Integers{1, 1}},
          {Attr::dilations, Integers{1, 1}},
          {Attr::pads, Integers{0, 0, 0, 0}},
          {Attr::group, std::int64_t{1}}};
}

// PyTorch: the convolution of a slice copies it, saves the slice, and its gradient copies once more.
TEST(Lower, WhatAConvolutionCopiesIsNotSaved) {
  GraphBuilder builder("slice");
  const TensorId x = builder.input("x", {2, 8, 4, 4});
  const TensorId made = builder.add(Op::Mul, "made", {x, builder.parameter("s", {8, 1, 1})});
  const TensorId half = builder.add(Op::Slice, "half", {made},
                                    {{Attr::axes, Integers{1}},
                                     {Attr::starts, Integers{4}},
                                     {Attr::steps, Integers{1}},
                                     {Attr::shape, Integers{2, 4, 4, 4}}});
  const TensorId y = builder.add(Op::Conv, "conv", {half, builder.parameter("w", {8, 4, 1, 1})}, convolution_of_one());
  builder.output(
      builder.add(Op::ReduceMean, "mean", {y}, {{Attr::axes, Integers{2, 3}}, {Attr::keepdims, std::int64_t{0}}}));
  const LoweredStep step = lower(step_of(builder), {});
  std::vector<Phase> copies;
  for (const Launch& launch : step.launches) {
    if (launch.kernel.op == KernelOp::qkv_slice_to_bhsd && launch.kernel.elements == 128)
      copies.push_back(launch.phase);
  }
  EXPECT_THAT(copies, ElementsAre(Phase::forward, Phase::backward));
}

// PyTorch: a linear layer on a transposed view is a copy, a product and an addition in place (aten::linear, matmul).
TEST(Lower, ALinearLayerOnATransposedViewAddsItsBiasAfterwards) {
  GraphBuilder builder("mixer");
  const TensorId x = builder.input("x", {2, 8, 16});
  const TensorId turned = builder.add(Op::Transpose, "tokens", {x}, {{Attr::perm, Integers{0, 2, 1}}});
  const TensorId product =
      builder.add(Op::MatMul, "product", {turned, builder.parameter("w", {8, 32})},
                  {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
  builder.output(builder.add(Op::Add, "sum", {product, builder.parameter("b", {32})}));
  EXPECT_THAT(launches_of(builder),
              ElementsAre("bhds_to_bhsd 256", "product input_gradient 1x32x32x8", "row_bias 1024"));
}

// PyTorch: one CatArrayBatchedCopy, whatever the strides of the parts.
TEST(Lower, AConcatenationIsOneLaunch) {
  GraphBuilder builder("cat");
  const TensorId x = builder.input("x", {2, 8, 4, 4});
  const TensorId half = builder.add(Op::Slice, "half", {x},
                                    {{Attr::axes, Integers{1}},
                                     {Attr::starts, Integers{0}},
                                     {Attr::steps, Integers{1}},
                                     {Attr::shape, Integers{2, 4, 4, 4}}});
  builder.output(builder.add(Op::Concat, "strided", {half, x}, {{Attr::axis, std::int64_t{1}}}));
  builder.output(builder.add(Op::Concat, "dense", {x, x, x}, {{Attr::axis, std::int64_t{1}}}));
  EXPECT_THAT(launches_of(builder), ElementsAre("bhds_to_bhsd 384", "cat_channels 768"));
}

// PyTorch: avg_pool2d saves its input.
TEST(Lower, AveragePoolsKeepTheirInput) {
  GraphBuilder builder("pool");
  const TensorId x = builder.input("x", {2, 4, 8, 8});
  const TensorId y = builder.add(Op::Conv, "conv", {x, builder.parameter("w", {4, 4, 1, 1})}, convolution_of_one());
  const TensorId pooled = builder.add(Op::AveragePool, "pool", {y},
                                      {{Attr::kernel_shape, Integers{2, 2}},
                                       {Attr::strides, Integers{2, 2}},
                                       {Attr::pads, Integers{0, 0, 0, 0}},
                                       {Attr::dilations, Integers{1, 1}},
                                       {Attr::count_include_pad, std::int64_t{0}},
                                       {Attr::shape, Integers{2, 4, 4, 4}}});
  builder.output(
      builder.add(Op::ReduceMean, "mean", {pooled}, {{Attr::axes, Integers{2, 3}}, {Attr::keepdims, std::int64_t{0}}}));
  const LoweredStep step = lower(step_of(builder), {});
  const auto written =
      std::ranges::find(step.launches, KernelKind::convolution, [](const Launch& l) { return l.kernel.kind; });
  ASSERT_NE(written, step.launches.end());
  const AllocationId kept = written->writes[0].buffer;
  const auto gradient =
      std::ranges::find(step.launches, KernelOp::avg_pool_2_backward, [](const Launch& l) { return l.kernel.op; });
  ASSERT_NE(gradient, step.launches.end());
  EXPECT_TRUE(std::ranges::any_of(gradient->reads, [&](const Touch& t) { return t.buffer == kept && t.bytes == 0; }));
}

TEST(Lower, EveryBuiltInNetworkBecomesLaunches) {
  for (const BuiltinInfo& info : builtin_networks()) {
    auto forward = build_builtin(info.name + ":batch=2");
    ASSERT_TRUE(forward.has_value()) << info.name;
    auto step = training::make_training_step({*std::move(forward), false, {}, {}}, {});
    ASSERT_TRUE(step.has_value()) << info.name;
    const LoweredStep lowered = lower(step->graph, {});
    double flops = 0;
    for (const Launch& launch : lowered.launches) {
      Kernel kernel = launch.kernel;
      derive_sizes(kernel);
      flops += kernel.flops;
    }
    EXPECT_GT(flops, 0) << info.name;
    EXPECT_LT(lowered.launches.size(), 2 * step->graph.nodes().size()) << info.name;
  }
}

// Each node runs once; launches read what was written before, and outputs are written.
TEST(Lower, EveryNodeRunsOnceAndReadsWhatIsThere) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto made = test::random_step(seed);
    if (!made) continue;  // nothing in it is trained
    const Graph& graph = *made;
    const LoweredStep step = lower(graph, {});
    std::vector<int> times(graph.nodes().size(), 0);
    std::vector<bool> written(step.buffers.size(), false);
    for (std::size_t i = 0; i < step.buffers.size(); ++i) written[i] = step.buffers[i].permanent;
    for (const Launch& launch : step.launches) {
      for (NodeId node : launch.nodes) ++times[node.index()];
      for (const Touch& read : launch.reads) {
        EXPECT_TRUE(written[read.buffer.index()]) << "seed " << seed;
      }
      for (const Touch& each : launch.writes) written[each.buffer.index()] = true;
      double bytes = 0;
      for (const auto* list : {&launch.reads, &launch.writes}) {
        for (const Touch& each : *list) bytes += static_cast<double>(each.bytes);
      }
      EXPECT_DOUBLE_EQ(launch.kernel.bytes, bytes);
    }
    for (NodeId node : step.silent) ++times[node.index()];
    EXPECT_THAT(times, testing::Each(1)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace monet
