#include "base/quantities.h"
#include "present/json/json.h"
#include "present/shared/numbers.h"
#include "present/shared/reach.h"
#include "present/text/search.h"

#include <monet/checkpoint.h>
#include <monet/text.h>

#include <fmt/format.h>

namespace monet {

namespace {

double gap_of(const Checkpointing& result, const CheckpointPlan& plan) {
  const bool energy = result.objective == "energy";
  const double bound = energy ? plan.bound_pj : plan.bound_cycles;
  return bound > 0 ? (energy ? plan.energy_pj : plan.latency_cycles) / bound : 0;
}

std::string one_plan(const Checkpointing& result) {
  const CheckpointPlan& plan = result.plans.front();
  const CheckpointPlan& kept = result.all_kept;
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12} {}\n", name, value);
  };
  line("latency", fmt::format("{}, {} of all kept", time_text(plan.latency_cycles, result.clock_hz),
                              change_text(plan.latency_cycles, kept.latency_cycles)));
  line("energy",
       fmt::format("{}, {} of all kept", energy_text(plan.energy_pj), change_text(plan.energy_pj, kept.energy_pj)));
  line("peak", fmt::format("{}{} of {} in {}; all kept needs {}", byte_size(plan.peak_bytes),
                           result.reach.laws.empty() ? " packed" : "", byte_size(result.budget_bytes), result.memory,
                           byte_size(kept.peak_bytes)));
  line("dropped",
       fmt::format("{} of {} saved bytes: {} tensors recomputed, {} paged", byte_size(plan.saved_bytes_dropped),
                   byte_size(plan.saved_bytes + plan.saved_bytes_dropped), plan.recomputed.size(), plan.paged.size()));
  if (!plan.home.empty()) line("home", fmt::format("{}: operators come to {} in parts", plan.home, result.memory));
  line("order", plan.order);
  if (!plan.recomputed.empty()) line("recomputed", names_text(plan.recomputed));
  if (!plan.paged.empty()) line("paged", names_text(plan.paged));
  return text;
}

Text front_table(const Checkpointing& result) {
  Table table({{result.pareto_budgets ? "budget" : "saved bytes", Table::Align::right},
               {"peak", Table::Align::right},
               {"latency", Table::Align::right},
               {"", Table::Align::right},
               {"energy", Table::Align::right},
               {"", Table::Align::right},
               {"recomputed", Table::Align::right},
               {"paged", Table::Align::right},
               {"order", Table::Align::left}});
  for (const CheckpointPlan& plan : result.plans) {
    table.add({byte_size(result.pareto_budgets ? plan.budget_bytes : plan.saved_bytes), byte_size(plan.peak_bytes),
               time_text(plan.latency_cycles, result.clock_hz),
               change_text(plan.latency_cycles, result.all_kept.latency_cycles), energy_text(plan.energy_pj),
               change_text(plan.energy_pj, result.all_kept.energy_pj), fmt::format("{}", plan.recomputed.size()),
               plan.home.empty() ? fmt::format("{}", plan.paged.size()) : "all", plan.order});
  }
  return table;
}

Json json_of(const CheckpointPlan& plan) {
  return {{"latency_cycles", plan.latency_cycles},
          {"latency_s", plan.latency_s},
          {"energy_pj", plan.energy_pj},
          {"peak_bytes", plan.peak_bytes},
          {"budget_bytes", plan.budget_bytes},
          {"saved_bytes", plan.saved_bytes},
          {"saved_bytes_dropped", plan.saved_bytes_dropped},
          {"order", plan.order},
          {"home", plan.home.empty() ? Json(nullptr) : Json(plan.home)},
          {"recomputed", plan.recomputed},
          {"paged", plan.paged},
          {"plan_file", plan.plan_file},
          {"bound", {{"latency_cycles", plan.bound_cycles}, {"energy_pj", plan.bound_pj}}}};
}

}  // namespace

Error does_not_fit(const Checkpointing& result) {
  if (result.objective == "own" && result.least_bytes <= result.budget_bytes && result.deadline_cycles == 0)
    return all_forbidden();
  std::vector<std::string> parts;
  for (const auto& [name, bytes] : result.forced_by) parts.push_back(fmt::format("{} ({})", name, byte_size(bytes)));
  const std::string deadline = time_text(result.deadline_cycles, result.clock_hz);
  if (result.deadline_cycles > 0 && result.least_cycles > result.deadline_cycles) {
    return {.kind = ErrorKind::infeasible,
            .message = fmt::format("no plan that was found takes {} or less: the fastest takes {}", deadline,
                                   time_text(result.least_cycles, result.clock_hz)),
            .place = "--deadline",
            .advice = "give more time"};
  }
  return {.kind = ErrorKind::infeasible,
          .message = fmt::format("{} of {} do not suffice{}: the least that was found is {} ({} bytes)",
                                 byte_size(result.budget_bytes), result.memory,
                                 result.deadline_cycles > 0 ? " within " + deadline : "", byte_size(result.least_bytes),
                                 grouped(result.least_bytes)),
          .place = "--memory-budget",
          .advice = fmt::format("at that peak are {}", fmt::join(parts, ", "))};
}

