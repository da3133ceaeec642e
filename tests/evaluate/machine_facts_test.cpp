// What a machine could do at best: closed forms of the machine of evaluate/account_case.h.
#include "evaluate/run/machine_facts.h"

#include "evaluate/account_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

TEST(MachineFacts, PeakOfAllCores) {
  AccountCase c = account_case();
  EXPECT_EQ(machine_facts(c.step()).peak_macs_per_cycle, 2 * 4);  // one core has an array
  // Twice as many at 8 bits, and one at fp32, in which most MACs are: 2,000 of 2,500.
  c.hardware.cores[0].units[0].precisions = {{.name = "bf16", .rate = 2}, {.name = "fp32", .rate = 0.125}};
  EXPECT_EQ(machine_facts(c.step()).peak_macs_per_cycle, 1);
  c.schedule.costs[2].macs = 5000;
  EXPECT_EQ(machine_facts(c.step()).peak_macs_per_cycle, 2 * 8);
  EXPECT_EQ(macs_by_precision(c.schedule).at("bf16"), 5000);
}

TEST(MachineFacts, RoofsOfWhatCoresShare) {
  AccountCase c = account_case();
  auto roofs = machine_facts(c.step()).roofs;
  // Every memory here is named outside its core; those that no core reaches have no roof.
  std::vector<std::string> names;
  for (const auto& roof : roofs) names.push_back(roof.memory);
  EXPECT_EQ(names[0], "dram");
  EXPECT_EQ(roofs[0].bytes_per_cycle, 8);  // its port: 64 bits; the bus and the card have more
  c.hardware.links[0].bits_per_cycle = 8;
  c.hardware.links[2].bits_per_cycle = 4;
  c.hardware.links[2].both_ways = false;
  EXPECT_EQ(machine_facts(c.step()).roofs[0].bytes_per_cycle, 1.5);  // 8 + 4 bits
  EXPECT_THAT(names, testing::Not(testing::Contains("flash")));
}

TEST(MachineFacts, AMemoryOfOneCoreHasNoRoof) {
  AccountCase c = account_case();
  c.hardware.memories[1].name = "c0/sram";
  c.hardware.memories[2].name = "c1/sram";
  c.hardware.memories[4].name = "c0/registers";
  ASSERT_EQ(machine_facts(c.step()).roofs.size(), 1U);
  c.hardware.cores[1].levels[0].memory = sram0;
  EXPECT_EQ(machine_facts(c.step()).roofs[1].memory, "c0/sram");
  EXPECT_EQ(machine_facts(c.step()).roofs[1].bytes_per_cycle, (1024 + 32 + 32) / 8);
}

TEST(MachineFacts, WhatIsDerivedOnceForEachType) {
  AccountCase c = account_case();
  const Origin read{.part = "core pe: memory sram", .quantity = "read_energy", .value = "4 pJ", .source = "table"};
  Origin derived = read;
  derived.derived = true;
  Origin clock{.part = "", .quantity = "clock", .value = "1 GHz", .source = "usual", .derived = true};
  c.hardware.origins = {read, derived, clock, derived};
  const auto values = machine_facts(c.step()).derived;
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].name, "pe/sram read energy");
  EXPECT_EQ(values[0].value, "4 pJ");
  EXPECT_EQ(values[0].source, "table");
  EXPECT_EQ(values[1].name, "clock");
}

TEST(MachineFacts, VeryManyDerivedValuesAreCutOff) {
  AccountCase c = account_case();
  for (int i = 0; i < 50; ++i) {
    c.hardware.origins.push_back({.part = "memory m" + std::to_string(i), .quantity = "area", .derived = true});
  }
  const auto values = machine_facts(c.step(), 10).derived;
  ASSERT_EQ(values.size(), 10U);
  EXPECT_EQ(values.back().name, "and 41 more");
  EXPECT_EQ(values.back().source, "monet hardware show two --values");
}

}  // namespace
}  // namespace monet
