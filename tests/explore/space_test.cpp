// Is a space read as it is written, and are its designs numbered as promised?
#include "explore/space/space.h"

#include "base/random.h"
#include "explore/space/family.h"
#include "explore/space/open.h"
#include "explore/synthetic.h"
#include "support/folder.h"

#include <monet/explore.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace monet::explore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::string whole_space = R"(space: 1
name: everything
description: all that a space can say
hardware: edge_tpu
parameters:
  x: [1, 2, 4]
  y: =x * 2
  simd: {powers_of_two: 16..64}
  lanes: {from: 1, to: 7, step: 2}
  pe_memory: {powers_of_two: 512 KiB..2 MiB}
  register_file: 32 KiB
constraints:
  - x * y <= 32
  - area <= 100 mm2 and on_chip < 1 GiB
workloads:
  - network: [resnet18-cifar, "mlp-robotics:hidden=8"]
    batch: [1, 4]
    precision: [bf16, int8]
    step: [training, inference]
    optimizer: sgd
    weight: 0.5
  - {name: tune, network: nets/own.onnx, dimensions: {tokens: 128}, freeze: "conv*", train: [a, b], lora: 4,
     loss: mse, optimizer_form: elementwise, conv_gradient: im2col}
plan: {fuse: {limit: 4, objective: energy, improve: true}}
objectives: [latency@tune, energy, area, cost, utilization@tune]
prices: {per_kwh: 0.2, per_mm2: 1.5, per_machine: 10, lifetime_years: 2}
off_chip: true
zigzag: false
)";

Space space_of(const std::string& text, const std::string& path = "folder/s.yaml") {
  auto space = Space::read_text(text, path);
  EXPECT_TRUE(space.has_value()) << space.error().text();
  return space ? *std::move(space) : Space{};
}

TEST(Space, ReadsAllThatItCanSay) {
  const Space space = space_of(whole_space);
  EXPECT_EQ(space.name, "everything");
  EXPECT_EQ(space.description, "all that a space can say");
  EXPECT_EQ(space.text, whole_space);
  EXPECT_EQ(space.hardware, "edge_tpu");
  ASSERT_EQ(space.axes.size(), 5U);
  EXPECT_THAT(space.axes[0].texts, ElementsAre("1", "2", "4"));
  EXPECT_THAT(space.axes[1].texts, ElementsAre("16", "32", "64"));
  EXPECT_THAT(space.axes[2].texts, ElementsAre("1", "3", "5", "7"));
  EXPECT_THAT(space.axes[3].texts, ElementsAre("512 KiB", "1 MiB", "2 MiB"));
  EXPECT_EQ(space.axes[3].quantities[0].value, 512.0 * 1024 * 8);
  EXPECT_THAT(space.axes[4].texts, ElementsAre("32 KiB"));
  ASSERT_EQ(space.derived.size(), 1U);
  EXPECT_EQ(space.derived[0].text, "=x * 2");
  EXPECT_EQ(space.size(), 3U * 3 * 4 * 3);
  ASSERT_EQ(space.constraints.size(), 2U);
  EXPECT_EQ(space.constraints[0].place, "folder/s.yaml:13:5");
  EXPECT_EQ(space.policy.kind, PolicyKind::fused);
  EXPECT_EQ(space.policy.limit, 4);
  EXPECT_EQ(space.policy.objective, "energy");
  EXPECT_TRUE(space.policy.improve);
  EXPECT_EQ(space.prices.per_kwh, 0.2);
  EXPECT_EQ(space.prices.lifetime_s, 2 * 365.25 * 24 * 3600);
  EXPECT_TRUE(space.off_chip);
  EXPECT_FALSE(space.zigzag);
  std::vector<std::string> objectives;
  for (const Objective& objective : space.objectives) objectives.push_back(name_of(objective, space.workloads));
  EXPECT_THAT(objectives, ElementsAre("latency@tune", "energy", "area", "cost", "utilization@tune"));
  EXPECT_THAT(space.parameters(space.size() - 1),
              ElementsAre(Pair("x", "4"), Pair("simd", "64"), Pair("lanes", "7"), Pair("pe_memory", "2 MiB"),
                          Pair("register_file", "32 KiB"), Pair("y", "=x * 2")));
}

