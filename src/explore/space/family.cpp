#include "explore/space/family.h"

#include "base/read_file.h"
#include "base/try.h"
#include "config/check_keys.h"
#include "config/yaml_values.h"
#include "evaluate/open/hardware.h"
#include "hardware/include.h"
#include "hardware/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::explore {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// The family's own table of parameters.
class Family {
 public:
  static Expected<Family> open(const Space& space) {
    Family family;
    family.path_ = space.hardware.empty() ? space.path : space.hardware;
    std::string text = space.hardware_text;
    if (const std::string* preset = preset_text(space.hardware)) {
      family.path_ = "preset " + space.hardware;
      text = *preset;
    } else if (!space.hardware.empty()) {
      MONET_TRY(text, read_file(space.hardware));
    }
    MONET_TRY(const YamlPtr written, parse_yaml(text, family.path_));
    MONET_TRY(family.root_, resolve_includes(written, family.path_));
    return family;
  }

  Expected<Parameters> with(const Values& values) const {
    return Parameters::read(root_->find("parameters"), values, path_);
  }

 private:
  YamlPtr root_;
  std::string path_;
};

// What the hardware's reader says of "parameter lanes" belongs where the space speaks of it.
Error moved(Error error, const std::map<std::string, Place>& places) {
  for (const auto& [name, place] : places) {
    if (error.place == "parameter " + name) error.place = place.text();
  }
  return error;
}

Values first_values(const Space& space) { return space.parameters(0); }

Status check_names(const Space& space, const ParameterTable& table, const Parameters& defaults) {
  std::vector<std::string> known;
  for (const auto& [name, text] : defaults.texts()) known.push_back(name);
  const auto check = [&](const std::string& name, const Place& place) -> Status {
    if (defaults.has(name)) return Done{};
    const std::string family = space.hardware.empty() ? "the machine" : fmt::format("'{}'", shown(space.hardware));
    return error_at(place, fmt::format("{} has no parameter '{}'", family, shown(name)),
                    known.empty() ? "give the hardware a block of parameters" : meant_name(name, known));
  };
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    MONET_RETURN_IF_ERROR(check(table.axes[a].name, table.value_places[a].front()));
  }
  for (std::size_t d = 0; d < table.derived.size(); ++d) {
    MONET_RETURN_IF_ERROR(check(table.derived[d].name, table.derived_places[d]));
  }
  return Done{};
}

// A value is refused where it is none beside the family's own values nor beside the first of the others.
Status check_values(const Space& space, const ParameterTable& table, const Family& family) {
  const Values first = first_values(space);
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    const Axis& axis = table.axes[a];
    for (std::size_t v = 0; v < axis.texts.size(); ++v) {
      const std::map<std::string, Place> place = {{axis.name, table.value_places[a][v]}};
      auto alone = family.with({{axis.name, axis.texts[v]}});
      if (alone) continue;
      Values beside = first;
      beside[a].second = axis.texts[v];
      if (!family.with(beside)) return moved(std::move(alone).error(), place);
    }
  }
  std::map<std::string, Place> places;
  for (std::size_t d = 0; d < table.derived.size(); ++d) places[table.derived[d].name] = table.derived_places[d];
  const bool last_is_one = family.with(space.parameters(space.size() - 1)).has_value();
  if (auto all = family.with(first); !all && !last_is_one && all.error().place.starts_with("parameter ")) {
    // Of an axis: other combinations may do.
    Error error = moved(std::move(all).error(), places);
    if (!error.place.starts_with("parameter ")) return error;
  }
  return Done{};
}

Status check_constraints(const Space& space, const Parameters& defaults) {
  std::vector<std::string> known;
  for (const auto& [name, text] : defaults.texts()) known.push_back(name);
  for (const MachineFact& fact : machine_facts()) known.push_back(fact.name);
  for (const Constraint& constraint : space.constraints) {
    std::vector<Quantity> values;
    for (const std::string& name : constraint.expression.names()) {
      const auto fact = std::ranges::find(machine_facts(), name, &MachineFact::name);
      if (defaults.has(name)) {
        Yaml scalar{.kind = YamlKind::scalar, .place = {}, .scalar = "=" + name, .items = {}, .entries = {}};
        auto value = defaults.evaluate(scalar);
        if (!value) {
          Error error = std::move(value).error();
          error.place = constraint.place;
          return error;
        }
        values.push_back(*value);
      } else if (fact != machine_facts().end()) {
        values.push_back({.value = 1, .dimension = fact->dimension});
      } else {
        return Error{.message = fmt::format("a constraint speaks of '{}', which is no parameter", shown(name)),
                     .place = constraint.place,
                     .advice = meant_name(name, known)};
      }
    }
    auto value = constraint.expression.evaluate(values);
    if (value) continue;
    Error error = std::move(value).error();
    error.place = constraint.place;
    if (error.advice.empty()) error.advice = "compare quantities of one kind, as in area <= 100 mm2";
    return error;
  }
  return Done{};
}

}  // namespace

Expected<Hardware> machine_of(const Space& space, const Values& parameters) {
  if (space.hardware.empty()) return read_hardware_text(space.hardware_text, space.path, {.parameters = parameters});
  return open_hardware(space.hardware, {.parameters = parameters});
}

const std::vector<MachineFact>& machine_facts() {
  static const std::vector<MachineFact> facts = {{"area", {.length = 2}},
                                                 {"static_power", {.second = -1, .energy = 1}},
                                                 {"macs", {}},
                                                 {"on_chip", {.bit = 1}},
                                                 {"peak", {.second = -1, .operation = 1}}};
  return facts;
}

Status check_family(const Space& space, const ParameterTable& table) {
  MONET_RETURN_IF_ERROR(machine_of(space, {}));
  MONET_TRY(const Family family, Family::open(space));
  MONET_TRY(const Parameters defaults, family.with({}));
  MONET_RETURN_IF_ERROR(check_names(space, table, defaults));
  MONET_RETURN_IF_ERROR(check_values(space, table, family));
  return check_constraints(space, defaults);
}

}  // namespace monet::explore
