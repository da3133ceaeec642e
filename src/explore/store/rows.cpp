#include "explore/store/rows.h"

#include "base/try.h"
#include "explore/store/parameters_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::explore {

namespace {

constexpr std::string_view columns =
    "SELECT d.design, d.failure, d.excluded, d.hardware_hash, d.area_mm2, d.static_w, d.macs_per_cycle, "
    "d.on_chip_bits, r.workload, r.failure, r.latency_cycles, r.latency_s, r.energy_pj, r.peak_bytes, r.macs, "
    "r.utilization, r.stacks, r.tiles, r.recomputed, r.paged, r.recipe FROM designs d LEFT JOIN results r ON r.design "
    "= "
    "d.design";
constexpr int workload_column = 8;

void bind_failure(Statement& row, const std::string& failure) {
  if (failure.empty()) {
    row.bind_null();
  } else {
    row.bind(std::string_view(failure));
  }
}

Outcome outcome_of(const Statement& row) {
  Outcome outcome{.design = static_cast<Design>(row.integer(0)), .failure = row.text(1)};
  outcome.excluded = row.integer(2) != 0;
  outcome.hardware_hash = row.text(3);
  outcome.area_mm2 = row.real(4);
  outcome.static_w = row.real(5);
  outcome.macs_per_cycle = row.real(6);
  outcome.on_chip_bits = row.integer(7);
  return outcome;
}

void read(const Statement& row, int column, double& value) { value = row.real(column); }
void read(const Statement& row, int column, std::int64_t& value) { value = row.integer(column); }

WorkloadOutcome workload_of(const Statement& row) {
  int column = workload_column + 1;
  WorkloadOutcome workload{.failure = row.text(column)};
  for_each_number(workload, [&](const char*, auto& value) { read(row, ++column, value); });
  workload.recipe = row.text(++column);
  return workload;
}

bool has_numbers(const WorkloadOutcome& workload) {
  bool finite = true;
  for_each_number(workload, [&](const char*, auto value) { finite &= std::isfinite(static_cast<double>(value)); });
  return finite;
}

bool has_numbers(const Outcome& outcome) {
  return std::isfinite(outcome.area_mm2) && std::isfinite(outcome.static_w) && std::isfinite(outcome.macs_per_cycle) &&
         std::ranges::all_of(outcome.workloads, [](const WorkloadOutcome& workload) {
           return !workload.failure.empty() || has_numbers(workload);
         });
}

}  // namespace

std::string fault_of(const Outcome& outcome, const Space& space) {
  if (outcome.workloads.size() != space.workloads.size()) return "has no results of some workloads";
  return has_numbers(outcome) ? "" : "has results that are no numbers";
}

Expected<OutcomeRows> OutcomeRows::open(Database& database, const Space& space) {
  OutcomeRows rows(database, space);
  MONET_TRY(rows.design_, database.prepare("INSERT OR IGNORE INTO designs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  MONET_TRY(rows.result_, database.prepare("INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  MONET_TRY(rows.find_, database.prepare(std::string(columns) + " WHERE d.design = ? ORDER BY r.workload"));
  MONET_TRY(rows.has_, database.prepare("SELECT 1 FROM designs WHERE design = ?"));
  return rows;
}

Expected<bool> OutcomeRows::write(const Outcome& outcome) {
  const auto design = static_cast<std::int64_t>(outcome.design);
  const std::string parameters = parameters_json(space_->chosen(outcome.design));
  design_.bind(design).bind(std::string_view(parameters));
  bind_failure(design_, outcome.failure);
  design_.bind(std::int64_t{outcome.excluded}).bind(std::string_view(outcome.hardware_hash)).bind(outcome.area_mm2);
  design_.bind(outcome.static_w).bind(outcome.macs_per_cycle).bind(outcome.on_chip_bits);
  MONET_RETURN_IF_ERROR(design_.run());
  if (database_->changes() == 0) return false;
  for (std::size_t i = 0; i < outcome.workloads.size(); ++i) {
    const WorkloadOutcome& workload = outcome.workloads[i];
    result_.bind(design).bind(static_cast<std::int64_t>(i));
    bind_failure(result_, workload.failure);
    for_each_number(workload, [&](const char*, auto value) { result_.bind(value); });
    result_.bind(std::string_view(workload.recipe));
    MONET_RETURN_IF_ERROR(result_.run());
  }
  return true;
}

Expected<bool> OutcomeRows::read_design(Statement& rows, Outcome& outcome) {
  outcome = outcome_of(rows);
  const auto refuse = [&](const std::string& what) {
    rows.reset();
    return database_->damaged(fmt::format("design {} {}", static_cast<std::int64_t>(outcome.design), what));
  };
  if (outcome.design >= space_->size()) return refuse(fmt::format("is none of {} designs", space_->size()));
  if (rows.is_null(workload_column)) return rows.step();
  bool more = true;
  for (std::int64_t i = 0; more && static_cast<Design>(rows.integer(0)) == outcome.design; ++i) {
    if (rows.integer(workload_column) != i) return refuse("has results of workloads that are none");
    outcome.workloads.push_back(workload_of(rows));
    MONET_TRY(more, rows.step());
  }
  if (const std::string fault = fault_of(outcome, *space_); !fault.empty()) return refuse(fault);
  return more;
}

Expected<std::optional<Outcome>> OutcomeRows::find(Design design) {
  find_.bind(static_cast<std::int64_t>(design));
  MONET_TRY(const bool row, find_.step());
  if (!row) return std::optional<Outcome>();
  Outcome outcome;
  MONET_TRY(const bool more, read_design(find_, outcome));
  if (more) find_.reset();
  return std::optional(std::move(outcome));
}

Expected<bool> OutcomeRows::has(Design design) {
  has_.bind(static_cast<std::int64_t>(design));
  MONET_TRY(const bool row, has_.step());
  if (row) has_.reset();
  return row;
}

Status OutcomeRows::for_each(const std::function<Status(const Outcome&)>& look) {
  MONET_TRY(Transaction transaction, Transaction::begin(*database_, false));
  MONET_TRY(Statement rows, database_->prepare(std::string(columns) + " ORDER BY d.design, r.workload"));
  MONET_TRY(bool row, rows.step());
  Outcome outcome;
  while (row) {
    MONET_TRY(row, read_design(rows, outcome));
    MONET_RETURN_IF_ERROR(look(outcome));
  }
  return transaction.commit();
}

}  // namespace monet::explore
