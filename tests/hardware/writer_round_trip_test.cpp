// Does reading what was written give the same machine?
#include "compat/import/import.h"
#include "hardware/reader.h"
#include "hardware/writer.h"

#include "compat/import_files.h"
#include "support/shared.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using test::all_files;
using test::import_from;

void expect_same(const Memory& a, const Memory& b) {
  SCOPED_TRACE(a.name);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.size_bits, b.size_bits);
  EXPECT_EQ(a.read_pj, b.read_pj);
  EXPECT_EQ(a.write_pj, b.write_pj);
  EXPECT_EQ(a.latency_cycles, b.latency_cycles);
  EXPECT_EQ(a.double_buffered, b.double_buffered);
  EXPECT_EQ(a.page_bits, b.page_bits);
  EXPECT_EQ(a.network_pj_per_bit, b.network_pj_per_bit);
  EXPECT_EQ(a.static_w, b.static_w);
  EXPECT_EQ(a.area_mm2, b.area_mm2);
  ASSERT_EQ(a.ports.size(), b.ports.size());
  for (std::size_t i = 0; i < a.ports.size(); ++i) {
    EXPECT_EQ(a.ports[i].name, b.ports[i].name);
    EXPECT_EQ(a.ports[i].kind, b.ports[i].kind);
    EXPECT_EQ(a.ports[i].min_bits, b.ports[i].min_bits);
    EXPECT_EQ(a.ports[i].max_bits, b.ports[i].max_bits);
    EXPECT_EQ(a.ports[i].words_per_cycle, b.ports[i].words_per_cycle);
  }
}

void expect_same(const Unit& a, const Unit& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(a.energy_pj, b.energy_pj);
  EXPECT_EQ(a.fill_cycles, b.fill_cycles);
  EXPECT_EQ(a.area_mm2, b.area_mm2);
  ASSERT_EQ(a.dimensions.size(), b.dimensions.size());
  for (std::size_t i = 0; i < a.dimensions.size(); ++i) {
    EXPECT_EQ(a.dimensions[i].name, b.dimensions[i].name);
    EXPECT_EQ(a.dimensions[i].size, b.dimensions[i].size);
    EXPECT_EQ(a.dimensions[i].loops, b.dimensions[i].loops);
  }
}

std::string end_name(const Hardware& hardware, const End& end) {
  return end.core.valid() ? hardware[end.core].name : hardware[end.memory].name;
}

// Memories may be numbered otherwise: they are compared where they are used.
void expect_same(const Hardware& a, const Hardware& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.clock_hz, b.clock_hz);
  EXPECT_EQ(a.technology_nm, b.technology_nm);
  EXPECT_EQ(a.effects, b.effects);
  EXPECT_EQ(a.notes, b.notes);
  EXPECT_EQ(a.memories.size(), b.memories.size());
  ASSERT_EQ(a.cores.size(), b.cores.size());
  for (std::size_t i = 0; i < a.cores.size(); ++i) {
    const Core& x = a.cores[i];
    const Core& y = b.cores[i];
    SCOPED_TRACE(x.name);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.operators, y.operators);
    EXPECT_EQ(x.dataflow, y.dataflow);
    EXPECT_EQ(x.static_w, y.static_w);
    EXPECT_EQ(x.area_mm2, y.area_mm2);
    ASSERT_EQ(x.units.size(), y.units.size());
    for (std::size_t u = 0; u < x.units.size(); ++u) expect_same(x.units[u], y.units[u]);
    ASSERT_EQ(x.levels.size(), y.levels.size());
    for (std::size_t l = 0; l < x.levels.size(); ++l) {
      EXPECT_EQ(x.levels[l].port, y.levels[l].port);
      EXPECT_EQ(x.levels[l].served, y.levels[l].served);
      EXPECT_EQ(x.levels[l].link.valid(), y.levels[l].link.valid());
      expect_same(a[x.levels[l].memory], b[y.levels[l].memory]);
    }
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    const Link& x = a.links[i];
    const Link& y = b.links[i];
    SCOPED_TRACE(x.name);
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.kind, y.kind);
    EXPECT_EQ(x.both_ways, y.both_ways);
    EXPECT_EQ(x.bits_per_cycle, y.bits_per_cycle);
    EXPECT_EQ(x.energy_pj_per_bit, y.energy_pj_per_bit);
    EXPECT_EQ(x.energy_pj_per_cycle, y.energy_pj_per_cycle);
    ASSERT_EQ(x.ends.size(), y.ends.size());
    for (std::size_t e = 0; e < x.ends.size(); ++e) {
      EXPECT_EQ(end_name(a, x.ends[e]), end_name(b, y.ends[e]));
      if (x.ends[e].memory.valid() && y.ends[e].memory.valid()) expect_same(a[x.ends[e].memory], b[y.ends[e].memory]);
    }
  }
}

void expect_round_trip(const Hardware& hardware) {
  const std::string text = to_yaml(hardware);
  const auto again = read_hardware_text(text, "written.yaml");
  ASSERT_TRUE(again) << again.error().text() << "\n" << text;
  expect_same(hardware, *again);
  EXPECT_EQ(to_yaml(*again), text);
}

TEST(WriterRoundTrip, small_files) {
  for (const char* file : {"small.yaml", "system.yaml", "newer.yaml"}) {
    SCOPED_TRACE(file);
    const auto hardware = import_from(all_files(), file);
    ASSERT_TRUE(hardware) << hardware.error().text();
    expect_round_trip(*hardware);
  }
}

TEST(WriterRoundTrip, everything_that_can_be_imported) {
  for (const char* folder : {"reference/zigzag/hardware", "reference/stream/hardware"}) {
    MONET_SHARED_OR_SKIP(path, folder);
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      SCOPED_TRACE(entry.path());
      const auto hardware = import_hardware(entry.path());
      ASSERT_TRUE(hardware) << hardware.error().text();
      expect_round_trip(*hardware);
    }
  }
}

TEST(WriterRoundTrip, operators_of_a_mapping) {
  MONET_SHARED_OR_SKIP(path, "reference/stream");
  const auto hardware =
      import_hardware(path / "hardware/tpu_like_quad_core.yaml", {.mapping = path / "mapping/tpu_like_quad_core.yaml"});
  ASSERT_TRUE(hardware) << hardware.error().text();
  expect_round_trip(*hardware);
}

}  // namespace
}  // namespace monet
