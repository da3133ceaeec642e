// Do the counts agree with the closed formulas in docs/model.md? One test for each equation there.
#include "graph/builder.h"
#include "graph/nests.h"

#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

// Operations of the last node of a graph.
Counts counts(GraphBuilder& builder) {
  const auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  if (!graph) return {};
  const auto total = operation_counts(nests_of(site_of(*graph, graph->nodes().back())));
  EXPECT_TRUE(total.has_value()) << total.error().text();
  return total ? *total : Counts{};
}

// Operations of one operator on inputs of these shapes.
Counts counts(Op op, const std::vector<Shape>& shapes, Attributes attributes = {}, std::size_t wanted = 1) {
  GraphBuilder builder("test");
  std::vector<TensorId> inputs;
  for (const Shape& shape : shapes) inputs.push_back(builder.input("x" + std::to_string(inputs.size()), shape));
  builder.output(builder.add_many(op, "node", inputs, std::move(attributes), wanted).front());
  return counts(builder);
}

Attributes filter_window(std::vector<std::int64_t> strides, std::vector<std::int64_t> pads, std::int64_t group) {
  return {{Attr::strides, std::move(strides)},
          {Attr::dilations, std::vector<std::int64_t>{1, 1}},
          {Attr::pads, std::move(pads)},
          {Attr::group, group}};
}

TEST(Model, ConvolutionMacs) {
  // B 2, C 6, K 8, G 2, 9x7 in, filter 3x3, stride 2, pad 1: 5x4 out. Padding is counted as if it were there.
  const Counts plain = counts(Op::Conv, {{2, 6, 9, 7}, {8, 3, 3, 3}}, filter_window({2, 2}, {1, 1, 1, 1}, 2));
  EXPECT_EQ(plain[Count::mac], 2 * 8 * 5 * 4 * (6 / 2) * 3 * 3);
  EXPECT_EQ(other_operations(plain), 0);
  const Counts biased = counts(Op::Conv, {{2, 6, 9, 7}, {8, 3, 3, 3}, {8}}, filter_window({2, 2}, {1, 1, 1, 1}, 2));
  EXPECT_EQ(biased[Count::mac], plain[Count::mac]);
  EXPECT_EQ(biased[Count::add], 2 * 8 * 5 * 4);
}

TEST(Model, TransposedConvolutionMacs) {
  // B 2, C 6, K 8, G 2, 5x4 in, filter 3x2, stride 2: every input element meets every filter element of its group.
  Attributes attributes = filter_window({2, 2}, {0, 0, 0, 0}, 2);
  attributes.set(Attr::output_padding, std::vector<std::int64_t>{0, 0});
  const Counts total = counts(Op::ConvTranspose, {{2, 6, 5, 4}, {6, 4, 3, 2}}, attributes);
  EXPECT_EQ(total[Count::mac], 2 * 6 * 5 * 4 * (8 / 2) * 3 * 2);
}

TEST(Model, MatrixProductMacs) {
  const Attributes straight = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  // Batch axes broadcast: 1x3 with 2x1 gives 2x3.
  const Counts total = counts(Op::MatMul, {{1, 3, 4, 5}, {2, 1, 5, 7}}, straight);
  EXPECT_EQ(total[Count::mac], (2 * 3) * 4 * 7 * 5);
  EXPECT_EQ(other_operations(total), 0);
}

TEST(Model, GemmOperations) {
  const auto attributes = [](double alpha, double beta) {
    return Attributes{
        {Attr::alpha, alpha}, {Attr::beta, beta}, {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}};
  };
  const std::vector<Shape> shapes = {{4, 5}, {7, 5}, {7}};
  const Counts plain = counts(Op::Gemm, shapes, attributes(1.0, 1.0));
  EXPECT_EQ(plain[Count::mac], 4 * 7 * 5);
  EXPECT_EQ(plain[Count::add], 4 * 7);
  EXPECT_EQ(plain[Count::multiply], 0);
  EXPECT_EQ(counts(Op::Gemm, shapes, attributes(0.5, 1.0))[Count::multiply], 4 * 7);
  EXPECT_EQ(counts(Op::Gemm, shapes, attributes(0.5, 2.0))[Count::multiply], 2 * 4 * 7);
}