TEST(Space, ListsOfAWorkloadStandForAllCombinations) {
  const Space space = space_of(whole_space);
  ASSERT_EQ(space.workloads.size(), 17U);
  EXPECT_EQ(space.workloads[0].name, "resnet18-cifar-b1-bf16-training");
  EXPECT_EQ(space.workloads[15].name, "mlp-robotics-b4-int8-inference");
  const Workload& last = space.workloads[15];
  EXPECT_EQ(last.network.name(), "mlp-robotics:hidden=8");
  EXPECT_EQ(last.options.train.batch, 4);
  EXPECT_EQ(last.options.train.precision, "int8");
  EXPECT_TRUE(last.options.inference);
  EXPECT_EQ(last.options.train.optimizer, "sgd");
  EXPECT_EQ(last.weight, 0.5);
  const Workload& tune = space.workloads[16];
  EXPECT_EQ(tune.name, "tune");
  EXPECT_EQ(tune.network.name(), "folder/nets/own.onnx");  // beside the space
  EXPECT_FALSE(tune.options.inference);
  EXPECT_THAT(tune.options.train.dimensions, ElementsAre(Pair("tokens", 128)));
  EXPECT_THAT(tune.options.train.freeze, ElementsAre("conv*"));
  EXPECT_THAT(tune.options.train.train, ElementsAre("a", "b"));
  EXPECT_EQ(tune.options.train.lora_rank, 4);
  EXPECT_EQ(tune.options.train.loss, "mse");
  EXPECT_EQ(tune.options.train.optimizer_form, "elementwise");
  EXPECT_EQ(tune.options.train.conv_gradient, "im2col");
  EXPECT_EQ(tune.weight, 1);
}

std::string small(const std::string& more, const std::string& hardware = "hardware: edge_tpu\n") {
  return "space: 1\nname: s\n" + hardware + "workloads: [{network: resnet18-cifar}]\n" + more;
}

TEST(Space, HasDefaults) {
  const Space space = space_of(small("parameters: {x: [1, 2]}\n"));
  EXPECT_EQ(space.policy.kind, PolicyKind::standard);
  ASSERT_EQ(space.objectives.size(), 2U);
  EXPECT_EQ(name_of(space.objectives[0], space.workloads), "latency");
  EXPECT_EQ(name_of(space.objectives[1], space.workloads), "energy");
  EXPECT_EQ(space.workloads[0].name, "resnet18-cifar");
  EXPECT_FALSE(space.workloads[0].options.inference);
  EXPECT_TRUE(space.constraints.empty());
}

TEST(Space, ReadsCheckpointing) {
  const Space space =
      space_of(small("parameters: {x: [1]}\nplan: {checkpoint: {memory_budget: 80%, evaluations: 9}}\n"));
  EXPECT_EQ(space.policy.kind, PolicyKind::checkpointed);
  EXPECT_EQ(space.policy.budget, "80%");
  EXPECT_EQ(space.policy.evaluations, 9U);
}

TEST(Space, RangesHaveTheUnitTheyAreWrittenIn) {
  const Space space =
      space_of(small("parameters:\n  pe_memory: {from: 0.5 MiB, to: 2 MiB, step: 512 KiB}\n  register_file: "
                     "{powers_of_two: 8..32 KiB}\n"));
  EXPECT_THAT(space.axes[0].texts, ElementsAre("0.5 MiB", "1 MiB", "1.5 MiB", "2 MiB"));
  EXPECT_THAT(space.axes[1].texts, ElementsAre("8 KiB", "16 KiB", "32 KiB"));
}

// The rule for a step that meets the end but for rounding: 0.1 · 3 is not 0.3.
TEST(Space, RangesReachTheirEnd) {
  const std::string machine = R"(hardware:
  monet: 1
  include: edge_tpu
  name: own
  parameters: {share: 0.5}
)";
  const Space space = space_of(small("parameters: {share: {from: 0.1, to: 0.7, step: 0.1}}\n", machine));
  EXPECT_THAT(space.axes[0].texts, ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"));
}

