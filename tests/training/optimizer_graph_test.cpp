// What the optimizer adds to a step: nodes, names, roles, phases and bytes.
#include "graph/narrow.h"
#include "training/optimizer.h"

#include "graph/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace monet::test {
namespace {

using namespace monet::training;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct Step {
  Graph graph;

  TensorId operator[](std::string_view name) const {
    const auto found = std::ranges::find(graph.tensors(), name, &Tensor::name);
    return found == graph.tensors().end() ? TensorId()
                                          : TensorId(static_cast<std::size_t>(found - graph.tensors().begin()));
  }
  const Tensor& tensor(std::string_view name) const { return graph[(*this)[name]]; }
  std::size_t nodes(Phase phase) const {
    return static_cast<std::size_t>(std::ranges::count(graph.nodes(), phase, &Node::phase));
  }
  std::size_t count(Op op) const { return static_cast<std::size_t>(std::ranges::count(graph.nodes(), op, &Node::op)); }
  std::int64_t bytes_of(Role role) const {
    std::int64_t sum = 0;
    for (const Tensor& each : graph.tensors()) {
      if (each.role == role && !each.producer.valid()) sum += bytes(each);
    }
    return sum;
  }
};

Step make(const std::vector<Shape>& shapes, const OptimizerOptions& options, ElementType type = ElementType::float32) {
  GraphBuilder builder("step");
  std::vector<Trained> trained;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name = "w" + std::to_string(i);
    const TensorId parameter = builder.parameter(name, shapes[i], type);
    trained.push_back({parameter, builder.input(name + ".grad", shapes[i], type)});
  }
  const auto result = add_optimizer(builder, trained, options);
  EXPECT_TRUE(result.has_value()) << result.error().text();
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  if (options.elementwise) graph = elementwise_optimizer(*std::move(graph));
  EXPECT_TRUE(verify(*graph).has_value()) << verify(*graph).error().text();
  return {*std::move(graph)};
}

TEST(OptimizerGraph, ElementwiseAdamHasFourteenNodesForEachWeight) {
  for (std::size_t weights : {1, 21}) {
    const std::vector<Shape> shapes(weights, Shape{3, 4});
    const Step step = make(shapes, {.elementwise = true});
    EXPECT_EQ(step.nodes(Phase::optimizer), 14 * weights + 4);  // and 1 − β1^t, 1 − β2^t
    EXPECT_EQ(step.count(Op::Mul), 6 * weights);
    EXPECT_EQ(step.count(Op::Add), 3 * weights);
    EXPECT_EQ(step.count(Op::Div), 3 * weights);
    EXPECT_EQ(step.count(Op::Sqrt), weights);
    EXPECT_EQ(step.count(Op::Sub), weights + 2);
    EXPECT_EQ(step.count(Op::Pow), 2U);
    const Step accumulated = make(shapes, {.micro_batches = 2, .elementwise = true});
    EXPECT_EQ(accumulated.nodes(Phase::optimizer), 14 * weights + 4);
    EXPECT_EQ(accumulated.nodes(Phase::backward), weights);
  }
}

TEST(OptimizerGraph, FusedHasOneNodeForEachWeight) {
  const std::map<OptimizerKind, std::size_t> shared = {{OptimizerKind::sgd, 0},      {OptimizerKind::momentum, 0},
                                                       {OptimizerKind::nesterov, 0}, {OptimizerKind::adam, 4},
                                                       {OptimizerKind::adamw, 4},    {OptimizerKind::adafactor, 4},
                                                       {OptimizerKind::lion, 0},     {OptimizerKind::adam8bit, 4}};
  for (const OptimizerInfo& info : optimizers()) {
    const Step step = make({{3}, {80, 90}, {2, 3, 2, 3}}, {.kind = info.kind});
    EXPECT_EQ(step.nodes(Phase::optimizer), 3 + shared.at(info.kind)) << info.name;
    EXPECT_EQ(step.nodes(Phase::backward) + step.nodes(Phase::forward), 0U) << info.name;
    EXPECT_EQ(step["step"].valid(), shared.at(info.kind) > 0) << info.name;
  }
}

