#include "present/page/page_plans.h"

#include "base/read_file.h"
#include "base/try.h"
#include "present/json/json.h"

#include <filesystem>

namespace monet {

namespace {

constexpr std::size_t most_plan_bytes = std::size_t{4} << 20;
constexpr std::size_t most_bytes_of_plans = std::size_t{64} << 20;

// The page calls what a search began with "start".
void name_start(FileJson& json) {
  const auto found = json.find("all_kept");
  if (found == json.end()) return;
  json["start"] = std::move(*found);
  json.erase("all_kept");
}

std::string text_of_plans(const FileJson& json) {
  return json.dump(-1, ' ', false, FileJson::error_handler_t::replace);
}

template <class Result>
std::string with_plans(const Result& result) {
  FileJson json = json_of(result);
  for (std::size_t i = 0; i < result.plans.size(); ++i) json["plans"][i]["plan_yaml"] = result.plans[i].plan_yaml;
  name_start(json);
  return text_of_plans(json);
}

Status check_plan(const ResultFields& plan) {
  for (const char* key : {"latency_cycles", "energy_pj", "peak_bytes"}) MONET_RETURN_IF_ERROR(plan.number(key));
  return Done{};
}

}  // namespace

Expected<std::string> plans_of_file(const ResultFile& file) {
  FileJson json = file.json;
  MONET_TRY(const std::vector<ResultFields> plans, ResultFields(json, file.path).objects("plans"));
  std::size_t all_bytes = 0;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    MONET_RETURN_IF_ERROR(check_plan(plans[i]));
    MONET_TRY(const std::string name, plans[i].text_or("plan_file", ""));
    if (name.empty() || file.folder.empty()) continue;
    const auto plan = read_file(std::filesystem::path(file.folder) / std::filesystem::path(name).filename());
    if (!plan || plan->size() > most_plan_bytes) continue;
    all_bytes += plan->size();
    if (all_bytes > most_bytes_of_plans) break;
    json["plans"][i]["plan_yaml"] = *plan;
  }
  name_start(json);
  return text_of_plans(json);
}

std::string plans_of(const Optimization& optimization) { return with_plans(optimization); }
std::string plans_of(const Checkpointing& checkpointing) { return with_plans(checkpointing); }

}  // namespace monet
