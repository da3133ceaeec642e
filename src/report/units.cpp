#include "report/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace monet {

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
  return digits;
}

namespace {

template <std::size_t n>
std::string scaled(double value, double step, const std::array<std::string_view, n>& prefixes) {
  std::size_t index = 0;
  while (value >= step && index + 1 < n) {
    value /= step;
    ++index;
  }
  if (index == 0) return fmt::format("{:.0f}{}", value, prefixes[0].empty() ? "" : fmt::format(" {}", prefixes[0]));
  return fmt::format("{:.4g} {}", value, prefixes[index]);
}

}  // namespace

std::string with_prefix(std::int64_t number) {
  static constexpr std::array<std::string_view, 6> prefixes = {"", "k", "M", "G", "T", "P"};
  return scaled(static_cast<double>(number), 1000, prefixes);
}

std::string byte_size(std::int64_t bytes) {
  static constexpr std::array<std::string_view, 6> prefixes = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  return scaled(static_cast<double>(bytes), 1024, prefixes);
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

}  // namespace monet
