// Does training for real do what a plain loop does, the same for any number of threads, and say what is wrong?
#include <monet/simulate.h>

#include "networks/layers.h"
#include "support/expect_error.h"
#include "support/folder.h"
#include "training/simulate/initial.h"
#include "training/simulate/random.h"
#include "training/simulate/trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <set>

namespace monet::training {
namespace {

using test::expect_error;

constexpr const char* small_network = "mlp-robotics:inputs=6,hidden=16,layers=1,outputs=3";

SimulateOptions quick(std::int64_t steps = 30) {
  SimulateOptions options;
  options.train.batch = 8;
  options.steps = steps;
  options.samples = 80;
  return options;
}

std::vector<Simulation> simulated(const std::vector<std::string>& precisions, const SimulateOptions& options,
                                  const std::string& model = small_network) {
  auto result = simulate(model, precisions, options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().text());
  return result ? *std::move(result) : std::vector<Simulation>();
}

Graph perceptron(ElementType type) {
  GraphBuilder builder("mlp");
  const auto layer = [&](const std::string& name, TensorId x, std::int64_t outputs) {
    const TensorId w = builder.parameter(name + ".weight", {outputs, builder.shape(x)[1]}, type);
    const TensorId b = builder.parameter(name + ".bias", {outputs}, type);
    return builder.add(
        Op::Gemm, name, {x, w, b},
        {{Attr::alpha, 1.0}, {Attr::beta, 1.0}, {Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}});
  };
  const TensorId x = builder.input("x", {8, 6}, type);
  return *networks::finish(builder, layer("1", builder.add(Op::Tanh, "act", {layer("0", x, 12)}), 3), "scores");
}

TEST(InitialValues, FollowWhatATensorIsFor) {
  GraphBuilder builder("all");
  const TensorId tokens = builder.input("tokens", {2, 3}, ElementType::int64);
  const TensorId table = builder.parameter("table", {50, 4});
  TensorId x = builder.add(Op::Gather, "lookup", {table, tokens}, {{Attr::axis, std::int64_t{0}}});
  const TensorId scale = builder.parameter("scale", {4});
  const TensorId shift = builder.parameter("shift", {4});
  x = builder.add(Op::LayerNormalization, "norm", {x, scale, shift},
                  {{Attr::axis, std::int64_t{2}}, {Attr::epsilon, 1e-5}});
  const TensorId weight = builder.parameter("weight", {300, 4});
  const TensorId turned = builder.add(Op::Transpose, "turn", {weight}, {{Attr::perm, Shape{1, 0}}});
  x = builder.add(Op::MatMul, "product", {x, turned});
  const TensorId bias = builder.parameter("bias", {300});
  builder.output(builder.add(Op::Add, "add", {x, bias}));
  const auto graph = builder.finish();
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto values = initial_values(*graph, 7);
  EXPECT_EQ(values.size(), 5U);
  EXPECT_EQ(values.at("scale").values, std::vector<double>(4, 1));
  EXPECT_EQ(values.at("shift").values, std::vector<double>(4, 0));
  EXPECT_EQ(values.at("bias").values, std::vector<double>(300, 0));
  const auto deviation = [](const Array& array) {
    double sum = 0;
    for (double value : array.values) sum += value * value;
    return std::sqrt(sum / static_cast<double>(array.values.size()));
  };
  // The relative error of a deviation that n uniform numbers show is about sqrt(0.2 / n): five of them.
  EXPECT_NEAR(deviation(values.at("weight")), std::sqrt(2.0 / 4), std::sqrt(2.0 / 4) * 5 * std::sqrt(0.2 / 1200));
  EXPECT_NEAR(deviation(values.at("table")), 0.02, 0.02 * 5 * std::sqrt(0.2 / 200));
  EXPECT_EQ(values.at("weight").values, initial_values(*graph, 7).at("weight").values);
  EXPECT_NE(values.at("weight").values, initial_values(*graph, 8).at("weight").values);
}

TEST(Split, HoldsOutWholeBatchesAndLosesNoSample) {
  const Split parts = split(103, 8, 1);
  EXPECT_EQ(parts.held_out.size(), 16U);  // a fifth is 20: two batches
  EXPECT_EQ(parts.train.size(), 87U);
  std::set<std::size_t> all(parts.train.begin(), parts.train.end());
  all.insert(parts.held_out.begin(), parts.held_out.end());
  EXPECT_EQ(all.size(), 103U);
  EXPECT_EQ(split(16, 8, 1).held_out.size(), 8U);
}

// In float64 there is nothing to round: the losses are those of the oracle, fed with its own results.
TEST(Simulate, InFloat64IsTheOracleBitByBit) {
  const NetworkGraph network{.graph = perceptron(ElementType::float64)};
  Lesson lesson;
  auto task = task_graph(network.graph, {});
  ASSERT_TRUE(task.has_value());
  lesson.task = *std::move(task);
  lesson.samples = *make_samples(lesson.task, {.file = {}, .samples = 80, .seed = 3});
  lesson.split = split(80, 8, 3);
  lesson.weights = initial_values(lesson.task.graph, 3);
  SimulateOptions options = quick(20);
  options.seed = 3;
  options.learning_rate = 0.01;
  options.measure_every = 20;
  // Of momentum, all in the parameter's type: Adam's corrections are float32 in any case.
  const auto exercise =
      make_exercise(network, lesson.task, {.optimizer = {.kind = OptimizerKind::momentum, .momentum = 0.9}});
  ASSERT_TRUE(exercise.has_value()) << exercise.error().text();
  const auto simulation = train_for_real(*exercise, lesson, options, {});
  ASSERT_TRUE(simulation.has_value()) << simulation.error().text();

  const Graph& graph = exercise->step.graph();
  Values kept;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.producer.valid() || graph.constant(TensorId(i)) != nullptr) continue;
    const auto found = lesson.weights.find(tensor.name);
    kept[TensorId(i)] = found != lesson.weights.end() ? found->second : Array::zeros(tensor.type.shape);
  }
  kept.at(exercise->learning_rate).values[0] = static_cast<float>(0.01);
  std::vector<std::size_t> order;
  std::size_t at = 0;
  int rounds = 0;
  ASSERT_FALSE(exercise->count.valid());
  for (int count = 1; count <= 20; ++count) {
    if (order.empty() || at + 8 > order.size()) {
      order.clear();
      for (std::size_t place : shuffled(lesson.split.train.size(), stream_seed(3, "round " + std::to_string(rounds))))
        order.push_back(lesson.split.train[place]);
      ++rounds;
      at = 0;
    }
    Values values = kept;
    for (std::size_t i = 0; i < exercise->inputs.size(); ++i)
      values.at(exercise->inputs[i]) = batch_of(lesson.samples.columns[i], std::span(order).subspan(at, 8));
    at += 8;
    ASSERT_TRUE(run(graph, values).has_value());
    EXPECT_EQ(simulation->losses[static_cast<std::size_t>(count - 1)], values.at(exercise->loss).values[0]) << count;
    for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
      const TensorId replaced = graph.tensors()[i].updates;
      if (replaced.valid()) kept.at(replaced) = values.at(TensorId(i));
    }
  }
}

