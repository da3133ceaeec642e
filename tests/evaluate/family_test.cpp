// Machines of a family that is opened once are those of the file opened anew.
#include "evaluate/open/family.h"

#include "evaluate/open/hardware.h"
#include "hardware/presets.h"
#include "hardware/writer.h"
#include "support/folder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <random>
#include <thread>

namespace monet {
namespace {

// All that can be told apart of two answers.
std::string text_or_error(const Expected<Hardware>& hardware) {
  if (!hardware) return "error: " + hardware.error().text();
  std::string text = to_yaml(*hardware);
  for (const auto& [name, value] : hardware->parameters) text += name + " = " + value + "\n";
  for (const std::string& note : hardware->notes) text += note + "\n";
  return text;
}

// Sizes and counts around those of the file, some of which no machine can have.
HardwareOptions random_parameters(const Hardware& hardware, std::mt19937& random) {
  HardwareOptions options;
  for (const auto& [name, text] : hardware.parameters) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    if (digits == 0 || random() % 3 == 0) continue;
    const std::string unit = digits == std::string::npos ? "" : text.substr(digits);
    const long value = std::stol(text);
    const std::vector<long> values = {1, value / 2, value, value + 1, 2 * value, 0};
    options.parameters.emplace_back(name, std::to_string(values[random() % values.size()]) + unit);
  }
  return options;
}

TEST(HardwareFamily, GivesWhatTheFileOpenedAnewGives) {
  std::mt19937 random(3);
  std::size_t families = 0, machines = 0, errors = 0;
  for (const std::string& name : preset_names()) {
    const auto hardware = open_hardware(name);
    ASSERT_TRUE(hardware) << name;
    const auto family = HardwareFamily::open(name);
    ASSERT_TRUE(family) << name;
    EXPECT_EQ(text_or_error(family->with({})), text_or_error(hardware)) << name;
    if (hardware->parameters.empty()) continue;
    ++families;
    for (int i = 0; i < 40; ++i) {
      const HardwareOptions options = random_parameters(*hardware, random);
      const auto anew = open_hardware(name, options);
      ++(anew ? machines : errors);
      EXPECT_EQ(text_or_error(family->with(options)), text_or_error(anew)) << name;
    }
  }
  EXPECT_GE(families, 2U);
  EXPECT_GE(machines, 20U);
  EXPECT_GE(errors, 5U);
}

TEST(HardwareFamily, SaysWhatIsWrongAsTheFileDoes) {
  for (const char* name : {"edge_tpuu", "no/such/file.yaml"}) {
    const auto family = HardwareFamily::open(name);
    ASSERT_FALSE(family);
    EXPECT_EQ(family.error().text(), open_hardware(name).error().text());
  }
  const auto family = HardwareFamily::open("edge_tpu");
  ASSERT_TRUE(family);
  for (const auto& parameter : std::vector<std::pair<std::string, std::string>>{
           {"xx", "2"}, {"x", "two"}, {"x", "0"}, {"pe_memory", "4"}, {"simd", "= lanes *"}, {"y", "= x * 2"}}) {
    const HardwareOptions options{.parameters = {parameter}};
    EXPECT_EQ(text_or_error(family->with(options)), text_or_error(open_hardware("edge_tpu", options)))
        << parameter.first;
  }
}

TEST(HardwareFamily, OfAFile) {
  const test::Folder folder;
  const std::string path = folder / "machine.yaml";
  std::ofstream(path) << *preset_text("edge_tpu");
  const auto family = HardwareFamily::open(path);
  ASSERT_TRUE(family) << family.error().text();
  const HardwareOptions options{.parameters = {{"x", "2"}}};
  EXPECT_EQ(text_or_error(family->with(options)), text_or_error(open_hardware(path, options)));
  std::ofstream(path) << "monet: 1\n  - broken: [";
  const auto broken = HardwareFamily::open(path);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().text(), open_hardware(path).error().text());
  // Another tool's file has no parameters.
  std::ofstream(path) << "operational_array:\n  sizes: [2]\n";
  const auto foreign = HardwareFamily::open(path);
  ASSERT_TRUE(foreign);
  EXPECT_EQ(text_or_error(foreign->with(options)), text_or_error(open_hardware(path, options)));
  EXPECT_EQ(text_or_error(foreign->with({})), text_or_error(open_hardware(path)));
}

TEST(HardwareFamily, ServesSeveralThreads) {
  const auto family = HardwareFamily::open("edge_tpu");
  ASSERT_TRUE(family);
  std::vector<std::string> expected;
  for (int x = 1; x <= 6; ++x) {
    expected.push_back(text_or_error(open_hardware("edge_tpu", {.parameters = {{"x", std::to_string(x)}}})));
  }
  std::atomic<int> different = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 12; ++i) {
          const int x = (i + t) % 6 + 1;
          const auto machine = family->with({.parameters = {{"x", std::to_string(x)}}});
          if (text_or_error(machine) != expected[static_cast<std::size_t>(x) - 1]) ++different;
        }
      });
    }
  }
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace monet
