// Do pipelines of stages take the published times and memory, and are stages what the network's blocks are?
#include "evaluate/stages/pipelined_step.h"

#include "evaluate/open/opened_step.h"
#include "evaluate/stages/chip_step.h"
#include "evaluate/stages/pipeline_words.h"
#include "evaluate/stages/shortened.h"

#include <monet/machine.h>

#include <gtest/gtest.h>

#include <numeric>

namespace monet {
namespace {

// Equal blocks; forward, gradients of inputs and of weights take a second each.
StepProfile equal_blocks(std::size_t count) {
  BlockProfile block;
  for (StepPart part : {StepPart::forward, StepPart::input_gradients, StepPart::weight_gradients})
    block[part].seconds = 1;
  block.kept_bytes = 100;
  block.state_bytes = 1000;
  block.weight_bytes = 50;
  StepProfile profile;
  profile.blocks.assign(count, block);
  return profile;
}

ChipNetwork network_with(std::int64_t dp, std::int64_t pp) {
  Hardware hardware;
  hardware.name = "machine";
  FabricLevel level{.name = "wire", .chips = dp * pp};
  level.bytes_per_s = 1e9;
  hardware.fabric = Fabric{{level}};
  auto made = network_of(hardware, {{{"dp", dp}, {"pp", pp}, {"tp", 1}}}, true);
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().text());
  return *std::move(made);
}

PipelinedStep step_of(const StepProfile& profile, const PipelineSettings& settings, std::int64_t dp, std::int64_t pp) {
  auto made = pipelined(profile, settings, network_with(dp, pp));
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().text());
  return *std::move(made);
}

TEST(PipelinedStep, BubblesAreThePublishedOnes) {
  for (const std::uint32_t pp : {2U, 4U, 8U}) {
    for (const std::uint32_t m : {8U, 32U}) {
      const double plain = (pp - 1.0) / m;
      PipelineSettings settings{.micro_batches = m};
      EXPECT_NEAR(step_of(equal_blocks(2 * pp), settings, 1, pp).bubble_fraction, plain, 1e-12);
      settings.schedule = PipelineSchedule::gpipe;
      EXPECT_NEAR(step_of(equal_blocks(2 * pp), settings, 1, pp).bubble_fraction, plain, 1e-12);
      settings.schedule = PipelineSchedule::interleaved;
      settings.chunks = 2;
      EXPECT_NEAR(step_of(equal_blocks(2 * pp), settings, 1, pp).bubble_fraction, plain / 2, 1e-12);
      settings.schedule = PipelineSchedule::zb_h1;
      settings.chunks = 1;
      EXPECT_NEAR(step_of(equal_blocks(2 * pp), settings, 1, pp).bubble_fraction, plain / 3, 1e-12);
    }
  }
}

TEST(PipelinedStep, ChipsHoldWhatIsInFlight) {
  PipelineSettings settings{.micro_batches = 8};
  const PipelinedStep one = step_of(equal_blocks(8), settings, 1, 4);
  const std::int64_t own = 2 * (1000 + 50);
  EXPECT_EQ(one.peak_bytes(), own + 4 * 2 * 100);
  settings.schedule = PipelineSchedule::gpipe;
  EXPECT_EQ(step_of(equal_blocks(8), settings, 1, 4).peak_bytes(), own + 8 * 2 * 100);
  settings.schedule = PipelineSchedule::one_f_one_b;
  settings.zero = 1;
  EXPECT_EQ(step_of(equal_blocks(8), settings, 2, 4).peak_bytes(), 2 * (500 + 50) + 4 * 2 * 100);
}

TEST(PipelinedStep, AStatedCutHolds) {
  PipelineSettings settings{.micro_batches = 4};
  settings.sizes = {3, 1};
  EXPECT_EQ(step_of(equal_blocks(4), settings, 1, 2).sizes, (std::vector<std::size_t>{3, 1}));
  settings.sizes = {};
  settings.cut = StageCut::equal;
  EXPECT_EQ(step_of(equal_blocks(4), settings, 1, 2).sizes, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(step_of(equal_blocks(6), settings, 1, 4).sizes, (std::vector<std::size_t>{1, 2, 2, 1}));
  settings.sizes = {3, 2};
  EXPECT_FALSE(pipelined(equal_blocks(4), settings, network_with(1, 2)).has_value());
  settings.sizes = {};
  settings.zero = 3;
  EXPECT_FALSE(pipelined(equal_blocks(4), settings, network_with(1, 2)).has_value());
}

TEST(PipelinedStep, SumsOfGradientsRunBesideTheBackwardPart) {
  StepProfile profile = equal_blocks(4);
  for (BlockProfile& block : profile.blocks) block.gradient_bytes = 1000000000;  // a second over two chips
  PipelineSettings settings{.micro_batches = 1};
  // The last block's sum begins when its gradients are there; each takes a second, a block's backward part two.
  const PipelinedStep beside = step_of(profile, settings, 2, 1);
  EXPECT_NEAR(beside.seconds, 12 + 1, 1e-6);
  settings.overlap = false;
  EXPECT_NEAR(step_of(profile, settings, 2, 1).seconds, 12 + 4, 1e-6);
}

struct Measured {
  Graph graph;
  StepBlocks blocks;
  StepProfile profile;
};

Measured measured(const std::string& network, const char* recompute = "none", bool shorter = false) {
  StepRequest request;
  request.train.batch = 2;
  request.train.accumulate = 2;
  request.train.precision = "bf16";
  auto opened = open_step(Network(network), request, false);
  EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().text());
  if (shorter) {
    auto less = shortened(opened->graph);
    EXPECT_TRUE(less.has_value());
    if (less) opened->graph = std::move(less->graph);
  }
  parallel::ParallelOptions options;
  options.mesh = {{{"dp", 1}, {"pp", 1}, {"tp", 2}}};
  auto chip = chip_step(*std::move(opened), options, *training::recompute_choice(recompute));
  EXPECT_TRUE(chip.has_value()) << (chip ? "" : chip.error().text());
  const auto hardware = *Machine("dgx_h100").hardware();
  const auto net = *network_of(*hardware, options.mesh, true);
  StepProfile profile = profile_of(chip->graph, chip->blocks, **laws_of(*hardware), &net);
  return {std::move(chip->graph), std::move(chip->blocks), std::move(profile)};
}

