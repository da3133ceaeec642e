// Do the operators that are not defined by their expansion have the values of it?
#include "graph/expand.h"
#include "graph/verify.h"
#include "interpret/interpret.h"
#include "support/gradient_check.h"
#include "support/nest_check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

std::vector<Array> outputs_for(const Graph& graph, const std::vector<Array>& inputs) {
  Values values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values.emplace(graph.inputs[i], inputs[i]);
  const Status status = run(graph, values);
  EXPECT_TRUE(status.has_value()) << status.error().text();
  std::vector<Array> outputs;
  for (TensorId id : graph.outputs) outputs.push_back(values.at(id));
  return outputs;
}

// Inputs of an integer type are labels of that many classes.
void expect_expands_to_same(Op op, const std::vector<TensorType>& types, const Attributes& attributes,
                            std::size_t outputs = 1, std::int64_t classes = 0) {
  SCOPED_TRACE(std::string(name_of(op)));
  const auto graph = single(op, types, attributes, outputs);
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto expanded = expand(*graph, [&](const Graph&, const Node& node) { return node.op == op; });
  ASSERT_TRUE(expanded.has_value()) << expanded.error().text();
  const Status status = verify(*expanded);
  ASSERT_TRUE(status.has_value()) << status.error().text();
  std::vector<Array> inputs;
  for (const TensorType& type : types) {
    inputs.push_back(random_array(type.shape, static_cast<unsigned>(inputs.size())));
    if (is_floating(type.format.element)) continue;
    double label = 0;
    for (double& value : inputs.back().values) {
      value = label;
      label = label + 1 == static_cast<double>(classes) ? 0 : label + 1;
    }
  }
  const std::vector<Array> expected = outputs_for(*graph, inputs);
  const std::vector<Array> actual = outputs_for(*expanded, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(actual[i].shape, expected[i].shape);
    for (std::size_t k = 0; k < expected[i].values.size(); ++k) {
      EXPECT_NEAR(actual[i].values[k], expected[i].values[k], 1e-13) << "output " << i << " at " << k;
    }
  }
}

TEST(Expansions, OfActivations) {
  expect_expands_to_same(Op::Silu, floats({{2, 3}}), {});
  expect_expands_to_same(Op::ReluGrad, floats({{2, 3}, {2, 3}}), {});
}

TEST(Expansions, OfSoftmaxOverAnyAxes) {
  for (const Integers& axes : {Integers{}, Integers{0}, Integers{2}, Integers{0, 2}, Integers{1, 2}}) {
    for (Op op : {Op::Softmax, Op::LogSoftmax}) expect_expands_to_same(op, floats({{2, 3, 4}}), {{Attr::axes, axes}});
  }
}

TEST(Expansions, OfLossesOverClasses) {
  const Shape shape = {2, 3, 4};
  for (std::int64_t axis : {0, 1, 2}) {
    Shape positions = shape;
    positions.erase(positions.begin() + axis);
    const std::int64_t classes = shape[static_cast<std::size_t>(axis)];
    for (ElementType label_type : {ElementType::int64, ElementType::int32}) {
      for (const std::string reduction : {"none", "mean", "sum"}) {
        for (bool weighted : {false, true}) {
          for (int variant : {0, 1, 2, 3}) {
            Attributes attributes = {{Attr::reduction, reduction}, {Attr::axis, axis}};
            if (variant % 2 == 1) attributes.set(Attr::ignore_index, std::int64_t{1});
            if (variant / 2 == 1) attributes.set(Attr::label_smoothing, 0.2);
            std::vector<TensorType> types = {{shape, {}}, {positions, {.element = label_type}}};
            if (weighted) types.push_back({{classes}, {}});
            for (std::size_t outputs : {1, 2}) {
              expect_expands_to_same(Op::SoftmaxCrossEntropyLoss, types, attributes, outputs, classes);
            }
            if (variant < 2) expect_expands_to_same(Op::NegativeLogLikelihoodLoss, types, attributes, 1, classes);
            types.insert(types.begin(), {reduction == "none" ? positions : Shape{}, {}});
            expect_expands_to_same(Op::SoftmaxCrossEntropyLossGrad, types, attributes, 1, classes);
            if (reduction == "none") continue;
            types[0].shape = {1, 1, 1, 1};
            expect_expands_to_same(Op::SoftmaxCrossEntropyLossGrad, types, attributes, 1, classes);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace monet::test
