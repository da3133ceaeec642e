// From operators to problems, and loops that may be one.
#include "mapping/extract.h"

#include "graph/builder.h"
#include "mapping/random_cases.h"
#include "networks/builtin.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

// Two tensors of one shape are two operands, however alike.
TEST(Extract, KeepsEveryTensorThatIsRead) {
  const auto graph = build_builtin("resnet18", 1);
  ASSERT_TRUE(graph);
  std::size_t additions = 0;
  for (const Node& node : graph->nodes()) {
    const OperatorNests nests = nests_of(site_of(*graph, node));
    const auto problems = problems_of(*graph, node);
    ASSERT_EQ(problems.size(), nests.nests.size());
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Nest& nest = nests.nests[i];
      EXPECT_EQ(problems[i].operands.size(), nest.reads.size() + nest.writes.size()) << node.name;
      EXPECT_EQ(problems[i].points(), static_cast<double>(*points(nest))) << node.name;
    }
    additions += node.op == Op::Add;
  }
  EXPECT_EQ(additions, 8U);
}

// Only products change, and only their rate.
TEST(Extract, CostsProductsAtAnotherPrecision) {
  const auto graph = build_builtin("mlp-robotics", 3);
  ASSERT_TRUE(graph);
  std::size_t products = 0;
  for (const Node& node : graph->nodes()) {
    const auto usual = problems_of(*graph, node);
    const auto found = problems_of(*graph, node, {.precision = {}, .products = "tf32"});
    ASSERT_EQ(found.size(), usual.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool product = found[i].per_point[Count::mac] > 0;
      EXPECT_EQ(found[i].precision, product ? "tf32" : usual[i].precision) << node.name;
      for (std::size_t o = 0; o < found[i].operands.size(); ++o) {
        EXPECT_EQ(found[i].operands[o].bits, usual[i].operands[o].bits);
      }
      products += product ? 1 : 0;
    }
  }
  EXPECT_EQ(products, 4U);
}

// Every element of every operand, as the shapes say.
TEST(Extract, KnowsTheSizesOfOperands) {
  const auto graph = build_builtin("mlp-robotics", 3);
  ASSERT_TRUE(graph);
  for (const Node& node : graph->nodes()) {
    const auto problems = problems_of(*graph, node);
    if (problems.empty()) continue;
    std::vector<double> extents;
    for (const Loop& loop : problems.back().loops) extents.push_back(static_cast<double>(loop.size));
    const ProblemOperand& output = problems.back().operands.back();
    EXPECT_TRUE(output.written);
    EXPECT_EQ(elements(output, extents), static_cast<double>(element_count((*graph)[node.outputs[0]].type.shape)))
        << node.name;
  }
}

Attributes plain_product() {
  return {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
}

// y = x w, both quantized to a format.
Graph quantized_product(const Shape& x, const Shape& w, const std::string& of_x, const std::string& of_w) {
  GraphBuilder builder("product");
  const TensorId left = builder.add(Op::Quantize, "qx", {builder.input("x", x)}, {{Attr::format, of_x}});
  const TensorId right = builder.add(Op::Quantize, "qw", {builder.parameter("w", w)}, {{Attr::format, of_w}});
  const TensorId product = builder.add(Op::MatMul, "y", {left, right}, plain_product());
  builder.edit()[product].type.format = {};  // sums are plain
  builder.output(product);
  auto graph = builder.finish();
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *std::move(graph) : Graph();
}

// 4 rows of each of 4 matrices fill squares of 8 by half; as 16 rows of one they would fill them, but are not stored
// so.
TEST(Extract, AViewOfBlocksIsAsWideAsWhatIsStored) {
  GraphBuilder builder("view");
  const TensorId x = builder.input("x", {4, 4, 64});
  const TensorId w = builder.input("w", {64, 32});
  const TensorId rows = builder.add(Op::Reshape, "rows", {x}, {{Attr::shape, std::vector<std::int64_t>{16, 64}}});
  const TensorId again =
      builder.add(Op::Reshape, "again", {rows}, {{Attr::shape, std::vector<std::int64_t>{2, 8, 64}}});
  builder.output(builder.add(Op::MatMul, "product", {again, w}));
  for (const TensorId id : {x, w, rows, again}) {
    builder.edit()[id].type.format = *parse_format("int8:e8m0/8x8@-1");
  }
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  const auto problems = problems_of(*graph, graph->nodes().back());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_DOUBLE_EQ(problems[0].operands[0].bits, 8.125 * 2);
  EXPECT_DOUBLE_EQ(problems[0].operands[1].bits, 8.125);
}

// An element has its share of the scales, and of what fills groups up: together they are bytes() of the tensor.
TEST(Extract, ElementsOfBlocksHaveTheirShareOfTheScales) {
  struct Row {
    const char* format;
    std::int64_t rows, depth;
    double bits;
    const char* precision;
  };
  for (const Row& row :
       {Row{"fp8e4m3:e8m0/32@-1", 4, 64, 8.25, "mxfp8"}, Row{"fp4e2m1:e8m0/32@-1", 4, 64, 4.25, "mxfp4"},
        Row{"fp6e3m2:e8m0/8x8@-1", 16, 64, 6.125, "mxfp6"}, Row{"int8:e8m0/8x8@-1", 16, 64, 8.125, "mxint8"},
        Row{"int8:e8m0/16@-1+1/2", 4, 64, 9, "mx9"}, Row{"int8:fp32/tensor", 4, 64, 8 + 32.0 / 256, "int8"},
        Row{"fp8e5m2", 4, 64, 8, "fp8e5m2"},
        // 40 elements are two groups of 32; 4 rows are one of 8.
        Row{"fp8e4m3:e8m0/32@-1", 4, 40, 8.25 * 64 / 40, "mxfp8"},
        Row{"int8:e8m0/8x8@-1", 4, 64, 8.125 * 2, "mxint8"}}) {
    const Graph graph = quantized_product({row.rows, row.depth}, {row.depth, 32}, row.format, row.format);
    const Node& product = graph.nodes().back();
    const auto problems = problems_of(graph, product);
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].precision, row.precision) << row.format;
    const ProblemOperand& x = problems[0].operands[0];
    EXPECT_DOUBLE_EQ(x.bits, row.bits) << row.format;
    const TensorType& type = graph[product.inputs[0]].type;
    EXPECT_EQ(x.bits_in(MemoryKind::registers), bits_of(type.format.element)) << row.format;
    EXPECT_EQ(x.bits_in(MemoryKind::sram), x.bits) << row.format;
    EXPECT_NEAR(x.bits * static_cast<double>(element_count(type.shape)),
                8 * static_cast<double>(bytes(type.shape, type.format)), 1e-6)
        << row.format;
    EXPECT_EQ(problems[0].operands.back().bits, 32);
  }
}

