// Is what the user says of tensors done, and said where it cannot be?
#include "graph/role_choice.h"
#include "graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using testing::HasSubstr;

Graph with_tables() {
  GraphBuilder b("tables");
  const TensorId x = b.input("x", {4});
  const TensorId bias = b.constant("layer.bias", Constant::reals(ElementType::float32, {4}, {1, 2, 3, 4}));
  const TensorId scaled = b.add(Op::Mul, "mul", {x, b.parameter("layer.scale", {4})});
  b.output(b.add(Op::Add, "add", {scaled, bias}));
  return *b.finish();
}

const Tensor& named(const Graph& graph, const std::string& name) {
  return *std::ranges::find(graph.tensors(), name, &Tensor::name);
}

TEST(RoleChoice, MakesParametersAndBuffers) {
  Graph graph = with_tables();
  ASSERT_TRUE(choose_roles(graph, {.parameters = {"*.bias"}, .buffers = {"layer.scale"}}).has_value());
  EXPECT_TRUE(named(graph, "layer.bias").parameter);
  EXPECT_EQ(named(graph, "layer.bias").role, Role::weight);
  EXPECT_FALSE(named(graph, "layer.scale").parameter);
  EXPECT_EQ(named(graph, "layer.scale").role, Role::constant);
  EXPECT_TRUE(graph.constants.empty());  // its value changes from step to step
}

TEST(RoleChoice, SaysWhatMatchesNothing) {
  Graph graph = with_tables();
  const auto unmatched = choose_roles(graph, {.parameters = {"layer.biases"}, .buffers = {}});
  ASSERT_FALSE(unmatched.has_value());
  EXPECT_EQ(unmatched.error().place, "--parameter");
  EXPECT_THAT(unmatched.error().text(), HasSubstr("did you mean 'layer.bias'?"));
  const auto made = choose_roles(graph, {.parameters = {}, .buffers = {"mul*"}});  // an operator makes it
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().place, "--buffer");
  EXPECT_THAT(made.error().text(), HasSubstr("no floating-point tensor of the file matches 'mul*'"));
}

TEST(RoleChoice, SaysWhatIsNamedAsBoth) {
  Graph graph = with_tables();
  const auto both = choose_roles(graph, {.parameters = {"layer.*"}, .buffers = {"*.bias"}});
  ASSERT_FALSE(both.has_value());
  EXPECT_THAT(both.error().text(), HasSubstr("'layer.bias' is named as a parameter and as a buffer"));
}

}  // namespace
}  // namespace monet
