// Is every design that a damaged store still has read from it, as it was? And is a store that goes away while it is
// filled noticed, and what it had kept?
#include "explore/store/rescue.h"

#include "explore/toy_space.h"
#include "support/expect_error.h"

#include <unistd.h>

#include <map>

namespace monet::explore {
namespace {

using test::bytes_of;
using test::expect_error;
using test::filled_store;
using test::Folder;
using test::run_sql;
using test::toy_content;
using test::toy_outcome;
using test::write_bytes;

constexpr std::size_t designs_in_all = 60;
constexpr std::size_t page = 4096;

std::map<Design, Outcome> outcomes_in(const std::string& path) {
  std::map<Design, Outcome> all;
  auto store = Store::open_to_read(path);
  EXPECT_TRUE(store) << store.error().text();
  if (!store) return all;
  const Status read = store->for_each([&](const Outcome& outcome) -> Status {
    all.emplace(outcome.design, outcome);
    return Done{};
  });
  EXPECT_TRUE(read) << read.error().text();
  return all;
}

// All are what was put there; the number of them.
std::size_t right_ones_in(const std::string& path) {
  const auto all = outcomes_in(path);
  for (const auto& [design, outcome] : all) EXPECT_EQ(outcome, toy_outcome(design));
  return all.size();
}

std::string garbage(SeededRandom& random, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (char& byte : text) byte = static_cast<char>(random.next());
  return text;
}

// A store whose failures are so long that rows go on in pages of their own.
void fill_with_long_rows(const std::string& path) {
  auto store = Store::open_to_fill(path, toy_content(), true);
  ASSERT_TRUE(store);
  for (Design design = 0; design < designs_in_all; ++design) {
    Outcome outcome{.design = design, .failure = std::string(300 * (design + 1), static_cast<char>('a' + design % 26))};
    ASSERT_TRUE(store->put(outcome));
  }
  ASSERT_TRUE(store->flush());
}

TEST(ExploreStoreRescue, AWholeStoreIsReadToTheLastBit) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, designs_in_all);
  }
  const std::string before = bytes_of(path);
  const auto rescued = rescue(path, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(rescued->path, folder / "toy.rescued.sqlite");
  EXPECT_EQ(rescued->designs, designs_in_all);
  EXPECT_EQ(rescued->broken, 0U);
  EXPECT_EQ(right_ones_in(rescued->path), designs_in_all);
  EXPECT_EQ(bytes_of(path), before);
  EXPECT_EQ(rescue(path, std::nullopt, "")->path, folder / "toy.rescued-2.sqlite") << "no file is written over";
  expect_error(rescue(path, std::nullopt, path).error(), {"there is such a file already"}, path);
}

TEST(ExploreStoreRescue, ARescuedStoreGoesOn) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 40);
  }
  const auto rescued = rescue(path, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  auto store = Store::open_to_fill(rescued->path, toy_content(), false);
  ASSERT_TRUE(store) << store.error().text();
  const std::vector<Design> wanted{39, 40};
  EXPECT_EQ(*store->claim(wanted), std::vector<Design>{40});
  EXPECT_TRUE(store->put(toy_outcome(40)) && store->flush() && store->check_kept());
}

TEST(ExploreStoreRescue, RowsThatGoOnInOtherPages) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  fill_with_long_rows(path);
  const auto rescued = rescue(path, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(outcomes_in(rescued->path), outcomes_in(path));
}

TEST(ExploreStoreRescue, TheJournalOfAProcessThatWasKilled) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite", copy = folder / "copy.sqlite";
  {
    const Store open = filled_store(path, designs_in_all);
    write_bytes(copy, bytes_of(path));
    write_bytes(copy + "-wal", bytes_of(path + "-wal"));
  }
  const auto rescued = rescue(copy, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(right_ones_in(rescued->path), designs_in_all);
}

