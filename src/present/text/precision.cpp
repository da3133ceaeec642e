#include "base/csv.h"
#include "base/quantities.h"
#include "present/json/json.h"
#include "present/text/search.h"

#include <monet/precision.h>
#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// JSON has no infinity.
std::string number_or_nothing(double number) { return std::isfinite(number) ? fmt::format("{}", number) : ""; }

// Where training ended in numbers.
bool has_result(const PrecisionRow& row) {
  return row.simulation && !row.simulation->diverged && std::isfinite(row.simulation->last().loss);
}

Json json_of(const Simulation& simulation) {
  Json json = {{"model", simulation.model},         {"precision", simulation.precision},
               {"optimizer", simulation.optimizer}, {"loss", simulation.loss},
               {"data", simulation.data},           {"batch", simulation.batch},
               {"steps", simulation.steps},         {"parameters", simulation.parameters},
               {"seed", simulation.seed},           {"learning_rate", simulation.learning_rate},
               {"diverged", simulation.diverged},   {"stopped", simulation.stopped},
               {"macs_of_a_step", simulation.macs}, {"chance", simulation.chance ? Json(*simulation.chance) : Json()}};
  json["losses"] = Json::array();
  for (const double loss : simulation.losses) json["losses"].push_back(number_or_null(loss));
  json["measured"] = Json::array();
  for (const Measured& each : simulation.measured) {
    json["measured"].push_back({{"step", each.step},
                                {"loss", number_or_null(each.loss)},
                                {"accuracy", each.accuracy ? Json(*each.accuracy) : Json()}});
  }
  json["notes"] = simulation.notes;
  return json;
}

Json json_of(const PrecisionRow& row) {
  const bool ran = row.failed.empty();
  const auto cost = [&](auto value) { return ran ? Json(value) : Json(); };
  Json json = {{"recipe", row.recipe},
               {"failed", ran ? Json() : Json(row.failed)},
               {"costed_as", row.costed_as.empty() ? Json() : Json(row.costed_as)},
               {"best", row.best}};
  json["latency_s"] = ran && row.latency_s > 0 ? Json(row.latency_s) : Json();
  json["energy_pj"] = cost(row.energy_pj);
  json["peak_bytes"] = cost(row.peak_bytes);
  json["static_bytes"] = cost(row.static_bytes);
  json["saved_bytes"] = cost(row.saved_bytes);
  json["copy_bytes"] = cost(row.copy_bytes);
  json["padding_bytes"] = cost(row.padding_bytes);
  json["quantized_elements"] = cost(row.quantized_elements);
  json["simulation"] = row.simulation ? json_of(*row.simulation) : Json();
  json["not_simulated"] = row.not_simulated.empty() ? Json() : Json(row.not_simulated);
  return json;
}

// The costs of fp32 where it ran, else of the first that did.
const PrecisionRow* reference_of(const PrecisionComparison& comparison) {
  const auto found = std::ranges::find_if(comparison.rows, [](const PrecisionRow& row) { return row.failed.empty(); });
  return found == comparison.rows.end() ? nullptr : &*found;
}

std::string change(double now, double before) { return before > 0 && now != before ? change_text(now, before) : ""; }

std::string loss_text(const PrecisionRow& row) {
  if (!row.simulation) return "-";
  if (!has_result(row)) return "diverged";
  if (row.simulation->stopped) return fmt::format("stopped at {}", grouped(std::ssize(row.simulation->losses)));
  return fmt::format("{:.4f}", row.simulation->last().loss);
}

std::string accuracy_text(const PrecisionRow& row) {
  if (!has_result(row) || row.simulation->stopped || !row.simulation->last().accuracy) return "-";
  return fmt::format("{:.1f}%", 100 * *row.simulation->last().accuracy);
}

Text rows_table(const PrecisionComparison& comparison) {
  using enum Table::Align;
  const bool trained = !comparison.simulate_model.empty();
  const PrecisionRow* const reference = reference_of(comparison);
  const bool converted = std::ranges::any_of(comparison.rows, [](const auto& row) { return !row.costed_as.empty(); });
  std::vector<Table::Column> columns = {{"recipe"}, {"front"}};
  if (trained) columns.insert(columns.end(), {{"held-out loss", right}, {"accuracy", right}});
  columns.insert(columns.end(), {{"latency", right},
                                 {"energy", right},
                                 {"", right},
                                 {"peak memory", right},
                                 {"", right},
                                 {"static", right},
                                 {"saved", right},
                                 {"copies", right},
                                 {"padding", right}});
  if (converted) columns.push_back({"costed as"});
  Table table(columns);
  for (const PrecisionRow& row : comparison.rows) {
    std::vector<std::string> cells = {row.recipe, row.best ? "*" : ""};
    if (trained) cells.insert(cells.end(), {loss_text(row), accuracy_text(row)});
    if (!row.failed.empty()) {
      cells.resize(columns.size(), "n/a");
    } else {
      const auto peak = static_cast<double>(row.peak_bytes);
      cells.insert(cells.end(), {row.latency_s > 0 ? seconds_text(row.latency_s) : "-", energy_text(row.energy_pj),
                                 change(row.energy_pj, reference->energy_pj), byte_size(row.peak_bytes),
                                 change(peak, static_cast<double>(reference->peak_bytes)), byte_size(row.static_bytes),
                                 byte_size(row.saved_bytes), byte_size(row.copy_bytes), byte_size(row.padding_bytes)});
      if (converted) cells.push_back(row.costed_as);
    }
    table.add(std::move(cells));
  }
  return table;
}

