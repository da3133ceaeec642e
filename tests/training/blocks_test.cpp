// Are residual blocks and transformer layers found where they are, and only there?
#include "training/blocks.h"

#include "graph/builder.h"
#include "networks/builtin.h"
#include "training/recompute_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace monet::training {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Names = std::vector<std::string>;

Graph builtin_graph(const std::string& network) {
  auto graph = build_builtin(network);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return graph ? *std::move(graph) : Graph();
}

TrainingStep builtin_training_step(const std::string& network) {
  auto step = make_training_step({builtin_graph(network), false, {}, {}}, {});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? *std::move(step) : TrainingStep();
}

// Small networks of matrix products, written down in a line each.
class Net {
 public:
  Net() : builder_("net") {}
  TensorId input(const char* name = "x") { return builder_.input(name, {8, 4}); }
  TensorId linear(TensorId x) {
    const std::string name = "fc" + std::to_string(count_++);
    return builder_.add(Op::MatMul, name, {x, builder_.parameter(name + ".weight", {4, 4})}, product());
  }
  TensorId relu(TensorId x) { return unary(Op::Relu, x); }
  TensorId unary(Op op, TensorId x) { return builder_.add(op, "u" + std::to_string(count_++), {x}); }
  TensorId add(TensorId a, TensorId b) { return builder_.add(Op::Add, "add" + std::to_string(count_++), {a, b}); }
  TensorId mul(TensorId a, TensorId b) { return builder_.add(Op::Mul, "mul" + std::to_string(count_++), {a, b}); }
  TensorId branch(TensorId x) { return linear(relu(linear(x))); }
  TensorId residual(TensorId x) { return add(x, branch(x)); }
  // softmax(QKᵀ)V of what comes from `q` and from `kv`.
  TensorId attention(TensorId q, TensorId kv) {
    const TensorId scores =
        builder_.add(Op::MatMul, "qk" + std::to_string(count_++), {linear(q), linear(kv)},
                     {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 1.0}});
    const TensorId weights = builder_.add(Op::Softmax, "softmax" + std::to_string(count_++), {scores},
                                          {{Attr::axes, std::vector<std::int64_t>{1}}});
    return builder_.add(Op::MatMul, "av" + std::to_string(count_++), {weights, linear(kv)}, product());
  }
  GraphBuilder& builder() { return builder_; }
  Graph finish(TensorId y) {
    builder_.output(y);
    auto graph = builder_.finish();
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
    return *std::move(graph);
  }

 private:
  static Attributes product() {
    return {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  }
  GraphBuilder builder_;
  int count_ = 0;
};

// Pairs of entry and exit.
using Ends = std::vector<std::pair<TensorId, TensorId>>;
Ends ends_of(const std::vector<Block>& blocks) {
  Ends ends;
  for (const Block& block : blocks) ends.emplace_back(block.entry, block.exit);
  return ends;
}

// As published: basic blocks 2+2+2+2, bottlenecks 3+4+6+3, ten of MobileNet-V2's blocks have a shortcut.
TEST(Blocks, AreThoseOfKnownNetworks) {
  const std::pair<const char*, std::size_t> expected[] = {
      {"resnet18", 8},     {"resnet18-cifar", 8}, {"resnet18-224", 8},
      {"resnet50", 16},    {"mobilenet-v2", 10},  {"gpt2:layers=3,width=8,heads=2,ffn=16,tokens=4", 3},
      {"gpt2like", 4},     {"bert-base", 12},     {"gpt2:flash=1,layers=2,width=8,heads=2,ffn=16,tokens=4", 2},
      {"mlp-robotics", 0}, {"unet:image=32", 0}};
  for (const auto& [network, count] : expected) {
    const std::vector<Block> blocks = find_blocks(builtin_graph(network));
    EXPECT_EQ(blocks.size(), count) << network;
    std::vector<NodeId> nodes;
    for (const Block& block : blocks) {
      EXPECT_TRUE(std::ranges::is_sorted(block.nodes)) << network;
      nodes.insert(nodes.end(), block.nodes.begin(), block.nodes.end());
    }
    std::ranges::sort(nodes);
    EXPECT_EQ(std::ranges::adjacent_find(nodes), nodes.end()) << network << ": a node is in two blocks";
  }
}

// Also in the step, with its backward part and in another precision.
TEST(Blocks, FollowEachOtherWithoutAGap) {
  for (const char* network : {"resnet18", "bert-base:layers=3", "gpt2:layers=3"}) {
    const Graph graph = builtin_training_step(network).graph;
    const std::vector<Block> blocks = find_blocks(graph);
    ASSERT_FALSE(blocks.empty()) << network;
    for (std::size_t i = 1; i < blocks.size(); ++i) EXPECT_EQ(blocks[i - 1].exit, blocks[i].entry) << network;
  }
}

// The sum of a residual block is followed by a relu, that of BERT by a norm, and the same after the last one.
TEST(Blocks, EndWithWhatFollowsTheSum) {
  const auto ops = [](const char* network) {
    const Graph graph = builtin_graph(network);
    std::vector<Op> result;
    for (const Block& block : find_blocks(graph)) result.push_back(graph[graph[block.exit].producer].op);
    return result;
  };
  EXPECT_THAT(ops("resnet18"), testing::Each(Op::Relu));
  EXPECT_THAT(ops("bert-base:layers=2"), ElementsAre(Op::LayerNormalization, Op::LayerNormalization));
  EXPECT_THAT(ops("gpt2:layers=2"), ElementsAre(Op::Add, Op::Add));
  EXPECT_THAT(ops("mobilenet-v2"), testing::Each(Op::Add));
}

