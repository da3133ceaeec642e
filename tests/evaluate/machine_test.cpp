// Which ports and links the ways between memories take, and what they take of them.
#include "evaluate/machine/machine.h"

#include "hardware/reader.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <vector>

namespace monet {
namespace {

Hardware machine_with(const std::string& ports) {
  const auto hardware = read_hardware_text(fmt::format(R"(
monet: 1
name: one
memories:
  dram:
    kind: dram
    size: 1 MiB
    ports: {{rw: {{kind: read_write, width: 64 bit/cycle}}}}
    read_energy: 1 pJ
    write_energy: 1 pJ
cores:
  pe:
    array:
      dimensions: {{K: 4}}
      operations: {{all: {{cycles: 1, energy: 1 pJ}}}}
    memories:
      sram:
        size: 16 KiB
        ports: {{{}}}
        read_energy: 1 pJ
        write_energy: 1 pJ
      dram: {{use: dram}}
)",
                                                       ports),
                                           "one.yaml");
  EXPECT_TRUE(hardware) << hardware.error().message << " " << hardware.error().place;
  return *hardware;
}

MemoryId memory_named(const Hardware& hardware, const std::string& name) {
  for (std::size_t i = 0; i < hardware.memories.size(); ++i) {
    if (hardware.memories[i].name == name) return MemoryId(i);
  }
  return {};
}

const Channel& port_on(const RoutedMachine& machine, const Route& route, MemoryId memory) {
  for (const ChannelUse& use : route.channels) {
    if (machine.channels()[use.channel].memory == memory) return machine.channels()[use.channel];
  }
  ADD_FAILURE() << "the route does not use the memory";
  return machine.channels().front();
}

TEST(Machine, TransfersTakeThePortThatTheFileStates) {
  const Hardware hardware = machine_with(
      "a: {kind: read_write, width: 512 bit/cycle, moves: [input, weight, output to_low, output from_low]}, "
      "b: {kind: read_write, width: 256 bit/cycle, moves: [output to_high, output from_high]}");
  RoutedMachine machine(hardware);
  const MemoryId sram = memory_named(hardware, "pe/sram");
  const MemoryId dram = memory_named(hardware, "dram");
  const Route out = machine.routes()[machine.route(sram, dram)];
  const Route in = machine.routes()[machine.route(dram, sram)];
  EXPECT_EQ(port_on(machine, out, sram).name, "pe/sram port b");
  EXPECT_EQ(port_on(machine, in, sram).name, "pe/sram port a");
  EXPECT_EQ(out.bits_per_cycle, 64);
}

TEST(Machine, EqualPortsAreOneChannelOfWhichATransferTakesOne) {
  const Hardware hardware = machine_with(
      "a: {kind: read_write, width: 64..512 bit/cycle, moves: [input, weight from_high]}, "
      "b: {kind: read_write, width: 64..512 bit/cycle, moves: [output]}, "
      "c: {kind: read, width: 64..512 bit/cycle, moves: [weight to_low]}");
  RoutedMachine machine(hardware);
  const MemoryId sram = memory_named(hardware, "pe/sram");
  const MemoryId dram = memory_named(hardware, "dram");
  EXPECT_EQ(machine.port_channel(sram, 0), machine.port_channel(sram, 1));
  EXPECT_NE(machine.port_channel(sram, 0), machine.port_channel(sram, 2));
  const Channel& both = machine.channels()[machine.port_channel(sram, 0)];
  EXPECT_EQ(both.ports, 2);
  EXPECT_EQ(both.bits_per_cycle, 1024);
  // 64 bits of 512 at a time: each is an access of its own and takes a whole port, half of the channel.
  const Route in = machine.routes()[machine.route(dram, sram)];
  EXPECT_EQ(in.bits_per_cycle, 64);
  for (const ChannelUse& use : in.channels) {
    if (machine.channels()[use.channel].memory != sram) continue;
    EXPECT_EQ(use.share * in.bits_per_cycle, 512);
  }
}

// A mesh of cores with a memory each, and nothing else between them.
Hardware mesh(int rows, int columns) {
  const auto hardware = read_hardware_text(fmt::format(R"(
monet: 1
name: mesh
clock: 1 GHz
cores:
  pe:
    grid: [{}, {}]
    rate: {{operations: {{all: 1 GOP/s}}, energy: {{all: 1 pJ}}}}
    memories:
      sram: {{size: 16 KiB, ports: {{rw: {{width: 64 bit/cycle}}}}, read_energy: 1 pJ, write_energy: 1 pJ}}
links:
  - {{mesh: pe, width: 32 bit/cycle, latency: 1 cycle, energy: 2 pJ/bit}}
)",
                                                       rows, columns),
                                           "mesh.yaml");
  EXPECT_TRUE(hardware) << hardware.error().message << " " << hardware.error().place;
  return *hardware;
}

