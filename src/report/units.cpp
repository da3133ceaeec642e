#include "report/units.h"

#include <fmt/format.h>

#include <cmath>

namespace monet {

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

}  // namespace monet
