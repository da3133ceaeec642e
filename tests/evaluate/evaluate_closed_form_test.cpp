// Schedules whose length can be calculated by hand. A core that does one operation a cycle and a network of one
// operation an element make times whole numbers.
#include "evaluate/evaluate_case.h"
#include "mapping/operators.h"
#include "training/step.h"

#include <fmt/format.h>

namespace monet {
namespace {

using namespace test;

// Cores that work on one memory; nothing moves.
std::string on_one_memory(int cores) {
  std::string text = "memories:\n  " + memory("main", "sram", "1 MiB", 4096) + "\ncores:\n";
  for (int i = 0; i < cores; ++i) text += rate_core("c" + std::to_string(i), "main: {use: main}");
  return text;
}

// Each with a memory of its own, beside DRAM behind a link of so many bits a cycle each way.
std::string with_dram(int cores, int bits, const std::string& local = "1 MiB") {
  std::string text = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n";
  std::string links = "links:\n";
  for (int i = 0; i < cores; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += rate_core(name, memory("sram", "sram", local, 4096) + ", dram: {use: dram}");
    links += fmt::format("  - {{link: [dram, {}], width: {} bit/cycle}}\n", name, bits);
  }
  return text + links;
}

// ---- one core after the other, and side by side

TEST(EvaluateClosedForm, AChainIsTheSumOfItsMappings) {
  GraphBuilder b("chain");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  TensorId x = b.input("x", {24, 32});
  x = b.add(Op::MatMul, "fc", {x, b.parameter("w", {32, 40})}, product);
  x = b.add(Op::Relu, "relu", {x});
  b.output(b.add(Op::Softmax, "softmax", {x}, {{Attr::axes, std::vector<std::int64_t>{1}}}));
  const std::string machine =
      "memories:\n  " + memory("main", "sram", "1 MiB", 64) +
      "\ncores:\n  core:\n    array: {dimensions: {K: 4, C: 4}, operations: {all: {cycles: 1, energy: 1 pJ}}}\n"
      "    memories: {main: {use: main}}\n";
  Case c(finished(b), machine);
  MappingCache cache;
  const auto mapped = map_operators(c.graph(), c.hardware(), cache, {});
  ASSERT_TRUE(mapped.has_value());
  double sum = 0;
  for (const OperatorCost& cost : mapped->operators) sum += cost.cycles;
  EXPECT_NEAR(c.cycles(), sum, 1e-9 * sum);
  EXPECT_TRUE(c.schedule().transfers.empty());
}

TEST(EvaluateClosedForm, AChainInACoresMemoryComesAndGoesOnce) {
  // 64 elements of 32 bits over 16 bits a cycle: 128 cycles in, three times 64 to compute, 128 out.
  const Case c(chain(3, 64), with_dram(1, 16));
  EXPECT_EQ(c.cycles(), 128 + 3 * 64 + 128);
  EXPECT_EQ(c.transfers(TransferKind::fetch), 1U);
  EXPECT_EQ(c.transfers(TransferKind::write_back), 1U);
}

TEST(EvaluateClosedForm, AChainInACoresMemoryIsTheSumOfItsMappingsThere) {
  const std::string machine =
      "memories:\n  " + memory("dram", "dram", "1 GiB", 64) +
      "\ncores:\n  core:\n    vector: {lanes: 4, operations: {all: {cycles: 1, energy: 1 pJ}}}\n    memories: {" +
      memory("sram", "sram", "1 MiB", 64) +
      ", dram: {use: dram}}\nlinks:\n  - {link: [dram, core], width: 16 bit/cycle}\n";
  Case c(chain(3, 64), machine);
  MappingCache cache;
  const auto mapped = map_operators(c.graph(), c.hardware(), cache, {.off_chip = false});
  ASSERT_TRUE(mapped.has_value());
  double sum = 0;
  for (const OperatorCost& cost : mapped->operators) sum += cost.cycles;
  EXPECT_NEAR(c.cycles(), 128 + sum + 128, 1e-6);
}

TEST(EvaluateClosedForm, BranchesOnTwoCoresTakeTheLongest) {
  const std::string apart = "operators: {op0: {cores: c0, split: {}}, op1: {cores: c1, split: {}}}\n";
  EXPECT_EQ(Case(branches({50, 80}), on_one_memory(2), apart).cycles(), 80);
  EXPECT_EQ(Case(branches({50, 80}), on_one_memory(1)).cycles(), 130);
}

TEST(EvaluateClosedForm, APipelineReachesItsSteadyState) {
  // k stages of n tiles: (n + k - 1) times a tile.
  const int stages = 4, tiles = 10, elements = 6;
  std::string plan = "stacks: [{operators: [op0, op1, op2, op3], tile: {B: 1}}]\noperators: {";
  for (int i = 0; i < stages; ++i) plan += fmt::format("{}op{}: {{cores: c{}, split: {{}}}}", i == 0 ? "" : ", ", i, i);
  const Case c(chain(stages, tiles, elements), on_one_memory(stages), plan + "}\n");
  EXPECT_EQ(c.result().tiles.tiles(), static_cast<std::size_t>(stages * tiles));
  EXPECT_EQ(c.cycles(), (tiles + stages - 1) * elements);
}

// ---- bandwidth

TEST(EvaluateClosedForm, ATransferTakesItsBytesOverTheBandwidth) {
  for (const int bits : {8, 32, 128, 512}) {
    const Case c(chain(1, 256), with_dram(1, bits));
    const auto fetched = c.transfers("x", TransferKind::fetch);
    ASSERT_EQ(fetched.size(), 1U);
    EXPECT_EQ(fetched[0].end - fetched[0].start, 256.0 * 32 / bits);
    const auto written = c.transfers("op0.out", TransferKind::write_back);
    ASSERT_EQ(written.size(), 1U);
    EXPECT_EQ(written[0].end - written[0].start, 256.0 * 32 / bits);
    EXPECT_EQ(c.cycles(), 2 * 256.0 * 32 / bits + 256);
  }
}

TEST(EvaluateClosedForm, StreamingOperatorsShareTheBandwidthOfTheirMemory) {
  // Each reads and writes 4096 elements of 32 bits; the memory moves 32 bits a cycle in all and is the bottleneck.
  for (const int cores : {1, 2, 4}) {
    std::string text = "memories:\n  dram: {kind: dram, size: 1 GiB, " + costs() + ", " + port("32") + "}\ncores:\n";
    std::string plan = "operators: {";
    for (int i = 0; i < cores; ++i) {
      text += rate_core(fmt::format("c{}", i), memory("sram", "sram", "64 B", 512) + ", dram: {use: dram}");
      plan += fmt::format("{}op{}: {{cores: c{}, split: {{}}}}", i == 0 ? "" : ", ", i, i);
    }
    const Case c(branches(std::vector<std::int64_t>(static_cast<std::size_t>(cores), 4096)), text, plan + "}\n");
    for (const ScheduledTile& tile : c.schedule().tiles) EXPECT_NE(c.schedule().costs[tile.cost].streamed, 0);
    EXPECT_NEAR(c.cycles(), cores * 2 * 4096, 1e-6 * c.cycles());
  }
}

TEST(EvaluateClosedForm, OverABusDataForSeveralCoresMoveOnce) {
  GraphBuilder b("broadcast");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  b.output(b.add(Op::MatMul, "fc", {b.input("x", {4, 8}), b.parameter("w", {8, 16})}, product));
  std::string text = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n";
  for (int i = 0; i < 4; ++i) {
    text += rate_core(fmt::format("c{}", i), memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}");
  }
  text += "links:\n  - {bus: [c0, c1, c2, c3, dram], width: 32 bit/cycle}\n";
  const Case c(finished(b), text, "operators: {fc: {split: {D: 4}, cores: [c0, c1, c2, c3]}}\n");
  const auto weights = c.transfers("w", TransferKind::fetch);
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(std::ranges::count(weights, false, &ScheduledTransfer::joined), 1);
  for (const ScheduledTransfer& transfer : weights) {
    EXPECT_EQ(transfer.start, weights[0].start);
    EXPECT_EQ(transfer.end - transfer.start, 8 * 16);
  }
}

// One core makes y, as one buffer. Two cores read its first row, two others its second.
TEST(EvaluateClosedForm, OverABusPartsForSeveralCoresMoveOnce) {
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  GraphBuilder b("parts");
  const TensorId y = b.add(Op::Relu, "y", {b.input("x", {2, 64})});
  b.output(b.add(Op::MatMul, "fc", {y, b.parameter("w", {64, 16})}, product));
  std::string text = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n";
  for (int i = 0; i < 5; ++i) {
    text += rate_core(fmt::format("c{}", i), memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}");
  }
  text += "links:\n  - {bus: [c0, c1, c2, c3, c4, dram], width: 32 bit/cycle}\n";
  const Case c(finished(b), text,
               "operators: {y: {cores: [c4]}, fc: {split: {D: 2, K: 2}, cores: [c0, c1, c2, c3]}}\n");
  const auto rows = c.transfers("y.out", TransferKind::core_to_core);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::ranges::count(rows, false, &ScheduledTransfer::joined), 2);
  for (const ScheduledTransfer& transfer : rows) {
    EXPECT_EQ(transfer.bytes, 4 * 64);
    EXPECT_EQ(transfer.end - transfer.start, 64);
  }
}

// 5 rows of 24 elements: an addition each, and 24 products at the end; or after each row, of what it adds.
TEST(EvaluateClosedForm, AMeanInPartsScalesEachPart) {
  GraphBuilder b("mean");
  b.output(b.add(Op::ReduceMean, "mean", {b.input("x", {5, 24})},
                 {{Attr::axes, std::vector<std::int64_t>{0}}, {Attr::keepdims, std::int64_t{0}}}));
  const Graph graph = finished(b);
  const auto computed = [](const Case& c) {
    double cycles = 0;
    for (const ScheduledTile& tile : c.tiles("mean")) cycles += c.schedule().costs[tile.cost].compute_cycles;
    return cycles;
  };
  EXPECT_EQ(computed(Case(graph, with_dram(1, 4096))), 5 * 24 + 24);
  const Case c(graph, with_dram(1, 4096), "operators: {mean: {tile: {B: 1}}}\n");
  EXPECT_EQ(c.tiles("mean").size(), 5U);
  EXPECT_EQ(computed(c), 5 * (24 + 24));
}

// ---- what stays and what goes

// Two products in turn, tile by tile; each weight has 1024 bytes.
Graph two_products() {
  GraphBuilder b("products");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  TensorId x = b.input("x", {5, 16});
  x = b.add(Op::MatMul, "fc1", {x, b.parameter("w1", {16, 16})}, product);
  b.output(b.add(Op::MatMul, "fc2", {x, b.parameter("w2", {16, 16})}, product));
  return finished(b);
}
constexpr const char* row_by_row = "stacks: [{operators: [fc1, fc2], tile: {D: 1}}]\n";

TEST(EvaluateClosedForm, WeightsThatFitComeOnceOthersForEveryTile) {
  const Case roomy(two_products(), with_dram(1, 64, "4 KiB"), row_by_row);
  EXPECT_EQ(roomy.transfers("w1", TransferKind::fetch).size(), 1U);
  EXPECT_EQ(roomy.transfers("w2", TransferKind::fetch).size(), 1U);
  // One weight and a few rows of 64 bytes.
  const Case tight(two_products(), with_dram(1, 64, "1400 B"), row_by_row);
  EXPECT_EQ(tight.transfers("w1", TransferKind::fetch).size(), 5U);
  EXPECT_EQ(tight.transfers("w2", TransferKind::fetch).size(), 5U);
  EXPECT_GT(tight.cycles(), roomy.cycles());
}

TEST(EvaluateClosedForm, OnlyWhatWasMadeIsWrittenBack) {
  const Case tight(two_products(), with_dram(1, 64, "1400 B"), row_by_row);
  EXPECT_TRUE(tight.transfers("w1", TransferKind::write_back).empty());
  EXPECT_TRUE(tight.transfers("w2", TransferKind::write_back).empty());
  EXPECT_TRUE(tight.transfers("x", TransferKind::write_back).empty());
  EXPECT_TRUE(tight.transfers("fc1.out", TransferKind::write_back).empty());
  EXPECT_EQ(tight.transfers("fc2.out", TransferKind::write_back).size(), 5U);
}

TEST(EvaluateClosedForm, WithRoomForTwoTilesTheNextComesInMeanwhile) {
  // Ten rows of 16 elements: 512 bits in, 512 out, 32 bits a cycle each way, 16 cycles each; 16 cycles of work.
  // A second operator in the stack, on a core of its own, leaves the first all of its memory.
  GraphBuilder b("rows");
  b.output(b.add(Op::Neg, "op", {b.input("x", {10, 16})}));
  b.output(b.add(Op::Neg, "other", {b.input("z", {10, 1})}));
  const Graph graph = finished(b);
  const std::string plan =
      "stacks: [{operators: [op, other], tile: {B: 1}}]\noperators: {op: {cores: c0, split: {}}, other: {cores: c1, "
      "split: {}}}\n";
  const auto machine = [&](const std::string& local) {
    return "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" +
           rate_core("c0", memory("sram", "sram", local, 512) + ", dram: {use: dram}") +
           rate_core("c1", memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}") +
           "links:\n  - {link: [dram, c0], width: 32 bit/cycle}\n  - {link: [dram, c1], width: 4096 bit/cycle}\n";
  };
  const auto end_of = [](const Case& c) {
    double end = 0;
    for (const ScheduledTransfer& t : c.transfers("op.out", TransferKind::write_back)) end = std::max(end, t.end);
    return end;
  };
  // Room for one row and its result: it comes, is worked on, and goes while the next comes.
  EXPECT_EQ(end_of(Case(graph, machine("128 B"), plan)), 10 * (16 + 16) + 16);
  // For two: the first comes, ten times the work, the last goes.
  EXPECT_EQ(end_of(Case(graph, machine("256 B"), plan)), 16 + 10 * 16 + 16);
}

// A network, and a training step of it in which the backward part reads what tanh has made.
Graph tanh_network() {
  GraphBuilder b("step");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  TensorId x = b.input("x", {4, 16});
  x = b.add(Op::MatMul, "fc1", {x, b.parameter("w1", {16, 32})}, product);
  x = b.add(Op::Tanh, "tanh", {x});
  b.output(b.add(Op::MatMul, "fc2", {x, b.parameter("w2", {32, 8})}, product));
  return finished(b);
}
Graph tanh_step() {
  auto step = training::make_training_step({tanh_network(), false, {}, {}},
                                           {.loss = {.kind = training::LossKind::mean_squared_error}});
  EXPECT_TRUE(step.has_value());
  return step ? std::move(step->graph) : Graph();
}

TEST(EvaluateClosedForm, InferenceDoesNotKeepWhatTheBackwardPartNeeds) {
  const Graph forward = chain(4, 100);
  const Case inference(forward, on_one_memory(1));
  // Each is there from when it is made until its one reader has it.
  for (int i = 0; i < 3; ++i) {
    const auto stays = inference.home(fmt::format("op{}.out", i));
    ASSERT_EQ(stays.size(), 1U);
    EXPECT_EQ(stays[0].start, 100.0 * i);
    EXPECT_EQ(stays[0].end, 100.0 * (i + 2));
  }
  const Case forward_only(tanh_network(), on_one_memory(1));
  const Case training(tanh_step(), on_one_memory(1));
  ASSERT_EQ(forward_only.home("tanh.out").size(), 1U);
  EXPECT_EQ(forward_only.home("tanh.out")[0].end, forward_only.tiles("fc2")[0].end);
  ASSERT_EQ(training.home("tanh.out").size(), 1U);
  EXPECT_GT(training.home("tanh.out")[0].end, training.tiles("fc2")[0].end);
}

// ---- recomputing and paging

std::string machine_with_flash(int bits) {
  return "memories:\n  " + memory("main", "sram", "1 MiB", 4096) +
         "\n  flash: {kind: storage, size: 1 MiB, ports: {r: {kind: read, width: " + std::to_string(bits) +
         " bit/cycle}, w: {kind: write, width: " + std::to_string(bits) + " bit/cycle}}}\ncores:\n" +
         rate_core("c0", "main: {use: main}, flash: {use: flash}");
}

TEST(EvaluateClosedForm, RecomputingIsWork) {
  const Case kept(tanh_step(), on_one_memory(1));
  const Case again(tanh_step(), on_one_memory(1), "tensors: {tanh.out: recompute}\n");
  // One product (4 x 16 x 32 multiply-adds) and the function of its 4 x 32 results, once more.
  const double work =
      kept.tiles("fc1")[0].end - kept.tiles("fc1")[0].start + kept.tiles("tanh")[0].end - kept.tiles("tanh")[0].start;
  EXPECT_GE(work, 4 * 16 * 32 + 4 * 32);
  EXPECT_NEAR(again.cycles() - kept.cycles(), work, 1e-6);
  EXPECT_EQ(again.tiles("fc1~1").size(), 1U);
  EXPECT_EQ(again.tiles("tanh~1").size(), 1U);
}

TEST(EvaluateClosedForm, PagingIsTransfersAndRoom) {
  const Case c(tanh_step(), machine_with_flash(8), "tensors: {tanh.out: {page: flash}}\n");
  const auto out = c.transfers("tanh.out", TransferKind::page_out);
  const auto in = c.transfers("tanh.out", TransferKind::page_in);
  ASSERT_EQ(out.size(), 1U);
  ASSERT_EQ(in.size(), 1U);
  EXPECT_EQ(out[0].bytes, 4 * 32 * 4);
  EXPECT_EQ(out[0].end - out[0].start, 4 * 32 * 4);
  EXPECT_EQ(in[0].end - in[0].start, 4 * 32 * 4);
  EXPECT_GE(in[0].start, out[0].end);
  // In storage all the while, in memory only before and after.
  const auto stays = c.home("tanh.out");
  const auto in_flash =
      std::ranges::find(stays, "flash", [&](const TensorStay& s) { return c.hardware()[s.memory].name; });
  ASSERT_NE(in_flash, stays.end());
  EXPECT_EQ(in_flash->start, out[0].start);
  EXPECT_EQ(in_flash->end, in[0].end);
}

// ---- order

TEST(EvaluateClosedForm, AnOrderIsNotOvertaken) {
  // c1 could do `free` while c0 works on what `after` needs.
  GraphBuilder b("order");
  const TensorId first = b.add(Op::Neg, "first", {b.input("x", {100})});
  b.output(b.add(Op::Neg, "after", {first}));
  b.output(b.add(Op::Neg, "free", {b.input("z", {50})}));
  const Graph graph = finished(b);
  const std::string cores =
      "operators: {first: {cores: c0, split: {}}, after: {cores: c1, split: {}}, free: {cores: c1, split: {}}}\n";
  const Case listed(graph, on_one_memory(2), "order: graph\n" + cores);
  EXPECT_EQ(listed.tiles("after")[0].start, 100);
  EXPECT_EQ(listed.tiles("free")[0].start, 200);
  EXPECT_EQ(listed.cycles(), 250);
  const Case by_readiness(graph, on_one_memory(2), "order: critical-path\n" + cores);
  EXPECT_EQ(by_readiness.tiles("free")[0].start, 0);
  EXPECT_EQ(by_readiness.cycles(), 200);
}

// ---- monotone

TEST(EvaluateClosedForm, MoreBandwidthIsNeverSlowerOnAChain) {
  for (const std::string local : {"1 MiB", "2 KiB", "600 B"}) {
    double before = std::numeric_limits<double>::infinity();
    for (const int bits : {8, 16, 24, 32, 64, 100, 128, 512, 4096}) {
      const Case c(chain(4, 6, 64), with_dram(1, bits, local),
                   "stacks: [{operators: [op0, op1, op2, op3], tile: {B: 1}}]\n");
      EXPECT_LE(c.cycles(), before * (1 + 1e-9)) << local << ", " << bits << " bits a cycle";
      before = c.cycles();
    }
  }
}

}  // namespace
}  // namespace monet
