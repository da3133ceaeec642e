// Does the page of a store hold its designs to the bit, and commands that give them again?
#include "present/page/exploration_page.h"

#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <monet/evaluate.h>
#include <monet/explore.h>
#include <monet/report.h>

#include <nlohmann/json.hpp>

#include <set>

namespace monet {
namespace {

using explore::Design;
using explore::Outcome;
using test::filled_store;
using test::Folder;
using test::toy_outcome;

class StorePage : public testing::Test {
 protected:
  StorePage() { filled_store(path_, 60); }

  nlohmann::json exploration(const std::vector<std::string>& objectives = {}) const {
    const auto content = content_of_store(path_, objectives);
    EXPECT_TRUE(content) << content.error().text();
    EXPECT_EQ(content->title, "toy");
    return nlohmann::json::parse(content->exploration);
  }

  Folder folder_;
  std::string path_ = folder_ / "toy.sqlite";
};

std::size_t metric(const nlohmann::json& data, const std::string& name, const std::string& workload) {
  for (std::size_t i = 0; i < data["metrics"].size(); ++i) {
    if (data["metrics"][i]["name"] == name && data["metrics"][i]["workload"] == workload) return i;
  }
  ADD_FAILURE() << name << " of " << workload;
  return 0;
}

TEST_F(StorePage, HasEveryDesignThatRan) {
  const nlohmann::json data = exploration();
  const explore::Space space = test::toy_space();
  const nlohmann::json& designs = data["designs"];
  std::vector<Outcome> ran;
  for (Design design = 0; design < 60; ++design) {
    if (toy_outcome(design).ran()) ran.push_back(toy_outcome(design));
  }
  ASSERT_EQ(designs["id"].size(), ran.size());
  EXPECT_EQ(data["shown"], ran.size());
  EXPECT_EQ(data["evaluated"], ran.size());
  ASSERT_EQ(designs["metrics"].size(), data["metrics"].size());
  for (std::size_t row = 0; row < ran.size(); ++row) {
    const Outcome& outcome = ran[row];
    EXPECT_EQ(designs["id"][row], outcome.design);
    const auto chosen = space.chosen(outcome.design);
    for (std::size_t axis = 0; axis < chosen.size(); ++axis) {
      EXPECT_EQ(data["parameters"][axis]["name"], chosen[axis].first);
      const std::size_t place = designs["parameters"][axis][row];
      EXPECT_EQ(data["parameters"][axis]["values"][place], chosen[axis].second);
    }
    const auto value = [&](const char* name, const char* workload) {
      return designs["metrics"][metric(data, name, workload)][row].get<double>();
    };
    EXPECT_EQ(value("area_mm2", ""), outcome.area_mm2);
    EXPECT_EQ(value("latency_s", ""), outcome.workloads[0].latency_s + outcome.workloads[1].latency_s);
    EXPECT_EQ(value("latency_s", "training"), outcome.workloads[1].latency_s);
    EXPECT_EQ(value("energy_pj", "inference"), outcome.workloads[0].energy_pj);
    EXPECT_EQ(value("peak_bytes", "training"), static_cast<double>(outcome.workloads[1].peak_bytes));
    EXPECT_EQ(value("tiles", "training"), static_cast<double>(outcome.workloads[1].tiles));
    EXPECT_EQ(value("recomputed", "inference"), static_cast<double>(outcome.workloads[0].recomputed));
  }
}

TEST_F(StorePage, SaysTheSameAsShow) {
  const auto shown = show_store({.store = path_});
  ASSERT_TRUE(shown);
  const nlohmann::json data = exploration();
  EXPECT_EQ(data["space"], "toy");
  EXPECT_EQ(data["seen"], 60);
  EXPECT_EQ(data["failed"], shown->failed);
  EXPECT_EQ(data["excluded"], shown->excluded);
  EXPECT_EQ(data["hypervolume"], shown->hypervolume);
  EXPECT_EQ(data["sensitivities"].size(), shown->sensitivities.size());
  EXPECT_EQ(data["correlations"].size(), shown->correlations.size());
  EXPECT_EQ(data["failures"].size(), shown->failures.size());
  ASSERT_EQ(data["front"].size(), shown->front.size());
  for (std::size_t i = 0; i < shown->front.size(); ++i) {
    const std::size_t row = data["front"][i];
    EXPECT_EQ(data["designs"]["id"][row], shown->front[i].design);
    for (std::size_t k = 0; k < shown->objectives.size(); ++k) {
      const std::size_t column = data["objectives"][k]["metric"];
      EXPECT_EQ(data["designs"]["metrics"][column][row], shown->front[i].objectives[k]);
    }
  }
}

TEST_F(StorePage, ObjectivesNameTheirColumns) {
  const nlohmann::json data = exploration({"edp@training", "area", "utilization"});
  const nlohmann::json& objectives = data["objectives"];
  ASSERT_EQ(objectives.size(), 3U);
  EXPECT_EQ(objectives[0]["name"], "edp@training");
  EXPECT_EQ(objectives[0]["metric"], metric(data, "edp", "training"));
  EXPECT_EQ(objectives[0]["better"], "less");
  EXPECT_EQ(objectives[1]["metric"], metric(data, "area_mm2", ""));
  EXPECT_EQ(objectives[2]["metric"], metric(data, "utilization", ""));
  EXPECT_EQ(objectives[2]["better"], "more");
  for (const nlohmann::json& each : data["metrics"]) {
    const std::set<std::string> units = {"s", "pJ", "bytes", "mm2", "cycles", ""};
    EXPECT_TRUE(units.contains(each["unit"])) << each;
  }
}

TEST_F(StorePage, IsOneFileWithoutANetwork) {
  if (!has_report_page()) GTEST_SKIP() << "this build has no report page";
  const auto page = exploration_page(path_, {});
  ASSERT_TRUE(page) << page.error().text();
  EXPECT_TRUE(page->starts_with("<!") && page->find("area \\u003c= 50 mm2 does not hold") != std::string::npos);
}

TEST(StorePageEmpty, IsShownToo) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 0);
  }
  const auto content = content_of_store(path, {});
  ASSERT_TRUE(content) << content.error().text();
  const nlohmann::json data = nlohmann::json::parse(content->exploration);
  EXPECT_EQ(data["designs"]["id"], nlohmann::json::array());
  EXPECT_EQ(data["designs"]["parameters"],
            nlohmann::json::array({nlohmann::json::array(), nlohmann::json::array(), nlohmann::json::array()}));
  EXPECT_EQ(data["front"], nlohmann::json::array());
  EXPECT_EQ(data["shown"], 0);
}

