#include "hardware/derive/costs.h"
#include "hardware/support.h"
#include "support/source_folder.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace monet {
namespace {

using test::changed;
using test::memory_named;
using test::must_read;
using test::origin_of;
using test::small_machine;

std::int8_t port(const Level& level, Path path, Transfer transfer) {
  return level.port[static_cast<std::size_t>(path)][static_cast<std::size_t>(transfer)];
}

TEST(HardwareReader, ReadsASmallMachine) {
  const Hardware hardware = must_read(small_machine);
  EXPECT_EQ(hardware.name, "small");
  EXPECT_EQ(hardware.clock_hz, 5e8);
  EXPECT_EQ(hardware.technology_nm, 22);
  ASSERT_EQ(hardware.cores.size(), 1U);
  const Core& core = hardware.cores[0];
  EXPECT_EQ(core.name, "pe");
  EXPECT_EQ(core.type, "pe");
  ASSERT_EQ(core.units.size(), 1U);
  const Unit& array = core.units[0];
  EXPECT_EQ(array.lanes(), 8);
  EXPECT_EQ(array.dimensions[0].name, "K");
  EXPECT_TRUE(array.dimensions[0].loops.empty());
  EXPECT_EQ(array.dimensions[1].loops, (std::vector<Dim>{Dim::C, Dim::FX}));
  EXPECT_EQ(array.cycles[0], 1);
  EXPECT_EQ(array.energy_pj[0], 0.5);
  EXPECT_EQ(array.cycles[static_cast<std::size_t>(Count::add)], 0);
  // 8 products a cycle, 2 operations each, 500 MHz
  EXPECT_EQ(peak_operations(hardware, Count::mac, "int8"), 8e9);

  ASSERT_EQ(hardware.memories.size(), 3U);
  const Memory& sram = memory_named(hardware, "pe/sram");
  EXPECT_EQ(sram.kind, MemoryKind::sram);
  EXPECT_EQ(sram.size_bits, 64 * 1024 * 8);
  EXPECT_EQ(sram.read_pj, 20);
  EXPECT_EQ(sram.ports[0].min_bits, 32);
  EXPECT_EQ(sram.ports[0].max_bits, 256);
  EXPECT_EQ(sram.ports[0].words_per_cycle, 1);
}

TEST(HardwareReader, LevelsPortsAndInstances) {
  const Hardware hardware = must_read(small_machine);
  const Core& core = hardware.cores[0];
  ASSERT_EQ(core.levels.size(), 3U);
  const Level& registers = core.levels[0];
  EXPECT_TRUE(registers.holds(Path::weight));
  EXPECT_FALSE(registers.holds(Path::input));
  EXPECT_EQ(port(registers, Path::weight, Transfer::to_low), 0);
  EXPECT_EQ(port(registers, Path::weight, Transfer::from_high), 1);
  EXPECT_EQ(port(registers, Path::weight, Transfer::from_low), no_port);
  EXPECT_EQ(registers.served, 0U);
  EXPECT_EQ(instances(core, registers), 8);
  const Level& sram = core.levels[1];
  for (const Transfer transfer : {Transfer::from_high, Transfer::to_low, Transfer::from_low, Transfer::to_high}) {
    EXPECT_EQ(port(sram, Path::output, transfer), 0);
  }
  EXPECT_EQ(sram.served, 3U);
  EXPECT_EQ(instances(core, sram), 1);
  EXPECT_EQ(hardware[core.levels[2].memory].name, "dram");
}

TEST(HardwareReader, StatedMovesGoBeforeTheFirstThatFits) {
  const Hardware hardware = must_read(changed(
      "ports: {rw: {width: 32..256 bit/cycle}}",
      "ports: {a: {width: 256 bit/cycle}, b: {kind: read, width: 64 bit/cycle, moves: [weight, output to_high]}}"));
  const Level& sram = hardware.cores[0].levels[1];
  EXPECT_EQ(port(sram, Path::weight, Transfer::to_low), 1);
  EXPECT_EQ(port(sram, Path::weight, Transfer::from_high), 0);
  EXPECT_EQ(port(sram, Path::input, Transfer::to_low), 0);
  EXPECT_EQ(port(sram, Path::output, Transfer::to_high), 1);
  EXPECT_EQ(port(sram, Path::output, Transfer::to_low), 0);
}

TEST(HardwareReader, ServesNamesDimensions) {
  const Hardware hardware = must_read(changed("paths: weight\n", "paths: weight\n        serves: [C]\n"));
  EXPECT_EQ(hardware.cores[0].levels[0].served, 2U);
  EXPECT_EQ(instances(hardware.cores[0], hardware.cores[0].levels[0]), 4);
}

TEST(HardwareReader, RangesInEveryForm) {
  for (const char* form : {"32..256 bit/cycle", "[32 bit/cycle, 256 bit/cycle]", "[32, 256 bit/cycle]",
                           "\"[32, 256] bit/cycle\"", "4..32 B/cycle", "[=32 bit/cycle, =2 * 128 bit/cycle]"}) {
    const Hardware hardware = must_read(changed("32..256 bit/cycle", form));
    const Port& made = memory_named(hardware, "pe/sram").ports.at(0);
    EXPECT_EQ(made.min_bits, 32) << form;
    EXPECT_EQ(made.max_bits, 256) << form;
  }
}

TEST(HardwareReader, BandwidthsThatAreNoWholeNumberOfBits) {
  // 17 MB/s at 500 MHz: 0.272 bit a cycle; a word of 1 bit, or the one that is stated.
  Hardware hardware = must_read(changed("width: 64 bit/cycle", "width: 17 MB/s"));
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].max_bits, 1);
  EXPECT_DOUBLE_EQ(memory_named(hardware, "dram").ports[0].words_per_cycle, 0.272);
  hardware = must_read(changed("width: 64 bit/cycle", "width: 17 MB/s, word: 8..32 bit"));
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].min_bits, 8);
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].max_bits, 32);
  EXPECT_DOUBLE_EQ(memory_named(hardware, "dram").ports[0].bits_per_cycle(), 0.272);
  // 24 GB/s at 500 MHz is 384 bit a cycle.
  hardware = must_read(changed("width: 64 bit/cycle", "width: 24 GB/s"));
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].max_bits, 384);
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].words_per_cycle, 1);
}

