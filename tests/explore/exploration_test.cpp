// Do the reports of a store say what is in it?
#include "explore/summary.h"
#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <monet/explore.h>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace monet {
namespace {

using explore::Design;
using explore::Outcome;
using test::filled_store;
using test::Folder;
using test::toy_outcome;

class StoreReport : public testing::Test {
 protected:
  StoreReport() { filled_store(path_, 60); }

  std::string written(Status (*writer)(const std::string&, const WriteText&)) const {
    std::string text;
    const Status status = writer(path_, [&](const std::string& piece) -> Status {
      text += piece;
      return Done{};
    });
    EXPECT_TRUE(status) << status.error().text();
    return text;
  }

  Folder folder_;
  std::string path_ = folder_ / "toy.sqlite";
};

// RFC 4180, by hand.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST_F(StoreReport, CsvHasEveryDesignToTheBit) {
  const auto rows = rows_of(written(write_store_csv));
  ASSERT_EQ(rows.size(), 61U);
  const auto column = [&](const std::string& name) {
    const auto found = std::ranges::find(rows[0], name);
    EXPECT_NE(found, rows[0].end()) << name;
    return static_cast<std::size_t>(found - rows[0].begin());
  };
  const explore::Space space = test::toy_space();
  for (Design design = 0; design < 60; ++design) {
    const auto& row = rows[design + 1];
    ASSERT_EQ(row.size(), rows[0].size());
    const Outcome outcome = toy_outcome(design);
    EXPECT_EQ(row[column("design")], std::to_string(design));
    for (const auto& [name, value] : space.parameters(design)) EXPECT_EQ(row[column(name)], value);
    EXPECT_EQ(row[column("status")], outcome.excluded ? "excluded" : outcome.ran() ? "ran" : "failed");
    if (!outcome.failure.empty()) {
      EXPECT_EQ(row[column("reason")], outcome.failure);
    }
    if (!outcome.ran()) {
      EXPECT_EQ(row[column("energy_pj")], "") << "never a zero";
      continue;
    }
    const auto number = [&](const std::string& name) {
      const std::string& text = row[column(name)];
      double value = std::nan("");
      std::from_chars(text.data(), text.data() + text.size(), value);
      return value;
    };
    EXPECT_EQ(number("area_mm2"), outcome.area_mm2);
    EXPECT_EQ(number("training.latency_s"), outcome.workloads[1].latency_s);
    EXPECT_EQ(number("inference.energy_pj"), outcome.workloads[0].energy_pj);
    EXPECT_EQ(row[column("inference.peak_bytes")], std::to_string(outcome.workloads[0].peak_bytes));
  }
}

TEST_F(StoreReport, JsonLinesHaveEveryDesignToTheBit) {
  const std::string text = written(write_store_json_lines);
  std::size_t at = 0;
  for (Design design = 0; design < 60; ++design) {
    const std::size_t end = text.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const nlohmann::json line = nlohmann::json::parse(text.substr(at, end - at));
    at = end + 1;
    const Outcome outcome = toy_outcome(design);
    EXPECT_EQ(line["index"], design);
    EXPECT_TRUE(line["design"]["x"].is_number_integer() && line["design"]["pe_memory"].is_string());
    EXPECT_EQ(line.contains("reason"), !outcome.ran());
    EXPECT_EQ(line.contains("metrics"), outcome.ran());
    if (outcome.ran()) {
      EXPECT_EQ(line["workloads"]["training"]["latency_s"], outcome.workloads[1].latency_s);
    }
  }
  EXPECT_EQ(at, text.size());
}