// loss = w1² / 2, with SGD: w1 ← w1 (1 − 1/128), in int8 with one scale; w0 = 1 stays and is the largest, so steps are
// 1/127. A weight of k steps becomes k − k/128: one less as long as k/128 is above a half; at 64 it is the middle,
// which goes to the even 64. Stochastic rounding goes on.
TEST(Simulate, SgdOnAParabolaInInt8StopsWhereItMust) {
  const Format int8 = *parse_format("int8:fp32/tensor");
  for (const bool stochastic : {false, true}) {
    GraphBuilder builder("parabola");
    const TensorId w = builder.parameter("w", {2});
    const TensorId mask = builder.input("mask", {2});
    const TensorId rate = builder.input("rate", {});
    const TensorId g = builder.add(Op::Mul, "gradient", {w, mask});
    Attributes attributes = {{Attr::weight_decay, 0.0}};
    if (stochastic) attributes.set(Attr::mode, std::string("stochastic"));
    const TensorId next = builder.add(Op::SgdUpdate, "update", {w, g, rate}, std::move(attributes));
    Graph graph = *builder.finish();
    graph[w].type.format = graph[next].type.format = int8;
    const auto program = PreparedGraph::prepare(graph, {next});
    ASSERT_TRUE(program.has_value());
    std::vector<Array> values(graph.tensors().size());
    values[w.index()] = {{2}, {1, 100.0 / 127}};
    values[mask.index()] = {{2}, {0, 1}};
    values[rate.index()] = {{}, {1.0 / 128}};
    double k = 0;
    for (int step = 1; step <= 600; ++step) {
      ASSERT_TRUE(program->run(values, {.rounds = true, .seed = stream_seed(1, std::to_string(step))}).has_value());
      values[w.index()] = std::move(values[next.index()]);
      k = values[w.index()].values[1] / values[w.index()].values[0] * 127;
      if (!stochastic) {
        EXPECT_NEAR(k, std::max(100 - step, 64), 1e-4) << step;
      }
    }
    if (stochastic) {
      EXPECT_LT(k, 32);  // 100 (127/128)^600 is 1
    }
  }
}