TEST(HardwareReader, EnergyOfABitTimesTheWord) {
  const Hardware hardware = must_read(changed("read_energy: 700 pJ", "read_energy: 4 pJ/bit"));
  EXPECT_EQ(memory_named(hardware, "dram").read_pj, 256);
}

TEST(HardwareReader, ClockDomainsBecomeTheReferenceClock) {
  // The core runs at half the reference clock: all its cycles are two of the reference.
  const std::string text = test::with(changed("    array:\n",
                                              "    clock: 250 MHz\n    array:\n      fill: 3\n"
                                              "      cycle_rule: rows * depth\n"),
                                      "size: 64 KiB\n", "size: 64 KiB\n        latency: 5 cycle\n");
  const Hardware hardware = must_read(text);
  const Unit& array = hardware.cores[0].units[0];
  EXPECT_EQ(array.cycles[0], 2);
  EXPECT_EQ(array.fill_cycles, 6);
  EXPECT_EQ(array.cycle_rule->evaluate(std::vector<double>{3, 4}), 24);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "int8"), 4e9);
  const Memory& sram = memory_named(hardware, "pe/sram");
  EXPECT_EQ(sram.latency_cycles, 10);
  EXPECT_EQ(sram.ports[0].max_bits, 256);
  EXPECT_EQ(sram.ports[0].words_per_cycle, 0.5);
  EXPECT_EQ(sram.ports[0].bits_per_cycle(), 128);
  // The system's memory stays in the reference clock.
  EXPECT_EQ(memory_named(hardware, "dram").ports[0].words_per_cycle, 1);
}

TEST(HardwareReader, TimesOfAnotherDomainAreTheSameSeconds) {
  const Hardware hardware = must_read(
      changed("    read_energy: 700 pJ\n", "    read_energy: 700 pJ\n    clock: 200 MHz\n    latency: 100 ns\n"));
  EXPECT_DOUBLE_EQ(memory_named(hardware, "dram").latency_cycles, 50);
  EXPECT_DOUBLE_EQ(memory_named(hardware, "dram").ports[0].bits_per_cycle(), 64 * 200.0 / 500);
}

