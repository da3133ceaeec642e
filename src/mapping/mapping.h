// A mapping, and what it costs.
#pragma once

#include "mapping/problem.h"
#include "mapping/target.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace monet {

enum class Objective : std::uint8_t { latency, energy, edp };

// A loop unrolled over a dimension of the unit.
struct SpatialLoop {
  std::uint8_t dimension = 0;  // of the unit
  std::uint8_t loop = 0;       // of the problem
  std::int64_t size = 1;       // lanes it takes at most
  double average = 1;          // lanes that work on average: less where the size does not divide the loop
};

// A piece of a loop that runs in time. The innermost comes first.
struct TemporalLoop {
  std::uint8_t loop = 0;
  std::int64_t size = 1;  // iterations at most
  double average = 1;     // iterations on average
};

struct Mapping {
  std::vector<SpatialLoop> spatial;
  std::vector<TemporalLoop> temporal;
  // For each operand and each memory level of its path: temporal loops at or below that level. The last is all of them.
  std::vector<std::vector<std::uint8_t>> cuts;
};

// What crosses a memory's ports for one operand.
struct Traffic {
  std::array<double, transfer_count> words{};  // of the port's whole width: what is paid for
  std::array<double, transfer_count> bits{};
  std::array<double, transfer_count> cycles{};  // that the port of one instance is taken: an access at a time
};

struct MappingCost {
  double cycles = 0;          // all of it
  double ideal_cycles = 0;    // points / lanes, every lane at work
  double compute_cycles = 0;  // with this unrolling, nothing waiting
  double stall_cycles = 0;
  double load_cycles = 0;  // before the first point and after the last
  double unload_cycles = 0;
  double fill_cycles = 0;  // of the unit's pipeline, and latencies of memories
  double energy_pj = 0;
  double compute_pj = 0;
  double static_pj = 0;
  double network_pj = 0;                          // wires and links
  std::vector<double> memory_pj;                  // by memory of the target
  std::vector<std::vector<std::uint8_t>> levels;  // memories of the target that each operand uses, lowest first
  std::vector<std::vector<Traffic>> traffic;      // by operand and its level
  double macs = 0;
  double bound_cycles = 0;  // no mapping takes less
  double bound_pj = 0;
  std::string bound_by;  // "compute", "sram port r", "loading through dram port rw"
};

struct MappedProblem {
  Mapping mapping;
  MappingCost cost;
  double evaluated = 0;  // mappings that were costed
  double within = 0;     // share by which another may be better, where the search took long
  bool complete = true;  // false: there were too many to look at all; a better one may exist
};

}  // namespace monet