TEST(Simulate, LowersTheLossInEveryRecipeAndStartsFromTheSameWeights) {
  SimulateOptions options = quick(60);
  options.learning_rate = 0.01;
  const std::vector<Simulation> runs = simulated({"fp32", "bf16", "mxfp8"}, options);
  ASSERT_EQ(runs.size(), 3U);
  for (const Simulation& run : runs) {
    ASSERT_EQ(run.losses.size(), 60U);
    EXPECT_LT(run.losses.back(), 0.5 * run.losses.front()) << run.precision;
    EXPECT_FALSE(run.diverged);
    EXPECT_EQ(run.measured.front().step, 0);
    EXPECT_EQ(run.last().step, 60);
  }
  EXPECT_NE(runs[0].losses, runs[1].losses);
  EXPECT_NE(runs[0].losses, runs[2].losses);
  // bfloat16 keeps 8 bits of each number: the first loss is off by no more than some of the last.
  EXPECT_NEAR(runs[1].losses[0], runs[0].losses[0], 0.05 * runs[0].losses[0]);
}

TEST(Simulate, IsTheSameForAnyNumberOfThreads) {
  SimulateOptions options = quick();
  options.jobs = 1;
  const std::vector<Simulation> one = simulated({"fp32", "bf16", "mxfp4", "int8-integer"}, options);
  options.jobs = 4;
  const std::vector<Simulation> four = simulated({"fp32", "bf16", "mxfp4", "int8-integer"}, options);
  ASSERT_EQ(one.size(), four.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].losses, four[i].losses);
    EXPECT_EQ(one[i].last().loss, four[i].last().loss);
  }
}

// A power of two leaves all bits of a float alone.
TEST(Simulate, ALossScaleChangesNothingInFp32) {
  SimulateOptions options = quick();
  const auto plain = simulated({"fp32"}, options);
  options.train.loss_scale = 1024;
  const auto scaled = simulated({"fp32"}, options);
  EXPECT_EQ(plain.at(0).losses, scaled.at(0).losses);
}

TEST(Simulate, AScaleThatOverflowsIsHalvedUntilItDoesNot) {
  SimulateOptions options = quick(40);
  options.train.loss_scale = 0x1p24;
  const auto runs = simulated({"mixed-fp16"}, options);
  EXPECT_FALSE(runs.at(0).diverged);
  EXPECT_EQ(runs[0].losses.size(), 40U);
  ASSERT_FALSE(runs[0].notes.empty());
  EXPECT_NE(runs[0].notes[0].find("gradients overflowed in"), std::string::npos) << runs[0].notes[0];
  EXPECT_LT(runs[0].last().loss, runs[0].measured.front().loss);
}

// With SGD the mean over two micro-batches is that over the batch of both, but for the order of sums.
TEST(Simulate, MicroBatchesAreABatch) {
  SimulateOptions options = quick(20);
  options.train.optimizer = "sgd";
  const auto whole = simulated({"fp32"}, options);
  options.train.batch = 4;
  options.train.accumulate = 2;
  const auto halves = simulated({"fp32"}, options);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(whole.at(0).losses[i], halves.at(0).losses[i], 1e-4) << i;
}

TEST(Simulate, SaysThatItDiverges) {
  SimulateOptions options = quick();
  options.train.optimizer = "sgd";
  options.learning_rate = 1e6;
  const auto runs = simulated({"fp32"}, options);
  EXPECT_TRUE(runs.at(0).diverged);
  EXPECT_LT(runs[0].losses.size(), 30U);
  for (double loss : runs[0].losses) EXPECT_TRUE(std::isfinite(loss));
  EXPECT_NE(to_text(runs).plain().find("diverged in step"), std::string::npos);
}

TEST(Simulate, WhatDivergedHasNoAccuracy) {
  SimulateOptions options = quick();
  options.train.optimizer = "sgd";
  options.learning_rate = 1e6;
  const auto runs = simulated({"fp32"}, options);
  EXPECT_TRUE(runs.at(0).measured.front().accuracy.has_value());
  EXPECT_FALSE(runs[0].last().accuracy.has_value());
}

TEST(Simulate, ScoresThatAreNotNumbersAreNoClass) {
  const double nan = std::nan("");
  const Array scores{.shape = {3, 2}, .values = {1, 2, nan, 1, 1, nan}};
  EXPECT_EQ(best_classes(scores, 1), (std::vector<std::size_t>{1, 2, 2}));
}

