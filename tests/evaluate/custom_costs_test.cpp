// Does an operator cost exactly what the user says, and does nothing else change?
#include "evaluate/custom_case.h"

#include "mapping/operators.h"
#include "support/expect_error.h"
#include "training/quantized.h"

#include <fmt/format.h>

#include <array>
#include <limits>

namespace monet {
namespace {

using namespace test;

const std::string one_core = cores_on_one_memory(rate_core("c0", "main: {use: main}"));

// neg -> fancy -> neg, of 64 elements each
Graph sandwich() {
  GraphBuilder b("sandwich");
  TensorId x = b.add(Op::Neg, "before", {b.input("x", {8, 8})});
  x = b.add(Op::Custom, "fancy", {x}, custom_op("FancyNorm", {8, 8}, {{"groups", std::int64_t{2}}}));
  b.output(b.add(Op::Neg, "after", {x}));
  return finished(b);
}

// A core with an SRAM beside DRAM behind a port of `bits` a cycle each way.
std::string beside_dram(const std::string& sram, int bits) {
  return "memories:\n  " + memory("dram", "dram", "1 GiB", bits) + "\ncores:\n" +
         rate_core("c0", memory("sram", "sram", sram, 4096) + ", dram: {use: dram}") +
         "links:\n  - {link: [dram, c0], width: 4096 bit/cycle}\n";
}

TEST(CustomOperatorCosts, CyclesAndEnergyAreThoseGiven) {
  Asked asked{.costs = {{"FancyNorm", {.cycles = 1234.5, .energy_pj = 77}}}, .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(asked.function()));
  EXPECT_EQ(c.cycles(), 64 + 1234.5 + 64);
  const TileCost& cost = c.cost("fancy");
  EXPECT_EQ(cost.cycles, 1234.5);
  EXPECT_EQ(cost.compute_cycles, 1234.5);
  EXPECT_EQ(cost.stall_cycles + cost.load_cycles + cost.fill_cycles, 0);
  EXPECT_EQ(cost.energy_pj(), 77);
  EXPECT_EQ(cost.macs, 0);
  EXPECT_EQ(cost.precision, "fp32");
}

TEST(CustomOperatorCosts, WhatTheFunctionIsTold) {
  Asked asked{.costs = {{"FancyNorm", {.cycles = 1, .energy_pj = 1}}}, .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(asked.function()));
  ASSERT_EQ(asked.times("FancyNorm"), 1U);
  const CustomTile& tile = *std::ranges::find(asked.tiles, "FancyNorm", &CustomTile::op);
  EXPECT_EQ(tile.core, "c0");
  EXPECT_EQ(tile.precision, "fp32");
  using Loops = std::vector<std::pair<std::string, std::int64_t>>;
  EXPECT_EQ(tile.loops, (Loops{{"B", 8}, {"K", 8}}));
  using Shapes = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(tile.input_shapes, (Shapes{{8, 8}}));
  EXPECT_EQ(tile.output_shapes, (Shapes{{8, 8}}));
  using Texts = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(tile.attributes, (Texts{{"groups", "2"}}));
}

TEST(CustomOperatorCosts, TheBoundUsesThem) {
  Asked asked{.costs = {{"FancyNorm", {.cycles = 1000, .energy_pj = 5}}}, .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(asked.function()));
  const Bounds bounds = c.bounds();
  EXPECT_EQ(bounds.cycles, 64 + 1000 + 64);
  EXPECT_EQ(c.cycles(), bounds.cycles);
  EXPECT_EQ(bounds.pj, 64 + 5 + 64);
}

TEST(CustomOperatorCosts, EqualNodesAreAskedForOnceAndOthersApart) {
  GraphBuilder b("several");
  const TensorId x = b.input("x", {8, 8});
  for (int i = 0; i < 3; ++i)
    b.output(b.add(Op::Custom, fmt::format("same{}", i), {x}, custom_op("FancyNorm", {8, 8})));
  b.output(b.add(Op::Custom, "other type", {x}, custom_op("FancyPool", {8, 8})));
  b.output(b.add(Op::Custom, "other attribute", {x}, custom_op("FancyNorm", {8, 8}, {{"groups", std::int64_t{2}}})));
  b.output(b.add(Op::Custom, "other shape", {x}, custom_op("FancyNorm", {4})));
  Asked asked{.costs = {{"FancyNorm", {.cycles = 1, .energy_pj = 1}}, {"FancyPool", {.cycles = 10, .energy_pj = 1}}},
              .tiles = {}};
  CustomCase c(finished(b), one_core, with_costs(asked.function()));
  EXPECT_EQ(c.cycles(), 3 + 10 + 1 + 1);
  EXPECT_EQ(asked.times("FancyNorm"), 3U);
  EXPECT_EQ(asked.times("FancyPool"), 1U);
}

TEST(CustomOperatorCosts, TheCoreThatIsFasterForItRunsIt) {
  Asked asked{.costs = {{"FancyNorm@slow", {.cycles = 100, .energy_pj = 1}},
                        {"FancyNorm@quick", {.cycles = 10, .energy_pj = 1}}},
              .tiles = {}};
  const std::string machine =
      cores_on_one_memory(rate_core("slow", "main: {use: main}") + rate_core("quick", "main: {use: main}"));
  CustomCase c(sandwich(), machine, with_costs(asked.function()));
  EXPECT_EQ(c.hardware()[c.tile("fancy").core].name, "quick");
  EXPECT_EQ(c.cost("fancy").cycles, 10);
  // Without a cost a core cannot run it, however it is planned.
  asked.costs.erase("FancyNorm@quick");
  CustomCase other(sandwich(), machine, with_costs(asked.function()));
  EXPECT_EQ(other.hardware()[other.tile("fancy").core].name, "slow");
  EXPECT_EQ(other.cost("fancy").cycles, 100);
  CustomCase forced(sandwich(), machine, with_costs(asked.function()), nullptr, "operators: {fancy: {cores: quick}}\n");
  EXPECT_NE(forced.error.message.find("no cost is known for"), std::string::npos) << forced.error.text();
}

TEST(CustomOperatorCosts, AListOfOperatorsMayNameThem) {
  Asked asked{.costs = {{"FancyNorm", {.cycles = 10, .energy_pj = 1}}}, .tiles = {}};
  const auto core = [](const std::string& name, const std::string& operators) {
    return rate_core(name, "main: {use: main}") + "    operators: " + operators + "\n";
  };
  for (const char* listed : {"[Custom]", "[custom]", "['!elementwise']"}) {
    CustomCase c(sandwich(), cores_on_one_memory(core("c0", "[Neg]") + core("c1", listed)),
                 with_costs(asked.function()));
    EXPECT_EQ(c.cycles(), 64 + 10 + 64);
    EXPECT_EQ(c.hardware()[c.tile("fancy").core].name, "c1") << listed;
  }
  // Where no list allows them, all take them that do not say no.
  CustomCase silent(sandwich(), cores_on_one_memory(core("c0", "[Neg]")), with_costs(asked.function()));
  EXPECT_EQ(silent.cycles(), 64 + 10 + 64);
  CustomCase other(sandwich(), cores_on_one_memory(core("c0", "[Neg, '!Custom']") + core("c1", "[Relu]")),
                   with_costs(asked.function()));
  EXPECT_EQ(other.hardware()[other.tile("fancy").core].name, "c1");
  for (const char* no : {"[Neg, '!Custom']", "[Neg, '!custom']"}) {
    CustomCase c(sandwich(), cores_on_one_memory(core("c0", no)), with_costs(asked.function()));
    EXPECT_EQ(c.error.message, "no core can run it: FancyNorm is not among the operators of core c0");
  }
}

TEST(CustomOperatorCosts, DataComeAndGoAsForOthers) {
  // 64 elements of 32 bits at 16 bits a cycle come in 128 cycles, and go so.
  GraphBuilder b("alone");
  b.output(b.add(Op::Custom, "fancy", {b.input("x", {64})}, custom_op("FancyNorm", {64})));
  Asked asked{.costs = {{"FancyNorm", {.cycles = 10, .energy_pj = 1}}}, .tiles = {}};
  CustomCase c(finished(b), beside_dram("1 MiB", 16), with_costs(asked.function()));
  EXPECT_EQ(c.cycles(), 128 + 10 + 128);
  EXPECT_EQ(c.cost("fancy").cycles, 10);
}

TEST(CustomOperatorCosts, WhatDoesNotFitStreamsWhileItRuns) {
  // 2 KiB in and out beside a memory of 1 KiB: 16384 bits each way at 16 a cycle.
  GraphBuilder b("alone");
  b.output(b.add(Op::Custom, "fancy", {b.input("x", {512})}, custom_op("FancyNorm", {512})));
  const Graph graph = finished(b);
  for (const double cycles : {0.0, 100.0, 5000.0}) {
    Asked asked{.costs = {{"FancyNorm", {.cycles = cycles, .energy_pj = 1}}}, .tiles = {}};
    CustomCase c(graph, beside_dram("1 KiB", 16), with_costs(asked.function()));
    EXPECT_EQ(c.cycles(), std::max(cycles, 1024.0));
    const TileCost& cost = c.cost("fancy");
    EXPECT_EQ(cost.compute_cycles, cycles);
    EXPECT_EQ(cost.compute_cycles + cost.stall_cycles + cost.load_cycles + cost.fill_cycles, cost.cycles);
    EXPECT_EQ(cost.home_read_bits, 16384);
    EXPECT_EQ(cost.home_write_bits, 16384);
    EXPECT_EQ(cost.compute_pj, 1);
    EXPECT_LE(c.bounds().cycles, c.cycles());
  }
}

// What streams beside a memory of 1 KiB, on a core that works in one precision.
constexpr std::array<const char*, 3> streaming = {"int8", "bf16", "fp32"};
constexpr double stored_bits_each = 32;  // of an element, whatever the core works in

std::string streaming_core(const std::string& compute) {
  return "memories:\n  " + memory("dram", "dram", "1 GiB", 16) + "\ncores:\n  c0:\n    " + compute +
         "\n    memories: {" + memory("sram", "sram", "1 KiB", 4096) +
         ", dram: {use: dram}}\nlinks:\n  - {link: [dram, c0], width: 4096 bit/cycle}\n";
}

// A light operator that does not fit is cut, so that its pieces do; off chip nothing is.
EvaluatorOptions streamed(EvaluatorOptions options) {
  options.off_chip = true;
  return options;
}

std::array<std::string, 2> streaming_cores(const std::string& precision) {
  return {streaming_core("array: {dimensions: {K: 4}, operations: {all: {cycles: 1, energy: 1 pJ}}, precisions: {" +
                         precision + ": {rate: 1}}}"),
          streaming_core("rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}, precisions: {" + precision +
                         ": {rate: 1}}}")};
}

TEST(CustomOperatorCosts, WhatStreamsIsAsWideAsItIsStored) {
  GraphBuilder b("alone");
  b.output(b.add(Op::Custom, "fancy", {b.input("x", {4096})}, custom_op("FancyNorm", {4096})));
  const Graph graph = finished(b);
  for (const char* precision : streaming) {
    for (const std::string& machine : streaming_cores(precision)) {
      Asked asked{.costs = {{"FancyNorm", {.cycles = 10, .energy_pj = 1}}}, .tiles = {}};
      CustomCase c(graph, machine, with_costs(asked.function()));
      EXPECT_EQ(c.cycles(), 4096 * stored_bits_each / 16) << machine;
      EXPECT_EQ(c.cost("fancy").home_read_bits, 4096 * stored_bits_each) << machine;
      EXPECT_EQ(c.cost("fancy").home_write_bits, 4096 * stored_bits_each) << machine;
      EXPECT_EQ(c.cost("fancy").precision, "fp32");
      for (const TensorStay& stay : c.evaluated.schedule.home)
        EXPECT_EQ(stay.bytes, 4096 * stored_bits_each / 8) << machine;
    }
  }
}

TEST(CustomOperatorCosts, AKnownOperatorMovesWhatItMovesWithoutThem) {
  for (const char* precision : streaming) {
    Graph graph = training::all_in(*element_type_named(precision), chain(1, 4096));
    for (const std::string& machine : streaming_cores(precision)) {
      Asked asked{.costs = {{"Neg", {.cycles = 10, .energy_pj = 1}}}, .tiles = {}};
      CustomCase known(graph, machine, streamed(quick_options()));
      CustomCase c(graph, machine, streamed(with_costs(asked.function())));
      EXPECT_EQ(c.cost("op0").compute_cycles, 10);
      EXPECT_EQ(c.cost("op0").home_read_bits, 4096 * bits_of(*element_type_named(precision))) << machine;
      EXPECT_EQ(c.cost("op0").home_read_bits, known.cost("op0").home_read_bits) << machine;
      EXPECT_EQ(c.cost("op0").home_write_bits, known.cost("op0").home_write_bits) << machine;
      EXPECT_EQ(c.cost("op0").precision, known.cost("op0").precision);
    }
  }
}

// Of two units that can do it the cost names none.
TEST(CustomOperatorCosts, OfSeveralUnitsTheWidestMoves) {
  const auto unit = [](const std::string& lanes, const std::string& precision) {
    return lanes + ", operations: {all: {cycles: 1, energy: 1 pJ}}, precisions: {" + precision + ": {rate: 1}}}";
  };
  for (const bool narrow_array : {true, false}) {
    const std::string array = unit("array: {dimensions: {K: 4}", narrow_array ? "int8" : "fp32");
    const std::string vector = unit("vector: {lanes: 4", narrow_array ? "fp32" : "int8");
    const std::string machine = streaming_core(array + "\n    " + vector);
    Asked asked{.costs = {{"Neg", {.cycles = 10, .energy_pj = 1}}}, .tiles = {}};
    CustomCase c(chain(1, 4096), machine, streamed(with_costs(asked.function())));
    EXPECT_EQ(c.cost("op0").home_read_bits, 4096 * 32);
  }
}

TEST(CustomOperatorCosts, NothingForNothing) {
  Asked asked{.costs = {{"FancyNorm", {}}}, .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(asked.function()));
  EXPECT_EQ(c.cycles(), 128);
}

TEST(CustomOperatorCosts, ByTheRulesOfZigzagTheyAreFreeUnlessGiven) {
  Asked asked{.costs = {{"FancyNorm", {.cycles = 50, .energy_pj = 2}}}, .tiles = {}};
  const std::string machine =
      "memories:\n  " + memory("dram", "dram", "1 GiB", 64) +
      "\ncores:\n  core:\n    array: {dimensions: {D1: {size: 4, loops: [K]}, D2: {size: 4, loops: [C]}}, operations: "
      "{all: {cycles: 1, energy: 1 pJ}}}\n    memories: {" +
      memory("sram", "sram", "1 MiB", 64) +
      ", dram: {use: dram}}\nlinks:\n  - {link: [dram, core], width: 64 bit/cycle}\n";
  GraphBuilder b("alone");
  b.output(b.add(Op::Custom, "fancy", {b.input("x", {64})}, custom_op("FancyNorm", {64})));
  const Graph graph = finished(b);
  EvaluatorOptions options = with_costs(asked.function());
  options.cost.zigzag = options.off_chip = true;
  options.cost.extract.precision = "int8";
  CustomCase given(graph, machine, options);
  EXPECT_EQ(given.cost("fancy").compute_cycles, 50);
  EXPECT_EQ(given.cost("fancy").precision, "int8");
  options.cost.custom = {};
  CustomCase free(graph, machine, options);
  EXPECT_EQ(free.cost("fancy").cycles, 0);
}

TEST(CustomOperatorCosts, TheyHaveNoMapping) {
  const auto hardware = read_hardware_text("monet: 1\nname: machine\nclock: 1 GHz\n" + one_core, "machine.yaml");
  ASSERT_TRUE(hardware.has_value());
  MappingCache cache;
  const auto mapped = map_operators(sandwich(), *hardware, cache, {});
  ASSERT_TRUE(mapped.has_value());
  EXPECT_EQ(mapped->operators[1].reason, "what a custom operator computes is not known");
  EXPECT_FALSE(mapped->operators[1].core.valid());
  EXPECT_TRUE(mapped->operators[2].reason.empty());
}

// ---- operators that are known

const std::string array_core = cores_on_one_memory(
    "  core:\n    array: {dimensions: {K: 4, C: 4}, operations: {all: {cycles: 1, energy: 1 pJ}}}\n"
    "    memories: {main: {use: main}}\n");

Graph product_and_softmax() {
  GraphBuilder b("network");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  const TensorId x = b.add(Op::MatMul, "fc", {b.input("x", {24, 32}), b.parameter("w", {32, 40})}, product);
  b.output(b.add(Op::Softmax, "softmax", {x}, {{Attr::axes, std::vector<std::int64_t>{1}}}));
  return finished(b);
}

TEST(CustomOperatorCosts, OfAKnownOperatorReplaceWhatIsKnown) {
  CustomCase known(product_and_softmax(), array_core, quick_options());
  Asked asked{.costs = {{"Softmax", {.cycles = 3, .energy_pj = 4}}}, .tiles = {}};
  CustomCase c(product_and_softmax(), array_core, with_costs(asked.function()));
  EXPECT_EQ(c.cost("softmax").cycles, 3);
  EXPECT_EQ(c.cost("softmax").energy_pj(), 4);
  EXPECT_EQ(c.cost("fc").cycles, known.cost("fc").cycles);
  EXPECT_EQ(c.cost("fc").energy_pj(), known.cost("fc").energy_pj());
  EXPECT_EQ(c.cycles(), known.cost("fc").cycles + 3);
  EXPECT_LE(c.bounds().cycles, c.cycles());
  EXPECT_LE(c.bounds().pj, known.bounds().pj);
}

TEST(CustomOperatorCosts, MacsOfAKnownOperatorStay) {
  Asked asked{.costs = {{"MatMul", {.cycles = 1, .energy_pj = 0}}}, .tiles = {}};
  CustomCase c(product_and_softmax(), array_core, with_costs(asked.function()));
  EXPECT_EQ(c.cost("fc").macs, 24 * 32 * 40);
  EXPECT_EQ(c.cost("fc").cycles, 1);
  EXPECT_LE(c.bounds().cycles, c.cycles());
}

TEST(CustomOperatorCosts, TilesOfAKnownOperatorAreAskedForOneByOne) {
  Asked asked{.costs = {{"Neg", {.cycles = 7, .energy_pj = 1}}}, .tiles = {}};
  CustomCase c(chain(1, 10, 4), one_core, with_costs(asked.function()), nullptr, "operators: {op0: {tile: {B: 4}}}\n");
  // Rows 4, 4 and 2.
  EXPECT_EQ(c.cycles(), 3 * 7);
  std::vector<std::int64_t> rows;
  for (const CustomTile& tile : asked.tiles) {
    ASSERT_EQ(tile.loops[0].first, "B");
    rows.push_back(tile.loops[0].second);
  }
  std::ranges::sort(rows);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{2, 4, 10}));
  EXPECT_LE(c.bounds().cycles, c.cycles());
}

