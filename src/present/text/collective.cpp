#include <monet/collective.h>

#include "base/quantities.h"
#include "present/json/json.h"

#include <fmt/format.h>

#include <cmath>

namespace monet {

std::string to_json(const CollectiveReport& report) {
  Json json = {{"schema", 1},           {"command", "collective"},   {"machine", report.machine},
               {"kind", report.kind},   {"bytes", report.bytes},     {"chips", report.chips},
               {"group", report.group}, {"seconds", report.seconds}, {"bound_seconds", report.bound_seconds}};
  json["algorithm"] = report.algorithm.empty() ? Json(nullptr) : Json(report.algorithm);
  json["energy_pj"] = report.energy_pj;
  json["bus_bytes_per_s"] = report.bytes_per_s;
  json["levels"] = Json::array();
  for (const CollectiveLevel& level : report.levels) {
    json["levels"].push_back({{"name", level.name},
                              {"kind", level.kind},
                              {"members", level.members},
                              {"bytes", level.bytes},
                              {"seconds", level.seconds}});
  }
  json["algorithms"] = Json::object();
  for (const auto& [name, seconds] : report.algorithms) json["algorithms"][name] = seconds;
  return text_of(json);
}

Text to_text(const CollectiveReport& report) {
  const auto line = [](const char* name, const std::string& value) { return fmt::format("{:<12} {}\n", name, value); };
  Text text = fmt::format("{} of {} on {}, {} chips\n", report.kind, bytes_text(report.bytes), report.machine,
                          grouped(report.chips));
  text += line("group", fmt::format("{} chips", grouped(report.group)));
  text += line("time", seconds_text(report.seconds));
  text += line("bound", seconds_text(report.bound_seconds));
  if (report.algorithm.empty()) return text;
  text += line("algorithm", report.algorithm);
  text += line("bandwidth", fmt::format("{:.4g} GB/s of a chip, as a ring would send", report.bytes_per_s / 1e9));
  text += line("energy", energy_text(report.energy_pj) + " of the wires, for one group");
  Table table({{"level"},
               {"kind"},
               {"units in a group", Table::Align::right},
               {"bytes of a chip", Table::Align::right},
               {"time", Table::Align::right}},
              2);
  for (const CollectiveLevel& level : report.levels) {
    table.add({level.name, level.kind, grouped(level.members), grouped(std::llround(level.bytes)),
               seconds_text(level.seconds)});
  }
  text += "\n" + table;
  Table others({{"algorithm"}, {"time", Table::Align::right}}, 2);
  for (const auto& [name, seconds] : report.algorithms) others.add({name, seconds_text(seconds)});
  return text + "\n" + others;
}

}  // namespace monet
