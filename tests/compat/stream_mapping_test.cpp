// Are Stream's mappings read, in both generations?
#include "compat/import/stream_mapping.h"

#include "support/expect_error.h"
#include "support/shared.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using test::expect_error;
using ::testing::ElementsAre;
using Parts = StreamTiling::Parts;

Expected<StreamMapping> read_mapping(const std::string& text) {
  const auto document = parse_foreign_yaml(text, "m.yaml");
  if (!document) return document.error();
  return read_stream_mapping(*document);
}

StreamTiling cut(const char* loop, std::int64_t count) {
  return {.layer = "", .loop = loop, .parts = Parts::number, .count = count};
}

TEST(StreamMapping, by_layer_operator_and_default) {
  const auto mapping = read_mapping(R"(- name: default
  core_allocation: [0, 1]
  intra_core_tiling: ["D, all"]
  inter_core_tiling: ["K, *"]
- name: Conv
  core_allocation: [2]
  inter_core_tiling:
    - K, 4
  spatial_mapping: {D1: ["K, 32"], D3: ["C, 2", "FX, 3"]}
- name: /layer1/Conv
)");
  ASSERT_TRUE(mapping) << mapping.error().text();
  const StreamLayer& rest = *mapping->find("x", "Gemm");
  EXPECT_EQ(rest.name, "default");
  EXPECT_THAT(rest.cores, ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(rest.intra_core[0].parts, Parts::all);
  EXPECT_EQ(rest.inter_core[0][0].parts, Parts::any);
  const StreamLayer& conv = *mapping->find("x", "Conv");
  EXPECT_THAT(conv.inter_core, ElementsAre(ElementsAre(cut("K", 4))));
  ASSERT_EQ(conv.spatial.size(), 3U);
  EXPECT_THAT(conv.spatial[2],
              ElementsAre(std::pair<std::string, std::int64_t>{"C", 2}, std::pair<std::string, std::int64_t>{"FX", 3}));
  EXPECT_EQ(mapping->find("/layer1/Conv", "Conv")->name, "/layer1/Conv");
  EXPECT_THAT(mapping->find("/layer1/Conv", "Conv")->cores, ElementsAre(ElementsAre(0)));
}

TEST(StreamMapping, newer_generation) {
  const auto mapping = read_mapping(R"(layers:
- name: Left
  core_allocation: [[0, 1], [2, 3]]
  inter_core_tiling: [[{dim: D2, split: 2}], [{dim: D1, split: 2}]]
- name: Right
  core_allocation: [[4]]
fused_groups:
- name: Both
  layers: [Left, Right]
  intra_core_tiling:
  - {dim: Left.D0, tile: 256}
)");
  ASSERT_TRUE(mapping) << mapping.error().text();
  EXPECT_THAT(mapping->layers[0].cores, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(mapping->layers[0].inter_core, ElementsAre(ElementsAre(cut("D2", 2)), ElementsAre(cut("D1", 2))));
  ASSERT_EQ(mapping->fused_groups.size(), 1U);
  const StreamTiling& tile = mapping->fused_groups[0].intra_core[0];
  EXPECT_EQ(tile.layer, "Left");
  EXPECT_EQ(tile.loop, "D0");
  EXPECT_TRUE(tile.size_given);
  EXPECT_EQ(tile.count, 256);
  EXPECT_EQ(mapping->find("Other", "Gemm"), nullptr);
}

TEST(StreamMapping, its_own_files) {
  MONET_SHARED_OR_SKIP(path, "reference/stream/mapping");
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const auto text = read_foreign_text(entry.path());
    ASSERT_TRUE(text);
    const auto mapping = read_mapping(*text);
    ASSERT_TRUE(mapping) << mapping.error().text();
    EXPECT_EQ(mapping->layers.size(), 8U);
  }
}

TEST(StreamMapping, errors) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"- nam: x\n", "no key 'nam'", "m.yaml:1:3"},
      {"- core_allocation: [0]\n", "lacks 'name'", "m.yaml:1"},
      {"- {name: x, core_allocation: 0}\n", "must be a list", "m.yaml:1"},
      {"- {name: x, core_allocation: [-1]}\n", "a core of core_allocation", "m.yaml:1:31"},
      {"- {name: x, inter_core_tiling: [\"K\"]}\n", "not a loop and a number", "m.yaml:1"},
      {"- {name: x, inter_core_tiling: [\"K, many\"]}\n", "whole number", "m.yaml:1"},
      {"- {name: x, inter_core_tiling: [\"k, 4\"]}\n", "'k' is not the name of a loop", "m.yaml:1"},
      {"- {name: x, inter_core_tiling: [{dim: K}]}\n", "lacks 'split'", "m.yaml:1"},
      {"- {name: x, inter_core_tiling: [{dim: K, slit: 3}]}\n", "no key 'slit'", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {E1: [\"K, 4\"]}}\n", "no key 'E1'", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"K, all\"]}}\n", "must be a number", "m.yaml:1"},
      {"- {name: x}\n- {name: x}\n", "two entries 'x'", "m.yaml:2"},
      {"[]\n", "no entry", "m.yaml:1"},
      {"3\n", "must be a list", "m.yaml:1"},
      {"layer: []\n", "no key 'layer'", "m.yaml:1"},
      {"fused_groups: []\n", "lacks 'layers'", "m.yaml:1"},
      {"{layers: [{name: x}], fused_groups: [{name: g, layers: [y]}]}\n", "no layer 'y'", "m.yaml:1:57"},
      {"{layers: [{name: x}], fused_groups: [{layers: [x]}]}\n", "lacks 'name'", "m.yaml:1"},
  };
  for (const auto& [text, words, place] : cases) {
    SCOPED_TRACE(text);
    const auto mapping = read_mapping(text);
    ASSERT_FALSE(mapping);
    expect_error(mapping.error(), {words}, place);
  }
}

}  // namespace
}  // namespace monet
