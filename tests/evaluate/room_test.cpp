// Room in a memory over time, against adding up everything at every moment.
#include "evaluate/schedule/room.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace monet {
namespace {

Room::Moment until(double at) { return {.at = at, .wait = Wait::memory, .by = static_cast<std::uint32_t>(at)}; }

TEST(Room, IsThereWhenEnoughHasBeenGivenBack) {
  Room room(100);
  ASSERT_TRUE(room.find(100).has_value());
  EXPECT_EQ(room.find(100)->at, 0);
  EXPECT_FALSE(room.find(101).has_value());
  room.hold(60);
  EXPECT_FALSE(room.find(50).has_value());
  room.begin(60, 10);
  EXPECT_FALSE(room.find(50).has_value());  // nobody knows for how long
  room.give_back(60, until(30));
  ASSERT_TRUE(room.find(50).has_value());
  EXPECT_EQ(room.find(50)->at, 30);
  EXPECT_EQ(room.find(50)->wait, Wait::memory);
  EXPECT_EQ(room.find(50)->by, 30U);
  EXPECT_EQ(room.find(40)->at, 0);
}

TEST(Room, BesideWhatStartsLaterIsThereBefore) {
  // 70 until 100, then another 70: 30 fit all the time.
  Room room(100);
  room.hold(70);
  room.begin(70, 0);
  room.give_back(70, until(100));
  ASSERT_EQ(room.find(70)->at, 100);
  room.hold(70);
  room.begin(70, 100);
  ASSERT_TRUE(room.find(30).has_value());
  EXPECT_EQ(room.find(30)->at, 0);
  EXPECT_FALSE(room.find(31).has_value());
}

TEST(Room, WithoutACapacityIsAlwaysThere) {
  Room room(std::nullopt);
  room.hold(1000);
  room.begin(1000, 5);
  EXPECT_EQ(room.find(std::int64_t{1} << 60)->at, 0);
}

TEST(Room, IsWhatAddingUpGives) {
  std::mt19937 random(7);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution<int>(least, most)(random); };
  for (int round = 0; round < 40; ++round) {
    Room room(200);
    struct Stay {
      double start, end;
      int bytes;
    };
    std::vector<Stay> stays;
    constexpr double forever = 1e9;
    for (int i = 0; i < 300; ++i) {
      const int bytes = pick(0, 60);
      // The earliest of all moments at which something ends, from which on it fits.
      std::optional<double> expected;
      std::vector<double> moments = {0};
      for (const Stay& stay : stays) {
        if (stay.end < forever) moments.push_back(stay.end);
      }
      std::ranges::sort(moments);
      for (const double from : moments) {
        bool fits = true;
        std::vector<double> later = {from};
        for (const Stay& stay : stays) later.push_back(std::max(from, stay.start));
        for (const double at : later) {
          int sum = bytes;
          for (const Stay& stay : stays) sum += stay.start <= at && at < stay.end ? stay.bytes : 0;
          fits = fits && sum <= 200;
        }
        if (!fits) continue;
        expected = from;
        break;
      }
      const auto found = room.find(bytes);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (found) {
        ASSERT_EQ(found->at, *expected);
        room.hold(bytes);
        const double start = found->at + pick(0, 20);
        room.begin(bytes, start);
        stays.push_back({start, forever, bytes});
      }
      const auto open = static_cast<std::size_t>(pick(0, static_cast<int>(stays.size())));
      if (open == stays.size() || stays[open].end < forever) continue;
      stays[open].end = stays[open].start + pick(0, 100);
      room.give_back(stays[open].bytes, until(stays[open].end));
    }
  }
}

}  // namespace
}  // namespace monet
