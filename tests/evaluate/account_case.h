// A step small enough to add up by hand: two cores with a memory each, DRAM and flash; three operators, one of
// each phase; four tiles and eight transfers.
#pragma once

#include "evaluate/account/step.h"

namespace monet::test {

struct AccountCase {
  Graph graph;
  Hardware hardware;
  Assignment assignment;
  TileGraph tiles;
  Schedule schedule;

  ScheduledStep step() const { return {graph, hardware, assignment, tiles, schedule}; }
};

constexpr MemoryId dram(std::size_t{0}), sram0(std::size_t{1}), sram1(std::size_t{2}), flash(std::size_t{3}),
    registers(std::size_t{4});
constexpr LinkId bus_link(std::size_t{0}), mesh_link(std::size_t{1}), card_link(std::size_t{2});

// RoutedMachine 1, cores 2 + 2, DRAM 10, memories of cores 1 + 1, two instances of registers 0.5 + 0.5, bus 1: 19 mW,
// 260 ns.
constexpr double leaked_pj = 0.019 * 260e-9 * 1e12;

inline Hardware account_hardware() {
  Hardware hardware;
  hardware.name = "two";
  hardware.clock_hz = 1e9;
  hardware.static_w = 0.001;
  const auto both = [](std::int64_t least, std::int64_t word) {
    return std::vector<Port>{{.name = "rw", .kind = PortKind::read_write, .min_bits = least, .max_bits = word}};
  };
  // 1 pJ a bit to read, 2 to write.
  Memory home{.name = "dram", .kind = MemoryKind::dram, .size_bits = 8 * 4096, .read_pj = 64, .write_pj = 128};
  home.ports = both(16, 64);
  home.network_pj_per_bit = 0.0625;
  home.static_w = 0.01;
  // 0.1 pJ a bit to read, 0.2 to write, 32 bits at a time; the first port is never used.
  Memory local{.name = "sram0", .kind = MemoryKind::sram, .size_bits = 8 * 512, .read_pj = 3.2, .write_pj = 6.4};
  local.ports = {{.name = "wide", .kind = PortKind::read_write, .min_bits = 1024, .max_bits = 1024},
                 {.name = "r", .kind = PortKind::read, .min_bits = 32, .max_bits = 32},
                 {.name = "w", .kind = PortKind::write, .min_bits = 32, .max_bits = 32}};
  local.network_pj_per_bit = 0.03125;
  local.static_w = 0.001;
  Memory other = local;
  other.name = "sram1";
  // 1 pJ a bit to read, 2 to write, in pages of 512 bytes.
  Memory storage{.name = "flash", .kind = MemoryKind::storage, .size_bits = 8 << 20, .read_pj = 8, .write_pj = 16};
  storage.ports = both(8, 8);
  storage.page_bits = 4096;
  Memory file{.name = "registers", .kind = MemoryKind::registers, .size_bits = 64};
  file.ports = both(8, 8);
  file.static_w = 0.0005;
  hardware.memories = {home, local, other, storage, file};

  Level level{.memory = sram0};
  for (auto& path : level.port) {
    path[static_cast<std::size_t>(Transfer::from_high)] = 2;
    path[static_cast<std::size_t>(Transfer::to_high)] = 1;
  }
  Core core{.name = "c0", .levels = {level}, .static_w = 0.002};
  Core second = core;
  second.name = "c1";
  second.levels[0].memory = sram1;
  core.units = {{.name = "array", .dimensions = {{"D1", 2, {}}, {"D2", 4, {}}}}};
  core.units[0].cycles[static_cast<std::size_t>(Count::mac)] = 1;
  core.levels.insert(core.levels.begin(), Level{.memory = registers, .served = 2});  // one for each of two rows
  core.levels[1].served = 3;
  hardware.cores = {core, second};

  const End at_dram{.memory = dram}, at_c0{.core = CoreId(std::size_t{0})}, at_c1{.core = CoreId(std::size_t{1})};
  hardware.links = {{.name = "bus", .kind = LinkKind::bus, .ends = {at_dram, at_c0, at_c1}, .bits_per_cycle = 64},
                    {.name = "mesh", .ends = {at_c0, at_c1}, .bits_per_cycle = 32},
                    {.name = "card", .ends = {at_dram, End{.memory = flash}}, .bits_per_cycle = 32}};
  hardware.links[0].energy_pj_per_bit = 0.25;
  hardware.links[0].energy_pj_per_cycle = 32;  // 0.5 pJ a bit at full width
  hardware.links[0].static_w = 0.001;
  hardware.links[1].energy_pj_per_bit = 0.125;
  hardware.links[2].energy_pj_per_bit = 1;
  return hardware;
}

// layer: a = f(x, w), in two tiles; back: g = f(a); update: w.new = f(w, g).
inline void account_graph(AccountCase& c) {
  const auto tensor = [&](const char* name, Role role) { return c.graph.add_tensor({.name = name, .role = role}); };
  const TensorId x = tensor("x", Role::input), w = tensor("w", Role::weight), a = tensor("a", Role::activation),
                 g = tensor("g", Role::weight_gradient), updated = tensor("w.new", Role::weight);
  c.graph[updated].updates = w;
  c.graph.add_node({.name = "layer", .op = Op::Gemm, .phase = Phase::forward, .inputs = {x, w}, .outputs = {a}});
  c.graph.add_node({.name = "back", .op = Op::Gemm, .phase = Phase::backward, .inputs = {a}, .outputs = {g}});
  c.graph.add_node(
      {.name = "update", .op = Op::Add, .phase = Phase::optimizer, .inputs = {w, g}, .outputs = {updated}});

  const CoreId c0(std::size_t{0}), c1(std::size_t{1});
  c.assignment.operators = {{.cuts = {{Dim::B, 2, 0}}, .cores = {c0, c1}, .stack = 0},
                            {.cores = {c0}, .stack = 1},
                            {.cores = {c1}, .stack = 2}};
  c.assignment.stacks = {{NodeId(std::size_t{0})}, {NodeId(std::size_t{1})}, {NodeId(std::size_t{2})}};

  const auto tile = [](std::size_t i) { return TileId(i); };
  const auto buffer = [](std::size_t i) { return BufferId(i); };
  TileGraph& t = c.tiles;
  t.operators = {{.first = 0, .count = 2}, {.first = 2, .count = 1}, {.first = 3, .count = 1}};
  for (const std::size_t node : {0, 0, 1, 2}) t.node.emplace_back(node);
  t.buffers = {{x, {}, 100},     {x, {}, 100},     {w, {}, 50},           {a, tile(0), 40},
               {a, tile(1), 40}, {g, tile(2), 40}, {updated, tile(3), 50}};
  t.first_buffer = {0, 2, 3, 5, 6, 7};
  t.parts = {{100, 100, 0}, {50, 50, 1}, {40, 40, 0}};
  t.reads = {{buffer(0), 0}, {buffer(2), 1}, {buffer(1), 0}, {buffer(2), 1},
             {buffer(3), 2}, {buffer(4), 2}, {buffer(2), 1}, {buffer(5), 2}};
  t.first_read = {0, 2, 4, 6, 8};
  t.writes = {{.buffer = buffer(3)}, {.buffer = buffer(4)}, {.buffer = buffer(5)}, {.buffer = buffer(6)}};
  t.first_write = {0, 1, 2, 3, 4};
}

inline TileCost account_cost(double compute, double stall, double load, double fill) {
  TileCost cost;
  cost.cycles = compute + stall + load + fill;
  cost.compute_cycles = compute;
  cost.stall_cycles = stall;
  cost.load_cycles = load;
  cost.fill_cycles = fill;
  return cost;
}

inline void account_schedule(AccountCase& c) {
  Schedule& s = c.schedule;
  s.cycles = 260;
  const CoreId c0(std::size_t{0}), c1(std::size_t{1});
  s.home_of = {dram, dram};
  s.channels = {{.name = "bus", .link = bus_link, .bits_per_cycle = 64},
                {.name = "mesh back", .link = mesh_link, .bits_per_cycle = 32},
                {.name = "mesh", .link = mesh_link, .bits_per_cycle = 32},
                {.name = "card", .link = card_link, .bits_per_cycle = 32},
                {.name = "dram rw", .memory = dram, .port = 0, .bits_per_cycle = 64}};
  s.routes = {{dram, sram0, {4, 0}}, {dram, sram1, {4, 0}}, {sram1, sram0, {1}},  {sram0, dram, {0, 4}},
              {dram, flash, {4, 3}}, {sram0, sram1, {2}},   {sram1, dram, {0, 4}}};
  TileCost layer0 = account_cost(60, 20, 5, 5);
  layer0.macs = 1000;
  layer0.compute_pj = 1000;
  layer0.network_pj = 5;
  layer0.precision = "fp32";
  TileCost layer1 = layer0;
  layer0.level_pj = {0, 70};  // registers, sram
  layer1.level_pj = {70};
  TileCost back = account_cost(50, 0, 0, 0);
  back.macs = 500;
  back.compute_pj = 300;
  back.network_pj = 20;
  back.precision = "bf16";
  back.level_pj = {0, 30, 960};  // the last is home
  back.home_read_bits = 640;
  back.home_write_bits = 320;
  TileCost update = account_cost(30, 8, 0, 0);
  update.compute_pj = 50;
  update.precision = "fp32";
  update.level_pj = {7};
  s.costs = {layer0, layer1, back, update};
  s.tiles = {{.start = 20, .end = 120, .cost = 0, .core = c0, .wait = Wait::transfer, .by = 0},  // slowed by 10
             {.start = 40, .end = 130, .cost = 1, .core = c1, .wait = Wait::transfer, .by = 3},
             {.start = 150, .end = 200, .cost = 2, .core = c0, .wait = Wait::transfer, .by = 4},
             {.start = 212, .end = 250, .cost = 3, .core = c1, .wait = Wait::transfer, .by = 6}};
  s.tiles[2].read_route = 0;
  s.tiles[2].write_route = 3;
  const auto transfer = [&](double start, double end, std::int64_t bytes, std::size_t buffer, std::uint32_t route,
                            TransferKind kind, Wait wait = Wait::nothing, std::uint32_t by = 0) {
    s.transfers.push_back(
        {start, end, bytes, BufferId(buffer), s.routes[route].from, s.routes[route].to, route, kind, false, wait, by});
  };
  transfer(0, 20, 100, 0, 0, TransferKind::fetch);
  transfer(0, 20, 50, 2, 0, TransferKind::fetch);
  transfer(0, 20, 50, 2, 1, TransferKind::fetch);
  s.transfers[2].joined = true;
  transfer(20, 40, 100, 1, 1, TransferKind::fetch, Wait::room, 0);
  transfer(130, 142, 40, 4, 2, TransferKind::core_to_core, Wait::data, 1);
  transfer(130, 160, 600, 3, 4, TransferKind::page_out);
  transfer(200, 212, 40, 5, 5, TransferKind::core_to_core, Wait::data, 2);
  transfer(250, 260, 50, 6, 6, TransferKind::write_back, Wait::data, 3);

  const auto stay = [&](double start, double end, std::int64_t bytes, BufferId buffer, MemoryId memory,
                        TileId tile = {}) { s.stays.push_back({start, end, bytes, buffer, tile, memory}); };
  stay(0, 120, 100, BufferId(std::size_t{0}), sram0);
  stay(0, 120, 50, BufferId(std::size_t{2}), sram0);
  stay(20, 120, 30, {}, sram0, TileId(std::size_t{0}));
  stay(20, 200, 40, BufferId(std::size_t{3}), sram0);
  stay(130, 200, 40, BufferId(std::size_t{4}), sram0);
  stay(150, 212, 40, BufferId(std::size_t{5}), sram0);
  stay(0, 100, 100, BufferId(std::size_t{1}), sram1);  // leaves as what follows comes
  stay(100, 260, 110, BufferId(std::size_t{4}), sram1);
  const auto home = [&](double start, double end, std::int64_t bytes, std::size_t tensor) {
    s.home.push_back({start, end, bytes, TensorId(tensor), dram});
  };
  home(0, 130, 200, 0);
  home(0, 260, 50, 1);
}

inline AccountCase account_case() {
  AccountCase c;
  c.hardware = account_hardware();
  account_graph(c);
  account_schedule(c);
  return c;
}

}  // namespace monet::test
