#include "base/prefixes.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace monet {

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

std::string with_prefix(double number) {
  static constexpr std::array<std::string_view, 8> prefixes = {"", "k", "M", "G", "T", "P", "E", "Z"};
  return scaled(number, 1000, prefixes);
}

std::string byte_size(std::int64_t bytes) {
  static constexpr std::array<std::string_view, 7> prefixes = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return scaled(static_cast<double>(bytes), 1024, prefixes);
}

}  // namespace monet
