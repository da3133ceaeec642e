// What became of a design.
#pragma once

#include "explore/space/space.h"

#include <monet/expected.h>

#include <cstdint>
#include <string>
#include <vector>

namespace monet::explore {

// One workload on one machine.
struct WorkloadOutcome {
  std::string failure;  // why it cannot run; then nothing below counts
  double latency_cycles = 0, latency_s = 0;
  double energy_pj = 0;
  std::int64_t peak_bytes = 0;  // of the home memory, at most at one moment
  double macs = 0;
  double utilization = 0;  // MACs over what the machine could do in that time; 0 for machines without arrays
  // The plan.
  std::int64_t stacks = 0, tiles = 0, recomputed = 0, paged = 0;
  std::string recipe;  // of the number formats, as evaluate names it

  bool operator==(const WorkloadOutcome&) const = default;
};

// visit(name, value) for each number, in the order of the store's columns.
template <class Workload, class Visit>
void for_each_number(Workload& workload, const Visit& visit) {
  visit("latency_cycles", workload.latency_cycles);
  visit("latency_s", workload.latency_s);
  visit("energy_pj", workload.energy_pj);
  visit("peak_bytes", workload.peak_bytes);
  visit("macs", workload.macs);
  visit("utilization", workload.utilization);
  visit("stacks", workload.stacks);
  visit("tiles", workload.tiles);
  visit("recomputed", workload.recomputed);
  visit("paged", workload.paged);
}

struct Outcome {
  Design design = 0;
  std::string failure;    // why the machine itself is none; then it has no workloads
  bool excluded = false;  // by a constraint, which `failure` names
  std::string hardware_hash;
  double area_mm2 = 0, static_w = 0, macs_per_cycle = 0;
  std::int64_t on_chip_bits = 0;
  std::vector<WorkloadOutcome> workloads;

  // Every workload ran.
  bool ran() const;
  bool operator==(const Outcome&) const = default;
};

// Of a design that ran. `workload`: of that one; -1: of all: latency, energy, EDP and cost are sums by weight, memory
// is the most, utilization is MACs by weight over what the machine could do in all that time.
double metric_of(const Outcome& outcome, const Space& space, Metric metric, int workload);
// What an objective says of a design that ran.
double amount_of(const Outcome& outcome, const Space& space, const Objective& objective);
// Made small: utilization counts negative.
double value_of(const Outcome& outcome, const Space& space, const Objective& objective);
// By objective; none: a function is infinite for it, so that it must not be taken.
std::vector<double> values_of(const Outcome& outcome, const Space& space, const std::vector<Objective>& objectives);

// One line of JSON, exact: what it says is read back to the same bits.
std::string to_line(const Outcome& outcome);
Expected<Outcome> outcome_from(const std::string& line);

}  // namespace monet::explore
