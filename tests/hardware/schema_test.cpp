#include "hardware/schema.h"

#include "hardware/keys.h"
#include "hardware/support.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <set>

namespace monet {
namespace {

using Json = nlohmann::json;

TEST(HardwareSchema, IsJsonAndComplete) {
  const Json schema = Json::parse(hardware_schema());
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["properties"].size(), machine_block().keys.size());
  // Every reference leads somewhere, every definition is used.
  std::set<std::string> used;
  const std::function<void(const Json&)> walk = [&](const Json& node) {
    if (node.is_object()) {
      for (const auto& [key, value] : node.items()) {
        if (key == "$ref") used.insert(value.get<std::string>().substr(std::string("#/$defs/").size()));
        walk(value);
      }
    }
    if (node.is_array()) {
      for (const Json& item : node) walk(item);
    }
  };
  walk(schema);
  std::set<std::string> defined;
  for (const auto& [name, definition] : schema["$defs"].items()) {
    defined.insert(name);
    // A block is closed; a value may come alone or with its source; the words of a choice are the file's.
    EXPECT_TRUE(name == "choice" || definition.contains("anyOf") || definition["additionalProperties"] == false)
        << name;
  }
  EXPECT_EQ(used, defined);
}

// Blocks that a file can have, from the tables.
void collect(const Block& block, std::set<const Block*>& seen) {
  if (!seen.insert(&block).second) return;
  for (const Key& key : block.keys) {
    if (key.block != nullptr) collect(key.block(), seen);
  }
}

TEST(HardwareSchema, HasEveryKeyThatTheReaderAccepts) {
  const Json schema = Json::parse(hardware_schema());
  std::set<const Block*> blocks;
  collect(machine_block(), blocks);
  EXPECT_GE(blocks.size(), 15U);
  for (const Block* block : blocks) {
    std::string name(block->name);
    std::replace(name.begin(), name.end(), ' ', '_');
    const Json& described = block == &machine_block() ? schema : schema["$defs"][name];
    std::set<std::string> keys;
    for (const Key& key : block->keys) {
      EXPECT_TRUE(keys.insert(std::string(key.name)).second) << name << " has " << key.name << " twice";
      EXPECT_TRUE(described["properties"].contains(std::string(key.name))) << name << ": " << key.name;
      EXPECT_FALSE(key.meaning.empty()) << key.name;
    }
    EXPECT_EQ(described["properties"].size(), block->keys.size()) << name;
  }
}

// A file that uses all keys of all blocks: what the tables list, the reader reads.
TEST(HardwareSchema, EveryKeyCanBeRead) {
  const std::string text = R"(monet: 1
name: everything
description: all keys
recipe: fp32
source: here
confidence: A
note: a remark
notes: [one, two]
validated: {eager: {machine: everything, latency: 5, energy: 9, memory: 2, source: here, confidence: A, note: x}}
parameters: {k: {value: 4, minimum: 1, maximum: 8, description: size}, w: {value: a, one_of: [a, b]}}
clock: 1 GHz
technology: 22 nm
energies: fixed
peak: {fp32: {value: 1 TFLOP/s, source: here, confidence: A, note: n}}
effects: {fill_drain: true, memory_latency: true, energy_by_precision: true, static_energy: true, network_energy: true}
static_power: 1 W
area: 5 mm2
memories:
  dram:
    kind: dram
    type: LPDDR4
    size: 1 GiB
    ports: {rw: {kind: read_write, width: 64 bit/cycle, word: 8..64 bit, moves: [input, weight, output]}}
    read_energy: 1 pJ
    write_energy: 1 pJ
    latency: 1 cycle
    read_latency: 1 ns
    write_latency: 1 ns
    page: 1 KiB
    double_buffered: false
    network_energy: 0 pJ/bit
    clock: 1 GHz
    technology: 22 nm
    static_power: 1 mW
    area: 1 mm2
    source: here
    confidence: B
    note: a remark
cores:
  pe:
    count: 2
    type: element
    dataflow: {K: {K: 2}}
    operators: [Add]
    gang: 2
    clock: 1 GHz
    technology: 22 nm
    static_power: 1 mW
    area: 1 mm2
    source: here
    confidence: B
    note: a remark
    array:
      dimensions: {K: {size: =k, loops: [K]}}
      operations: {mac: {cycles: 1, energy: 1 pJ, source: x, confidence: C, note: y}}
      precisions: {int8: {rate: 1, energy: 1, accumulate: int32, source: x, confidence: C, note: y}}
      fill: 3 cycle
      cycle_rule: rows
      energy_per_cycle: 1 pJ/cycle
      area: 1 mm2
      source: here
      confidence: B
      note: a remark
    vector:
      lanes: 4
      operations: {add: {energy: 1 pJ}}
      precisions: {int8: 1}
      fill: 1
      area: 1 mm2
      source: here
      confidence: B
      note: a remark
    memories:
      sram:
        size: 1 KiB
        ports: {rw: {width: 64 bit/cycle}}
        read_energy: 1 pJ
        write_energy: 1 pJ
        paths: [input, weight, output]
        serves: [K, gang]
      dram: {use: dram, link: inner}
clusters:
  chip:
    grid: [1, 2]
    clock: 1 GHz
    technology: 22 nm
    static_power: 1 W
    area: 1 mm2
    source: here
    confidence: B
    note: a remark
    memories: {}
    clusters: {}
    cores:
      rated:
        rate:
          operations: {all: {value: 1 OP/s, source: x, confidence: C, note: y}}
          energy: {all: {value: 1 pJ, source: x, confidence: C, note: y}}
          power: 1 mW
          precisions: {int8: {operations: {mac: 2 OP/s}, operation_energy: {mac: 1 pJ}}}
          source: here
          confidence: B
          note: a remark
        memories: {dram: {use: dram}}
        kernels:
          date: today
          multiprocessors: 2
          ceiling: {fp32: 1 TFLOP/s, tf32: 1 TFLOP/s, bf16: 1 TFLOP/s}
          memory: {cache_rate: 2 GB/s, memory_rate: 1 GB/s, cache_until: 1 MB, memory_from: 2 MB, cold_after: 1 MB,
                   cold_slowdown_32: 0.1, cold_slowdown_tf32: 0.1, cold_slowdown_16: 0.1, cold_waiting_32: 0.1,
                   cold_waiting_tf32: 0.1, cold_waiting_16: 0.1}
          energy: {base: 1 W, busy: 1 W, scalar: 1 W, limit: 9 W, byte: 1 pJ, memory_byte: 1 pJ, clock_exponent: 2, fp32: 1 pJ}
          laws:
            convolution.forward.bf16.windows:
              {rate: 1, edge: 1, start: 1, wave: 1, split: 1, sums: 1, recovered: 1, layout_start: 1, layout_rate: 1,
               layout_weight_rate: 1, reach: 1, noise: 1, measured: 1 8 8 8 3 1 1 5}
            convolution.forward.bf16.pointwise: {misaligned: 2}
            convolution.forward.bf16.depthwise: {taps: 1, wide: 1}
            convolution.weight_gradient.bf16.depthwise: {image: 1, step: 1}
            convolution.weight_gradient.fp32.windows: {winograd_rate: 1, winograd_start: 1, winograd_from: 1e9, grouped_rate: 1}
            batch_norm.forward.fp32: {alone: 1, small: 1, near: 1}
            layer_norm.backward.fp32: {down: 1}
            layer_norm.forward.fp32: {row: 1, passes: 1}
            optimizer.adam.fp32: {element: 1, counters: 1}
    links: [{bus: [rated, dram], width: 1 bit/cycle}]
links:
  - {bus: [pe, dram], name: inner, width: 8 bit/cycle, latency: 1 cycle, energy: 1 pJ/bit, energy_per_cycle: 1 pJ/cycle,
     clock: 1 GHz, static_power: 1 W, area: 1 mm2, source: x, confidence: C, note: y}
  - {link: [pe0, pe1], one_way: true, width: 8 bit/cycle}
  - {star: [pe0, pe1], width: 8 bit/cycle}
  - {mesh: pe, grid: [1, 2], width: 8 bit/cycle}
  - {torus: pe, grid: [2, 1], width: 8 bit/cycle}
  - {ring: pe, width: 8 bit/cycle}
  - {tree: pe, arity: 2, width: 8 bit/cycle}
  - {all_to_all: pe, width: 8 bit/cycle}
chips: {description: one of them}
fabric:
  - {name: node, chips: 4, kind: torus, sizes: [2, 2], width: 1 GB/s, latency: 1 us, start: 1 us, energy: 1 pJ/bit,
     share: 0.1, source: x, confidence: C, note: y}
  - {name: rack, chips: 8, kind: switch, width: 1 GB/s, reduces: true, oversubscription: 2, algorithms: [tree, in_switch],
     efficiency: {by_size: [1 MiB 0.5], in_switch: [1 MiB 0.4], source: x, confidence: C, note: y}}
  - {name: pod, chips: any, kind: torus, dimensions: 2, width: 1 GB/s}
)";
  const Hardware hardware = test::must_read(text);
  EXPECT_EQ(hardware.cores.size(), 4U);
  EXPECT_EQ(hardware.notes, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(hardware.static_w, 3);
  // All keys but those of other files stand in the text.
  std::set<const Block*> blocks;
  collect(machine_block(), blocks);
  for (const Block* block : blocks) {
    for (const Key& key : block->keys) {
      if (key.name == "include") continue;
      if (block == &dataflow_block() && key.name != "K") continue;  // one loop stands for all
      EXPECT_NE(text.find(std::string(key.name) + ":"), std::string::npos) << key.name;
    }
  }
}

}  // namespace
}  // namespace monet
