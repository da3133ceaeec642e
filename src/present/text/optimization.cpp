#include "base/quantities.h"
#include "present/json/json.h"
#include "present/shared/numbers.h"
#include "present/shared/reach.h"
#include "present/text/search.h"

#include <monet/optimize.h>
#include <monet/text.h>

#include <fmt/format.h>

namespace monet {

namespace {

Json json_of(const OptimizedPlan& plan) {
  return {{"latency_cycles", plan.latency_cycles},
          {"latency_s", plan.latency_s},
          {"energy_pj", plan.energy_pj},
          {"peak_bytes", plan.peak_bytes},
          {"saved_bytes_dropped", plan.saved_bytes_dropped},
          {"stacks", plan.stacks},
          {"lowering", plan.lowering},
          {"order", plan.order},
          {"placed", plan.placed},
          {"recomputed", plan.recomputed},
          {"paged", plan.paged},
          {"why", plan.why},
          {"plan_file", plan.plan_file}};
}

}  // namespace

Error does_not_fit(const Optimization& result) {
  if (result.objective == "own" && result.least_bytes <= result.budget_bytes && result.deadline_cycles == 0)
    return all_forbidden();
  const bool late = result.least_bytes <= result.budget_bytes;
  return {.kind = ErrorKind::infeasible,
          .message = late ? fmt::format("no plan that was found keeps within {} of {} and the deadline of {}",
                                        byte_size(result.budget_bytes), result.memory,
                                        time_text(result.deadline_cycles, result.clock_hz))
                          : fmt::format("{} of {} do not suffice: the least that was found is {} ({} bytes)",
                                        byte_size(result.budget_bytes), result.memory, byte_size(result.least_bytes),
                                        grouped(result.least_bytes)),
          .place = late ? "--deadline" : "--memory-budget",
          .advice = "`monet checkpoint` says which tensors force it"};
}

Text to_text(const Optimization& result) {
  const bool kernels = result.start.lowering != "nests";
  Text text = fmt::format("{} on {}: {}, for {}\n", result.model, result.hardware,
                          kernels ? "kernels and memory" : "fusion, memory and placement", result.objective);
  text += fmt::format("{:<12} {}\n", "numbers", numbers_text(result.recipe, result.recipe_from));
  if (const std::string reach = reach_text(result.reach); !reach.empty())
    text += fmt::format("{:<12} {}\n", "model", reach);
  text += fmt::format("{:<12} {}, {}, {} of {}\n", "before", time_text(result.start.latency_cycles, result.clock_hz),
                      energy_text(result.start.energy_pj), byte_size(result.start.peak_bytes), result.memory);
  text += fmt::format("{:<12} {}{}: no plan without recomputing does better\n\n", "bound",
                      time_text(result.bound_cycles, result.clock_hz),
                      result.bound_pj > 0 ? ", " + energy_text(result.bound_pj) : "");
  Table table({{"", Table::Align::right},
               {"latency", Table::Align::right},
               {"", Table::Align::right},
               {"energy", Table::Align::right},
               {"", Table::Align::right},
               {"memory", Table::Align::right},
               {"than the one above"}});
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    const OptimizedPlan& plan = result.plans[i];
    table.add({fmt::format("{}", i), time_text(plan.latency_cycles, result.clock_hz),
               change_text(plan.latency_cycles, result.start.latency_cycles), energy_text(plan.energy_pj),
               change_text(plan.energy_pj, result.start.energy_pj), byte_size(plan.peak_bytes), plan.why});
  }
  text += table;
  if (!result.recommended_why.empty()) {
    text += fmt::format("\n{:<12} plan {}: {}", "recommended", result.recommended, result.recommended_why);
  }
  text += fmt::format("\n{:<12} {} plans in {}{}\n", "priced", grouped(static_cast<std::int64_t>(result.evaluated)),
                      seconds_text(result.wall_s), result.complete ? "" : ", ended early");
  return text;
}

Json json_of(const Optimization& result) {
  Json json = {{"schema", 1},
               {"command", "optimize"},
               {"model", result.model},
               {"hardware", result.hardware},
               {"recipe", result.recipe},
               {"recipe_from", result.recipe_from},
               {"recipe_text", numbers_text(result.recipe, result.recipe_from)},
               {"objective", result.objective},
               {"clock_hz", result.clock_hz > 0 ? Json(result.clock_hz) : Json(nullptr)},
               {"memory", result.memory},
               {"budget_bytes", result.budget_bytes},
               {"feasible", result.feasible},
               {"least_bytes", result.least_bytes},
               {"start", json_of(result.start)},
               {"plans", Json::array()}};
  add_reach(json, result.reach);
  if (result.deadline_cycles > 0) json["deadline_cycles"] = result.deadline_cycles;
  for (const OptimizedPlan& plan : result.plans) json["plans"].push_back(json_of(plan));
  json["recommended"] = nullptr;
  if (!result.recommended_why.empty()) {
    json["recommended"] = {{"plan", result.recommended}, {"why", result.recommended_why}};
  }
  json["bound"] = {{"latency_cycles", result.bound_cycles},
                   {"energy_pj", result.bound_pj > 0 ? Json(result.bound_pj) : Json(nullptr)}};
  if (result.objective == "own") {
    json["start"]["value"] = result.start.value;
    for (std::size_t i = 0; i < result.plans.size(); ++i) json["plans"][i]["value"] = result.plans[i].value;
    json["bound"]["value"] = nullptr;  // of a function nothing is known
  }
  json["evaluated"] = result.evaluated;
  json["complete"] = result.complete;
  json["warnings"] = result.warnings;
  json["notes"] = result.notes;
  if (result.wall_s >= 0) json["wall_s"] = result.wall_s;
  return json;
}

std::string to_json(const Optimization& result) { return text_of(json_of(result)); }

std::string to_csv(const Optimization& result) {
  std::string text =
      "plan,latency_cycles,energy_pj,peak_bytes,saved_bytes_dropped,stacks,recomputed,paged,order,placed,lowering\n";
  for (std::size_t i = 0; i < result.plans.size(); ++i) {
    const OptimizedPlan& plan = result.plans[i];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", i, plan.latency_cycles, plan.energy_pj, plan.peak_bytes,
                        plan.saved_bytes_dropped, plan.stacks, plan.recomputed.size(), plan.paged.size(), plan.order,
                        plan.placed ? 1 : 0, plan.lowering);
  }
  return text;
}

}  // namespace monet
