// Is every packing one, is the least the least, and are the public instances solved?
#include "packing/packing.h"
#include "packing/check.h"
#include "packing/csv.h"
#include "packing/greedy.h"
#include "packing/order.h"
#include "packing/portfolio.h"
#include "support/shared.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

namespace monet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ItemRanges {
  std::int64_t count, times, sizes;
  bool aligned;
};

std::vector<PackItem> random_items(std::mt19937& random, const ItemRanges& ranges) {
  const auto up_to = [&](std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(0, most)(random); };
  std::vector<PackItem> items(static_cast<std::size_t>(ranges.count));
  for (PackItem& item : items) {
    item.lower = up_to(ranges.times - 1);
    item.upper = item.lower + up_to(ranges.times - item.lower);
    item.size = up_to(ranges.sizes);
    if (ranges.aligned) item.alignment = up_to(2) == 0 ? 1 + up_to(4) : 1;
  }
  return items;
}

bool alive_together(const PackItem& a, const PackItem& b) {
  return std::max(a.lower, b.lower) < std::min(a.upper, b.upper);
}

// Every packing can be pushed down until each buffer lies on another; in the order of offsets, each then lies on the
// highest before it. So the least peak is that of some order.
std::int64_t least_peak(const std::vector<PackItem>& items) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  do {
    std::vector<std::int64_t> tops(items.size(), 0);
    std::int64_t peak = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const PackItem& item = items[order[k]];
      if (item.size == 0 || item.lower == item.upper) continue;
      std::int64_t offset = 0;
      for (std::size_t j = 0; j < k; ++j) {
        if (items[order[j]].size > 0 && alive_together(item, items[order[j]]))
          offset = std::max(offset, tops[order[j]]);
      }
      offset = (offset + item.alignment - 1) / item.alignment * item.alignment;
      tops[order[k]] = offset + item.size;
      peak = std::max(peak, tops[order[k]]);
    }
    least = std::min(least, peak);
  } while (std::ranges::next_permutation(order).found);
  return least;
}

std::int64_t peak_of(const std::vector<PackItem>& items, const std::vector<std::int64_t>& offsets) {
  std::int64_t peak = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].size > 0 && items[i].lower < items[i].upper) peak = std::max(peak, offsets[i] + items[i].size);
  }
  return peak;
}

std::string text_of(const std::vector<PackItem>& items) {
  std::ostringstream text;
  for (const PackItem& item : items)
    text << item.lower << ',' << item.upper << ',' << item.size << ',' << item.alignment << '\n';
  return text.str();
}

TEST(Pack, FindsTheLeastOfAllOrders) {
  std::mt19937 random(1);
  for (int round = 0; round < 1500; ++round) {
    const ItemRanges ranges{1 + round % 7, 2 + round % 5, 1 + round % 6, round % 2 == 0};
    const std::vector<PackItem> items = random_items(random, ranges);
    const PackResult result = pack(items);
    const std::int64_t least = least_peak(items);
    ASSERT_EQ(result.peak, least) << text_of(items);
    ASSERT_TRUE(result.placed && result.proven) << text_of(items);
    ASSERT_EQ(check_packing(items, result.offsets, least), "") << text_of(items);
    ASSERT_EQ(result.peak, peak_of(items, result.offsets));
    if (least == 0) continue;
    const PackResult less = pack(items, {.capacity = least - 1});
    ASSERT_TRUE(!less.placed && less.proven) << text_of(items);
    ASSERT_EQ(check_packing(items, less.offsets, std::nullopt), "") << text_of(items);
  }
}

// The greedy packings are often the best: the search alone must find the same, and with any order.
TEST(Pack, TheSearchAloneIsComplete) {
  std::mt19937 random(2);
  for (int round = 0; round < 1500; ++round) {
    const ItemRanges ranges{2 + round % 6, 3 + round % 4, 1 + round % 5, round % 3 == 0};
    const std::vector<PackItem> items = random_items(random, ranges);
    for (const packing::Problem& problem : packing::split(items, 1)) {
      std::vector<PackItem> part;
      for (const std::size_t i : problem.item) part.push_back(items[i]);
      const std::int64_t least = least_peak(part);
      std::vector<std::int32_t> order(part.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::shuffle(order, random);
      packing::Search search(problem, order);
      packing::SearchLimit limit{.work = 1 << 24};
      ASSERT_EQ(search.run(least, limit), packing::Outcome::found) << text_of(part);
      ASSERT_EQ(check_packing(part, search.offsets(), least), "") << text_of(part);
      ASSERT_EQ(search.run(least - 1, limit), packing::Outcome::impossible) << text_of(part);
    }
  }
}

// Larger ones, with room to spare taken away by one known packing: cut a rectangle into pieces, and it is full.
std::vector<PackItem> cut_rectangle(std::mt19937& random, std::int64_t times, std::int64_t bytes, std::size_t count) {
  struct Piece {
    std::int64_t lower, upper, low, high;
  };
  std::vector<Piece> pieces{{0, times, 0, bytes}};
  while (pieces.size() < count) {
    const auto p = std::uniform_int_distribution<std::size_t>(0, pieces.size() - 1)(random);
    Piece& piece = pieces[p];
    const bool in_time = random() % 2 == 0;
    const std::int64_t low = in_time ? piece.lower : piece.low, high = in_time ? piece.upper : piece.high;
    if (high - low < 2) continue;
    const std::int64_t at = std::uniform_int_distribution<std::int64_t>(low + 1, high - 1)(random);
    Piece other = piece;
    (in_time ? piece.upper : piece.high) = at;
    (in_time ? other.lower : other.low) = at;
    pieces.push_back(other);
  }
  std::vector<PackItem> items;
  for (const Piece& piece : pieces) items.push_back({piece.lower, piece.upper, piece.high - piece.low, 1});
  std::ranges::shuffle(items, random);
  return items;
}

TEST(Pack, PutsACutRectangleTogetherAgain) {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const std::vector<PackItem> items = cut_rectangle(random, 1000, 5000, 10 + static_cast<std::size_t>(round));
    const PackResult result = pack(items, {.capacity = 5000});
    ASSERT_TRUE(result.placed && result.proven) << text_of(items);
    ASSERT_EQ(check_packing(items, result.offsets, 5000), "");
  }
}

