// Is the step with recomputations still the same step, does it keep less, and is what cannot be recomputed refused?
#include "training/recompute.h"

#include "graph/builder.h"
#include "graph/verify.h"
#include "networks/builtin.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"
#include "support/random_step.h"
#include "support/random_values.h"
#include "training/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

namespace monet::training {
namespace {

using test::tensor_named;
using testing::HasSubstr;
using Integers = std::vector<std::int64_t>;

Graph step_graph_of(Graph forward, const StepOptions& options = {}) {
  auto step = make_training_step({std::move(forward), false, {}, {}}, options);
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? std::move(step->graph) : Graph();
}

Graph builtin_step(const std::string& network, const StepOptions& options = {}) {
  auto forward = build_builtin(network);
  EXPECT_TRUE(forward.has_value()) << (forward ? "" : forward.error().text());
  return forward ? step_graph_of(*std::move(forward), options) : Graph();
}

NodeId node_named(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].name == name) return NodeId(i);
  }
  return {};
}

// Variances, second moments and the number of the step are positive.
Values values_for(const Graph& graph, unsigned seed) {
  Values values = test::random_values(graph, seed);
  for (auto& [id, array] : values) {
    const bool positive = graph[id].role == Role::optimizer_state || graph[id].role == Role::statistic;
    for (double& value : array.values) value = graph[id].name == "step" ? 3 : positive ? std::abs(value) : value;
  }
  return values;
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape == b.shape && a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0;
}

bool is_view(const Node& node) { return family_of(node.op) == OpFamily::view; }

// The nodes that read a tensor, itself or through views of the forward part.
std::set<NodeId> readers_through_views(const Graph& graph, TensorId tensor) {
  std::set<TensorId> shown = {tensor};
  std::set<NodeId> readers;
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    if (std::ranges::none_of(node.inputs, [&](TensorId id) { return shown.contains(id); })) continue;
    if (is_view(node) && node.phase == Phase::forward) {
      for (TensorId id : node.outputs) shown.insert(id);
    } else {
      readers.insert(NodeId(i));
    }
  }
  return readers;
}

// Every value that the step made is made with the same bits, and so is every copy.
void expect_same_bits_after(const Graph& step, const Recomputed& after, const std::string& what) {
  Values expected = values_for(step, 7);
  Values actual = values_for(after.graph, 7);
  ASSERT_TRUE(run(step, expected)) << what;
  const Status status = run(after.graph, actual);
  ASSERT_TRUE(status) << what << ": " << status.error().text();
  std::size_t compared = 0;
  for (std::size_t i = 0; i < step.tensors().size(); ++i) {
    for (TensorId id : {after.tensors[i], after.copies[i]}) {
      if (!id.valid()) continue;
      ASSERT_TRUE(same_bits(expected[TensorId(i)], actual[id])) << what << ": " << after.graph[id].name;
      ++compared;
    }
  }
  EXPECT_GE(compared, step.nodes().size());
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    EXPECT_TRUE(same_bits(expected[step.outputs[i]], actual[after.graph.outputs[i]])) << what;
    for (double value : expected[step.outputs[i]].values) EXPECT_TRUE(std::isfinite(value)) << what;
  }
}