TEST(Simulate, CanBeStoppedBetweenMicroBatches) {
  SimulateOptions options = quick();
  options.train.batch = 2;
  options.train.accumulate = 1000;
  std::atomic<int> asked = 0;
  options.stop = [&] { return asked++ == 7; };
  const auto runs = simulated({"fp32"}, options);
  EXPECT_TRUE(runs.at(0).stopped);
  EXPECT_TRUE(runs[0].losses.empty());
  EXPECT_EQ(asked, 8);
}

TEST(Simulate, SaysThatIntegersHaveNoMoments) {
  const auto says = [](const std::string& optimizer) {
    SimulateOptions options = quick(1);
    options.train.optimizer = optimizer;
    const auto runs = simulated({"int8-integer"}, options);
    return std::ranges::any_of(runs.at(0).notes, [](const std::string& note) {
      return note.find("use --optimizer sgd") != std::string::npos;
    });
  };
  EXPECT_TRUE(says("adam"));
  EXPECT_FALSE(says("sgd"));
}

TEST(Simulate, AnotherSeedOnTheSameSamples) {
  SimulateOptions options = quick(3);
  const auto first = simulated({"fp32"}, options);
  options.data_seed = options.seed;
  EXPECT_EQ(simulated({"fp32"}, options).at(0).losses, first.at(0).losses);
  options.seed = 2;
  EXPECT_NE(simulated({"fp32"}, options).at(0).losses, first[0].losses);
}

TEST(Simulate, KeepsWhatWasDoneWhenStopped) {
  SimulateOptions options = quick();
  std::atomic<int> asked = 0;
  options.stop = [&] { return asked++ == 7; };
  const auto runs = simulated({"fp32"}, options);
  EXPECT_TRUE(runs.at(0).stopped);
  EXPECT_EQ(runs[0].losses.size(), 7U);
  EXPECT_EQ(runs[0].last().step, 7);
}

TEST(Simulate, HasATaskForEveryKindOfNetwork) {
  const auto expect_learns = [](const std::string& model, const std::string& loss, const std::string& data) {
    SimulateOptions options = quick(3);
    options.train.loss = loss;
    options.train.batch = 2;
    options.samples = 10;
    const auto runs = simulated({"fp32"}, options, model);
    ASSERT_EQ(runs.size(), 1U);
    EXPECT_EQ(runs[0].losses.size(), 3U) << model;
    EXPECT_NE(runs[0].data.find(data), std::string::npos) << runs[0].data;
  };
  expect_learns(small_network, "mse", "teacher");
  expect_learns(small_network, "bce", "teacher");
  expect_learns("gpt2:layers=1,width=8,heads=2,ffn=16,vocabulary=12,tokens=4", "cross-entropy", "sequences");
  expect_learns("bert-base:layers=1,width=8,heads=2,ffn=16,vocabulary=12,tokens=4,positions=8", "cross-entropy",
                "tokens that it prefers");
  expect_learns("unet:image=16,features=4", "cross-entropy", "random centres");
}

TEST(Simulate, ASmallConvolutionalNetworkLearnsTheMadeUpImages) {
  SimulateOptions options;
  options.train.batch = 16;
  options.steps = 100;
  options.samples = 480;
  const auto runs = simulated({"fp32"}, options, "lenet5");
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(hardly_learned(runs[0]), "");
  EXPECT_GT(runs[0].last().accuracy.value_or(0), 0.25) << "one in ten by chance";
}

TEST(SimulateErrors, NameTheOptionAndWhatToDo) {
  const auto error_of = [](SimulateOptions options, const std::string& model = small_network) {
    const auto result = simulate(model, {"fp32"}, options);
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : result.error();
  };
  SimulateOptions options = quick(0);
  expect_error(error_of(options), {"0 steps"}, "--simulate");
  options = quick();
  options.learning_rate = -1;
  expect_error(error_of(options), {"learning rate of -1"}, "--learning-rate");
  options = quick();
  options.samples = -1;
  expect_error(error_of(options), {"-1 samples"}, "--samples");
  options.samples = 15;
  expect_error(error_of(options), {"15 samples are too few"}, "--samples");
  options.samples = std::int64_t{1} << 40;
  expect_error(error_of(options), {"do not fit into memory"}, "--samples");
  options = quick();
  options.data = "x.csv";
  expect_error(error_of(options), {"do not go together"}, "--samples");
  options = quick();
  options.measure_every = -1;
  expect_error(error_of(options), {"every -1 steps"}, "--measure-every");
  options = quick();
  options.train.loss = "output:logits";
  expect_error(error_of(options), {"cannot be simulated"}, "--loss");
  expect_error(error_of(quick(10000), "resnet50"), {"too much work", "hours"}, "resnet50");
  options = quick();
  options.train.accumulate = 1'000'000'000;
  expect_error(error_of(options), {"too much work", "hours"}, small_network);
  options = quick(1);
  expect_error(error_of(options, "mlp-robotics:hidden=100000"), {"too large", "GiB"}, "mlp-robotics");
  EXPECT_FALSE(simulate(small_network, {"fp23"}, quick()).has_value());
}

