// Do formats and recipes say what they are, and does a comparison show what failed as failed?
#include "support/expect_error.h"

#include <monet/precision.h>
#include <monet/report.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace monet {
namespace {

using test::expect_error;

Simulation trained(const std::string& recipe, double loss, bool diverged = false) {
  Simulation simulation{.model = "net", .precision = recipe, .optimizer = "adam", .loss = "mse", .data = "made up"};
  simulation.batch = 8;
  simulation.steps = 2;
  simulation.losses = {2.5, 1.5};
  simulation.measured = {{.step = 0, .loss = 3, .accuracy = {}}, {.step = 2, .loss = loss, .accuracy = 0.75}};
  simulation.diverged = diverged;
  return simulation;
}

PrecisionComparison three_recipes() {
  PrecisionComparison comparison{
      .model = "net", .simulate_model = "net", .hardware = "machine", .rows = {}, .loss_tolerance = 0.125};
  comparison.rows.push_back({.recipe = "fp32",
                             .latency_s = 0.5,
                             .energy_pj = 4e6,
                             .peak_bytes = 2048,
                             .static_bytes = 512,
                             .simulation = trained("fp32", 1.25)});
  comparison.rows.push_back({.recipe = "half, \"quoted\"",
                             .latency_s = 0.25,
                             .energy_pj = 1e6,
                             .peak_bytes = 1024,
                             .copy_bytes = 100,
                             .padding_bytes = 7,
                             .simulation = trained("half", std::nan(""), true),
                             .best = true});
  comparison.rows.push_back({.recipe = "none", .failed = "no core can run it", .not_simulated = "too large"});
  return comparison;
}

TEST(PrecisionComparisonOutput, WhatFailedHasNoNumbers) {
  const nlohmann::json json = nlohmann::json::parse(to_json(three_recipes()));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "precision compare");
  const nlohmann::json& failed = json["rows"][2];
  EXPECT_EQ(failed["failed"], "no core can run it");
  EXPECT_EQ(failed["not_simulated"], "too large");
  for (const char* key : {"latency_s", "energy_pj", "peak_bytes", "static_bytes", "saved_bytes", "copy_bytes",
                          "padding_bytes", "quantized_elements", "simulation"})
    EXPECT_TRUE(failed[key].is_null()) << key;
  EXPECT_EQ(json["rows"][0]["energy_pj"], 4e6);
  EXPECT_EQ(json["rows"][0]["simulation"]["measured"][1]["accuracy"], 0.75);
  EXPECT_TRUE(json["rows"][0]["simulation"]["measured"][0]["accuracy"].is_null());
  EXPECT_TRUE(json["rows"][1]["simulation"]["measured"][1]["loss"].is_null()) << "JSON has no such number";
}

TEST(PrecisionComparisonOutput, AsText) {
  const std::string text = to_text(three_recipes()).plain();
  EXPECT_NE(text.find("net on machine"), std::string::npos);
  EXPECT_NE(text.find("2 steps of adam with mse, batch 8"), std::string::npos);
  EXPECT_NE(text.find("diverged"), std::string::npos);
  EXPECT_NE(text.find("-75.00%"), std::string::npos) << "energy against fp32";
  EXPECT_NE(text.find("-50.00%"), std::string::npos) << "memory against fp32";
  EXPECT_NE(text.find("cannot run: none\n  no core can run it"), std::string::npos);
  EXPECT_NE(text.find("not trained: none\n  too large"), std::string::npos);
  EXPECT_NE(text.find("Losses within 0.125 count as equal: so far apart are seeds 0 and 1 of fp32"), std::string::npos);
  EXPECT_EQ(text.find("costed as"), std::string::npos);
}