TEST(HardwareReader, OperationsByKindGroupAndAll) {
  const Hardware hardware = must_read(changed(
      "{mac: {energy: 0.5 pJ}}",
      "{exp: {cycles: 4, energy: 3 pJ}, arithmetic: {cycles: 2, energy: 0.1 pJ}, all: {cycles: 9, energy: 1 pJ}}"));
  const Unit& array = hardware.cores[0].units[0];
  EXPECT_EQ(array.cycles[static_cast<std::size_t>(Count::mac)], 9);
  EXPECT_EQ(array.cycles[static_cast<std::size_t>(Count::add)], 2);
  EXPECT_EQ(array.cycles[static_cast<std::size_t>(Count::move)], 2);
  EXPECT_EQ(array.cycles[static_cast<std::size_t>(Count::exp)], 4);
  EXPECT_EQ(array.energy_pj[static_cast<std::size_t>(Count::exp)], 3);
  EXPECT_EQ(array.energy_pj[static_cast<std::size_t>(Count::divide)], 1);
}

TEST(HardwareReader, PrecisionsRatesAndPeaks) {
  const Hardware hardware = must_read(changed("{mac: {energy: 0.5 pJ}}\n",
                                              "{mac: {energy: 0.5 pJ}}\n      precisions: {int8: {rate: 2, accumulate: "
                                              "int32}, fp16: {rate: 0.5, energy: 3}}\n"));
  const Unit& array = hardware.cores[0].units[0];
  EXPECT_EQ(array.precision("int8")->accumulate, "int32");
  EXPECT_EQ(array.precision("fp16")->energy, 3);
  EXPECT_EQ(array.precision("fp32"), nullptr);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "int8"), 16e9);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "fp16"), 4e9);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "fp32"), 0);
}

TEST(HardwareReader, VectorUnits) {
  const std::string text = changed("    memories:\n      registers:", R"(    vector:
      lanes: 16
      operations: {arithmetic: {cycles: 1, energy: 0.1 pJ}, exp: {cycles: 4, energy: 1 pJ}}
    memories:
      registers:)");
  const Hardware hardware = must_read(text);
  ASSERT_EQ(hardware.cores[0].units.size(), 2U);
  EXPECT_EQ(hardware.cores[0].units[1].lanes(), 16);
  EXPECT_EQ(peak_operations(hardware, Count::exp, ""), 16 * 5e8 / 4);
}

TEST(HardwareReader, RateCores) {
  const Hardware hardware = must_read(R"(
monet: 1
name: m0
clock: 48 MHz
cores:
  mcu:
    rate:
      operations: {all: 6.37 MOP/s, mac: 3.2 MOP/s}
      energy: {all: 1.72 nJ}
      precisions: {fp32: 1, int8: {rate: 4, energy: 0.5}}
)");
  const Core& core = hardware.cores[0];
  ASSERT_TRUE(core.rate);
  EXPECT_TRUE(core.units.empty());
  EXPECT_EQ(core.rate->operations_per_s[static_cast<std::size_t>(Count::mac)], 3.2e6);
  EXPECT_EQ(core.rate->operations_per_s[static_cast<std::size_t>(Count::exp)], 6.37e6);
  EXPECT_EQ(core.rate->energy_pj[static_cast<std::size_t>(Count::exp)], 1720);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "fp32"), 6.4e6);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "int8"), 25.6e6);
}