TEST_F(StorePage, OfVeryManyShowsTheFrontAndEverySoMany) {
  const nlohmann::json all = exploration();
  const std::vector<Design> ran = all["designs"]["id"];
  std::set<Design> front;
  for (const std::size_t row : all["front"].get<std::vector<std::size_t>>()) front.insert(ran[row]);
  for (const std::size_t most : {1, 2, 7, 20, 1000}) {
    const std::size_t step = std::max<std::size_t>(1, (ran.size() + most - 1) / most);
    std::set<Design> expected = front;
    for (std::size_t i = 0; i < ran.size(); i += step) expected.insert(ran[i]);
    const auto content = content_of_store(path_, {}, 0, most);
    ASSERT_TRUE(content);
    const nlohmann::json data = nlohmann::json::parse(content->exploration);
    EXPECT_EQ(data["designs"]["id"].get<std::vector<Design>>(), std::vector<Design>(expected.begin(), expected.end()));
    EXPECT_EQ(data["shown"], expected.size());
    EXPECT_EQ(data["evaluated"], ran.size());
    std::set<Design> shown_front;
    for (const std::size_t row : data["front"].get<std::vector<std::size_t>>())
      shown_front.insert(data["designs"]["id"][row].get<Design>());
    EXPECT_EQ(shown_front, front);
    EXPECT_EQ(data["sensitivities"], all["sensitivities"]) << "of all, whatever is shown";
  }
}

TEST(DesignCommands, SayWhatTheSpaceSays) {
  const auto first = [](const std::string& text) {
    const DesignCommands found = commands_of(test::toy_space(text));
    return found.commands.empty() ? "" : found.commands.front().second;
  };
  const auto with = [](const std::string& workload, const std::string& more = "") {
    return "space: 1\nname: t\nhardware: edge_tpu\nparameters: {x: [1, 2]}\nworkloads:\n  - " + workload + "\n" + more;
  };
  EXPECT_EQ(first(test::toy_space_text), "monet evaluate mlp-robotics --hardware edge_tpu {set} --inference");
  EXPECT_EQ(first(with("{network: 'mlp-robotics:layers=2,hidden=8', batch: 4, precision: bf16}")),
            "monet evaluate mlp-robotics:layers=2,hidden=8 --batch 4 --hardware edge_tpu {set} --precision bf16");
  EXPECT_EQ(
      first(with("{network: mlp-robotics, optimizer: sgd, loss: mse, freeze: 'layers.0.*', lora: 4}",
                 "off_chip: true\n")),
      "monet evaluate mlp-robotics --hardware edge_tpu {set} --loss mse --optimizer sgd --freeze 'layers.0.*' --lora "
      "4 --off-chip");
  EXPECT_EQ(
      first(with("{network: mlp-robotics}", "plan: {fuse: {limit: 4, objective: energy}}\n")),
      "monet fuse mlp-robotics --hardware edge_tpu {set} --objective energy --limit 4 --no-improve -o plan.yaml && "
      "monet evaluate mlp-robotics --hardware edge_tpu {set} --plan plan.yaml");
  EXPECT_EQ(
      first(with("{network: mlp-robotics}", "plan: {checkpoint: {memory_budget: 80%, evaluations: 30}}\n")),
      "monet checkpoint mlp-robotics --hardware edge_tpu {set} --objective latency --memory-budget 80% --evaluations "
      "30 -o plan.yaml && monet evaluate mlp-robotics --hardware edge_tpu {set} --plan plan.yaml");
}

TEST(DesignCommands, SayWhatIsMissing) {
  const std::string start = "space: 1\nname: t\nworkloads:\n  - {network: mlp-robotics, step: inference}\n";
  const DesignCommands none = commands_of(test::toy_space(
      start + "parameters: {x: [1, 2]}\nhardware: edge_tpu\nplan: {checkpoint: {memory_budget: 80%}}\n"));
  EXPECT_TRUE(none.commands.empty()) << "monet checkpoint is for training";
  ASSERT_EQ(none.notes.size(), 1U);
  EXPECT_NE(none.notes[0].find("there is no command"), std::string::npos);
  const DesignCommands inside =
      commands_of(test::toy_space(
          start + "parameters: {a: [1 MiB, 2 MiB], b: =a * 2}\n"
                  "hardware: {monet: 1, name: own, include: stm32h743, parameters: {a: 1 MiB, b: 1 MiB}}\n"));
  ASSERT_EQ(inside.commands.size(), 1U);
  EXPECT_EQ(inside.commands[0].second,
            "monet evaluate mlp-robotics --hardware machine.yaml {set} --set 'b==a * 2' --inference");
  ASSERT_EQ(inside.notes.size(), 1U);
  EXPECT_NE(inside.notes[0].find("into machine.yaml"), std::string::npos);
}

}  // namespace
}  // namespace monet