// Wherever it is cut: what was before stays.
TEST(ExploreStoreRescue, CutAnywhere) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite", cut = folder / "cut.sqlite";
  {
    filled_store(path, designs_in_all);
  }
  const std::string good = bytes_of(path);
  std::size_t most = 0;
  for (std::size_t bytes = 0; bytes < good.size(); bytes += 1000) {
    write_bytes(cut, good.substr(0, bytes));
    const auto read = Store::open_to_read(cut);
    ASSERT_FALSE(read) << bytes;
    if (bytes > 0) {
      EXPECT_NE(read.error().advice.find("monet explore --rescue " + cut), std::string::npos) << read.error().text();
    }
    const auto rescued = rescue(cut, toy_content(), "");
    if (!rescued) {
      expect_error(rescued.error(), {"no design can be read any more"}, cut);
      continue;
    }
    EXPECT_GE(rescued->designs, most) << "more of the file has more designs";
    most = rescued->designs;
    EXPECT_EQ(right_ones_in(rescued->path), rescued->designs);
    std::filesystem::remove(rescued->path);
  }
  EXPECT_GT(most, 10U);
}

TEST(ExploreStoreRescue, PagesOfGarbage) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite", bad = folder / "bad.sqlite";
  {
    filled_store(path, designs_in_all);
  }
  const std::string good = bytes_of(path);
  SeededRandom random(11);
  std::size_t rescues = 0;
  for (int i = 0; i < 60; ++i) {
    std::string bytes = good;
    for (std::size_t k = 0; k <= random.below(3); ++k)
      bytes.replace(random.below(good.size() / page) * page, page, garbage(random, page));
    write_bytes(bad, bytes);
    const auto rescued = rescue(bad, toy_content(), "");
    if (!rescued) {
      EXPECT_EQ(rescued.error().kind, ErrorKind::user);
      continue;
    }
    ++rescues;
    EXPECT_EQ(right_ones_in(rescued->path), rescued->designs);
    std::filesystem::remove(rescued->path);
  }
  EXPECT_GT(rescues, 30U);
}

// The way to all designs, and the description of all tables: rows are found without them.
TEST(ExploreStoreRescue, TheFirstPageAndTheRoots) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, designs_in_all);
  }
  std::string bytes = bytes_of(path);
  SeededRandom random(3);
  bytes.replace(0, page, garbage(random, page));
  write_bytes(path, bytes);
  const auto rescued = rescue(path, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(right_ones_in(rescued->path), designs_in_all);
}

TEST(ExploreStoreRescue, ASpaceThatIsLostIsGivenAgain) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, designs_in_all);
  }
  std::string bytes = bytes_of(path);
  bytes.replace(page, page, std::string(page, '\0'));  // the table `meta`
  write_bytes(path, bytes);
  expect_error(rescue(path, std::nullopt, "").error(), {"does not say any more what it is of"}, path);
  EXPECT_NE(rescue(path, std::nullopt, "").error().advice.find("SPACE --rescue"), std::string::npos);
  const auto rescued = rescue(path, toy_content(), "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(right_ones_in(rescued->path), designs_in_all);
}

TEST(ExploreStoreRescue, AnotherSpaceIsRefused) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 3);
  }
  StoreContent other = toy_content();
  other.fingerprint = "another";
  expect_error(rescue(path, other, "").error(), {"the store is not of toy.yaml"}, path);
  EXPECT_EQ(folder.files(), 1U);
}

TEST(ExploreStoreRescue, AnotherVersionKeepsItsName) {
  const Folder folder;
  const std::string path = folder / "toy.sqlite";
  {
    filled_store(path, 3);
  }
  run_sql(path, "UPDATE meta SET value = '0.0.1' WHERE key = 'version'");
  const auto rescued = rescue(path, std::nullopt, "");
  ASSERT_TRUE(rescued) << rescued.error().text();
  EXPECT_EQ(Store::open_to_read(rescued->path)->version(), "0.0.1");
}