// Each copy is read, is called X~1, and is needed by the first node after it that is no copy.
void expect_copies_in_place(const Graph& step, const Recomputed& after, const std::string& what) {
  const Graph& graph = after.graph;
  ASSERT_EQ(after.copy_of.size(), graph.nodes().size());
  const auto is_copy = [&](std::size_t i) { return after.copy_of[i].valid(); };
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    EXPECT_EQ(graph.nodes()[i].recomputed, is_copy(i)) << what;
    if (!is_copy(i)) continue;
    EXPECT_EQ(graph.nodes()[i].name, step[after.copy_of[i]].name + "~1") << what;
    EXPECT_EQ(graph.nodes()[i].phase, Phase::backward) << what;
    std::size_t reader = i;
    while (reader < graph.nodes().size() && is_copy(reader)) ++reader;
    ASSERT_LT(reader, graph.nodes().size()) << what;
    EXPECT_NE(graph.nodes()[reader].phase, Phase::forward) << what;
    std::set<TensorId> needed(graph.nodes()[reader].inputs.begin(), graph.nodes()[reader].inputs.end());
    for (std::size_t k = reader; k-- > i + 1;) {
      const Node& node = graph.nodes()[k];
      if (std::ranges::any_of(node.outputs, [&](TensorId id) { return id.valid() && needed.contains(id); }))
        needed.insert(node.inputs.begin(), node.inputs.end());
    }
    EXPECT_TRUE(
        std::ranges::any_of(graph.nodes()[i].outputs, [&](TensorId id) { return id.valid() && needed.contains(id); }))
        << what << ": " << graph.nodes()[i].name << " stands too early";
  }
}

void expect_recomputed(const Graph& step, const std::vector<TensorId>& chosen, const std::string& what,
                       bool with_values = true) {
  const auto after = recompute(step, chosen);
  ASSERT_TRUE(after.has_value()) << what << ": " << after.error().text();
  const Status status = verify(after->graph);
  ASSERT_TRUE(status.has_value()) << what << ": " << status.error().text();
  for (TensorId id : chosen) {
    ASSERT_TRUE(after->copies[id.index()].valid()) << what;
    if (!after->tensors[id.index()].valid()) continue;  // the forward part made it for nobody else
    for (NodeId reader : readers_through_views(after->graph, after->tensors[id.index()]))
      EXPECT_EQ(after->graph[reader].phase, Phase::forward) << what << ": " << after->graph[reader].name;
  }
  // What is kept is not made again for a reader.
  const std::set<TensorId> gone(chosen.begin(), chosen.end());
  for (const SavedCandidate& candidate : saved_candidates(step)) {
    const TensorId copy = after->copies[candidate.tensor.index()];
    if (gone.contains(candidate.tensor) || !copy.valid()) continue;
    EXPECT_TRUE(readers_through_views(after->graph, copy).empty()) << what << ": " << step[candidate.tensor].name;
  }
  expect_copies_in_place(step, *after, what);
  if (with_values) expect_same_bits_after(step, *after, what);
}

std::vector<TensorId> recomputable(const Graph& step) {
  std::vector<TensorId> tensors;
  for (const SavedCandidate& candidate : saved_candidates(step)) {
    if (candidate.reason.empty()) tensors.push_back(candidate.tensor);
  }
  return tensors;
}

// No tensor, all, each, and random sets.
void expect_any_set(const Graph& step, const std::string& what, int sets, unsigned seed = 1) {
  const std::vector<TensorId> all = recomputable(step);
  ASSERT_FALSE(all.empty()) << what;
  expect_recomputed(step, {}, what + ", none");
  expect_recomputed(step, all, what + ", all");
  for (TensorId one : all) expect_recomputed(step, {one}, what + ", one", false);
  std::mt19937 random(seed);
  for (int i = 0; i < sets; ++i) {
    std::vector<TensorId> chosen;
    for (TensorId id : all) {
      if (random() % 3 != 0) chosen.push_back(id);
    }
    expect_recomputed(step, chosen, what + ", set " + std::to_string(i));
  }
}

TEST(Recompute, LeavesEveryValueOfSmallNetworksAsItIs) {
  expect_any_set(
      builtin_step("mlp-robotics:inputs=4,hidden=5,outputs=3", {.loss = {.kind = LossKind::mean_squared_error}}), "mlp",
      10);
  const std::string sizes = "layers=2,width=8,heads=2,ffn=12,vocabulary=11,tokens=5";
  expect_any_set(builtin_step("gpt2:" + sizes), "gpt2", 4);
  expect_any_set(builtin_step("gpt2:flash=1," + sizes), "gpt2 with fused attention", 4);
  expect_any_set(builtin_step("bert-base:" + sizes), "bert", 2);
  expect_any_set(builtin_step("unet:image=32,features=1"), "unet", 1);
}

