// Are ZigZag's mapping files read, and wrong ones explained?
#include "mapping/mapping_file.h"

#include "support/expect_error.h"
#include "support/shared.h"

#include <gmock/gmock.h>

namespace monet {
namespace {

using test::expect_error;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Unrolled = std::pair<std::string, double>;
using Ordered = MappingFile::OrderedLoop;

TEST(MappingFile, entries) {
  const auto file = read_mapping_text(R"(- name: default
  spatial_mapping: {D1: ["K, 32"], D2: ["C, 2", "FX, 3"]}
  memory_operand_links: {O: O, W: I1, I: I2}
- name: Conv
  spatial_mapping:
  spatial_mapping_hint: {D1: [K, OX], D3: [C]}
  temporal_ordering: [[OX, 112], [K, "*"], ["*", "*"], [C, 4]]
- name: layer7
)",
                                      "m.yaml");
  ASSERT_TRUE(file) << file.error().text();
  const MappingFile::Entry& rest = *file->find("x", "Gemm");
  EXPECT_THAT(rest.spatial,
              ElementsAre(ElementsAre(Unrolled("K", 32)), ElementsAre(Unrolled("C", 2), Unrolled("FX", 3))));
  EXPECT_THAT(rest.order, IsEmpty());
  EXPECT_THAT(rest.memory_operands, ElementsAre("I2", "I1", "O"));
  const MappingFile::Entry& conv = *file->find("x", "Conv");
  EXPECT_THAT(conv.spatial, IsEmpty());
  EXPECT_THAT(conv.hints, ElementsAre(ElementsAre("K", "OX"), IsEmpty(), ElementsAre("C")));
  EXPECT_THAT(conv.order, ElementsAre(Ordered{"OX", 112}, Ordered{"K", {}}, Ordered{}, Ordered{"C", 4}));
  EXPECT_THAT(conv.memory_operands, ElementsAre("I1", "I2", "O"));
  EXPECT_EQ(file->find("layer7", "Conv")->name, "layer7");
  EXPECT_EQ(file->find("layer7", "Conv")->place, "m.yaml:8:3");
}

TEST(MappingFile, no_default) {
  const auto file = read_mapping_text("- name: Conv\n", "m.yaml");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->find("x", "Gemm"), nullptr);
}

TEST(MappingFile, zigzags_own) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag/mapping");
  const auto tpu = read_mapping_file(path / "tpu_like.yaml");
  ASSERT_TRUE(tpu) << tpu.error().text();
  EXPECT_THAT(tpu->find("", "Conv")->spatial,
              ElementsAre(ElementsAre(Unrolled("K", 32)), ElementsAre(Unrolled("C", 32))));
  EXPECT_THAT(tpu->find("", "Add")->spatial,
              ElementsAre(ElementsAre(Unrolled("G", 32)), ElementsAre(Unrolled("C", 1))));
  EXPECT_THAT(tpu->find("example_name_of_layer0", "")->order,
              ElementsAre(Ordered{"OX", 112}, Ordered{"OY", 112}, Ordered{"FX", 7}, Ordered{"FY", 7}, Ordered{"K", 2}));
  const auto gemm = read_mapping_file(path / "gemm_l1.yaml");
  ASSERT_TRUE(gemm) << gemm.error().text();
  EXPECT_THAT(gemm->entries[0].spatial, ElementsAre(ElementsAre(Unrolled("D0", 8)), ElementsAre(Unrolled("D2", 8)),
                                                    ElementsAre(Unrolled("D1", 8))));
  EXPECT_THAT(gemm->entries[0].order, ElementsAre(Ordered{"D1", {}}, Ordered{"D2", {}}, Ordered{"D0", {}}));
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    const auto file = read_mapping_file(entry.path());
    EXPECT_TRUE(file) << file.error().text();
  }
}

TEST(MappingFile, errors) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"name: x\n", "must be a list", "m.yaml:1:1"},
      {"[]\n", "no entry", "m.yaml:1"},
      {"- {name: x, spatial_maping: {}}\n", "no key 'spatial_maping'", "m.yaml:1:13"},
      {"- {spatial_mapping: {}}\n", "lacks 'name'", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D17: [\"K, 4\"]}}\n", "no key 'D17'", "m.yaml:1:31"},
      {"- {name: x, spatial_mapping: {D1: \"K, 4\"}}\n", "must be a list", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"K\"]}}\n", "not a loop and a size", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"K, 0\"]}}\n", "size of 'K'", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"K, 1e15\"]}}\n", "larger than 2^40", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"k, 2\"]}}\n", "'k' is not the name of a loop", "m.yaml:1"},
      {"- {name: x, spatial_mapping: {D1: [\"K, 2\", \"K, 3\"]}}\n", "unrolled twice", "m.yaml:1"},
      {"- {name: x, spatial_mapping_hint: {D1: [\"K, 2\"]}}\n", "'K, 2' is not the name", "m.yaml:1"},
      {"- {name: x, temporal_ordering: [K]}\n", "not a name and a size", "m.yaml:1"},
      {"- {name: x, temporal_ordering: [[K, -1]]}\n", "size of a loop", "m.yaml:1:37"},
      {"- {name: x, temporal_ordering: [[\"*\", 2]]}\n", "cannot have a size", "m.yaml:1"},
      {"- {name: x, memory_operand_links: {O: O, W: I2}}\n", "lacks 'I'", "m.yaml:1"},
      {"- {name: x, memory_operand_links: {O: O, W: I3, I: I1}}\n", "no memory operand 'I3'", "m.yaml:1"},
      {"- {name: x, memory_operand_links: {O: O, W: I1, I: I1}}\n", "same memory operand", "m.yaml:1"},
      {"- {name: x, memory_operand_links: {O: O, W: I1, V: I1}}\n", "no key 'V'", "m.yaml:1"},
      {"- {name: x}\n- {name: x}\n", "two entries 'x'", "m.yaml:2"},
  };
  for (const auto& [text, words, place] : cases) {
    SCOPED_TRACE(text);
    const auto file = read_mapping_text(text, "m.yaml");
    ASSERT_FALSE(file);
    expect_error(file.error(), {words}, place);
  }
  EXPECT_FALSE(read_mapping_file("no/such/file.yaml"));
}

TEST(MappingFile, dimensions_that_the_array_lacks) {
  const auto file = read_mapping_text("- {name: x, spatial_mapping: {D3: [\"K, 4\"]}}\n", "m.yaml");
  ASSERT_TRUE(file);
  EXPECT_TRUE(check_dimensions(file->entries[0], 3));
  expect_error(check_dimensions(file->entries[0], 2).error(), {"D3", "2 dimensions"}, "m.yaml:1");
}

}  // namespace
}  // namespace monet
