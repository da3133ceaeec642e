// Do the rows of a comparison say what is in two results, and do parts add up to their totals?
#include "present/compare/comparison.h"

#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <nlohmann/json.hpp>

#include <map>

namespace monet {
namespace {

using test::expect_error;
using test::Folder;
using test::write_bytes;

// A result with round numbers, in which everything adds up.
nlohmann::json plain_result() {
  return nlohmann::json::parse(R"json({
    "schema": 1, "command": "evaluate", "model": "net", "hardware": "machine", "objective": "latency",
    "mode": "training", "clock_hz": 1e9, "batch": 4, "micro_batches": 1, "fits": true, "latency_cycles": 1000,
    "latency_by": {"compute": 600, "stall": 100, "traffic": 200, "recomputation": 0, "paging": 0, "waiting": 100},
    "energy_pj": 5000, "energy_by": {"compute": 1000, "traffic": 3000, "recomputation": 0, "paging": 0, "static": 1000},
    "energy_breakdown": {"compute int8": 1000, "memory dram": 2000, "memory pe0_0/sram": 400, "memory pe0_1/sram": 600,
                         "static": 1000},
    "macs": 300, "utilization": 0.5, "nodes": 3, "parameters": 10, "saved_bytes": 64, "stacks": 2, "tiles": 8,
    "phases": [{"phase": "forward", "macs": 100}, {"phase": "backward", "macs": 200}],
    "operators": [
      {"name": "conv", "phase": "forward", "busy_cycles": 400, "energy_pj": 2000, "home_read_bytes": 10,
       "home_write_bytes": 20, "recomputed": false},
      {"name": "relu", "phase": "forward", "busy_cycles": 100, "energy_pj": 500, "home_read_bytes": 1,
       "home_write_bytes": 2, "recomputed": false}],
    "memories": [
      {"name": "dram", "packed_peak_bytes": 110, "live_peak_bytes": 100, "peak_by_role": {"weight": 60, "activation": 40}},
      {"name": "pe0_0/sram", "packed_peak_bytes": 0, "live_peak_bytes": 8, "peak_by_role": {"weight": 8}},
      {"name": "pe0_1/sram", "packed_peak_bytes": 0, "live_peak_bytes": 9, "peak_by_role": {"activation": 9}},
      {"name": "unused", "packed_peak_bytes": 0, "live_peak_bytes": 0, "peak_by_role": {}}]})json");
}

Comparison compared(const nlohmann::json& a, const nlohmann::json& b) {
  const auto of_a = result_from(a.dump(), "first/result.json"), of_b = result_from(b.dump(), "second/result.json");
  EXPECT_TRUE(of_a && of_b);
  const auto comparison = compare_files(*of_a, *of_b);
  EXPECT_TRUE(comparison) << (comparison ? "" : comparison.error().text());
  return comparison ? *comparison : Comparison{};
}

const ComparisonRow* row(const Comparison& comparison, const std::string& part) {
  const auto found = std::ranges::find(comparison.rows, part, &ComparisonRow::name);
  return found == comparison.rows.end() ? nullptr : &*found;
}

void expect_row(const Comparison& comparison, const std::string& part, double a, double b, const std::string& unit) {
  const ComparisonRow* found = row(comparison, part);
  ASSERT_NE(found, nullptr) << part;
  EXPECT_DOUBLE_EQ(found->a, a) << part;
  EXPECT_DOUBLE_EQ(found->b, b) << part;
  EXPECT_DOUBLE_EQ(found->delta, b - a) << part;
  EXPECT_EQ(found->unit, unit) << part;
}

// The parts of a total follow it; summed independently of how they were made.
void expect_sums(const Comparison& comparison) {
  const ComparisonRow* total = nullptr;
  std::map<const ComparisonRow*, ComparisonRow> sums;
  for (const ComparisonRow& each : comparison.rows) {
    EXPECT_DOUBLE_EQ(each.delta, each.b - each.a) << each.name();
    if (each.part.empty()) {
      total = &each;
      continue;
    }
    ASSERT_NE(total, nullptr);
    ASSERT_TRUE(each.total == total->total) << each.name();
    EXPECT_EQ(each.unit, total->unit);
    sums[total].a += each.a;
    sums[total].b += each.b;
    sums[total].delta += each.delta;
  }
  for (const auto& [whole, sum] : sums) {
    EXPECT_NEAR(sum.a, whole->a, 1e-6) << whole->part;
    EXPECT_NEAR(sum.b, whole->b, 1e-6) << whole->part;
    EXPECT_NEAR(sum.delta, whole->delta, 1e-6) << whole->part;
  }
}

TEST(Comparison, OfAResultWithItselfIsNothing) {
  const Comparison same = compared(plain_result(), plain_result());
  for (const ComparisonRow& each : same.rows) EXPECT_EQ(each.delta, 0) << each.name();
  expect_sums(same);
  EXPECT_TRUE(same.operators.empty() && same.assumptions.empty() && same.notes.empty());
  EXPECT_EQ(same.a, "first");
  EXPECT_EQ(same.b, "second");
  EXPECT_EQ(summary_of(same), "Nothing differs: time, energy, memory and work are equal.");
}

TEST(Comparison, HasEveryPart) {
  nlohmann::json b = plain_result();
  b["latency_cycles"] = 1500;
  b["latency_by"] = {{"compute", 600}, {"stall", 150}, {"traffic", 250}, {"recomputation", 400}, {"waiting", 100}};
  b["energy_pj"] = 6000;
  b["energy_by"] = {{"compute", 1000}, {"traffic", 3500}, {"recomputation", 500}, {"static", 1000}};
  b["energy_breakdown"]["memory dram"] = 3000;
  b["memories"][0]["packed_peak_bytes"] = 85;
  b["memories"][0]["live_peak_bytes"] = 80;
  b["memories"][0]["peak_by_role"] = {{"weight", 60}, {"activation", 15}, {"workspace", 5}};
  b["macs"] = 400;
  b["phases"][1]["macs"] = 300;
  b["operators"].push_back({{"name", "relu~1"},
                            {"phase", "backward"},
                            {"busy_cycles", 70},
                            {"energy_pj", 400},
                            {"home_read_bytes", 5},
                            {"home_write_bytes", 0},
                            {"recomputed", true}});
  const Comparison found = compared(plain_result(), b);
  expect_sums(found);
  expect_row(found, "latency", 1000, 1500, "cycles");
  expect_row(found, "latency: stall", 100, 150, "cycles");
  expect_row(found, "latency: recomputation", 0, 400, "cycles");
  expect_row(found, "latency: paging", 0, 0, "cycles");
  expect_row(found, "energy", 5000, 6000, "pJ");
  expect_row(found, "energy: traffic", 3000, 3500, "pJ");
  expect_row(found, "energy by place", 5000, 6000, "pJ");
  expect_row(found, "energy by place: memory dram", 2000, 3000, "pJ");
  expect_row(found, "energy by place: memory pe*/sram", 1000, 1000, "pJ");
  expect_row(found, "memory dram", 110, 85, "bytes");
  expect_row(found, "memory dram: activation", 40, 15, "bytes");
  expect_row(found, "memory dram: workspace", 0, 5, "bytes");
  expect_row(found, "memory dram: gaps", 10, 5, "bytes");
  expect_row(found, "memory pe*/sram", 9, 9, "bytes");
  expect_row(found, "memory pe*/sram: activation", 9, 9, "bytes");
  EXPECT_EQ(row(found, "memory unused"), nullptr);
  expect_row(found, "macs", 300, 400, "");
  expect_row(found, "macs: backward", 200, 300, "");
  expect_row(found, "recomputed operators", 0, 1, "");
  expect_row(found, "saved for the backward part", 64, 64, "bytes");
  expect_row(found, "traffic of home memory", 33, 38, "bytes");
  expect_row(found, "traffic of home memory: read", 11, 16, "bytes");
  expect_row(found, "utilization", 0.5, 0.5, "");
  EXPECT_EQ(row(found, "time"), nullptr) << "the clocks are equal";
  EXPECT_EQ(found.clock_hz, 1e9);
  ASSERT_EQ(found.operators.size(), 1U);
  EXPECT_EQ(found.operators[0].name, "relu~1");
  EXPECT_EQ(found.operators[0].b_cycles, 70);
  EXPECT_EQ(found.operators[0].a_pj, 0);
  EXPECT_EQ(summary_of(found),
            "The latency of b is 1.5 us, 50% more than 1 us; recomputation explains 80% of that (+0.4 us). The energy "
            "of b is 6000 pJ, 20% more than 5000 pJ; traffic explains 50% of that (+500 pJ).");
}

TEST(Comparison, OfDifferentClocksIsInSeconds) {
  nlohmann::json b = plain_result();
  b["clock_hz"] = 5e8;
  b["hardware"] = "slow";
  const Comparison found = compared(plain_result(), b);
  expect_sums(found);
  expect_row(found, "latency", 1000, 1000, "cycles");
  expect_row(found, "time", 1000 / 1e9, 1000 / 5e8, "s");
  expect_row(found, "time: compute", 600 / 1e9, 600 / 5e8, "s");
  EXPECT_EQ(found.clock_hz, 0);
  EXPECT_EQ(found.a, "net on machine");
  EXPECT_EQ(found.b, "net on slow");
  EXPECT_TRUE(summary_of(found).starts_with("The latency of b is 2 us, 2 times 1 us; compute explains 60% of that"))
      << summary_of(found);
  ASSERT_EQ(found.assumptions.size(), 2U);
  EXPECT_EQ(found.assumptions[0].what, "machine");
  EXPECT_EQ(found.assumptions[1].what, "clock");
  // Each operator takes twice as long: the longer one differs more.
  ASSERT_EQ(found.operators.size(), 2U);
  EXPECT_EQ(found.operators[0].name, "conv");

  b["clock_hz"] = nullptr;
  const Comparison without = compared(plain_result(), b);
  EXPECT_EQ(row(without, "time"), nullptr);
  ASSERT_EQ(without.notes.size(), 1U);
  EXPECT_NE(without.notes[0].find("no clock"), std::string::npos);
}

TEST(Comparison, OfAnOldResultHasNoPartsOfLatency) {
  nlohmann::json old = plain_result();
  old.erase("latency_by");
  old.erase("energy_by");
  old["latency_cycles"] = 900;
  old["energy_pj"] = 4000;
  old["energy_breakdown"]["memory dram"] = 1000;
  const Comparison found = compared(old, plain_result());
  expect_sums(found);
  EXPECT_EQ(row(found, "latency: compute"), nullptr);
  EXPECT_EQ(row(found, "energy: compute"), nullptr);
  expect_row(found, "energy by place: memory dram", 1000, 2000, "pJ");
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_NE(found.notes[0].find("first does not say what its latency consists of"), std::string::npos);
  EXPECT_NE(summary_of(found).find("memory dram explains 100% of that"), std::string::npos) << summary_of(found);
}

TEST(Comparison, PartsThatDoNotAddUpLeaveARest) {
  nlohmann::json damaged = plain_result();
  damaged["latency_by"].erase("traffic");
  const Comparison found = compared(plain_result(), damaged);
  expect_sums(found);
  expect_row(found, "latency: other", 0, 200, "cycles");
}

TEST(Comparison, WithoutAddressesOfOneIsOfWhatIsLive) {
  nlohmann::json live = plain_result();
  live["memories"][0]["packed_peak_bytes"] = 0;
  const Comparison found = compared(plain_result(), live);
  expect_sums(found);
  expect_row(found, "memory dram", 100, 100, "bytes");
  EXPECT_EQ(row(found, "memory dram: gaps"), nullptr);
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_NE(found.notes[0].find("addresses in dram"), std::string::npos);
}

TEST(Comparison, SaysWhatWorksAgainstTheChange) {
  nlohmann::json b = plain_result();
  b["latency_cycles"] = 1010;
  b["latency_by"]["compute"] = 400;
  b["latency_by"]["traffic"] = 410;
  const std::string text = summary_of(compared(plain_result(), b));
  EXPECT_TRUE(
      text.starts_with("The latency of b is 1.01 us, 1% more than 1 us; traffic alone makes +0.21 us, and compute "
                       "takes back 0.2 us. The energy of b is the same, 5000 pJ."))
      << text;
  b = plain_result();
  b["energy_pj"] = 4000;
  b["energy_by"]["static"] = 0;
  b["energy_breakdown"]["static"] = 0;
  EXPECT_EQ(
      summary_of(compared(plain_result(), b)),
      "The energy of b is 4000 pJ, 20% less than 5000 pJ; static explains 100% of that (-1000 pJ). The latency of b "
      "is the same, 1 us.");
}

TEST(Comparison, IsWrittenInFull) {
  nlohmann::json b = plain_result();
  b["latency_cycles"] = 1100;
  b["latency_by"]["stall"] = 200;
  b["batch"] = 8;
  const Comparison found = compared(plain_result(), b);
  const nlohmann::json json = nlohmann::json::parse(to_json(found));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["command"], "compare");
  ASSERT_EQ(json["rows"].size(), found.rows.size());
  for (const nlohmann::json& each : json["rows"])
    for (const char* key : {"part", "unit", "a", "b", "delta"}) EXPECT_TRUE(each.contains(key)) << key;
  EXPECT_EQ(json["rows"][0],
            (nlohmann::json{{"part", "latency"}, {"unit", "cycles"}, {"a", 1000}, {"b", 1100}, {"delta", 100}}));
  EXPECT_EQ(json["assumptions"][0], (nlohmann::json{{"what", "batch"}, {"a", "4"}, {"b", "8"}}));
  EXPECT_EQ(json["summary"], summary_of(found));
  const std::string csv = to_csv(found);
  EXPECT_TRUE(
      csv.starts_with("part,unit,a,b,delta\nlatency,cycles,1000,1100,100\nlatency: compute,cycles,600,600,0\n"));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), found.rows.size() + 1);
  const std::string text = to_text(found).plain();
  EXPECT_TRUE(text.starts_with(summary_of(found) + "\n"));
  for (const char* words :
       {"a  first\nb  second\n", "batch    4  8", "  stall", "+0.1 us", "+10.00%", "--json has all"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST(Comparison, OfWhatIsNoEvaluation) {
  const Folder folder;
  write_bytes(folder / "a.json", plain_result().dump());
  const auto error = [&](const std::string& text) {
    write_bytes(folder / "b.json", text);
    const auto found = compare_results(folder / "a.json", folder / "b.json");
    EXPECT_FALSE(found);
    return found ? Error{} : found.error();
  };
  expect_error(error(R"({"schema": 1, "command": "optimize"})"), {"`monet optimize`"}, folder / "b.json");
  expect_error(error(R"({"schema": 1, "command": "evaluate", "energy_pj": 1})"), {"\"latency_cycles\" is missing"},
               folder / "b.json");
  expect_error(error(R"({"schema": 1, "command": "evaluate", "latency_cycles": 1})"), {"\"energy_pj\" is missing"},
               folder / "b.json");
  nlohmann::json wrong = plain_result();
  wrong["operators"][1]["busy_cycles"] = "many";
  expect_error(error(wrong.dump()), {"\"operators[1].busy_cycles\" is a text, not a number"}, folder / "b.json");
  wrong = plain_result();
  wrong["memories"][0]["peak_by_role"] = 7;
  expect_error(error(wrong.dump()), {"\"memories[0].peak_by_role\" is a number, not an object"}, folder / "b.json");
  EXPECT_TRUE(compare_results(folder / "a.json", folder / "a.json"));
}

TEST(NamesOfEquals, AreForOwnersWithNumbers) {
  for (const auto& [name, expected] :
       {std::pair("dram", "dram"), std::pair("l2", "l2"), std::pair("memory pe0_3/sram", "memory pe*/sram"),
        std::pair("chip1/core12/sram_2MB", "chip*/core*/sram_2MB"), std::pair("core/rf_1B", "core/rf_1B"),
        std::pair("0/x", "0/x"), std::pair("a//b", "a//b"), std::pair("", "")})
    EXPECT_EQ(name_of_equals(name), expected);
}

// A machine of one such core is compared with one of several.
TEST(Comparison, PairsOneCoreWithSeveral) {
  nlohmann::json one = plain_result();
  one["energy_breakdown"].erase("memory pe0_1/sram");
  one["energy_pj"] = 4400;
  one["memories"].erase(2);
  const Comparison found = compared(plain_result(), one);
  ASSERT_NE(row(found, "energy by place: memory pe*/sram"), nullptr);
  EXPECT_EQ(row(found, "energy by place: memory pe*/sram")->delta, -600);
  EXPECT_NE(row(found, "memory pe*/sram"), nullptr);
  EXPECT_EQ(row(found, "memory pe0_0/sram"), nullptr);
}

}  // namespace
}  // namespace monet
