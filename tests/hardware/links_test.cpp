// Topologies: as many links as the formulas say, each between neighbours; and names of parts.
#include "hardware/support.h"
#include "hardware/topology.h"

#include <rapidcheck/gtest.h>

#include <set>

namespace monet {
namespace {

using test::message_of;
using test::must_read;
using testing::HasSubstr;

std::string machine(const std::string& repeat, const std::string& links, const std::string& more = "") {
  return "monet: 1\nname: m\nclock: 1 GHz\ncores:\n  pe: {" + repeat +
         "rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}}\n" + more + "links:\n" + links;
}

std::size_t links_of(const std::string& repeat, const std::string& links) {
  return must_read(machine(repeat, "  - " + links + "\n")).links.size();
}

TEST(Topology, ClosedForms) {
  for (const std::int64_t rows : {1, 2, 3, 5}) {
    for (const std::int64_t columns : {1, 2, 4, 7}) {
      const std::vector<std::int64_t> shape = {rows, columns};
      EXPECT_EQ(grid_pairs(shape, false).size(), rows * (columns - 1) + columns * (rows - 1));
      // Rings of two are a single link, rings of one none.
      const auto ring = [](std::int64_t n) { return n > 2 ? n : n - 1; };
      EXPECT_EQ(grid_pairs(shape, true).size(), rows * ring(columns) + columns * ring(rows));
    }
  }
  EXPECT_EQ(grid_pairs(std::vector<std::int64_t>{4, 4, 4}, true).size(), 3U * 64);
  EXPECT_EQ(grid_pairs(std::vector<std::int64_t>{2, 3, 4}, false).size(), 1U * 12 + 2 * 8 + 3 * 6);
  for (const std::int64_t count : {1, 2, 3, 8}) {
    EXPECT_EQ(ring_pairs(count).size(), count > 2 ? count : count - 1);
    EXPECT_EQ(tree_pairs(count, 3).size(), count - 1);
    EXPECT_EQ(all_pairs(count).size(), count * (count - 1) / 2);
  }
}

RC_GTEST_PROP(Topology, NoPairTwiceAndAllInOnePiece, ()) {
  const std::vector<std::int64_t> shape = {*rc::gen::inRange(1, 6), *rc::gen::inRange(1, 6), *rc::gen::inRange(1, 4)};
  const std::int64_t count = shape[0] * shape[1] * shape[2];
  const std::int64_t arity = *rc::gen::inRange(1, 5);
  for (const Pairs& pairs : {grid_pairs(shape, false), grid_pairs(shape, true), ring_pairs(count),
                             tree_pairs(count, arity), all_pairs(count)}) {
    std::set<std::pair<std::int64_t, std::int64_t>> seen;
    std::vector<std::int64_t> group(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) group[static_cast<std::size_t>(i)] = i;
    for (const auto& [a, b] : pairs) {
      RC_ASSERT(a != b);
      RC_ASSERT(a >= 0 && b >= 0 && a < count && b < count);
      RC_ASSERT(seen.insert({std::min(a, b), std::max(a, b)}).second);
      const std::int64_t from = group[static_cast<std::size_t>(a)];
      const std::int64_t to = group[static_cast<std::size_t>(b)];
      for (std::int64_t& member : group) member = member == from ? to : member;
    }
    for (const std::int64_t member : group) RC_ASSERT(member == group[0]);
  }
}

TEST(HardwareLinks, EachTopologyFromAFile) {
  EXPECT_EQ(links_of("grid: [3, 4], ", "{mesh: pe, width: 32 bit/cycle}"), 3U * 3 + 4 * 2);
  EXPECT_EQ(links_of("grid: [3, 4], ", "{torus: pe, width: 32 bit/cycle}"), 24U);
  EXPECT_EQ(links_of("count: 12, ", "{mesh: pe, grid: [3, 4], width: 32 bit/cycle}"), 17U);
  EXPECT_EQ(links_of("count: 5, ", "{ring: pe, width: 32 bit/cycle}"), 5U);
  EXPECT_EQ(links_of("count: 5, ", "{tree: pe, arity: 4, width: 32 bit/cycle}"), 4U);
  EXPECT_EQ(links_of("count: 5, ", "{all_to_all: pe, width: 32 bit/cycle}"), 10U);
  EXPECT_EQ(links_of("count: 5, ", "{star: [pe0, pe1, pe2, pe3, pe4], width: 32 bit/cycle}"), 4U);
  EXPECT_EQ(links_of("count: 5, ", "{bus: pe, width: 32 bit/cycle}"), 1U);
  EXPECT_EQ(links_of("count: 2, ", "{link: [pe0, pe1], width: 32 bit/cycle}"), 1U);
  EXPECT_EQ(links_of("count: 1, ", "{ring: pe, width: 32 bit/cycle}"), 0U);
}

TEST(HardwareLinks, ValuesAndNames) {
  const Hardware hardware = must_read(machine("grid: [2, 2], ", R"(
  - {mesh: pe, width: 32 bit/cycle, latency: 2 cycle, energy: 0.5 pJ/bit, clock: 2 GHz, static_power: 1 mW, area: 1 mm2}
  - {link: [pe0_0, pe1_1], width: 8 bit/cycle, one_way: true, name: short_cut, energy_per_cycle: 3 pJ/cycle}
  - {bus: pe, width: 128 bit/cycle, name: memory_bus}
)"));
  ASSERT_EQ(hardware.links.size(), 6U);
  const Link& mesh = hardware.links[0];
  EXPECT_EQ(mesh.name, "pe0_0-pe0_1");
  EXPECT_EQ(mesh.bits_per_cycle, 64);  // twice the reference clock
  EXPECT_EQ(mesh.latency_cycles, 1);
  EXPECT_EQ(mesh.energy_pj_per_bit, 0.5);
  EXPECT_EQ(mesh.static_w, 0.001);
  EXPECT_TRUE(mesh.both_ways);
  const Link& cut = hardware.links[4];
  EXPECT_EQ(cut.name, "short_cut");
  EXPECT_FALSE(cut.both_ways);
  EXPECT_EQ(cut.energy_pj_per_cycle, 3);
  EXPECT_EQ(hardware[cut.ends[1].core].name, "pe1_1");
  EXPECT_EQ(hardware.links[5].kind, LinkKind::bus);
  EXPECT_EQ(hardware.links[5].ends.size(), 4U);
}

TEST(HardwareLinks, EachToItsPartner) {
  const std::string simd = "  simd: {count: 3, rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}}\n";
  const Hardware hardware = must_read(
      machine("count: 3, ",
              "  - {link: [pe, simd], width: 8 bit/cycle}\n  - {link: [pe0, simd], width: 8 bit/cycle, name: n}\n"
              "  - {ring: pe, width: 1 bit/cycle}\n",
              simd));
  ASSERT_EQ(hardware.links.size(), 9U);
  EXPECT_EQ(hardware.links[1].name, "pe1-simd1");
  EXPECT_EQ(hardware.links[5].name, "n2");
}

const std::string clusters = R"(monet: 1
name: rack
clock: 1 GHz
clusters:
  chip:
    count: 3
    clock: 500 MHz
    static_power: 2 W
    memories:
      hbm: {kind: dram, size: 1 GiB, ports: {rw: {width: 64 bit/cycle}}, read_energy: 4 pJ/bit, write_energy: 4 pJ/bit}
    cores:
      core:
        count: 2
        rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}
        memories: {hbm: {use: hbm}}
    links:
      - {bus: [core, hbm], width: 64 bit/cycle, name: inner}
links:
  - {ring: chip/hbm, width: 16 bit/cycle}
)";

TEST(HardwareLinks, ClustersRepeatTheirParts) {
  const Hardware hardware = must_read(clusters);
  ASSERT_EQ(hardware.cores.size(), 6U);
  EXPECT_EQ(hardware.cores[3].name, "chip1/core1");
  EXPECT_EQ(hardware.cores[3].type, "chip/core");
  ASSERT_EQ(hardware.memories.size(), 3U);
  EXPECT_EQ(hardware.memories[2].name, "chip2/hbm");
  EXPECT_EQ(hardware.memories[2].ports[0].bits_per_cycle(), 32);
  EXPECT_EQ(hardware.static_w, 6);
  // Every core uses the memory of its own chip, by its own bus.
  const Level& level = hardware.cores[4].levels[0];
  EXPECT_EQ(hardware[level.memory].name, "chip2/hbm");
  EXPECT_EQ(hardware[level.link].name, "chip2/inner");
  ASSERT_EQ(hardware.links.size(), 6U);
  EXPECT_EQ(hardware.links[3].name, "chip0/hbm-chip1/hbm");
}

TEST(HardwareLinks, ALevelsLink) {
  EXPECT_FALSE(must_read(test::with(clusters, "{use: hbm}", "{use: hbm, link: none}")).cores[0].levels[0].link.valid());
  const Hardware hardware = must_read(test::with(clusters, "{use: hbm}", "{use: hbm, link: inner}"));
  EXPECT_EQ(hardware[hardware.cores[2].levels[0].link].name, "chip1/inner");
  EXPECT_EQ(message_of(test::with(clusters, "{use: hbm}", "{use: hbm, link: iner}")),
            "m.yaml:15:42: there is no link 'iner' (did you mean 'inner'?)");
}

TEST(HardwareLinks, Errors) {
  const auto problem = [](const std::string& link) { return message_of(machine("count: 4, ", "  - " + link + "\n")); };
  EXPECT_EQ(
      problem("{width: 1 bit/cycle}"),
      "m.yaml:7:5: a link that joins nothing (write one of link, bus, star, mesh, torus, ring, tree, all_to_all with "
      "the names of parts)");
  EXPECT_EQ(problem("{ring: pe, bus: pe, width: 1 bit/cycle}"),
            "m.yaml:7:12: both bus and ring in one entry (write two entries)");
  EXPECT_EQ(problem("{ring: pe}"), "m.yaml:7:5: a link without a width (write width: 32 bit/cycle)");
  EXPECT_EQ(problem("{ring: pee, width: 1 bit/cycle}"),
            "m.yaml:7:12: there is no core or memory 'pee' (did you mean 'pe'?)");
  EXPECT_EQ(problem("{mesh: pe, width: 1 bit/cycle}"),
            "m.yaml:7:5: these parts have no grid (write grid: [rows, columns] here or where the parts are described)");
  EXPECT_EQ(problem("{mesh: pe, grid: [3, 3], width: 1 bit/cycle}"), "m.yaml:7:5: a grid of 9 for 4 parts");
  EXPECT_EQ(problem("{ring: pe, grid: [2, 2], width: 1 bit/cycle}"),
            "m.yaml:7:22: a grid that is not the size of a mesh or torus (write rows and columns: [4, 4])");
  EXPECT_EQ(problem("{ring: pe, arity: 2, width: 1 bit/cycle}"),
            "m.yaml:7:23: only a tree has an arity (remove it, or write tree)");
  EXPECT_EQ(problem("{link: pe, width: 1 bit/cycle}"),
            "m.yaml:7:5: a link joins two parts, not 1 (write link: [a, b], or bus or star for more)");
  EXPECT_EQ(problem("{link: [pe0, pe0], width: 1 bit/cycle}"),
            "m.yaml:7:5: 'pe0' is joined to itself (name each part once)");
  EXPECT_EQ(problem("{star: pe, width: 1 bit/cycle}"),
            "m.yaml:7:5: the middle of a star must be one part (write the middle first: star: [switch, pe])");
  EXPECT_EQ(problem("{bus: pe0, width: 1 bit/cycle}"), "m.yaml:7:5: a bus with fewer than two parts (add the others)");
  EXPECT_EQ(problem("{bus: pe, name: a/b, width: 1 bit/cycle}"),
            "m.yaml:7:21: 'a/b' cannot be a name (no /, at most 100 characters)");
  EXPECT_EQ(problem("{bus: pe, name: n, width: 1 bit/cycle}\n  - {ring: pe, name: n, width: 1 bit/cycle}"),
            "m.yaml:8:5: two links are named 'n' (give one of them another name)");
  EXPECT_EQ(problem("{ring: pe, width: 0 bit/cycle}"),
            "m.yaml:7:23: a link without a width (write width: 32 bit/cycle)");
  EXPECT_EQ(
      message_of(machine("count: 4, ", "  - {link: [pe, simd], width: 1 bit/cycle}\n",
                         "  simd: {count: 3, rate: {operations: {all: 1 GOP/s}}}\n")),
      "m.yaml:8:5: a link between 4 parts and 3 (the names must stand for as many parts, or one of them for one)");
}

TEST(HardwareLinks, NamesMustBeDifferent) {
  EXPECT_EQ(message_of(machine("count: 2, ", "  - {bus: pe, width: 1 bit/cycle}\n",
                               "  pe1: {rate: {operations: {all: 1 GOP/s}}}\n")),
            "m.yaml:6:3: two parts are named 'pe1' (give one of them another name)");
}

TEST(HardwareLinks, TooManyPartsEnd) {
  EXPECT_THAT(message_of(machine("count: 100000, ", "  - {ring: pe, width: 1 bit/cycle}\n")),
              HasSubstr("too many cores"));
  EXPECT_THAT(message_of(machine("count: 2000, ", "  - {all_to_all: pe, width: 1 bit/cycle}\n")),
              HasSubstr("more than 1048576 links"));
  std::string nested = "monet: 1\nname: m\nclock: 1 GHz\n";
  std::string indent;
  for (int i = 0; i < 4; ++i) {
    nested += indent + "clusters:\n" + indent + "  c:\n" + indent + "    count: 1000\n";
    indent += "    ";
  }
  EXPECT_THAT(message_of(nested), HasSubstr("too many clusters"));
  nested += indent + "clusters: {c: {}}\n";
  EXPECT_THAT(message_of(nested), HasSubstr("clusters nested deeper than 4"));
}

}  // namespace
}  // namespace monet