TEST(Pack, RandomPackingsAreOnes) {
  std::mt19937 random(4);
  for (int round = 0; round < 24; ++round) {
    const ItemRanges ranges{20 + 25 * round, 5 + 40 * (round % 7), 1 + 10 * (round % 9), round % 2 == 0};
    const std::vector<PackItem> items = random_items(random, ranges);
    const PackLimits limits{.effort = 0.001};
    const PackResult result = pack(items, limits);
    ASSERT_EQ(check_packing(items, result.offsets, result.peak), "");
    ASSERT_EQ(result.peak, peak_of(items, result.offsets));
    ASSERT_GE(result.peak, max_load(items));
    for (const packing::Problem& problem : packing::split(items, 1)) {
      std::vector<PackItem> part;
      for (const std::size_t i : problem.item) part.push_back(items[i]);
      const packing::Offsets in_time = packing::pack_in_time(problem);
      ASSERT_EQ(check_packing(part, in_time.offset, in_time.peak), "");
    }
    const PackResult again = pack(items, limits);
    ASSERT_EQ(again.offsets, result.offsets);
    ASSERT_EQ(again.work, result.work);
  }
}

TEST(Pack, NothingTakesNothing) {
  EXPECT_EQ(pack({}).peak, 0);
  EXPECT_TRUE(pack({}).proven);
  const std::vector<PackItem> items = {{0, 5, 0, 8}, {3, 3, 100, 1}, {2, 2, 0, 1}};
  const PackResult result = pack(items, {.capacity = 0});
  EXPECT_TRUE(result.placed && result.proven);
  EXPECT_EQ(result.peak, 0);
  EXPECT_EQ(check_packing(items, result.offsets, 0), "");
}

TEST(Pack, HalfOpenLifetimesShareAddresses) {
  const std::vector<PackItem> items = {{0, 5, 10, 1}, {5, 9, 10, 1}};
  EXPECT_EQ(pack(items).peak, 10);
  EXPECT_EQ(max_load(items), 10);
}

TEST(Pack, AlignmentCostsWhatItMust) {
  // The small one cannot be below both others: 1 + padding to 64 + 100 + 64, or 100 above the aligned one.
  const std::vector<PackItem> items = {{0, 2, 1, 1}, {0, 2, 100, 64}, {0, 2, 64, 64}};
  const PackResult result = pack(items);
  EXPECT_EQ(result.peak, 64 + 100 + 1);
  EXPECT_TRUE(result.proven);
  EXPECT_EQ(check_packing(items, result.offsets, result.peak), "");
}

// Rare: one in some hundred thousand of this size.
TEST(Pack, MoreThanTheLoadCanBeProven) {
  const std::vector<std::vector<PackItem>> cases = {
      {{2, 6, 2}, {5, 10, 3}, {6, 9, 4}, {0, 3, 4}, {3, 6, 2}, {1, 2, 3}, {2, 4, 2}},
      {{7, 8, 2}, {8, 9, 4}, {2, 7, 3}, {1, 3, 4}, {3, 8, 3}, {1, 2, 4}, {4, 9, 3}, {2, 4, 2}},
      {{1, 3, 4}, {5, 10, 4}, {2, 5, 1}, {4, 5, 1}, {4, 6, 1}, {7, 9, 2}, {1, 2, 2}, {2, 7, 1}},
  };
  for (const std::vector<PackItem>& items : cases) {
    const std::int64_t load = max_load(items);
    ASSERT_EQ(least_peak(items), load + 1);
    const PackResult result = pack(items, {.capacity = load});
    EXPECT_TRUE(!result.placed && result.proven);
    EXPECT_EQ(pack(items).peak, load + 1);
    EXPECT_TRUE(pack(items).proven);
  }
}