TEST(Extract, TheWidestOperandNamesTheNumbers) {
  const auto precision = [](const char* x, const char* w) {
    const Graph graph = quantized_product({8, 64}, {64, 32}, x, w);
    return problems_of(graph, graph.nodes().back())[0].precision;
  };
  EXPECT_EQ(precision("fp4e2m1:e8m0/32@-1", "fp8e4m3:e8m0/32@-2"), "mxfp8");
  EXPECT_EQ(precision("fp8e4m3:e8m0/32@-1", "bf16"), "bf16");
  EXPECT_EQ(precision("fp8e4m3", "fp8e5m2"), "fp8e4m3");
  // Integers that share one scale are worked on as integers.
  EXPECT_EQ(precision("int8:fp32/tensor", "int32"), "int32");
  EXPECT_EQ(precision("int8:fp32/tensor", "int8:fp32/channel@-1"), "int8");
  EXPECT_EQ(precision("int8:fp32/tensor", "int8:e8m0/32@-2"), "mxint8");
}

// A power of two is a shift: neither a scale nor a learning rate makes integers floating point. Another scale does.
TEST(Extract, IntegersWithPowersOfTwoStayIntegers) {
  const auto precisions = [](const std::string& from, const std::string& to) {
    GraphBuilder builder("requantize");
    const TensorId x = builder.input("x", {4, 8});
    builder.edit()[x].type.format = *parse_format(from);
    builder.output(builder.add(Op::Quantize, "q", {x}, {{Attr::format, to}}));
    auto graph = builder.finish();
    EXPECT_TRUE(graph) << graph.error().text();
    std::vector<std::string> found;
    for (const Problem& problem : problems_of(*graph, graph->nodes().back())) found.push_back(problem.precision);
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(precisions("int32:e8m0/tensor", "int8:e8m0/tensor"), (Names{"int32", "int32"}));
  EXPECT_EQ(precisions("int32", "int8:e8m0/channel@-1"), (Names{"int32", "int32"}));
  EXPECT_EQ(precisions("int32:fp32/tensor", "int8:fp32/tensor"), (Names{"int32", "fp32"}));
  EXPECT_EQ(precisions("fp32", "int8:e8m0/tensor"), (Names{"fp32", "fp32"}));
  EXPECT_EQ(precisions("int32", "int8:e8m0/32@-1"), (Names{"int32"}));

  GraphBuilder builder("update");
  const TensorId w = builder.parameter("w", {4, 8});
  builder.edit()[w].type.format = *parse_format("int8:e8m0/tensor");
  const TensorId scaled = builder.add(Op::Mul, "scaled", {w, builder.scalar(ElementType::float32, 0.5)});
  builder.output(scaled);
  const auto graph = builder.finish();
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(problems_of(*graph, graph->nodes().back())[0].precision, "int8");
}

TEST(Coalesce, LeavesALoopThatTwoAxesFollow) {
  using enum Dim;
  // x[a, b, b + c]
  const Problem problem = problem_from({{{B, 4}, {D, 6}, {FX, 3}},
                                        {{Path::input, {{{{B, 1}}}, {{{D, 1}}}, {{{D, 1}, {FX, 1}}}}},
                                         {Path::output, {{{{B, 1}}}, {{{D, 1}}}, {{{FX, 1}}}}}}});
  const Problem joined = coalesce(problem, Unit{});
  EXPECT_EQ(joined, problem);
}

TEST(Coalesce, LeavesLoopsThatAreNamedOrThatTheUnitTellsApart) {
  const Problem problem = broadcast_add(6, 8);
  Problem same = problem;
  same.operands.erase(same.operands.begin() + 1);  // no broadcast: both loops alike
  EXPECT_EQ(coalesce(same, Unit{}).loops.size(), 1U);
  EXPECT_EQ(coalesce(same, Unit{}).loops[0].size, 48);
  EXPECT_EQ(coalesce(problem, Unit{}), problem);
  const Dim named[] = {Dim::K};
  EXPECT_EQ(coalesce(same, Unit{}, named), same);
  // A dimension for one of two loops that run over the rows of a product tells them apart.
  same.per_point = {};
  same.per_point[Count::mac] = 1;
  same.loops = {{Dim::OY, 6}, {Dim::OX, 8}};
  EXPECT_EQ(coalesce(same, Unit{.dimensions = {{"D1", 8, {Dim::OX}}}}), same);
  EXPECT_EQ(coalesce(same, Unit{.dimensions = {{"D1", 8, {Dim::OX, Dim::OY}}}}).loops.size(), 1U);
}

}  // namespace
}  // namespace monet