TEST(Blocks, BeginWhereTheTwoWaysPart) {
  Net net;
  const TensorId x = net.relu(net.linear(net.input()));
  const TensorId a = net.residual(x);
  const TensorId b = net.add(net.linear(a), net.branch(a));  // with a projection
  const std::vector<Block> blocks = find_blocks(net.finish(net.linear(b)));
  EXPECT_THAT(ends_of(blocks), ElementsAre(std::pair(x, a), std::pair(a, b)));
  EXPECT_THAT(blocks[0].nodes.size(), 4U);
  EXPECT_THAT(blocks[1].nodes.size(), 5U);
}

TEST(Blocks, AreNoSumsWithoutLayersBetween) {
  Net net;
  TensorId x = net.linear(net.input());
  x = net.add(x, net.mul(x, net.unary(Op::Tanh, x)));     // an activation function in parts
  x = net.add(net.linear(x), net.linear(net.linear(x)));  // a low-rank addition: nothing bends
  x = net.add(net.linear(net.input("z")), x);             // two inputs meet
  EXPECT_THAT(find_blocks(net.finish(net.linear(x))), IsEmpty());
}

TEST(Blocks, AreTheInnerOnesWhereAConnectionSpansSeveral) {
  Net net;
  const TensorId x = net.linear(net.input());
  const TensorId a = net.residual(x);
  const TensorId b = net.residual(a);
  const TensorId far = net.add(net.linear(b), x);
  EXPECT_THAT(ends_of(find_blocks(net.finish(net.linear(far)))), ElementsAre(std::pair(x, a), std::pair(a, b)));
}

TEST(Blocks, AreTheOuterOneWhereAConnectionSpansOne) {
  Net net;
  const TensorId x = net.linear(net.input());
  const TensorId h = net.unary(Op::Tanh, x);
  const TensorId both = net.add(net.attention(h, h), net.branch(h));  // attention and feed-forward part side by side
  const TensorId y = net.add(x, both);
  EXPECT_THAT(ends_of(find_blocks(net.finish(net.linear(y)))), ElementsAre(std::pair(x, y)));
}

TEST(Blocks, JoinAttentionWithTheFeedForwardPartBehindIt) {
  Net net;
  const TensorId memory = net.relu(net.linear(net.input("memory")));
  const TensorId x = net.linear(net.input());
  const TensorId own = net.add(x, net.attention(x, x));
  const TensorId cross = net.add(own, net.attention(own, memory));  // of a decoder: data meet others
  const TensorId first = net.residual(cross);
  const TensorId second = net.residual(net.add(first, net.attention(first, first)));
  EXPECT_THAT(ends_of(find_blocks(net.finish(net.linear(second)))),
              ElementsAre(std::pair(x, first), std::pair(first, second)));
}

// Kept are block inputs and what the stem, the pool and the head save.
TEST(Blocks, KeepTheirEntries) {
  for (const char* network : {"resnet18", "gpt2:layers=3", "bert-base:layers=2", "mobilenet-v2"}) {
    const TrainingStep step = builtin_training_step(network);
    const std::vector<Block> blocks = find_blocks(step.graph);
    const std::vector<TensorId> saved = saved_in_blocks(step.graph, blocks);
    ASSERT_FALSE(saved.empty());
    for (TensorId id : saved) {
      const NodeId producer = step.graph[id].producer;
      EXPECT_TRUE(std::ranges::any_of(
          blocks, [&](const Block& block) { return std::ranges::binary_search(block.nodes, producer); }))
          << network << ": " << step.graph[id].name;
      EXPECT_TRUE(std::ranges::none_of(blocks, [&](const Block& block) { return block.entry == id; }))
          << network << ": " << step.graph[id].name;
    }
    const auto after = recompute(step, saved);
    ASSERT_TRUE(after.has_value()) << after.error().text();
    for (const SavedTensor& kept : after->step.saved) {
      const NodeId producer = after->step.graph[kept.tensor].producer;
      EXPECT_FALSE(std::ranges::binary_search(after->copies, producer)) << network;
      EXPECT_EQ(after->step.graph[producer].phase, Phase::forward) << network;
    }
  }
}

// A transformer layer saves what its parts save; recomputed it saves its input alone.
TEST(Blocks, ATransformerLayerKeepsOneTensor) {
  constexpr std::int64_t tokens = 16, width = 8, layers = 3;
  const std::string sizes = ",width=8,heads=2,ffn=16,vocabulary=11,tokens=16";
  const auto kept = [&](std::int64_t count) {
    const TrainingStep step = builtin_training_step("gpt2:layers=" + std::to_string(count) + sizes);
    const auto after = recompute(step, saved_in_blocks(step.graph, find_blocks(step.graph)));
    EXPECT_TRUE(after.has_value());
    std::int64_t sum = 0;
    for (const SavedTensor& each : after->step.saved) sum += each.storage_bytes;
    return sum;
  };
  EXPECT_EQ(kept(layers) - kept(1), (layers - 1) * tokens * width * 4);
}

TEST(Blocks, AreFoundInTimeInLongChainsAndDeepNests) {
  Net net;
  const TensorId x = net.linear(net.input());
  TensorId y = x;
  std::vector<TensorId> skips;
  for (int i = 0; i < 1500; ++i) skips.push_back(y = net.relu(net.linear(y)));
  for (std::size_t i = skips.size(); i-- > 0;) y = net.add(net.relu(y), skips[i]);
  const Graph graph = net.finish(y);
  EXPECT_LE(find_blocks(graph).size(), 1500U);
}

}  // namespace
}  // namespace monet::training