TEST(CustomOperatorCosts, TheBoundIsTheSameForEveryPlan) {
  const std::string machine =
      cores_on_one_memory(rate_core("plain", "main: {use: main}") + rate_core("quick", "main: {use: main}"));
  for (const std::string priced : {"Neg", "Neg@quick", "Neg@plain"}) {
    std::vector<Bounds> bounds;
    for (const std::string plan : {"", "operators: {op0: {cores: plain}}\n", "operators: {op0: {cores: quick}}\n"}) {
      Asked asked{.costs = {{priced, {.cycles = 5, .energy_pj = 1}}}, .tiles = {}};
      CustomCase c(chain(1, 64), machine, with_costs(asked.function()), nullptr, plan);
      bounds.push_back(c.bounds());
      EXPECT_LE(bounds.back().cycles, c.cycles()) << priced << plan;
    }
    for (const Bounds& other : bounds) {
      EXPECT_EQ(other.cycles, bounds[0].cycles) << priced;
      EXPECT_EQ(other.pj, bounds[0].pj) << priced;
    }
    // 5 cycles are possible somewhere.
    EXPECT_LE(bounds[0].cycles, 5) << priced;
  }
}

TEST(CustomOperatorCosts, AFunctionThatKnowsNothingChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto example = random_evaluation(seed);
    ASSERT_TRUE(example.has_value()) << example.error().text();
    MappingCache first_cache, second_cache;
    Evaluator plain(example->graph, example->hardware, first_cache, quick_options());
    Asked asked;
    Evaluator with(example->graph, example->hardware, second_cache, with_costs(asked.function()));
    const auto a = evaluate(plain, *example);
    const auto b = evaluate(with, *example);
    ASSERT_EQ(a.has_value(), b.has_value()) << seed;
    if (!a) continue;
    EXPECT_FALSE(asked.tiles.empty());
    EXPECT_EQ(a->schedule.cycles, b->schedule.cycles) << seed;
    ASSERT_EQ(a->schedule.tiles.size(), b->schedule.tiles.size());
    for (std::size_t i = 0; i < a->schedule.tiles.size(); ++i) {
      ASSERT_EQ(a->schedule.tiles[i].start, b->schedule.tiles[i].start) << seed;
      ASSERT_EQ(a->schedule.tiles[i].end, b->schedule.tiles[i].end) << seed;
    }
  }
}

