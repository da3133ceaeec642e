// Does a store refuse what is none of it, and say what to do?
#include "explore/store/store.h"

#include "explore/store/database.h"
#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <sys/stat.h>
#include <unistd.h>

namespace monet::explore {
namespace {

using test::bytes_of;
using test::expect_error;
using test::filled_store;
using test::Folder;
using test::run_sql;
using test::toy_content;
using test::write_bytes;

TEST(ExploreStoreErrors, AFileThatIsThereNeedsResume) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 3);
  }
  const auto store = Store::open_to_fill(path, toy_content(), true);
  ASSERT_FALSE(store);
  expect_error(store.error(), {"there is such a file already"}, path);
  EXPECT_NE(store.error().advice.find("--resume"), std::string::npos);
  const auto again = Store::open_to_fill(path, toy_content(), false);
  EXPECT_TRUE(again);
}

TEST(ExploreStoreErrors, NoFileOrNoFolder) {
  const Folder folder;
  const auto none = Store::open_to_read(folder / "none.sqlite");
  ASSERT_FALSE(none);
  expect_error(none.error(), {"there is no such store"}, "none.sqlite");
  const auto nowhere = Store::open_to_fill(folder / "no/where.sqlite", toy_content(), true);
  ASSERT_FALSE(nowhere);
  expect_error(nowhere.error(), {"cannot be made: No such file"}, "no/where.sqlite");
  const auto directory = Store::open_to_read(folder / "");
  ASSERT_FALSE(directory);
  expect_error(directory.error(), {"cannot be opened"});
}

TEST(ExploreStoreErrors, AJournalOfAStoreThatIsGone) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  write_bytes(path + "-wal", "left behind");
  const auto store = Store::open_to_fill(path, toy_content(), true);
  ASSERT_FALSE(store);
  expect_error(store.error(), {"the journal of a store that is gone"}, path + "-wal");
}

TEST(ExploreStoreErrors, ForeignFiles) {
  const Folder folder;
  const std::string path = folder / "foreign";
  write_bytes(path, "id,lower,upper\n" + std::string(2000, 'x'));
  for (const bool read : {true, false}) {
    const auto store = read ? Store::open_to_read(path) : Store::open_to_fill(path, toy_content(), false);
    ASSERT_FALSE(store);
    expect_error(store.error(), {"this is no store", "not a SQLite database"}, path);
  }
  write_bytes(path, "");
  expect_error(Store::open_to_read(path).error(), {"this is no store", "empty"}, path);
  expect_error(Store::open_to_fill(path, toy_content(), false).error(), {"this is no store", "empty"}, path);
  run_sql(path, "CREATE TABLE songs (title TEXT)");
  expect_error(Store::open_to_read(path).error(), {"this is no store", "another program"}, path);
}

TEST(ExploreStoreErrors, OtherFormats) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 3);
  }
  run_sql(path, "PRAGMA user_version = 7");
  const auto newer = Store::open_to_read(path);
  ASSERT_FALSE(newer);
  expect_error(newer.error(), {"format 7", "format 1"}, path);
  EXPECT_NE(newer.error().advice.find("newer"), std::string::npos);
  run_sql(path, "PRAGMA user_version = 0");
  EXPECT_NE(Store::open_to_fill(path, toy_content(), false).error().advice.find("older"), std::string::npos);
}

TEST(ExploreStoreErrors, OtherSpacesSayWhatDiffers) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 3);
  }
  const auto refused = [&](const StoreContent& content, const std::string& why) {
    const auto store = Store::open_to_fill(path, content, false);
    ASSERT_FALSE(store);
    expect_error(store.error(), {"the store has other results", why}, path);
  };
  StoreContent content = toy_content();
  content.fingerprint = "another";
  refused(content, "hardware file");
  content.workloads[1].graph_hash = "another";
  refused(content, "the network of workload 'training'");
  content.space.text += "# changed\n";
  refused(content, "not the same text as toy.yaml");
  run_sql(path, "UPDATE meta SET value = '0.0.1' WHERE key = 'version'");
  refused(toy_content(), "monet 0.0.1 made it");
  EXPECT_TRUE(Store::open_to_read(path)) << "still to be looked at";
}

