// Do recipes send, and keep, the bytes of the published formulas (the formulas of tensor, sequence and data parallelism
// of Korthikanti et al. 2022; of ZeRO, Rajbhandari et al. 2020)? Exactly, on a transformer whose sizes all divide.
#include "graph/nests.h"
#include "networks/builtin.h"
#include "parallel/recipe.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace monet::formulas {
namespace {

constexpr std::int64_t layers = 3, width = 64, tokens = 32, vocabulary = 128, samples = 8;

Graph transformer(std::int64_t micro_batches = 1) {
  auto forward = build_builtin("gpt2-mini:layers=3,width=64,heads=8,ffn=256,vocabulary=128,tokens=32", samples);
  EXPECT_TRUE(forward.has_value()) << forward.error().text();
  training::StepOptions options;
  options.optimizer.micro_batches = micro_batches;
  auto step = training::make_training_step({*std::move(forward), false, {}, {}}, options);
  EXPECT_TRUE(step.has_value()) << step.error().text();
  return std::move(step->graph);
}

parallel::ParallelStep split(Graph step, const std::string& words) {
  auto result = parallel::parallel_step(std::move(step), *parallel::parse_parallel(words));
  EXPECT_TRUE(result.has_value()) << result.error().text();
  return *std::move(result);
}

std::int64_t parameter_bytes(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) sum += tensor.parameter && !tensor.producer.valid() ? bytes(tensor) : 0;
  return sum;
}

// Of whole tensors: what is summed, or is there after it was gathered. By operator, phase and what kind of tensor.
struct Sent {
  std::map<std::pair<Op, Phase>, std::int64_t> weights, activations;

  static std::int64_t of(const std::map<std::pair<Op, Phase>, std::int64_t>& sums, Op op, Phase phase) {
    const auto found = sums.find({op, phase});
    return found == sums.end() ? 0 : found->second;
  }
};

Sent sent(const parallel::ParallelStep& step, const std::string& axis) {
  Sent result;
  for (const Node& node : step.graph.nodes()) {
    if (!is_collective(node.op) || node.attributes.text(Attr::mesh) != axis) continue;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor& input = step.graph[node.inputs[i]];
      const std::int64_t whole = bytes(node.op == Op::AllGather ? step.graph[node.outputs[i]] : input);
      const bool number = element_count(input.type.shape) == 1;
      const bool activation =
          !number && (input.role == Role::activation || input.role == Role::gradient) && !input.name.ends_with(".grad");
      (activation ? result.activations : result.weights)[{node.op, node.phase}] += whole;
    }
  }
  return result;
}

const Graph& step() {
  static const Graph graph = transformer();
  return graph;
}
const std::int64_t all_bytes = parameter_bytes(step());
constexpr std::int64_t sbh = 4 * samples * tokens * width;
constexpr std::int64_t loss = 4 + 4;  // its sum, and the number of labels that count

TEST(ParallelFormulas, DataParallelismSumsEachGradientOnce) {
  const Sent of = sent(split(step(), "dp=4"), "dp");
  EXPECT_EQ(Sent::of(of.weights, Op::AllReduce, Phase::backward), all_bytes);
  EXPECT_EQ(Sent::of(of.weights, Op::AllReduce, Phase::forward), loss);
  EXPECT_EQ(of.weights.size(), 2U);
  EXPECT_TRUE(of.activations.empty());
}

// 2 (n − 1)/n of them, as data parallelism: half before the update, half after it.
TEST(ParallelFormulas, Zero1And2ScatterGradientsAndGatherWeights) {
  for (const char* words : {"dp=4,zero=1", "dp=4,zero=2"}) {
    const Sent of = sent(split(step(), words), "dp");
    EXPECT_EQ(Sent::of(of.weights, Op::ReduceScatter, Phase::backward), all_bytes) << words;
    EXPECT_EQ(Sent::of(of.weights, Op::AllGather, Phase::optimizer), all_bytes) << words;
    EXPECT_EQ(of.weights.size(), 3U) << words;  // and the loss
    EXPECT_TRUE(of.activations.empty()) << words;
  }
}

// Convolutions and norms of batches too: nothing is exchanged but gradients, weights, and the norms' statistics.
TEST(ParallelFormulas, Zero1OfConvolutionsSendsNoImages) {
  auto forward = build_builtin("unet:image=32,features=8", samples);
  ASSERT_TRUE(forward.has_value()) << forward.error().text();
  auto whole = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(whole.has_value()) << whole.error().text();
  const Sent of = sent(split(whole->graph, "dp=4,zero=1"), "dp");
  const auto all = [&](Op op) {
    std::int64_t sum = 0;
    for (const auto* kind : {&of.weights, &of.activations}) {
      for (const auto& [what, bytes] : *kind) sum += what.first == op ? bytes : 0;
    }
    return sum;
  };
  std::int64_t split_bytes = 0, statistics = 0;
  for (const Tensor& tensor : whole->graph.tensors()) {
    if (!tensor.parameter || tensor.producer.valid()) continue;
    const bool divides = std::ranges::any_of(tensor.type.shape, [](std::int64_t size) { return size % 4 == 0; });
    split_bytes += divides ? bytes(tensor) : 0;
    statistics += tensor.type.shape.size() == 1 ? bytes(tensor) : 0;
  }
  EXPECT_EQ(all(Op::AllToAll), 0);
  EXPECT_EQ(all(Op::ReduceScatter), split_bytes);
  EXPECT_EQ(all(Op::AllGather), split_bytes);
  EXPECT_LE(all(Op::AllReduce), 4 * statistics);
}

