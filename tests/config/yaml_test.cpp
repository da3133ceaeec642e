#include "config/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

std::string yaml_problem(const std::string& text) {
  const auto tree = parse_yaml(text, "m.yaml");
  return tree ? "no error" : tree.error().text();
}

TEST(Yaml, PlacesCountFromOne) {
  const auto tree = parse_yaml("a: 1\nb: {c: x, d: [1, 2]}\n", "m.yaml");
  ASSERT_TRUE(tree);
  EXPECT_EQ((*tree)->find("b")->find("c")->place.text(), "m.yaml:2:8");
  EXPECT_EQ((*tree)->find("b")->entry("d")->place.text(), "m.yaml:2:11");
  EXPECT_EQ((*tree)->find("b")->find("d")->items[1]->place.text(), "m.yaml:2:18");
  EXPECT_EQ((*tree)->size, 7U);
}

TEST(Yaml, AliasesAndMergeKeys) {
  const auto tree =
      parse_yaml("base: &b {x: 1, y: 2}\nmade: {<<: *b, y: 3}\nsame: *b\nmany: {<<: [{x: 5}, *b]}\n", "m.yaml");
  ASSERT_TRUE(tree) << tree.error().text();
  EXPECT_EQ((*tree)->find("made")->find("x")->scalar, "1");
  EXPECT_EQ((*tree)->find("made")->find("y")->scalar, "3");
  EXPECT_EQ((*tree)->find("same")->find("y")->scalar, "2");
  EXPECT_EQ((*tree)->find("many")->find("x")->scalar, "5");
  EXPECT_EQ((*tree)->find("many")->find("y")->scalar, "2");
}

TEST(Yaml, Errors) {
  EXPECT_EQ(yaml_problem("a: 1\nb: 2\na: 3\n"),
            "m.yaml:3:1: the key 'a' occurs twice in this block (remove one of them)");
  EXPECT_EQ(yaml_problem("a: 1\n---\nb: 2\n"),
            "m.yaml:2:1: a second document (a hardware file holds one: remove the line ---)");
  EXPECT_EQ(yaml_problem("? [a, b]\n: 1\n"),
            "m.yaml:1:3: a list or block where a key should be (keys are plain names)");
  EXPECT_EQ(yaml_problem("a: &x 1\n*x : 2\n"), "m.yaml:2:1: an alias where a key should be (write the key out)");
  EXPECT_EQ(yaml_problem("a: &x [*x]\n"), "m.yaml:1:8: an alias inside of what it stands for (write the value out)");
  EXPECT_EQ(yaml_problem("a: {<<: 3}\n"), "m.yaml:1:9: << merges blocks of keys only (give it an alias of a block)");
  EXPECT_EQ(yaml_problem("a: !python/object 3\n"),
            "m.yaml:1:4: a tag '!python/object' (tags mean nothing here: remove it)");
  EXPECT_EQ(yaml_problem("a: {~: 3}\n"), "m.yaml:1:5: a key is missing (write key: value)");
  EXPECT_EQ(yaml_problem(""), "m.yaml: the file is empty (see docs/hardware.md for an example)");
  EXPECT_EQ(yaml_problem(std::string("a: \0", 4)),
            "m.yaml: the file is not text (this does not look like a hardware file)");
  EXPECT_THAT(yaml_problem("a: [1, 2\n"), testing::StartsWith("m.yaml:2:1: not YAML: "));
  EXPECT_THAT(yaml_problem("a: *nothing\n"), testing::StartsWith("m.yaml:1:4: not YAML: "));
  EXPECT_THAT(yaml_problem("width: [64, 512] bit/cycle\n"),
              testing::HasSubstr("(a range with a unit is written 64..512 bit/cycle)"));
  EXPECT_THAT(yaml_problem("p: {width: [64, 512] bit/cycle}\n"),
              testing::HasSubstr("(a range with a unit is written 64..512 bit/cycle)"));
}

TEST(Yaml, TextsThatGrowEnd) {
  // Each line is ten times the one before: 10^9 values, were they written out.
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 1; k < 10; ++k) bomb += "," + before;
    bomb += "]\n";
  }
  EXPECT_THAT(yaml_problem(bomb), testing::HasSubstr("more than 200000 values, aliases written out"));
  EXPECT_THAT(yaml_problem("a: " + std::string(100, '[') + std::string(100, ']')),
              testing::HasSubstr("blocks nested deeper than 32"));
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_THAT(yaml_problem(deep), testing::HasSubstr("blocks nested deeper than 32"));
  EXPECT_THAT(yaml_problem(std::string(max_yaml_bytes + 1, ' ')), testing::HasSubstr("larger than 4 MiB"));
}

TEST(Yaml, ShownTextIsShortAndPlain) {
  EXPECT_EQ(shown("a\nb"), "a b");
  EXPECT_EQ(shown(std::string(100, 'x')), std::string(60, 'x') + "…");
}

}  // namespace
}  // namespace monet