TEST(HardwareReader, PrecisionsOfRateCoresMayStateKinds) {
  const Hardware hardware = must_read(R"(
monet: 1
name: m0
clock: 48 MHz
cores:
  mcu:
    rate:
      operations: {all: 1 MOP/s, exp: 0.1 MOP/s}
      energy: {exp: 3 nJ}
      power: 66 mW
      precisions:
        fp32: 1
        int8: {rate: 2, energy: 0.25, operations: {mac: 6 MOP/s, exp: 4 MOP/s}, operation_energy: {exp: 7 pJ}}
        int16: {rate: 3}
)");
  const Rate& rate = *hardware.cores[0].rate;
  const auto mac = static_cast<std::size_t>(Count::mac), exp = static_cast<std::size_t>(Count::exp),
             add = static_cast<std::size_t>(Count::add);
  // Power x time where no energy is stated.
  EXPECT_DOUBLE_EQ(rate.energy_pj[mac], 66e9 / 1e6);
  EXPECT_DOUBLE_EQ(rate.energy_pj[exp], 3000);
  const KindRates bytes = rate.in(1);
  EXPECT_EQ(bytes.operations_per_s[mac], 6e6);
  EXPECT_DOUBLE_EQ(bytes.energy_pj[mac], 66e9 / 6e6);
  EXPECT_EQ(bytes.operations_per_s[exp], 4e6);
  EXPECT_EQ(bytes.energy_pj[exp], 7);
  // What it does not state is that of the core, by the factors.
  EXPECT_EQ(bytes.operations_per_s[add], 2e6);
  EXPECT_DOUBLE_EQ(bytes.energy_pj[add], 66e9 / 1e6 / 4);
  EXPECT_EQ(rate.in(2).operations_per_s[mac], 3e6);
  EXPECT_EQ(peak_operations(hardware, Count::mac, "int8"), 12e6);
}

TEST(HardwareReader, AnEnergyForEachCycleOfARule) {
  const std::string rule = "      cycle_rule: rows * depth\n      energy_per_cycle: 180 pJ/cycle\n";
  EXPECT_EQ(must_read(changed("    array:\n", "    array:\n" + rule)).cores[0].units[0].energy_pj_per_cycle, 180);
  // A cycle of half the reference clock is two of its cycles.
  const Hardware slower = must_read(changed("    array:\n", "    clock: 250 MHz\n    array:\n" + rule));
  EXPECT_EQ(slower.cores[0].units[0].energy_pj_per_cycle, 90);
}

TEST(HardwareReader, AGangIsTheOutermostDimension) {
  std::string text = changed("    array:\n", "    gang: 6\n    static_power: 1 W\n    array:\n");
  text = test::with(text, "size: 64 KiB\n", "size: 64 KiB\n        serves: [all, gang]\n");
  const Hardware hardware = must_read(text);
  const Core& core = hardware.cores[0];
  EXPECT_EQ(core.units[0].dimensions.back().name, "gang");
  EXPECT_EQ(core.units[0].lanes(), 48);
  EXPECT_EQ(instances(core, core.levels[0]), 48);
  EXPECT_EQ(instances(core, core.levels[1]), 1);
  EXPECT_EQ(instances(core, core.levels[2]), 1);
  EXPECT_EQ(core.static_w, 6);
  // Left out, a memory feeds one member of the gang.
  text = changed("    array:\n", "    gang: 6\n    array:\n");
  EXPECT_EQ(instances(must_read(text).cores[0], must_read(text).cores[0].levels[1]), 6);
}

TEST(HardwareReader, EffectsAreOnUnlessSwitchedOff) {
  EXPECT_EQ(must_read(small_machine).effects, Effects{});
  const Hardware hardware = must_read("effects: {fill_drain: false, network_energy: false}\n" + small_machine);
  EXPECT_FALSE(hardware.effects.fill_drain);
  EXPECT_FALSE(hardware.effects.network_energy);
  EXPECT_TRUE(hardware.effects.static_energy);
}

TEST(HardwareReader, EveryValueHasASource) {
  const Hardware hardware = must_read(
      test::with("source: a paper\nconfidence: A\n" + small_machine, "    read_energy: 700 pJ",
                 "    source: a data sheet\n    read_energy: {value: 700 pJ, source: \"table 3\", confidence: C}"));
  const Origin* origin = origin_of(hardware, "core pe: memory sram", "read_energy");
  ASSERT_NE(origin, nullptr);
  EXPECT_EQ(origin->source, "a paper");
  EXPECT_EQ(origin->confidence, 'A');
  EXPECT_EQ(origin->value, "20 pJ");
  EXPECT_FALSE(origin->derived);
  origin = origin_of(hardware, "memory dram", "read_energy");
  EXPECT_EQ(origin->source, "table 3");
  EXPECT_EQ(origin->confidence, 'C');
  // A block that states a source without a confidence does not take over the other source's.
  origin = origin_of(hardware, "memory dram", "write_energy");
  EXPECT_EQ(origin->source, "a data sheet");
  EXPECT_EQ(origin->confidence, '-');
  // What is left out is listed too.
  origin = origin_of(hardware, "core pe: memory sram", "latency");
  ASSERT_NE(origin, nullptr);
  EXPECT_TRUE(origin->derived);
  EXPECT_EQ(origin->source, "left out: counted as 0");
}

