// Light operators that do not fit their core's memory: cut, joined, and moved once.
#include "evaluate/evaluate_case.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace monet {
namespace {

using namespace test;

// One core with so much memory, eight bits a cycle to DRAM.
std::string core_with_memory(const std::string& sram, int bits = 8) {
  return "memories:\n  " + memory("dram", "dram", "1 GiB", bits) + "\ncores:\n" +
         rate_core("c0", memory("sram", "sram", sram, 512) + ", dram: {use: dram}") +
         "links:\n  - {link: [dram, c0], width: 512 bit/cycle}\n";
}

double all_bytes_moved(const Case& c) {
  double bytes = 0;
  for (const ScheduledTransfer& transfer : c.schedule().transfers) bytes += static_cast<double>(transfer.bytes);
  for (const ScheduledTile& tile : c.schedule().tiles) {
    const TileCost& cost = c.schedule().costs[tile.cost];
    bytes += (cost.home_read_bits + cost.home_write_bits) / 8;
  }
  return bytes;
}

std::uint32_t number_of_stack(const Case& c, const std::string& name) {
  for (std::size_t n = 0; n < c.graph().nodes().size(); ++n) {
    if (c.graph()[NodeId(n)].name == name) return c.result().assignment.operators[n].stack;
  }
  ADD_FAILURE() << name;
  return 0;
}

// 16 KiB in, 16 KiB out; what passes between the operators never leaves the core.
TEST(Light, AChainReadsOnceAndWritesOnce) {
  const Case c(chain(3, 4096), core_with_memory("8 KiB"));
  EXPECT_EQ(all_bytes_moved(c), 2 * 4096 * 4);
  EXPECT_GT(c.tiles("op0").size(), 1U);
  EXPECT_EQ(c.tiles("op0").size(), c.tiles("op2").size());
  EXPECT_EQ(number_of_stack(c, "op0"), number_of_stack(c, "op2"));
  // DRAM reads and writes at the same time, a byte a cycle each: no longer than that and a piece at each end.
  EXPECT_GE(c.cycles(), 4096 * 4);
  EXPECT_LE(c.cycles(), 4096 * 4 * 2);
  const Case apart(chain(3, 4096), core_with_memory("8 KiB"), "transfers: memory\n");
  EXPECT_EQ(all_bytes_moved(apart), 3 * 2 * 4096 * 4);
  EXPECT_GT(apart.cycles(), c.cycles());
}

TEST(Light, WhatFitsHalfOfTheMemoryIsOnePiece) {
  const Case c(chain(2, 4096), core_with_memory("64 KiB"));
  EXPECT_EQ(c.tiles("op0").size(), 1U);
  EXPECT_NE(number_of_stack(c, "op0"), number_of_stack(c, "op1"));
}

// Four bytes an element in, four out, at one element a cycle: from 64 bits a cycle on computing takes longer.
TEST(Light, WhatComputesLongerThanItsDataTakeIsOnePiece) {
  EXPECT_GT(Case(chain(2, 4096), core_with_memory("8 KiB", 32)).tiles("op0").size(), 1U);
  EXPECT_EQ(Case(chain(2, 4096), core_with_memory("8 KiB", 128)).tiles("op0").size(), 1U);
}

TEST(Light, CoresThatShareAMemoryCutNothingFurther) {
  const std::string machine =
      "memories:\n  " + memory("dram", "dram", "1 GiB", 8) + "\n  " + memory("l2", "sram", "8 KiB", 512) +
      "\ncores:\n" + rate_core("c0", "l2: {use: l2}, dram: {use: dram}") +
      rate_core("c1", "l2: {use: l2}, dram: {use: dram}") + "links:\n  - {link: [dram, l2], width: 512 bit/cycle}\n";
  EXPECT_LE(Case(chain(2, 4096), machine).tiles("op0").size(), 2U);
}

TEST(Light, WhatThePlanSaysIsLeftAlone) {
  const Case c(chain(3, 4096), core_with_memory("8 KiB"), "operators:\n  op1: {cores: c0}\n");
  EXPECT_EQ(c.tiles("op1").size(), 1U);
  EXPECT_GT(c.tiles("op0").size(), 1U);
  const std::set<std::uint32_t> stacks{number_of_stack(c, "op0"), number_of_stack(c, "op1"), number_of_stack(c, "op2")};
  EXPECT_EQ(stacks.size(), 3U);
}

// A sum of three operands is cut finer than what it reads: so is that.
TEST(Light, OperatorsOfAStackAreCutAlike) {
  GraphBuilder b("sum");
  const TensorId x = b.input("x", {4096, 1}), y = b.input("y", {4096, 1});
  b.output(b.add(Op::Add, "sum", {b.add(Op::Neg, "neg", {x}), y}));
  const Case c(finished(b), core_with_memory("8 KiB"));
  EXPECT_EQ(c.tiles("neg").size(), c.tiles("sum").size());
  EXPECT_GE(c.tiles("sum").size(), 12U);
  EXPECT_EQ(all_bytes_moved(c), 3 * 4096 * 4);
}

// The last reads a product of the first: joined they would wait for each other.
TEST(Light, NothingOutsideAStackLiesBetweenItsOperators) {
  GraphBuilder b("between");
  const TensorId first = b.add(Op::Neg, "first", {b.input("x", {64, 64})});
  const TensorId second = b.add(Op::Neg, "second", {first});
  const TensorId product = b.add(Op::MatMul, "product", {first, b.input("w", {64, 64})});
  b.output(b.add(Op::Add, "last", {second, product}));
  const Case c(finished(b), core_with_memory("8 KiB"));
  EXPECT_EQ(number_of_stack(c, "first"), number_of_stack(c, "second"));
  EXPECT_NE(number_of_stack(c, "first"), number_of_stack(c, "last"));
}

// The plan's stack reads from ours and is read by it: ours is none then.
TEST(Light, StacksOfThePlanComeFirst) {
  GraphBuilder b("ring");
  const TensorId a = b.add(Op::Neg, "a", {b.input("x", {4096, 1})});
  const TensorId other = b.add(Op::Neg, "b", {b.input("y", {4096, 1})});
  b.output(b.add(Op::Add, "c", {other, a}));
  b.output(b.add(Op::Mul, "d", {other, a}));
  const Case c(finished(b), core_with_memory("8 KiB"), "stacks:\n  - {operators: [a, d]}\n");
  EXPECT_TRUE(c.error().message.empty()) << c.error().text();
  EXPECT_EQ(number_of_stack(c, "a"), number_of_stack(c, "d"));
  EXPECT_NE(number_of_stack(c, "b"), number_of_stack(c, "c"));
}

// What is made again for the backward part would be there all the time.
TEST(Light, PartsOfTheStepAreNotJoined) {
  GraphBuilder b("parts");
  const TensorId first = b.add(Op::Neg, "first", {b.input("x", {4096, 1})});
  b.output(b.add(Op::Neg, "again", {first}));
  Graph graph = finished(b);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (graph[NodeId(n)].name == "again") graph[NodeId(n)].phase = Phase::backward;
  }
  const Case c(std::move(graph), core_with_memory("8 KiB"));
  EXPECT_NE(number_of_stack(c, "first"), number_of_stack(c, "again"));
}

