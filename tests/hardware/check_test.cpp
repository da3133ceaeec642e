// Machines that are well written and make no sense; from files, and from other readers without places.
#include "hardware/check.h"

#include "hardware/support.h"

#include <limits>

namespace monet {
namespace {

using test::changed;
using test::message_of;
using test::must_read;
using test::small_machine;

TEST(HardwareCheck, TheMachine) {
  EXPECT_EQ(message_of("monet: 1\nname: m\nclock: 1 GHz\n"), "m.yaml:1:1: the machine has no cores (write cores: …)");
  EXPECT_EQ(message_of("monet: 1\nname: m\nclock: 1 GHz\ncores: {a: {gang: 2}}\n"),
            "m.yaml:4:9: the core 'a' has neither units nor a rate (write array: …, vector: … or rate: …)");
}

TEST(HardwareCheck, AMemoryThatNothingUses) {
  EXPECT_EQ(message_of(changed("      dram: {use: dram}\n", "")),
            "m.yaml:6:3: no core uses the memory 'dram', and no link leads to it (make it a level of a core: memories: "
            "{dram: "
            "{use: dram}}, or join it)");
  EXPECT_EQ(message_of(changed("paths: weight", "paths: []")),
            "m.yaml:18:7: no path uses the memory 'pe/registers' (write paths: [input, weight, output], and ports that "
            "move them)");
}

TEST(HardwareCheck, APortThatMovesNothing) {
  EXPECT_EQ(message_of(changed("{rw: {width: 32..256 bit/cycle}}",
                               "{rw: {width: 256 bit/cycle}, r: {kind: read, width: 8 bit/cycle}}")),
            "m.yaml:29:45: the port 'r' of the memory 'pe/sram' moves nothing (write what it moves, for example moves: "
            "[weight "
            "to_low], or remove it)");
}

TEST(HardwareCheck, PathsThatLeadNowhere) {
  EXPECT_EQ(
      message_of(changed("        size: 64 KiB\n", "        size: 64 KiB\n        paths: [weight]\n")).substr(0, 8),
      "no error");
  std::string text = changed("        size: 64 KiB\n", "        size: 64 KiB\n        paths: [weight, input]\n");
  text = test::with(text, "{use: dram}", "{use: dram, paths: [weight, input]}");
  EXPECT_EQ(message_of(text),
            "m.yaml:13:3: the path 'output' of the core 'pe' has no memory (add 'output' to the paths of a memory that "
            "has ports "
            "for it)");
  EXPECT_EQ(
      message_of(changed("          w: {kind: write, width: 8 bit/cycle}\n", "")),
      "m.yaml:18:7: no port of the memory 'pe/registers' moves weight from_high (add a port that can write: moves: "
      "[weight from_high])");
  EXPECT_EQ(
      message_of(changed("{rw: {width: 32..256 bit/cycle}}", "{rw: {width: 256 bit/cycle, moves: [input, weight]}}")),
      "no error");
  EXPECT_EQ(message_of(changed("{rw: {width: 32..256 bit/cycle}}",
                               "{rw: {width: 256 bit/cycle, moves: [input, weight, output from_low]}}")),
            "m.yaml:27:7: no port of the memory 'pe/sram' moves output to_high (add a port that can read: moves: "
            "[output to_high])");
}

TEST(HardwareCheck, LevelsInTheWrongOrder) {
  EXPECT_EQ(message_of(changed("        size: 64 KiB\n", "        size: 64 KiB\n        serves: [K]\n")), "no error");
  // Possible, and probably a slip: it is noted.
  const std::string fewer = test::with(changed("        size: 64 KiB\n", "        size: 64 KiB\n        serves: [K]\n"),
                                       "        paths: weight\n", "        paths: weight\n        serves: [C]\n");
  EXPECT_EQ(
      must_read(fewer).notes,
      std::vector<std::string>{"core pe: the memory 'pe/sram' serves fewer dimensions than 'pe/registers' below it"});
  EXPECT_TRUE(must_read(small_machine).notes.empty());
  std::string text = changed("      dram: {use: dram}\n", "");
  text = test::with(text, "    memories:\n", "    memories:\n      dram: {use: dram}\n");
  EXPECT_EQ(message_of(text),
            "m.yaml:28:7: the memory 'pe/sram' (sram) stands above 'dram' (dram) (list memories lowest first)");
  EXPECT_EQ(message_of(changed("{use: dram}\n", "{use: dram}\n      again: {use: dram}\n")),
            "m.yaml:33:7: the memory 'dram' is a level of the core 'pe' twice");
}

TEST(HardwareCheck, ImpossibleSizes) {
  EXPECT_EQ(message_of(changed("size: 8 B", "size: 4 bit")),
            "m.yaml:23:11: the port 'r' is wider (8 bit) than the memory 'pe/registers' is large (4 bit)");
  EXPECT_EQ(message_of(changed("    size: 1 GiB\n", "    size: 1 GiB\n    page: 2 GiB\n")),
            "m.yaml:6:3: the page of the memory 'dram' is larger than the memory");
  EXPECT_EQ(message_of(changed("{K: 4, C: {size: 2, loops: [C, FX]}}", "{K: 1000000000, C: 1000000000}")),
            "m.yaml:13:3: the array of the core 'pe' has an impossible size");
  EXPECT_EQ(message_of(changed("size: 8 B", "size: 128 PiB")).substr(0, 60),
            "m.yaml:18:7: all instances of the memory 'pe/registers' are ");
}

TEST(HardwareCheck, ACoreThatNobodyCanReach) {
  const std::string text = small_machine + "  alone:\n    rate: {operations: {all: 1 OP/s}}\n";
  EXPECT_EQ(message_of(text),
            "m.yaml:33:3: nobody can reach the core 'alone' (join it by a link or bus, or let it use a memory that "
            "others use)");
  EXPECT_EQ(message_of(text + "    memories: {dram: {use: dram}}\n"), "no error");
  EXPECT_EQ(message_of(text + "links: [{link: [alone, dram], width: 8 bit/cycle}]\n"), "no error");
}

// What only another reader could get wrong.
std::string problem_after(void (*spoil)(Hardware&)) {
  Hardware hardware = must_read(small_machine);
  spoil(hardware);
  const auto status = check(hardware);
  return status ? "no error" : status.error().text();
}

TEST(HardwareCheck, WithoutPlaces) {
  EXPECT_EQ(problem_after([](Hardware&) {}), "no error");
  EXPECT_EQ(problem_after([](Hardware& h) { h.clock_hz = 0; }), "no error");  // costs are in cycles then
  EXPECT_EQ(problem_after([](Hardware& h) { h.clock_hz = -1; }), "a clock below 0 (write clock: 500 MHz)");
  EXPECT_EQ(problem_after([](Hardware& h) { h.area_mm2 = -1; }), "a power or area that is negative or not finite");
  EXPECT_EQ(problem_after([](Hardware& h) { h.memories[0].size_bits = 0; }),
            "the size of the memory 'dram' cannot be 0 bit");
  EXPECT_EQ(problem_after([](Hardware& h) { h.memories[0].read_pj = std::numeric_limits<double>::quiet_NaN(); }),
            "a cost of the memory 'dram' is negative or not finite");
  EXPECT_EQ(problem_after([](Hardware& h) { h.memories[0].ports.clear(); }), "the memory 'dram' has no ports");
  EXPECT_EQ(problem_after([](Hardware& h) { h.memories[0].ports[0].min_bits = 65; }),
            "the port 'rw' of the memory 'dram' has an impossible width");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].levels[0].port[1][1] = 7; }),
            "the memory 'pe/registers' has no port number 7");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].levels[0].port[1][1] = 1; }),
            "the port 'w' of the memory 'pe/registers' is of kind write: it cannot do to_low");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].levels[0].memory = MemoryId(9); }),
            "the core 'pe' has a level without a memory");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].levels[0].served = 4; }),
            "the memory 'pe/registers' serves dimensions that the core does not have");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].levels[0].link = LinkId(0); }),
            "the memory 'pe/registers' is reached by a link that does not exist");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].units[0].cycles = {}; }),
            "the array of the core 'pe' can do nothing (list its operations)");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].units[0].energy_pj[0] = -1; }),
            "the core 'pe' has operations with impossible costs");
  EXPECT_EQ(problem_after([](Hardware& h) { h.cores[0].static_w = -1; }),
            "a power or area of the core 'pe' is negative or not finite");
  EXPECT_EQ(problem_after([](Hardware& h) { h.links.push_back({.name = "x", .ends = {End{.core = CoreId(0)}}}); }),
            "the link 'x' has 1 ends");
  EXPECT_EQ(
      problem_after([](Hardware& h) { h.links.push_back({.name = "x", .ends = {End{.core = CoreId(0)}, End{}}}); }),
      "the link 'x' ends nowhere");
  EXPECT_EQ(problem_after([](Hardware& h) {
              h.links.push_back({.name = "x", .ends = {End{.core = CoreId(0)}, End{.memory = MemoryId(0)}}});
            }),
            "the link 'x' has no width");
  EXPECT_EQ(problem_after([](Hardware& h) {
              h.links.push_back({.name = "x",
                                 .ends = {End{.core = CoreId(0)}, End{.memory = MemoryId(0)}},
                                 .bits_per_cycle = 8,
                                 .latency_cycles = -1});
            }),
            "a cost of the link 'x' is negative or not finite");
}

}  // namespace
}  // namespace monet
