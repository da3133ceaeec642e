// Does a line of progress say how far, how fast and how long still, and not too often?
#include "cli/progress.h"

#include <gtest/gtest.h>

namespace monet::cli {
namespace {

using namespace std::chrono_literals;

const ProgressLine::Clock::time_point begin{};

TEST(Progress, RateAndRemainingTimeAreThoseOfTheLastSeconds) {
  ProgressLine line;
  EXPECT_EQ(line.next("designs", 0, 1000, begin), "designs: 0 of 1,000");
  EXPECT_EQ(line.next("designs", 60, 1000, begin + 2s), "designs: 60 of 1,000, 30 a second, 31 s left");
}

TEST(Progress, LongTimesAreInMinutesAndHours) {
  ProgressLine minutes, hours;
  minutes.next("a", 0, 601, begin);
  EXPECT_EQ(minutes.next("a", 1, 601, begin + 1s), "a: 1 of 601, 1 a second, 10 min left");
  hours.next("a", 0, 721, begin);
  EXPECT_EQ(hours.next("a", 1, 721, begin + 10s), "a: 1 of 721, 10 s each, 2.0 h left");
}

TEST(Progress, WhatWasThereBeforeTookNoTime) {
  ProgressLine line;
  line.next("designs", 900, 1000, begin);
  EXPECT_EQ(line.next("designs", 910, 1000, begin + 1s), "designs: 910 of 1,000, 10 a second, 9 s left");
}

TEST(Progress, WithoutAnEndThereIsNoRemainingTime) {
  ProgressLine line;
  line.next("priced", 1, 0, begin);
  EXPECT_EQ(line.next("priced", 41, 0, begin + 1s), "priced: 41, 40 a second");
  EXPECT_EQ(line.next("time 12", 0, 0, begin + 2s), "time 12");
}

TEST(Progress, NotMoreOftenThanTenTimesASecond) {
  ProgressLine line;
  EXPECT_TRUE(line.next("a", 1, 9, begin));
  EXPECT_FALSE(line.next("a", 2, 9, begin + 99ms));
  EXPECT_TRUE(line.next("a", 3, 9, begin + 100ms));
}

TEST(Progress, OtherWorkHasARateOfItsOwn) {
  ProgressLine line;
  line.next("fusion", 0, 100, begin);
  line.next("fusion", 90, 100, begin + 1s);
  EXPECT_EQ(line.next("placement", 0, 20, begin + 2s), "placement: 0 of 20");
  EXPECT_EQ(line.next("placement", 1, 20, begin + 3s), "placement: 1 of 20, 1 a second, 19 s left");
}

TEST(Progress, PiecesOfAListMayHaveNames) {
  ProgressLine line;
  line.next("resnet18", 0, 10, begin);
  EXPECT_EQ(line.next("gpt2", 1, 10, begin + 2s), "gpt2: 1 of 10, 2 s each, 18 s left");
}

TEST(Progress, LongLinesAreCutWithinCharacters) {
  EXPECT_EQ(cut("short", 10), "short");
  EXPECT_EQ(cut("a long name", 7), "a long…");
  EXPECT_EQ(cut("²²²²", 3), "²²…");
}

}  // namespace
}  // namespace monet::cli
