// What is the user told about wrong inputs, initializers, attributes and options? One test for each message.
#include "support/expect_error.h"
#include "support/folder.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace monet::onnx {
namespace {

using test::attr;
using test::expect_error;
using test::make_node;
using test::OnnxDim;
using test::OnnxModel;

constexpr std::int64_t huge_size = std::int64_t{1} << 40;

OnnxModel unary(std::vector<OnnxDim> dims, std::string op = "Relu", std::vector<test::OnnxAttribute> attributes = {}) {
  OnnxModel model;
  model.input("x", std::move(dims));
  model.node(std::move(op), {"x"}, {"y"}, std::move(attributes));
  model.output("y");
  return model;
}

// Reshape with a target that the test brings.
OnnxModel reshape(test::OnnxTensor target) {
  OnnxModel model;
  model.input("x", {2, 6});
  model.initializer(std::move(target));
  model.node("Reshape", {"x", "shape"}, {"y"});
  model.output("y");
  return model;
}

TEST(InputErrors, NoShape) {
  OnnxModel model = unary({2});
  model.inputs[0].has_shape = false;
  expect_error(model.error(), {"input 'x'", "no shape"});
}

TEST(InputErrors, NoType) {
  OnnxModel model = unary({2});
  model.inputs[0].kind = test::OnnxValue::Kind::none;
  expect_error(model.error(), {"input 'x'", "without a type"});
}

TEST(InputErrors, Sequence) {
  OnnxModel model = unary({2});
  model.inputs[0].kind = test::OnnxValue::Kind::sequence;
  expect_error(model.error(), {"input 'x'", "a sequence, not a tensor"});
}

TEST(InputErrors, StringsAndUnknownTypes) {
  for (const std::int32_t type : {test::onnx_string, test::OnnxType{0}, test::OnnxType{14}, test::OnnxType{99}}) {
    OnnxModel model = unary({2});
    model.inputs[0].type = type;
    expect_error(model.error(), {"input 'x'", "element type " + std::to_string(type)});
  }
}

TEST(InputErrors, ZeroAndNegativeSizes) {
  expect_error(unary({3, 0}).error(), {"input 'x'", "size 0 on axis 1"});
  expect_error(unary({-1, 3}).error(), {"input 'x'", "size -1 on axis 0"});
}

TEST(InputErrors, MoreElementsThanCanBeCounted) {
  expect_error(unary({huge_size, huge_size}).error(), {"input 'x'", "more elements than can be counted"});
  expect_error(unary({huge_size, 8192}).error(), {"more elements than can be counted"});
  expect_error(unary({"batch", huge_size}).error({.dimensions = {{"batch", huge_size}}}), {"more elements"});
}

TEST(InitializerErrors, NegativeSize) {
  OnnxModel model = unary({2});
  model.initializer(test::external("w", {3, -4}));
  expect_error(model.error(), {"initializer 'w'", "3x-4", "negative size"});
}

TEST(InitializerErrors, MoreElementsThanCanBeCounted) {
  OnnxModel model = unary({2});
  model.initializer(test::external("w", {huge_size, huge_size}));
  expect_error(model.error(), {"initializer 'w'", "more elements than can be counted"});
}

TEST(InitializerErrors, Strings) {
  OnnxModel model = unary({2});
  model.initializer(test::external("w", {3}, test::onnx_string));
  expect_error(model.error(), {"initializer 'w'", "element type 8"});
}

TEST(AttributeErrors, WrongType) {
  expect_error(unary({2}, "LeakyRelu", {attr("alpha", 1)}).error(), {"'alpha'", "wrong type"}, "node 'y'");
  expect_error(unary({2, 2}, "Transpose", {attr("perm", 1)}).error(), {"'perm'", "wrong type"}, "node 'y'");
  expect_error(unary({2, 2}, "Softmax", {attr("axis", 1.0)}).error(), {"'axis'", "wrong type"}, "node 'y'");
  expect_error(unary({2, 2}, "Softmax", {attr("axis", "last")}).error(), {"'axis'", "wrong type"}, "node 'y'");
}

TEST(AttributeErrors, AxisOutOfRange) {
  expect_error(unary({2, 2}, "Softmax", {attr("axis", 2)}).error(), {"axis 2", "2 axes"}, "node 'y'", false);
  expect_error(unary({2, 2}, "Softmax", {attr("axis", -3)}).error(), {"axis -3", "2 axes"}, "node 'y'", false);
  expect_error(unary({2, 2}, "ReduceMean", {attr("axes", {0, -2})}).error(), {"axis twice"}, "node 'y'", false);
}

TEST(AttributeErrors, UnknownAttributeIsAWarning) {
  const NetworkGraph network = unary({2}, "Relu", {attr("inplace", 1)}).network();
  ASSERT_EQ(network.warnings.size(), 1);
  EXPECT_NE(network.warnings[0].find("'inplace' is not known"), std::string::npos);
  EXPECT_NE(network.warnings[0].find("node 'y' (Relu)"), std::string::npos);
}

TEST(AttributeErrors, ConstantWithoutAValue) {
  OnnxModel model = unary({2});
  model.node("Constant", {}, {"c"});
  expect_error(model.error(), {"no value"}, "node 'c'");
}

TEST(NodeErrors, MissingInput) {
  OnnxModel model = unary({2, 2}, "MatMul");
  expect_error(model.error(), {"input 2", "missing"}, "node 'y' (MatMul)", false);
  model.nodes[0] = make_node("Softmax", {""}, {"y"});
  expect_error(model.error(), {"needs input 1", "missing"}, "node 'y'", false);
  model.nodes[0] = make_node("Reshape", {"x"}, {"y"});
  expect_error(model.error(), {"needs input 2", "missing"}, "node 'y'");
}

TEST(NodeErrors, ShapesThatDoNotFit) {
  OnnxModel model = unary({2, 3});
  model.input("z", {4, 5});
  model.node("Add", {"x", "z"}, {"sum"});
  expect_error(model.error(), {"cannot broadcast 2x3 with 4x5"}, "node 'sum' (Add)", false);
}

TEST(NodeErrors, ShapeThatDependsOnData) {
  OnnxModel model = unary({2, 6});
  model.input("target", {2}, test::onnx_int64);
  model.node("Reshape", {"x", "target"}, {"r"});
  const Error error = model.error();
  expect_error(error, {"'target'", "depends on data"}, "node 'r' (Reshape)");
  EXPECT_NE(error.advice.find("--dim"), std::string::npos);
}

TEST(NodeErrors, ConstantThatDependsOnData) {
  OnnxModel model = unary({2, 2, 4, 4});
  model.input("scales", {4});
  model.node("Resize", {"x", "", "scales"}, {"r"});
  expect_error(model.error(), {"'scales'", "depends on data"}, "node 'r' (Resize)");
}

TEST(NodeErrors, ReshapeThatDoesNotFit) {
  expect_error(reshape(test::int64_vector("shape", {5, -1})).error(), {"2x6", "5x-1"}, "node 'y'", false);
  expect_error(reshape(test::int64_vector("shape", {-1, -1})).error(), {"2x6"}, "node 'y'", false);
  expect_error(reshape(test::int64_vector("shape", {3, 5})).error(), {"2x6"}, "node 'y'", false);
}

TEST(NodeErrors, ImpossibleFill) {
  OnnxModel model = unary({2});
  model.initializer(test::int64_vector("shape", {huge_size, huge_size}));
  model.node("ConstantOfShape", {"shape"}, {"c"});
  expect_error(model.error(), {"impossible"}, "node 'c'", false);
}

TEST(ValueErrors, RawDataOfTheWrongLength) {
  test::OnnxTensor target = test::int64_vector("shape", {3, 4});
  target.raw.pop_back();
  expect_error(reshape(target).error(), {"'shape'", "should have 2 values"}, "node 'y'");
  OnnxModel model = unary({2});
  model.constant("c", target);
  expect_error(model.error(), {"should have 2 values"}, "node 'c'");
}

TEST(ValueErrors, FieldsOfTheWrongLengthOrKind) {
  OnnxModel model = unary({2});
  model.constant("c", test::int64_fields("t", {3}, {1, 2}));
  expect_error(model.error(), {"should have 3 values"}, "node 'c'");
  test::OnnxTensor mixed = test::int64_fields("t", {2}, {});
  mixed.float_data = {1, 2};
  model.nodes.back().attributes = {attr("value", mixed)};
  expect_error(model.error(), {"should have 2 values"}, "node 'c'");
  test::OnnxTensor reversed = test::float_fields("t", {2}, {});
  reversed.int64_data = {1, 2};
  model.nodes.back().attributes = {attr("value", reversed)};
  expect_error(model.error(), {"should have 2 values"}, "node 'c'");
}

TEST(ValueErrors, StringsInAConstant) {
  OnnxModel model = unary({2});
  test::OnnxTensor text = test::float_fields("t", {2}, {});
  text.type = test::onnx_string;
  model.constant("c", text);
  expect_error(model.error(), {"element type 8"}, "node 'c'", false);
}

TEST(OptionErrors, UnknownDimension) {
  const OnnxModel model = unary({"batch", "sequence", 4});
  Error error = model.error({.dimensions = {{"sequense", 3}}});
  expect_error(error, {"no symbolic dimension 'sequense'"});
  EXPECT_EQ(error.advice, "did you mean 'sequence'?");
  error = model.error({.dimensions = {{"width", 3}}});
  EXPECT_EQ(error.advice, "it has batch, sequence");
  error = unary({2, 3}).error({.dimensions = {{"width", 3}}});
  EXPECT_EQ(error.advice, "all its dimensions are fixed");
}

TEST(OptionErrors, DimensionThatIsNotPositive) {
  expect_error(unary({"n"}).error({.dimensions = {{"n", 0}}}), {"'n' cannot be 0"});
  expect_error(unary({"n"}).error({.dimensions = {{"n", -2}}}), {"'n' cannot be -2"});
}

TEST(OptionErrors, DimensionGivenTwice) {
  const OnnxModel model = unary({"n"});
  expect_error(model.error({.dimensions = {{"n", 2}, {"n", 3}}}), {"'n' is given twice"});
  EXPECT_EQ(model.network({.dimensions = {{"n", 2}, {"n", 2}}}).graph.tensors()[0].type.shape, Shape{2});
}

TEST(OptionErrors, BatchThatIsNotPositive) {
  expect_error(unary({"n"}).error({.batch = 0}), {"batch of 0 is impossible"});
  expect_error(unary({2}).error({.batch = -3}), {"batch of -3 is impossible"});
}

TEST(OptionErrors, BatchAndDimensionDisagree) {
  const OnnxModel model = unary({"n", 3});
  expect_error(model.error({.batch = 2, .dimensions = {{"n", 3}}}), {"--batch and --dim n disagree"});
  EXPECT_EQ(model.network({.batch = 3, .dimensions = {{"n", 3}}}).graph.tensors()[0].type.shape, (Shape{3, 3}));
}

TEST(OptionErrors, BatchWithoutInputs) {
  OnnxModel model;
  model.initializer(test::external("w", {2, 2}));
  model.node("Relu", {"w"}, {"y"});
  model.output("y");
  expect_error(model.error({.batch = 2}), {"no input with a batch axis"});
}

TEST(OptionErrors, BatchOfAFileWithAnImpossibleOne) { expect_error(unary({0, 3}).error({.batch = 2}), {"batch of 0"}); }

TEST(OptionErrors, BatchThatIsBakedInTooFirmly) {
  OnnxModel model = unary({2, 3});
  model.initializer(test::external("table", {2, 3}));
  model.node("Add", {"y", "table"}, {"sum"});
  const Error error = model.error({.batch = 5});
  expect_error(error, {"fixed to a batch of 2 and cannot be given 5", "5x3 with 2x3"}, "node 'sum' (Add)");
  EXPECT_NE(error.advice.find("dynamic batch"), std::string::npos);
}

TEST(OptionErrors, UnboundDimensionsAreOneAndSaidSo) {
  const NetworkGraph network = unary({"batch", ""}).network();
  EXPECT_EQ(network.graph.tensors()[0].type.shape, (Shape{1, 1}));
  ASSERT_EQ(network.notes.size(), 2);
  EXPECT_EQ(network.notes[0], "dimension 'batch' is not given and taken as 1");
  EXPECT_EQ(network.notes[1], "dimension 'x:1' is not given and taken as 1");
  EXPECT_EQ(unary({"batch", ""}).network({.batch = 2, .dimensions = {{"x:1", 7}}}).graph.tensors()[0].type.shape,
            (Shape{2, 7}));
}

TEST(FileErrors, NameTheFileAndTheNode) {
  const test::Folder folder;
  const std::string path = folder / "net.onnx";
  std::ofstream(path, std::ios::binary) << unary({2}, "Rellu").bytes();
  const auto network = read(path, {});
  ASSERT_FALSE(network.has_value());
  EXPECT_EQ(network.error().place, path + ": node 'y' (Rellu)");
  std::filesystem::remove(path);
  const auto absent = read(path, {});
  ASSERT_FALSE(absent.has_value());
  expect_error(absent.error(), {"cannot open"}, path);
}

}  // namespace
}  // namespace monet::onnx