// The formula gathers all weights twice. Deviation: biases and positions are not read by the backward part, and so not
// gathered for it.
TEST(ParallelFormulas, Zero3GathersWeightsForEachPart) {
  const Sent of = sent(split(step(), "dp=4,zero=3"), "dp");
  const auto both = [&](Op op, Phase phase) {
    return Sent::of(of.weights, op, phase) + Sent::of(of.activations, op, phase);
  };
  const std::int64_t biases = layers * (3 * width + width + 4 * width + width + 2 * width) + width;
  EXPECT_EQ(both(Op::AllGather, Phase::forward), all_bytes);
  EXPECT_EQ(both(Op::AllGather, Phase::backward), all_bytes - 4 * (biases + tokens * width));
  EXPECT_EQ(both(Op::ReduceScatter, Phase::backward), all_bytes);
  EXPECT_EQ(both(Op::AllGather, Phase::optimizer), 0);
}

std::int64_t all_of(const Sent& of, Op op, Phase phase) {
  return Sent::of(of.weights, op, phase) + Sent::of(of.activations, op, phase);
}

// Beside the four of a layer one for the embedding and one for the gradient of what the head reads; and of the loss
// three small ones: the maxima, the sums of exponentials, the scores of the labels.
TEST(ParallelFormulas, TensorParallelismSumsFourTimesALayerAndForEmbeddingAndHead) {
  const Sent of = sent(split(step(), "tp=4"), "tp");
  constexpr std::int64_t sb = 4 * samples * tokens;
  EXPECT_EQ(all_of(of, Op::AllReduce, Phase::forward), (layers * 2 + 1) * sbh + 3 * sb);
  EXPECT_EQ(all_of(of, Op::AllReduce, Phase::backward), (layers * 2 + 1) * sbh);
  for (const auto& [what, bytes] : of.weights) EXPECT_EQ(what.first, Op::AllReduce) << bytes;
}

// The same bytes in halves, and in the backward part what the products by columns read is gathered again. Deviations:
// gradients of what is not split by tp (norms, biases after a sum, positions) are summed or gathered, and the words and
// labels are gathered. Of the gradient of the table the terms are scattered, where others gather what comes back to the
// embedding: the table is half as large here.
TEST(ParallelFormulas, SequenceParallelismScattersAndGathers) {
  const Sent of = sent(split(step(), "tp=4,sequence=on"), "tp");
  EXPECT_EQ(Sent::of(of.activations, Op::AllGather, Phase::forward), (layers * 2 + 1) * sbh);
  EXPECT_EQ(Sent::of(of.activations, Op::ReduceScatter, Phase::forward), (layers * 2 + 1) * sbh);
  EXPECT_EQ(Sent::of(of.activations, Op::ReduceScatter, Phase::backward),
            (layers * 2 + 1) * sbh + 4 * vocabulary * width);
  EXPECT_EQ(Sent::of(of.activations, Op::AllGather, Phase::backward), (layers * 4 + 1) * sbh + 4 * tokens * width);
  const std::int64_t norms = (2 * layers + 1) * 2 * width, biases = layers * 2 * width;
  EXPECT_EQ(Sent::of(of.weights, Op::AllReduce, Phase::backward), 4 * (norms + biases));
}

// Keys and values are gathered, again for the backward part, and their gradients scattered: with rings the same bytes
// are sent in pieces. Deviation: a chip has the gradient of the positions of its tokens alone, and it is gathered.
TEST(ParallelFormulas, ContextParallelismGathersKeysAndValues) {
  const Sent of = sent(split(step(), "cp=4"), "cp");
  EXPECT_EQ(Sent::of(of.activations, Op::AllGather, Phase::forward), layers * 2 * sbh);
  EXPECT_EQ(Sent::of(of.activations, Op::AllGather, Phase::backward), layers * 2 * sbh + 4 * tokens * width);
  EXPECT_EQ(Sent::of(of.activations, Op::ReduceScatter, Phase::backward), layers * 2 * sbh);
  EXPECT_EQ(Sent::of(of.weights, Op::AllReduce, Phase::backward), all_bytes - 4 * tokens * width);
}

