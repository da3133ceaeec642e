// Machines of many cores: what hops over links cost, and what cores that share a memory may count on, by closed
// formulas.
#include "evaluate/account/causes.h"
#include "evaluate/account/energy.h"
#include "evaluate/account/owners.h"
#include "evaluate/evaluate_case.h"

#include <fmt/format.h>

#include <numeric>

namespace monet {
namespace {

using namespace test;

// A grid of cores with a memory each; DRAM hangs at its first corner. Links move 16 bits a cycle each way, take 3
// cycles and 0.5 pJ a bit.
constexpr double link_bits = 16, link_latency = 3, link_pj = 0.5;

std::string corner_mesh(int rows, int columns, const std::string& local) {
  std::string core = rate_core("pe", memory("sram", "sram", local, 4096) + ", dram: {use: dram}");
  core.insert(core.find('\n') + 1, fmt::format("    grid: [{}, {}]\n", rows, columns));
  const std::string link = "width: 16 bit/cycle, latency: 3 cycle, energy: 0.5 pJ/bit";
  return "effects: {static_energy: false}\nmemories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" +
         core + "links:\n" + (rows * columns > 1 ? "  - {mesh: pe, " + link + "}\n" : "") +
         "  - {link: [dram, pe0_0], " + link + "}\n";
}

std::string on_core(int row, int column) {
  return fmt::format("operators: {{op0: {{cores: pe{}_{}, split: {{}}}}}}\n", row, column);
}

double link_energy(const Case& c) {
  const Energy energy = energy_of(c.hardware(), c.schedule());
  return std::accumulate(energy.link.begin(), energy.link.end(), 0.0);
}

TEST(ManyCores, EveryHopFromTheCornerCostsItsLatencyAndItsEnergy) {
  const double elements = 64, bits = 32 * elements;
  for (const auto& [row, column] :
       {std::pair(0, 0), std::pair(0, 3), std::pair(2, 0), std::pair(2, 3), std::pair(1, 2)}) {
    const Case c(chain(1, 64), corner_mesh(3, 4, "1 MiB"), on_core(row, column));
    const double hops = row + column + 1;
    EXPECT_NEAR(c.cycles(), 2 * (bits / link_bits + hops * link_latency) + elements, 1e-9);
    EXPECT_NEAR(link_energy(c), 2 * bits * hops * link_pj, 1e-9);
  }
}

TEST(ManyCores, WhatStreamsPassesTheSameLinks) {
  // No room for operands: 256 operations, while 8192 bits come and as many go, each way 16 a cycle.
  const double elements = 256, bits = 32 * elements;
  for (const auto& [row, column] : {std::pair(0, 0), std::pair(1, 2)}) {
    const Case c(chain(1, 256), corner_mesh(2, 3, "512 B"), on_core(row, column));
    const double hops = row + column + 1;
    EXPECT_TRUE(c.schedule().transfers.empty());
    EXPECT_NEAR(c.cycles(), std::max(elements, bits / link_bits) + 2 * hops * link_latency, 1e-9);
    EXPECT_NEAR(link_energy(c), 2 * bits * hops * link_pj, 1e-9);
  }
}

TEST(ManyCores, ALinkIsSharedByAllThatCrossesIt) {
  // Both come over the link of the corner, one after the other or side by side.
  const double elements = 64, bits = 32 * elements;
  const Case c(branches({64, 64}), corner_mesh(1, 3, "1 MiB"),
               "operators: {op0: {cores: pe0_1, split: {}}, op1: {cores: pe0_2, split: {}}}\n");
  double last = 0;
  for (const ScheduledTransfer& transfer : c.schedule().transfers) {
    if (transfer.kind == TransferKind::fetch) last = std::max(last, transfer.end);
  }
  EXPECT_GE(last, 2 * bits / link_bits + 2 * link_latency);
  EXPECT_LE(last, 2 * bits / link_bits + 3 * link_latency);
  EXPECT_GE(c.cycles(), last + elements);
}

TEST(ManyCores, TheShapeOfAMeshMattersAndNotOnlyItsSize) {
  const Case row(chain(1, 64), corner_mesh(1, 16, "1 MiB"), on_core(0, 15));
  const Case square(chain(1, 64), corner_mesh(4, 4, "1 MiB"), on_core(3, 3));
  EXPECT_NEAR(row.cycles() - square.cycles(), 2 * (16 - 7) * link_latency, 1e-9);
}

TEST(ManyCores, CoresOfAMeshAreOfOneKind) {
  // An operator is split over all of them, wherever they are.
  const Case c(chain(1, 64), corner_mesh(4, 4, "1 MiB"));
  EXPECT_EQ(c.result().assignment.operators[0].cores.size(), 16U);
}

TEST(ManyCores, DataPassBesideABusThatIsBusy) {
  // The bus brings 64 elements until 64, and 32 more until 96; both are computed on until 128. Then both go to another
  // core: one over the bus, the other over its link, for an element a cycle each.
  std::string cores;
  for (int i = 0; i < 4; ++i) {
    cores += rate_core("c" + std::to_string(i), memory("sram", "sram", "1 MiB", 4096) + ", dram: {use: dram}");
  }
  const std::string machine = "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\ncores:\n" + cores +
                              "links:\n  - {bus: [c0, c1, c2, c3, dram], width: 32 bit/cycle, name: memory_bus}\n"
                              "  - {link: [c0, c1], width: 32 bit/cycle}\n  - {link: [c2, c3], width: 32 bit/cycle}\n";
  GraphBuilder b("two");
  for (const auto& [name, size] : {std::pair<std::string, std::int64_t>("a", 64), {"b", 32}}) {
    const TensorId middle = b.add(Op::Neg, name + "0", {b.input("x" + name, {size})});
    b.output(b.add(Op::Neg, name + "1", {middle}));
  }
  const Case c(finished(b), machine,
               "operators: {a0: {cores: c0, split: {}}, a1: {cores: c1, split: {}}, "
               "b0: {cores: c2, split: {}}, b1: {cores: c3, split: {}}}\n");
  const auto sent = [&](const std::string& name, double cycles) {
    const auto transfers = c.transfers(name, TransferKind::core_to_core);
    ASSERT_EQ(transfers.size(), 1U);
    EXPECT_EQ(transfers[0].start, 128);
    EXPECT_EQ(transfers[0].end, 128 + cycles);
  };
  sent("a0.out", 64);
  sent("b0.out", 32);
}

// ---- a memory that cores share

std::string under_one_memory(int cores, const std::string& size) {
  std::string core = rate_core("c", "l2: {use: l2}, dram: {use: dram}");
  core.insert(core.find('\n') + 1, fmt::format("    count: {}\n", cores));
  return "memories:\n  " + memory("dram", "dram", "1 GiB", 4096) + "\n  " + memory("l2", "sram", size, 4096) +
         "\ncores:\n" + core;
}

TEST(ManyCores, UnderOneMemoryDoNotWaitForEachOther) {
  // 1024 elements of 4 bytes in and out are 8 KiB, for all cores together. A part of them fits 6 KiB, all do not.
  for (const int cores : {2, 4, 8}) {
    const Case c(chain(1, 1024), under_one_memory(cores, "6 KiB"));
    EXPECT_EQ(c.tiles("op0").size(), static_cast<std::size_t>(cores));
    EXPECT_NEAR(c.cycles(), 1024.0 / cores, 1e-6);
  }
}

TEST(ManyCores, WaitingForRoomIsACauseOfItsOwn) {
  // Two stacks on two cores; each has 4 KiB in and 4 KiB out, and there is room for one of them.
  GraphBuilder b("two");
  for (const std::string name : {"a", "b"}) {
    const TensorId middle = b.add(Op::Neg, name + "0", {b.input("x" + name, {1024})});
    b.output(b.add(Op::Neg, name + "1", {middle}));
  }
  const Case c(finished(b), under_one_memory(2, "9 KiB"),
               "stacks: [{operators: [a0, a1]}, {operators: [b0, b1]}]\n"
               "operators: {a0: {cores: c0, split: {}}, a1: {cores: c0, split: {}}, "
               "b0: {cores: c1, split: {}}, b1: {cores: c1, split: {}}}\n");
  const ScheduledStep step{c.graph(), c.hardware(), c.result().assignment, c.result().tiles, c.schedule()};
  const CriticalPath path = critical_path(step, owners_of(step));
  EXPECT_NEAR(std::accumulate(path.cycles.begin(), path.cycles.end(), 0.0), c.cycles(), 1e-6);
  // A core computes 2048 cycles; the rest of the step one of them stands still for want of room.
  EXPECT_GT(c.cycles(), 2048);
  const auto causes = latency_by_cause(step, path);
  EXPECT_LE(causes[static_cast<std::size_t>(LatencyCause::compute)], 2 * 2048 + 1e-6);
  EXPECT_GT(causes[static_cast<std::size_t>(LatencyCause::room)], 0);
  EXPECT_NEAR(std::accumulate(causes.begin(), causes.end(), 0.0), c.cycles(), 1e-6);
}

}  // namespace
}  // namespace monet
