// Are ZigZag's accelerators read as they are written? Expected values of its own files: the table of its machines in
// zigzag_stream.md, section 5.1, which was read from the files independently of this program.
#include "compat/import/import.h"
#include "hardware/hardware.h"

#include "compat/import_files.h"
#include "support/shared.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace monet {
namespace {

using test::import_text;
using test::with;
using ::testing::HasSubstr;

struct Expected_level {
  const char* name;
  std::int64_t bits;
  std::int64_t min_width, max_width;  // of its first port
  double read, write;
  const char* paths;   // i, w, o
  const char* served;  // numbers of dimensions
};

std::string paths_of(const Level& level) {
  std::string text;
  for (const Path path : {Path::input, Path::weight, Path::output})
    if (level.holds(path)) text += "iwo"[static_cast<std::size_t>(path)];
  return text;
}

std::string served_by(const Level& level) {
  std::string text;
  for (unsigned d = 0; d < 32; ++d)
    if ((level.served >> d & 1U) != 0) text += std::to_string(d + 1);
  return text;
}

void expect_machine(const std::string& file, const std::vector<std::int64_t>& sizes, double energy,
                    const std::vector<Expected_level>& levels) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag/hardware/" + file);
  const auto hardware = import_hardware(path);
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_EQ(hardware->effects, (Effects{false, false, false, false, false}));
  EXPECT_EQ(hardware->clock_hz, 0);
  ASSERT_EQ(hardware->cores.size(), 1U);
  const Core& core = hardware->cores[0];
  ASSERT_EQ(core.units.size(), 1U);
  ASSERT_EQ(core.units[0].dimensions.size(), sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    EXPECT_EQ(core.units[0].dimensions[d].name, "D" + std::to_string(d + 1));
    EXPECT_EQ(core.units[0].dimensions[d].size, sizes[d]);
  }
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    EXPECT_EQ(core.units[0].cycles[kind], 1);
    EXPECT_EQ(core.units[0].energy_pj[kind], energy);
  }
  ASSERT_EQ(core.levels.size(), levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Memory& memory = (*hardware)[core.levels[i].memory];
    SCOPED_TRACE(levels[i].name);
    EXPECT_EQ(memory.name, core.name + "/" + levels[i].name);
    EXPECT_EQ(memory.size_bits, levels[i].bits);
    EXPECT_EQ(memory.read_pj, levels[i].read);
    EXPECT_EQ(memory.write_pj, levels[i].write);
    EXPECT_EQ(memory.latency_cycles, 1);
    EXPECT_EQ(memory.ports[0].min_bits, levels[i].min_width);
    EXPECT_EQ(memory.ports[0].max_bits, levels[i].max_width);
    EXPECT_EQ(paths_of(core.levels[i]), levels[i].paths);
    EXPECT_EQ(served_by(core.levels[i]), levels[i].served);
  }
}

constexpr std::int64_t kilobyte = 8192, megabyte = 8192 * 1024, dram_bits = 10'000'000'000;

TEST(ImportZigzag, tpu_like) {
  expect_machine("tpu_like.yaml", {32, 32}, 0.04,
                 {{"rf_128B", 1024, 8, 8, 0.095, 0.095, "w", ""},
                  {"rf_2B", 16, 16, 16, 0.021, 0.021, "o", ""},
                  {"sram_2MB", 2 * megabyte, 64, 2048, 416.16, 378.4, "io", "12"},
                  {"dram", dram_bits, 64, 64, 700, 750, "iwo", "12"}});
}

TEST(ImportZigzag, edge_tpu_like) {
  expect_machine("edge_tpu_like.yaml", {8, 8, 4, 4}, 0.04,
                 {{"rf_1B", 8, 8, 8, 0.01, 0.01, "w", "34"},
                  {"rf_2B", 16, 16, 16, 0.02, 0.02, "o", "2"},
                  {"sram_32KB", 32 * kilobyte, 64, 512, 22.9, 52.01, "w", "1234"},
                  {"sram_2MB", 2 * megabyte, 64, 2048, 416.16, 378.4, "io", "1234"},
                  {"dram", dram_bits, 64, 64, 700, 750, "iwo", "1234"}});
}

TEST(ImportZigzag, meta_prototype) {
  expect_machine("meta_prototype.yaml", {32, 2, 4, 4}, 0.04,
                 {{"rf_1B", 8, 8, 8, 0.01, 0.01, "w", "34"},
                  {"rf_2B", 16, 16, 16, 0.02, 0.02, "o", "2"},
                  {"sram_64KB", 64 * kilobyte, 64, 512, 26.56, 30.8, "w", "1234"},
                  {"sram_32KB", 32 * kilobyte, 64, 256, 13.28, 15.4, "i", "1234"},
                  {"sram_1MB_A", megabyte, 64, 1024, 208.08, 189.2, "io", "1234"},
                  {"sram_1MB_W", megabyte, 64, 1024, 208.08, 189.2, "w", "1234"},
                  {"dram", dram_bits, 64, 64, 700, 750, "iwo", "1234"}});
}

