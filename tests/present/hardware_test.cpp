// Does the report say what the machine has, and is the picture well formed, complete and always the same?
#include "base/quantities.h"
#include "evaluate/open/machines.h"
#include "present/svg/hardware_draw.h"

#include "evaluate/open/hardware.h"
#include "hardware/presets.h"
#include "hardware/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <regex>

namespace monet {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* machine = R"yaml(
monet: 1
name: toy
description: Two cores & a memory <on a bus>
source: "a test"
confidence: B
clock: 1 GHz
technology: 22 nm
parameters: {n: 2}
peak:
  int8: 64 GOP/s
  bf16: 100 GOP/s
memories:
  dram:
    kind: dram
    type: LPDDR4
    size: 1 GiB
    ports: {rw: {kind: read_write, width: 64 bit/cycle}}
cores:
  pe:
    count: =n
    array:
      dimensions:
        K: {size: 4, loops: [K]}
        C: {size: 4, loops: [C]}
      operations: {mac: {cycles: 1, energy: 0.5 pJ}}
      precisions: {int8: {rate: 1}, bf16: {rate: 0.5}}
    memories:
      sram:
        size: 64 KiB
        ports: {r: {kind: read, width: 32..128 bit/cycle}, w: {kind: write, width: 128 bit/cycle}}
      dram: {use: dram}
links:
  - {bus: [pe, dram], width: 64 bit/cycle, name: the_bus}
)yaml";

Hardware toy(const std::string& n = "2") {
  auto hardware = read_hardware_text(machine, "toy.yaml", {.parameters = {{"n", n}}});
  EXPECT_TRUE(hardware) << hardware.error().text();
  return hardware ? *std::move(hardware) : Hardware{};
}

TEST(HardwareReport, CollectsWhatIsThere) {
  const HardwareReport report = summarize(toy());
  EXPECT_EQ(report.name, "toy");
  EXPECT_EQ(report.clock_hz, 1e9);
  EXPECT_EQ(report.technology_nm, 22);
  EXPECT_EQ(report.macs_per_cycle, 32);
  ASSERT_EQ(report.cores.size(), 1U);
  EXPECT_EQ(report.cores[0].names, (std::vector<std::string>{"pe0", "pe1"}));
  ASSERT_EQ(report.cores[0].memories.size(), 2U);
  EXPECT_EQ(report.cores[0].memories[0].name, "sram");
  EXPECT_EQ(report.cores[0].memories[0].size_bits, 64 * 1024 * 8);
  EXPECT_EQ(report.cores[0].memories[0].ports[0].min_bits, 32);
  EXPECT_THAT(report.cores[0].memories[0].ports[0].moves, testing::Contains("weight to_low"));
  EXPECT_TRUE(report.cores[0].memories[1].shared);
  ASSERT_EQ(report.memories.size(), 1U);
  EXPECT_EQ(report.memories[0].name, "dram");
  ASSERT_EQ(report.links.size(), 1U);
  EXPECT_EQ(report.links[0].between, "pe, dram");
}

TEST(HardwareReport, ConfidenceIsThatOfTheWeakestValueThatMatters) {
  const HardwareReport report = summarize(toy());
  EXPECT_EQ(report.time_confidence, 'B');    // all stated so
  EXPECT_EQ(report.energy_confidence, 'D');  // of bf16 relative to int8, by the table
  EXPECT_EQ(report.confidence, 'D');
  // A single function, and what counts as 0, do not matter; a width does.
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = machine;
    text.replace(text.find(from), from.size(), to);
    auto hardware = read_hardware_text(text, "toy.yaml");
    EXPECT_TRUE(hardware) << hardware.error().text();
    return summarize(*hardware);
  };
  EXPECT_EQ(
      changed("energy: 0.5 pJ}", "energy: 0.5 pJ}, exp: {cycles: 9, energy: 1 pJ, confidence: D}").time_confidence,
      'B');
  EXPECT_EQ(changed("width: 128 bit/cycle", "width: {value: 128 bit/cycle, confidence: C}").time_confidence, 'C');
  EXPECT_EQ(changed("confidence: B\n", "").confidence, '-');
}

TEST(HardwareReport, ASumThatLacksAPartIsNoTotal) {
  const HardwareReport report = summarize(toy());
  EXPECT_EQ(report.without_area, "");
  EXPECT_EQ(report.without_static_power, "core pe");
  const std::string text = to_text(report, {}).plain();
  EXPECT_THAT(text, HasSubstr("static power not stated: of core pe it is not known"));
  EXPECT_THAT(text, HasSubstr("without control, wires and interfaces"));
  const auto json = nlohmann::json::parse(to_json(report, {}));
  EXPECT_TRUE(json["static_w"].is_null());
  EXPECT_GT(json["known_static_w"], 0);
  EXPECT_EQ(json["area_mm2"], json["known_area_mm2"]);
}