constexpr const char* small = "gpt:width=128,heads=4,ffn=256,vocabulary=512,tokens=64,layers=";

TEST(StepBlocks, NodesAreInTheBlocksWhoseNamesTheyHave) {
  const Measured step = measured(std::string(small) + "4");
  ASSERT_EQ(step.blocks.count, 4U);
  const std::vector<NodePart> parts = parts_of(step.graph, step.blocks);
  std::size_t looked = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Node& node = step.graph.nodes()[i];
    // The sum of gradients behind a block is that block's neighbour's; optimizers and buckets hold several.
    const bool sum = node.op == Op::Sum || node.op == Op::AllReduce || node.phase == Phase::optimizer;
    if (!node.name.starts_with("blocks.") || sum || family_of(node.op) == OpFamily::view) continue;
    EXPECT_EQ(parts[i].place, node.name[7] - '0') << node.name;
    ++looked;
  }
  EXPECT_GT(looked, 100U);
}

TEST(StepBlocks, ADeepNetworkIsAShallowOneWithMoreBlocks) {
  for (const char* recompute : {"none", "blocks", "selective"}) {
    const StepProfile deep = measured(std::string(small) + "6", recompute).profile;
    const StepProfile shallow = with_blocks(measured(std::string(small) + "3", recompute).profile, 6);
    const StepProfile cut = with_blocks(measured(std::string(small) + "6", recompute, true).profile, 6);
    ASSERT_EQ(deep.blocks.size(), 6U);
    for (const StepProfile* other : {&shallow, &cut}) {
      for (std::size_t b = 0; b < 6; ++b) {
        EXPECT_EQ(deep.blocks[b].kept_bytes, other->blocks[b].kept_bytes) << b;
        EXPECT_EQ(deep.blocks[b].weight_bytes, other->blocks[b].weight_bytes) << b;
        for (std::size_t part = 0; part < 3; ++part) {
          const double seconds = deep.blocks[b].parts[part].seconds;
          // What is cold in a cache depends on what lies between.
          EXPECT_NEAR(seconds, other->blocks[b].parts[part].seconds, 0.03 * seconds) << recompute << b << part;
        }
      }
    }
  }
}

TEST(StepBlocks, RecomputingABlockTakesItsForwardPartAgain) {
  const StepProfile kept = measured(std::string(small) + "4").profile;
  const StepProfile again = measured(std::string(small) + "4", "blocks").profile;
  const BlockProfile &one = kept.blocks[1], &other = again.blocks[1];
  EXPECT_LT(other.kept_bytes, one.kept_bytes / 3);
  EXPECT_GT(other[StepPart::input_gradients].recomputed_s, 0);
  EXPECT_LT(other[StepPart::input_gradients].recomputed_s, one[StepPart::forward].seconds * 1.05);
  const StepProfile whole = with_whole_blocks_again(again);
  EXPECT_NEAR(whole.blocks[1][StepPart::input_gradients].recomputed_s, other[StepPart::forward].seconds, 1e-12);
}

TEST(PipelineWords, AreReadAndWritten) {
  std::string text = "tp=2,pp=4,schedule=interleaved,chunks=2,zero=1,recompute=selective,order=dp-pp-tp";
  const auto words = take_pipeline_words(text);
  ASSERT_TRUE(words.has_value()) << words.error().text();
  EXPECT_EQ(text, "tp=2,zero=1");
  EXPECT_EQ(words->chips, 4);
  EXPECT_EQ(to_text(*words), ",schedule=interleaved,chunks=2,recompute=selective");
  for (std::string wrong : {"pp=0", "pp=x", "schedule=none", "cut=a", "recompute=all", "pp=2,pp=2"})
    EXPECT_FALSE(take_pipeline_words(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace monet