Text to_text(const Checkpointing& result) {
  Text text = fmt::format("{} on {}: {} of {} tensors to keep, recompute or page, for {}\n", result.model,
                          result.hardware, result.method, result.tensors, result.objective);
  text += fmt::format("{:<12} {}\n", "numbers", numbers_text(result.recipe, result.recipe_from));
  if (const std::string reach = reach_text(result.reach); !reach.empty())
    text += fmt::format("{:<12} {}\n", "model", reach);
  if (result.plans.empty()) return text;
  const bool one = result.plans.size() == 1 && result.method != "exact" && result.method != "nsga2";
  text += one ? one_plan(result) : "\n" + front_table(result) + "\n";
  const CheckpointPlan& plan = result.plans.front();
  if (one && gap_of(result, plan) > 0 && result.objective != "edp" && result.objective != "own") {
    text += fmt::format(
        "{:<12} {} at least{}: {:.3g}x of it\n", "bound",
        result.objective == "energy" ? energy_text(plan.bound_pj) : time_text(plan.bound_cycles, result.clock_hz),
        result.proven ? "; no plan of this space is better" : "", gap_of(result, plan));
  }
  text +=
      fmt::format("{:<12} {} of {:.4g} plans in {}{}\n", "priced", grouped(static_cast<std::int64_t>(result.evaluated)),
                  result.space, seconds_text(result.wall_s), result.complete ? "" : ", ended early");
  return text;
}

Json json_of(const Checkpointing& result) {
  Json json = {{"schema", 1},
               {"command", "checkpoint"},
               {"model", result.model},
               {"hardware", result.hardware},
               {"recipe", result.recipe},
               {"recipe_from", result.recipe_from},
               {"recipe_text", numbers_text(result.recipe, result.recipe_from)},
               {"method", result.method},
               {"objective", result.objective},
               {"clock_hz", result.clock_hz > 0 ? Json(result.clock_hz) : Json(nullptr)},
               {"memory", result.memory},
               {"budget_bytes", result.budget_bytes},
               {"feasible", result.feasible}};
  add_reach(json, result.reach);
  if (result.deadline_cycles > 0) json["deadline_cycles"] = result.deadline_cycles;
  json["all_kept"] = json_of(result.all_kept);
  json["plans"] = Json::array();
  for (const CheckpointPlan& plan : result.plans) json["plans"].push_back(json_of(plan));
  json["bound"] = {{"latency_cycles", result.bound_cycles},
                   {"energy_pj", result.bound_pj > 0 ? Json(result.bound_pj) : Json(nullptr)}};
  if (result.objective == "own") {
    json["all_kept"]["value"] = result.all_kept.value;
    for (std::size_t i = 0; i < result.plans.size(); ++i) json["plans"][i]["value"] = result.plans[i].value;
    json["bound"]["value"] = nullptr;  // of a function nothing is known
  }
  json["proven"] = result.proven;
  json["complete"] = result.complete;
  json["tensors"] = result.tensors;
  json["space"] = result.space;
  json["evaluated"] = result.evaluated;
  if (result.least_bytes > 0) {
    json["least_bytes"] = result.least_bytes;
    for (const auto& [name, bytes] : result.forced_by) json["forced_by"].push_back({{"name", name}, {"bytes", bytes}});
  }
  json["warnings"] = result.warnings;
  json["notes"] = result.notes;
  if (result.wall_s >= 0) json["wall_s"] = result.wall_s;
  return json;
}

std::string to_json(const Checkpointing& result) { return text_of(json_of(result)); }

std::string to_csv(const Checkpointing& result) {
  std::string text =
      "budget_bytes,peak_bytes,saved_bytes,saved_bytes_dropped,latency_cycles,energy_pj,recomputed,paged,order,"
      "bound_cycles,bound_pj\n";
  for (const CheckpointPlan& plan : result.plans) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", plan.budget_bytes, plan.peak_bytes, plan.saved_bytes,
                        plan.saved_bytes_dropped, plan.latency_cycles, plan.energy_pj, plan.recomputed.size(),
                        plan.paged.size(), plan.order, plan.bound_cycles, plan.bound_pj);
  }
  return text;
}

std::string points_to_csv(const Checkpointing& result) {
  std::string text = "choices,latency_cycles,energy_pj,peak_bytes,saved_bytes\n";
  for (const CheckpointPoint& point : result.points) {
    text += fmt::format("{},{},{},{},{}\n", point.choices, point.latency_cycles, point.energy_pj, point.peak_bytes,
                        point.saved_bytes);
  }
  return text;
}

}  // namespace monet