TEST(OptimizerGraph, NamesRolesAndUpdates) {
  const auto states = [](OptimizerKind kind) {
    const Step step = make({{80, 90}}, {.kind = kind});
    std::vector<std::string> names;
    for (const Tensor& tensor : step.graph.tensors()) {
      if (tensor.role != Role::optimizer_state || tensor.producer.valid()) continue;
      names.push_back(tensor.name);
      EXPECT_EQ(step.tensor(tensor.name + ".new").updates, step[tensor.name]) << tensor.name;
      EXPECT_EQ(step.tensor(tensor.name + ".new").role, Role::optimizer_state) << tensor.name;
    }
    EXPECT_EQ(step.tensor("w0.new").updates, step["w0"]);
    EXPECT_EQ(step.tensor("w0.new").role, Role::weight);
    EXPECT_FALSE(step.tensor("w0.new").parameter);
    EXPECT_TRUE(step.tensor("w0").parameter);
    EXPECT_EQ(step.tensor("learning_rate").role, Role::input);
    return names;
  };
  EXPECT_THAT(states(OptimizerKind::sgd), ElementsAre());
  EXPECT_THAT(states(OptimizerKind::momentum), ElementsAre("w0.momentum"));
  EXPECT_THAT(states(OptimizerKind::nesterov), ElementsAre("w0.momentum"));
  EXPECT_THAT(states(OptimizerKind::adam), ElementsAre("w0.m", "w0.v"));
  EXPECT_THAT(states(OptimizerKind::adamw), ElementsAre("w0.m", "w0.v"));
  EXPECT_THAT(states(OptimizerKind::lion), ElementsAre("w0.m"));
  EXPECT_THAT(states(OptimizerKind::adafactor), ElementsAre("w0.row", "w0.column"));
  EXPECT_THAT(states(OptimizerKind::adam8bit), ElementsAre("w0.m", "w0.v", "w0.m.scale", "w0.v.scale"));
}

TEST(OptimizerGraph, AccumulatedGradientsAreKeptBetweenMicroBatches) {
  const Step step = make({{3, 4}}, {.micro_batches = 3});
  const Tensor& sum = step.tensor("w0.accumulated.new");
  EXPECT_EQ(sum.updates, step["w0.accumulated"]);
  EXPECT_EQ(sum.role, Role::weight_gradient);
  EXPECT_EQ(step.graph[sum.producer].phase, Phase::backward);
  EXPECT_THAT(step.graph[sum.producer].inputs, UnorderedElementsAre(step["w0.accumulated"], step["w0.grad"]));
  EXPECT_EQ(step.graph[step.tensor("w0.new").producer].inputs[1], step["w0.accumulated.new"]);
}

// Bytes of state, by formula, for a matrix of 80 x 90, a vector of 10 and a filter of 2 x 3 x 4 x 5.
TEST(OptimizerGraph, BytesOfState) {
  const std::vector<Shape> shapes = {{80, 90}, {10}, {2, 3, 4, 5}};
  const std::int64_t parameters = 80 * 90 + 10 + 120;
  const auto state = [&](OptimizerKind kind, ElementType type = ElementType::float32) {
    const Step step = make(shapes, {.kind = kind}, type);
    EXPECT_EQ(step.bytes_of(Role::weight), parameters * bits_of(type) / 8);
    return step.bytes_of(Role::optimizer_state);
  };
  EXPECT_EQ(state(OptimizerKind::sgd), 0);
  EXPECT_EQ(state(OptimizerKind::momentum), 4 * parameters);
  EXPECT_EQ(state(OptimizerKind::nesterov), 4 * parameters);
  EXPECT_EQ(state(OptimizerKind::lion), 4 * parameters);
  EXPECT_EQ(state(OptimizerKind::adam), 8 * parameters);
  EXPECT_EQ(state(OptimizerKind::adamw), 8 * parameters);
  EXPECT_EQ(state(OptimizerKind::adam, ElementType::bfloat16), 4 * parameters);
  EXPECT_EQ(state(OptimizerKind::adafactor), 4 * ((80 + 90) + 10 + 6 * (4 + 5)));
  const std::int64_t blocks = (80 * 90 + 255) / 256;
  EXPECT_EQ(state(OptimizerKind::adam8bit), 2 * (80 * 90 + 4 * blocks) + 8 * (10 + 120));
}

