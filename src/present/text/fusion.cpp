#include "base/quantities.h"
#include "present/json/json.h"
#include "present/shared/numbers.h"
#include "present/shared/reach.h"
#include "present/text/search.h"

#include <monet/fuse.h>
#include <monet/text.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

std::string percent_change(double now, double before) {
  return before > 0 ? fmt::format("{:+.1f}%", 100 * (now / before - 1)) : std::string();
}

std::string objective_text(const Fusion& fusion) {
  if (fusion.objective == "sets") return "the fewest stacks";
  if (fusion.objective == "traffic") return "the least traffic between stacks";
  if (fusion.objective == "edp") return "energy times delay";
  return fusion.objective;
}

// "OY 4, K 16" where all its operators are cut alike, else by operator.
std::string tiles_text(const FusedOperators& stack) {
  const auto listed = [](const auto& tiles) {
    std::string text;
    for (const auto& [loop, size] : tiles) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", loop, size);
    return text;
  };
  if (stack.tiles.empty()) return {};
  const bool alike =
      std::ranges::all_of(stack.tiles, [&](const auto& each) { return each.second == stack.tiles.front().second; });
  if (alike) return listed(stack.tiles.front().second);
  return listed(stack.tiles.front().second) + ", …";
}

std::string operators_text(const std::vector<std::string>& names) {
  constexpr std::size_t widest = 100;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0 && text.size() + names[i].size() > widest) return text + fmt::format(" and {} more", names.size() - i);
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text;
}

std::string choice_text(const Fusion& fusion) {
  if (fusion.given) return "The stacks were given; their tiles were searched.";
  if (fusion.rules == "compiler") {
    return fmt::format(
        "Each stack is one kernel, by the rules of a fusing compiler. {} evaluations of the whole step.{}",
        grouped(fusion.evaluated),
        fusion.unchanged ? " Nothing was found that is better than operators one by one." : "");
  }
  std::string text = fmt::format("{} sets by the rules, {} of different content, priced by {} evaluations; ",
                                 grouped(fusion.candidates), grouped(fusion.classes), grouped(fusion.priced));
  const bool of_sets = fusion.objective == "sets" || fusion.objective == "traffic";
  text += fusion.proven
              ? of_sets ? "the choice is proven best." : "the choice is proven best by these prices."
              : fmt::format("the choice is within {:.2f} % of its bound.",
                            fusion.predicted_bound > 0 ? 100 * (fusion.predicted / fusion.predicted_bound - 1) : 100.0);
  text += fmt::format(" {} evaluations of the whole step.", grouped(fusion.evaluated));
  if (fusion.unchanged) text += " Nothing was found that is better than the step as it is.";
  return text;
}

}  // namespace

std::string to_json(const Fusion& fusion) {
  Json json;
  json["schema"] = 1;
  json["model"] = fusion.model;
  json["hardware"] = fusion.hardware;
  json["recipe"] = fusion.recipe;
  json["recipe_from"] = fusion.recipe_from;
  json["recipe_text"] = numbers_text(fusion.recipe, fusion.recipe_from);
  add_reach(json, fusion.reach);
  json["objective"] = fusion.objective;
  json["rules"] = fusion.rules;
  json["limit"] = fusion.limit;
  Json stacks = Json::array(), tiles = Json::object();
  for (const FusedOperators& stack : fusion.stacks) {
    stacks.push_back(stack.operators);
    for (const auto& [name, sizes] : stack.tiles) {
      Json& of = tiles[name] = Json::object();
      for (const auto& [loop, size] : sizes) of[loop] = size;
    }
  }
  json["stacks"] = std::move(stacks);
  json["tiles"] = std::move(tiles);
  json["latency_cycles"] = fusion.latency_cycles;
  json["latency_s"] = fusion.clock_hz > 0 ? Json(fusion.latency_cycles / fusion.clock_hz) : Json(nullptr);
  json["energy_pj"] = fusion.energy_pj;
  json["unfused"] = {{"latency_cycles", fusion.unfused_cycles}, {"energy_pj", fusion.unfused_pj}};
  json["bound"] = {{"stacks", fusion.given ? Json(nullptr) : Json(fusion.bound_stacks)},
                   {"predicted", fusion.given ? Json(nullptr) : Json(fusion.predicted_bound)},
                   {"latency_cycles", fusion.bound_cycles},
                   {"energy_pj", fusion.bound_pj}};
  json["predicted"] = fusion.given ? Json(nullptr) : Json(fusion.predicted);
  json["proven"] = fusion.proven;
  json["complete"] = fusion.complete;
  json["stopped"] = fusion.stopped;
  json["unchanged"] = fusion.unchanged;
  json["operators"] = fusion.operators;
  json["candidates"] = fusion.candidates;
  json["classes"] = fusion.classes;
  json["priced"] = fusion.priced;
  json["evaluated"] = fusion.evaluated;
  json["tile_count"] = fusion.tiles;
  json["solver"] = {
      {"parts", fusion.parts}, {"solved", fusion.parts_solved}, {"programs", fusion.programs}, {"cuts", fusion.cuts}};
  json["wall_s"] = fusion.wall_s;
  return text_of(json);
}