TEST(ImportZigzag, ascend_like) {
  expect_machine("ascend_like.yaml", {16, 16, 2, 2}, 0.04,
                 {{"rf_1B", 8, 8, 8, 0.01, 0.01, "w", "34"},
                  {"rf_2B", 16, 16, 16, 0.02, 0.02, "o", "2"},
                  {"rf_64KB_I", 65536, 64, 512, 26.56, 30.72, "i", "1234"},
                  {"rf_64KB_W", 65536, 64, 2048, 50.16, 108, "w", "1234"},
                  {"sram_256KB_O", 256 * kilobyte, 64, 2048, 123.2, 212.8, "o", "1234"},
                  {"sram_1MB_A", megabyte, 64, 4096, 465.6, 825.6, "io", "1234"},
                  {"sram_1MB_W", megabyte, 64, 4096, 465.6, 825.6, "w", "1234"},
                  {"dram", dram_bits, 64, 64, 700, 750, "iwo", "12"}});
}

TEST(ImportZigzag, tesla_npu_like) {
  expect_machine("tesla_npu_like.yaml", {32, 32, 4}, 0.04,
                 {{"rf_1B", 8, 8, 8, 0.01, 0.01, "w", "23"},
                  {"rf_4B", 32, 16, 16, 0.022, 0.022, "o", ""},
                  {"sram_1KB_I", kilobyte, 64, 256, 4.78, 5.59, "i", "123"},
                  {"sram_1KB_W", kilobyte, 64, 256, 4.78, 5.59, "w", "123"},
                  {"sram_1MB_A", megabyte, 64, 1024, 208.08, 189.2, "io", "123"},
                  {"sram_1MB_W", megabyte, 64, 1024, 208.08, 189.2, "w", "123"},
                  {"dram", dram_bits, 64, 64, 700, 750, "iwo", "123"}});
}

TEST(ImportZigzag, eyeriss_like) {
  expect_machine("eyeriss_like.yaml", {14, 12}, 0.5,
                 {{"rf_64B_A", 512, 8, 8, 1, 1.5, "i", ""},
                  {"rf_64B_W", 512, 8, 8, 1, 1.5, "w", ""},
                  {"rf_16B", 128, 24, 24, 1.5, 2, "o", ""},
                  {"sram_8KB", 8 * kilobyte, 128, 128, 10, 15, "o", "12"},
                  {"sram_64KB", 64 * kilobyte, 128, 128, 20, 25, "w", "12"},
                  {"sram_1M", megabyte, 384, 384, 100, 130, "io", "12"},
                  {"dram", dram_bits, 64, 64, 1000, 1000, "iwo", "12"}});
}

TEST(ImportZigzag, gemm_l1) {
  expect_machine("gemm_l1.yaml", {8, 8, 8}, 0.04,
                 {{"reg_O", 32, 32, 32, 0.02, 0.02, "o", "2"}, {"l1", 4194304, 64, 512, 22.9, 52.01, "iwo", "123"}});
}

// Every port, every transfer and what it is not used for.
TEST(ImportZigzag, ports_and_transfers) {
  const auto hardware = import_text(test::core_file);
  ASSERT_TRUE(hardware) << hardware.error().text();
  const Core& core = hardware->cores[0];
  const Level& registers = core.levels[0];
  const Memory& memory = (*hardware)[registers.memory];
  ASSERT_EQ(memory.ports.size(), 2U);
  EXPECT_EQ(memory.ports[0].kind, PortKind::read);
  EXPECT_EQ(memory.ports[0].min_bits, 8);
  EXPECT_EQ(memory.ports[0].max_bits, 16);
  EXPECT_EQ(memory.ports[1].kind, PortKind::write);
  using Use = std::array<std::int8_t, transfer_count>;  // from_high, to_low, from_low, to_high
  EXPECT_EQ(registers.port[0], (Use{-1, -1, -1, -1}));
  EXPECT_EQ(registers.port[1], (Use{1, 0, -1, -1}));
  EXPECT_EQ(registers.port[2], (Use{-1, -1, -1, -1}));
  EXPECT_EQ(core.levels[1].port[0], (Use{0, 0, -1, -1}));
  EXPECT_EQ(core.levels[1].port[2], (Use{0, 0, 0, 0}));
  EXPECT_EQ(registers.served, 0b10U);
  EXPECT_EQ(memory.kind, MemoryKind::registers);
  EXPECT_EQ((*hardware)[core.levels[1].memory].kind, MemoryKind::sram);
  EXPECT_EQ((*hardware)[core.levels[1].memory].latency_cycles, 2);
}