// Recipes that fail for one reason together.
std::string reasons(const PrecisionComparison& comparison, const char* what, std::string PrecisionRow::* reason) {
  std::vector<std::pair<std::string, std::string>> found;  // reason, recipes
  for (const PrecisionRow& row : comparison.rows) {
    if ((row.*reason).empty()) continue;
    const auto same = std::ranges::find(found, row.*reason, &std::pair<std::string, std::string>::first);
    if (same == found.end()) {
      found.emplace_back(row.*reason, row.recipe);
    } else {
      same->second += ", " + row.recipe;
    }
  }
  std::string text;
  for (const auto& [why, recipes] : found) text += fmt::format("\n{}: {}\n  {}\n", what, recipes, why);
  return text;
}

// How much of a difference means something.
std::string seeds_text(const PrecisionComparison& comparison) {
  const auto first =
      std::ranges::find_if(comparison.rows, [](const PrecisionRow& row) { return row.simulation.has_value(); });
  if (!comparison.loss_tolerance || first == comparison.rows.end())
    return "Each recipe was trained with one seed, and how much another would change is not known: small differences "
           "in loss may be chance.";
  const std::uint64_t seed = first->simulation->seed;
  return fmt::format(
      "Each recipe was trained with one seed. Losses within {:.4g} count as equal: so far apart are seeds {} and {} of "
      "{} on the same samples, a rough measure of chance.",
      *comparison.loss_tolerance, seed, seed + 1, first->recipe);
}

std::string heading(const PrecisionComparison& comparison) {
  std::string text = fmt::format("{} on {}\n", comparison.model, comparison.hardware);
  const auto trained =
      std::ranges::find_if(comparison.rows, [](const PrecisionRow& row) { return row.simulation.has_value(); });
  if (trained != comparison.rows.end()) {
    const Simulation& simulation = *trained->simulation;
    text += fmt::format("trained for real: {}, {} steps of {} with {}, batch {}, learning rate {:g}, {} parameters\n",
                        simulation.model, grouped(simulation.steps), simulation.optimizer, simulation.loss,
                        grouped(simulation.batch), simulation.learning_rate, grouped(simulation.parameters));
  }
  return text + "\n";
}

}  // namespace

std::string to_json(const PrecisionComparison& comparison) {
  Json json = {{"schema", 1},
               {"command", "precision compare"},
               {"model", comparison.model},
               {"simulate_model", comparison.simulate_model.empty() ? Json() : Json(comparison.simulate_model)},
               {"hardware", comparison.hardware}};
  json["rows"] = Json::array();
  for (const PrecisionRow& row : comparison.rows) json["rows"].push_back(json_of(row));
  json["loss_tolerance"] = comparison.loss_tolerance ? Json(*comparison.loss_tolerance) : Json();
  json["warnings"] = comparison.warnings;
  json["notes"] = comparison.notes;
  if (comparison.wall_s >= 0) json["wall_s"] = comparison.wall_s;
  return text_of(json);
}

std::string to_csv(const PrecisionComparison& comparison) {
  std::string text =
      "recipe,failed,costed_as,best,latency_s,energy_pj,peak_bytes,static_bytes,saved_bytes,copy_bytes,padding_bytes,"
      "quantized_elements,steps,loss,accuracy,diverged,stopped\n";
  for (const PrecisionRow& row : comparison.rows) {
    text += fmt::format("{},{},{},{}", csv_field(row.recipe), csv_field(row.failed), csv_field(row.costed_as),
                        row.best ? 1 : 0);
    if (row.failed.empty()) {
      text += fmt::format(",{},{},{},{},{},{},{},{}", row.latency_s > 0 ? number_or_nothing(row.latency_s) : "",
                          number_or_nothing(row.energy_pj), row.peak_bytes, row.static_bytes, row.saved_bytes,
                          row.copy_bytes, row.padding_bytes, row.quantized_elements);
    } else {
      text += ",,,,,,,,";
    }
    if (row.simulation) {
      const Measured& last = row.simulation->last();
      const bool known = has_result(row);
      text += fmt::format(",{},{},{},{},{}", row.simulation->losses.size(), known ? number_or_nothing(last.loss) : "",
                          known && last.accuracy ? number_or_nothing(*last.accuracy) : "",
                          row.simulation->diverged ? 1 : 0, row.simulation->stopped ? 1 : 0);
    } else {
      text += ",,,,,";
    }
    text += '\n';
  }
  return text;
}

Text to_text(const PrecisionComparison& comparison) {
  Text text = heading(comparison) + rows_table(comparison);
  text += comparison.simulate_model.empty() ? "* no other has less energy and less peak memory\n"
                                            : "* no other has a lower loss, less energy and less peak memory\n";
  if (std::ranges::any_of(comparison.rows, [](const PrecisionRow& row) { return !row.costed_as.empty(); }))
    text += "costed as: the machine cannot run such products as they are; never *\n";
  if (!comparison.simulate_model.empty()) text += seeds_text(comparison) + "\n";
  return text + reasons(comparison, "cannot run", &PrecisionRow::failed) +
         reasons(comparison, "not trained", &PrecisionRow::not_simulated);
}

}  // namespace monet
