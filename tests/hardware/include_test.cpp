#include "evaluate/open/hardware.h"
#include "hardware/presets.h"
#include "hardware/support.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace monet {
namespace {

using testing::HasSubstr;

// A folder of its own, gone with the test.
class Includes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("monet_include_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "_" +
               std::to_string(::getpid()));
    std::filesystem::create_directories(folder_ / "parts");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string problem(const std::string& path) const {
    const auto hardware = read_hardware(path);
    if (hardware) return "no error";
    std::string text = hardware.error().text();
    // Only the names below the folder are the same in every run.
    for (std::size_t at = 0; (at = text.find(folder_.string() + "/")) != std::string::npos;) {
      text.erase(at, folder_.string().size() + 1);
    }
    return text;
  }

  std::filesystem::path folder_;
};

TEST_F(Includes, BlocksAreMergedUnderThisFiles) {
  write("common.yaml", "source: the common file\nconfidence: B\nparameters: {k: 4, unused: 1}\n" + test::small_machine);
  const std::string path = write("m.yaml", R"(include: common.yaml
monet: 1
name: mine
source: this file
confidence: A
parameters: {k: 9}
cores:
  pe:
    memories:
      sram: {size: 128 KiB}
      l2: {size: 1 MiB, ports: {rw: {width: 512 bit/cycle}}, read_energy: 50 pJ, write_energy: 60 pJ}
      dram: {}
  extra:
    rate: {operations: {all: 1 MOP/s}, energy: {all: 1 nJ}}
links:
  - {link: [pe, extra], width: 8 bit/cycle}
)");
  const auto hardware = read_hardware(path);
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_EQ(hardware->name, "mine");
  EXPECT_EQ(hardware->clock_hz, 5e8);
  EXPECT_EQ(hardware->parameters[0].second, "9");
  ASSERT_EQ(hardware->cores.size(), 2U);
  const Core& pe = hardware->cores[0];
  // What a file adds to included memories comes before the next that it names.
  ASSERT_EQ(pe.levels.size(), 4U);
  EXPECT_EQ((*hardware)[pe.levels[1].memory].size_bits, 128 * 8192);
  EXPECT_EQ((*hardware)[pe.levels[2].memory].name, "pe/l2");
  const Origin* origin = test::origin_of(*hardware, "memory dram", "read_energy");
  ASSERT_NE(origin, nullptr);
  EXPECT_EQ(origin->source, "the common file");
  EXPECT_EQ(origin->confidence, 'B');
  EXPECT_EQ(test::origin_of(*hardware, "core extra: rate: all", "operations")->source, "this file");
  EXPECT_EQ(test::origin_of(*hardware, "", "clock")->source, "the common file");
}

TEST_F(Includes, InsideBlocksAndBesideTheIncludedFile) {
  write("parts/core.yaml", "include: rate.yaml\noperators: [Add]\n");
  write("parts/rate.yaml", "rate: {operations: {all: 1 MOP/s}, energy: {all: 1 nJ}}\n");
  const auto hardware =
      read_hardware(write("m.yaml", "monet: 1\nname: m\nclock: 1 GHz\ncores: {a: {include: [parts/core.yaml]}}\n"));
  ASSERT_TRUE(hardware) << hardware.error().text();
  EXPECT_EQ(hardware->cores[0].operators, std::vector<std::string>{"Add"});
  EXPECT_TRUE(hardware->cores[0].rate);
}

TEST_F(Includes, Errors) {
  EXPECT_EQ(problem(write("self.yaml", "monet: 1\ninclude: self.yaml\n")),
            "self.yaml:2:10: 'self.yaml' includes itself (remove this include)");
  write("a.yaml", "include: [b.yaml]\n");
  write("b.yaml", "include: [parts/../a.yaml]\n");
  EXPECT_EQ(problem((folder_ / "a.yaml").string()),
            "b.yaml:1:11: 'parts/../a.yaml' includes itself (remove this include)");
  EXPECT_EQ(problem(write("m.yaml", "include: nothing_there.yaml\n")),
            "m.yaml:1:10: there is no file 'nothing_there.yaml' to include (looked for nothing_there.yaml)");
  EXPECT_THAT(problem(write("m.yaml", "include: parts\n")), HasSubstr("there is no file 'parts' to include"));
  EXPECT_EQ(problem(write("m.yaml", "include: [[x]]\n")),
            "m.yaml:1:11: the name of a file is missing (write include: [common.yaml])");
  write("list.yaml", "[1, 2]\n");
  EXPECT_EQ(problem(write("m.yaml", "include: list.yaml\n")),
            "list.yaml:1:1: an included file must be a block of keys");
  write("wrong.yaml", "monet: 1\nclocks: 1 GHz\n");
  EXPECT_EQ(problem(write("m.yaml", "monet: 1\ninclude: wrong.yaml\n")),
            "wrong.yaml:2:1: unknown key 'clocks' in the machine (did you mean 'clock'?)");
  write("broken.yaml", "a: [\n");
  EXPECT_THAT(problem(write("m.yaml", "include: broken.yaml\n")), testing::StartsWith("broken.yaml:2:1: not YAML"));
}

TEST_F(Includes, TooManyEnd) {
  for (int i = 0; i < 20; ++i) {
    write("f" + std::to_string(i) + ".yaml", "include: f" + std::to_string(i + 1) + ".yaml\n");
  }
  EXPECT_THAT(problem((folder_ / "f0.yaml").string()), HasSubstr("too many files included"));
  // Each file includes the next one twice: 2^15 files.
  for (int i = 0; i < 14; ++i) {
    const std::string next = "g" + std::to_string(i + 1) + ".yaml";
    write("g" + std::to_string(i) + ".yaml", "a: {include: " + next + "}\nb: {include: " + next + "}\n");
  }
  write("g14.yaml", "c: 1\n");
  EXPECT_THAT(problem((folder_ / "g0.yaml").string()), HasSubstr("too many files included"));
}

TEST_F(Includes, MissingFilesAndFolders) {
  EXPECT_EQ(problem((folder_ / "absent.yaml").string()),
            "absent.yaml: cannot open the file: No such file or directory (check the path)");
  EXPECT_EQ(problem((folder_ / "parts").string()), "parts: cannot open the file: it is a folder (check the path)");
}

TEST_F(Includes, PresetsCanBeOpenedAndIncluded) {
  if (preset_names().empty()) GTEST_SKIP() << "no presets";
  const std::string name = preset_names().front();
  const auto preset = open_hardware(name);
  ASSERT_TRUE(preset) << preset.error().text();
  const auto mine = read_hardware(write("m.yaml", "monet: 1\nname: mine\ninclude: [" + name + "]\n"));
  ASSERT_TRUE(mine) << mine.error().text();
  EXPECT_EQ(mine->name, "mine");
  EXPECT_EQ(mine->cores.size(), preset->cores.size());
  EXPECT_EQ(mine->memories.size(), preset->memories.size());
}

TEST_F(Includes, OpensPresetsAndFiles) {
  const std::string path = write("m.yaml", test::small_machine);
  EXPECT_TRUE(open_hardware(path));
  if (preset_names().empty()) GTEST_SKIP() << "no presets";
  const std::string slip = preset_names().front() + "x";
  EXPECT_THAT(open_hardware(slip).error().text(),
              testing::StartsWith(slip + ": there is no such file or preset (did you mean '"));
  EXPECT_EQ(
      open_hardware("/no/such/thing/at/all/whatever.yaml").error().text(),
      "/no/such/thing/at/all/whatever.yaml: there is no such file or preset (`monet hardware list` shows the presets)");
}

}  // namespace
}  // namespace monet
