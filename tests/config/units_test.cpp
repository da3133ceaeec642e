#include "config/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

double in(const char* text, Measure measure, double clock_hz = 0) {
  const auto quantity = parse_quantity(text);
  if (!quantity) {
    ADD_FAILURE() << text << ": " << quantity.error().text();
    return -1;
  }
  const auto value = convert(*quantity, measure, clock_hz);
  if (!value) {
    ADD_FAILURE() << text << ": " << value.error().text();
    return -1;
  }
  return *value;
}

std::string quantity_problem(const char* text, Measure measure) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return quantity.error().text();
  const auto value = convert(*quantity, measure, 0);
  return value ? "no error" : value.error().text();
}

TEST(Units, SizesInBinaryAndDecimal) {
  EXPECT_EQ(in("2 MiB", Measure::size), 2.0 * 1024 * 1024 * 8);
  EXPECT_EQ(in("64 kbit", Measure::size), 64000);
  EXPECT_EQ(in("64 Kibit", Measure::size), 65536);
  EXPECT_EQ(in("128 B", Measure::size), 1024);
  EXPECT_EQ(in("1 GB", Measure::size), 8e9);
  EXPECT_EQ(in("1.5KiB", Measure::size), 12288);
  EXPECT_EQ(in("3 bit", Measure::size), 3);
}

// The nearest double, as a literal would be: no error from multiplying by a power of ten.
TEST(Units, DecimalPrefixesRoundOnce) {
  EXPECT_EQ(in("0.095 pJ", Measure::energy), 0.095);
  EXPECT_EQ(in("1.72 nJ", Measure::energy), 1720);
  EXPECT_EQ(in("3 fJ", Measure::energy), 0.003);
  EXPECT_EQ(in("0.3 mW", Measure::power), 0.0003);
  EXPECT_EQ(in("50 mW", Measure::power), 0.05);
  EXPECT_EQ(in("7 uW", Measure::power), 7e-6);
  EXPECT_EQ(in("500 MHz", Measure::frequency), 5e8);
  EXPECT_EQ(in("1.41 GHz", Measure::frequency), 1.41e9);
  EXPECT_EQ(in("0.3 mm2", Measure::area), 0.3);
  EXPECT_EQ(in("250 um2", Measure::area), 0.00025);
  EXPECT_EQ(in("22 nm", Measure::length), 22);
  EXPECT_EQ(in("6.37 MOP/s", Measure::rate), 6.37e6);
  EXPECT_EQ(in("312 TFLOP/s", Measure::rate), 312e12);
  EXPECT_EQ(in("2e3 MAC/s", Measure::rate), 2000);
  EXPECT_EQ(in("1e-3 J", Measure::energy), 1e9);
}

TEST(Units, Quotients) {
  EXPECT_EQ(in("512 bit/cycle", Measure::bandwidth), 512);
  EXPECT_EQ(in("64 B/cycle", Measure::bandwidth), 512);
  EXPECT_EQ(in("0.8 pJ/bit", Measure::energy_per_bit), 0.8);
  EXPECT_EQ(in("8 pJ / B", Measure::energy_per_bit), 1);
  EXPECT_EQ(in("2 pJ/cycle", Measure::energy_per_cycle), 2);
}

TEST(Units, SecondsBecomeCyclesByTheClock) {
  EXPECT_EQ(in("17 MB/s", Measure::bandwidth, 64e6), 2.125);
  EXPECT_EQ(in("100 ns", Measure::time, 8e8), 80);
  EXPECT_EQ(in("109 us", Measure::time, 8e8), 87200);
  EXPECT_EQ(in("100 cycle", Measure::time, 8e8), 100);
  EXPECT_EQ(in("900 GB/s", Measure::bandwidth, 940e6), 7200.0 / 0.94);
}

TEST(Units, WhatIsWrongIsSaidWithAnExample) {
  EXPECT_EQ(quantity_problem("64", Measure::size), "a unit is missing (write a size, for example 2 MiB or 64 kbit)");
  EXPECT_EQ(quantity_problem("64 bit", Measure::bandwidth),
            "the unit does not fit here (write a bandwidth, for example 512 bit/cycle or 17 MB/s)");
  EXPECT_EQ(quantity_problem("3 KB", Measure::size), "unknown unit 'KB' (write kB for 1000 bytes or KiB for 1024)");
  EXPECT_EQ(quantity_problem("3 b", Measure::size), "unknown unit 'b' (write bit or B)");
  EXPECT_EQ(quantity_problem("4 TOPS", Measure::rate), "unknown unit 'TOPS' (write TOP/s)");
  EXPECT_EQ(quantity_problem("3 MiBs", Measure::size), "unknown unit 'MiBs' (did you mean 'MiB'?)");
  EXPECT_EQ(quantity_problem("many", Measure::size), "'many' does not start with a number");
  EXPECT_EQ(quantity_problem("1e999 B", Measure::size), "the number 1e999 is too large or too small");
  EXPECT_EQ(quantity_problem("1e99999999999999999999 B", Measure::size),
            "the number 1e99999999999999999999 is too large");
  EXPECT_THAT(quantity_problem("5 ns", Measure::time), testing::HasSubstr("without a clock"));
  EXPECT_THAT(quantity_problem("5 parsec", Measure::length), testing::HasSubstr("unknown unit 'parsec'"));
  EXPECT_THAT(quantity_problem("5 bit/cycle/s", Measure::length), testing::HasSubstr("unknown unit 'cycle/s'"));
}

TEST(Units, PrintedShort) {
  EXPECT_EQ(format_measure(16777216, Measure::size), "2 MiB");
  EXPECT_EQ(format_measure(12, Measure::size), "1.5 B");
  EXPECT_EQ(format_measure(3, Measure::size), "3 bit");
  EXPECT_EQ(format_measure(1e10, Measure::size), "10000000000 bit");
  EXPECT_EQ(format_measure(8e8, Measure::frequency), "800 MHz");
  EXPECT_EQ(format_measure(0.05, Measure::power), "50 mW");
  EXPECT_EQ(format_measure(416.16, Measure::energy), "416.16 pJ");
}

}  // namespace
}  // namespace monet