TEST(PrecisionComparisonOutput, WhatWasCostedInOtherNumbersAndWhatWasStopped) {
  PrecisionComparison comparison = three_recipes();
  comparison.loss_tolerance.reset();
  comparison.rows[0].costed_as = "mxint8";
  comparison.rows[0].simulation->stopped = true;
  const std::string text = to_text(comparison).plain();
  EXPECT_NE(text.find("mxint8"), std::string::npos) << text;
  EXPECT_NE(text.find("costed as: the machine cannot run"), std::string::npos) << text;
  EXPECT_NE(text.find("stopped at 2"), std::string::npos) << text;
  EXPECT_EQ(text.find("1.2500"), std::string::npos) << "no loss of a half-trained recipe" << text;
  EXPECT_NE(text.find("is not known"), std::string::npos) << text;
  EXPECT_NE(to_csv(comparison).find("\nfp32,,mxint8,0,"), std::string::npos);
  const nlohmann::json json = nlohmann::json::parse(to_json(comparison));
  EXPECT_EQ(json["rows"][0]["costed_as"], "mxint8");
  EXPECT_TRUE(json["rows"][1]["costed_as"].is_null());
  EXPECT_TRUE(json["loss_tolerance"].is_null());
}

TEST(PrecisionComparisonOutput, AsCsv) {
  const std::string csv = to_csv(three_recipes());
  EXPECT_NE(csv.find("\nfp32,,,0,0.5,4000000,2048,512,0,0,0,0,2,1.25,0.75,0,0\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n\"half, \"\"quoted\"\"\",,,1,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",2,,,1,0\n"), std::string::npos) << "no loss and no accuracy of what came apart: " << csv;
  EXPECT_NE(csv.find("\nnone,no core can run it,,0,,,,,,,,,,,,,\n"), std::string::npos) << csv;
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  EXPECT_EQ(commas(csv.substr(0, csv.find('\n'))), commas("none,no core can run it,,0,,,,,,,,,,,,,"));
}

TEST(PrecisionComparisonOutput, NothingRan) {
  PrecisionComparison comparison = three_recipes();
  comparison.rows.erase(comparison.rows.begin(), comparison.rows.begin() + 2);
  EXPECT_NE(to_text(comparison).plain().find("cannot run: none"), std::string::npos);
}

TEST(PrecisionFormats, HaveNamesSourcesAndRanges) {
  const std::vector<FormatSummary> formats = number_formats();
  ASSERT_FALSE(formats.empty());
  for (const FormatSummary& format : formats) {
    EXPECT_FALSE(format.source.empty()) << format.name;
    EXPECT_GT(format.largest, format.smallest) << format.name;
    EXPECT_GT(format.smallest, 0) << format.name;
    EXPECT_GE(format.bits, 3) << format.name;
    EXPECT_EQ(format.groups.empty(), format.scale.empty()) << format.name;
  }
}

TEST(PrecisionFormats, OfSharedMicroexponents) {
  // Rouhani et al. 2023, table 1: 9, 6 and 4 bits an element on average.
  const double bits[] = {9, 6, 4};
  const char* const names[] = {"mx9", "mx6", "mx4"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto found = describe_precision(names[i]);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->formats.front().bits, bits[i]);
    EXPECT_EQ(found->formats.front().groups, "16, 2");
    EXPECT_EQ(found->formats.front().scale, "e8m0, 1 bit");
  }
}

TEST(PrecisionFormats, UnknownOnes) {
  const Error near = describe_precision("mxfp9").error();
  expect_error(near, {"there is no recipe and no format 'mxfp9'"});
  EXPECT_EQ(near.advice, "did you mean 'mxfp8'?");
  const Error far = describe_precision("nothing of the kind").error();
  EXPECT_EQ(far.advice, "monet precision list has all; a file of your own ends in .yaml");
  EXPECT_FALSE(describe_precision("absent.yaml"));
  EXPECT_FALSE(describe_precision(""));
}

TEST(ComparePrecisions, FaultsThatAreNoRecipes) {
  PrecisionComparisonOptions options;
  options.accuracy = false;
  EXPECT_FALSE(compare_precisions("no-such-network", "edge_tpu", options));
  EXPECT_FALSE(compare_precisions("mlp-robotics", "no-such-machine", options));
  options.recipes = {"fp32", "mxfp9"};
  expect_error(compare_precisions("mlp-robotics", "edge_tpu", options).error(), {"mxfp9"});
}

TEST(ComparePrecisions, EachRecipeOnceAndFp32First) {
  PrecisionComparisonOptions options;
  options.accuracy = false;
  options.recipes = {"bf16", "fp32", "bf16"};
  options.evaluate.lowering = "nests";
  const auto found = compare_precisions("mlp-robotics:hidden=8,layers=1", "jetson_agx_orin", options);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->rows.size(), 2U);
  EXPECT_EQ(found->rows[0].recipe, "fp32");
  EXPECT_EQ(found->rows[1].recipe, "bf16");
  // Half as wide, and its products on units that take a fraction of the energy.
  EXPECT_FALSE(found->rows[0].best);
  EXPECT_TRUE(found->rows[1].best);
}