TEST(Model, EinsumMacs) {
  const auto einsum = [](std::string equation, const std::vector<Shape>& shapes) {
    return counts(Op::Einsum, shapes, {{Attr::equation, std::move(equation)}});
  };
  EXPECT_EQ(einsum("bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}})[Count::mac], 2 * 3 * 4 * 5);
  EXPECT_EQ(einsum("ij,jk,kl->il", {{3, 4}, {4, 5}, {5, 6}})[Count::mac], 2 * 3 * 4 * 5 * 6);
  EXPECT_EQ(einsum("i,j->ij", {{3}, {4}})[Count::multiply], 3 * 4);
  EXPECT_EQ(einsum("ij->i", {{3, 4}})[Count::add], 3 * 4);
}

TEST(Model, AttentionMacs) {
  // B 2, H 6 heads that share G 3 heads of keys, S 5 queries, T 7 keys, E 8, F 4.
  const Counts total = counts(Op::Attention, {{2, 6, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 4}},
                              {{Attr::scale, 0.5}, {Attr::is_causal, std::int64_t{0}}});
  const std::int64_t scores = 2 * 6 * 5 * 7;
  EXPECT_EQ(total[Count::mac], scores * (8 + 4));
  EXPECT_EQ(total[Count::multiply], scores);
  EXPECT_EQ(total[Count::compare], scores);
  EXPECT_EQ(total[Count::exp], scores);
  EXPECT_EQ(total[Count::add], 2 * scores);
  EXPECT_EQ(total[Count::divide], scores);
}

TEST(Model, PoolOperations) {
  const Attributes attributes = {{Attr::kernel_shape, std::vector<std::int64_t>{3, 3}},
                                 {Attr::strides, std::vector<std::int64_t>{2, 2}},
                                 {Attr::dilations, std::vector<std::int64_t>{1, 1}},
                                 {Attr::pads, std::vector<std::int64_t>{1, 1, 1, 1}},
                                 {Attr::count_include_pad, std::int64_t{0}},
                                 {Attr::storage_order, std::int64_t{0}},
                                 {Attr::shape, std::vector<std::int64_t>{2, 4, 4, 4}}};
  const std::int64_t outputs = 2 * 4 * 4 * 4;
  EXPECT_EQ(counts(Op::MaxPool, {{2, 4, 8, 8}}, attributes)[Count::compare], outputs * 9);
  const Counts average = counts(Op::AveragePool, {{2, 4, 8, 8}}, attributes);
  EXPECT_EQ(average[Count::add], outputs * 9);
  EXPECT_EQ(average[Count::multiply], outputs);
}

TEST(Model, SoftmaxOperations) {
  const Counts total = counts(Op::Softmax, {{4, 10}}, {{Attr::axes, std::vector<std::int64_t>{1}}});
  EXPECT_EQ(total[Count::compare], 40);
  EXPECT_EQ(total[Count::exp], 40);
  EXPECT_EQ(total[Count::add], 2 * 40);
  EXPECT_EQ(total[Count::divide], 40);
}

TEST(Model, LayerNormalizationOperations) {
  // 4 rows of 10. Mean: sum, 1/n. Variance: difference, square, sum; 1/n, epsilon, root, reciprocal. Then difference,
  // deviation, scale, bias.
  const Counts total =
      counts(Op::LayerNormalization, {{4, 10}, {10}, {10}}, {{Attr::axis, std::int64_t{1}}, {Attr::epsilon, 1e-5}});
  EXPECT_EQ(total[Count::add], 40 + 2 * 40 + 4 + 2 * 40);
  EXPECT_EQ(total[Count::multiply], 4 + 40 + 4 + 2 * 40);
  EXPECT_EQ(total[Count::sqrt], 4);
  EXPECT_EQ(total[Count::divide], 4);
}

TEST(Model, BatchNormalizationOperations) {
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {3}, {3}, {3}, {3}};
  const auto attributes = [](std::int64_t training) {
    return Attributes{{Attr::epsilon, 1e-5}, {Attr::momentum, 0.9}, {Attr::training_mode, training}};
  };
  const std::int64_t elements = 2 * 3 * 4 * 5;
  const Counts inference = counts(Op::BatchNormalization, shapes, attributes(0));
  EXPECT_EQ(inference[Count::add], 3 + 2 * elements);
  EXPECT_EQ(inference[Count::multiply], 2 * elements);
  EXPECT_EQ(inference[Count::sqrt], 3);
  EXPECT_EQ(inference[Count::divide], 3);
  // Batch statistics: what layer normalization does, with channels as rows.
  const Counts training = counts(Op::BatchNormalization, shapes, attributes(1));
  EXPECT_EQ(training[Count::add], elements + 2 * elements + 3 + 2 * elements);
  EXPECT_EQ(training[Count::multiply], 3 + elements + 3 + 2 * elements);
  // Two running statistics of 3 channels.
  const Counts updating = counts(Op::BatchNormalization, shapes, attributes(1), 3);
  EXPECT_EQ(updating[Count::add], training[Count::add] + 2 * 3);
  EXPECT_EQ(updating[Count::multiply], training[Count::multiply] + 2 * 2 * 3);
}

TEST(Model, ReductionOperations) {
  const Attributes attributes = {{Attr::axes, std::vector<std::int64_t>{1}}, {Attr::keepdims, std::int64_t{0}}};
  const Counts mean = counts(Op::ReduceMean, {{4, 10}}, attributes);
  EXPECT_EQ(mean[Count::add], 40);
  EXPECT_EQ(mean[Count::multiply], 4);
  EXPECT_EQ(counts(Op::ReduceMax, {{4, 10}}, attributes)[Count::compare], 40);
}

TEST(Model, ElementwiseOperations) {
  EXPECT_EQ(counts(Op::Add, {{4, 10}, {10}})[Count::add], 40);
  EXPECT_EQ(counts(Op::Relu, {{4, 10}})[Count::compare], 40);
  const Counts gelu = counts(Op::Gelu, {{4, 10}}, {{Attr::approximate, std::string("none")}});
  EXPECT_EQ(gelu[Count::erf], 40);
  EXPECT_EQ(gelu[Count::multiply], 3 * 40);
}

TEST(Model, GatherMovesItsOutput) {
  GraphBuilder builder("test");
  const TensorId table = builder.parameter("table", {100, 8});
  const TensorId tokens = builder.input("tokens", {2, 5}, ElementType::int64);
  builder.output(builder.add(Op::Gather, "node", {table, tokens}, {{Attr::axis, std::int64_t{0}}}));
  const Counts total = counts(builder);
  EXPECT_EQ(total[Count::move], 2 * 5 * 8);
  EXPECT_EQ(other_operations(total), 0);
}

TEST(Model, ViewsCostNothing) {
  const Counts total = counts(Op::Transpose, {{4, 10}}, {{Attr::perm, std::vector<std::int64_t>{1, 0}}});
  EXPECT_EQ(total, Counts{});
}

TEST(Model, OtherOperationsLeaveOutMacsAndMoves) {
  Counts total;
  std::iota(total.of.begin(), total.of.end(), 1);
  const std::int64_t all = std::accumulate(total.of.begin(), total.of.end(), std::int64_t{0});
  EXPECT_EQ(other_operations(total), all - total[Count::mac] - total[Count::move]);
}

TEST(Model, CountsThatDoNotFitAreAnError) {
  GraphBuilder builder("test");
  const std::int64_t side = std::int64_t{1} << 25;
  const TensorId a = builder.input("a", {side, side});
  const TensorId b = builder.input("b", {side, side});
  builder.output(builder.add(Op::MatMul, "node", {a, b},
                             {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  EXPECT_FALSE(operation_counts(nests_of(site_of(*graph, graph->nodes().back()))).has_value());
}

TEST(Model, BytesOfElements) {
  const Shape shape = {3, 5};
  EXPECT_EQ(bytes(shape, {.element = ElementType::float32}), 60);
  EXPECT_EQ(bytes(shape, {.element = ElementType::bfloat16}), 30);
  EXPECT_EQ(bytes(shape, {.element = ElementType::boolean}), 15);
  EXPECT_EQ(bytes(shape, {.element = ElementType::int4}), 8);  // 7.5, rounded up
  EXPECT_EQ(bytes(Shape{}, {.element = ElementType::float32}), 4);
}

TEST(Model, BytesOfGroups) {
  // Rows of 40 are padded to 64, two groups of 32 each: 3 * 64 elements and 6 scales of a byte.
  const Format rows = {.element = ElementType::float8e4m3fn, .scale_bits = 8, .group_axis = -1, .group_size = 32};
  EXPECT_EQ(bytes(Shape{3, 40}, rows), 3 * 64 + 6);
  // Squares of 8x8: 3x40 is padded to 8x40, five squares.
  const Format squares = {
      .element = ElementType::float4e2m1, .scale_bits = 8, .group_axis = -1, .group_size = 8, .group_rows = 8};
  EXPECT_EQ(bytes(Shape{3, 40}, squares), 8 * 40 / 2 + 5);
}

}  // namespace
}  // namespace monet