TEST(CustomOperatorCosts, AreNotKeptForOthers) {
  MappingCache cache;
  Asked quick{.costs = {{"Softmax", {.cycles = 3, .energy_pj = 4}}}, .tiles = {}};
  Asked slow{.costs = {{"Softmax", {.cycles = 3000, .energy_pj = 4}}}, .tiles = {}};
  CustomCase before(product_and_softmax(), array_core, quick_options());
  CustomCase first(product_and_softmax(), array_core, with_costs(quick.function()), &cache);
  CustomCase second(product_and_softmax(), array_core, with_costs(slow.function()), &cache);
  CustomCase without(product_and_softmax(), array_core, quick_options(), &cache);
  EXPECT_EQ(first.cost("softmax").cycles, 3);
  EXPECT_EQ(second.cost("softmax").cycles, 3000);
  EXPECT_EQ(without.cycles(), before.cycles());
  EXPECT_EQ(without.cost("softmax").energy_pj(), before.cost("softmax").energy_pj());
}

TEST(CustomOperatorCosts, TheSameForAnyNumberOfThreads) {
  for (std::uint64_t seed = 21; seed <= 28; ++seed) {
    const auto example = random_evaluation(seed);
    ASSERT_TRUE(example.has_value()) << example.error().text();
    std::vector<double> cycles;
    std::vector<std::size_t> questions;
    for (const std::size_t jobs : {1U, 4U}) {
      std::size_t asked = 0;
      MappingCache cache;
      // Half of all tiles, by what they are.
      Evaluator evaluator(
          example->graph, example->hardware, cache,
          with_costs(asked_once([&](const CustomTile& tile) -> Expected<std::optional<CustomCost>> {
                       ++asked;
                       const std::size_t size = key_of(tile).size();
                       if (size % 2 == 0) return std::optional<CustomCost>();
                       return std::optional(CustomCost{.cycles = static_cast<double>(size), .energy_pj = 1});
                     }),
                     jobs));
      const auto result = evaluate(evaluator, *example);
      cycles.push_back(result ? result->schedule.cycles : -1);
      questions.push_back(asked);
      if (!result) continue;
      EXPECT_EQ(check(evaluator, *result).count, 0U) << seed;
    }
    EXPECT_EQ(cycles[0], cycles[1]) << seed;
    EXPECT_EQ(questions[0], questions[1]) << seed;
  }
}

