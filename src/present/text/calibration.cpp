#include "present/json/json.h"

#include <monet/calibrate.h>

#include <fmt/format.h>

namespace monet {

std::string to_json(const Calibration& calibration) {
  Json json;
  json["schema"] = 1;
  Json classes = Json::array();
  for (const CalibratedClass& each : calibration.classes)
    classes.push_back({{"name", each.name},
                       {"measured", each.measured},
                       {"law_error", number_or_null(each.law_error)},
                       {"left_out_error", number_or_null(each.left_out_error)}});
  json["classes"] = std::move(classes);
  json["machine"] = calibration.machine;
  json["wall_s"] = calibration.wall_s;
  return text_of(json);
}

Text to_text(const Calibration& calibration) {
  Table table({{"kernels"},
               {"measured", Table::Align::right},
               {"law", Table::Align::right},
               {"left out", Table::Align::right}});
  double measured = 0, law = 0, left_out = 0;
  const auto percent = [](double error) { return fmt::format("{:.1f} %", 100 * error); };
  for (const CalibratedClass& each : calibration.classes) {
    if (each.name == "energy") table.add_rule();
    table.add({each.name, fmt::format("{}", each.measured), percent(each.law_error), percent(each.left_out_error)});
    if (each.name == "energy") continue;
    const auto count = static_cast<double>(each.measured);
    measured += count;
    law += count * each.law_error;
    left_out += count * each.left_out_error;
  }
  if (measured > 0) {
    table.add_rule();
    table.add({"all times", fmt::format("{}", measured), percent(law / measured), percent(left_out / measured)});
  }
  return table;
}

}  // namespace monet
