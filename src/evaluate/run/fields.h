// The fields of a result's rows, said once: JSON, CSV, Python's tables and sums over micro-batches follow from it.
#pragma once

#include <monet/evaluate.h>

#include <concepts>
#include <type_traits>

namespace monet {

struct Field {
  const char* name = nullptr;
  bool adds_up = false;                          // over repetitions of the row
  const char *group = nullptr, *part = nullptr;  // in JSON: the object that it stands in, and its name there
  bool of_cores = false;                         // other resources do not have it
};

// Rows that may be changed, and those that may not.
template <class Row, class Result>
concept RowOf = std::same_as<std::remove_const_t<Row>, Result>;

// visit(field, value) for each, in the order of JSON.
template <RowOf<OperatorResult> Row, class Visit>
void for_each_field(Row& row, const Visit& visit) {
  constexpr bool adds_up = true;
  const auto energy = [](const char* name, const char* part) {
    return Field{.name = name, .adds_up = true, .group = "energy_breakdown", .part = part};
  };
  visit(Field{"name"}, row.name);
  visit(Field{"operator"}, row.op);
  visit(Field{"phase"}, row.phase);
  visit(Field{"stack"}, row.stack);
  visit(Field{"cores"}, row.cores);
  visit(Field{"tiles", adds_up}, row.tiles);
  visit(Field{"macs", adds_up}, row.macs);
  visit(Field{"start"}, row.start);
  visit(Field{"end"}, row.end);
  visit(Field{"busy_cycles", adds_up}, row.busy_cycles);
  visit(Field{"compute_cycles", adds_up}, row.compute_cycles);
  visit(Field{"stall_cycles", adds_up}, row.stall_cycles);
  visit(Field{"load_cycles", adds_up}, row.load_cycles);
  visit(Field{"fill_cycles", adds_up}, row.fill_cycles);
  visit(Field{"slowed_cycles", adds_up}, row.slowed_cycles);
  visit(Field{"wait_cycles", adds_up}, row.wait_cycles);
  visit(Field{"energy_pj", adds_up}, row.energy_pj);
  visit(energy("compute_pj", "compute"), row.compute_pj);
  visit(energy("memory_pj", "memory"), row.memory_pj);
  visit(energy("network_pj", "network"), row.network_pj);
  visit(energy("transfer_pj", "transfer"), row.transfer_pj);
  visit(Field{"home_read_bytes", adds_up}, row.home_read_bytes);
  visit(Field{"home_write_bytes", adds_up}, row.home_write_bytes);
  visit(Field{"bound_cycles", adds_up}, row.bound_cycles);
  visit(Field{"recomputed"}, row.recomputed);
  visit(Field{"precision"}, row.precision);
  visit(Field{"converted"}, row.converted);
}

template <RowOf<PhaseResult> Row, class Visit>
void for_each_field(Row& row, const Visit& visit) {
  visit(Field{"phase"}, row.phase);
  visit(Field{"start"}, row.start);
  visit(Field{"end"}, row.end);
  visit(Field{"latency_cycles", true}, row.latency_cycles);
  visit(Field{"busy_cycles", true}, row.busy_cycles);
  visit(Field{"energy_pj", true}, row.energy_pj);
  visit(Field{"macs", true}, row.macs);
}

template <RowOf<Lifetime> Row, class Visit>
void for_each_field(Row& row, const Visit& visit) {
  visit(Field{"memory"}, row.memory);
  visit(Field{"name"}, row.name);
  visit(Field{"role"}, row.role);
  visit(Field{"start"}, row.start);
  visit(Field{"end"}, row.end);
  visit(Field{"bytes"}, row.bytes);
  visit(Field{"address"}, row.address);  // -1: none
}

template <RowOf<ResourceResult> Row, class Visit>
void for_each_field(Row& row, const Visit& visit) {
  const auto of_cores = [](const char* name) { return Field{.name = name, .adds_up = true, .of_cores = true}; };
  visit(Field{"name"}, row.name);
  visit(Field{"kind"}, row.kind);
  visit(Field{"type"}, row.type);
  visit(Field{"busy_cycles", true}, row.busy_cycles);
  visit(Field{"idle_cycles", true}, row.idle_cycles);
  visit(Field{"utilization"}, row.utilization);
  visit(Field{"bytes", true}, row.bytes);
  visit(Field{"energy_pj", true}, row.energy_pj);
  visit(of_cores("compute_cycles"), row.compute_cycles);
  visit(of_cores("stall_cycles"), row.stall_cycles);
  visit(of_cores("load_cycles"), row.load_cycles);
  visit(of_cores("fill_cycles"), row.fill_cycles);
  visit(of_cores("slowed_cycles"), row.slowed_cycles);
}

// visit(amount) for each field that adds up.
template <class Row, class Visit>
void for_each_amount(Row& row, const Visit& visit) {
  for_each_field(row, [&](const Field& field, auto& value) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>)
      if (field.adds_up) visit(value);
  });
}

}  // namespace monet