// ---- what is the user told?

TEST(CustomOperatorCostErrors, NoFunction) {
  CustomCase c(sandwich(), one_core, quick_options());
  expect_error(c.error, {"no cost is known for the custom operator 'FancyNorm' (node 'fancy')"});
  EXPECT_NE(c.error.advice.find("--custom"), std::string::npos);
}

TEST(CustomOperatorCostErrors, AFunctionThatDoesNotKnowIt) {
  Asked asked{.costs = {{"Fancy", {}}}, .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(asked.function()));
  EXPECT_EQ(c.error.message, "no cost is known for the custom operator 'FancyNorm' (node 'fancy')");
}

TEST(CustomOperatorCostErrors, NumbersThatAreNoCosts) {
  for (const double wrong : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Asked asked{.costs = {{"FancyNorm", {.cycles = wrong, .energy_pj = 1}}}, .tiles = {}};
    CustomCase c(sandwich(), one_core, with_costs(asked.function()));
    expect_error(c.error, {"the cost given for FancyNorm on core c0 has", "cycles"}, "node 'fancy'");
    asked.costs = {{"Neg", {.cycles = 1, .energy_pj = wrong}}, {"FancyNorm", {}}};
    CustomCase other(sandwich(), one_core, with_costs(asked.function()));
    expect_error(other.error, {"the cost given for Neg on core c0 has", "pJ"}, "node 'before'");
  }
}

