// Is a plan file read as it is written, and does each mistake in one get a message that helps?
#include "evaluate/plan/reader.h"

#include "support/expect_error.h"
#include "support/folder.h"

#include <monet/plan.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace monet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string whole_plan = R"(plan: 1
graph: 0123456789abcdef0123456789abcdef
hardware: 00112233445566778899aabbccddeeff
order: listed
transfers: memory
stacks:
  - {name: stem, operators: [conv1, relu], tile: {OY: 4, A12: 2}}
  - [fc]
operators:
  conv1: {tile: {OY: 4}, split: {K: 4, OX: 2}, cores: [pe0_0, "pe1_*"], priority: 3.5}
  "layer*": {cores: "pe*"}
  "odd: name~1": {}
tensors:
  relu_out: recompute
  conv2_out: {page: flash}
  x: keep
  y: {keep: chip0/dram}
)";

Error plan_error(const std::string& text) {
  const auto plan = plan_from(text, "p.yaml");
  EXPECT_FALSE(plan.has_value()) << text;
  return plan ? Error() : plan.error();
}

void expect_wrong_plan(const std::string& lines, const std::vector<std::string>& words, const std::string& place,
                       const std::string& advice = {}) {
  const Error error = plan_error("plan: 1\n" + lines);
  test::expect_error(error, words, place);
  EXPECT_THAT(error.advice, HasSubstr(advice)) << error.text();
}

