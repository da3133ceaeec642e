// Are Stream's systems read as they are written, in both generations of its files? Expected values of its own files:
// zigzag_stream.md, sections 1.5 and 5.2.
#include "compat/import/import.h"

#include "compat/import_files.h"
#include "support/shared.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using test::all_files;
using test::import_from;
using test::memory_named;
using test::with;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

End core(std::size_t i) { return {.core = CoreId(i), .memory = {}}; }
End memory(std::size_t i) { return {.core = {}, .memory = MemoryId(i)}; }

std::vector<std::string> core_names(const Hardware& hardware) {
  std::vector<std::string> names;
  for (const Core& c : hardware.cores) names.push_back(c.name);
  return names;
}

TEST(ImportStream, tpu_like_quad_core) {
  MONET_SHARED_OR_SKIP(path, "reference/stream/hardware/tpu_like_quad_core.yaml");
  const auto hardware = import_hardware(path);
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(core_names(*hardware),
              ElementsAre("tpu_like0", "tpu_like1", "tpu_like2", "tpu_like3", "pooling", "simd"));
  EXPECT_EQ(hardware->cores[3].type, "tpu_like");
  const Memory& sram = memory_named(*hardware, "tpu_like2/sram_2MB");
  EXPECT_EQ(sram.size_bits, 16'777'216);
  EXPECT_EQ(sram.read_pj, 416.16);
  const Memory& pool = memory_named(*hardware, "pooling/sram_128KB");
  EXPECT_EQ(pool.ports[0].max_bits, 576);
  EXPECT_EQ(pool.ports[1].max_bits, 512);
  EXPECT_EQ(hardware->cores[4].units[0].energy_pj[0], 0.1);
  EXPECT_EQ(hardware->cores[5].dataflow, (std::vector<SpatialChoice>{{0, Dim::K, 64}}));
  // A ring of four, pool and SIMD to all four, and the memory's bus.
  ASSERT_EQ(hardware->links.size(), 4U + 8U + 1U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(hardware->links[i].kind, LinkKind::link);
    EXPECT_EQ(hardware->links[i].bits_per_cycle, 32);
    EXPECT_TRUE(hardware->links[i].both_ways);
  }
  EXPECT_THAT(hardware->links[3].ends, ElementsAre(core(3), core(0)));
  const Link& bus = hardware->links.back();
  EXPECT_EQ(bus.kind, LinkKind::bus);
  EXPECT_EQ(bus.bits_per_cycle, 64);
  ASSERT_EQ(bus.ends.size(), 7U);
  const Memory& dram = (*hardware)[bus.ends.back().memory];
  EXPECT_EQ(dram.name, "dram");
  EXPECT_EQ(dram.kind, MemoryKind::dram);
  EXPECT_EQ(dram.size_bits, 10'000'000'000);
  EXPECT_EQ(dram.read_pj, 1000);
}

TEST(ImportStream, eyeriss_like) {
  for (const auto& [name, cores, links] : {std::tuple{"single", 3U, 3U}, {"quad", 6U, 13U}}) {
    MONET_SHARED_OR_SKIP(path, std::string("reference/stream/hardware/eyeriss_like_") + name + "_core.yaml");
    const auto hardware = import_hardware(path);
    ASSERT_TRUE(hardware) << hardware.error().text();
    EXPECT_EQ(hardware->cores.size(), cores);
    EXPECT_EQ(hardware->links.size(), links);
    EXPECT_EQ(hardware->cores[0].units[0].lanes(), 14 * 12);
    EXPECT_EQ(hardware->cores[0].dataflow, (std::vector<SpatialChoice>{{0, Dim::K, 16}, {1, Dim::C, 16}}));
  }
}

TEST(ImportStream, fusemax) {
  MONET_SHARED_OR_SKIP(path, "reference/stream/hardware/fusemax.yaml");
  const auto hardware = import_hardware(path);
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(core_names(*hardware), ElementsAre("fusemax_array", "fusemax_vec"));
  EXPECT_EQ(hardware->cores[0].units[0].lanes(), 256 * 256);
  EXPECT_EQ(hardware->cores[0].units[0].energy_pj[0], 1.5);
  EXPECT_EQ(hardware->cores[1].units[0].lanes(), 256);
  // The top memory of both is one. The vector core's file describes it in the older format.
  EXPECT_EQ(hardware->cores[0].levels.back().memory, hardware->cores[1].levels.back().memory);
  const Memory& sram = memory_named(*hardware, "sram");
  EXPECT_EQ(sram.size_bits, 16 << 20);
  EXPECT_EQ(sram.ports[0].min_bits, 256);
  EXPECT_EQ(sram.ports[0].max_bits, 8192);
  EXPECT_EQ(sram.write_pj, 8192);
  // Several ports: reads and writes each have a way of their own.
  ASSERT_EQ(hardware->links.size(), 2U);
  for (const Link& link : hardware->links) {
    EXPECT_EQ(link.kind, LinkKind::bus);
    EXPECT_FALSE(link.both_ways);
    EXPECT_EQ(link.bits_per_cycle, 3200);
    EXPECT_EQ(link.energy_pj_per_cycle, 512);
  }
  EXPECT_TRUE(hardware->links[0].ends.front().memory.valid());
  EXPECT_TRUE(hardware->links[1].ends.back().memory.valid());
  EXPECT_EQ(memory_named(*hardware, "dram").read_pj, 32000);
}

TEST(ImportStream, operators_from_the_mapping) {
  MONET_SHARED_OR_SKIP(path, "reference/stream");
  const auto hardware =
      import_hardware(path / "hardware/tpu_like_quad_core.yaml", {.mapping = path / "mapping/tpu_like_quad_core.yaml"});
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(hardware->cores[0].operators,
              ElementsAre("*", "!*Pool", "!MaxPool", "!AveragePool", "!ReduceMean", "!Add"));
  EXPECT_EQ(hardware->cores[3].operators, hardware->cores[0].operators);
  EXPECT_THAT(hardware->cores[4].operators, ElementsAre("*Pool", "MaxPool", "AveragePool", "ReduceMean"));
  EXPECT_THAT(hardware->cores[5].operators, ElementsAre("Add"));
}

TEST(ImportStream, pairs_are_links_and_more_are_a_bus) {
  const auto hardware = import_from(all_files(), "system.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(core_names(*hardware), ElementsAre("small0", "small1", "other"));
  ASSERT_EQ(hardware->links.size(), 3U);
  EXPECT_EQ(hardware->links[0].kind, LinkKind::link);
  EXPECT_EQ(hardware->links[0].energy_pj_per_cycle, 3);
  EXPECT_EQ(hardware->links[1].kind, LinkKind::bus);
  EXPECT_THAT(hardware->links[1].ends, ElementsAre(core(0), core(1), core(2)));
  EXPECT_EQ(hardware->links[2].name, "offchip");
  EXPECT_EQ(hardware->links[2].bits_per_cycle, 64);
  EXPECT_EQ(hardware->memories.back().size_bits, 1'000'000);
}

// An off-chip core that is listed among the others, cores that are not in order, and connections that all are explicit.
TEST(ImportStream, newer_generation) {
  const auto hardware = import_from(all_files(), "newer.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(core_names(*hardware), ElementsAre("small0", "small1"));
  ASSERT_EQ(hardware->links.size(), 2U);
  EXPECT_THAT(hardware->links[0].ends, ElementsAre(core(0), core(1)));
  EXPECT_EQ(hardware->links[0].energy_pj_per_cycle, 3);
  EXPECT_THAT(hardware->links[1].ends, ElementsAre(core(0), memory(4), core(1)));
  EXPECT_EQ(hardware->links[1].bits_per_cycle, 128);
  EXPECT_EQ(hardware->links[1].energy_pj_per_cycle, 5);
  EXPECT_EQ(hardware->memories[4].kind, MemoryKind::dram);
  EXPECT_THAT(hardware->notes, Contains("core 2 of the file is core 1, 'small1'"));
}

// A memory core that shares its memory with the cores around it: links to it end at that memory.
TEST(ImportStream, memory_cores) {
  auto files = all_files();
  std::string tile = test::core_file;
  tile.erase(tile.find("  rf:"), tile.find("  sram:") - tile.find("  rf:"));
  tile = with(tile, "sizes: [4, 2]", "sizes: [0, 0]") + "type: zigzag.memory\n";
  tile.erase(tile.find("dataflows:"), tile.find("type:") - tile.find("dataflows:"));
  files["tile.yaml"] = tile;
  files["s.yaml"] = R"(name: s
cores: {0: tile.yaml, 1: small.yaml, 2: small.yaml, 3: tile.yaml, 4: offchip.yaml}
offchip_core_id: 4
core_memory_sharing: ["0, 1"]
core_coordinates: {0: [0, 0]}
technology_node: n3
core_connectivity:
  - {cores: [0, 3], bandwidth: 64}
  - {cores: [0, 4], bandwidth: 64}
  - {cores: [2, 3], bandwidth: 64}
)";
  const auto hardware = import_from(files, "s.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(core_names(*hardware), ElementsAre("small0", "small1"));
  EXPECT_EQ(hardware->technology_nm, 3);
  const MemoryId shared = hardware->links[0].ends[0].memory;
  EXPECT_EQ((*hardware)[shared].name, "sram");
  EXPECT_EQ(hardware->cores[0].levels[1].memory, shared);
  EXPECT_NE(hardware->cores[1].levels[1].memory, shared);
  EXPECT_EQ((*hardware)[hardware->links[0].ends[1].memory].name, "sram_1");
  EXPECT_THAT(hardware->notes, Contains(HasSubstr("core_coordinates")));
}

TEST(ImportStream, finds_core_files_where_the_system_lies) {
  auto files = all_files();
  files["deep/system.yaml"] = with(with(test::system_file, "2: other.yaml", "2: away/from/here/other.yaml"),
                                   "0: small.yaml", "0: hardware/small.yaml");
  files["deep/cores/small.yaml"] = files["small.yaml"];
  files["deep/other.yaml"] = files["other.yaml"];
  files["deep/offchip.yaml"] = files["offchip.yaml"];
  files["hardware/small.yaml"] = files["small.yaml"];
  const auto hardware = import_from(files, "deep/system.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_THAT(hardware->notes, Contains(HasSubstr("'away/from/here/other.yaml' was found at deep/other.yaml")));
}

}  // namespace
}  // namespace monet