TEST(CustomOperatorCostErrors, NumbersThatAreTooLarge) {
  for (const double wrong : {1.1e18, 1e308}) {
    Asked asked{.costs = {{"FancyNorm", {.cycles = wrong, .energy_pj = 1}}}, .tiles = {}};
    CustomCase c(sandwich(), one_core, with_costs(asked.function()));
    expect_error(c.error, {"the cost given for FancyNorm on core c0 has", "cycles, which is more than 1e+18"},
                 "node 'fancy'");
    EXPECT_EQ(c.error.advice, "give at most 1e+18 cycles");
    asked.costs = {{"Neg", {.cycles = 1, .energy_pj = wrong}}, {"FancyNorm", {}}};
    CustomCase other(sandwich(), one_core, with_costs(asked.function()));
    expect_error(other.error, {"the cost given for Neg on core c0 has", "pJ, which is more than 1e+18"},
                 "node 'before'");
  }
  Asked most{.costs = {{"Neg", {.cycles = 1e18, .energy_pj = 1e18}}, {"FancyNorm", {.cycles = 1e18, .energy_pj = 1}}},
             .tiles = {}};
  CustomCase c(sandwich(), one_core, with_costs(most.function()));
  EXPECT_EQ(c.cycles(), 3e18);
}

TEST(CustomOperatorCostErrors, OfTheFunctionItselfArePassedOn) {
  const CustomCosts fails = asked_once([](const CustomTile& tile) -> Expected<std::optional<CustomCost>> {
    if (tile.op == "Neg") return Error{.message = "no idea", .place = "my function", .advice = "ask another"};
    return std::optional(CustomCost{});
  });
  CustomCase c(sandwich(), one_core, with_costs(fails));
  EXPECT_EQ(c.error.text(), "my function: no idea (ask another)");
}

}  // namespace
}  // namespace monet