TEST_F(StoreReport, AWriterThatFailsEndsIt) {
  int pieces = 0;
  const Status status = write_store_csv(path_, [&](const std::string&) -> Status {
    if (++pieces == 3) return Error{.message = "the disk is full"};
    return Done{};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the disk is full");
  EXPECT_EQ(pieces, 3);
}

TEST_F(StoreReport, ShowCountsAndJudges) {
  const auto shown = show_store({.store = path_});
  ASSERT_TRUE(shown) << shown.error().text();
  std::uint64_t ran = 0, failed = 0, excluded = 0;
  for (Design design = 0; design < 60; ++design) {
    const Outcome outcome = toy_outcome(design);
    ++(outcome.excluded ? excluded : outcome.ran() ? ran : failed);
  }
  EXPECT_EQ(shown->seen, 60U);
  EXPECT_EQ(shown->space_size, 60U);
  EXPECT_EQ(shown->evaluated, ran);
  EXPECT_EQ(shown->failed, failed);
  EXPECT_EQ(shown->excluded, excluded);
  std::uint64_t listed = 0;
  for (const auto& [reason, designs] : shown->failures) listed += designs;
  EXPECT_EQ(listed, failed + excluded);
  EXPECT_EQ(shown->objectives, (std::vector<std::string>{"latency", "energy"}));
  ASSERT_FALSE(shown->front.empty());
  EXPECT_EQ(shown->sensitivities.size(), 6U);
  ASSERT_EQ(shown->correlations.size(), 2U);
  EXPECT_EQ(shown->correlations[0].designs, ran);
  EXPECT_GT(shown->hypervolume, 0);
  EXPECT_LE(shown->hypervolume, 1);

  const nlohmann::json json = nlohmann::json::parse(to_json(*shown));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["evaluated"], ran);
  EXPECT_EQ(json["failed"], failed);
  EXPECT_TRUE(json.contains("designs_per_s"));
  ASSERT_EQ(json["front"].size(), shown->front.size());
  EXPECT_EQ(json["front"][0]["design"].size(), 3U);
  EXPECT_EQ(json["front"][0]["metrics"]["energy_pj"], shown->front[0].metrics[1].second);

  const std::string text = to_text(*shown, {.front = 2}).plain();
  for (const char* words : {"60 of 60 designs seen (100%)", "The front in latency, energy", "--front 0 shows all",
                            "share of variance", "rank correlation", "area <= 50 mm2 does not hold"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST_F(StoreReport, ObjectivesCanBeOthers) {
  const auto shown = show_store({.store = path_, .objectives = {"energy@training", "area", "utilization"}});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->objectives, (std::vector<std::string>{"energy@training", "area", "utilization"}));
  for (const DesignResult& result : shown->front) {
    const Outcome outcome = toy_outcome(result.design);
    EXPECT_EQ(result.objectives[0], outcome.workloads[1].energy_pj);
    EXPECT_GE(result.objectives[2], 0) << "as a person reads it";
  }
  const auto wrong = show_store({.store = path_, .objectives = {"latencie"}});
  ASSERT_FALSE(wrong);
  test::expect_error(wrong.error(), {"latencie"});
}

TEST(FailureReasons, ThatDifferInNumbersAreOne) {
  const explore::Space space = test::toy_space();
  std::vector<Outcome> outcomes;
  for (Design design = 0; design < 5; ++design)
    outcomes.push_back({.design = design, .failure = fmt::format("conv1 needs {}.5 MiB", design)});
  outcomes.push_back({.design = 9, .failure = "area <= 50 mm2"});
  Exploration exploration;
  analyse(outcomes, space, space.objectives, 0, exploration);
  using Failures = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(exploration.failures, (Failures{{"conv1 needs … MiB", 5}, {"area <= 50 mm2", 1}}));
  EXPECT_TRUE(exploration.front.empty());
  EXPECT_NE(to_text(exploration, {}).plain().find("6 of 60 designs seen (10%): 0 ran"), std::string::npos);
}

TEST(ObjectiveText, HasTheUnitOfItsMetric) {
  EXPECT_EQ(objective_text("latency@training", 0.0125), "12.5 ms");
  EXPECT_EQ(objective_text("energy", 2.5e9), "2.5 mJ");
  EXPECT_EQ(objective_text("energy", 0.5), "0.5 pJ");
  EXPECT_EQ(objective_text("edp", 2e12), "2 J s");
  EXPECT_EQ(objective_text("area", 12.25), "12.25 mm²");
  EXPECT_EQ(objective_text("memory", 3 << 20), "3 MiB");
  EXPECT_EQ(objective_text("utilization", 0.125), "12.5 %");
}

TEST(ExplorationStore, WithoutResultsIsShown) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 0);
  }
  const auto shown = show_store({.store = path});
  ASSERT_TRUE(shown);
  EXPECT_EQ(shown->hypervolume, 0);
  EXPECT_FALSE(to_text(*shown, {}).empty());
}

}  // namespace
}  // namespace monet