TEST(Machine, EveryPairOfALargeMeshHasItsRoute) {
  // More routes than 16 bits can number; each with as many hops as there are rows and columns between its ends.
  const int rows = 17, columns = 16;
  const Hardware hardware = mesh(rows, columns);
  RoutedMachine machine(hardware);
  const auto memory_at = [&](int core) { return hardware.cores[static_cast<std::size_t>(core)].levels[0].memory; };
  std::size_t wrong = 0;
  for (int from = 0; from < rows * columns; ++from) {
    for (int to = 0; to < rows * columns; ++to) {
      if (from == to) continue;
      const std::uint32_t number = machine.route(memory_at(from), memory_at(to));
      ASSERT_NE(number, no_route);
      const Route& route = machine.routes()[number];
      const double hops = std::abs(from / columns - to / columns) + std::abs(from % columns - to % columns);
      if (route.from != memory_at(from) || route.to != memory_at(to) || route.latency_cycles != hops ||
          route.pj_per_bit != 2 * hops || route.channels.size() != static_cast<std::size_t>(hops) + 2) {
        ++wrong;
      }
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(machine.routes().size(), static_cast<std::size_t>(rows * columns * (rows * columns - 1)));
  EXPECT_GT(machine.routes().size(), 65535U);
}

TEST(Machine, AWayDoesNotDependOnWhatWasAskedBefore) {
  const Hardware hardware = mesh(5, 6);
  RoutedMachine one(hardware);
  RoutedMachine other(hardware);
  const auto channels = [](RoutedMachine& machine, MemoryId from, MemoryId to) {
    std::vector<std::uint32_t> used;
    const std::uint32_t route = machine.route(from, to);
    for (const ChannelUse& use : machine.routes()[route].channels) used.push_back(use.channel);
    return used;
  };
  const auto memory_at = [&](std::size_t core) { return hardware.cores[core].levels[0].memory; };
  for (std::size_t from = 0; from < 30; ++from) {
    for (std::size_t to = 0; to < 30; ++to) {
      if (from == to) continue;
      RoutedMachine fresh(hardware);
      const auto way = channels(fresh, memory_at(from), memory_at(to));
      EXPECT_EQ(way, channels(one, memory_at(from), memory_at(to)));
      EXPECT_EQ(channels(other, memory_at(29 - from), memory_at(29 - to)),
                channels(one, memory_at(29 - from), memory_at(29 - to)));
    }
  }
}

TEST(Machine, OnlyABusIsNoDetour) {
  const auto hardware = read_hardware_text(R"(
monet: 1
name: both
clock: 1 GHz
cores:
  pe:
    grid: [1, 3]
    rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}
    memories:
      sram: {size: 16 KiB, ports: {rw: {width: 512 bit/cycle}}, read_energy: 1 pJ, write_energy: 1 pJ}
links:
  - {mesh: pe, width: 32 bit/cycle, latency: 1 cycle}
  - {bus: pe, width: 128 bit/cycle}
)",
                                           "both.yaml");
  ASSERT_TRUE(hardware) << hardware.error().message;
  RoutedMachine machine(*hardware);
  const MemoryId first = hardware->cores[0].levels[0].memory, last = hardware->cores[2].levels[0].memory;
  const Route bus = machine.routes()[machine.route(first, last)];
  const Route links = machine.routes()[machine.detour(first, last)];
  EXPECT_EQ(bus.bits_per_cycle, 128);
  EXPECT_EQ(bus.latency_cycles, 0);
  EXPECT_EQ(links.bits_per_cycle, 32);
  EXPECT_EQ(links.latency_cycles, 2);
  EXPECT_EQ(machine.least_cycles(first, last, 1280), 10);
}

}  // namespace
}  // namespace monet
