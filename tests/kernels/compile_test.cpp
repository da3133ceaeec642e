// Does a step become the kernels that a fusing compiler makes of it?
#include "kernels/compile/compile.h"

#include "graph/builder.h"
#include "kernels/compile/layout.h"
#include "kernels/lower/lower.h"
#include "kernels/lower/memory.h"
#include "networks/builtin.h"
#include "support/random_step.h"
#include "training/step.h"

#include "kernels/hand_made_laws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace monet {
namespace {

using testing::HasSubstr;
using Integers = std::vector<std::int64_t>;

Graph finished(GraphBuilder& builder) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return *std::move(graph);
}

Graph training_step(Graph forward) {
  auto step = training::make_training_step({std::move(forward), false, {}, {}}, {});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return std::move(step->graph);
}

CompiledStep compiled(const Graph& graph, CompileOptions options = {}) {
  auto step = compile(graph, test::hand_made_laws(), options);
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? *std::move(step) : CompiledStep{};
}

std::string error_of(const Graph& graph, std::vector<OperatorStack> stacks) {
  const auto step = compile(graph, test::hand_made_laws(), {.stacks = std::move(stacks)});
  return step ? "" : step.error().message;
}

NodeId node_named(const Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].name == name) return NodeId(i);
  }
  ADD_FAILURE() << "no node " << name;
  return {};
}

double bytes_of_all(const std::vector<Touch>& touches) {
  double bytes = 0;
  for (const Touch& touch : touches) bytes += static_cast<double>(touch.bytes);
  return bytes;
}

