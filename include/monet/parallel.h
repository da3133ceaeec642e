// Which way of training on many chips is best: all settings of a parallel plan, on one machine with a fabric.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct ParallelSearchOptions {
  StepRequest step;  // network's numbers, optimizer, batch of all chips, machine; its plan is not used
  std::int64_t chips = 0;
  std::string objective = "time";  // energy, chips: the fewest that meet the deadline
  double deadline_s = 0;           // of a step; 0: none
  std::int64_t memory_bytes = 0;   // of a chip; 0: what it has
  std::int64_t max_micro_batch = 16;
  // Sizes and words that are looked at alone; empty: all.
  std::vector<std::int64_t> tp, pp, micro_batches, chunks, zero;
  std::vector<std::string> schedules, recompute;
  bool placements = true;  // orders of the axes but for dp, pp, tp

  std::function<bool()> stop;  // asked often: the best so far is wanted now
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

// How a setting was decided: by its time and memory, or by a bound on one of them.
struct ParallelSetting {
  std::string words;  // of --parallel
  std::int64_t chips = 1, micro_batch = 1;
  double seconds = 0, energy_pj = 0;  // of the step, of all chips
  double tokens_per_s = 0, mfu = 0, bubble_fraction = 0;
  std::int64_t peak_bytes = 0;  // of the chip that holds most
  double exposed_tp_s = 0, exposed_dp_s = 0, exposed_pp_s = 0;
};

// Settings that are out for one reason.
struct ParallelRejection {
  std::string reason;  // "memory", "time", "shape" …
  std::size_t settings = 0;
  std::vector<std::string> examples;  // with what they need: "tp=2,pp=1 …: 96.2 GB of 80; zero=1 needs 71"
};

struct ParallelSearch {
  std::string model, hardware, objective;
  std::int64_t chips = 0, batch = 0;
  bool feasible = false, complete = true;
  ParallelSetting best;
  std::vector<ParallelSetting> front;  // of time, memory, energy and chips, by time
  std::vector<ParallelRejection> rejected;
  std::string rejected_csv;  // every setting that is not in the front, and why
  std::size_t settings = 0;  // that there are
  std::size_t by_bounds = 0, exactly = 0, chip_graphs = 0;
  double graphs_s = 0, wall_s = 0;
  double settings_per_s = 0;  // of all, over the whole time
  std::string plan_yaml;      // of the best
  std::vector<std::string> notes;
};

Expected<ParallelSearch> search_parallel(const Network& network, const ParallelSearchOptions& options);

std::string to_json(const ParallelSearch& result);
Text to_text(const ParallelSearch& result);

}  // namespace monet
