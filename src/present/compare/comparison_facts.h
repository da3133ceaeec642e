// What is compared of a result.
#pragma once

#include "present/compare/result_file.h"

#include <monet/evaluate.h>
#include <monet/expected.h>

#include <string>
#include <vector>

namespace monet {

struct ResultFacts {
  std::string name;                                              // "resnet18 on edge_tpu"
  std::vector<std::pair<std::string, std::string>> assumptions;  // model, machine, batch …
  std::string recipe, recipe_from;                               // empty: made before they were said

  double clock_hz = 0;  // 0: none
  double latency_cycles = 0, energy_pj = 0;
  Parts latency_by, energy_by;  // none: made before there were such
  Parts energy_at;              // compute, memories, links; equal parts of equal cores together

  // Memories in use; those of equal cores as one: the fullest.
  struct Memory {
    std::string name;
    double packed_bytes = 0, live_bytes = 0;  // packed 0: without addresses
    Parts by_role;                            // of what is live
  };
  std::vector<Memory> memories;

  double macs = 0, utilization = 0, saved_bytes = 0;
  Parts macs_by_phase;
  double recomputed_operators = 0;
  double home_read_bytes = 0, home_written_bytes = 0;

  struct Operator {
    std::string name, phase;
    double busy_cycles = 0, energy_pj = 0;
  };
  std::vector<Operator> operators;
};

// Fails for what is not of `evaluate`.
Expected<ResultFacts> facts_of(const ResultFile& file);

// "pe*/sram" of "pe0_3/sram": what belongs to one of several equal owners gets a name for all of them.
std::string name_of_equals(const std::string& name);

}  // namespace monet
