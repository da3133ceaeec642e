// Does a store keep every bit, whatever ends the process, and share work between those that fill it?
#include "explore/store/store.h"

#include "explore/toy_space.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <limits>

namespace monet::explore {
namespace {

using test::bytes_of;
using test::filled_store;
using test::Folder;
using test::run_sql;
using test::toy_content;
using test::toy_outcome;

std::vector<Outcome> stored_outcomes(Store& store) {
  std::vector<Outcome> all;
  const Status status = store.for_each([&](const Outcome& outcome) -> Status {
    all.push_back(outcome);
    return Done{};
  });
  EXPECT_TRUE(status) << status.error().text();
  return all;
}

TEST(ExploreStore, KeepsEveryBitInOrderOfDesigns) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    Store store = filled_store(path, 60);
    EXPECT_EQ(store.size(), 60U);
  }
  EXPECT_EQ(folder.files(), 1U) << "a closed store is one file";
  auto store = Store::open_to_read(path);
  ASSERT_TRUE(store) << store.error().text();
  const std::vector<Outcome> all = stored_outcomes(*store);
  ASSERT_EQ(all.size(), 60U);
  for (Design design = 0; design < all.size(); ++design) {
    EXPECT_EQ(all[design], toy_outcome(design));
    const auto one = store->find(design);
    ASSERT_TRUE(one && *one);
    EXPECT_EQ(**one, all[design]);
  }
  EXPECT_EQ(store->space().name, "toy");
  ASSERT_EQ(store->workloads().size(), 2U);
  EXPECT_EQ(store->workloads()[0].graph_hash, "hash of inference");
  EXPECT_EQ(store->workloads()[1].nodes, 21);
  EXPECT_EQ(store->workloads()[1].parameters, 22);
}

TEST(ExploreStore, KeepsNumbersAtTheirLimits) {
  using Limits = std::numeric_limits<double>;
  auto store = Store::scratch(toy_content());
  ASSERT_TRUE(store);
  Outcome outcome{.design = 1, .hardware_hash = std::string("a\0b", 3)};
  outcome.area_mm2 = Limits::max();
  outcome.static_w = Limits::denorm_min();
  outcome.macs_per_cycle = Limits::infinity();
  outcome.on_chip_bits = std::numeric_limits<std::int64_t>::min();
  ASSERT_TRUE(store->put(outcome) && store->flush());
  EXPECT_EQ(**store->find(1), outcome);
  Outcome odd{.design = 2};
  odd.area_mm2 = Limits::quiet_NaN();
  ASSERT_TRUE(store->put(odd) && store->flush());
  EXPECT_TRUE(std::isnan((*store->find(2))->area_mm2));
}

TEST(ExploreStore, FindsWhatIsNotYetWrittenAndWritesADesignOnce) {
  auto store = Store::scratch(toy_content());
  ASSERT_TRUE(store);
  ASSERT_TRUE(store->put(toy_outcome(4)));
  EXPECT_EQ(**store->find(4), toy_outcome(4));
  EXPECT_FALSE(*store->find(5));
  Outcome other = toy_outcome(4);
  other.area_mm2 = 1;
  ASSERT_TRUE(store->put(other) && store->flush());
  EXPECT_EQ(store->size(), 1U);
  EXPECT_EQ(**store->find(4), toy_outcome(4)) << "the first stays";
}

TEST(ExploreStore, ReadingChangesNoByteAndLeavesNoFile) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 30);
  }
  const std::string before = bytes_of(path);
  {
    auto store = Store::open_to_read(path);
    ASSERT_TRUE(store);
    EXPECT_EQ(stored_outcomes(*store).size(), 30U);
  }
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(ExploreStore, AKilledProcessLeavesWhatItWroteAndItsClaimsHoldNobodyUp) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  const pid_t child = fork();
  if (child == 0) {
    auto store = Store::open_to_fill(path, toy_content(), true);
    const std::vector<Design> wanted{0, 1, 2, 3};
    if (!store || store->claim(wanted)->size() != 4) _exit(1);
    if (!store->put(toy_outcome(1)) || !store->flush()) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int how = 0;
  waitpid(child, &how, 0);
  ASSERT_TRUE(WIFSIGNALED(how));
  const std::string before = bytes_of(path);
  {
    auto store = Store::open_to_read(path);
    ASSERT_TRUE(store) << store.error().text();
    EXPECT_EQ(stored_outcomes(*store), std::vector<Outcome>{toy_outcome(1)});
  }
  EXPECT_EQ(bytes_of(path), before);
  auto store = Store::open_to_fill(path, toy_content(), false);
  ASSERT_TRUE(store);
  auto database = Database::open(path, Database::Mode::read);
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("SELECT count(*) FROM owners"), 1) << "the dead one is cleared before anything is asked";
  EXPECT_EQ(*database->integer("SELECT count(*) FROM claims"), 0);
  const std::vector<Design> wanted{0, 1, 2, 3};
  EXPECT_TRUE(store->awaited(wanted)->empty());
  EXPECT_EQ(*store->claim(wanted), (std::vector<Design>{0, 2, 3}));
}

