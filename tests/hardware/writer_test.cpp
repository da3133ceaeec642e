// Does the text of a Hardware say all of it? That reading it gives the same machine is asked in
// writer_round_trip_test.cpp.
#include "hardware/writer.h"

#include "compat/import_files.h"

#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

namespace monet {
namespace {

using test::all_files;
using test::import_from;
using test::import_text;
using ::testing::ElementsAre;

YAML::Node written(const Hardware& hardware) { return YAML::Load(to_yaml(hardware)); }

std::vector<std::string> words(const YAML::Node& node) { return node.as<std::vector<std::string>>(); }

TEST(Writer, a_core) {
  const auto hardware = import_text(test::core_file);
  ASSERT_TRUE(hardware) << hardware.error().text();
  const YAML::Node root = written(*hardware);
  EXPECT_EQ(root["monet"].as<int>(), 1);
  EXPECT_EQ(root["name"].as<std::string>(), "small");
  EXPECT_FALSE(root["clock"]);
  EXPECT_EQ(root["effects"]["fill_drain"].as<bool>(), false);
  const YAML::Node core = root["cores"]["small"];
  EXPECT_EQ(core["array"]["dimensions"]["D1"]["size"].as<int>(), 4);
  EXPECT_THAT(words(core["array"]["dimensions"]["D2"]["loops"]), ElementsAre("C", "FX"));
  EXPECT_EQ(core["array"]["operations"]["all"]["energy"].as<std::string>(), "0.25 pJ");
  EXPECT_EQ(core["dataflow"]["D2"]["FX"].as<int>(), 2);
  const YAML::Node registers = core["memories"]["rf"];
  EXPECT_EQ(registers["kind"].as<std::string>(), "registers");
  EXPECT_EQ(registers["size"].as<std::string>(), "8 B");
  EXPECT_THAT(words(registers["paths"]), ElementsAre("weight"));
  EXPECT_THAT(words(registers["serves"]), ElementsAre("D2"));
  EXPECT_EQ(registers["ports"]["r_port_1"]["width"].as<std::string>(), "8..16 bit/cycle");
  EXPECT_EQ(registers["ports"]["w_port_1"]["width"].as<std::string>(), "8 bit/cycle");
  EXPECT_THAT(words(registers["ports"]["w_port_1"]["moves"]), ElementsAre("weight from_high"));
  EXPECT_EQ(registers["write_energy"].as<std::string>(), "0.75 pJ");
  EXPECT_EQ(registers["area"].as<std::string>(), "0 mm2");
}

TEST(Writer, equal_cores_are_written_once) {
  const auto hardware = import_from(all_files(), "system.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  const YAML::Node root = written(*hardware);
  EXPECT_EQ(root["cores"].size(), 2U);
  EXPECT_EQ(root["cores"]["small"]["count"].as<int>(), 2);
  EXPECT_FALSE(root["cores"]["other"]["count"]);
  EXPECT_EQ(root["memories"]["dram"]["size"].as<std::string>(), "125000 B");
  ASSERT_EQ(root["links"].size(), 3U);
  EXPECT_THAT(words(root["links"][0]["link"]), ElementsAre("small0", "small1"));
  EXPECT_EQ(root["links"][0]["energy_per_cycle"].as<std::string>(), "3 pJ/cycle");
  EXPECT_THAT(words(root["links"][2]["bus"]), ElementsAre("small0", "small1", "other", "dram"));
}

TEST(Writer, cores_that_differ_are_not) {
  auto hardware = import_from(all_files(), "system.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  hardware->memories[2].read_pj += 1;
  const YAML::Node root = written(*hardware);
  EXPECT_EQ(root["cores"].size(), 3U);
  EXPECT_EQ(root["cores"]["small0"]["type"].as<std::string>(), "small");
  EXPECT_FALSE(root["cores"]["small0"]["count"]);
}

TEST(Writer, a_memory_that_cores_share_is_the_systems) {
  auto files = all_files();
  files["s.yaml"] =
      "name: s\ncores: {0: small.yaml, 1: small.yaml}\ncore_memory_sharing: [[0, 1]]\ncore_connectivity: []\n";
  const auto hardware = import_from(files, "s.yaml");
  ASSERT_TRUE(hardware) << hardware.error().text();
  const YAML::Node root = written(*hardware);
  EXPECT_EQ(root["cores"]["small"]["count"].as<int>(), 2);
  EXPECT_EQ(root["cores"]["small"]["memories"]["sram"]["use"].as<std::string>(), "sram");
  EXPECT_EQ(root["memories"]["sram"]["ports"]["rw_port_1"]["moves"].size(), 8U);
}

TEST(Writer, every_field) {
  Hardware hardware{.name = "a: \"b\"\n", .description = "yes", .clock_hz = 5e8, .technology_nm = 22};
  hardware.static_w = 0.25;
  hardware.area_mm2 = 3;
  hardware.notes = {"# no comment"};
  hardware.memories = {{.name = "c/m",
                        .size_bits = 12,
                        .latency_cycles = 1.5,
                        .ports = {{.name = "p", .min_bits = 8, .max_bits = 8, .words_per_cycle = 0.5}},
                        .double_buffered = true,
                        .page_bits = 32768,
                        .network_pj_per_bit = 0.125,
                        .static_w = 1e-9,
                        .area_mm2 = 0.5,
                        .read_latency_cycles = 7,
                        .write_latency_cycles = 9}};
  Unit array{.name = "array", .dimensions = {{.name = "D", .size = 3, .loops = {}}}};
  array.cycles[0] = 1;
  array.energy_pj[0] = 0.1;
  array.cycles[5] = 4;
  array.precisions = {{.name = "int8", .rate = 2, .energy = 0.5, .accumulate = "int32"}};
  array.fill_cycles = 6;
  array.area_mm2 = 0.75;
  Unit vector{.name = "vector", .dimensions = {{.name = "lanes", .size = 64, .loops = {}}}};
  vector.cycles[1] = 1;
  Level level{.memory = MemoryId(0)};
  level.port[0] = {0, 0, no_port, no_port};
  Rate rate;
  rate.operations_per_s[0] = 3.2e6;
  rate.energy_pj[0] = 1720;
  rate.precisions = {{.name = "fp32"}, {.name = "int8"}};
  rate.by_precision.resize(2);
  rate.by_precision[1].operations_per_s[0] = 6e6;
  rate.by_precision[1].energy_pj[0] = 11;
  hardware.cores = {{.name = "c",
                     .type = "c",
                     .units = {array, vector},
                     .levels = {level},
                     .operators = {"*", "!Add"},
                     .static_w = 0.5,
                     .area_mm2 = 2},
                    {.name = "d", .type = "d", .rate = rate}};
  hardware.links = {{.name = "l",
                     .ends = {{CoreId(0), {}}, {CoreId(1), {}}},
                     .both_ways = false,
                     .bits_per_cycle = 12.5,
                     .latency_cycles = 2,
                     .energy_pj_per_bit = 0.5,
                     .static_w = 0.125,
                     .area_mm2 = 1}};
  const YAML::Node root = written(hardware);
  EXPECT_EQ(root["name"].as<std::string>(), hardware.name);
  EXPECT_EQ(root["description"].as<std::string>(), "yes");
  EXPECT_EQ(root["clock"].as<std::string>(), "500000000 Hz");
  EXPECT_EQ(root["technology"].as<std::string>(), "22 nm");
  EXPECT_FALSE(root["effects"]);
  EXPECT_EQ(root["static_power"].as<std::string>(), "0.25 W");
  EXPECT_EQ(root["area"].as<std::string>(), "3 mm2");
  EXPECT_THAT(words(root["notes"]), ElementsAre("# no comment"));
  const YAML::Node core = root["cores"]["c"];
  EXPECT_THAT(words(core["operators"]), ElementsAre("*", "!Add"));
  EXPECT_EQ(core["array"]["operations"].size(), 2U);
  EXPECT_EQ(core["array"]["operations"]["exp"]["cycles"].as<int>(), 4);
  EXPECT_EQ(core["array"]["precisions"]["int8"]["accumulate"].as<std::string>(), "int32");
  EXPECT_EQ(core["array"]["fill"].as<int>(), 6);
  EXPECT_EQ(core["array"]["area"].as<std::string>(), "0.75 mm2");
  EXPECT_EQ(core["vector"]["lanes"].as<int>(), 64);
  EXPECT_EQ(core["static_power"].as<std::string>(), "0.5 W");
  const YAML::Node memory = core["memories"]["m"];
  EXPECT_EQ(memory["size"].as<std::string>(), "12 bit");
  EXPECT_EQ(memory["ports"]["p"]["width"].as<std::string>(), "4 bit/cycle");
  EXPECT_EQ(memory["ports"]["p"]["word"].as<std::string>(), "8 bit");
  EXPECT_EQ(memory["page"].as<std::string>(), "4 KiB");
  EXPECT_EQ(memory["double_buffered"].as<bool>(), true);
  EXPECT_EQ(memory["network_energy"].as<std::string>(), "0.125 pJ/bit");
  EXPECT_EQ(memory["static_power"].as<std::string>(), "1e-09 W");
  EXPECT_EQ(memory["latency"].as<std::string>(), "1.5 cycle");
  EXPECT_EQ(memory["write_latency"].as<std::string>(), "9 cycle");
  EXPECT_EQ(root["cores"]["d"]["rate"]["operations"]["mac"].as<std::string>(), "3200000 OP/s");
  EXPECT_EQ(root["cores"]["d"]["rate"]["energy"]["mac"].as<std::string>(), "1720 pJ");
  const auto bytes = root["cores"]["d"]["rate"]["precisions"]["int8"];
  EXPECT_EQ(bytes["operations"]["mac"].as<std::string>(), "6000000 OP/s");
  EXPECT_EQ(bytes["operation_energy"]["mac"].as<std::string>(), "11 pJ");
  EXPECT_FALSE(root["cores"]["d"]["rate"]["precisions"]["fp32"]["operations"]);
  EXPECT_EQ(root["links"][0]["one_way"].as<bool>(), true);
  EXPECT_EQ(root["links"][0]["width"].as<std::string>(), "12.5 bit/cycle");
  EXPECT_EQ(root["links"][0]["latency"].as<std::string>(), "2 cycle");
  EXPECT_EQ(root["links"][0]["energy"].as<std::string>(), "0.5 pJ/bit");
}

}  // namespace
}  // namespace monet
