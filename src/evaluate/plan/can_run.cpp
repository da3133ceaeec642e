#include "evaluate/plan/can_run.h"

#include "mapping/operators.h"

#include <fmt/format.h>

#include <vector>

namespace monet {

namespace {

using Lacking = std::vector<std::string_view>;

Lacking lacking(const Counts& counts, const std::array<double, count_kinds>& able) {
  Lacking names;
  for (std::size_t kind = 0; kind < count_kinds; ++kind) {
    if (counts.of[kind] > 0 && able[kind] == 0) names.push_back(name_of(static_cast<Count>(kind)));
  }
  return names;
}

}  // namespace

std::string why_not_on(const Core& core, const Graph& graph, const Node& node) {
  std::vector<Counts> counts;
  for (const Nest& nest : nests_of(site_of(graph, node)).nests) counts.push_back(nest.per_point);
  return why_not_on(core, node.op, counts);
}

std::string why_not_on(const Core& core, Op op, std::span<const Counts> nests) {
  if (nests.empty()) return {};
  if (!may_run(core, op)) return fmt::format("{} is not among the operators of the core", name_of(op));
  for (const Counts& counts : nests) {
    Lacking least;
    bool first = true;
    const auto consider = [&](const std::array<double, count_kinds>& able) {
      Lacking names = lacking(counts, able);
      if (first || names.size() < least.size()) least = std::move(names);
      first = false;
    };
    if (core.rate) consider(core.rate->operations_per_s);
    for (const Unit& unit : core.units) consider(unit.cycles);
    if (!least.empty()) {
      return fmt::format("{} needs {}, which no unit of the core has{}", name_of(op), fmt::join(least, ", "),
                         core.units.size() > 1 ? " beside its other operations" : "");
    }
  }
  return {};
}

}  // namespace monet