TEST(OptimizerGraph, SmallParametersKeepWideMoments) {
  const Step step = make({{4095}, {4096}}, {.kind = OptimizerKind::adam8bit});
  EXPECT_EQ(step.tensor("w0.m").type.format.element, ElementType::float32);
  EXPECT_EQ(step.tensor("w1.m").type.format.element, ElementType::uint8);
  EXPECT_EQ(step.tensor("w1.m.scale").type.shape, Shape{16});
}

TEST(OptimizerGraph, ClippingReadsEveryGradientOnceAndSharesOneFactor) {
  const Step step = make(std::vector<Shape>(450, Shape{2, 3}), {.kind = OptimizerKind::sgd, .clip_norm = 1.0});
  EXPECT_EQ(step.count(Op::ReduceSumSquare), 450U);
  EXPECT_EQ(step.count(Op::Sum), 33U);  // 15, then 14 more with what is there: 1 + ceil(435 / 14)
  EXPECT_EQ(step.nodes(Phase::optimizer), 450U + 33 + 450 + 4);  // √, + 1e-6, /, min
  for (const Node& node : step.graph.nodes()) EXPECT_LE(node.inputs.size(), most_inputs_at_once);
  std::vector<TensorId> factors;
  for (const Node& node : step.graph.nodes()) {
    if (node.op == Op::SgdUpdate) factors.push_back(node.inputs.at(3));
  }
  EXPECT_THAT(factors, testing::Each(factors.front()));
}

TEST(OptimizerGraph, ScalarsAreCastOnceForEachType) {
  const Step step = make(std::vector<Shape>(5, Shape{2, 3}), {.clip_norm = 1.0}, ElementType::float16);
  EXPECT_EQ(step.count(Op::Cast), 5U + 4U);  // gradients before their norm; three scalars and the factor
  for (const Node& node : step.graph.nodes()) {
    if (node.op != Op::AdamUpdate) continue;
    for (TensorId id : node.inputs) EXPECT_EQ(step.graph[id].type.format.element, ElementType::float16);
  }
}

TEST(OptimizerGraph, AdafactorsEpsilonIsThatOfTheType) {
  const auto epsilon = [](ElementType type) {
    return make({{2, 3}}, {.kind = OptimizerKind::adafactor}, type).graph.nodes().back().attributes.real(Attr::epsilon);
  };
  // torch.finfo(type).eps
  EXPECT_EQ(epsilon(ElementType::float32), 1.1920928955078125e-07);
  EXPECT_EQ(epsilon(ElementType::float64), 2.220446049250313e-16);
  EXPECT_EQ(epsilon(ElementType::float16), 0.0009765625);
  EXPECT_EQ(epsilon(ElementType::bfloat16), 0.0078125);
}

TEST(OptimizerGraph, AParameterWithoutGradientStays) {
  GraphBuilder builder("step");
  const TensorId used = builder.parameter("used", {3});
  const TensorId unused = builder.parameter("unused", {3});
  const std::vector<Trained> trained = {{used, builder.input("used.grad", {3})}, {unused, {}}};
  ASSERT_TRUE(add_optimizer(builder, trained, {}).has_value());
  const Step step{*builder.finish()};
  EXPECT_TRUE(step["used.new"].valid());
  EXPECT_FALSE(step["unused.new"].valid());
  EXPECT_FALSE(step["unused.m"].valid());
}

}  // namespace
}  // namespace monet::test
