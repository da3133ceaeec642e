// Do the reports of a simulation say what it holds?
#include <monet/simulate.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace monet {
namespace {

std::vector<Simulation> two_runs() {
  Simulation good{.model = "net", .precision = "fp32", .optimizer = "adam", .loss = "cross-entropy", .data = "a, b"};
  good.batch = 4;
  good.steps = 4;
  good.losses = {2, 1.5, 1, 0.5};
  good.measured = {{0, 2.25, 0.25}, {2, 1.25, 0.5}, {4, 0.75, 0.875}};
  Simulation bad = good;
  bad.precision = "my,recipe.yaml";
  bad.losses = {2, 3};
  bad.measured = {{0, 2.5, 0.25}, {3, std::numeric_limits<double>::quiet_NaN(), 0.0}};
  bad.diverged = true;
  return {good, bad};
}

TEST(SimulationReport, InTextComparesWithTheFirst) {
  const std::string text = to_text(two_runs()).plain();
  for (const char* words : {"fp32", "my,recipe.yaml", "0.7500", "87.5 %", "diverged in step 3", "step 2"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("-87.5 %"), std::string::npos) << "nothing is compared with what came apart";
  // Means of the batches up to a step: (2 + 1.5) / 2, and of all four.
  EXPECT_NE(text.find("1.7500"), std::string::npos) << text;
  EXPECT_NE(text.find("1.2500"), std::string::npos) << text;
}

TEST(SimulationReport, InTextComparesOnlyWhatHasAsManySteps) {
  std::vector<Simulation> runs = two_runs();
  runs[1] = runs[0];
  EXPECT_NE(to_text(runs).plain().find("+0.0000"), std::string::npos);
  runs[1].losses.pop_back();
  runs[1].stopped = true;
  const std::string text = to_text(runs).plain();
  EXPECT_NE(text.find("stopped after 3 steps"), std::string::npos) << text;
  EXPECT_EQ(text.find("+0.0"), std::string::npos) << text;
}

TEST(SimulationReport, SaysWhereHardlyAnythingWasLearned) {
  Simulation run = two_runs().front();
  EXPECT_EQ(hardly_learned(run), "") << "no classes";
  run.chance = 0.8;
  EXPECT_NE(hardly_learned(run).find("guessing has 0.8"), std::string::npos) << hardly_learned(run);
  run.chance = 0.9;
  EXPECT_EQ(hardly_learned(run), "");
  run.chance = 0.8;
  run.stopped = true;
  EXPECT_EQ(hardly_learned(run), "");
}

TEST(SimulationReport, InJsonHasNullForWhatIsNoNumber) {
  const auto json = nlohmann::json::parse(to_json(two_runs()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "simulate");
  ASSERT_EQ(json["simulations"].size(), 2U);
  EXPECT_EQ(json["simulations"][0]["losses"], (std::vector<double>{2, 1.5, 1, 0.5}));
  EXPECT_EQ(json["simulations"][0]["measured"][2]["accuracy"], 0.875);
  EXPECT_TRUE(json["simulations"][1]["measured"][1]["loss"].is_null());
  EXPECT_EQ(json["simulations"][1]["diverged"], true);
}

TEST(SimulationReport, InCsvHasALineForEachStep) {
  EXPECT_EQ(to_csv(two_runs()),
            "precision,step,loss,held_out_loss,held_out_accuracy\n"
            "fp32,0,,2.25,0.25\n"
            "fp32,1,2,,\n"
            "fp32,2,1.5,1.25,0.5\n"
            "fp32,3,1,,\n"
            "fp32,4,0.5,0.75,0.875\n"
            "\"my,recipe.yaml\",0,,2.5,0.25\n"
            "\"my,recipe.yaml\",1,2,,\n"
            "\"my,recipe.yaml\",2,3,,\n"
            "\"my,recipe.yaml\",3,,,\n");
}

TEST(SimulationReport, OfNothingIsEmpty) { EXPECT_EQ(to_text(std::vector<Simulation>()).plain(), ""); }

}  // namespace
}  // namespace monet
