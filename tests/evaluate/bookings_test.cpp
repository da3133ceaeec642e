#include "evaluate/schedule/bookings.h"

#include <gtest/gtest.h>

#include <random>

namespace monet {
namespace {

std::vector<Channel> channels(std::initializer_list<double> widths) {
  std::vector<Channel> result;
  for (double width : widths)
    result.push_back({.name = "c", .link = {}, .memory = {}, .port = 0, .bits_per_cycle = width});
  return result;
}

TEST(Bookings, AloneATransferTakesBitsOverWidth) {
  Bookings bookings(channels({64}));
  const std::vector<ChannelUse> use = {{0, 1}};
  EXPECT_DOUBLE_EQ(bookings.book(use, 10, 6400, 64), 110);
}

TEST(Bookings, TheNarrowestChannelDecidesAndTheRestOfTheOthersStaysFree) {
  Bookings bookings(channels({64, 16}));
  const std::vector<ChannelUse> both = {{0, 1}, {1, 1}};
  const std::vector<ChannelUse> wide = {{0, 1}};
  EXPECT_DOUBLE_EQ(bookings.book(both, 0, 1600, 16), 100);
  // 48 of 64 bits a cycle are left.
  EXPECT_DOUBLE_EQ(bookings.book(wide, 0, 4800, 64), 100);
  EXPECT_DOUBLE_EQ(bookings.book(wide, 0, 64, 64), 101);
}

TEST(Bookings, WhatComesLaterUsesTheGapsAndThenTheRest) {
  Bookings bookings(channels({10}));
  const std::vector<ChannelUse> use = {{0, 1}};
  EXPECT_DOUBLE_EQ(bookings.book(use, 50, 100, 10), 60);
  double begin = -1;
  // Until 50, then not until 60, then 10 more cycles.
  EXPECT_DOUBLE_EQ(bookings.book(use, 40, 200, 10, &begin), 70);
  EXPECT_DOUBLE_EQ(begin, 40);
  EXPECT_DOUBLE_EQ(bookings.book(use, 45, 10, 10, &begin), 71);
  EXPECT_DOUBLE_EQ(begin, 70);
}

TEST(Bookings, AShareAboveOneTakesMoreOfAChannel) {
  Bookings bookings(channels({1024}));
  // Words of 64 bits through a port of 1024: one a cycle, nothing else meanwhile.
  const std::vector<ChannelUse> narrow = {{0, 16}};
  const std::vector<ChannelUse> full = {{0, 1}};
  EXPECT_DOUBLE_EQ(bookings.book(narrow, 0, 6400, 64), 100);
  EXPECT_DOUBLE_EQ(bookings.book(full, 0, 1024, 1024), 101);
}

TEST(Bookings, ProbingChangesNothing) {
  Bookings bookings(channels({8}));
  const std::vector<ChannelUse> use = {{0, 1}};
  EXPECT_DOUBLE_EQ(bookings.probe(use, 0, 80, 8), 10);
  EXPECT_DOUBLE_EQ(bookings.probe(use, 0, 80, 8), 10);
  EXPECT_DOUBLE_EQ(bookings.book(use, 0, 80, 8), 10);
  EXPECT_DOUBLE_EQ(bookings.probe(use, 0, 80, 8), 20);
}

TEST(Bookings, WhatIsBookedAsideLeavesWorkItsPart) {
  const std::vector<ChannelUse> use = {{0, 1}};
  Bookings bookings(channels({10}));
  bookings.reserve(0, 2);
  bookings.reserve(0, 3);
  double begin = -1;
  // 7 of 10 bits a cycle; all that is aside together has no more.
  EXPECT_DOUBLE_EQ(bookings.book_aside(use, 0, 70, 10, &begin), 10);
  EXPECT_DOUBLE_EQ(bookings.book_aside(use, 0, 70, 10, &begin), 20);
  EXPECT_DOUBLE_EQ(begin, 10);
  EXPECT_DOUBLE_EQ(bookings.book(use, 0, 30, 10), 10);
  EXPECT_DOUBLE_EQ(bookings.book(use, 100, 100, 10), 110);

  // Never less than half, and not more than is left.
  Bookings narrow(channels({10}));
  narrow.reserve(0, 9);
  EXPECT_DOUBLE_EQ(narrow.book_aside(use, 0, 50, 10, &begin), 10);
  EXPECT_DOUBLE_EQ(narrow.book(use, 20, 80, 8), 30);
  EXPECT_DOUBLE_EQ(narrow.book_aside(use, 20, 20, 10, &begin), 30);
}

// Whole cycles and whole bits, cycle by cycle: what a clerk with a calendar would do.
TEST(Bookings, AgreeWithACalendar) {
  std::mt19937 random(7);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  for (int round = 0; round < 300; ++round) {
    const int count = pick(1, 3);
    std::vector<Channel> all;
    std::vector<std::vector<double>> calendar;
    for (int i = 0; i < count; ++i) {
      const double width = 1 << pick(0, 3);
      all.push_back({.name = "c", .link = {}, .memory = {}, .port = 0, .bits_per_cycle = width});
      calendar.emplace_back(4000, width);
    }
    Bookings bookings(all);
    for (int step = 0; step < 12; ++step) {
      std::vector<ChannelUse> uses;
      double speed = 1 << pick(0, 3);
      for (int i = 0; i < count; ++i) {
        if (pick(0, 1) == 1) uses.push_back({static_cast<std::uint32_t>(i), static_cast<double>(1 << pick(0, 1))});
      }
      const int start = pick(0, 60);
      // An amount that whole cycles can do.
      int now = start;
      double amount = 0;
      int end = start;
      const int cycles = pick(1, 20);
      for (int done = 0; done < cycles; ++now) {
        double rate = speed;
        for (const ChannelUse& use : uses)
          rate = std::min(rate, calendar[use.channel][static_cast<std::size_t>(now)] / use.share);
        if (rate <= 0) continue;
        for (const ChannelUse& use : uses) calendar[use.channel][static_cast<std::size_t>(now)] -= rate * use.share;
        amount += rate;
        ++done;
        end = now + 1;
      }
      EXPECT_NEAR(bookings.book(uses, start, amount, speed), end, 1e-6) << "round " << round << " step " << step;
    }
  }
}

// What is known of a route to be full changes no answer, to the last bit.
TEST(Bookings, FullStretchesArePassedOver) {
  std::mt19937 random(11);
  const auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  struct Way {
    std::vector<ChannelUse> uses;
    double speed = 1;
    Bookings::Full full, aside;
  };
  std::size_t known = 0;
  for (int round = 0; round < 200; ++round) {
    const std::vector<Channel> all = channels({8, 3, 5});
    Bookings with(all), without(all);
    with.reserve(1, 1);
    without.reserve(1, 1);
    std::vector<Way> ways = {{.uses = {{0, 1}, {1, 1}}, .speed = 3, .full = {}, .aside = {}},
                             {.uses = {{1, 1}, {2, 2}}, .speed = 2.5, .full = {}, .aside = {}},
                             {.uses = {{0, 1}, {2, 1}}, .speed = 5, .full = {}, .aside = {}}};
    for (int step = 0; step < 60; ++step) {
      Way& way = ways[static_cast<std::size_t>(pick(0, 2))];
      const double start = pick(0, 200) / 3.0, amount = pick(1, 100) / 7.0;
      double begin = 0, other = 0;
      EXPECT_EQ(with.probe(way.uses, start, amount, way.speed, &way.full),
                without.probe(way.uses, start, amount, way.speed));
      if (pick(0, 3) == 0) {
        EXPECT_EQ(with.book_aside(way.uses, start, amount, way.speed, &begin, &way.aside),
                  without.book_aside(way.uses, start, amount, way.speed, &other));
      } else {
        EXPECT_EQ(with.book(way.uses, start, amount, way.speed, &begin, &way.full),
                  without.book(way.uses, start, amount, way.speed, &other));
      }
      EXPECT_EQ(begin, other);
      known += way.full.to > way.full.from ? 1 : 0;
    }
  }
  EXPECT_GT(known, 1000U);
}

}  // namespace
}  // namespace monet
