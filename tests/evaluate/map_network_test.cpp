// Can a mapped operator be read: as a nest, as a table, as a file for a spreadsheet?
#include "evaluate/map/mapped_nest.h"
#include "mapping/machines.h"
#include "mapping/search.h"
#include "support/line_with.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using test::line_with;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr std::uint8_t k_loop = 0, c_loop = 1, ox_loop = 2;

// 64 filters of 64 channels over 14 positions; cuts are given for input, weight and output.
NestCost nest_of(const std::vector<TemporalLoop>& order, std::vector<std::vector<std::uint8_t>> cuts) {
  NestCost nest;
  const Target target = test::tpu_like();
  nest.unit = target.unit.name;
  nest.problem = test::convolution(64, 64, 1, 14, 1);
  const Mapping mapping{
      .spatial = {{0, k_loop, 32, 32}, {1, c_loop, 32, 32}}, .temporal = order, .cuts = std::move(cuts)};
  const auto mapped = cost_of(nest.problem, target, mapping);
  EXPECT_TRUE(mapped) << mapped.error().text();
  if (!mapped) return nest;
  nest.mapping = mapped->mapping;
  nest.cost = mapped->cost;
  for (const TargetMemory& memory : target.memories) nest.memories.push_back(memory.name);
  return nest;
}

// The input does not depend on K: what is cut below K stays for all of it.
TEST(MappedNest, OrderReadsAsANest) {
  const Unit unit = test::tpu_like().unit;
  const MappedNest nest =
      mapped_nest(nest_of({{c_loop, 2, 2}, {ox_loop, 14, 14}, {k_loop, 2, 2}}, {{2, 3}, {2, 3}, {1, 3, 3}}), &unit);
  EXPECT_EQ(nest.order,
            "# input in sram, output in sram\n"
            "for K in 2:\n"
            "  # weight in rf_w\n"
            "  for OX in 14:\n"
            "    # output in rf_o\n"
            "    for C in 2:\n"
            "      side by side 32 of K on D1\n"
            "      side by side 32 of C on D2\n");
  EXPECT_THAT(nest.unrolled, ElementsAre(Pair("K on D1", 32), Pair("C on D2", 32)));
  EXPECT_THAT(nest.loops, ElementsAre(Pair("K", 64), Pair("C", 64), Pair("OX", 14)));
}

// 14 in pieces of 2 and 7: one loop, unless a memory's tile ends between them.
TEST(MappedNest, PiecesThatNothingSeparatesAreOneLoop) {
  const Unit unit = test::tpu_like().unit;
  const auto order = [&](std::vector<std::vector<std::uint8_t>> cuts) {
    return mapped_nest(nest_of({{c_loop, 2, 2}, {ox_loop, 2, 2}, {ox_loop, 7, 7}, {k_loop, 2, 2}}, std::move(cuts)),
                       &unit)
        .order;
  };
  EXPECT_THAT(order({{3, 4}, {3, 4}, {1, 4, 4}}), HasSubstr("  for OX in 14:\n"));
  const std::string apart = order({{2, 4}, {3, 4}, {1, 4, 4}});
  EXPECT_THAT(apart, HasSubstr("  for OX in 7:\n    # input in sram\n    for OX in 2:\n"));
}

TEST(MappedNest, RaggedPieces) {
  const Unit unit = test::tpu_like().unit;
  NestCost nest = nest_of({{c_loop, 2, 2}, {ox_loop, 14, 14}, {k_loop, 2, 2}}, {{2, 3}, {2, 3}, {1, 3, 3}});
  nest.mapping.temporal[1] = {ox_loop, 16, 14};
  EXPECT_THAT(mapped_nest(nest, &unit).order, HasSubstr("for OX in 16 (14 on average):\n"));
}

TEST(MappedNest, IdleDimensionsAreNotMentioned) {
  const Unit unit = test::tpu_like().unit;
  NestCost nest = nest_of({{c_loop, 2, 2}, {ox_loop, 14, 14}, {k_loop, 2, 2}}, {{2, 3}, {2, 3}, {1, 3, 3}});
  nest.mapping.spatial.push_back({1, 0, 1, 1});
  const MappedNest mapped = mapped_nest(nest, &unit);
  EXPECT_THAT(mapped.order, Not(HasSubstr("side by side 1 ")));
  EXPECT_EQ(mapped.unrolled.size(), 2U);
}

