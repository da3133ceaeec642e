// Is each tensor of a file what it is: trained or not, and why?
#include "support/onnx_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace monet::onnx {
namespace {

using test::attr;
using test::external;
using test::OnnxModel;
using test::parameters_of;
using test::tensor_named;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const Tensor& tensor(const NetworkGraph& network, const std::string& name) {
  return network.graph[tensor_named(network.graph, name)];
}

void expect_trained(const NetworkGraph& network, const std::string& name) {
  EXPECT_EQ(tensor(network, name).role, Role::weight) << name;
  EXPECT_TRUE(tensor(network, name).parameter) << name;
  EXPECT_THAT(network.notes, Not(Contains(HasSubstr("'" + name + "'"))));
}

// A constant that a note explains.
void expect_not_trained(const NetworkGraph& network, const std::string& name, const std::string& reason) {
  EXPECT_EQ(tensor(network, name).role, Role::constant) << name;
  EXPECT_FALSE(tensor(network, name).parameter) << name;
  EXPECT_THAT(network.notes, Contains(testing::AllOf(HasSubstr("'" + name + "'"), HasSubstr(reason))));
}

TEST(Roles, WeightsAndBiasesAreTrained) {
  OnnxModel model;
  model.input("x", {1, 3, 8, 8});
  for (auto& [name, shape] : std::vector<std::pair<std::string, Shape>>{{"conv.weight", {4, 3, 3, 3}},
                                                                        {"conv.bias", {4}},
                                                                        {"fc.weight", {10, 144}},
                                                                        {"fc.bias", {10}},
                                                                        {"proj", {10, 6}},
                                                                        {"proj_bias", {6}}})
    model.initializer(external(name, shape));
  model.node("Conv", {"x", "conv.weight", "conv.bias"}, {"c"});
  model.node("Flatten", {"c"}, {"f"});
  model.node("Gemm", {"f", "fc.weight", "fc.bias"}, {"g"}, {attr("transB", 1)});
  model.node("MatMul", {"g", "proj"}, {"m"});
  model.node("Add", {"m", "proj_bias"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network();
  for (const char* name : {"conv.weight", "conv.bias", "fc.weight", "fc.bias", "proj", "proj_bias"})
    expect_trained(network, name);
  EXPECT_EQ(parameters_of(network.graph), 108 + 4 + 1440 + 10 + 60 + 6);
  EXPECT_EQ(tensor(network, "x").role, Role::input);
  EXPECT_EQ(tensor(network, "y").role, Role::activation);
  EXPECT_FALSE(network.is_training_step);
}

TEST(Roles, NormsHaveTrainedScalesAndStatistics) {
  OnnxModel model;
  model.input("x", {2, 4, 8, 8});
  for (const char* name : {"scale", "bias", "mean", "variance"}) model.initializer(external(name, {4}));
  model.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y", "new_mean", "new_variance"},
             {attr("training_mode", 1)});
  model.output("y");
  const NetworkGraph network = model.network();
  expect_trained(network, "scale");
  expect_trained(network, "bias");
  for (const char* name : {"mean", "variance"}) {
    EXPECT_EQ(tensor(network, name).role, Role::statistic);
    EXPECT_FALSE(tensor(network, name).parameter);
  }
  EXPECT_EQ(tensor(network, "new_mean").updates, tensor_named(network.graph, "mean"));
  EXPECT_EQ(tensor(network, "new_variance").role, Role::statistic);
}

TEST(Roles, AnEmbeddingTiedToTheOutputIsCountedOnce) {
  OnnxModel model;
  model.input("ids", {2, 5}, test::onnx_int64);
  model.initializer(external("table", {100, 8}));
  model.node("Gather", {"table", "ids"}, {"h"});
  model.node("Transpose", {"table"}, {"t"});
  model.node("MatMul", {"h", "t"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network();
  expect_trained(network, "table");
  EXPECT_EQ(parameters_of(network.graph), 800);
}

TEST(Roles, ATableOfNumbersIsNoEmbedding) {
  OnnxModel model;
  model.input("t", {2}, test::onnx_int64);
  model.initializer(external("schedule", {100}));
  model.node("Gather", {"schedule", "t"}, {"y"});
  model.output("y");
  expect_not_trained(model.network(), "schedule", "a table of numbers");
}

OnnxModel scores_with(const std::string& mask) {
  OnnxModel model;
  model.input("s", {2, 3, 4, 4});
  model.node("Relu", {"s"}, {"scores"});
  model.initializer(external(mask, {4, 4}));
  model.node("Add", {"scores", mask}, {"masked"});
  model.node("Softmax", {"masked"}, {"y"});
  model.output("y");
  return model;
}

TEST(Roles, AMaskAddedToScoresIsNotTrained) {
  expect_not_trained(scores_with("triangle").network(), "triangle", "a mask");
  expect_not_trained(scores_with("layer.attn_mask").network(), "layer.attn_mask", "named like a buffer");
}

// Where the values are there they tell a learned bias from a mask.
TEST(Roles, ValuesTellATableAddedToScoresFromAMask) {
  const auto with = [](std::vector<float> values, const ReadOptions& options = {}) {
    OnnxModel model = scores_with("bias");
    values.resize(16, 0);
    model.initializers[0] = test::float_tensor("bias", {4, 4}, values);
    return model.network(options);
  };
  constexpr float never = -std::numeric_limits<float>::infinity();
  expect_trained(with({0.1F, -0.2F, 0.3F}), "bias");
  expect_trained(with({0, -1, 1}), "bias");
  for (const float hidden : {never, -100.0F, -1e4F, -65504.0F, -1e9F, std::numeric_limits<float>::lowest()}) {
    expect_not_trained(with({0, hidden, hidden}), "bias", "a mask");
  }
  expect_trained(with({0, -100, 0.5F}), "bias");
}

TEST(Roles, ALargeTableIsLookedAtToo) {
  OnnxModel model;
  model.input("s", {1, 4, 256, 256});
  model.node("Relu", {"s"}, {"scores"});
  std::vector<float> values(4 * 256 * 256, 0);
  values.back() = 0.25F;
  model.initializer(test::float_tensor("bias", {4, 256, 256}, values));
  model.node("Add", {"scores", "bias"}, {"biased"});
  model.node("Softmax", {"biased"}, {"y"});
  model.output("y");
  expect_trained(model.network(), "bias");
}

// What the user says goes before every guess, and no note speaks of it.
TEST(Roles, AreAsTheUserSays) {
  const ReadOptions trained{.roles = {.parameters = {"tri*"}, .buffers = {}}};
  NetworkGraph network = scores_with("triangle").network(trained);
  ASSERT_TRUE(choose_roles(network.graph, trained.roles).has_value());
  expect_trained(network, "triangle");
}

TEST(Roles, AMaskChosenWithWhereIsNotTrained) {
  OnnxModel model;
  model.input("s", {4, 4});
  model.node("Relu", {"s"}, {"scores"});
  model.initializer(external("allowed", {4, 4}, test::onnx_bool));
  model.initializer(external("minimum", {4, 4}));
  model.node("Where", {"allowed", "scores", "minimum"}, {"masked"});
  model.node("Softmax", {"masked"}, {"y"});
  model.output("y");
  const NetworkGraph network = model.network();
  EXPECT_EQ(parameters_of(network.graph), 0);
}

OnnxModel embedded_with(const std::string& positions) {
  OnnxModel model;
  model.input("ids", {2, 5}, test::onnx_int64);
  model.initializer(external("table", {100, 8}));
  model.initializer(external(positions, {1, 5, 8}));
  model.node("Gather", {"table", "ids"}, {"h"});
  model.node("Add", {"h", positions}, {"y"});
  model.output("y");
  return model;
}

TEST(Roles, PositionTablesAreTrainedUnlessTheirNameSaysOtherwise) {
  expect_trained(embedded_with("pos_embed").network(), "pos_embed");
  expect_not_trained(embedded_with("encoder.pe").network(), "encoder.pe", "named like a buffer");
  expect_not_trained(embedded_with("onnx::Add_55").network(), "onnx::Add_55", "without a name of its own");
}

TEST(Roles, ScalarsAreNotTrained) {
  OnnxModel model;
  model.input("x", {4, 4});
  model.initializer(test::float_scalar("scale", 0.125F));
  model.initializer(external("factor", {1}));
  model.node("Relu", {"x"}, {"r"});
  model.node("Mul", {"r", "scale"}, {"a"});
  model.node("Mul", {"a", "factor"}, {"y"});
  model.output("y");
  EXPECT_EQ(parameters_of(model.network().graph), 0);
}

TEST(Roles, AClassTokenIsTrained) {
  OnnxModel model;
  model.input("image", {"batch", 4, 6});
  model.initializer(external("w", {6, 6}));
  model.node("MatMul", {"image", "w"}, {"x"});
  model.initializer(external("cls", {1, 1, 6}));
  model.node("Shape", {"x"}, {"size"}, {attr("end", 1)});
  model.initializer(test::int64_vector("rest", {1, 6}));
  model.node("Concat", {"size", "rest"}, {"target"}, {attr("axis", 0)});
  model.node("Expand", {"cls", "target"}, {"tokens"});
  model.node("Concat", {"tokens", "x"}, {"y"}, {attr("axis", 1)});
  model.output("y");
  const NetworkGraph network = model.network({.batch = 3});
  expect_trained(network, "cls");
  EXPECT_EQ(parameters_of(network.graph), 36 + 6);
}

TEST(Roles, ConstantsThatNormalizeTheInputAreNotTrained) {
  OnnxModel model;
  model.input("image", {1, 3, 8, 8});
  model.initializer(external("average", {1, 3, 1, 1}));
  model.initializer(external("deviation", {1, 3, 1, 1}));
  model.node("Sub", {"image", "average"}, {"d"});
  model.node("Div", {"d", "deviation"}, {"y"});
  model.output("y");
  expect_not_trained(model.network(), "average", "normalizes the input");
}

TEST(Roles, TheExportersWordGoesFirst) {
  OnnxModel model = embedded_with("pos_embed");
  model.graph_metadata = {
      {"pkg.torch.export.ExportedProgram.graph_signature",
       "# inputs\np_table: PARAMETER target='table'\nb_pos: BUFFER target='pos_embed' persistent=True"}};
  expect_not_trained(model.network(), "pos_embed", "the exporter says it is a buffer");
  OnnxModel named = embedded_with("encoder.pe");
  named.graph_metadata = {{"pkg.torch.export.ExportedProgram.graph_signature",
                           "p_table: PARAMETER target='table'\np_pe: PARAMETER target='encoder.pe'\n"}};
  expect_trained(named.network(), "encoder.pe");
}

TEST(Roles, WeightsThatPassThroughViewsAreTrained) {
  OnnxModel model;
  model.input("x", {2, 6});
  model.initializer(external("w", {4, 3, 2}));
  model.initializer(test::int64_vector("shape", {4, 6}));
  model.node("Reshape", {"w", "shape"}, {"flat"});
  model.node("Transpose", {"flat"}, {"t"});
  model.node("MatMul", {"x", "t"}, {"y"});
  model.output("y");
  expect_trained(model.network(), "w");
}

}  // namespace
}  // namespace monet::onnx
