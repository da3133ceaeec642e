// Does every file that cannot be imported say why, where and what to do?
#include "compat/import/import.h"

#include "compat/import_files.h"
#include "support/expect_error.h"
#include "support/shared.h"

namespace monet {
namespace {

using test::all_files;
using test::core_file;
using test::expect_error;
using test::import_from;
using test::import_text;
using test::with;

struct Bent {
  std::string from, to;
  std::vector<std::string> words;
  std::string place;
};

TEST(ImportErrors, core_files) {
  const std::vector<Bent> cases = {
      {"name: small\n", "", {"lacks 'name'"}, "file.yaml:1:1"},
      {"name: small", "nam: small", {"no key 'nam'"}, "file.yaml:1:1"},
      {"  rf:\n    size: 64", "  rf:\n    sise: 64", {"memory 'rf'", "no key 'sise'"}, "file.yaml:4:5"},
      {"size: 64", "size: many", {"size", "whole number", "'many'"}, "file.yaml:4:11"},
      {"size: 64", "size: 0", {"size", "'0'"}, "file.yaml:4:11"},
      {"size: 64", "size: 6.5", {"size", "'6.5'"}, "file.yaml:4:11"},
      {"size: 64", "size: [64]", {"a list"}, "file.yaml:4:11"},
      {"r_cost: 0.5", "r_cost: -1", {"r_cost", "at least 0"}, "file.yaml:5"},
      {"r_cost: 0.5", "r_cost: 1e300", {"r_cost", "more than any machine has"}, "file.yaml:5"},
      {"r_cost: 0.5", "r_cost: 1e-300", {"r_cost", "less than any machine has"}, "file.yaml:5"},
      {"    r_cost: 0.5\n", "", {"lacks 'r_cost'"}, "file.yaml:4"},
      {"r_cost: 0.5", "auto_cost_extraction: maybe", {"auto_cost_extraction", "true or false"}, "file.yaml:5"},
      {"operands: [I2]", "operands: [I3]", {"no operand 'I3'"}, "file.yaml:9"},
      {"operands: [I2]", "operands: []", {"holds no operand"}, "file.yaml:9"},
      {"operands: [I2]", "operands: I2", {"must be a list"}, "file.yaml:9"},
      {"operands: [I2]", "operands: [I2, I1]", {"operand I1", "no port"}, "file.yaml:11"},
      {"type: read\n", "type: reed\n", {"no type 'reed'"}, "file.yaml:12:15"},
      {"bandwidth_min: 8\n        bandwidth_max: 16",
       "bandwidth_min: 32\n        bandwidth_max: 16",
       {"bandwidth_min 32 is more"},
       "file.yaml:13"},
      {"bandwidth_max: 16", "bandwidth_max: 0", {"bandwidth_max"}, "file.yaml:14"},
      {"name: w_port_1", "name: r_port_1", {"two ports 'r_port_1'"}, "file.yaml:17"},
      {"- I2, tl\n      - name: w_port_1", "- I2, to\n      - name: w_port_1", {"no direction 'to'"}, "file.yaml:16"},
      {"- I2, tl\n      - name: w_port_1",
       "- I2\n      - name: w_port_1",
       {"not an operand and a direction"},
       "file.yaml:16"},
      {"- I2, tl\n      - name: w_port_1",
       "- O, tl\n      - name: w_port_1",
       {"does not hold operand 'O'"},
       "file.yaml:16"},
      {"- I2, tl\n      - name: w_port_1",
       "- I2, fh\n      - name: w_port_1",
       {"'r_port_1' cannot carry 'I2, fh'"},
       "file.yaml:16"},
      {"- I2, fh\n    served", "- I2, tl\n    served", {"'w_port_1' cannot carry 'I2, tl'"}, "file.yaml:22"},
      {"served_dimensions: [D2]", "served_dimensions: [D3]", {"no dimension 'D3'"}, "file.yaml:23"},
      {"sizes: [4, 2]", "sizes: [4]", {"2 dimensions but 1 sizes"}, "file.yaml:42"},
      {"sizes: [4, 2]", "sizes: [4, -2]", {"size of the array"}, "file.yaml:42"},
      {"sizes: [4, 2]", "sizes: [2000000000, 2000000000]", {"more than 1e12 units"}, "file.yaml:42"},
      {"sizes: [4, 2]", "sizes: [0, 2]", {"it is a memory"}, "file.yaml:1"},
      {"  dimensions: [D1, D2]\n", "  dimensions: [D1, D1]\n", {"two dimensions 'D1'"}, "file.yaml:41"},
      {"  unit_energy: 0.25\n", "", {"lacks 'unit_energy'"}, "file.yaml:39"},
      {"  unit_area: 1", "  is_imc: true", {"in-memory computing"}, "file.yaml:39"},
      {"  unit_area: 1", "  imc_type: analog", {"in-memory computing"}, "file.yaml:39"},
      {"- K, 4", "- Q, 4", {"no loop 'Q'"}, "file.yaml:45"},
      {"- K, 4", "- K", {"not a loop and a size"}, "file.yaml:45"},
      {"- K, 4", "- K, many", {"size of a dataflow"}, "file.yaml:45"},
      {"  D1:\n    - K, 4", "  D9:\n    - K, 4", {"no dimension 'D9'"}, "file.yaml:44"},
      {"dataflows:", "type: aie2.compute\ndataflows:", {"aie2"}, "file.yaml:43"},
      {"dataflows:", "type: zigzag.compite\ndataflows:", {"no core type"}, "file.yaml:43"},
  };
  for (const Bent& bent : cases) {
    SCOPED_TRACE(bent.to + " / " + bent.words[0]);
    const auto hardware = import_text(with(core_file, bent.from, bent.to));
    ASSERT_FALSE(hardware);
    expect_error(hardware.error(), bent.words, bent.place);
  }
}

TEST(ImportErrors, suggestions) {
  EXPECT_EQ(import_text(with(core_file, "r_cost: 0.5", "r_costs: 0.5")).error().advice, "did you mean 'r_cost'?");
  EXPECT_EQ(import_text(with(core_file, "type: read\n", "type: reed\n")).error().advice, "did you mean 'read'?");
}

TEST(ImportErrors, older_ports) {
  const std::string old = R"(name: old
memories:
  m:
    size: 64
    r_cost: 1
    w_cost: 1
    latency: 1
    operands: [I1, I2]
    r_bw: 8
    w_bw: 8
    r_port: 1
    w_port: 1
    ports:
      - {fh: w_port_1, tl: r_port_1}
      - {fh: w_port_1, tl: r_port_1}
    served_dimensions: []
operational_array: {unit_energy: 1, dimensions: [D1], sizes: [1]}
)";
  ASSERT_TRUE(import_text(old));
  const std::vector<Bent> cases = {
      {"      - {fh: w_port_1, tl: r_port_1}\n    served", "    served", {"2 operands", "1 entries"}, "file.yaml:14"},
      {"tl: r_port_1}\n    served", "tl: r_port_2}\n    served", {"no port 'r_port_2'"}, "file.yaml:15"},
      {"tl: r_port_1}\n    served", "tl: w_port_1}\n    served", {"cannot carry 'I2, tl'"}, "file.yaml:15"},
      {"tl: r_port_1}\n    served", "tq: r_port_1}\n    served", {"no key 'tq'"}, "file.yaml:15"},
      {"    r_bw: 8\n", "", {"lacks 'r_bw'"}, "file.yaml:4"},
      {"r_port: 1", "r_port: 99", {"r_port"}, "file.yaml:11"},
      {"w_bw: 8", "w_bw: 8\n    min_w_granularity: 16", {"smallest access"}, "file.yaml:4"},
  };
  for (const Bent& bent : cases) {
    SCOPED_TRACE(bent.words[0]);
    const auto hardware = import_text(with(old, bent.from, bent.to));
    ASSERT_FALSE(hardware);
    expect_error(hardware.error(), bent.words, bent.place);
  }
}

TEST(ImportErrors, systems) {
  const std::vector<Bent> cases = {
      {"name: pair\n", "", {"lacks 'name'"}, "system.yaml:1"},
      {"bandwidth: 32", "band: 32", {"no key 'band'"}, "system.yaml:10:1"},
      {"bandwidth: 32\n", "", {"lacks 'bandwidth'"}, "system.yaml:1"},
      {"bandwidth: 32", "bandwidth: 0", {"bandwidth"}, "system.yaml:10:12"},
      {"unit_energy_cost: 3", "unit_energy_cost: x", {"unit_energy_cost"}, "system.yaml:11:19"},
      {"2: other.yaml", "2: others.yaml", {"'others.yaml' was not found"}, "system.yaml:5:6"},
      {"2: other.yaml", "two: other.yaml", {"id of a core"}, "system.yaml:5:3"},
      {"2: other.yaml", "01: other.yaml", {"two cores 1"}, "system.yaml:5:3"},
      {"- 0, 1\n", "- 0, 9\n", {"no core 9"}, "system.yaml:8"},
      {"- 0, 1\n", "- 0\n", {"fewer than two"}, "system.yaml:8"},
      {"- 0, 1\n", "- 0, 0\n", {"core 0 is named twice"}, "system.yaml:8"},
      {"- 0, 1\n", "- 0, x\n", {"'x'"}, "system.yaml:8"},
      {"- 0, 1\n", "- {type: wire, cores: [0, 1], bandwidth: 1}\n", {"no connection 'wire'"}, "system.yaml:8"},
      {"- 0, 1\n", "- {type: link, cores: [0, 1, 2], bandwidth: 1}\n", {"a link joins two"}, "system.yaml:8"},
      {"- 0, 1\n", "- {type: link, cores: [0, 1]}\n", {"lacks 'bandwidth'"}, "system.yaml:8"},
      {"- 0, 1\n", "- {type: link, bandwidth: 3}\n", {"lacks 'cores'"}, "system.yaml:8"},
      {"core_connectivity:\n  - 0, 1\n  - 0, 1, 2\n", "", {"lacks 'core_connectivity'"}, "system.yaml:1"},
      {"bandwidth: 32",
       "bandwidth: 32\ncore_memory_sharing: [\"0, 1\"]",
       {"cores 0 and 1 share", "cannot be connected"},
       "system.yaml:8"},
      {"bandwidth: 32",
       "bandwidth: 32\ncore_memory_sharing: [\"0, 3\"]",
       {"cores 0 and 3", "differs in name"},
       "system.yaml:11"},
      {"core_connectivity:",
       "core_memory_sharing: [\"0, 1\", \"1, 2\"]\ncore_connectivity:",
       {"core 1 is in two groups"},
       "system.yaml:7"},
      {"offchip_core: offchip.yaml", "offchip_core: small.yaml", {"3 does not compute", "2 memories"}, "system.yaml:6"},
      {"offchip_core: offchip.yaml", "offchip_core_id: 7", {"no core 7"}, "system.yaml:6"},
  };
  for (const Bent& bent : cases) {
    SCOPED_TRACE(bent.to + " / " + bent.words[0]);
    auto files = all_files();
    files["system.yaml"] = with(test::system_file, bent.from, bent.to);
    const auto hardware = import_from(files, "system.yaml");
    ASSERT_FALSE(hardware);
    expect_error(hardware.error(), bent.words, bent.place);
  }
}

// What is wrong in a core's file is told at its place there.
TEST(ImportErrors, inside_a_core_file_of_a_system) {
  auto files = all_files();
  files["other.yaml"] = with(core_file, "size: 64", "size: -1");
  expect_error(import_from(files, "system.yaml").error(), {"size"}, "other.yaml:4:11");
}

TEST(ImportErrors, a_system_that_does_not_compute) {
  auto files = all_files();
  files["s.yaml"] = "name: s\ncores: {0: offchip.yaml}\ncore_connectivity: []\n";
  expect_error(import_from(files, "s.yaml").error(), {"no core of the system computes"}, "s.yaml:1");
  files["t.yaml"] = "name: s\ncores: {0: small.yaml, 1: one.yaml}\noffchip_core_id: 1\ncore_connectivity: []\n";
  files["one.yaml"] = with(test::memory_file, "sizes: [0]", "sizes: [1]");
  expect_error(import_from(files, "t.yaml").error(), {"off-chip core 1 computes"}, "t.yaml:2");
}

TEST(ImportErrors, mappings_of_cores) {
  auto files = all_files();
  files["m.yaml"] = "- {name: Conv, core_allocation: [3]}\n";
  expect_error(import_from(files, "system.yaml", {.mapping = "m.yaml"}).error(), {"'Conv'", "core 3"}, "m.yaml");
  files["small.yaml"] = core_file;
  expect_error(import_from(files, "small.yaml", {.mapping = "m.yaml"}).error(), {"single core"}, "m.yaml");
}

TEST(ImportErrors, not_such_a_file) {
  expect_error(import_text("a: 1\n").error(), {"neither a ZigZag accelerator nor a Stream system"}, "file.yaml");
  expect_error(import_text("").error(), {"neither"}, "file.yaml");
  expect_error(import_text("- 1\n").error(), {"neither"}, "file.yaml");
  EXPECT_FALSE(import_hardware("no/such/file.yaml"));
}

TEST(ImportErrors, not_yaml) {
  expect_error(import_text("a: [1\nb: 2\n").error(), {"not YAML"}, "file.yaml:2");
  expect_error(import_text("memories: 1\n---\nb: 2\n").error(), {"more than one"}, "file.yaml");
  expect_error(import_text("{[1]: 2}").error(), {"a key must be"}, "file.yaml:1");
  expect_error(import_text("a: &x {b: 1}\nc: {<<: *x}\n").error(), {"merge keys"}, "file.yaml:2");
}

TEST(ImportErrors, files_that_grow) {
  std::string bomb = "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (char c = 'b'; c <= 'k'; ++c) {
    bomb += fmt::format("{}: &{} [", c, c);
    for (int i = 0; i < 9; ++i) bomb += fmt::format("{}*{}", i == 0 ? "" : ", ", static_cast<char>(c - 1));
    bomb += "]\n";
  }
  expect_error(import_text(bomb).error(), {"more than 200000 values"}, "file.yaml:");
  expect_error(import_text(std::string(70, '[') + std::string(70, ']')).error(), {"nests deeper than 64"},
               "file.yaml:1");
  EXPECT_FALSE(import_text(std::string(100'000, '[')));
  expect_error(import_text(std::string((std::size_t{4} << 20) + 1, ' ')).error(), {"larger than 4 MiB"}, "file.yaml");
  expect_error(import_text("a: &a [*a]\n").error(), {"itself"}, "file.yaml:1");
}

}  // namespace
}  // namespace monet
