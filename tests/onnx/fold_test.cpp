// Are the shape computations that exporters write folded away, whatever the batch?
#include "support/expect_error.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

namespace monet::onnx {
namespace {

using test::attr;
using test::OnnxModel;

Shape output_shape(const NetworkGraph& network) {
  return network.graph.outputs.empty() ? Shape{} : network.graph[network.graph.outputs[0]].type.shape;
}

// x [batch, sequence, 12] with heads split off by the numbers of its own shape, as the tracing exporter does it.
OnnxModel split_heads() {
  OnnxModel model;
  model.input("x", {"batch", "sequence", 12});
  for (const std::int64_t axis : {0, 1}) {
    const std::string n = std::to_string(axis);
    model.node("Shape", {"x"}, {"shape" + n});
    model.constant("index" + n, test::int64_tensor("", {}, {axis}));
    model.node("Gather", {"shape" + n, "index" + n}, {"size" + n}, {attr("axis", 0)});
    model.constant("axes" + n, test::int64_vector("", {0}));
    model.node("Unsqueeze", {"size" + n, "axes" + n}, {"vector" + n});
  }
  model.constant("heads", test::int64_vector("", {3}));
  model.constant("rest", test::int64_vector("", {-1}));
  model.node("Concat", {"vector0", "vector1", "heads", "rest"}, {"target"}, {attr("axis", 0)});
  model.node("Reshape", {"x", "target"}, {"y"});
  model.output("y");
  return model;
}

TEST(FoldFile, ShapeGatherConcatReshape) {
  for (const std::int64_t batch : {1, 2, 17, 1024}) {
    for (const std::int64_t sequence : {1, 5, 512}) {
      const NetworkGraph network = split_heads().network({.batch = batch, .dimensions = {{"sequence", sequence}}});
      EXPECT_EQ(output_shape(network), (Shape{batch, sequence, 3, 4}));
      EXPECT_EQ(network.graph.nodes().size(), 1);
      EXPECT_EQ(network.graph.tensors().size(), 2);
    }
  }
}

TEST(FoldFile, ArithmeticOnShapes) {
  // [batch, c, h, w] to [batch * c / 2, 2 * h * w] by Mul, Div, Cast, Slice and ReduceProd.
  OnnxModel model;
  model.input("x", {"batch", 4, 5, 6});
  model.node("Shape", {"x"}, {"shape"});
  for (const std::int64_t n : {0, 2, 4}) model.constant("i" + std::to_string(n), test::int64_vector("", {n}));
  model.node("Slice", {"shape", "i0", "i2", "i0"}, {"outer"});
  model.node("Slice", {"shape", "i2", "i4", "i0"}, {"inner"});
  for (const char* part : {"outer", "inner"})
    model.node("ReduceProd", {part}, {std::string(part) + "_count"}, {attr("axes", {0}), attr("keepdims", 1)});
  model.node("Cast", {"outer_count"}, {"real"}, {attr("to", 1)});
  model.constant("two", test::float_scalar("", 2));
  model.node("Div", {"real", "two"}, {"half"});
  model.node("Floor", {"half"}, {"floor"});
  model.node("Cast", {"floor"}, {"rows"}, {attr("to", 7)});
  model.node("Mul", {"inner_count", "i2"}, {"columns"});
  model.node("Concat", {"rows", "columns"}, {"target"}, {attr("axis", 0)});
  model.node("Reshape", {"x", "target"}, {"y"});
  model.output("y");
  for (const std::int64_t batch : {1, 3, 8}) {
    const NetworkGraph network = model.network({.batch = batch});
    EXPECT_EQ(output_shape(network), (Shape{batch * 2, 60}));
    EXPECT_EQ(network.graph.nodes().size(), 1);
  }
}

TEST(FoldFile, ExpandWhereEqual) {
  // Expand with -1 replaced by 1, as the exporter writes torch.expand: Where(Equal(sizes, -1), 1, sizes).
  OnnxModel model;
  model.input("x", {"batch", 1, 4});
  model.constant("sizes", test::int64_vector("", {-1, 3, 4}));
  model.constant("three", test::int64_vector("", {3}));
  model.node("ConstantOfShape", {"three"}, {"ones"}, {attr("value", test::int64_vector("", {1}))});
  model.constant("minus", test::int64_tensor("", {}, {-1}));
  model.node("Mul", {"ones", "minus"}, {"negative"});
  model.node("Equal", {"sizes", "negative"}, {"open"});
  model.node("Where", {"open", "ones", "sizes"}, {"target"});
  model.node("Expand", {"x", "target"}, {"y"});
  model.output("y");
  EXPECT_EQ(output_shape(model.network({.batch = 6})), (Shape{6, 3, 4}));
}

// The causal mask of a sequence, built in the file.
OnnxModel causal(std::int64_t width) {
  OnnxModel model;
  model.input("x", {1, "sequence", width});
  model.node("Shape", {"x"}, {"length"}, {attr("start", 1), attr("end", 2)});
  model.node("Concat", {"length", "length"}, {"size"}, {attr("axis", 0)});
  model.node("ConstantOfShape", {"size"}, {"fill"}, {attr("value", test::float_tensor("", {1}, {-1e30F}))});
  model.constant("above", test::int64_tensor("", {}, {1}));
  model.node("Trilu", {"fill", "above"}, {"mask"}, {attr("upper", 1)});
  model.node("Transpose", {"x"}, {"xt"}, {attr("perm", {0, 2, 1})});
  model.node("MatMul", {"x", "xt"}, {"scores"});
  model.node("Add", {"scores", "mask"}, {"masked"});
  model.node("Softmax", {"masked"}, {"y"});
  model.output("y");
  return model;
}

TEST(FoldFile, AMaskOfAHundredThousandPositionsStaysAPattern) {
  const NetworkGraph network = causal(8).network({.dimensions = {{"sequence", 100'000}}});
  ASSERT_EQ(network.graph.constants.size(), 1);
  const Constant& mask = network.graph.constants.begin()->second;
  EXPECT_EQ(mask.pattern, Constant::Pattern::banded);
  EXPECT_EQ(mask.shape, (Shape{100'000, 100'000}));
  EXPECT_EQ(std::get<std::vector<double>>(mask.values).size(), 2);
}

TEST(FoldFile, TheSameMaskIsRightElementByElement) {
  const NetworkGraph network = causal(2).network({.dimensions = {{"sequence", 5}}});
  ASSERT_EQ(network.graph.constants.size(), 1);
  const Constant& mask = network.graph.constants.begin()->second;
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 5; ++column)
      EXPECT_EQ(mask.real_at(row * 5 + column) == 0, column <= row) << row << " " << column;
  }
}

TEST(FoldFile, TrainedVectorsAreNotFolded) {
  OnnxModel model;
  model.input("x", {2, 3});
  model.initializer(test::float_tensor("a", {3}, {1, 2, 3}));
  model.initializer(test::float_tensor("b", {3}, {1, 2, 3}));
  model.node("Add", {"a", "b"}, {"sum"});
  model.node("Relu", {"x"}, {"r"});
  model.node("Add", {"r", "sum"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network();
  EXPECT_EQ(network.graph.nodes().size(), 3);
  EXPECT_EQ(test::parameters_of(network.graph), 6);
}

TEST(FoldFile, OverflowIsNotFoldedAndSaidWhereAShapeNeedsIt) {
  OnnxModel model;
  model.input("x", {2, 3});
  model.constant("large", test::int64_vector("", {INT64_MAX}));
  model.node("Add", {"large", "large"}, {"wrapped"});
  model.node("Reshape", {"x", "wrapped"}, {"y"});
  model.output("y");
  test::expect_error(model.error(), {"'wrapped'", "decides a shape"}, "node 'y'");
}

TEST(FoldFile, FoldingHasABudget) {
  // 300 tables of 65536 numbers: more than are kept. What is not folded stays a node.
  OnnxModel model;
  model.constant("start", test::float_scalar("", 0));
  model.constant("end", test::float_scalar("", 65536));
  model.constant("one", test::float_scalar("", 1));
  for (int i = 0; i < 300; ++i) model.node("Range", {"start", "end", "one"}, {"v" + std::to_string(i)});
  const NetworkGraph network = model.network();
  EXPECT_GT(network.graph.nodes().size(), 0);
  EXPECT_LT(network.graph.nodes().size(), 300);
}

}  // namespace
}  // namespace monet::onnx
