// Do tiles depend on exactly the buffers that they read, by exactly the bytes?
#include "evaluate/tiles_brute_force.h"
#include "evaluate/tiles_cases.h"
#include "graph/verify.h"
#include "networks/layers.h"
#include "networks/open.h"
#include "training/options.h"
#include "training/step.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

void expect_exact(const Graph& graph, unsigned seed, int rounds, std::int64_t limit) {
  const TilingGraph tiling(graph);
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    const Assignment assignment = random_cuts(graph, tiling, random, limit);
    const auto tiles = tiling.tiles(assignment);
    ASSERT_TRUE(tiles.has_value()) << tiles.error().text();
    ASSERT_EQ(tiles_complaint(graph, tiling, assignment, *tiles), "") << "seed " << seed << ", round " << round;
  }
}

TEST(Tiles, AreExactInRandomGraphs) {
  int made = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    const auto graph = TileCase(seed).make();
    if (!graph) continue;  // a window larger than its tensor
    ++made;
    ASSERT_TRUE(verify(*graph).has_value());
    expect_exact(*graph, seed, 3, 40);
    if (HasFailure()) return;
  }
  EXPECT_GT(made, 500);
}

// A small network with residual blocks.
Graph residual_network() {
  GraphBuilder builder("residual");
  TensorId x = builder.input("input", {2, 3, 8, 8});
  x = networks::relu(builder, "relu0", networks::convolution(builder, "conv0", x, {.channels = 4, .kernel = 3}));
  x = networks::max_pool(builder, "pool", x, 3, 2, 1);
  for (int i = 1; i <= 2; ++i) {
    const std::string name = "block" + std::to_string(i);
    TensorId y = networks::convolution(builder, name + ".conv1", x, {.channels = 4 * i, .kernel = 3, .stride = i});
    y = networks::relu(builder, name + ".relu1", networks::batch_norm(builder, name + ".norm1", y));
    y = networks::convolution(builder, name + ".conv2", y, {.channels = 4 * i, .kernel = 3, .groups = 2});
    y = networks::batch_norm(builder, name + ".norm2", y);
    if (i > 1) x = networks::convolution(builder, name + ".shortcut", x, {.channels = 4 * i, .kernel = 1, .stride = i});
    x = networks::relu(builder, name + ".relu2", builder.add(Op::Add, name + ".add", {x, y}));
  }
  builder.output(networks::fully_connected(builder, "fc", networks::global_mean(builder, "mean", x), 5));
  return *builder.finish();
}

void expect_exact_training(NetworkGraph network, const TrainOptions& options, unsigned seed) {
  const auto step = training::make_training_step(std::move(network), *training::step_options(options));
  ASSERT_TRUE(step.has_value()) << step.error().text();
  expect_exact(step->graph, seed, 2, 12);
}

TEST(Tiles, AreExactInTrainingSteps) {
  unsigned seed = 0;
  for (const char* optimizer : {"adam", "momentum", "adafactor", "adam8bit"}) {
    TrainOptions options;
    options.optimizer = optimizer;
    expect_exact_training(NetworkGraph{.graph = residual_network()}, options, ++seed);
  }
  TrainOptions columns;
  columns.conv_gradient = "im2col";
  expect_exact_training(NetworkGraph{.graph = residual_network()}, columns, ++seed);
  for (const char* model :
       {"mlp-robotics:inputs=6,hidden=8,layers=2,outputs=3,batch=3",
        "fsrcnn:height=6,width=5,features=4,shrink=2,maps=1,upscale=2",
        "gpt2:layers=1,width=8,heads=2,ffn=12,vocabulary=11,tokens=5,batch=2",
        "gpt2:layers=1,width=8,heads=2,ffn=12,vocabulary=11,tokens=5,flash=1",
        "bert-base:layers=1,width=8,heads=2,ffn=12,vocabulary=11,tokens=5,positions=6",
        "gpt2like:layers=1,width=8,heads=2,ffn=12,vocabulary=11,tokens=5", "unet:image=16,features=1"}) {
    SCOPED_TRACE(model);
    auto network = open_network(model, {});
    ASSERT_TRUE(network.has_value()) << network.error().text();
    TrainOptions options;
    if (std::string_view(model).starts_with("fsrcnn")) options.loss = "mse";
    expect_exact_training(*std::move(network), options, ++seed);
  }
}

}  // namespace
}  // namespace monet::test