TEST(Recompute, WorksInMixedPrecisionAndWithOtherOptimizers) {
  const auto mixed = read_recipe("mixed");
  ASSERT_TRUE(mixed.has_value());
  const StepOptions options = {.optimizer = {.kind = OptimizerKind::momentum, .clip_norm = 1.0, .elementwise = true},
                               .conv_gradient = ConvGradient::im2col,
                               .recipe = *mixed};
  expect_any_set(builtin_step("unet:image=32,features=1", options), "unet", 0);
}

TEST(Recompute, LeavesEveryValueOfRandomGraphsAsItIs) {
  int checked = 0;
  for (unsigned seed = 1; seed <= 80; ++seed) {
    const auto step = test::random_step(seed);
    if (!step || recomputable(*step).empty()) continue;  // without parameters
    expect_any_set(*step, "seed " + std::to_string(seed), 3, seed);
    ++checked;
  }
  EXPECT_GE(checked, 50);
}

// Stored, made forward, read by the backward part through whatever views: found by walking from each tensor.
TEST(Recompute, FindsWhatIsSaved) {
  for (const char* network : {"resnet18-cifar", "gpt2:layers=1", "unet:image=32"}) {
    const Graph step = builtin_step(network);
    std::set<TensorId> expected;
    for (std::size_t i = 0; i < step.tensors().size(); ++i) {
      const Tensor& tensor = step.tensors()[i];
      if (!tensor.producer.valid() || step[tensor.producer].phase != Phase::forward) continue;
      if (is_view(step[tensor.producer]) || tensor.updates.valid()) continue;
      if (std::ranges::find(step.outputs, TensorId(i)) != step.outputs.end()) continue;
      const auto readers = readers_through_views(step, TensorId(i));
      if (std::ranges::any_of(readers, [&](NodeId id) { return step[id].phase != Phase::forward; })) {
        expected.insert(TensorId(i));
      }
    }
    std::set<TensorId> found;
    for (const SavedCandidate& candidate : saved_candidates(step)) {
      found.insert(candidate.tensor);
      EXPECT_EQ(candidate.bytes, bytes(step[candidate.tensor]));
      EXPECT_EQ(candidate.reason, "");
    }
    EXPECT_EQ(found, expected) << network;
  }
}

// A small network with running statistics, a pool and a residual connection.
Graph conv_net() {
  GraphBuilder b("conv");
  const Attributes same = {{Attr::strides, Integers{1, 1}},
                           {Attr::dilations, Integers{1, 1}},
                           {Attr::pads, Integers{1, 1, 1, 1}},
                           {Attr::group, std::int64_t{1}}};
  const auto norm = [&](const std::string& name, TensorId x) {
    return b.add(Op::BatchNormalization, name,
                 {x, b.parameter(name + ".weight", {4}), b.parameter(name + ".bias", {4}),
                  b.statistic(name + ".mean", {4}), b.statistic(name + ".var", {4})},
                 {{Attr::epsilon, 1e-5}, {Attr::momentum, 0.9}, {Attr::training_mode, std::int64_t{1}}});
  };
  TensorId x = b.input("x", {2, 3, 6, 6});
  x = b.add(Op::Conv, "conv1", {x, b.parameter("conv1.weight", {4, 3, 3, 3})}, same);
  x = b.add(Op::Relu, "relu", {norm("norm", x)});
  x = b.add(Op::MaxPool, "pool", {x},
            {{Attr::kernel_shape, Integers{2, 2}},
             {Attr::strides, Integers{2, 2}},
             {Attr::dilations, Integers{1, 1}},
             {Attr::pads, Integers{0, 0, 0, 0}},
             {Attr::shape, Integers{2, 4, 3, 3}},
             {Attr::storage_order, std::int64_t{0}}});
  const TensorId conv = b.add(Op::Conv, "conv2", {x, b.parameter("conv2.weight", {4, 4, 3, 3})}, same);
  x = b.add(Op::Relu, "relu2", {b.add(Op::Add, "add", {norm("norm2", conv), x})});
  b.output(b.add(Op::Conv, "conv3", {x, b.parameter("conv3.weight", {5, 4, 3, 3})}, same));
  auto graph = b.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return step_graph_of(*std::move(graph), {.loss = {.kind = LossKind::mean_squared_error}});
}