TEST(Space, TakesAMachineOfItsOwn) {
  const std::string machine = R"(hardware:   # a machine
  monet: 1
  name: own

  include: edge_tpu     # ä
  parameters:
    lanes: {value: 2, maximum: 8}
)";
  for (const std::string& text :
       {small("parameters: {lanes: [1, 2]}\n", machine),
        "space: 1\nname: s\nworkloads: [{network: resnet18-cifar}]\nparameters: {lanes: [1, 2]}\n" + machine,
        small("parameters: {lanes: [1, 2]}\n", "hardware: {monet: 1, name: own,\n  include: edge_tpu}\n")}) {
    const Space space = space_of(text);
    EXPECT_EQ(space.hardware, "");
    const auto hardware = machine_of(space, space.parameters(1));
    ASSERT_TRUE(hardware.has_value()) << hardware.error().text();
    EXPECT_EQ(hardware->name, "own");
    EXPECT_THAT(hardware->parameters, testing::Contains(Pair("lanes", "2")));
  }
}

TEST(Space, FindsHardwareBesideItself) {
  const test::Folder folder;
  std::ofstream(folder / "machine.yaml") << "monet: 1\ninclude: edge_tpu\nname: beside\n";
  std::ofstream(folder / "s.yaml") << small("parameters: {x: [1, 2]}\n", "hardware: machine.yaml\n");
  const auto space = open_space(folder / "s.yaml");
  ASSERT_TRUE(space.has_value()) << space.error().text();
  EXPECT_EQ(space->hardware, folder / "machine.yaml");
  std::filesystem::remove(folder / "machine.yaml");
  // What is in a store can be read without it.
  EXPECT_FALSE(Space::read_text(space->text, space->path).has_value());
  const auto alone = Space::read_alone(space->text, space->path);
  ASSERT_TRUE(alone.has_value()) << alone.error().text();
  EXPECT_EQ(alone->size(), 2U);
}

TEST(Space, WordsAreAnAxis) {
  const auto space = Space::read_text(
      "space: 1\nname: s\nhardware: edge_tpu\nparameters:\n  x: [1, 2]\n  arithmetic: [int8, bf16, fp32]\n"
      "workloads: [{network: mlp-robotics}]\n",
      "s.yaml");
  ASSERT_TRUE(space) << space.error().text();
  EXPECT_EQ(space->size(), 6U);
  EXPECT_THAT(space->parameters(4), ElementsAre(Pair("x", "2"), Pair("arithmetic", "bf16")));
  const auto machine = machine_of(*space, space->parameters(4));
  ASSERT_TRUE(machine) << machine.error().text();
  EXPECT_EQ(machine->cores.front().units.front().precisions.front().name, "bf16");
}

TEST(Space, DesignsAndChoicesAreTheSame) {
  SeededRandom random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::size_t> sizes;
    for (std::size_t a = 0; a <= random.below(6); ++a) sizes.push_back(1 + random.below(random.with(0.1) ? 4000 : 7));
    const Space space = test::synthetic_space(sizes);
    for (int i = 0; i < 20; ++i) {
      const Design design = random.next() % space.size();
      EXPECT_EQ(space.design(space.choice(design)), design);
    }
    EXPECT_EQ(space.choice(0), Choice(sizes.size(), 0));
    // The last axis runs fastest.
    if (sizes.back() > 1) {
      EXPECT_EQ(space.choice(1).back(), 1);
    }
  }
}

TEST(Space, ThoseOfTheProgramAreThere) {
  const auto spaces = builtin_spaces();
  ASSERT_TRUE(spaces.has_value()) << spaces.error().text();
  std::vector<std::pair<std::string, std::uint64_t>> sizes;
  for (const SpaceInfo& info : *spaces) {
    sizes.emplace_back(info.name, info.size);
    EXPECT_FALSE(info.description.empty());
  }
  // The first two are the published ones.
  EXPECT_THAT(sizes, testing::IsSupersetOf({std::pair<std::string, std::uint64_t>{"edge_tpu", 10000},
                                            std::pair<std::string, std::uint64_t>{"fusemax", 5120}}));
  EXPECT_THAT(space_names(), ElementsAre("datacenter", "edge_tpu", "fusemax", "mcu"));
}

