// Which ports and links the ways between memories take, and what they take of them.
#include "evaluate/machine/machine.h"

#include "hardware/reader.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

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

const Channel& port_on(const Machine& machine, const Route& route, MemoryId memory) {
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
  Machine machine(hardware);
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
  Machine machine(hardware);
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

}  // namespace
}  // namespace monet
