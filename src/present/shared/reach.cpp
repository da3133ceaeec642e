#include "present/shared/reach.h"

#include <fmt/format.h>

namespace monet {

std::string reach_text(const Reach& reach) {
  const bool kernels = !reach.laws.empty();
  if (!kernels && reach.source.empty())
    return reach.lowering.empty() ? "" : "loop nests on arrays; this machine was not compared with measurements";
  std::string text = kernels ? fmt::format("{} kernels", reach.lowering) : "loop nests on arrays";
  if (kernels && reach.source.empty()) return text + fmt::format(" by laws from {}; nothing was compared", reach.laws);
  std::string errors;
  const auto add = [&](const char* what, const std::optional<double>& percent) {
    if (percent) errors += fmt::format("{}{} {:.3g}%", errors.empty() ? "" : ", ", what, *percent);
  };
  add("latency", reach.latency_percent);
  add("energy", reach.energy_percent);
  add("peak memory", reach.memory_percent);
  return text + fmt::format("; mean errors: {} ({})", errors, reach.source);
}

}  // namespace monet
