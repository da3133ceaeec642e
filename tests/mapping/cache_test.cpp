// Mappings that are kept: in memory, and as lines of a file that may be damaged.
#include "mapping/cache.h"

#include "mapping/random_cases.h"
#include "support/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace monet {
namespace {

using namespace test;

TEST(MappingLine, ReadsBackWhatWasWritten) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const Problem problem = random_problem(random, 30);
    const Target target = random_target(random, 1000, 8);
    const auto mapped = map_problem(problem, target);
    if (!mapped) continue;
    const std::string line = to_line(mapped->mapping);
    const auto read = mapping_from(line);
    ASSERT_TRUE(read) << line;
    EXPECT_EQ(to_line(*read), line);
    const auto again = cost_of(problem, target, *read);
    ASSERT_TRUE(again) << again.error().text() << '\n' << line;
    EXPECT_NEAR(again->cost.cycles, mapped->cost.cycles, 1e-9 * mapped->cost.cycles) << seed;
    EXPECT_NEAR(again->cost.energy_pj, mapped->cost.energy_pj, 1e-9 * mapped->cost.energy_pj) << seed;
  }
}

TEST(MappingLine, ThatIsDamagedIsNoMapping) {
  for (const char* line : {"", "x", "1", "1 0 0", "1 0 0 0 0 0", "-1", "0 0 0 junk", "0 0 0 7", "99999999999999999999",
                           "65", "0 1 64 2 0", "1 0 0 4611686018427387905 0 0", "0 0 1 2 3"}) {
    EXPECT_FALSE(mapping_from(line)) << line;
  }
  EXPECT_TRUE(mapping_from("0 0 0"));
}

// Whatever is written there, it is an answer of the model or none.
TEST(MappingLine, ThatIsWrongGivesNoWrongCost) {
  const Problem problem = matmul(1, 64, 64, 64);
  const Target target = tpu_like();
  const auto mapped = map_problem(problem, target, {.objective = Objective::energy});
  ASSERT_TRUE(mapped);
  Random random(1);
  const std::string line = to_line(mapped->mapping);
  std::size_t mappings = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string damaged = line;
    for (std::int64_t n = random.between(1, 3); n > 0; --n) {
      const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(damaged.size()) - 1));
      damaged[at] = "0123456789 "[random.between(0, 10)];
    }
    const auto read = mapping_from(damaged);
    if (!read) continue;
    const auto cost = cost_of(problem, target, *read);
    if (!cost) continue;
    ++mappings;
    EXPECT_GE(cost->cost.cycles, cost->cost.bound_cycles * (1 - 1e-9)) << damaged;
    EXPECT_GE(cost->cost.ideal_cycles, 64.0 * 64 * 64 / 1024 - 1e-9) << damaged;
    EXPECT_GE(cost->cost.compute_cycles, 256 - 1e-9) << damaged;
  }
  EXPECT_GT(mappings, 10U);
}

TEST(CostOf, RefusesLanesThatAreNotThere) {
  const Problem problem = matmul(1, 64, 64, 64);
  Mapping mapping{.spatial = {{0, 1, 64}}, .temporal = {{0, 64}, {2, 64}}, .cuts = {{2, 2}, {0, 2}, {0, 2, 2}}};
  const auto wide = cost_of(problem, tpu_like(), mapping);
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().kind, ErrorKind::infeasible);
  mapping.spatial = {{0, 2, 32}};  // a loop that this dimension does not take
  EXPECT_FALSE(cost_of(problem, tpu_like(), mapping));
  mapping.spatial = {{0, 1, 0}};
  EXPECT_FALSE(cost_of(problem, tpu_like(), mapping));
  mapping.spatial = {{9, 1, 2}};
  EXPECT_FALSE(cost_of(problem, tpu_like(), mapping));
  mapping.spatial = {};
  mapping.temporal = {{9, 64}};
  EXPECT_FALSE(cost_of(problem, tpu_like(), mapping));
  mapping.temporal = {{0, 64}, {1, 64}};
  const auto part = cost_of(problem, tpu_like(), mapping);
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().message, "the order leaves out iterations of loop C");
}

TEST(MappingCache, KeepsTheFirstResult) {
  MappingCache cache;
  EXPECT_EQ(cache.find("a"), nullptr);
  const auto result = std::make_shared<const Expected<MappedProblem>>(MappedProblem{.evaluated = 1});
  cache.put("a", result);
  cache.put("a", std::make_shared<const Expected<MappedProblem>>(MappedProblem{.evaluated = 2}));
  ASSERT_NE(cache.find("a"), nullptr);
  EXPECT_EQ((**cache.find("a")).evaluated, 1);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_EQ(cache.size(), 1U);
}

class Store : public ::testing::Test {
 protected:
  test::Folder folder_;
  std::filesystem::path path_ = folder_ / "mappings";
  const std::string digest_ = std::string(31, '0') + "1";
};

TEST_F(Store, GivesBackWhatWasSaved) {
  auto store = MappingStore::open(path_);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->find(digest_), nullptr);
  const Mapping mapping{.spatial = {{0, 1, 4}}, .temporal = {{0, 2}}, .cuts = {{1}, {0, 1}}};
  store->add(digest_, mapping);
  ASSERT_TRUE(store->save());
  ASSERT_TRUE(store->save());
  auto again = MappingStore::open(path_);
  ASSERT_TRUE(again);
  ASSERT_NE(again->find(digest_), nullptr);
  EXPECT_EQ(to_line(*again->find(digest_)), to_line(mapping));
  EXPECT_EQ(again->ignored_lines(), 0U);
}

TEST_F(Store, IgnoresWhatItDoesNotUnderstand) {
  std::ofstream(path_) << "junk\n" << digest_ << " 0 0 0\n" << digest_.substr(1) << " 0 0 0\n" << digest_ << " 1 2\n";
  const auto store = MappingStore::open(path_);
  ASSERT_TRUE(store);
  EXPECT_NE(store->find(digest_), nullptr);
  EXPECT_EQ(store->ignored_lines(), 3U);
}

// Who wrote it was ended on the way: "12" may have become "1".
TEST_F(Store, TakesNoLineWithoutItsEndAndWritesNoneBehindIt) {
  std::ofstream(path_) << digest_ << " 0 0 1 1 1";
  auto store = MappingStore::open(path_);
  ASSERT_TRUE(store);
  EXPECT_EQ(store->find(digest_), nullptr);
  EXPECT_EQ(store->ignored_lines(), 1U);
  const std::string other = std::string(31, '0') + "2";
  store->add(other, {});
  ASSERT_TRUE(store->save());
  EXPECT_NE(MappingStore::open(path_)->find(other), nullptr);
}

TEST_F(Store, SaysWhenItCannotBeWritten) {
  auto store = MappingStore::open((path_ / "folder" / "file").string());
  ASSERT_TRUE(store);
  store->add(digest_, {});
  const auto saved = store->save();
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().message, "cannot be written: No such file or directory");
  EXPECT_FALSE(saved.error().advice.empty());
}

TEST_F(Store, SaysWhenItCannotBeRead) {
  std::filesystem::create_directory(path_);
  const auto store = MappingStore::open(path_);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().message, "cannot open the file: it is a folder");
}

}  // namespace
}  // namespace monet