TEST(PlanReader, ReadsAllThatAPlanCanSay) {
  const auto plan = plan_from(whole_plan, "p.yaml");
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_EQ(plan->graph_hash, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(plan->graph_place.text(), "p.yaml:2:8");
  EXPECT_EQ(plan->hardware_hash, "00112233445566778899aabbccddeeff");
  EXPECT_EQ(plan->order, PlanOrder::listed);
  EXPECT_EQ(plan->transfers, PlanTransfers::memory);
  ASSERT_EQ(plan->stacks.size(), 2U);
  EXPECT_EQ(plan->stacks[0].name, "stem");
  EXPECT_THAT(plan->stacks[0].operators, ElementsAre("conv1", "relu"));
  EXPECT_THAT(plan->stacks[0].tile, ElementsAre(LoopSize{Dim::OY, 4}, LoopSize{generic_dim(12), 2}));
  EXPECT_EQ(plan->stacks[0].place.text(), "p.yaml:7:5");
  EXPECT_THAT(plan->stacks[1].operators, ElementsAre("fc"));
  ASSERT_EQ(plan->operators.size(), 3U);
  EXPECT_THAT(plan->operators[0].tile, ElementsAre(LoopSize{Dim::OY, 4}));
  EXPECT_THAT(plan->operators[0].split, ElementsAre(LoopSize{Dim::K, 4}, LoopSize{Dim::OX, 2}));
  EXPECT_THAT(plan->operators[0].cores, ElementsAre("pe0_0", "pe1_*"));
  EXPECT_EQ(plan->operators[0].priority, 3.5);
  EXPECT_EQ(plan->operators[0].place.text(), "p.yaml:10:3");
  EXPECT_THAT(plan->operators[1].cores, ElementsAre("pe*"));
  EXPECT_EQ(plan->operators[2].name, "odd: name~1");
  EXPECT_THAT(plan->operators[2].cores, IsEmpty());
  ASSERT_EQ(plan->tensors.size(), 4U);
  EXPECT_EQ(plan->tensors[0].retention, Retention::recompute);
  EXPECT_EQ(plan->tensors[1].retention, Retention::page);
  EXPECT_EQ(plan->tensors[1].memory, "flash");
  EXPECT_EQ(plan->tensors[2].retention, Retention::keep);
  EXPECT_EQ(plan->tensors[2].memory, "");
  EXPECT_EQ(plan->tensors[3].memory, "chip0/dram");
}

void expect_same(const Plan& a, const Plan& b) {
  EXPECT_EQ(a.graph_hash, b.graph_hash);
  EXPECT_EQ(a.hardware_hash, b.hardware_hash);
  EXPECT_EQ(a.order, b.order);
  EXPECT_EQ(a.transfers, b.transfers);
  ASSERT_EQ(a.stacks.size(), b.stacks.size());
  for (std::size_t i = 0; i < a.stacks.size(); ++i) {
    EXPECT_EQ(a.stacks[i].name, b.stacks[i].name);
    EXPECT_EQ(a.stacks[i].operators, b.stacks[i].operators);
    EXPECT_EQ(a.stacks[i].tile, b.stacks[i].tile);
  }
  ASSERT_EQ(a.operators.size(), b.operators.size());
  for (std::size_t i = 0; i < a.operators.size(); ++i) {
    EXPECT_EQ(a.operators[i].name, b.operators[i].name);
    EXPECT_EQ(a.operators[i].tile, b.operators[i].tile);
    EXPECT_EQ(a.operators[i].split, b.operators[i].split);
    EXPECT_EQ(a.operators[i].cores, b.operators[i].cores);
    EXPECT_EQ(a.operators[i].priority, b.operators[i].priority);
  }
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (std::size_t i = 0; i < a.tensors.size(); ++i) {
    EXPECT_EQ(a.tensors[i].name, b.tensors[i].name);
    EXPECT_EQ(a.tensors[i].retention, b.tensors[i].retention);
    EXPECT_EQ(a.tensors[i].memory, b.tensors[i].memory);
  }
}

TEST(PlanWriter, WritesWhatReadsBackEqual) {
  const auto plan = plan_from(whole_plan, "p.yaml");
  ASSERT_TRUE(plan.has_value());
  const auto again = plan_from(to_yaml(*plan), "q.yaml");
  ASSERT_TRUE(again.has_value()) << again.error().text() << to_yaml(*plan);
  expect_same(*plan, *again);
  expect_same({}, *plan_from(to_yaml(Plan{}), "q.yaml"));
}

TEST(PlanWriter, QuotesNamesThatYamlWouldReadAsSomethingElse) {
  Plan plan;
  for (const char* name :
       {"null", "NULL", "~",  "1", "1.5e3", "true", "- a",     "a: b", "a #b", "*x", "&x", "[a]", "{a}", "a\"b",
        "a\\b", "a\nb", "\t", " ", "it's",  "<<x",  "Ünïcode", "a,b",  "?",    "!x", "%",  "@",   "|"}) {
    plan.operators.push_back({.name = name, .tile = {}, .split = {}, .cores = {name}, .priority = -0.1, .place = {}});
    plan.tensors.push_back({.name = name, .retention = Retention::page, .memory = name, .place = {}});
    plan.stacks.push_back({.name = name, .operators = {name, "x"}, .tile = {}, .place = {}});
  }
  plan.operators.push_back(
      {.name = std::string(max_plan_name, '\n'), .tile = {}, .split = {}, .cores = {}, .priority = {}, .place = {}});
  const auto again = plan_from(to_yaml(plan), "q.yaml");
  ASSERT_TRUE(again.has_value()) << again.error().text();
  expect_same(plan, *again);
}

TEST(PlanReader, SaysWhatIsWrongAndWhere) {
  expect_wrong_plan("odrer: graph\n", {"unknown key 'odrer'"}, "p.yaml:2:1", "did you mean 'order'");
  expect_wrong_plan("order: grpah\n", {"'order' cannot be 'grpah'"}, "p.yaml:2:8", "did you mean 'graph'");
  expect_wrong_plan("order: [graph]\n", {"'order' is a list"}, "p.yaml:2:8", "critical-path");
  expect_wrong_plan("transfers: direkt\n", {"'transfers' cannot be"}, "p.yaml:2:12", "did you mean 'direct'");
  expect_wrong_plan("order:\n", {"'order' has no value"}, "p.yaml:2:1");
  expect_wrong_plan("graph: 12\n", {"'graph' is no content hash"}, "p.yaml:2:8", "32 hexadecimal digits");
  expect_wrong_plan("stacks: conv1\n", {"'stacks' is one value"}, "p.yaml:2:9", "a list");
  expect_wrong_plan("stacks: [conv1]\n", {"a stack is one value"}, "p.yaml:2:10", "[conv1, relu1]");
  expect_wrong_plan("stacks: [[]]\n", {"a stack without operators"}, "p.yaml:2:10");
  expect_wrong_plan("stacks: [{name: a}]\n", {"a stack without operators"}, "p.yaml:2:10");
  expect_wrong_plan("stacks: [[[a]]]\n", {"an item of a stack is a list"}, "p.yaml:2:11", "a name");
  expect_wrong_plan("stacks: [{operator: [a]}]\n", {"unknown key 'operator' in a stack"}, "p.yaml:2:11", "'operators'");
  expect_wrong_plan("stacks: [{operators: [a], name: [b]}]\n", {"'name' of a stack is a list"}, "p.yaml:2:33");
  expect_wrong_plan("operators: [a]\n", {"'operators' is a list"}, "p.yaml:2:12", "a name for each operator");
  expect_wrong_plan("operators: {a: 4}\n", {"operator 'a' is one value"}, "p.yaml:2:16",
                    "tile, split, cores, priority");
  expect_wrong_plan("operators: {a: {core: x}}\n", {"unknown key 'core'"}, "p.yaml:2:17", "did you mean 'cores'");
  expect_wrong_plan("operators: {a: {cores: []}}\n", {"names none"}, "p.yaml:2:24");
  expect_wrong_plan("operators: {a: {tile: 4}}\n", {"'tile' of operator 'a' is one value"}, "p.yaml:2:23", "{OY: 4");
  expect_wrong_plan("operators: {a: {tile: {OU: 4}}}\n", {"there is no loop 'OU'"}, "p.yaml:2:24", "did you mean");
  expect_wrong_plan("operators: {a: {tile: {OY: x}}}\n", {"'x' is not a whole number"}, "p.yaml:2:28", "from 1 to");
  expect_wrong_plan("operators: {a: {tile: {OY: 1.5}}}\n", {"not a whole number"}, "p.yaml:2:28");
  expect_wrong_plan("operators: {a: {tile: {OY: [1]}}}\n", {"is a list"}, "p.yaml:2:28");
  expect_wrong_plan("operators: {a: {tile: {OY: 0}}}\n", {"cannot be 0"}, "p.yaml:2:28", "from 1 to");
  expect_wrong_plan("operators: {a: {split: {OY: -3}}}\n", {"cannot be -3"}, "p.yaml:2:29", "from 1 to");
  expect_wrong_plan("operators: {a: {tile: {OY: 99999999999999999999}}}\n", {"cannot be 9999"}, "p.yaml:2:28");
  expect_wrong_plan("operators: {a: {priority: high}}\n", {"'high' is not a number"}, "p.yaml:2:27");
  expect_wrong_plan("operators: {a: {priority: inf}}\n", {"'inf' is not a number"}, "p.yaml:2:27");
  expect_wrong_plan("operators: {a: {priority: [1]}}\n", {"is a list"}, "p.yaml:2:27", "a number");
  expect_wrong_plan("tensors: keep\n", {"'tensors' is one value"}, "p.yaml:2:10", "a name for each tensor");
  expect_wrong_plan("tensors: {a: recompote}\n", {"tensor 'a' cannot be 'recompote'"}, "p.yaml:2:14", "'recompute'");
  expect_wrong_plan("tensors: {a: page}\n", {"not where to"}, "p.yaml:2:14", "{page: MEMORY}");
  expect_wrong_plan("tensors: {a: {pages: x}}\n", {"unknown key 'pages'"}, "p.yaml:2:15", "did you mean 'page'");
  expect_wrong_plan("tensors: {a: {}}\n", {"kept and paged, or neither"}, "p.yaml:2:14", "{page: MEMORY}");
  expect_wrong_plan("tensors: {a: {page: [x]}}\n", {"'page' of tensor 'a' is a list"}, "p.yaml:2:21",
                    "a memory's name");
  expect_wrong_plan("tensors: {a: [keep]}\n", {"tensor 'a' is a list"}, "p.yaml:2:14", "keep, recompute, page");
}

TEST(PlanReader, NeedsAVersionThatItKnows) {
  test::expect_error(plan_error("order: graph\n"), {"the version of the format is missing"}, "p.yaml:1:1");
  test::expect_error(plan_error("plan: 2\n"), {"there is no version '2'"}, "p.yaml:1:7");
  test::expect_error(plan_error("- a\n"), {"a plan is a list"}, "p.yaml:1:1");
}

TEST(PlanReader, SaysWhatIsNotYaml) {
  test::expect_error(plan_error(""), {"empty"}, "p.yaml");
  EXPECT_THAT(plan_error("").advice, HasSubstr("docs/plans.md"));
  EXPECT_THAT(plan_error(std::string("plan: 1\0", 8)).advice, HasSubstr("does not look like a plan"));
  test::expect_error(plan_error("plan: [1\n"), {"not YAML"}, "p.yaml:");
  test::expect_error(plan_error("plan: 1\nplan: 1\n"), {"'plan' occurs twice"}, "p.yaml:2:1");
  test::expect_error(plan_error("plan: 1\n---\nplan: 1\n"), {"a second document"}, "p.yaml:");
}

TEST(PlanReader, LimitsSizes) {
  const std::string name(max_plan_name + 1, 'a');
  expect_wrong_plan("stacks: [[" + name + "]]\n", {"characters"}, "p.yaml:2:11", "at most 1000");
  expect_wrong_plan("operators:\n  ? " + name + "\n  : {}\n", {"characters"}, "p.yaml:3:5", "at most 1000");
  std::string patterns = "operators:\n";
  for (std::size_t i = 0; i <= max_plan_patterns; ++i) patterns += "  \"a" + std::to_string(i) + "*\": {}\n";
  expect_wrong_plan(patterns, {"more than 1000 patterns"}, "p.yaml:1003:3");
  std::string values = "stacks:\n";
  for (std::size_t i = 0; i < max_plan_values / 2; ++i) values += "- [a]\n";
  expect_wrong_plan(values, {"more than 500000 values"}, "p.yaml:", "patterns");
  const Error large = plan_error("plan: 1\n#" + std::string(max_plan_bytes, ' '));
  test::expect_error(large, {"larger than 16 MiB"}, "p.yaml");
}

TEST(PlanReader, ReadsFiles) {
  const auto absent = read_plan("no-such-folder/plan.yaml");
  ASSERT_FALSE(absent.has_value());
  test::expect_error(absent.error(), {"cannot open"}, "no-such-folder/plan.yaml");
  const test::Folder folder;
  const std::string path = folder / "plan.yaml";
  std::ofstream(path) << whole_plan;
  const auto plan = read_plan(path);
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  EXPECT_EQ(plan->stacks.size(), 2U);
  std::ofstream(path) << std::string(max_plan_bytes + 1, '#');
  const auto large = read_plan(path);
  ASSERT_FALSE(large.has_value());
  test::expect_error(large.error(), {"larger than 16 MiB"}, path);
}

TEST(PlanReader, DataMayBeAtHomeInStorage) {
  const auto plain = plan_from("plan: 1\nhome: storage\n", "p.yaml");
  ASSERT_TRUE(plain.has_value()) << plain.error().text();
  EXPECT_EQ(plain->home, "storage");
  EXPECT_EQ(plain->room_bytes, 0);
  EXPECT_FALSE(is_empty(*plain));
  const auto roomy = plan_from("plan: 1\nhome: {memory: sd card, room: 240 KiB}\n", "p.yaml");
  ASSERT_TRUE(roomy.has_value()) << roomy.error().text();
  EXPECT_EQ(roomy->home, "sd card");
  EXPECT_EQ(roomy->room_bytes, 240 * 1024);
  for (const auto& plan : {plain, roomy}) {
    const auto again = plan_from(to_yaml(*plan), "p.yaml");
    ASSERT_TRUE(again.has_value()) << again.error().text();
    EXPECT_EQ(again->home, plan->home);
    EXPECT_EQ(again->room_bytes, plan->room_bytes);
  }
  expect_wrong_plan("home: {room: 2 KiB}\n", {"'home'"}, "p.yaml:2:7", "a memory's name");
  expect_wrong_plan("home: {memory: sd, room: much}\n", {"'room'"}, "p.yaml:2:26", "240 KiB");
  expect_wrong_plan("home: {memory: sd, room: 2 s}\n", {"'room'"}, "p.yaml:2:26", "240 KiB");
  expect_wrong_plan("home: {memory: sd, space: 2 KiB}\n", {"space"}, "p.yaml:2:20");
}

}  // namespace
}  // namespace monet