TensorId product(GraphBuilder& builder, const char* name, TensorId a, TensorId b) {
  return builder.add(Op::MatMul, name, {a, b},
                     {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
}

TEST(Compile, AChainOfElementsIsOneKernelThatMovesItsEnds) {
  GraphBuilder builder("chain");
  const TensorId x = builder.input("x", {256, 512});
  const TensorId y = builder.input("y", {256, 512});
  const TensorId scale = builder.input("scale", {512});
  const TensorId sum = builder.add(Op::Add, "sum", {x, y});
  const TensorId scaled = builder.add(Op::Mul, "scaled", {sum, scale});
  builder.output(builder.add(Op::Relu, "relu", {scaled}));
  const CompiledStep step = compiled(finished(builder));
  ASSERT_EQ(step.lowered.launches.size(), 1U);
  const Launch& launch = step.lowered.launches[0];
  EXPECT_EQ(bytes_of_all(launch.reads), 4.0 * (2 * 256 * 512 + 512));
  EXPECT_EQ(bytes_of_all(launch.writes), 4.0 * 256 * 512);
  EXPECT_EQ(launch.kernel.bytes, 4.0 * (3 * 256 * 512 + 512));
  EXPECT_EQ(launch.kernel.elements, 256 * 512);
  ASSERT_EQ(step.stacks.size(), 1U);
  EXPECT_EQ(step.stacks[0].size(), 3U);
}

TEST(Compile, AProductStaysAlone) {
  GraphBuilder builder("product");
  const TensorId x = builder.input("x", {64, 64});
  const TensorId before = builder.add(Op::Relu, "before", {x});
  const TensorId middle = product(builder, "middle", before, builder.parameter("w", {64, 64}));
  builder.output(builder.add(Op::Tanh, "after", {middle}));
  const CompiledStep step = compiled(finished(builder));
  ASSERT_EQ(step.lowered.launches.size(), 3U);
  EXPECT_EQ(step.lowered.launches[1].kernel.kind, KernelKind::product);
  EXPECT_TRUE(step.stacks.empty());
}

// x + y is asked for: one kernel reads two tensors and writes two.
TEST(Compile, AResidualAndItsLayerNormAreOneKernel) {
  GraphBuilder builder("norm");
  const TensorId x = builder.input("x", {128, 64});
  const TensorId y = builder.input("y", {128, 64});
  const TensorId sum = builder.add(Op::Add, "sum", {x, y});
  const TensorId norm = builder.add(Op::LayerNormalization, "norm",
                                    {sum, builder.parameter("scale", {64}), builder.parameter("bias", {64})},
                                    {{Attr::axis, std::int64_t{1}}, {Attr::epsilon, 1e-5}});
  const TensorId inner = product(builder, "inner", norm, builder.parameter("w", {64, 64}));
  builder.output(builder.add(Op::Add, "end", {inner, sum}));
  builder.output(sum);
  const CompiledStep step = compiled(finished(builder));
  ASSERT_EQ(step.lowered.launches.size(), 3U);
  const Launch& first = step.lowered.launches[0];
  EXPECT_EQ(first.nodes.size(), 2U);
  EXPECT_EQ(bytes_of_all(first.reads), 4.0 * (2 * 128 * 64 + 2 * 64));
  EXPECT_EQ(bytes_of_all(first.writes), 4.0 * 2 * 128 * 64);
  EXPECT_EQ(first.kernel.op, KernelOp::mean_23);
}

// Sums over channels, their end (fewer than 64 for each multiprocessor are made in parts), then every element: x is
// read twice and the result written once.
TEST(Compile, ABatchNormTakesItsSumsFirst) {
  GraphBuilder builder("batch norm");
  const TensorId x = builder.input("x", {8, 16, 32, 32});
  const TensorId norm = builder.add_some(
      Op::BatchNormalization, "norm",
      {x, builder.parameter("scale", {16}), builder.parameter("bias", {16}), builder.parameter("mean", {16}),
       builder.parameter("variance", {16})},
      {{Attr::training_mode, std::int64_t{1}}, {Attr::epsilon, 1e-5}, {Attr::momentum, 0.9}}, {true})[0];
  builder.output(builder.add(Op::Relu, "relu", {norm}));
  const CompiledStep step = compiled(finished(builder));
  constexpr double whole = 4.0 * 8 * 16 * 32 * 32;
  std::vector<const Launch*> launches;
  for (const Launch& launch : step.lowered.launches) {
    if (launch.kernel.elements > 1) launches.push_back(&launch);  // but for the counter of batches
  }
  ASSERT_EQ(launches.size(), 3U);
  EXPECT_EQ(bytes_of_all(launches[0]->reads), whole);
  EXPECT_LT(bytes_of_all(launches[0]->writes), whole / 10);
  EXPECT_EQ(launches[2]->nodes.size(), 2U);
  EXPECT_EQ(bytes_of_all(launches[2]->writes), whole);
  EXPECT_LT(bytes_of_all(launches[2]->reads), 1.01 * whole);
}

// g is needed by products: its kernel writes it, and the sum of its columns reads it again.
TEST(Compile, ASumOfColumnsWritesNothingElse) {
  GraphBuilder builder("columns");
  const TensorId x = builder.input("x", {512, 64});
  const TensorId g = builder.add(Op::Tanh, "g", {x});
  builder.output(product(builder, "product", g, builder.parameter("w", {64, 64})));
  builder.output(
      builder.add(Op::ReduceSum, "sum", {g}, {{Attr::axes, Integers{0}}, {Attr::keepdims, std::int64_t{0}}}));
  const CompiledStep step = compiled(finished(builder));
  const auto reads_all = [](const Launch& launch) {
    return launch.kernel.kind == KernelKind::elementwise && bytes_of_all(launch.reads) == 4.0 * 512 * 64;
  };
  EXPECT_EQ(std::ranges::count_if(step.lowered.launches, reads_all), 2);
}

// The gate of a feed-forward layer: of silu(a) · b the backward part needs a, b and the product, which a product reads;
// silu(a) is computed again.
TEST(Compile, WhatIsCheapIsComputedAgain) {
  GraphBuilder builder("gate");
  const TensorId x = builder.input("x", {256, 64});
  const TensorId a = product(builder, "a", x, builder.parameter("wa", {64, 128}));
  const TensorId b = product(builder, "b", x, builder.parameter("wb", {64, 128}));
  const TensorId gate = builder.add(Op::Silu, "gate", {a});
  const TensorId gated = builder.add(Op::Mul, "gated", {gate, b});
  builder.output(product(builder, "down", gated, builder.parameter("wd", {128, 32})));
  const Graph graph = training_step(finished(builder));
  const auto saved = [](const LoweredStep& step) {
    const AllocatorPeak peak = allocator_peak(step, [](const Kernel&) { return 0; });
    return peak.after_forward_bytes - peak.static_bytes;
  };
  constexpr std::int64_t tensor = 4 * 256 * 128;
  EXPECT_EQ(saved(lower(graph, {})) - saved(compiled(graph).lowered), tensor);
}

TEST(Compile, AResidualStreamIsKept) {
  const auto most_operands = [](const std::string& layers) {
    auto forward = build_builtin("gpt2-tiny:batch=2,tokens=32,layers=" + layers);
    EXPECT_TRUE(forward.has_value());
    const CompiledStep step = compiled(training_step(*std::move(forward)));
    std::size_t most = 0;
    for (const Launch& launch : step.lowered.launches) {
      if (launch.phase == Phase::backward) most = std::max(most, launch.reads.size());
    }
    return most;
  };
  // Else the last norms would read the results of all layers.
  EXPECT_EQ(most_operands("2"), most_operands("6"));
}

TEST(Compile, ARaggedVocabularyIsPaddedWhereThatSavesTime) {
  KernelLaws laws = test::hand_made_laws();
  test::set_law(laws, "product.forward.bf16", {400e6, 1, 1, 0.1, 5, 1, 0.5});
  test::set_law(laws, "product.forward.bf16.unaligned", {40e6, 1, 1, 0.1, 5, 1, 0.5});
  GraphBuilder builder("head");
  const TensorId x = builder.input("x", {4096, 1024}, ElementType::bfloat16);
  const TensorId w = builder.parameter("w", {4001, 1024}, ElementType::bfloat16);
  const TensorId turned = builder.add(Op::Transpose, "turned", {w}, {{Attr::perm, Integers{1, 0}}});
  builder.output(product(builder, "head", x, turned));
  const Graph graph = finished(builder);
  const auto step = compile(graph, laws, {});
  ASSERT_TRUE(step.has_value());
  ASSERT_EQ(step->lowered.launches.size(), 2U);  // the weights are copied into wider rows
  EXPECT_EQ(step->lowered.launches[1].kernel.n, 4008);
  EXPECT_TRUE(step->lowered.launches[1].kernel.aligned);
  // As fast as that without: nothing to gain.
  test::set_law(laws, "product.forward.bf16.unaligned", {400e6, 1, 1, 0.1, 5, 1, 0.5});
  laws.classes.erase(std::ranges::find_if(laws.classes, [](const ClassLaw& law) {
    return law.kernel_class.variant == KernelVariant::unaligned && law.coefficients[0] == 40e6;
  }));
  const auto same = compile(graph, laws, {});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->lowered.launches.size(), 1U);
}

Graph convolution(std::int64_t in, std::int64_t out, std::int64_t groups, std::int64_t window) {
  GraphBuilder builder("convolution");
  const TensorId x = builder.input("x", {2, in, 16, 16});
  const TensorId w = builder.parameter("w", {out, in / groups, window, window});
  builder.output(builder.add(Op::Conv, "conv", {x, w},
                             {{Attr::group, groups},
                              {Attr::strides, Integers{1, 1}},
                              {Attr::dilations, Integers{1, 1}},
                              {Attr::pads, Integers{window / 2, window / 2, window / 2, window / 2}},
                              {Attr::kernel_shape, Integers{window, window}}}));
  return finished(builder);
}

TEST(Compile, ConvolutionsAreChannelsLastByTheCompilersRule) {
  using compiling::prefers_channels_last;
  EXPECT_TRUE(prefers_channels_last(convolution(64, 128, 1, 3)));
  EXPECT_FALSE(prefers_channels_last(convolution(64, 64, 1, 3)));    // all are small
  EXPECT_FALSE(prefers_channels_last(convolution(256, 128, 1, 3)));  // half as many out
  EXPECT_TRUE(prefers_channels_last(convolution(256, 128, 1, 1)));   // but not without a window
  EXPECT_FALSE(prefers_channels_last(convolution(256, 256, 2, 3)));  // groups of several channels
  EXPECT_TRUE(prefers_channels_last(convolution(256, 256, 256, 3)));
  EXPECT_TRUE(compiled(convolution(64, 128, 1, 3)).lowered.launches.back().kernel.channels_last);
  EXPECT_FALSE(compiled(convolution(64, 64, 1, 3)).lowered.launches.back().kernel.channels_last);
}

TEST(CompileErrors, StacksThatCannotBeOneKernelSayWhy) {
  GraphBuilder builder("errors");
  const TensorId x = builder.input("x", {64, 64});
  const TensorId first = product(builder, "first", x, builder.parameter("w", {64, 64}));
  const TensorId relu = builder.add(Op::Relu, "relu", {first});
  const TensorId second = product(builder, "second", relu, builder.parameter("v", {64, 64}));
  const TensorId end = builder.add(Op::Tanh, "end", {second});
  builder.output(end);
  builder.output(
      builder.add(Op::ReduceSum, "sum", {end}, {{Attr::axes, Integers{0}}, {Attr::keepdims, std::int64_t{0}}}));
  builder.output(builder.add(Op::Exp, "apart", {builder.input("other", {3, 5})}));
  const Graph graph = finished(builder);
  const auto id = [&](const char* name) { return node_named(graph, name); };
  EXPECT_THAT(error_of(graph, {{id("first"), id("second")}}),
              HasSubstr("first and second cannot be one kernel: a product, convolution"));
  EXPECT_THAT(error_of(graph, {{id("first"), id("relu")}}), HasSubstr("which takes no others in"));
  EXPECT_THAT(error_of(graph, {{id("relu"), id("end")}}), HasSubstr("share no operand, or an operator outside"));
  EXPECT_THAT(error_of(graph, {{id("relu"), id("apart")}}), HasSubstr("different numbers of elements"));
  EXPECT_THAT(error_of(graph, {{id("end"), id("sum")}}), HasSubstr("must be complete before they are read"));
}

TEST(Compile, StacksOfAPlanReplaceThePolicy) {
  GraphBuilder builder("planned");
  const TensorId x = builder.input("x", {64, 64});
  const TensorId a = builder.add(Op::Relu, "a", {x});
  const TensorId b = builder.add(Op::Tanh, "b", {a});
  builder.output(builder.add(Op::Exp, "c", {b}));
  const Graph graph = finished(builder);
  EXPECT_EQ(compiled(graph).lowered.launches.size(), 1U);
  const std::vector<OperatorStack> two = {{node_named(graph, "a"), node_named(graph, "b")}};
  EXPECT_EQ(compiled(graph, {.stacks = two}).lowered.launches.size(), 2U);
  EXPECT_EQ(compiled(graph, {.stacks = std::vector<OperatorStack>{}}).lowered.launches.size(), 3U);
}

// Every node in one launch or silent, operands written before they are read, and the stacks give the same again.
void check_compiled(const Graph& graph, const std::string& name) {
  const CompiledStep step = compiled(graph);
  std::vector<int> times(graph.nodes().size(), 0);
  std::vector<bool> written;
  for (const Allocation& buffer : step.lowered.buffers) written.push_back(buffer.permanent);
  for (const Launch& launch : step.lowered.launches) {
    for (NodeId node : launch.nodes) ++times[node.index()];
    for (const Touch& read : launch.reads) EXPECT_TRUE(written[read.buffer.index()]) << name;
    for (const Touch& write : launch.writes) written[write.buffer.index()] = true;
    EXPECT_GE(launch.kernel.bytes, 0) << name;
  }
  for (NodeId node : step.lowered.silent) ++times[node.index()];
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], 1) << name << ": " << graph.nodes()[i].name;
  const CompiledStep again = compiled(graph, {.stacks = step.stacks});
  EXPECT_EQ(again.stacks, step.stacks) << name;
  ASSERT_EQ(again.lowered.launches.size(), step.lowered.launches.size()) << name;
  for (std::size_t i = 0; i < again.lowered.launches.size(); ++i) {
    const Launch &a = step.lowered.launches[i], &b = again.lowered.launches[i];
    EXPECT_EQ(a.nodes, b.nodes) << name;
    EXPECT_EQ(a.kernel.bytes, b.kernel.bytes) << name;
    EXPECT_EQ(a.kernel.op, b.kernel.op) << name;
  }
}

