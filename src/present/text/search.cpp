#include "present/text/search.h"

#include "base/quantities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace monet {

std::string time_text(double cycles, double clock_hz) {
  return clock_hz > 0 ? seconds_text(cycles / clock_hz) : cycles_text(cycles) + " cycles";
}

std::string change_text(double now, double before) {
  if (!(before > 0)) return "";
  const double percent = 100 * (now / before - 1);
  return fmt::format("{:+.2f}%", std::abs(percent) < 0.005 ? 0 : percent);
}

std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  const auto shown = static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

Error all_forbidden() {
  return {.kind = ErrorKind::infeasible,
          .message = "the objective is infinite for every plan that was found",
          .place = "objective",
          .advice = "let it be finite for some plans"};
}

}  // namespace monet