TEST(ExploreStore, TwoShareTheWork) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  auto a = Store::open_to_fill(path, toy_content(), true);
  auto b = Store::open_to_fill(path, toy_content(), false);
  ASSERT_TRUE(a && b);
  const std::vector<Design> first{0, 1, 2, 2}, second{1, 2, 3, 4};
  EXPECT_EQ(*a->claim(first), (std::vector<Design>{0, 1, 2}));
  EXPECT_EQ(*b->claim(second), (std::vector<Design>{3, 4}));
  EXPECT_EQ(*b->awaited(second), (std::vector<Design>{1, 2}));
  EXPECT_EQ(*a->claim(first), (std::vector<Design>{0, 1, 2})) << "what is one's own may be asked for again";
  ASSERT_TRUE(a->put(toy_outcome(1)) && a->flush());
  EXPECT_EQ(*b->awaited(second), std::vector<Design>{2});
  EXPECT_EQ(**b->find(1), toy_outcome(1));
  {
    Store gone = *std::move(a);
  }
  EXPECT_TRUE(b->awaited(second)->empty());
  EXPECT_EQ(*b->claim(first), (std::vector<Design>{0, 2}));
}

TEST(ExploreStore, AnotherHostIsAliveForAMinute) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  auto store = Store::open_to_fill(path, toy_content(), true);
  ASSERT_TRUE(store);
  const std::vector<Design> wanted{7};
  run_sql(path,
          "INSERT INTO owners VALUES (99, 'elsewhere', 1, '1', unixepoch() - 30); INSERT INTO claims VALUES (7, 99)");
  EXPECT_EQ(*store->awaited(wanted), wanted);
  EXPECT_TRUE(store->claim(wanted)->empty());
  run_sql(path, "UPDATE owners SET heartbeat = unixepoch() - 70 WHERE owner = 99");
  EXPECT_TRUE(store->awaited(wanted)->empty());
  EXPECT_EQ(*store->claim(wanted), wanted);
}

TEST(ExploreStore, AnotherProcessWithTheSameNumberIsAnother) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  auto store = Store::open_to_fill(path, toy_content(), true);
  ASSERT_TRUE(store);
  run_sql(path,
          "INSERT INTO owners SELECT 99, host, pid, '1', heartbeat FROM owners; INSERT INTO claims VALUES (7, 99)");
  const std::vector<Design> wanted{7};
  EXPECT_EQ(*store->claim(wanted), wanted);
}

// What comes out of a store, in one text.
std::string exported(const std::string& path) {
  auto store = Store::open_to_read(path);
  EXPECT_TRUE(store) << store.error().text();
  std::string text;
  for (const Outcome& outcome : stored_outcomes(*store)) text += to_line(outcome) + "\n";
  return text;
}

// As a method would: what is not there is claimed, evaluated and put.
void fill(const std::string& path, std::size_t count) {
  auto store = Store::open_to_fill(path, toy_content(), false);
  if (!store) _exit(1);
  for (Design first = 0; first < count; first += 8) {
    std::vector<Design> batch;
    for (Design design = first; design < std::min<Design>(first + 8, count); ++design) batch.push_back(design);
    const auto claimed = store->claim(batch);
    if (!claimed) _exit(1);
    for (const Design design : *claimed) {
      usleep(200);
      if (!store->put(toy_outcome(design))) _exit(1);
    }
  }
  if (!store->flush()) _exit(1);
}

TEST(ExploreStore, KilledAtRandomMomentsEqualsNeverInterrupted) {
  const Folder folder;
  const std::string whole = folder / "whole.sqlite", torn = folder / "torn.sqlite";
  {
    filled_store(whole, 60);
  }
  SeededRandom random(3);
  int killed = 0;
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      fill(torn, 60);
      _exit(0);
    }
    usleep(static_cast<useconds_t>(random.below(30000)));
    kill(child, SIGKILL);
    int how = 0;
    waitpid(child, &how, 0);
    killed += WIFSIGNALED(how);
    ASSERT_TRUE(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
  }
  EXPECT_GT(killed, 0);
  fill(torn, 60);
  EXPECT_EQ(exported(torn), exported(whole));
}

TEST(ExploreStore, ManyProcessesAtOnceDoNothingTwice) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      fill(path, 60);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int how = 0;
    waitpid(child, &how, 0);
    EXPECT_EQ(how, 0);
  }
  auto store = Store::open_to_read(path);
  ASSERT_TRUE(store);
  EXPECT_EQ(stored_outcomes(*store).size(), 60U);
}

}  // namespace
}  // namespace monet::explore
