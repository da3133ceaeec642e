#include "base/csv.h"
#include "present/json/json.h"

#include <monet/simulate.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace monet {

namespace {

// The shortest that is read back to the same bits.
std::string csv_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

// None where the loss is no number.
std::optional<double> accuracy_of(const Measured& measured) {
  return std::isfinite(measured.loss) ? measured.accuracy : std::nullopt;
}

Json run_json(const Simulation& simulation) {
  Json json = {
      {"precision", simulation.precision}, {"losses", simulation.losses},   {"measured", Json::array()},
      {"diverged", simulation.diverged},   {"stopped", simulation.stopped}, {"macs_of_a_step", simulation.macs},
      {"warnings", simulation.warnings},   {"notes", simulation.notes},     {"wall_s", simulation.wall_s}};
  json["chance"] = simulation.chance ? Json(*simulation.chance) : Json(nullptr);
  for (const Measured& measured : simulation.measured) {
    json["measured"].push_back({{"step", measured.step},
                                {"loss", number_or_null(measured.loss)},
                                {"accuracy", accuracy_of(measured) ? Json(*measured.accuracy) : Json(nullptr)}});
  }
  return json;
}

}  // namespace

std::string to_json(const std::vector<Simulation>& simulations) {
  Json json = {{"schema", 1}, {"command", "simulate"}};
  if (!simulations.empty()) {
    const Simulation& first = simulations.front();
    json["model"] = first.model;
    json["loss"] = first.loss;
    json["optimizer"] = first.optimizer;
    json["learning_rate"] = first.learning_rate;
    json["batch"] = first.batch;
    json["steps"] = first.steps;
    json["parameters"] = first.parameters;
    json["seed"] = first.seed;
    json["data"] = first.data;
  }
  json["simulations"] = Json::array();
  for (const Simulation& simulation : simulations) json["simulations"].push_back(run_json(simulation));
  return text_of(json);
}

std::string to_csv(const std::vector<Simulation>& simulations) {
  std::string text = "precision,step,loss,held_out_loss,held_out_accuracy\n";
  for (const Simulation& simulation : simulations) {
    std::map<std::int64_t, const Measured*> measured;
    for (const Measured& each : simulation.measured) measured[each.step] = &each;
    const std::int64_t last = std::max<std::int64_t>(std::ssize(simulation.losses), simulation.last().step);
    for (std::int64_t step = 0; step <= last; ++step) {
      const bool has_loss = step > 0 && step <= std::ssize(simulation.losses);
      const auto found = measured.find(step);
      const Measured* const here = found == measured.end() ? nullptr : found->second;
      text += fmt::format("{},{},{},{},{}\n", csv_field(simulation.precision), step,
                          has_loss ? csv_number(simulation.losses[static_cast<std::size_t>(step - 1)]) : "",
                          here == nullptr ? "" : csv_number(here->loss),
                          here == nullptr || !accuracy_of(*here) ? "" : csv_number(*here->accuracy));
    }
  }
  return text;
}

}  // namespace monet
