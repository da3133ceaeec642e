// The fabric of a machine file: what is read, what is written back, and every message.
#include "hardware/fabric.h"
#include "hardware/opened_preset.h"
#include "hardware/presets.h"
#include "hardware/support.h"
#include "hardware/writer.h"

namespace monet {
namespace {

using test::message_of;
using test::must_read;
using test::small_machine;
using testing::HasSubstr;

std::string with_fabric(const std::string& levels) { return small_machine + "fabric:\n" + levels; }

const std::string two_levels =
    "  - {name: node, chips: 8, width: 450 GB/s, latency: 2 us, start: 12 us, reduces: true, energy: 1.3 pJ/bit, "
    "share: 0.1, algorithms: [tree, in_switch], efficiency: {source: \"a table\", by_size: [1 MiB 0.25, 1 GiB 0.8], "
    "in_switch: [1 MiB 0.2]}}\n"
    "  - {name: net, chips: any, kind: switch, width: 50 GB/s, latency: 5 us, oversubscription: 2}\n";

TEST(HardwareFabric, IsReadAndWrittenBack) {
  const Hardware hardware = must_read(with_fabric(two_levels));
  ASSERT_TRUE(hardware.fabric);
  ASSERT_EQ(hardware.fabric->levels.size(), 2U);
  const FabricLevel& node = hardware.fabric->levels[0];
  EXPECT_EQ(node.chips, 8);
  EXPECT_EQ(node.kind, FabricKind::switched);
  EXPECT_EQ(node.bytes_per_s, 450e9);
  EXPECT_EQ(node.latency_s, 2e-6);
  EXPECT_EQ(node.start_s, 12e-6);
  EXPECT_TRUE(node.reduces);
  EXPECT_EQ(node.energy_pj_per_bit, 1.3);
  EXPECT_EQ(node.chip_share, 0.1);
  EXPECT_EQ(node.algorithms, (std::vector{CollectiveAlgorithm::tree, CollectiveAlgorithm::in_switch}));
  EXPECT_EQ(node.efficiency, (std::vector<WidthShare>{{1 << 20, 0.25}, {1 << 30, 0.8}}));
  EXPECT_EQ(node.efficiency_in_switch, (std::vector<WidthShare>{{1 << 20, 0.2}}));
  const FabricLevel& net = hardware.fabric->levels[1];
  EXPECT_EQ(net.chips, any_chips);
  EXPECT_EQ(net.oversubscription, 2);
  EXPECT_EQ(test::origin_of(hardware, "fabric node", "width")->value, "450 GB/s");
  EXPECT_EQ(*must_read(to_yaml(hardware)).fabric, *hardware.fabric);
  EXPECT_FALSE(must_read(small_machine).fabric);
}

TEST(HardwareFabric, TakesParametersAndOtherKinds) {
  const std::string text =
      "parameters: {nodes: 4}\n" +
      with_fabric(
          "  - {name: ring, chips: 4, kind: ring, width: 10 GB/s}\n"
          "  - {name: torus, chips: \"= 4 * 2 * nodes\", kind: torus, sizes: [2, \"= nodes\"], width: 6 GB/s}\n"
          "  - {name: full, chips: 64, kind: full, width: 8 Gbit/s}\n"
          "  - {name: pod, chips: any, kind: torus, dimensions: 2, width: 1 GB/s}\n");
  EXPECT_EQ(must_read(text).fabric->levels[1].sizes, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(must_read(text).fabric->levels[2].bytes_per_s, 1e9);
  EXPECT_EQ(must_read(text).fabric->levels[3].dimensions, 2);
  EXPECT_EQ(must_read(text, {{{"nodes", "2"}}}).fabric->levels[1].chips, 16);
  EXPECT_EQ(*must_read(to_yaml(must_read(text))).fabric, *must_read(text).fabric);
}

TEST(HardwareFabric, ChipsAreAnotherFileOrBlock) {
  const std::string level = "fabric:\n  - {name: net, chips: any, width: 1 GB/s}\n";
  const Hardware pair = must_read("monet: 1\nname: pair\nchips: {include: h100}\n" + level);
  EXPECT_EQ(pair.name, "pair");
  EXPECT_EQ(pair.cores.size(), test::preset("h100").cores.size());
  EXPECT_EQ(pair.clock_hz, test::preset("h100").clock_hz);
  EXPECT_EQ(test::origin_of(pair, "memory hbm", "size")->confidence, 'B');
  // What the file says of itself comes first.
  const Hardware more =
      must_read("monet: 1\nname: pair\nchips: {include: h100}\nmemories: {hbm: {size: 1 GiB}}\n" + level);
  EXPECT_EQ(test::memory_named(more, "hbm").size_bits, std::int64_t{8} << 30);
  // Levels of an included machine are changed by their names.
  const Hardware slower =
      must_read("monet: 1\nname: slow\ninclude: dgx_h100\nfabric:\n  - {name: ib, width: 25 GB/s}\n");
  ASSERT_EQ(slower.fabric->levels.size(), 2U);
  EXPECT_EQ(slower.fabric->levels[1].bytes_per_s, 25e9);
  EXPECT_EQ(slower.fabric->levels[1].latency_s, 4e-6);
}

TEST(HardwareFabric, Presets) {
  const auto level = [](const char* name, std::size_t l) { return test::preset(name).fabric->levels.at(l); };
  EXPECT_EQ(level("dgx_a100", 0).bytes_per_s, 300e9);
  EXPECT_EQ(level("dgx_a100", 1).bytes_per_s, 25e9);
  EXPECT_EQ(level("dgx_h100", 0).bytes_per_s, 450e9);
  EXPECT_TRUE(level("dgx_h100", 0).reduces);
  EXPECT_EQ(level("dgx_h200", 1).bytes_per_s, 50e9);
  EXPECT_EQ(level("tpu_v4_pod", 0).kind, FabricKind::torus);
  EXPECT_EQ(level("tpu_v5p_pod", 0).bytes_per_s, 600e9);
  EXPECT_EQ(level("orin_pair", 0).bytes_per_s, 1.25e9);
  for (const std::string& name : preset_names()) {
    const Hardware hardware = test::preset(name);
    if (!hardware.fabric) continue;
    EXPECT_EQ(hardware.fabric->levels.back().chips, any_chips) << name;
    for (const Origin& origin : hardware.origins) {
      if (!origin.part.starts_with("fabric ")) continue;
      EXPECT_FALSE(origin.source.empty()) << name << " " << origin.part << " " << origin.quantity;
      EXPECT_NE(origin.confidence, '-') << name << " " << origin.part << " " << origin.quantity;
    }
  }
}

TEST(HardwareFabric, Errors) {
  const auto message = [](const std::string& levels) { return message_of(with_fabric(levels)); };
  const auto one = [&](const std::string& rest) { return message("  - {name: net, width: 1 GB/s, " + rest + "}\n"); };
  EXPECT_THAT(message("  []\n"), HasSubstr("a fabric without levels (write - {name: nvlink"));
  EXPECT_THAT(message("  - {chips: 8}\n"), HasSubstr("m.yaml:34:5: the level has no name (write name: nvlink)"));
  EXPECT_THAT(one("kind: ring"),
              HasSubstr("the level 'net' does not say how many chips lie under it (write chips: any"));
  EXPECT_THAT(one("chips: 1"), HasSubstr("m.yaml:34:39: the level 'net' joins one chip (write all chips"));
  EXPECT_THAT(one("chips: some"), HasSubstr("m.yaml:34:39: 'some' is no number of chips (write a number, or any)"));
  EXPECT_THAT(one("chips: 4, kind: tree"), HasSubstr("cannot be 'tree'"));
  EXPECT_THAT(one("chips: 4, kind: torus"), HasSubstr("a torus of 0 sizes (from 1 to 3: write sizes: [4, 4])"));
  EXPECT_THAT(one("chips: 4, kind: torus, sizes: [2, 3]"),
              HasSubstr("the sizes multiply to 6 chips, not to 4 (correct them, or `chips`)"));
  EXPECT_THAT(one("chips: any, kind: torus, sizes: [2, 2]"), HasSubstr("sizes of a torus of any chips"));
  EXPECT_THAT(one("chips: any, kind: torus"), HasSubstr("a torus of any chips (write dimensions: 3)"));
  EXPECT_THAT(one("chips: 4, kind: torus, dimensions: 2"), HasSubstr("dimensions of a torus of so many chips"));
  EXPECT_THAT(one("chips: 4, sizes: [2, 2]"), HasSubstr("'sizes' on a level that is no torus"));
  EXPECT_THAT(one("chips: 4, kind: ring, reduces: true"), HasSubstr("a ring does not reduce (leave it out)"));
  EXPECT_THAT(one("chips: 4, oversubscription: 0.5"), HasSubstr("'oversubscription' is too small"));
  EXPECT_THAT(one("chips: 4, share: 1"), HasSubstr("a collective that takes the whole chip"));
  EXPECT_THAT(one("chips: 4, latency: 5"), HasSubstr("'5'"));
  EXPECT_THAT(one("chips: 4, algorithms: [bush]"), HasSubstr("there is no algorithm 'bush' (known: ring"));
  EXPECT_THAT(one("chips: 4, algorithms: hierarchical"), HasSubstr("hierarchical is not of one level"));
  EXPECT_THAT(one("chips: 4, algorithms: in_switch"), HasSubstr("in_switch on a level that does not reduce"));
  const auto shares = [&](const std::string& text) { return one("chips: 4, efficiency: {by_size: [" + text + "]}"); };
  EXPECT_THAT(shares("1 MiB"), HasSubstr("'1 MiB' is no size with its share of the width (write by_size: [1 MiB 0.2"));
  EXPECT_THAT(shares("0.5"), HasSubstr("is no size with its share"));
  EXPECT_THAT(shares("2 us 0.5"), HasSubstr("is no size with its share"));
  EXPECT_THAT(shares("1 MiB 1.5"), HasSubstr("a share of 1.5 of the width (above 0 and at most 1)"));
  EXPECT_THAT(shares("2 MiB 0.5, 1 MiB 0.2"), HasSubstr("the size of '1 MiB 0.2' is not above the one before"));
  EXPECT_THAT(shares("1 MiB 0.1, 2 MiB 0.5"), HasSubstr("with '2 MiB 0.5' more bytes take less time"));
  EXPECT_THAT(one("chips: 4, efficiency: {in_switch: [1 MiB 0.5]}"), HasSubstr("a switch that does not reduce"));
  EXPECT_THAT(message("  - {name: net, chips: 4}\n"), HasSubstr("the level 'net' has no width (write width: 50 GB/s)"));
  const auto two = [&](const std::string& first, const std::string& second) {
    return message("  - {name: a, width: 1 GB/s, " + first + "}\n  - {name: b, width: 1 GB/s, " + second + "}\n");
  };
  EXPECT_THAT(two("chips: any", "chips: 8"), HasSubstr("'any' on the level 'a', which is not the outermost"));
  EXPECT_THAT(two("chips: 8", "chips: 8"), HasSubstr("the level 'b' has 8 chips, and each unit below 8"));
  EXPECT_THAT(two("chips: 8", "chips: 12"),
              HasSubstr("12 chips under the level 'b' are no multiple of the 8 below (write a multiple of 8)"));
  EXPECT_THAT(message("  - {name: a, chips: 4, width: 1 GB/s}\n  - {name: a, chips: 8, width: 1 GB/s}\n"),
              HasSubstr("there are two levels 'a'"));
  std::string many;
  for (int i = 1; i <= 7; ++i)
    many += "  - {name: a" + std::to_string(i) + ", chips: " + std::to_string(1 << i) + ", width: 1 GB/s}\n";
  EXPECT_THAT(message(many), HasSubstr("a fabric of 7 levels (at most 6)"));
  EXPECT_THAT(message_of(small_machine + "chips: {include: h100}\n"),
              HasSubstr("chips without a fabric that joins them"));
  EXPECT_THAT(message_of(with_fabric(two_levels) + "chips: 8\n"),
              HasSubstr("'chips' is not a block that describes one chip"));
  EXPECT_THAT(message_of(with_fabric(two_levels) + "chips: {include: dgx_h100}\n"),
              HasSubstr("the chip has a fabric of its own"));
}

}  // namespace
}  // namespace monet
