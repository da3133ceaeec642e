#include "present/json/json.h"

#include <monet/runnable.h>
#include <monet/text.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monet {

namespace {

Json mode_json(const RunnableMode& mode) {
  Json json;
  json["runs"] = mode.runs;
  json["missing"] = Json::array();
  for (const MissingOperators& each : mode.missing) {
    json["missing"].push_back(
        {{"operator", each.op}, {"count", each.count}, {"example", each.example}, {"reasons", each.reasons}});
  }
  json["expanded"] = mode.expanded;
  return json;
}

std::string mode_text(const std::string& name, const RunnableMode& mode) {
  std::string text = fmt::format("{}: {}\n", name, mode.runs ? "every operator has a core" : "does not run");
  if (!mode.expanded.empty()) {
    text += fmt::format("  {} in their parts, because no core runs them whole: {}{}\n", mode.expanded.size(),
                        mode.expanded.front(), mode.expanded.size() > 1 ? ", …" : "");
  }
  for (const MissingOperators& each : mode.missing) {
    text += fmt::format("  {} {}, such as '{}'\n", each.count, each.op, each.example);
    for (const std::string& reason : each.reasons) text += fmt::format("    {}\n", reason);
  }
  return text;
}

}  // namespace

std::string to_json(const Runnable& runnable, bool inference) {
  Json json = {{"schema", 1}, {"command", "hardware check"}};
  json["hardware"] = runnable.hardware;
  json["model"] = runnable.model;
  json["runs"] = inference ? runnable.inference.runs : runnable.training.runs;
  json["training"] = mode_json(runnable.training);
  json["inference"] = mode_json(runnable.inference);
  json["warnings"] = runnable.warnings;
  json["notes"] = runnable.notes;
  return text_of(json);
}

Text to_text(const Runnable& runnable) {
  return fmt::format("{} on {}\n", runnable.model, runnable.hardware) + mode_text("training", runnable.training) +
         mode_text("inference", runnable.inference);
}

}  // namespace monet
