// Are numbers written as people read them?
#include "base/quantities.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

TEST(Units, GroupsOfThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1814073344), "1,814,073,344");
  EXPECT_EQ(grouped(-100), "-100");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Units, Prefixes) {
  EXPECT_EQ(with_prefix(std::int64_t{12}), "12");
  EXPECT_EQ(with_prefix(std::int64_t{555400000}), "555.4 M");
  EXPECT_EQ(with_prefix(std::int64_t{1814073344}), "1.814 G");
  EXPECT_EQ(with_prefix(INT64_MAX), "9.223 E");
  EXPECT_EQ(with_prefix(2.1314340767693537e19), "21.31 E");
  EXPECT_EQ(with_prefix(3e24), "3000 Z");
}

TEST(Units, Bytes) {
  EXPECT_EQ(byte_size(0), "0 B");
  EXPECT_EQ(byte_size(512), "512 B");
  EXPECT_EQ(byte_size(1024), "1 KiB");
  EXPECT_EQ(byte_size(46756000), "44.59 MiB");
}

TEST(Units, Cycles) {
  EXPECT_EQ(cycles_text(0), "0");
  EXPECT_EQ(cycles_text(9872000), "9,872,000");
  EXPECT_EQ(cycles_text(12.5), "12.5");
  EXPECT_EQ(cycles_text(12.96), "13");
  EXPECT_EQ(cycles_text(0.02), "0.02");
  EXPECT_EQ(cycles_text(1.25e17), "1.25e+17");
}

TEST(Units, Seconds) {
  EXPECT_EQ(seconds_text(2), "2 s");
  EXPECT_EQ(seconds_text(0.01234), "12.34 ms");
  EXPECT_EQ(seconds_text(2e-6), "2 us");
}

}  // namespace
}  // namespace monet
