#include "base/try.h"
#include "evaluate/subject/numbers.h"
#include "evaluate/subject/runnable.h"
#include "evaluate/subject/subject.h"
#include "hardware/open/open.h"
#include "report/json.h"

#include <monet/runnable.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace monet {

namespace {

Expected<RunnableMode> runnable_mode(const Subject& subject, const Hardware& hardware, const EvaluateOptions& options) {
  RunnableMode mode;
  MONET_TRY(const ExtractOptions extract, extract_of(subject, options));
  MONET_TRY(ExpandedGraph expanded, expanded_for(subject.graph, hardware, extract));
  mode.expanded = std::move(expanded.names);
  for (Unrunnable& each : unrunnable_operators(expanded.graph, hardware, extract)) {
    mode.missing.push_back({std::move(each.op), each.count, std::move(each.example), std::move(each.reasons)});
  }
  mode.runs = mode.missing.empty();
  return mode;
}

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

Expected<Runnable> check_runnable(const std::string& model, const EvaluateOptions& given) {
  EvaluateOptions options = given;
  MONET_TRY(const Hardware hardware, open_hardware(options.hardware, {.parameters = options.parameters}));
  Runnable result{.hardware = hardware.name, .model = model};
  MONET_TRY(const NumberChoice numbers, choose_numbers(model, hardware, options.train));
  options.train.precision = numbers.precision();
  MONET_TRY(const Subject step, open_subject(model, options, false));
  MONET_TRY(const Subject forward, open_subject(model, options, true));
  MONET_TRY(result.training, runnable_mode(step, hardware, options));
  MONET_TRY(result.inference, runnable_mode(forward, hardware, options));
  result.warnings = step.warnings;
  result.notes = step.notes;
  return result;
}

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

std::string to_text(const Runnable& runnable) {
  return fmt::format("{} on {}\n", runnable.model, runnable.hardware) + mode_text("training", runnable.training) +
         mode_text("inference", runnable.inference);
}

}  // namespace monet
