// Is every sequence of bytes either a model or an error?
#include "onnx/wire.h"

#include "onnx/model.h"
#include "onnx/values.h"
#include "support/onnx_builder.h"

#include <gtest/gtest.h>

#include <random>

namespace monet::onnx {
namespace {

using test::attr;
using test::OnnxModel;

// A bit of everything that the decoder knows.
OnnxModel rich_model() {
  OnnxModel model;
  model.opsets = {{"", 17}, {"local", 1}};
  model.input("x", {"batch", 4, ""});
  model.initializer(test::float_tensor("w", {1, 2}, {1, 2}));
  model.initializer(test::int64_fields("shape", {2}, {1, -1}, false));
  model.initializer(test::external("table", {3, 3}));
  model.node("Twice", {"x"}, {"t"}, {attr("alpha", 0.5)}).domain = "local";
  model.node("Reshape", {"t", "shape"}, {"r"}).metadata = {{"key", "value"}};
  model.node("Gemm", {"r", "w"}, {"y"}, {attr("transB", 1), attr("note", "text"), attr("list", {1, 2, 3})});
  model.output("y");
  model.inner_values.push_back({"r", {1, 4}, test::onnx_float, test::OnnxValue::Kind::tensor, true});
  model.functions.push_back({.name = "Twice",
                             .domain = "local",
                             .overload = {},
                             .inputs = {"a"},
                             .outputs = {"b"},
                             .nodes = {test::make_node("LeakyRelu", {"a"}, {"b"},
                                                       {attr("alpha", test::OnnxAttribute::Reference{"alpha", 1})})},
                             .attributes = {"alpha"},
                             .defaults = {}});
  model.graph_metadata = {{"key", "value"}};
  return model;
}

// Whatever comes, it is not our fault, and an error says something.
void expect_model_or_error(std::string_view bytes) {
  const auto network = read_bytes(bytes, "no-such-folder", {});
  if (network) return;
  EXPECT_EQ(network.error().kind, ErrorKind::user) << network.error().text();
  EXPECT_FALSE(network.error().message.empty());
}

TEST(Decode, AnEmptyFileIsSaidToBeEmpty) {
  const auto model = decode_model({});
  ASSERT_FALSE(model.has_value());
  EXPECT_EQ(model.error().message, "the file is empty");
  EXPECT_FALSE(model.error().advice.empty());
}

TEST(Decode, AFileWithoutAGraphIsNoModel) {
  std::string bytes;
  protozero::pbf_writer(bytes).add_int64(1, 8);
  const auto model = decode_model(bytes);
  ASSERT_FALSE(model.has_value());
  EXPECT_NE(model.error().message.find("no graph"), std::string::npos);
}

TEST(Decode, EveryPrefixIsAModelOrAnError) {
  const std::string bytes = rich_model().bytes();
  for (std::size_t length = 0; length <= bytes.size(); ++length)
    expect_model_or_error(std::string_view(bytes).substr(0, length));
}

TEST(Decode, EveryChangedByteIsAModelOrAnError) {
  std::string bytes = rich_model().bytes();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char original = bytes[at];
    for (const int value : {0, 1, 0x7f, 0x80, 0xff, original + 1, original ^ 8}) {
      bytes[at] = static_cast<char>(value);
      expect_model_or_error(bytes);
    }
    bytes[at] = original;
  }
}

TEST(Decode, RandomBytesAreAnError) {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    expect_model_or_error(bytes);
  }
}

TEST(Decode, WrongWireTypesAreAnError) {
  // Fields that must be messages or text, as numbers: graph, opset, metadata, functions, producer.
  for (const std::uint32_t field : {2U, 7U, 8U, 14U, 25U}) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_int64(field, 3);
    const auto model = decode_model(bytes);
    ASSERT_FALSE(model.has_value()) << field;
    EXPECT_NE(model.error().message.find("well-formed"), std::string::npos);
  }
  std::string bytes;
  protozero::pbf_writer(bytes).add_string(1, "eight");  // the IR version
  EXPECT_FALSE(decode_model(bytes).has_value());
}

TEST(Decode, RepeatedNumbersMayBePackedOrNot) {
  for (const bool packed : {true, false}) {
    OnnxModel model;
    model.initializer(test::int64_fields("i", {2, 3}, {1, -2, 3, 4, 5, 6}, packed));
    model.initializer(test::float_fields("f", {2}, {0.5F, -1}, packed));
    auto integers = attr("ints", {7, -8});
    auto reals = attr("floats", std::vector<double>{0.25, 2});
    integers.packed = reals.packed = packed;
    model.node("Relu", {"f"}, {"y"}, {integers, reals});
    const std::string bytes = model.bytes();
    const auto raw = decode_model(bytes);
    ASSERT_TRUE(raw.has_value());
    EXPECT_EQ(raw->graph.initializers[0].dims, (Shape{2, 3}));
    const auto values = decode_values(raw->graph.initializers[0], "");
    ASSERT_TRUE(values && *values);
    EXPECT_EQ(std::get<std::vector<std::int64_t>>((*values)->values), (Shape{1, -2, 3, 4, 5, 6}));
    const auto real_values = decode_values(raw->graph.initializers[1], "");
    ASSERT_TRUE(real_values && *real_values);
    EXPECT_EQ(std::get<std::vector<double>>((*real_values)->values), (std::vector<double>{0.5, -1}));
    EXPECT_EQ(raw->graph.nodes[0].attributes[0].integers, (Shape{7, -8}));
    EXPECT_EQ(raw->graph.nodes[0].attributes[1].reals, (std::vector<double>{0.25, 2}));
  }
}

TEST(Decode, EveryPartOfAModelArrives) {
  const std::string bytes = rich_model().bytes();
  const auto raw = decode_model(bytes);
  ASSERT_TRUE(raw.has_value()) << raw.error().text();
  EXPECT_EQ(raw->graph.nodes.size(), 3);
  EXPECT_EQ(raw->graph.nodes[0].domain, "local");
  EXPECT_EQ(raw->graph.nodes[1].metadata.size(), 1);
  EXPECT_EQ(raw->graph.inputs[0].dims[0].symbol, "batch");
  EXPECT_TRUE(raw->graph.inputs[0].dims[1].has_value);
  EXPECT_FALSE(raw->graph.inputs[0].dims[2].has_value);
  EXPECT_TRUE(raw->graph.initializers[2].external);
  EXPECT_EQ(raw->graph.initializers[2].location, "weights.bin");
  ASSERT_EQ(raw->functions.size(), 1);
  EXPECT_EQ(raw->functions[0].nodes[0].attributes[0].reference, "alpha");
  EXPECT_EQ(raw->opsets.size(), 2);
  EXPECT_EQ(raw->graph.metadata.size(), 1);
}

TEST(Decode, TheStandardDomainHasTwoNames) {
  OnnxModel model;
  model.opsets = {{"ai.onnx", 17}};
  model.input("x", {4});
  model.node("Relu", {"x"}, {"y"}).domain = "ai.onnx";
  model.output("y");
  EXPECT_EQ(test::count_of(model.network().graph, Op::Relu), 1);
}

}  // namespace
}  // namespace monet::onnx