Text to_text(const Fusion& fusion, std::size_t stacks) {
  const auto fused = static_cast<std::int64_t>(
      std::ranges::count_if(fusion.stacks, [](const FusedOperators& stack) { return stack.operators.size() > 1; }));
  const auto count = static_cast<std::int64_t>(fusion.stacks.size());
  Text text = fmt::format("{} on {}: {} operators in {} stacks ({} of several), for {}; {}\n", fusion.model,
                          fusion.hardware, grouped(fusion.operators), grouped(count), grouped(fused),
                          fusion.given ? "given stacks" : objective_text(fusion), seconds_text(fusion.wall_s));
  text += fmt::format("{:<12} {}\n\n", "numbers", numbers_text(fusion.recipe, fusion.recipe_from));
  Table results({{""},
                 {"unfused", Table::Align::right},
                 {"fused", Table::Align::right},
                 {"", Table::Align::right},
                 {"no plan is below", Table::Align::right}});
  results.add(
      {"latency", time_text(fusion.unfused_cycles, fusion.clock_hz), time_text(fusion.latency_cycles, fusion.clock_hz),
       percent_change(fusion.latency_cycles, fusion.unfused_cycles), time_text(fusion.bound_cycles, fusion.clock_hz)});
  if (fusion.clock_hz > 0) {
    results.add({"cycles", cycles_text(std::round(fusion.unfused_cycles)),
                 cycles_text(std::round(fusion.latency_cycles)), "", cycles_text(std::round(fusion.bound_cycles))});
  }
  results.add({"energy", energy_text(fusion.unfused_pj), energy_text(fusion.energy_pj),
               percent_change(fusion.energy_pj, fusion.unfused_pj), energy_text(fusion.bound_pj)});
  results.add({"stacks", grouped(fusion.operators), grouped(count), "",
               fusion.given ? std::string() : grouped(fusion.bound_stacks) + " by the rules"});
  text += results + "\n" + choice_text(fusion) + "\n\n";
  std::vector<const FusedOperators*> largest;
  for (const FusedOperators& stack : fusion.stacks) {
    if (stack.operators.size() > 1) largest.push_back(&stack);
  }
  std::ranges::stable_sort(largest, std::greater(),
                           [](const FusedOperators* stack) { return stack->operators.size(); });
  const std::size_t all = largest.size();
  if (stacks > 0 && largest.size() > stacks) largest.resize(stacks);
  Table table({{"size", Table::Align::right}, {"tile"}, {"operators"}});
  for (const FusedOperators* stack : largest) {
    table.add({grouped(static_cast<std::int64_t>(stack->operators.size())), tiles_text(*stack),
               operators_text(stack->operators)});
  }
  if (!largest.empty()) text += table;
  if (largest.size() < all) text += fmt::format("and {} more (--show 0 lists all)\n", all - largest.size());
  return text;
}

}  // namespace monet