// Rows of what a product makes are there in 16 pieces; the norm behind it needs whole rows.
TEST(Light, ElementWiseOperatorsAreCutAsTheirReadersCanBe) {
  GraphBuilder b("rows");
  const TensorId x = b.add(Op::Neg, "neg", {b.input("x", {64, 64})});
  b.output(b.add(Op::Softmax, "softmax", {x}, {{Attr::axes, std::vector<std::int64_t>{1}}}));
  const Case c(finished(b), core_with_memory("8 KiB"));
  EXPECT_GT(c.tiles("neg").size(), 1U);
  EXPECT_EQ(number_of_stack(c, "neg"), number_of_stack(c, "softmax"));
  EXPECT_EQ(all_bytes_moved(c), 2 * 64 * 64 * 4);
}

// A weight that a product reads whole; its update, cut into pieces, reads parts of it.
TEST(Light, UpdatesDoNotCutWhatOthersRead) {
  GraphBuilder b("update");
  const TensorId w = b.input("w", {64, 64});
  const TensorId product = b.add(Op::MatMul, "product", {b.input("x", {4, 64}), w});
  b.output(b.add(Op::Neg, "out", {product}));
  b.output(b.add(Op::Sub, "update", {w, b.input("gradient", {64, 64})}));
  Graph graph = finished(b);
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    if (graph[NodeId(n)].name == "update") graph[NodeId(n)].phase = Phase::optimizer;
  }
  const Case c(std::move(graph), core_with_memory("24 KiB"));
  EXPECT_GT(c.tiles("update").size(), 3U);
  std::size_t buffers = 0;
  for (const Buffer& buffer : c.result().tiles.buffers) buffers += c.graph()[buffer.tensor].name == "w" ? 1 : 0;
  EXPECT_EQ(buffers, 1U);
}