class SimulateData : public testing::Test {
 protected:
  Expected<Simulation> with(const std::string& text, std::int64_t batch = 2) {
    std::ofstream(folder_ / "data.csv") << text;
    SimulateOptions options = quick(3);
    options.samples = 0;
    options.train.batch = batch;
    options.train.precision = "fp32";
    options.data = folder_ / "data.csv";
    return simulate("mlp-robotics:inputs=2,hidden=4,layers=1,outputs=3", options);
  }
  void expect_wrong(const std::string& text, const std::vector<std::string>& words, const std::string& place,
                    bool advises = true) {
    const auto result = with(text);
    ASSERT_FALSE(result.has_value()) << text;
    expect_error(result.error(), words, place, advises);
  }
  test::Folder folder_;
};

TEST_F(SimulateData, ComesFromAFileWithOrWithoutAHeading) {
  const std::string lines = "1,2,0\n 1.5 ,-2e-1, 1\r\n\n3,4,2\n+1,2,0\n";
  const auto plain = with(lines);
  ASSERT_TRUE(plain.has_value()) << plain.error().text();
  EXPECT_NE(plain->data.find("data.csv: 4 samples"), std::string::npos) << plain->data;
  const auto headed = with("x,y,class\n" + lines);
  ASSERT_TRUE(headed.has_value()) << headed.error().text();
  EXPECT_EQ(headed->losses, plain->losses);
  const auto marked = with("\xEF\xBB\xBF" + lines);
  ASSERT_TRUE(marked.has_value()) << marked.error().text();
  EXPECT_EQ(marked->losses, plain->losses);
}

TEST_F(SimulateData, ErrorsNameTheLine) {
  expect_wrong("1,2,0\n1,2\n", {"there are 2 numbers, not 3"}, "data.csv:2");
  expect_wrong("1,2,0\n\n1,2,0,1\n", {"there are 4 numbers, not 3"}, "data.csv:3");
  expect_wrong("1,2,0\n1,two,0\n", {"'two' is not a number"}, "data.csv:2: field 2", false);
  expect_wrong("1,nan,0\n", {"'nan' is not a number"}, "data.csv:1: field 2", false);
  expect_wrong("1,,0\n", {"'' is not a number"}, "data.csv:1: field 2", false);
  expect_wrong("1,2,3\n", {"there is no class 3"}, "data.csv:1: field 3");
  expect_wrong("1,2,-1\n", {"there is no class -1"}, "data.csv:1: field 3");
  expect_wrong("1,2,0.5\n", {"0.5 is not a whole number"}, "data.csv:1: field 3", false);
  expect_wrong("1,2,0\n1,2,1\n3,4,1\n", {"3 samples are too few for batches of 2"}, "data.csv");
  expect_wrong("", {"0 samples are too few"}, "data.csv");
  expect_wrong("1,2,-100\n1,2,-100\n3,4,-100\n3,4,-100\n", {"have no class but -100, which is ignored"}, "data.csv");
  SimulateOptions options = quick(1);
  options.samples = 0;
  options.data = folder_ / "absent.csv";
  EXPECT_FALSE(simulate(small_network, {"fp32"}, options).has_value());
}

TEST_F(SimulateData, OfTokensMustBeInTheVocabulary) {
  std::ofstream(folder_ / "tokens.csv") << "0,1,2,3,1\n0,1,2,12,1\n";
  SimulateOptions options = quick(1);
  options.samples = 0;
  options.train.batch = 1;
  options.data = folder_ / "tokens.csv";
  const auto result =
      simulate("bert-base:layers=1,width=8,heads=2,ffn=16,vocabulary=12,tokens=4,positions=8", {"fp32"}, options);
  ASSERT_FALSE(result.has_value());
  expect_error(result.error(), {"there is no token 12"}, "tokens.csv:2: field 4");
}

}  // namespace
}  // namespace monet::training
