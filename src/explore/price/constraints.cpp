#include "explore/price/constraints.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::explore {

namespace {

// Operations a second at the fastest precision, a MAC counting two.
double fastest(const Hardware& hardware) {
  double most = peak_operations(hardware, Count::mac, "any");
  const auto consider = [&](const std::vector<PrecisionRate>& precisions) {
    for (const PrecisionRate& precision : precisions) {
      most = std::max(most, peak_operations(hardware, Count::mac, precision.name));
    }
  };
  for (const Core& core : hardware.cores) {
    for (const Unit& unit : core.units) consider(unit.precisions);
    if (core.rate) consider(core.rate->precisions);
  }
  return most;
}

// Area and static power where a part has none, by name.
std::string missing_part(const std::string& fact, const MachineTotals& totals) {
  return fact == "area" ? totals.without_area : fact == "static_power" ? totals.without_static_power : std::string();
}

Error unknown_fact(const std::string& fact, const std::string& part, const std::string& place) {
  return {.message = fmt::format("the {} of {} is not known, so that of the machine is none",
                                 fact == "area" ? "area" : "static power", part),
          .place = place,
          .advice = fmt::format("state {} there{}", fact,
                                fact == "area" ? ", or the technology and precisions to derive it from" : "")};
}

std::map<std::string, Quantity> values_of(const Hardware& hardware, const MachineTotals& totals) {
  constexpr double square_nanometres = 1e12;  // in a square millimetre
  constexpr double picojoules = 1e12;         // in a joule
  std::map<std::string, Quantity> values = {
      {"area", {totals.area_mm2 * square_nanometres, {.length = 2}}},
      {"static_power", {totals.static_w * picojoules, {.second = -1, .energy = 1}}},
      {"macs", {totals.macs_per_cycle, {}}},
      {"on_chip", {static_cast<double>(totals.on_chip_bits), {.bit = 1}}},
      {"peak", {fastest(hardware), {.second = -1, .operation = 1}}}};
  for (const auto& [name, text] : hardware.parameters) {
    if (const auto quantity = parse_quantity(text)) values[name] = *quantity;
  }
  return values;
}

}  // namespace

Status check_area(const Space& space, const MachineTotals& totals) {
  const bool needed = std::ranges::any_of(space.objectives, [&](const Objective& objective) {
    if (objective.function) return false;
    return objective.metric == Metric::area || (objective.metric == Metric::cost && space.prices.per_mm2 > 0);
  });
  if (!needed || totals.without_area.empty()) return Done{};
  return unknown_fact("area", totals.without_area, space.path);
}

Expected<std::optional<std::string>> broken_constraint(const Space& space, const Hardware& hardware,
                                                       const MachineTotals& totals) {
  if (space.constraints.empty()) return std::optional<std::string>();
  const std::map<std::string, Quantity> known = values_of(hardware, totals);
  for (const Constraint& constraint : space.constraints) {
    std::vector<Quantity> values;
    for (const std::string& name : constraint.expression.names()) {
      const auto value = known.find(name);
      if (value == known.end()) {
        std::vector<std::string> names;
        for (const auto& [each, _] : known) names.push_back(each);
        const std::string near = nearest(name, names);
        return Error{.message = fmt::format("there is no '{}' to be constrained", name),
                     .place = constraint.place,
                     .advice = near.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                                            : fmt::format("did you mean '{}'?", near)};
      }
      const bool own = std::ranges::any_of(hardware.parameters, [&](const auto& each) { return each.first == name; });
      if (const std::string part = missing_part(name, totals); !own && !part.empty()) {
        return unknown_fact(name, part, constraint.place);
      }
      values.push_back(value->second);
    }
    const auto holds = constraint.expression.evaluate(std::span<const Quantity>(values));
    if (!holds) {
      Error error = holds.error();
      error.place = constraint.place;
      return error;
    }
    if (holds->value == 0) return std::optional(constraint.expression.text());
  }
  return std::optional<std::string>();
}

}  // namespace monet::explore
