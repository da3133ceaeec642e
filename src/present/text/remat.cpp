#include <monet/remat.h>
#include <monet/text.h>

#include "base/quantities.h"
#include "present/json/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace monet {

namespace {

std::string time_text(const Remat& remat, double time) {
  return remat.time_unit == "s" ? seconds_text(time) : fmt::format("{:.12g}", time);
}

std::string joules_text(double joules) { return fmt::format("{:.9g} J", joules); }

// "a (12 B), b (3 B) and 4 more"
std::string tensors_text(const std::vector<RematTensor>& tensors) {
  constexpr std::size_t most = 8, longest = 60;
  std::string text;
  for (std::size_t i = 0; i < std::min(tensors.size(), most); ++i) {
    const std::string& name = tensors[i].node;
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name.size() > longest ? name.substr(0, longest) + "…" : name,
                        byte_size(tensors[i].bytes));
  }
  return tensors.size() > most ? text + fmt::format(" and {} more", tensors.size() - most) : text;
}

Json json_of(const std::vector<RematCount>& counts) {
  Json list = Json::array();
  for (const RematCount& count : counts) list.push_back({{"node", count.node}, {"times", count.times}});
  return list;
}

void add_schedule(Json& json, const RematSchedule& schedule) {
  json["time"] = schedule.time;
  json["extra_percent"] = schedule.extra_percent;
  json["energy_j"] = schedule.energy_j ? Json(*schedule.energy_j) : Json(nullptr);
  json["peak_bytes"] = schedule.peak_bytes;
  json["true_time"] = schedule.true_time;
  json["true_peak_bytes"] = schedule.true_peak_bytes;
  json["deadline_met"] = schedule.deadline_met ? Json(*schedule.deadline_met) : Json(nullptr);
  json["executions"] = schedule.executions;
  json["recomputed"] = json_of(schedule.recomputed);
  json["paged"] = json_of(schedule.paged);
}

void add_no_schedule(Json& json) {
  for (const char* key : {"time", "extra_percent", "energy_j", "peak_bytes", "true_time", "true_peak_bytes",
                          "deadline_met", "executions", "recomputed", "paged"})
    json[key] = nullptr;
}

// Infinite: nothing fits, and no number says so.
Json bound_json(const Remat& remat, const char* objective) {
  return remat.bound && remat.objective == objective && std::isfinite(*remat.bound) ? Json(*remat.bound)
                                                                                    : Json(nullptr);
}

std::string total(const std::vector<RematCount>& counts) {
  std::int64_t sum = 0;
  for (const RematCount& count : counts) sum += count.times;
  return grouped(sum);
}

void add_column(std::vector<std::vector<std::string>>& rows, const Remat& remat, const RematSchedule& schedule) {
  const std::array<std::string, 8> cells = {time_text(remat, schedule.time),
                                            fmt::format("{:.4f} %", schedule.extra_percent),
                                            schedule.energy_j ? joules_text(*schedule.energy_j) : "",
                                            time_text(remat, schedule.true_time),
                                            byte_size(schedule.peak_bytes),
                                            grouped(schedule.executions),
                                            total(schedule.recomputed),
                                            total(schedule.paged)};
  for (std::size_t i = 0; i < cells.size(); ++i) rows[i].push_back(cells[i]);
}

// What is known about how good the answer is.
std::string verdict(const Remat& remat) {
  const bool time = remat.objective == "time";
  const std::string what = time ? "time" : "energy";
  if (remat.method == "milp")
    return remat.proven ? "The integer program is solved: none of its schedules is better.\n"
                        : "The integer program is not solved to the end.\n";
  if (remat.proven) return fmt::format("No schedule in the given order takes less {}.\n", what);
  if (!remat.bound) return "No bound was looked for.\n";
  const double found = time ? remat.schedule->true_time : *remat.schedule->energy_j;
  return fmt::format("No schedule in the given order takes less {} than {} ({:.4f} % below){}.\n", what,
                     time ? time_text(remat, *remat.bound) : joules_text(*remat.bound),
                     found > 0 ? 100 * (1 - *remat.bound / found) : 0,
                     remat.out_of_time ? "; time was up, and --time-limit gives more" : "");
}

}  // namespace

Error does_not_fit(const Remat& remat) {
  Error error{.kind = ErrorKind::infeasible, .place = remat.file};
  const std::string budget = bytes_text(remat.budget_bytes);
  if (remat.structural_bytes > remat.budget_bytes) {
    error.message = fmt::format("nothing fits into {}: {} needs {} at once: {}", budget, remat.structural.back().node,
                                bytes_text(remat.structural_bytes), tensors_text(remat.structural));
  } else if (remat.deadline && *remat.deadline < remat.base_time) {
    error.message = fmt::format("the deadline {} is before {}, the time of running each node once",
                                time_text(remat, *remat.deadline), time_text(remat, remat.base_time));
    error.advice = "give a later --deadline";
    return error;
  } else if (remat.shortest_time) {
    error.message = fmt::format("no schedule within {} and the deadline {} was found; the quickest takes {}", budget,
                                time_text(remat, *remat.deadline), time_text(remat, *remat.shortest_time));
    error.advice = "give a later --deadline or a larger --budget";
    return error;
  } else {
    error.message = fmt::format("{} {}, although no node needs more than {} at once ({})",
                                remat.proven ? "it is certain that no schedule fits into" : "no schedule was found for",
                                budget, bytes_text(remat.structural_bytes), tensors_text(remat.structural));
  }
  if (remat.smallest_budget_bytes)
    error.advice = fmt::format("a schedule for {} was found, {:.2f} % of the peak of the given order",
                               bytes_text(*remat.smallest_budget_bytes),
                               100 * static_cast<double>(*remat.smallest_budget_bytes) /
                                   static_cast<double>(std::max<std::int64_t>(1, remat.base_peak_bytes)));
  return error;
}