TEST(HardwareReport, PeaksAreUnitsTimesRateTimesClock) {
  const HardwareReport report = summarize(toy());
  ASSERT_EQ(report.peaks.size(), 2U);
  EXPECT_EQ(report.peaks[0].precision, "int8");
  EXPECT_EQ(report.peaks[0].operations_per_s, 2 * 16 * 2 * 1e9);
  EXPECT_EQ(report.peaks[0].deviation_percent, 0);
  EXPECT_TRUE(report.peaks[0].holds);
  EXPECT_EQ(report.peaks[1].operations_per_s, 32e9);
  EXPECT_NEAR(report.peaks[1].deviation_percent, -68, 1e-9);
  EXPECT_FALSE(report.peaks[1].holds);
}

TEST(HardwareReport, TextShowsIt) {
  const HardwareReport report = summarize(toy());
  const std::string text = to_text(report, {}).plain();
  for (const char* words :
       {"toy", "1 GHz", "22 nm", "n = 2", "2 x pe (pe0 ... pe1)", "K 4 (K) x C 4 (C) = 16 lanes", "64 KiB", "r 32..128",
        "the_bus", "64 GOP/s", "+0.00 %", "-68.00 %", "more than 2 %", "CACTI 7 at 22 nm", "LPDDR4"})
    EXPECT_THAT(text, HasSubstr(words));
  EXPECT_THAT(text, Not(HasSubstr("core pe: array: mac")));
  EXPECT_THAT(to_text(report, {.values = true}).plain(), HasSubstr("core pe: array: mac"));
}

TEST(HardwareReport, JsonHasTheFields) {
  const auto json = nlohmann::json::parse(to_json(summarize(toy()), {}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["parameters"]["n"], "2");
  EXPECT_EQ(json["peaks"]["int8"]["stated"], 64e9);
  EXPECT_EQ(json["peaks"]["bf16"]["holds"], false);
  EXPECT_EQ(json["cores"][0]["count"], 2);
  EXPECT_EQ(json["cores"][0]["units"][0]["lanes"], 16);
  EXPECT_EQ(json["cores"][0]["units"][0]["operations"]["mac"]["energy_pj"], 0.5);
  EXPECT_EQ(json["memories"][0]["kind"], "dram");
  for (const auto& value : json["values"]) EXPECT_EQ(value["derived"], true);
  const auto all = nlohmann::json::parse(to_json(summarize(toy()), {.values = true}));
  EXPECT_GT(all["values"].size(), json["values"].size());
}

TEST(HardwareReport, QuantitiesAsPeopleReadThem) {
  EXPECT_EQ(frequency_text(1.41e9), "1.41 GHz");
  EXPECT_EQ(frequency_text(0), "not stated");
  EXPECT_EQ(rate_text(312e12), "312 TOP/s");
  EXPECT_EQ(rate_text(0), "0 OP/s");
  EXPECT_EQ(size_text_of_bits(16), "16 bit");
  EXPECT_EQ(size_text_of_bits(16777216), "2 MiB");
  EXPECT_EQ(size_text_of_bits(1001), "1001 bit");
  EXPECT_EQ(energy_text(416.16), "416.2 pJ");
  EXPECT_EQ(energy_text(396000), "396 nJ");
}

// Opening and closing marks match, and nothing stands where it must be escaped.
void expect_well_formed_drawing(const std::string& svg) {
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  std::vector<std::string> open;
  const std::regex mark(R"(<(/?)([a-z]+)([^<>]*?)(/?)>)");
  for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) {
    if ((*at)[4] == "/") continue;
    if ((*at)[1] == "/") {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), (*at)[2]);
      open.pop_back();
    } else {
      open.push_back((*at)[2]);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf\""), std::string::npos);
}

std::size_t count_of(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

TEST(HardwarePicture, ShowsCoresMemoriesAndLinks) {
  const std::string svg = draw(toy());
  expect_well_formed_drawing(svg);
  EXPECT_THAT(svg, HasSubstr("Two cores &amp; a memory &lt;on a bus&gt;"));
  for (const char* words : {">pe0<", ">pe1<", "array K 4 x C 4", "sram  64 KiB", ">dram<", "the_bus 64 bit/cycle"})
    EXPECT_THAT(svg, HasSubstr(words));
  EXPECT_EQ(svg, draw(toy()));
}

TEST(HardwarePicture, ManyCoresAreSquares) {
  const std::string svg = draw(toy("256"));
  expect_well_formed_drawing(svg);
  EXPECT_EQ(count_of(svg, "class=\"core\""), 257U);
  EXPECT_EQ(count_of(svg, ">each<"), 1U);
  EXPECT_THAT(svg, HasSubstr("256 x pe"));
}

TEST(HardwarePicture, EveryPresetCanBeDrawn) {
  for (const std::string& name : preset_names()) {
    const auto hardware = open_hardware(name);
    ASSERT_TRUE(hardware) << hardware.error().text();
    expect_well_formed_drawing(draw(*hardware));
  }
}

TEST(HardwareList, HasEveryPreset) {
  const auto presets = list_hardware();
  ASSERT_TRUE(presets) << presets.error().text();
  EXPECT_EQ(presets->size(), preset_names().size());
  const std::string text = to_text(*presets).plain();
  for (const std::string& name : preset_names()) EXPECT_THAT(text, HasSubstr(name));
  const auto json = nlohmann::json::parse(to_json(*presets));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["presets"].size(), preset_names().size());
}

}  // namespace
}  // namespace monet