// Corners of every space of ours are machines, or say why not.
TEST(Space, CornersOfThoseOfTheProgramAreMachines) {
  for (const std::string& name : space_names()) {
    const auto space = open_space(name);
    ASSERT_TRUE(space.has_value()) << space.error().text();
    for (const Design design : {Design{0}, space->size() / 2, space->size() - 1}) {
      const auto hardware = machine_of(*space, space->parameters(design));
      EXPECT_TRUE(hardware.has_value()) << name << ": " << hardware.error().text();
    }
  }
}

TEST(Space, ANameThatIsNoneIsAnError) {
  const auto near = open_space("edge_tpus");
  ASSERT_FALSE(near.has_value());
  EXPECT_THAT(near.error().text(), HasSubstr("did you mean 'edge_tpu'?"));
  const auto far = open_space("nothing/like/it.yaml");
  ASSERT_FALSE(far.has_value());
  EXPECT_THAT(far.error().text(), HasSubstr("docs/explore.md"));
}

TEST(Space, ASubjectTakesThePlaceOfWhatWorkloadsSay) {
  const Space other = space_of(std::string(whole_space) + "network: nets/mine.onnx\n");
  // Two networks of two batches, two precisions and two steps become one each; what else they say stays.
  ASSERT_EQ(other.workloads.size(), 9U);
  double weights = 0;
  for (const Workload& each : other.workloads) {
    EXPECT_EQ(each.network.name(), "folder/nets/mine.onnx");
    weights += each.weight;
  }
  EXPECT_EQ(weights, 5);  // eight of one half, and one: the list of networks is replaced as a whole
  EXPECT_EQ(other.workloads[0].name, "mine-b1-bf16-training");
  EXPECT_EQ(other.description, "all that a space can say; here with folder/nets/mine.onnx");

  const Space batch = space_of(std::string(whole_space) + "batch: 3\n");
  ASSERT_EQ(batch.workloads.size(), 9U);
  for (const Workload& each : batch.workloads) EXPECT_EQ(each.options.train.batch, 3);

  const Space both = space_of(
      "space: 1\nname: s\nhardware: edge_tpu\nparameters: {x: [1, 2]}\nnetwork: unet\n"
      "workloads: [{network: resnet18, batch: 1}, {batch: 2}, {network: unet, batch: 1, optimizer: sgd}]\n");
  ASSERT_EQ(both.workloads.size(), 3U);
  EXPECT_EQ(both.workloads[0].name, "unet");
  EXPECT_EQ(both.workloads[1].name, "unet-b2");
  EXPECT_EQ(both.workloads[2].name, "unet-b1");
}

TEST(Space, OpenedForASubjectItsTextSaysIt) {
  const auto space = open_space("mcu", {.network = "lenet5", .batch = 4});
  ASSERT_TRUE(space) << space.error().text();
  const auto again = Space::read_text(space->text, space->path);
  ASSERT_TRUE(again) << again.error().text();
  for (const Space* one : {&*space, &*again}) {
    ASSERT_EQ(one->workloads.size(), 2U);
    for (const Workload& each : one->workloads) {
      EXPECT_EQ(each.network.name(), "lenet5");
      EXPECT_EQ(each.options.train.batch, 4);
    }
    EXPECT_EQ(one->workloads[1].name, "act");
    EXPECT_EQ(one->workloads[1].weight, 10);
  }
  const auto none = open_space("mcu", {.network = "resnet19", .batch = {}});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("did you mean 'resnet18'?"));
}

TEST(Space, FilesOfRecipesLieBesideIt) {
  const Space space = space_of(
      "space: 1\nname: s\nhardware: edge_tpu\nparameters: {x: [1, 2]}\n"
      "workloads: [{network: unet, precision: [mxfp8-square, own/mine.yaml, /elsewhere/other.yml]}]\n");
  ASSERT_EQ(space.workloads.size(), 3U);
  EXPECT_EQ(space.workloads[0].options.train.precision, "mxfp8-square");
  EXPECT_EQ(space.workloads[1].options.train.precision, "folder/own/mine.yaml");
  EXPECT_EQ(space.workloads[1].name, "unet-mine");
  EXPECT_EQ(space.workloads[2].options.train.precision, "/elsewhere/other.yml");
}

}  // namespace
}  // namespace monet::explore