TEST(HardwareReader, CostsLeftOutComeFromTheTable) {
  const Hardware hardware = must_read(changed("        read_energy: 20 pJ\n        write_energy: 25 pJ\n", ""));
  const SramCosts costs = sram_costs(65536, 256, 22);
  const Memory& sram = memory_named(hardware, "pe/sram");
  EXPECT_EQ(sram.read_pj, costs.read_pj.value);
  EXPECT_EQ(sram.write_pj, costs.write_pj.value);
  EXPECT_EQ(sram.static_w, costs.static_w.value);
  EXPECT_EQ(sram.area_mm2, costs.area_mm2.value);
  const Origin* origin = origin_of(hardware, "core pe: memory sram", "read_energy");
  ASSERT_NE(origin, nullptr);
  EXPECT_TRUE(origin->derived);
  EXPECT_EQ(origin->source, costs.read_pj.source);
  EXPECT_EQ(origin->confidence, costs.read_pj.confidence);
}

TEST(HardwareReader, OperationsAndDramLeftOutComeFromTheTable) {
  std::string text = changed("{mac: {energy: 0.5 pJ}}\n", "{mac: 1 cycle}\n      precisions: {fp32: 1, int8: 4}\n");
  text = test::with(text, "    read_energy: 700 pJ\n    write_energy: 750 pJ\n", "    type: LPDDR4\n");
  const Hardware hardware = must_read(text);
  const auto fp32 = operation_pj(Count::mac, "fp32", "", 22);
  const auto int8 = operation_pj(Count::mac, "int8", "", 22);
  ASSERT_TRUE(fp32 && int8);
  const Unit& array = hardware.cores[0].units[0];
  EXPECT_EQ(array.energy_pj[0], fp32->value);
  EXPECT_DOUBLE_EQ(array.precision("int8")->energy, int8->value / fp32->value);
  const auto dram = dram_costs("LPDDR4");
  ASSERT_TRUE(dram);
  EXPECT_EQ(memory_named(hardware, "dram").read_pj, dram->read_pj_per_bit.value * 64);
  EXPECT_EQ(memory_named(hardware, "dram").write_pj, dram->write_pj_per_bit.value * 64);
  EXPECT_TRUE(origin_of(hardware, "core pe: array", "mac energy")->derived);
}

TEST(HardwareReader, ReadsTheExampleOfTheManual) {
  std::ifstream file(test::source_folder() / "docs" / "hardware.md");
  const std::string manual((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string fence = "```yaml\n";
  const std::size_t start = manual.find(fence);
  ASSERT_NE(start, std::string::npos);
  const std::size_t from = start + fence.size();
  const Hardware hardware = must_read(manual.substr(from, manual.find("```", from) - from));
  EXPECT_EQ(hardware.cores.size(), 17U);
  EXPECT_EQ(hardware.links.size(), 25U);  // 24 of a 4 x 4 mesh, and the bus
  EXPECT_EQ(hardware[hardware.cores[5].levels[2].link].name, "memory_bus");
}

TEST(HardwareReader, StorageBelongsToTheMachine) {
  const Hardware hardware = must_read(changed("cores:\n", R"(  flash:
    kind: storage
    size: 32 GiB
    page: 4 KiB
    ports: {r: {kind: read, width: 23 MB/s}, w: {kind: write, width: 17 MB/s}}
    read_latency: 109 us
    write_latency: 113 us
cores:
)"));
  const Memory& flash = memory_named(hardware, "flash");
  EXPECT_EQ(flash.page_bits, 32768);
  EXPECT_EQ(flash.read_latency_cycles, 54500);
  EXPECT_EQ(flash.write_latency_cycles, 56500);
}

}  // namespace
}  // namespace monet