TEST(Pack, TheLargestNumbersDoNotOverflow) {
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;
  constexpr std::int64_t third = pack_largest_total / 3 - 1;
  const std::vector<PackItem> items = {{-far, far, third, 1}, {-far, 0, third, 1}, {-1, far, third, 1}};
  const PackResult result = pack(items);
  EXPECT_EQ(result.peak, 3 * third);
  EXPECT_EQ(max_load(items), 3 * third);
  EXPECT_EQ(check_packing(items, result.offsets, result.peak), "");
}

TEST(Pack, ATimeLimitEndsTheSearch) {
  std::mt19937 random(5);
  const std::vector<PackItem> items = random_items(random, {400, 100, 1000, false});
  const auto start = std::chrono::steady_clock::now();
  const PackResult result = pack(items, {.effort = 1e9, .time_limit_s = 0.2});
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(check_packing(items, result.offsets, result.peak), "");
}

TEST(Pack, LargeOnesNeedNoSearch) {
  std::mt19937 random(6);
  std::vector<PackItem> items(10'000);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto start = static_cast<std::int64_t>(random() % 10'000);
    const auto length = static_cast<std::int64_t>(random() % (i % 100 == 0 ? 5'000 : 50));
    items[i] = {start, start + 1 + length, 1 + static_cast<std::int64_t>(random() % 100'000), 1};
  }
  const PackResult result = pack(items, {.effort = 0});
  EXPECT_EQ(check_packing(items, result.offsets, result.peak), "");
  EXPECT_EQ(result.work, 0);
}

TEST(CheckPacking, SaysWhatIsWrong) {
  const std::vector<PackItem> items = {{0, 4, 10, 1}, {2, 6, 5, 4}, {4, 8, 10, 1}};
  const auto check = [&](std::vector<std::int64_t> offsets, std::optional<std::int64_t> capacity = {}) {
    return check_packing(items, offsets, capacity);
  };
  EXPECT_THAT(check({0, 12, 0}), IsEmpty());
  EXPECT_THAT(check({0, 12, 0}, 17), IsEmpty());
  EXPECT_THAT(check({0, 12, 0}, 16), HasSubstr("buffer 1 at 12 with 5 bytes is above the capacity of 16"));
  EXPECT_THAT(check({0, 10, 0}), HasSubstr("buffer 1 has the offset 10, no multiple of 4"));
  EXPECT_THAT(check({-1, 12, 0}), HasSubstr("buffer 0 has the offset -1"));
  EXPECT_THAT(check({0, 8, 20}), HasSubstr("buffers 0 at 0 and 1 at 8 overlap at time 2"));
  EXPECT_THAT(check({20, 8, 12}), HasSubstr("buffers 1 at 8 and 2 at 12 overlap at time 4"));
  EXPECT_THAT(check({0, 12, 12}), HasSubstr("buffers 1 at 12 and 2 at 12 overlap at time 4"));
  EXPECT_THAT(check({0, 12}), HasSubstr("2 offsets for 3 buffers"));
}

// Pairwise, without a sweep.
TEST(CheckPacking, AgreesWithAllPairs) {
  std::mt19937 random(8);
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::vector<PackItem> items = random_items(random, {5, 6, 5, false});
    std::vector<std::int64_t> offsets(items.size());
    for (std::int64_t& offset : offsets) offset = static_cast<std::int64_t>(random() % 16);
    bool good = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool share =
            std::max(offsets[i], offsets[j]) < std::min(offsets[i] + items[i].size, offsets[j] + items[j].size);
        good = good && !(share && alive_together(items[i], items[j]));
      }
    }
    ASSERT_EQ(check_packing(items, offsets, std::nullopt).empty(), good) << text_of(items);
    wrong += good ? 0 : 1;
  }
  EXPECT_GT(wrong, 100);
  EXPECT_LT(wrong, 1900);
}

// The public instances

std::vector<PackItem> instance(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto table = read_pack_csv(text.str(), path.string());
  EXPECT_TRUE(table) << table.error().text();
  return table ? table->items : std::vector<PackItem>{};
}

TEST(PackInstances, MinimallocAtTheCapacityInTheirNames) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/packing");
  for (const char name : {'A', 'B', 'C', 'D', 'E', 'F'}) {
    const auto items = instance(path / (std::string("minimalloc_") + name + ".1048576.csv"));
    const PackResult result = pack(items, {.capacity = 1048576});
    EXPECT_TRUE(result.placed) << name;
    EXPECT_EQ(check_packing(items, result.offsets, 1048576), "") << name;
  }
}

TEST(PackInstances, IdeallocAtOrNearTheLargestLoad) {
  MONET_SHARED_OR_SKIP(path, "reference/instances/packing");
  const auto resnet50 = instance(path / "idealloc_resnet50.csv");
  const PackResult exact = pack(resnet50);
  EXPECT_EQ(exact.peak, max_load(resnet50));
  EXPECT_TRUE(exact.proven);
  EXPECT_EQ(check_packing(resnet50, exact.offsets, exact.peak), "");
  const auto large = instance(path / "idealloc_S_1.csv");
  const PackResult near = pack(large);
  EXPECT_LE(static_cast<double>(near.peak), 1.01 * static_cast<double>(max_load(large)));
  EXPECT_EQ(check_packing(large, near.offsets, near.peak), "");
}

}  // namespace
}  // namespace monet