// 16 cores with a row each: 1 MiB of weights would stream to each of them. In tiles along the sum they come once.
TEST(Policy, LongSumsAreTiled) {
  const std::string machine = "memories:\n  " + memory("dram", "dram", "1 GiB", 64) + "\ncores:\n" +
                              rate_core("c", memory("sram", "sram", "256 KiB", 512) + ", dram: {use: dram}") +
                              "    count: 16\nlinks:\n  - {bus: [c, dram], width: 512 bit/cycle}\n";
  GraphBuilder b("sum");
  b.output(b.add(Op::MatMul, "product", {b.input("x", {16, 16384}), b.input("w", {16384, 16})}));
  const Case c(finished(b), machine);
  EXPECT_GT(c.tiles("product").size(), 16U);
  double bytes = 0;
  for (const ScheduledTransfer& transfer : c.schedule().transfers) {
    bytes += transfer.joined ? 0 : static_cast<double>(transfer.bytes);
  }
  EXPECT_EQ(bytes, 4 * (16 * 16384 * 2 + 16 * 16));
  // By hand without tiles.
  EXPECT_LT(2 * c.cycles(), Case(c.graph(), machine, "operators:\n  product: {split: {D: 16}}\n").cycles());
}

// No bus: each core fetches all weights by itself through one port, n · 2^18 B · 8 / 64 bit/cycle, and computes 2^20 /
// n cycles. The estimate has them come once; what is done is the best of the shares.
TEST(Policy, FewerCoresWhereMoreAreSlower) {
  const auto machine = [](int cores) {
    return "memories:\n  dram: {kind: dram, size: 1 GiB, " + costs() + ", " + port("64") + "}\ncores:\n" +
           rate_core("c", memory("sram", "sram", "2 MiB", 512) + ", dram: {use: dram}") +
           fmt::format("    count: {}\n", cores);
  };
  GraphBuilder b("product");
  b.output(b.add(Op::MatMul, "product", {b.input("x", {16, 1024}), b.parameter("w", {1024, 64})}));
  const Graph graph = finished(b);
  const Case all(graph, machine(16), "operators:\n  product: {split: {D: 16}}\n");
  const Case c(graph, machine(16));
  EXPECT_LT(c.tiles("product").size(), 16U);
  EXPECT_LT(c.cycles(), all.cycles());
  double before = std::numeric_limits<double>::infinity();
  for (int cores = 1; cores <= 64; cores *= 2) {
    const double cycles = Case(graph, machine(cores)).cycles();
    EXPECT_LE(cycles, 1.02 * before) << cores;
    before = cycles;
  }
}

}  // namespace
}  // namespace monet