TEST(ExploreStoreRescue, FilesThatAreNoStores) {
  const Folder folder;
  const std::string path = folder / "text.sqlite";
  expect_error(rescue(path, std::nullopt, "").error(), {"there is no such store"}, path);
  for (const std::string& bytes : {std::string(), std::string("text"), std::string(100000, 'x')}) {
    write_bytes(path, bytes);
    expect_error(rescue(path, std::nullopt, "").error(), {"its space is lost"}, path);
    expect_error(rescue(path, toy_content(), "").error(), {"no design can be read any more"}, path);
  }
}

// What goes away while 40 of 60 designs are there, 3 of them not yet written.
class ExploreStoreLoss : public testing::Test {
 protected:
  ExploreStoreLoss() : store_(filled_store(path_, 37)) {
    for (Design design = 37; design < 40; ++design) EXPECT_TRUE(store_.put(toy_outcome(design)));
  }

  void expect_rescued(const std::string& what, std::size_t at_least, const std::string& name = "toy.rescued.sqlite") {
    const Status kept = store_.check_kept();
    ASSERT_FALSE(kept);
    expect_error(kept.error(), {"the store", what, "designs had been saved"}, path_);
    EXPECT_EQ(kept.error().kind, ErrorKind::user);
    const std::string rescued = folder_ / name;
    EXPECT_NE(kept.error().advice.find(rescued), std::string::npos) << kept.error().text();
    EXPECT_GE(right_ones_in(rescued), at_least);
    EXPECT_TRUE(Store::open_to_fill(rescued, toy_content(), false)) << "it can be filled on";
  }

  const Folder folder_;
  const std::string path_ = folder_ / "toy.sqlite";
  Store store_;
};

TEST_F(ExploreStoreLoss, NothingIsWrong) {
  EXPECT_TRUE(store_.check_kept());
  EXPECT_TRUE(store_.flush() && store_.check_kept());
}

TEST_F(ExploreStoreLoss, Removed) {
  std::filesystem::remove(path_);
  EXPECT_FALSE(store_.flush());
  expect_rescued("was removed", 40);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal")) << "of no use to another store of that name";
}

TEST_F(ExploreStoreLoss, RemovedWithItsJournal) {
  for (const char* const end : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + end);
  expect_rescued("was removed", 40);
}

TEST_F(ExploreStoreLoss, ReplacedByAnotherFile) {
  write_bytes(folder_ / "other", "another file");
  std::filesystem::rename(folder_ / "other", path_);
  write_bytes(folder_ / "toy.rescued.sqlite", "taken");
  expect_rescued("was replaced", 40, "toy.rescued-2.sqlite");
  EXPECT_EQ(bytes_of(path_), "another file");
}

TEST_F(ExploreStoreLoss, Cut) {
  std::filesystem::resize_file(path_, 0);
  EXPECT_FALSE(store_.flush());
  expect_rescued("was cut", 40);
}

TEST_F(ExploreStoreLoss, OverwrittenByText) {
  write_bytes(path_, std::string(std::filesystem::file_size(path_) + 1, 'x'));
  expect_rescued("was overwritten", 40);
}

TEST_F(ExploreStoreLoss, OverwrittenByAnotherStore) {
  StoreContent other = toy_content();
  other.fingerprint = "another";
  {
    ASSERT_TRUE(Store::open_to_fill(folder_ / "other.sqlite", other, true));
  }
  const std::string bytes = bytes_of(folder_ / "other.sqlite");
  write_bytes(path_, bytes + std::string(bytes_of(path_).size(), '\0'));
  EXPECT_FALSE(store_.check_kept());
}

TEST_F(ExploreStoreLoss, ItsFolderIsRemoved) {
  const Folder inner;
  std::filesystem::create_directory(inner / "in");
  const std::string path = inner / "in/away.sqlite";
  Store store = filled_store(path, 5);
  std::filesystem::remove_all(inner / "in");
  const Status kept = store.check_kept();
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().advice.find("5 designs are now in away.rescued.sqlite"), std::string::npos)
      << kept.error().text();
  EXPECT_EQ(right_ones_in("away.rescued.sqlite"), 5U);
  std::filesystem::remove("away.rescued.sqlite");
}

}  // namespace
}  // namespace monet::explore