std::int64_t macs(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Node& node : graph.nodes()) sum += (*operation_counts(nests_of(site_of(graph, node))))[Count::mac];
  return sum;
}

// Also where gathering what a weight's gradient is made of would send less than the gradient.
TEST(ParallelFormulas, ContextParallelismComputesNothingTwice) {
  auto forward = build_builtin("gpt2-mini:layers=1,width=64,heads=8,ffn=256,vocabulary=128,tokens=32", 1);
  ASSERT_TRUE(forward.has_value()) << forward.error().text();
  auto whole = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(whole.has_value()) << whole.error().text();
  for (const char* words : {"cp=4", "cp=4,zero=1", "cp=4,zero=3"})
    EXPECT_EQ(4 * macs(split(whole->graph, words).graph), macs(whole->graph)) << words;
}

// Two exchanges forward and two backward of what each chip's tokens send to k experts; experts' own gradients are not
// summed over the axis, all others are.
TEST(ParallelFormulas, ExpertParallelismSendsTokensTwiceThereAndBack) {
  constexpr std::int64_t chips = 4, chosen = 2, experts = 8;
  auto forward = build_builtin(
      "moe:layers=2,width=64,heads=8,kv_heads=8,head_width=0,experts=8,top_k=2,expert_ffn=32,vocabulary=128,tokens=32",
      samples);
  ASSERT_TRUE(forward.has_value()) << forward.error().text();
  auto whole = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  ASSERT_TRUE(whole.has_value()) << whole.error().text();
  const Sent of = sent(split(whole->graph, "ep=4"), "ep");
  EXPECT_EQ(all_of(of, Op::AllToAll, Phase::forward), 2 * 2 * chosen * sbh / chips);
  EXPECT_EQ(all_of(of, Op::AllToAll, Phase::backward), 2 * 2 * chosen * sbh / chips);
  const std::int64_t of_experts = 2 * 3 * 4 * experts * width * 32;
  EXPECT_EQ(all_of(of, Op::AllReduce, Phase::backward), parameter_bytes(whole->graph) - of_experts);
}

// Over two axes at once, as over one of all their chips; of positions over dp alone.
TEST(ParallelFormulas, GradientsAreSummedOverDataAndContextAtOnce) {
  const parallel::ParallelStep both = split(step(), "dp=2,cp=2");
  std::int64_t sum = 0;
  for (const Node& node : both.graph.nodes()) {
    if (node.op != Op::AllReduce || node.phase != Phase::backward) continue;
    EXPECT_EQ(node.attributes.integer(Attr::group), node.attributes.text(Attr::mesh) == "dp+cp" ? 4 : 2);
    for (TensorId id : node.inputs) sum += bytes(both.graph[id]);
  }
  EXPECT_EQ(sum, all_bytes - 4 * tokens * width / 2);
}

// Weights, gradients that add up over micro-batches and Adam's moments, in single precision: 4 + 4 + 8 bytes a
// parameter where the paper, in mixed precision, has 2 + 2 + 12.
TEST(ParallelFormulas, ZeroKeepsItsSharesOfTheState) {
  constexpr std::int64_t chips = 4;
  const Graph whole = transformer(2);
  const auto kept = [&](const char* words) {
    std::int64_t sum = 0;
    const parallel::ParallelStep one = split(whole, words);
    for (const Tensor& tensor : one.graph.tensors()) {
      const bool state =
          tensor.parameter || tensor.role == Role::optimizer_state || tensor.role == Role::weight_gradient;
      if (state && !tensor.producer.valid()) sum += bytes(tensor);
    }
    return sum;
  };
  EXPECT_EQ(kept("dp=4,zero=0"), 4 * all_bytes);
  EXPECT_EQ(kept("dp=4,zero=1"), 2 * all_bytes + 2 * all_bytes / chips);
  EXPECT_EQ(kept("dp=4,zero=2"), all_bytes + 3 * all_bytes / chips);
  EXPECT_EQ(kept("dp=4,zero=3"), 4 * all_bytes / chips);
}

// Gradients that add up are summed over chips with the last micro-samples alone; in ZeRO-2 each is scattered.
TEST(ParallelFormulas, MicroBatchesAreSummedOverChipsOnceOrEach) {
  const Graph whole = transformer(2);
  const auto of = [&](const char* words, Op op, Phase phase) {
    return Sent::of(sent(split(whole, words), "dp").weights, op, phase);
  };
  EXPECT_EQ(of("dp=4,zero=0", Op::AllReduce, Phase::backward), 0);
  EXPECT_EQ(of("dp=4,zero=0", Op::AllReduce, Phase::optimizer), all_bytes);
  EXPECT_EQ(of("dp=4,zero=1", Op::ReduceScatter, Phase::optimizer), all_bytes);
  EXPECT_EQ(of("dp=4,zero=2", Op::ReduceScatter, Phase::backward), all_bytes);
}

}  // namespace
}  // namespace monet::formulas