TEST(MappedNest, OperandsOfOnePathAreNumbered) {
  NestCost nest = nest_of({{c_loop, 2, 2}, {ox_loop, 14, 14}, {k_loop, 2, 2}}, {{2, 3}, {2, 3}, {1, 3, 3}});
  nest.problem.operands[1].path = Path::input;
  EXPECT_THAT(mapped_nest(nest, nullptr).order, HasSubstr("# input 1 in sram, output in sram\n"));
  EXPECT_THAT(mapped_nest(nest, nullptr).order, HasSubstr("# input 2 in rf_w\n"));
  EXPECT_THAT(mapped_nest(nest, nullptr).order, HasSubstr("side by side 32 of K\n"));  // no unit: no dimension
}

TEST(MappedNest, TrafficByOperandAndMemory) {
  const MappedNest nest =
      mapped_nest(nest_of({{c_loop, 2, 2}, {ox_loop, 14, 14}, {k_loop, 2, 2}}, {{2, 3}, {2, 3}, {1, 3, 3}}), nullptr);
  std::vector<std::string> names;
  for (const MemoryTraffic& entry : nest.traffic) names.push_back(entry.operand + " in " + entry.memory);
  EXPECT_THAT(names, ElementsAre("input in sram", "input in dram", "weight in rf_w", "weight in dram", "output in rf_o",
                                 "output in sram", "output in dram"));
  EXPECT_EQ(nest.traffic[3].read_bits, 64 * 64 * 8);     // every weight once
  EXPECT_EQ(nest.traffic[6].written_bits, 64 * 14 * 8);  // every output once
  EXPECT_EQ(nest.traffic[6].read_bits, 0);
}

NetworkMapping small_mapping() {
  NetworkMapping mapping{
      .model = "net", .hardware = "machine", .objective = "latency", .mode = "monet", .clock_hz = 1e9};
  MappedLayer layer{.name = "conv,\"1\"", .op = "Conv", .phase = "forward", .core = "pe", .reason = {}, .macs = 2000};
  layer.cycles = 1000;
  layer.ideal_cycles = 500;
  layer.utilization = 0.5;
  layer.energy_pj = 4000;
  layer.bound_cycles = 800;
  MappedNest nest{.unit = "array", .precision = "int8", .loops = {}, .unrolled = {}, .order = "for K in 2:\n  x\n"};
  nest.cycles = 500;
  nest.stall_cycles = 150;
  nest.energy_pj = 2000;
  nest.compute_pj = 500;
  nest.memory_pj = {{"pe/sram", 500}, {"dram", 1000}};
  nest.bound_by = "dram port rw";
  layer.nests = {nest, nest};
  mapping.layers = {layer, layer};
  mapping.unmapped = {{.name = "pow", .op = "Pow", .phase = "optimizer", .core = {}, .reason = "no unit, no power"}};
  mapping.cycles = 2000;
  mapping.energy_pj = 8000;
  mapping.macs = 4000;
  mapping.bound_cycles = 1600;
  return mapping;
}

TEST(MappingText, HasATotalLine) {
  const std::string text = to_text(small_mapping(), {}).plain();
  EXPECT_THAT(text, StartsWith("net on machine, latency objective\n"));
  const std::string total = line_with(text, "total");
  for (const char* words : {"4 k", "2,000", "1.25x", "8 nJ"}) EXPECT_THAT(total, HasSubstr(words));
  const std::string layer = line_with(text, "conv");
  for (const char* words :
       {"2 k", "1,000", "50.0%", "300", "1.25x", "4 nJ", "dram port rw", "compute 25%, sram 25%, dram 50%"}) {
    EXPECT_THAT(layer, HasSubstr(words));
  }
  EXPECT_THAT(text, HasSubstr("2,000 cycles at 1000 MHz are 2 us"));
  EXPECT_THAT(text, HasSubstr("not mapped and not counted (1):\n  pow (Pow): no unit, no power\n"));
  EXPECT_THAT(text, Not(HasSubstr("for K")));
}

TEST(MappingText, NestsOnRequest) {
  const std::string text = to_text(small_mapping(), {.nests = true}).plain();
  EXPECT_THAT(text, HasSubstr("\n  array int8: 500 cycles = 0 compute + 150 stall"));
  EXPECT_THAT(text, HasSubstr("    for K in 2:\n      x\n"));
}

TEST(MappingCsv, QuotesWhatNeedsIt) {
  const std::string text = to_csv(small_mapping());
  EXPECT_THAT(text, StartsWith("name,operator,phase,core,macs,cycles,"));
  EXPECT_THAT(line_with(text, "\"conv"),
              StartsWith("\"conv,\"\"1\"\"\",Conv,forward,pe,2000,1000,500,0.5,0,300,0,0,0,800,dram port rw,4000,1000,"
                         "3000,0,0,pe/sram=1000;dram=2000,for K in 2:;  x;|for K in 2:;  x;,"));
  EXPECT_THAT(line_with(text, "pow"), HasSubstr(",\"no unit, no power\""));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

}  // namespace
}  // namespace monet
