#include "base/quantities.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace monet {

namespace {

// "1.41 GHz": the number with a prefix of thousands, from pico upwards.
std::string prefixed(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 10> prefixes = {"p", "n", "u", "m", "", "k", "M", "G", "T", "P"};
  std::size_t at = 4;
  while (value >= 1000 && at + 1 < prefixes.size()) value /= 1000, ++at;
  while (value != 0 && value < 1 && at > 0) value *= 1000, --at;
  return fmt::format("{:.4g} {}{}", value, prefixes[at], unit);
}

}  // namespace

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string bytes_text(std::int64_t bytes) {
  return bytes < 1024 ? fmt::format("{} bytes", bytes) : fmt::format("{} bytes ({})", grouped(bytes), byte_size(bytes));
}

std::string cycles_text(double cycles) {
  if (!(std::abs(cycles) < 9e14)) return fmt::format("{:.4g}", cycles);
  const auto tenths = static_cast<std::int64_t>(std::round(cycles * 10));
  if (tenths == 0 && cycles != 0 && std::abs(cycles) >= 1e-6) return fmt::format("{:.1g}", cycles);
  return grouped(tenths / 10) + (tenths % 10 == 0 ? "" : fmt::format(".{}", std::abs(tenths % 10)));
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

std::string frequency_text(double hertz) { return hertz == 0 ? "not stated" : prefixed(hertz, "Hz"); }

std::string rate_text(double operations_per_s) { return prefixed(operations_per_s, "OP/s"); }

std::string size_text_of_bits(std::int64_t bits) {
  return bits % 8 == 0 && bits >= 128 ? byte_size(bits / 8) : fmt::format("{} bit", bits);
}

std::string energy_text(double picojoules) {
  return picojoules >= 1e4 ? prefixed(picojoules * 1e-12, "J") : fmt::format("{:.4g} pJ", picojoules);
}

std::string power_text(double watts) { return prefixed(watts, "W"); }

std::string bandwidth_text(double bits_per_cycle) { return fmt::format("{:.5g} bit/cycle", bits_per_cycle); }

std::string value_text(const std::string& value) {
  double number = 0;
  const char* const end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, number);
  if (read.ec != std::errc() || (read.ptr != end && *read.ptr != ' ')) return value;
  const std::string unit(read.ptr, end);
  return unit == " W" ? power_text(number) : fmt::format("{:.4g}{}", number, unit);
}

}  // namespace monet