TEST(ComparePrecisions, ProductsThatAMachineCannotRunAreOffTheFront) {
  PrecisionComparisonOptions options;
  options.accuracy = false;
  options.recipes = {"fp32", "mxint8-square", "int8-everywhere"};
  const auto found = compare_precisions("mlp-robotics:hidden=8,layers=1", "edge_tpu", options);
  ASSERT_TRUE(found) << found.error().text();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NE(found->rows[i].failed.find("in int8, not in "), std::string::npos) << found->rows[i].failed;
    EXPECT_FALSE(found->rows[i].best);
  }
  EXPECT_EQ(found->rows[2].failed, "");
  // Its cores do them one by one, in their own numbers.
  options.recipes = {"fp32"};
  const auto slow = compare_precisions("mlp-robotics:hidden=8,layers=1", "snax_mx", options);
  ASSERT_TRUE(slow) << slow.error().text();
  EXPECT_EQ(slow->rows[0].failed + slow->rows[0].costed_as, "");
}

TEST(ComparePrecisions, SeedsSayWhatIsEqualAndTwentyMeasurementsAreMade) {
  PrecisionComparisonOptions options;
  options.recipes = {"fp32", "bf16"};
  options.evaluate.train.batch = 4;
  options.simulate.steps = 40;
  options.simulate.samples = 40;
  const auto found = compare_precisions("mlp-robotics:hidden=8,layers=1", "tpu_v4", options);
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_TRUE(found->loss_tolerance);
  EXPECT_GT(*found->loss_tolerance, 0);
  ASSERT_TRUE(found->rows[0].simulation);
  EXPECT_EQ(found->rows[0].simulation->measured.size(), 21U);
  EXPECT_EQ(found->rows[0].simulation->batch, 4);
  // bf16 costs less in everything, and its loss is that of fp32 but for chance.
  EXPECT_TRUE(found->rows[1].best);
}

TEST(ComparePrecisions, WhatWasStoppedIsOffTheFront) {
  PrecisionComparisonOptions options;
  options.recipes = {"fp32", "bf16"};
  options.simulate.train.batch = 4;
  options.simulate.steps = 40;
  options.simulate.jobs = 1;
  int asked = 0;
  options.simulate.stop = [&] { return ++asked > 50; };
  const auto found = compare_precisions("mlp-robotics:hidden=8,layers=1", "tpu_v4", options);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_TRUE(found->rows[0].best);
  ASSERT_TRUE(found->rows[1].simulation);
  EXPECT_TRUE(found->rows[1].simulation->stopped);
  EXPECT_FALSE(found->rows[1].best);
  EXPECT_FALSE(found->loss_tolerance);
  options.simulate.stop = [] { return true; };
  const auto nothing = compare_precisions("mlp-robotics:hidden=8,layers=1", "tpu_v4", options);
  ASSERT_TRUE(nothing) << nothing.error().text();
  EXPECT_FALSE(nothing->rows[0].simulation);
  EXPECT_EQ(nothing->rows[0].not_simulated, "stopped before its first step");
}

TEST(ComparePrecisions, CanBeStopped) {
  PrecisionComparisonOptions options;
  options.accuracy = false;
  options.recipes = {"fp32"};
  options.evaluate.stop = [] { return true; };
  EXPECT_FALSE(compare_precisions("mlp-robotics", "edge_tpu", options));
}

}  // namespace
}  // namespace monet