TEST(ExploreStoreErrors, Damage) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  const auto damaged_by = [&](const std::string& sql, const std::string& why) {
    std::filesystem::remove(path);
    {
      filled_store(path, 20);
    }
    run_sql(path, sql);
    auto store = Store::open_to_read(path);
    if (!store) return expect_error(store.error(), {"damaged", why}, path);
    const Status status = store->for_each([](const Outcome&) -> Status { return Done{}; });
    ASSERT_FALSE(status) << sql;
    expect_error(status.error(), {"damaged", why}, path);
  };
  damaged_by("DROP TABLE claims", "'claims' is gone");
  damaged_by("ALTER TABLE results ADD COLUMN more", "'results' is not what it was");
  damaged_by("DELETE FROM meta WHERE key = 'space_text'", "space_text");
  damaged_by("DELETE FROM workloads WHERE workload = 1", "workloads are not those of its space");
  damaged_by("DELETE FROM results WHERE workload = 1 AND design = 4", "design 4 has no results of some");
  damaged_by("UPDATE results SET workload = 5 WHERE workload = 1 AND design = 4", "design 4 has results of workloads");
  damaged_by("UPDATE results SET energy_pj = NULL WHERE design = 4", "design 4 has results that are no numbers");
  damaged_by("UPDATE designs SET area_mm2 = 9e999 WHERE design = 4", "design 4 has results that are no numbers");
  damaged_by("UPDATE designs SET design = 60 WHERE design = 4", "design 60 is none of 60 designs");
  damaged_by("UPDATE designs SET design = -1 WHERE design = 4", "is none of 60 designs");
}

TEST(ExploreStoreErrors, ASpaceThatCannotBeRead) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 1);
  }
  run_sql(path, "UPDATE meta SET value = 'space: 1' WHERE key = 'space_text'");
  const auto store = Store::open_to_read(path);
  ASSERT_FALSE(store);
  expect_error(store.error(), {"the space in the store cannot be read", "toy.yaml"}, path);
}

TEST(ExploreStoreErrors, ReadOnlyFiles) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 5);
  }
  chmod(path.c_str(), 0444);
  chmod((folder / "").c_str(), 0555);
  auto store = Store::open_to_read(path);
  EXPECT_TRUE(store && store->size() == 5);
  const auto fill_it = Store::open_to_fill(path, toy_content(), false);
  chmod((folder / "").c_str(), 0755);
  ASSERT_FALSE(fill_it);
  expect_error(fill_it.error(), {"may not be written"}, path);
}

TEST(ExploreStoreErrors, AFullDisk) {
  const Folder folder;
  auto database = Database::open(folder / "full.sqlite", Database::Mode::make);
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("PRAGMA max_page_count = 4; CREATE TABLE a (b TEXT)"));
  const Status full = database->execute("INSERT INTO a VALUES (hex(zeroblob(100000)))");
  ASSERT_FALSE(full);
  expect_error(full.error(), {"the disk is full"}, "full.sqlite");
  EXPECT_NE(full.error().advice.find("--resume"), std::string::npos);
}

// Whatever a byte is changed to: an answer or an error, no crash.
TEST(ExploreStoreErrors, AnyByteMayBeWrong) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 60);
  }
  const std::string good = bytes_of(path);
  SeededRandom random(5);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (std::size_t k = 0; k <= random.below(4); ++k)
      bad[random.below(i % 2 == 0 ? 4096 : bad.size())] = static_cast<char>(random.next());
    if (i % 10 == 0) bad.resize(random.below(bad.size()));
    write_bytes(path, bad);
    auto store = Store::open_to_read(path);
    if (store) {
      const Status looked = store->for_each([](const Outcome&) -> Status { return Done{}; });
      EXPECT_TRUE(looked || !looked.error().message.empty());
    } else {
      EXPECT_FALSE(store.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace monet::explore
