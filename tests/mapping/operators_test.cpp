// Operators of a graph on the cores of a machine.
#include "mapping/operators.h"

#include "networks/builtin.h"

#include <gtest/gtest.h>

#include <set>

namespace monet {
namespace {

// One core: 8 x 8 lanes that can do everything, a buffer, and memory outside.
Hardware small_machine(std::size_t cores = 1) {
  Hardware hardware;
  hardware.name = "small";
  hardware.clock_hz = 1e9;
  const auto add_memory = [&](std::string name, MemoryKind kind, std::int64_t bits, double pj) {
    Memory memory{.name = std::move(name), .kind = kind, .size_bits = bits, .read_pj = pj, .write_pj = pj};
    memory.ports = {{"rw", PortKind::read_write, 8, 512}};
    hardware.memories.push_back(std::move(memory));
    return MemoryId(hardware.memories.size() - 1);
  };
  const MemoryId dram = add_memory("dram", MemoryKind::dram, std::int64_t{1} << 40, 500);
  for (std::size_t i = 0; i < cores; ++i) {
    Core core{.name = "core" + std::to_string(i), .type = "core"};
    Unit unit{.name = "array", .dimensions = {{"D1", 8, {}}, {"D2", 8, {}}}};
    unit.cycles.fill(1);
    unit.energy_pj.fill(0.1);
    core.units.push_back(unit);
    Level level{.memory = add_memory(core.name + "/sram", MemoryKind::sram, 1 << 20, 5), .served = 3};
    for (auto& path : level.port) path.fill(0);
    core.levels.push_back(level);
    hardware.cores.push_back(core);
    hardware.links.push_back({.name = "bus",
                              .ends = {{.core = CoreId(i)}, {.memory = dram}},
                              .bits_per_cycle = 128,
                              .energy_pj_per_bit = 1});
  }
  return hardware;
}

Graph network() {
  auto graph = build_builtin("mlp-robotics", 4);
  EXPECT_TRUE(graph);
  return *std::move(graph);
}

TEST(MapOperators, GivesTheSameForAnyNumberOfThreads) {
  const Graph graph = network();
  const Hardware hardware = small_machine();
  MappingCache first_cache, second_cache;
  const auto one = map_operators(graph, hardware, first_cache, {.jobs = 1});
  const auto many = map_operators(graph, hardware, second_cache, {.jobs = 7});
  ASSERT_TRUE(one && many);
  ASSERT_EQ(one->operators.size(), graph.nodes().size());
  for (std::size_t i = 0; i < one->operators.size(); ++i) {
    EXPECT_EQ(one->operators[i].reason, "") << graph[NodeId(i)].name;
    EXPECT_EQ(one->operators[i].cycles, many->operators[i].cycles);
    EXPECT_EQ(one->operators[i].energy_pj, many->operators[i].energy_pj);
    EXPECT_GE(one->operators[i].cycles * (1 + 1e-12), one->operators[i].bound_cycles);
  }
  EXPECT_EQ(one->evaluated, many->evaluated);
  EXPECT_EQ(first_cache.size(), one->unique);
}

TEST(MapOperators, FindsEverythingInAWarmCache) {
  const Graph graph = network();
  const Hardware hardware = small_machine();
  MappingCache cache;
  const auto cold = map_operators(graph, hardware, cache, {});
  const std::size_t kept = cache.size();
  const auto warm = map_operators(graph, hardware, cache, {});
  ASSERT_TRUE(cold && warm);
  EXPECT_EQ(cache.size(), kept);
  for (std::size_t i = 0; i < cold->operators.size(); ++i) {
    EXPECT_EQ(cold->operators[i].cycles, warm->operators[i].cycles);
  }
}

TEST(MapOperators, SearchesEqualCoresOnce) {
  const Graph graph = network();
  MappingCache one_cache, two_cache;
  const auto one = map_operators(graph, small_machine(1), one_cache, {});
  const auto two = map_operators(graph, small_machine(3), two_cache, {});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->unique, two->unique);
  EXPECT_EQ(one->operators[0].cycles, two->operators[0].cycles);
}

TEST(MapOperators, SaysWhyAnOperatorIsNotMapped) {
  const Graph graph = network();
  Hardware hardware = small_machine();
  hardware.cores[0].operators = {"nothing"};
  MappingCache cache;
  const auto mapped = map_operators(graph, hardware, cache, {});
  ASSERT_TRUE(mapped);
  for (const OperatorCost& cost : mapped->operators) {
    if (cost.is_view) continue;
    EXPECT_FALSE(cost.core.valid());
    EXPECT_NE(cost.reason.find("is not among the operators of core core0"), std::string::npos) << cost.reason;
  }
  hardware = small_machine();
  hardware.cores[0].units[0].cycles[static_cast<std::size_t>(Count::mac)] = 0;
  const auto without = map_operators(graph, hardware, cache, {});
  ASSERT_TRUE(without);
  std::set<std::string> reasons;
  for (const OperatorCost& cost : without->operators) reasons.insert(cost.reason);
  EXPECT_TRUE(reasons.contains("no unit of core core0 has all of its operations (without mac)"));
}

}  // namespace
}  // namespace monet
