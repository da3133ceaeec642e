// Rematerialization and paging of a graph with costs: the bare problem.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct RematOptions {
  // One of the two. A fraction is of the peak of the given order, rounded up.
  std::optional<double> budget_fraction;
  std::optional<std::int64_t> budget_bytes;
  std::string profiles, device;  // for graphs with operation counts
  std::int64_t fixed_bytes = 0;  // always in memory
  std::int64_t page_bytes = 1;   // transfers are whole pages

  std::optional<double> deadline_factor;  // of the time of running each node once
  std::optional<double> deadline;         // in seconds, or the unit of the graph
  bool free_transfers = false;            // transfers take no time, as in POET's model
  std::string objective;                  // "time", "energy"; empty: energy where there is one

  std::string method = "search";  // or "milp"
  bool recompute = true, page = true;
  bool reorder = false;  // also look for schedules with first runs in another order
  bool prune = true, improve = true, bound = true;
  std::uint64_t seed = 0;
  std::size_t jobs = 0;        // threads; 0: as many as there are processors
  double time_limit_s = 5;     // and as much again with `reorder`
  std::function<bool()> stop;  // true: what has been found is the answer
  std::function<void(const std::string&)> progress;
};

struct RematAction {
  std::string kind;  // "compute", "free", "page_out", "page_in"
  std::string node;
  double start = 0;
};

struct RematCount {
  std::string node;
  std::int64_t times = 0;
};

struct RematSchedule {
  double time = 0;           // of computation
  double extra_percent = 0;  // over running each node once
  std::optional<double> energy_j;
  std::int64_t peak_bytes = 0;
  double true_time = 0;              // with transfers, beside the computation where they can be
  std::int64_t true_peak_bytes = 0;  // transfers under way included
  std::optional<bool> deadline_met;
  std::int64_t executions = 0;
  std::vector<RematCount> recomputed, paged;
  std::vector<RematAction> actions;
};

struct RematTensor {
  std::string node;
  std::int64_t bytes = 0;
};

struct Remat {
  std::string file;
  std::string device;  // empty: none
  std::int64_t nodes = 0, links = 0;
  std::string time_unit;  // "s", or empty
  std::string objective;
  std::string method;
  double base_time = 0;
  std::optional<double> base_energy_j;
  std::int64_t base_peak_bytes = 0;
  std::int64_t budget_bytes = 0;
  std::optional<double> budget_fraction;
  std::optional<double> deadline;
  bool free_transfers = false;

  std::int64_t structural_bytes = 0;       // no schedule takes less: these tensors are needed at once
  std::vector<RematTensor> structural;     // the last is made from the others
  std::optional<RematSchedule> schedule;   // first runs in the given order
  std::optional<RematSchedule> reordered;  // in any order
  std::optional<double> bound;  // of time or energy in the given order, as the objective is; infinite: none fits
  bool proven = false;
  bool reordered_proven = false;
  bool out_of_time = false;
  std::optional<std::int64_t> smallest_budget_bytes;  // nothing found: a budget that does
  std::optional<double> shortest_time;                // nothing found: a deadline that does
  std::vector<std::string> notes;
  double wall_s = 0;

  bool found() const { return schedule || reordered; }
  // The one to use.
  const RematSchedule& best() const { return reordered ? *reordered : *schedule; }
};

// `path`: a graph as Checkmate, Moccasin or POET have it.
Expected<Remat> remat_file(const std::string& path, const RematOptions& options);

// When nothing was found: why, and what would do.
Error does_not_fit(const Remat& remat);

std::string to_json(const Remat& remat);
Text to_text(const Remat& remat);
// The best schedule, action by action.
std::string schedule_json(const Remat& remat);

}  // namespace monet
