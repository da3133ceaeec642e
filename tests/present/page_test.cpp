// Does a page hold exactly what it was given, whatever stands in it?
#include "present/page/page.h"

#include "explore/toy_space.h"
#include "present/page/page_plans.h"
#include "support/expect_error.h"

#include <monet/report.h>

#include <nlohmann/json.hpp>

namespace monet {
namespace {

using test::expect_error;
using test::Folder;
using test::write_bytes;

constexpr std::string_view html =
    R"(<html><script id="data" type="application/json">/*DATA*/</script><p>after</p></html>)";

// What a browser finds in the element: all up to the first end of a script.
nlohmann::json data_of(const std::string& page) {
  const std::string begin = R"(<script id="data" type="application/json">)", end = "</script";
  const std::size_t from = page.find(begin) + begin.size();
  const std::size_t to = page.find(end, from);
  EXPECT_NE(to, std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(page.substr(from, to - from), nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << page;
  return json;
}

nlohmann::json data_of(const PageContent& content) {
  const auto page = page_of(content, html);
  EXPECT_TRUE(page) << page.error().text();
  EXPECT_TRUE(page->starts_with("<html><script")) << *page;
  EXPECT_TRUE(page->ends_with("</script><p>after</p></html>")) << *page;
  return data_of(*page);
}

TEST(Page, HoldsWhatItWasGiven) {
  const std::string result = R"({
    "schema": 1, "text": "a \"quoted\" \\ word,  two  blanks\t\n", "list": [1, 2.5e-3, -7, 12345678901234567890],
    "none": null, "yes": true
  })";
  const nlohmann::json data =
      data_of({.title = "a title", .evaluations = {{"one", result, R"({"machine": {"x": 1}, "y": []})"}}});
  EXPECT_EQ(data["schema"], 1);
  EXPECT_EQ(data["title"], "a title");
  EXPECT_TRUE(data["program"].get<std::string>().starts_with("monet "));
  ASSERT_EQ(data["evaluations"].size(), 1U);
  EXPECT_EQ(data["evaluations"][0]["result"], nlohmann::json::parse(result));
  EXPECT_EQ(data["evaluations"][0]["name"], "one");
  EXPECT_EQ(data["evaluations"][0]["machine"]["x"], 1);
  EXPECT_EQ(data["evaluations"][0]["y"], nlohmann::json::array());
  for (const char* absent : {"comparison", "plans", "exploration", "precisions"}) EXPECT_FALSE(data.contains(absent));
}

TEST(Page, OfSeveralParts) {
  const nlohmann::json data = data_of({.evaluations = {{"a", "{}", ""}, {"b", "{}", "{ }"}},
                                       .comparison = R"({"rows": []})",
                                       .plans = R"({"plans": [1]})",
                                       .exploration = R"({"shown": 3})",
                                       .precisions = R"({"rows": [2]})"});
  ASSERT_EQ(data["evaluations"].size(), 2U);
  EXPECT_EQ(data["evaluations"][1], (nlohmann::json{{"name", "b"}, {"result", nlohmann::json::object()}}));
  EXPECT_EQ(data["comparison"]["rows"], nlohmann::json::array());
  EXPECT_EQ(data["plans"]["plans"], nlohmann::json::array({1}));
  EXPECT_EQ(data["exploration"]["shown"], 3);
  EXPECT_EQ(data["precisions"]["rows"], nlohmann::json::array({2}));
}

TEST(Page, CannotBeBrokenOutOf) {
  for (const std::string& name : {std::string("</script><script>alert(1)</script>"), std::string("<!--<script>"),
                                  std::string("]]>&lt;"), std::string("/*DATA*/"), std::string("\\u003c/script>")}) {
    const nlohmann::json named = {{"name", name}, {name, name}};
    const PageContent content{.title = name,
                              .evaluations = {{name, named.dump(), named.dump()}},
                              .comparison = named.dump(),
                              .plans = named.dump()};
    const auto page = page_of(content, html);
    ASSERT_TRUE(page);
    EXPECT_EQ(page->find("<script>alert"), std::string::npos);
    EXPECT_EQ(page->find("<!--"), std::string::npos);
    const nlohmann::json data = data_of(*page);
    EXPECT_EQ(data["title"], name);
    EXPECT_EQ(data["evaluations"][0]["result"], named);
    EXPECT_EQ(data["comparison"], named);
  }
}

TEST(Page, OfNamesThatAreNoText) {
  const nlohmann::json data = data_of({.title = "a \xff b", .evaluations = {{"\xc3", "{}", ""}}});
  EXPECT_EQ(data["title"], "a \xef\xbf\xbd b") << "the mark for what cannot be read";
  EXPECT_EQ(data["evaluations"][0]["name"], "\xef\xbf\xbd");
}

TEST(Page, WhatDetailsSayDoesNotReplaceTheResult) {
  const nlohmann::json data =
      data_of({.evaluations = {{"own", R"({"a": 1})", R"({"result": {"a": 2}, "name": "other"})"}}});
  EXPECT_EQ(data["evaluations"][0]["result"]["a"], 1);
  EXPECT_EQ(data["evaluations"][0]["name"], "own");
}

TEST(Page, NeedsATemplateWithOneMark) {
  for (const char* wrong : {"<html></html>", "/*DATA*/ /*DATA*/", ""}) {
    const auto page = page_of({}, wrong);
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().kind, ErrorKind::defect);
  }
  if (has_report_page()) {
    EXPECT_TRUE(page_of({}));
    EXPECT_NE(page_template().find(R"(<script id="data" type="application/json">/*DATA*/</script>)"),
              std::string::npos);
  } else {
    expect_error(page_of({}).error(), {"this build of monet has no report page"});
  }
}

Optimization two_plans() {
  Optimization result{.model = "net", .hardware = "machine", .memory = "dram", .objective = "latency", .clock_hz = 1e9};
  result.start.latency_cycles = 30;
  result.plans = {
      {.latency_cycles = 10, .plan_file = "out/plan_000.yaml", .plan_yaml = "plan: 1\n"},
      {.latency_cycles = 20, .recomputed = {"relu"}, .plan_file = "out/plan_001.yaml", .plan_yaml = "plan: 2\n"}};
  return result;
}

TEST(PagePlans, OfASearchHaveThePlans) {
  const nlohmann::json json = nlohmann::json::parse(plans_of(two_plans()));
  EXPECT_EQ(json["command"], "optimize");
  EXPECT_EQ(json["clock_hz"], 1e9);
  EXPECT_EQ(json["start"]["latency_cycles"], 30);
  ASSERT_EQ(json["plans"].size(), 2U);
  EXPECT_EQ(json["plans"][1]["plan_yaml"], "plan: 2\n");
  EXPECT_EQ(json["plans"][1]["recomputed"], nlohmann::json::array({"relu"}));

  Checkpointing checkpointing{.model = "net", .hardware = "machine"};
  checkpointing.all_kept.latency_cycles = 7;
  checkpointing.plans = {{.latency_cycles = 9, .plan_yaml = "plan: 3\n"}};
  const nlohmann::json kept = nlohmann::json::parse(plans_of(checkpointing));
  EXPECT_EQ(kept["command"], "checkpoint");
  EXPECT_EQ(kept["clock_hz"], nullptr);
  EXPECT_EQ(kept["start"]["latency_cycles"], 7);
  EXPECT_FALSE(kept.contains("all_kept"));
  EXPECT_EQ(kept["plans"][0]["plan_yaml"], "plan: 3\n");
}

TEST(PagePlans, OfAFolderAreThoseBesideIt) {
  const Folder folder;
  write_bytes(folder / "result.json", to_json(two_plans()));
  write_bytes(folder / "plan_000.yaml", "plan: \xff\n");
  const auto file = read_result(folder / "");
  ASSERT_TRUE(file) << file.error().text();
  const auto plans = plans_of_file(*file);
  ASSERT_TRUE(plans) << plans.error().text();
  const nlohmann::json json = nlohmann::json::parse(*plans);
  EXPECT_EQ(json["plans"][0]["plan_yaml"], "plan: \xef\xbf\xbd\n");
  EXPECT_FALSE(json["plans"][1].contains("plan_yaml")) << "it is not there";
  EXPECT_EQ(json["start"]["latency_cycles"], 30);
}

TEST(PagePlans, OfADamagedFile) {
  const auto error = [](const std::string& plans) {
    const auto file = result_from(R"({"schema": 1, "command": "optimize", "plans": )" + plans + "}", "result.json");
    const auto text = plans_of_file(*file);
    EXPECT_FALSE(text) << plans;
    return text ? Error{} : text.error();
  };
  expect_error(error("7"), {"\"plans\" is a number, not a list"}, "result.json");
  expect_error(error("[{}]"), {"\"plans[0].latency_cycles\" is missing"}, "result.json");
  expect_error(error(R"([{"latency_cycles": 1, "energy_pj": "x"}])"), {"\"plans[0].energy_pj\" is a text"});
  expect_error(error(R"([{"latency_cycles": 1, "energy_pj": 1, "peak_bytes": 1, "plan_file": 1}])"),
               {"\"plans[0].plan_file\" is a number"});
}

class ReportInputs : public testing::Test {
 protected:
  Error error_of(const ReportOptions& options) const {
    const auto page = report_page(options);
    EXPECT_FALSE(page);
    return page ? Error{} : page.error();
  }
  Folder folder_;
};

TEST_F(ReportInputs, AreOneOrTwoThatExist) {
  expect_error(error_of({}), {"0 inputs"}, "monet report");
  expect_error(error_of({.inputs = {"a", "b", "c"}}), {"3 inputs"}, "monet report");
  expect_error(error_of({.inputs = {folder_ / "none"}}), {"there is no such file or folder"}, folder_ / "none");
  expect_error(error_of({.inputs = {folder_ / ""}}), {"there is no result.json in this folder"}, folder_ / "");
}

TEST_F(ReportInputs, OfOtherCommandsHaveNoPage) {
  write_bytes(folder_ / "map.json", R"({"schema": 1, "command": "map"})");
  expect_error(error_of({.inputs = {folder_ / "map.json"}}), {"no report of `monet map`"}, folder_ / "map.json");
  write_bytes(folder_ / "e.json", R"({"schema": 1, "command": "evaluate"})");
  expect_error(error_of({.inputs = {folder_ / "e.json"}}), {"\"latency_cycles\" is missing"}, folder_ / "e.json");
  expect_error(error_of({.inputs = {folder_ / "map.json", folder_ / "e.json"}}), {"`monet map`"}, folder_ / "map.json");
  expect_error(error_of({.inputs = {folder_ / "e.json"}, .objectives = {"latency"}}), {"no store"}, "--objectives");
}

TEST_F(ReportInputs, OfAnExplorationNameTheirStore) {
  write_bytes(folder_ / "front.json", R"({"schema": 1, "command": "explore", "store": "gone.sqlite"})");
  expect_error(error_of({.inputs = {folder_ / ""}}), {"'gone.sqlite'", "not here"}, "front.json");
  write_bytes(folder_ / "front.json", R"({"schema": 1, "command": "explore"})");
  expect_error(error_of({.inputs = {folder_ / ""}}), {"which store"}, "front.json");
  test::filled_store(folder_ / "toy.sqlite", 3);
  expect_error(error_of({.inputs = {folder_ / "toy.sqlite", folder_ / "toy.sqlite"}}), {"not stores"}, "monet report");
  expect_error(error_of({.inputs = {folder_ / "toy.sqlite"}, .objectives = {"latencie"}}), {"latencie"});
}

}  // namespace
}  // namespace monet