TEST(ImportZigzag, dataflows_become_loops_and_default_unrolling) {
  const auto hardware = import_text(test::core_file);
  ASSERT_TRUE(hardware) << hardware.error().text();
  const Core& core = hardware->cores[0];
  EXPECT_EQ(core.dataflow, (std::vector<SpatialChoice>{{0, Dim::K, 4}, {1, Dim::C, 1}, {1, Dim::FX, 2}}));
  EXPECT_EQ(core.units[0].dimensions[0].loops, std::vector<Dim>{Dim::K});
  EXPECT_EQ(core.units[0].dimensions[1].loops, (std::vector<Dim>{Dim::C, Dim::FX}));
}

TEST(ImportZigzag, of_a_key_given_twice_the_last_counts_and_a_note_says_so) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag/hardware/tpu_like.yaml");
  const auto hardware = import_hardware(path);
  ASSERT_TRUE(hardware) << hardware.error().text();
  ASSERT_FALSE(hardware->notes.empty());
  EXPECT_THAT(hardware->notes[0], HasSubstr("tpu_like.yaml:74:5: 'ports' is given twice"));
  EXPECT_EQ(hardware->memories[2].ports.size(), 2U);
}

TEST(ImportZigzag, derives_what_auto_cost_extraction_leaves_out) {
  const auto hardware =
      import_text(with(with(test::core_file, "    r_cost: 10\n    w_cost: 12\n", "    auto_cost_extraction: True\n"),
                       "area: 0\n    latency: 2", "area: 9\n    latency: 2"));
  ASSERT_TRUE(hardware) << hardware.error().text();
  ASSERT_EQ(hardware->origins.size(), 3U);
  for (const Origin& origin : hardware->origins) {
    EXPECT_EQ(origin.part, "small/sram");
    EXPECT_TRUE(origin.derived);
    EXPECT_FALSE(origin.source.empty());
  }
  EXPECT_GT(hardware->memories[1].read_pj, 0);
  EXPECT_GT(hardware->memories[1].write_pj, 0);
  EXPECT_EQ(hardware->memories[0].read_pj, 0.5);
}

TEST(ImportZigzag, older_names) {
  std::string text = with(test::core_file, "operational_array:", "multipliers:");
  text = with(with(text, "unit_energy", "multiplier_energy"), "unit_area", "multiplier_area");
  const auto hardware = import_text(text);
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_EQ(hardware->cores[0].units[0].energy_pj[0], 0.25);
  EXPECT_THAT(hardware->notes[0], HasSubstr("multipliers"));
}

const std::string older_ports = R"(    ports:
      - fh: rw_port_1
        tl: r_port_2
      - fh: w_port_1
        tl: r_port_1
      - fh: w_port_1
        tl: r_port_1
        fl: w_port_1
        th: r_port_1
    r_bw: 32
    w_bw: 16
    min_w_granularity: 4
    r_port: 2
    w_port: 1
    rw_port: 1
    served_dimensions: [D1, D2]
)";

std::string in_older_format() {
  const std::size_t from = test::core_file.find("    ports:\n      - name: rw_port_1");
  const std::size_t to = test::core_file.find("operational_array:");
  return test::core_file.substr(0, from) + older_ports + test::core_file.substr(to);
}

TEST(ImportZigzag, older_port_format) {
  const auto hardware = import_text(in_older_format());
  ASSERT_TRUE(hardware) << hardware.error().text();
  const Memory& memory = hardware->memories[1];
  ASSERT_EQ(memory.ports.size(), 4U);
  EXPECT_EQ(memory.ports[0].name, "r_port_1");
  EXPECT_EQ(memory.ports[0].min_bits, 32);
  EXPECT_EQ(memory.ports[0].max_bits, 32);
  EXPECT_EQ(memory.ports[2].name, "w_port_1");
  EXPECT_EQ(memory.ports[2].kind, PortKind::write);
  EXPECT_EQ(memory.ports[2].min_bits, 4);
  EXPECT_EQ(memory.ports[2].max_bits, 16);
  EXPECT_EQ(memory.ports[3].kind, PortKind::read_write);
  EXPECT_EQ(memory.ports[3].max_bits, 32);
  using Use = std::array<std::int8_t, transfer_count>;
  EXPECT_EQ(hardware->cores[0].levels[1].port[0], (Use{3, 1, -1, -1}));
  EXPECT_EQ(hardware->cores[0].levels[1].port[2], (Use{2, 0, 2, 0}));
}

TEST(ImportZigzag, operator_types_become_operators) {
  const auto hardware = import_text(test::core_file + "type: zigzag.compute\noperator_types: [MatMul, Gemm]\n");
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_EQ(hardware->cores[0].operators, (std::vector<std::string>{"MatMul", "Gemm"}));
}

}  // namespace
}  // namespace monet
