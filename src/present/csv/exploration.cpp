#include <monet/explore.h>

#include "base/csv.h"
#include "base/try.h"
#include "explore/store/parameters_json.h"
#include "explore/store/store.h"
#include "explore/summary.h"
#include "present/json/json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace monet {

using explore::Outcome;
using explore::Space;
using explore::WorkloadOutcome;

namespace {

constexpr std::array<const char*, 7> metrics = {"latency_s",  "energy_pj", "edp",        "area_mm2",
                                                "peak_bytes", "cost",      "utilization"};

const WorkloadOutcome nothing;

const char* status_of(const Outcome& outcome) {
  return outcome.excluded ? "excluded" : outcome.ran() ? "ran" : "failed";
}

// The shortest that is read back to the same bits.
std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }
std::string number(std::int64_t value) { return fmt::format("{}", value); }

std::string heading(const Space& space) {
  std::string line = "design";
  for (const auto& parameter : space.chosen(0)) line += "," + csv_field(parameter.first);
  line += ",status,reason,hardware_hash,static_w,macs_per_cycle,on_chip_bits";
  for (const char* metric : metrics) fmt::format_to(std::back_inserter(line), ",{}", metric);
  for (const explore::Workload& workload : space.workloads) {
    line += "," + csv_field(workload.name + ".failure");
    for_each_number(nothing,
                    [&](const std::string& column, auto) { line += "," + csv_field(workload.name + "." + column); });
  }
  return line + "\n";
}

void add_workload(std::string& line, const WorkloadOutcome& workload, bool ran) {
  line += "," + csv_field(workload.failure);
  for_each_number(workload, [&](const char*, auto value) { line += "," + (ran ? number(value) : ""); });
}

std::string csv_line(const Outcome& outcome, const Space& space) {
  const DesignResult result = result_of(outcome, space, {});
  std::string line = fmt::format("{}", outcome.design);
  for (const auto& parameter : result.parameters) line += "," + csv_field(parameter.second);
  fmt::format_to(std::back_inserter(line), ",{},{}", status_of(outcome), csv_field(result.failure));
  // A machine that is none has no size.
  if (outcome.hardware_hash.empty()) {
    line += ",,,,";
  } else {
    fmt::format_to(std::back_inserter(line), ",{},{},{},{}", csv_field(outcome.hardware_hash), number(outcome.static_w),
                   number(outcome.macs_per_cycle), outcome.on_chip_bits);
  }
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const bool is_area = std::string_view(metrics[i]) == "area_mm2";
    line += ",";
    if (i < result.metrics.size()) {
      line += number(result.metrics[i].second);
    } else if (is_area && !outcome.hardware_hash.empty()) {
      line += number(outcome.area_mm2);
    }
  }
  for (const WorkloadOutcome& workload : outcome.workloads) add_workload(line, workload, workload.failure.empty());
  for (std::size_t i = outcome.workloads.size(); i < space.workloads.size(); ++i) add_workload(line, nothing, false);
  return line + "\n";
}

Json workload_json(const WorkloadOutcome& workload) {
  if (!workload.failure.empty()) return {{"failure", workload.failure}};
  Json json;
  for_each_number(workload, [&](const char* name, auto value) { json[name] = value; });
  return json;
}

std::string json_line(const Outcome& outcome, const Space& space) {
  const DesignResult result = result_of(outcome, space, {});
  Json json = {{"index", outcome.design}, {"design", Json::parse(explore::parameters_json(result.parameters))}};
  json["status"] = status_of(outcome);
  if (!result.failure.empty()) json["reason"] = result.failure;
  if (!outcome.hardware_hash.empty()) {
    json["hardware_hash"] = outcome.hardware_hash;
    json["area_mm2"] = outcome.area_mm2;
    json["static_w"] = outcome.static_w;
    json["macs_per_cycle"] = outcome.macs_per_cycle;
    json["on_chip_bits"] = outcome.on_chip_bits;
  }
  for (const auto& [name, value] : result.metrics) json["metrics"][name] = value;
  for (std::size_t i = 0; i < outcome.workloads.size(); ++i)
    json["workloads"][space.workloads[i].name] = workload_json(outcome.workloads[i]);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Status write_store_csv(const std::string& path, const WriteText& write) {
  MONET_TRY(explore::Store store, explore::Store::open_to_read(path));
  MONET_RETURN_IF_ERROR(write(heading(store.space())));
  return store.for_each([&](const Outcome& outcome) { return write(csv_line(outcome, store.space())); });
}

Status write_store_json_lines(const std::string& path, const WriteText& write) {
  MONET_TRY(explore::Store store, explore::Store::open_to_read(path));
  return store.for_each([&](const Outcome& outcome) { return write(json_line(outcome, store.space())); });
}

}  // namespace monet
