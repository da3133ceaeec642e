// Mappings kept in the user's cache folder: they come back as they were found, and what is damaged does not.
#include "mapping/kept_mappings.h"

#include "mapping/key.h"
#include "mapping/random_cases.h"
#include "support/folder.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace monet {
namespace {

using namespace test;

struct FoundMapping {
  std::string key;
  Problem problem;
  Target target;
  MappedProblem found;
};

std::vector<FoundMapping> found_mappings(std::size_t count) {
  std::vector<FoundMapping> result;
  for (std::uint64_t seed = 0; result.size() < count; ++seed) {
    Random random(seed);
    Problem problem = random_problem(random, 30);
    Target target = random_target(random, 1000, 8);
    auto found = map_problem(problem, target);
    if (!found) continue;
    std::string key = key_of(problem) + key_of(target);
    result.push_back({std::move(key), std::move(problem), std::move(target), *std::move(found)});
  }
  return result;
}

class KeptMappingsTest : public testing::Test {
 protected:
  const Folder temporary_;
  const std::string folder_ = temporary_ / "deeper";

  std::filesystem::path file() const {
    return std::filesystem::path(folder_) / ("mappings-" + std::to_string(version_of_model()));
  }
};

TEST_F(KeptMappingsTest, ComeBackWithTheBitsOfTheSearch) {
  const std::vector<FoundMapping> all = found_mappings(60);
  {
    const auto kept = KeptMappings::in(folder_);
    ASSERT_NE(kept, nullptr);
    for (const FoundMapping& each : all) {
      EXPECT_FALSE(kept->find(each.key, each.problem, each.target));
      kept->add(each.key, each.problem, each.target, each.found);
    }
  }
  const auto again = KeptMappings::in(folder_);
  std::size_t back = 0;
  for (const FoundMapping& each : all) {
    const auto found = again->find(each.key, each.problem, each.target);
    if (!found) continue;  // costing it anew gives other last digits: it was not kept
    ++back;
    EXPECT_EQ(found->cost.cycles, each.found.cost.cycles);
    EXPECT_EQ(found->cost.energy_pj, each.found.cost.energy_pj);
    EXPECT_EQ(found->cost.memory_pj, each.found.cost.memory_pj);
    EXPECT_EQ(found->mapping.cuts, each.found.mapping.cuts);
    EXPECT_EQ(found->within, each.found.within);
    EXPECT_EQ(found->complete, each.found.complete);
  }
  EXPECT_GE(back, all.size() * 9 / 10);
  EXPECT_LE(std::filesystem::file_size(file()), KeptMappings::most_bytes);
}

TEST_F(KeptMappingsTest, AreNotFoundUnderAnotherKeyAndDoNotFitAnotherProblem) {
  const std::vector<FoundMapping> all = found_mappings(2);
  const auto kept = KeptMappings::in(folder_);
  kept->add(all[0].key, all[0].problem, all[0].target, all[0].found);
  EXPECT_FALSE(kept->find(all[0].key + "x", all[0].problem, all[0].target));
}

TEST_F(KeptMappingsTest, ThatAreDamagedAreSearchedForAgain) {
  const std::vector<FoundMapping> all = found_mappings(20);
  const auto kept = KeptMappings::in(folder_);
  for (const FoundMapping& each : all) kept->add(each.key, each.problem, each.target, each.found);
  // One bit of every byte that is not empty.
  std::string text;
  {
    std::ifstream in(file(), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (char& byte : text) byte = static_cast<char>(byte ^ (byte != 0 ? 4 : 0));
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << text;
  for (const FoundMapping& each : all) EXPECT_FALSE(kept->find(each.key, each.problem, each.target));
  std::filesystem::resize_file(file(), 100);
  for (const FoundMapping& each : all) EXPECT_FALSE(kept->find(each.key, each.problem, each.target));
  for (const FoundMapping& each : all) kept->add(each.key, each.problem, each.target, each.found);
  EXPECT_TRUE(kept->find(all[0].key, all[0].problem, all[0].target));
}

TEST_F(KeptMappingsTest, AreSharedByProcessesThatWriteAtOnce) {
  const std::vector<FoundMapping> all = found_mappings(40);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto kept = KeptMappings::in(folder_);
      for (int round = 0; round < 20 && kept != nullptr; ++round) {
        for (const FoundMapping& each : all) kept->add(each.key, each.problem, each.target, each.found);
      }
      _exit(kept == nullptr ? 1 : 0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  const auto kept = KeptMappings::in(folder_);
  for (const FoundMapping& each : all) {
    const auto found = kept->find(each.key, each.problem, each.target);
    if (!found) continue;
    EXPECT_EQ(found->cost.cycles, each.found.cost.cycles);
  }
  EXPECT_TRUE(kept->find(all[0].key, all[0].problem, all[0].target));
}

TEST(KeptMappings, OfAFolderThatCannotBeMadeAreNone) {
  EXPECT_EQ(KeptMappings::in("/proc/no_such_folder/monet"), nullptr);
}

// The tests would fill the cache of whoever runs them.
TEST(KeptMappings, AreNotThoseOfTheUserUnlessAProgramSaysSo) { EXPECT_EQ(KeptMappings::of_user(), nullptr); }

}  // namespace
}  // namespace monet
