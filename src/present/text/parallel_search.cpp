#include <monet/parallel.h>

#include "base/quantities.h"
#include "present/json/json.h"

#include <fmt/format.h>

namespace monet {

namespace {

Json json_of(const ParallelSetting& setting) {
  return {{"parallel", setting.words},
          {"micro_batch", setting.micro_batch},
          {"chips", setting.chips},
          {"latency_s", setting.seconds},
          {"tokens_per_s", setting.tokens_per_s > 0 ? Json(setting.tokens_per_s) : Json(nullptr)},
          {"mfu", setting.mfu > 0 ? Json(setting.mfu) : Json(nullptr)},
          {"bubble_fraction", setting.bubble_fraction},
          {"peak_bytes", setting.peak_bytes},
          {"energy_pj", setting.energy_pj},
          {"exposed_communication",
           {{"tp", setting.exposed_tp_s}, {"dp", setting.exposed_dp_s}, {"pp", setting.exposed_pp_s}}}};
}

}  // namespace

std::string to_json(const ParallelSearch& result) {
  Json json = {{"schema", 1},
               {"command", "parallel"},
               {"model", result.model},
               {"hardware", result.hardware},
               {"objective", result.objective},
               {"chips", result.chips},
               {"batch", result.batch},
               {"feasible", result.feasible},
               {"complete", result.complete}};
  json["best"] = result.feasible ? json_of(result.best) : Json(nullptr);
  json["front"] = Json::array();
  for (const ParallelSetting& setting : result.front) json["front"].push_back(json_of(setting));
  json["rejected"] = Json::array();
  for (const ParallelRejection& each : result.rejected)
    json["rejected"].push_back({{"reason", each.reason}, {"settings", each.settings}, {"examples", each.examples}});
  json["settings"] = result.settings;
  json["by_bounds"] = result.by_bounds;
  json["exactly"] = result.exactly;
  json["chip_graphs"] = result.chip_graphs;
  json["settings_per_s"] = result.settings_per_s;
  json["wall_s"] = result.wall_s;
  json["plan"] = result.plan_yaml;
  return text_of(json);
}

Text to_text(const ParallelSearch& result) {
  const auto line = [](const char* name, const std::string& value) { return fmt::format("{:<10} {}\n", name, value); };
  Text text = fmt::format("{} on {} chips of {}, {} samples a step\n", result.model, grouped(result.chips),
                          result.hardware, grouped(result.batch));
  if (result.feasible) {
    const ParallelSetting& best = result.best;
    text += line("best", fmt::format("--parallel {} --micro-batch {}", best.words, best.micro_batch));
    text += line("time", fmt::format("{} a step; {:.6g} tokens/s; {:.1f} % of what all chips could do",
                                     seconds_text(best.seconds), best.tokens_per_s, 100 * best.mfu));
    text += line("memory", byte_size(best.peak_bytes) + " of the chip that holds most");
    text += line("energy", energy_text(best.energy_pj) + " of all chips");
    text += line("waits", fmt::format("tp {}, dp {}, pp {}; standing still in the pipeline for {:.1f} % of the work",
                                      seconds_text(best.exposed_tp_s), seconds_text(best.exposed_dp_s),
                                      seconds_text(best.exposed_pp_s), 100 * best.bubble_fraction));
    Table table({{"front"},
                 {"micro-batch", Table::Align::right},
                 {"chips", Table::Align::right},
                 {"time", Table::Align::right},
                 {"memory", Table::Align::right},
                 {"energy", Table::Align::right}},
                2);
    for (const ParallelSetting& setting : result.front)
      table.add({setting.words, grouped(setting.micro_batch), grouped(setting.chips), seconds_text(setting.seconds),
                 byte_size(setting.peak_bytes), energy_text(setting.energy_pj)});
    text += "\n" + table + "\n";
  }
  for (const ParallelRejection& each : result.rejected) {
    text += line("out", fmt::format("{} settings by {}; {}", grouped(static_cast<std::int64_t>(each.settings)),
                                    each.reason, each.examples.empty() ? "" : each.examples.front()));
  }
  text +=
      line("looked at", fmt::format("{} settings in {}, {} by bounds, {} exactly, {} graphs of chips",
                                    grouped(static_cast<std::int64_t>(result.settings)), seconds_text(result.wall_s),
                                    grouped(static_cast<std::int64_t>(result.by_bounds)),
                                    grouped(static_cast<std::int64_t>(result.exactly)),
                                    grouped(static_cast<std::int64_t>(result.chip_graphs))));
  return text;
}

}  // namespace monet