TEST(Recompute, RewritesLargeNetworks) {
  for (const char* network : {"resnet18-cifar", "mobilenet-v2", "gpt2:layers=2"}) {
    const Graph step = builtin_step(network);
    const std::vector<TensorId> all = recomputable(step);
    ASSERT_GE(all.size(), 18U);
    expect_recomputed(step, all, network, false);
    for (std::size_t i = 0; i < all.size(); i += 9) expect_recomputed(step, {all[i]}, network, false);
  }
}

TEST(Recompute, UpdatesRunningStatisticsOnce) {
  const Graph step = conv_net();
  const TensorId normed = step[node_named(step, "norm")].outputs[0];
  const TensorId relu = step[node_named(step, "relu")].outputs[0];
  const auto after = recompute(step, std::vector{relu});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  ASSERT_TRUE(verify(after->graph));
  // The normalized tensor was not kept, so it is made again; its statistics were.
  ASSERT_TRUE(after->copies[normed.index()].valid());
  const Node& copy = after->graph[after->graph[after->copies[normed.index()]].producer];
  EXPECT_EQ(copy.name, "norm~1");
  EXPECT_EQ(copy.outputs.size(), 1U);
  EXPECT_EQ(after->graph[copy.outputs[0]].role, Role::activation);
  EXPECT_FALSE(node_named(after->graph, "conv1~1").valid());
  const auto updates = std::ranges::count_if(after->graph.tensors(), [](const Tensor& t) { return t.updates.valid(); });
  EXPECT_EQ(updates, std::ranges::count_if(step.tensors(), [](const Tensor& t) { return t.updates.valid(); }));
  expect_any_set(step, "conv net", 30);
}

TEST(Recompute, RecomputesTheStatisticsOfTheBatch) {
  const Graph step = conv_net();
  const Node& norm = step[node_named(step, "norm")];
  ASSERT_EQ(norm.outputs.size(), 5U);
  const auto after = recompute(step, std::vector{norm.outputs[3]});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  const Node& copy = after->graph[node_named(after->graph, "norm~1")];
  ASSERT_EQ(copy.outputs.size(), 4U);
  EXPECT_TRUE(copy.outputs[0].valid());  // every operator makes its first output
  EXPECT_FALSE(copy.outputs[1].valid());
  EXPECT_FALSE(copy.outputs[2].valid());
  // The forward part need not write what only the backward part read.
  EXPECT_FALSE(after->graph[node_named(after->graph, "norm")].outputs[3].valid());
  EXPECT_TRUE(after->graph[node_named(after->graph, "norm")].outputs[4].valid());
}

TEST(Recompute, TheForwardPartMakesNoIndicesThatNobodyReads) {
  const Graph step = conv_net();
  const TensorId indices = step[node_named(step, "pool")].outputs.at(1);
  const auto after = recompute(step, std::vector{indices});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  EXPECT_FALSE(after->graph[node_named(after->graph, "pool")].outputs[1].valid());
  EXPECT_FALSE(after->tensors[indices.index()].valid());
  EXPECT_EQ(after->graph[after->copies[indices.index()]].name, step[indices].name + "~1");
}