TEST(CompileProperty, EveryNodeRunsOnceAndPlansAreReadBack) {
  for (unsigned seed = 0; seed < 150; ++seed) {
    const auto made = test::random_step(seed);
    if (made) check_compiled(*made, "seed " + std::to_string(seed));
  }
  for (const BuiltinInfo& info : builtin_networks()) {
    auto forward = build_builtin(info.name + ":batch=2");
    ASSERT_TRUE(forward.has_value()) << info.name;
    check_compiled(training_step(*std::move(forward)), info.name);
  }
}

// What fusing is for: no more launches than eager, and fewer bytes.
TEST(CompileProperty, FusingSavesLaunchesAndBytes) {
  const auto bytes = [](const LoweredStep& step) {
    double sum = 0;
    for (const Launch& launch : step.launches) sum += bytes_of_all(launch.reads) + bytes_of_all(launch.writes);
    return sum;
  };
  for (const BuiltinInfo& info : builtin_networks()) {
    auto forward = build_builtin(info.name + ":batch=2");
    ASSERT_TRUE(forward.has_value()) << info.name;
    const Graph graph = training_step(*std::move(forward));
    const LoweredStep eager = lower(graph, {});
    const LoweredStep fused = compiled(graph).lowered;
    std::size_t finished_apart = 0;
    for (const Launch& launch : fused.launches) {
      finished_apart += launch.nodes.empty() && launch.kernel.op == KernelOp::mean_23 ? 1 : 0;
    }
    // Images: tensors are copied into another layout, and batch norms read their input twice.
    const bool images = std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.op == Op::Conv; });
    if (!images) {
      EXPECT_LE(fused.launches.size(), eager.launches.size() + finished_apart) << info.name;
      EXPECT_LE(bytes(fused), bytes(eager)) << info.name;
    }
  }
}

}  // namespace
}  // namespace monet