std::string to_json(const Remat& remat) {
  Json json;
  json["schema"] = 1;
  json["file"] = remat.file;
  json["device"] = remat.device.empty() ? Json(nullptr) : Json(remat.device);
  json["nodes"] = remat.nodes;
  json["links"] = remat.links;
  json["time_unit"] = remat.time_unit.empty() ? Json(nullptr) : Json(remat.time_unit);
  json["objective"] = remat.objective;
  json["method"] = remat.method;
  json["found"] = remat.found();
  json["base_time"] = remat.base_time;
  json["base_energy_j"] = remat.base_energy_j ? Json(*remat.base_energy_j) : Json(nullptr);
  json["base_peak_bytes"] = remat.base_peak_bytes;
  json["budget_bytes"] = remat.budget_bytes;
  json["deadline"] = remat.deadline ? Json(*remat.deadline) : Json(nullptr);
  json["structural_bytes"] = remat.structural_bytes;
  if (remat.schedule)
    add_schedule(json, *remat.schedule);
  else
    add_no_schedule(json);
  json["bound_time"] = bound_json(remat, "time");
  json["bound_energy_j"] = bound_json(remat, "energy");
  json["proven"] = remat.proven;
  json["out_of_time"] = remat.out_of_time;
  if (remat.reordered) {
    Json reordered;
    add_schedule(reordered, *remat.reordered);
    reordered["proven"] = remat.reordered_proven;
    json["reordered"] = std::move(reordered);
  } else {
    json["reordered"] = nullptr;
  }
  json["smallest_budget_bytes"] = remat.smallest_budget_bytes ? Json(*remat.smallest_budget_bytes) : Json(nullptr);
  json["shortest_time"] = remat.shortest_time ? Json(*remat.shortest_time) : Json(nullptr);
  json["wall_s"] = remat.wall_s;
  return text_of(json);
}

Text to_text(const Remat& remat) {
  Text text =
      fmt::format("{}{}: {} nodes, {} links, {}\n\n", remat.file, remat.device.empty() ? "" : " on " + remat.device,
                  grouped(remat.nodes), grouped(remat.links), seconds_text(remat.wall_s));
  text += fmt::format("budget {}, {:.2f} % of the peak of the given order, {}\n", bytes_text(remat.budget_bytes),
                      100 * static_cast<double>(remat.budget_bytes) /
                          static_cast<double>(std::max<std::int64_t>(1, remat.base_peak_bytes)),
                      bytes_text(remat.base_peak_bytes));
  if (remat.deadline)
    text += fmt::format("deadline {}{}\n", time_text(remat, *remat.deadline),
                        remat.free_transfers ? ", for computation alone" : "");
  if (!remat.found()) return text;

  std::vector<Table::Column> columns = {{""}, {"each node once", Table::Align::right}};
  std::vector<std::vector<std::string>> rows = {
      {"computing", time_text(remat, remat.base_time)},
      {"more", ""},
      {"energy", remat.base_energy_j ? joules_text(*remat.base_energy_j) : ""},
      {"with transfers", time_text(remat, remat.base_time)},
      {"peak", byte_size(remat.base_peak_bytes)},
      {"runs", grouped(remat.nodes)},
      {"of these again", ""},
      {"page-ins", ""}};
  if (remat.schedule) {
    columns.push_back({"given order", Table::Align::right});
    add_column(rows, remat, *remat.schedule);
  }
  if (remat.reordered) {
    columns.push_back({"any order", Table::Align::right});
    add_column(rows, remat, *remat.reordered);
  }
  Table table(columns);
  for (std::vector<std::string>& row : rows)
    if (remat.base_energy_j || (row[0] != "energy" && row[0] != "with transfers" && row[0] != "page-ins"))
      table.add(std::move(row));
  text += "\n" + table + "\n";
  if (remat.schedule) text += verdict(remat);
  if (remat.reordered_proven) text += fmt::format("No schedule in any order takes less {}.\n", remat.objective);
  return text;
}

std::string schedule_json(const Remat& remat) {
  const RematSchedule& schedule = remat.best();
  Json json;
  json["schema"] = 1;
  json["file"] = remat.file;
  json["budget_bytes"] = remat.budget_bytes;
  json["reordered"] = remat.reordered.has_value();
  add_schedule(json, schedule);
  Json actions = Json::array();
  for (const RematAction& action : schedule.actions)
    actions.push_back({{"action", action.kind}, {"node", action.node}, {"start", action.start}});
  json["actions"] = std::move(actions);
  return text_of(json) + "\n";
}

}  // namespace monet