TEST(Recompute, CopiesAreSharedAndChainsGoBackToWhatIsKept) {
  GraphBuilder b("chain");
  TensorId x = b.input("x", {4, 3});
  for (int i = 0; i < 1000; ++i) x = b.add(Op::Tanh, "t" + std::to_string(i), {x});
  b.output(b.add(Op::MatMul, "y", {b.add(Op::Mul, "m", {x, b.parameter("p", {3})}), b.parameter("w", {3, 2})},
                 {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  const Graph step = step_graph_of(*b.finish(), {.loss = {.kind = LossKind::mean_squared_error}});
  // Only x (t999) and m are saved: nothing before the parameter has a gradient.
  const std::vector<TensorId> saved = recomputable(step);
  ASSERT_EQ(saved.size(), 2U);
  const auto after = recompute(step, saved);
  ASSERT_TRUE(after.has_value()) << after.error().text();
  EXPECT_EQ(after->graph.nodes().size(), step.nodes().size() + 1001);
  EXPECT_TRUE(node_named(after->graph, "t0~1").valid());
}

TEST(Recompute, ViewsFollowWhatTheyShow) {
  GraphBuilder b("views");
  TensorId x = b.input("x", {4, 6});
  x = b.add(Op::Exp, "exp", {b.add(Op::Mul, "scale", {x, b.parameter("p", {6})})});
  const TensorId flat = b.add(Op::Reshape, "flat", {x}, {{Attr::shape, Integers{2, 12}}});
  b.output(b.add(Op::MatMul, "y", {flat, b.parameter("w", {12, 2})},
                 {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  const Graph step = step_graph_of(*b.finish(), {.loss = {.kind = LossKind::mean_squared_error}});
  const TensorId exp = step[node_named(step, "exp")].outputs[0];
  const TensorId view = step[node_named(step, "flat")].outputs[0];
  EXPECT_EQ(stored_behind(step, view), std::vector{exp});
  for (TensorId named : {exp, view}) {
    const auto after = recompute(step, std::vector{named});
    ASSERT_TRUE(after.has_value()) << after.error().text();
    EXPECT_TRUE(node_named(after->graph, "exp~1").valid());
    EXPECT_TRUE(node_named(after->graph, "flat~1").valid());
  }
  expect_any_set(step, "views", 5);
}

TEST(Recompute, ASecondCopyHasTheNextNumber) {
  GraphBuilder b("names");
  TensorId x = b.input("x", {2, 3});
  x = b.add(Op::Mul, "a~1", {x, b.parameter("p", {3})});
  x = b.add(Op::Exp, "a", {x});
  b.output(b.add(Op::Mul, "y", {x, b.parameter("q", {3})}));
  const Graph step = step_graph_of(*b.finish(), {.loss = {.kind = LossKind::mean_squared_error}});
  const auto after = recompute(step, std::vector{step[node_named(step, "a")].outputs[0]});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  ASSERT_TRUE(verify(after->graph));
  EXPECT_TRUE(node_named(after->graph, "a~2").valid());
}

Graph dropout_net(double ratio) {
  GraphBuilder b("dropout");
  TensorId x = b.input("x", {4, 6});
  x = b.add(Op::Mul, "scale", {x, b.parameter("p", {6})});
  x = b.add(Op::Dropout, "drop", {x}, {{Attr::ratio, ratio}});
  x = b.add(Op::Exp, "exp", {x});
  b.output(b.add(Op::Mul, "y", {x, b.parameter("q", {6})}));
  return step_graph_of(*b.finish(), {.loss = {.kind = LossKind::mean_squared_error}});
}

// With a ratio of 1/2 the factor is 2 and rounds nothing; only zeros may have another sign.
TEST(Recompute, RepeatsADropoutWithItsMask) {
  const Graph step = dropout_net(0.5);
  const TensorId exp = step[node_named(step, "exp")].outputs[0];
  const auto after = recompute(step, std::vector{exp});
  ASSERT_TRUE(after.has_value()) << after.error().text();
  const Node& copy = after->graph[node_named(after->graph, "drop~1")];
  EXPECT_EQ(copy.op, Op::DropoutGrad);
  ASSERT_EQ(copy.inputs.size(), 2U);
  EXPECT_EQ(copy.inputs[1], after->graph[node_named(after->graph, "drop")].outputs[1]);
  expect_recomputed(step, {exp}, "dropout", false);
  Values expected = values_for(step, 7);
  Values actual = values_for(after->graph, 7);
  ASSERT_TRUE(run(step, expected));
  ASSERT_TRUE(run(after->graph, actual));
  for (std::size_t i = 0; i < step.tensors().size(); ++i) {
    for (TensorId id : {after->tensors[i], after->copies[i]}) {
      if (!id.valid()) continue;
      EXPECT_EQ(expected[TensorId(i)].values, actual[id].values) << after->graph[id].name;
    }
  }
}

TEST(Recompute, NeverRepeatsWhatIsRandom) {
  const Graph step = dropout_net(0.5);
  const TensorId mask = step[node_named(step, "drop")].outputs[1];
  const auto after = recompute(step, std::vector{mask});
  ASSERT_FALSE(after.has_value());
  test::expect_error(after.error(), {"cannot be recomputed", "'drop'", "Dropout gives other values"}, step[mask].name);
  GraphBuilder b("noise");
  TensorId x = b.add(Op::Mul, "scale", {b.input("x", {4}), b.parameter("p", {4})});
  const TensorId noise = b.add(Op::RandomNormal, "noise", {},
                               {{Attr::shape, Integers{4}},
                                {Attr::mean, 0.0},
                                {Attr::scale, 1.0},
                                {Attr::to, static_cast<std::int64_t>(ElementType::float32)}});
  x = b.add(Op::Exp, "exp", {b.add(Op::Add, "add", {x, noise})});
  b.output(b.add(Op::Mul, "y", {x, b.parameter("q", {4})}));
  const Graph noisy = step_graph_of(*b.finish(), {.loss = {.kind = LossKind::mean_squared_error}});
  bool refused = false;
  for (const SavedCandidate& candidate : saved_candidates(noisy)) {
    refused |= candidate.reason.find("'noise'") != std::string::npos;
  }
  EXPECT_TRUE(refused);
}

// A step in which a weight is replaced before the part behind it has run.
TEST(Recompute, DoesNotReadAWeightThatHasBeenReplaced) {
  GraphBuilder b("replaced");
  const TensorId x = b.input("x", {4});
  const TensorId w = b.parameter("w", {4});
  const TensorId a = b.add(Op::Mul, "a", {x, w});
  const TensorId e = b.add(Op::Exp, "e", {a});
  b.set_phase(Phase::optimizer);
  b.update(w, b.add(Op::Sub, "w.update", {w, x}));
  b.set_phase(Phase::backward);
  b.output(b.add(Op::Mul, "y", {e, x}));
  const Graph step = *b.finish();
  ASSERT_TRUE(verify(step));
  const auto after = recompute(step, std::vector{e});
  ASSERT_FALSE(after.has_value());
  test::expect_error(after.error(), {"cannot be recomputed", "'w'", "'w.update' has replaced"},
                     "'" + step[e].name + "'");
}

TEST(Recompute, RefusesWhatIsNotSaved) {
  const Graph step = builtin_step("mlp-robotics", {.loss = {.kind = LossKind::mean_squared_error}});
  const TensorId weight = tensor_named(step, "layers.0.weight");
  const auto of_weight = recompute(step, std::vector{weight});
  ASSERT_FALSE(of_weight.has_value());
  test::expect_error(of_weight.error(), {"nothing to recompute"}, "layers.0.weight");
  // The output is read by the gradient of the loss, but it leaves the step.
  const auto of_output = recompute(step, std::vector{step.outputs[0]});
  ASSERT_FALSE(of_output.has_value());
  test::expect_error(of_output.error(), {"leaves the step"}, step[step.outputs[0]].name);
}

}  // namespace
}  // namespace monet::training
