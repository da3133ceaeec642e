// What to keep, compute again and page out, so that a training step fits a memory budget at the least cost.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/objective.h>
#include <monet/reach.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct CheckpointOptions {
  StepRequest evaluate;               // network, machine, and a plan whose stacks, tiles and cores are kept to
  std::string method = "search";      // nsga2, exact, milp, chen, checkmate, capuchin, dtr
  std::string objective = "latency";  // energy, edp
  PlanObjective function;             // one of the user's own instead; whole plans are compared by it
  std::vector<std::string> budgets;   // "2MiB", "sram=2MiB", "80%" of what all kept needs; none: what the memory holds
  std::string deadline;               // "1.5x" of all kept, "20ms"; empty: none
  bool pareto = false;                // plans for all budgets, from all kept down to the least
  double pareto_step = 0.02;          // of what all kept needs
  std::string measure = "peak";       // memory of nsga2 and exact: peak, or saved: bytes that are kept for the backward
  std::vector<std::string> tensors;   // patterns of those that may be decided about; none: all that can be
  bool recompute = true, page = true;              // what may be done with them
  bool page_static = true;                         // weights and optimizer state too
  bool reorder = true;                             // the order may be changed to one that keeps little alive
  std::size_t evaluations = 400;                   // plans that search prices for a budget
  std::size_t population = 100, generations = 50;  // of nsga2
  double crossover = 0.9, mutation = 0.1;          // of nsga2, as published
  std::uint64_t seed = 1;
  double time_limit_s = std::numeric_limits<double>::infinity();
  std::size_t exact_limit = std::size_t{1} << 22;  // plans that exact looks at, at most
  // Techniques of search, to be left out in comparisons.
  bool seeds = true, prune = true, improve = true;

  std::function<bool()> stop;  // asked often: what was found so far is wanted now
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

struct CheckpointPlan {
  double latency_cycles = 0, latency_s = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0;           // packed
  double value = 0;                      // of CheckpointOptions::function
  std::int64_t saved_bytes = 0;          // that are kept for the backward part, of those that can be decided about
  std::int64_t saved_bytes_dropped = 0;  // recomputed or paged
  std::string order;
  std::string home;  // storage in which data are at home; empty: memory
  std::vector<std::string> recomputed, paged;
  std::string plan_yaml;          // complete
  std::string plan_file;          // where it was written; empty: nowhere
  std::int64_t budget_bytes = 0;  // for which it is the best that was found
  double bound_cycles = 0, bound_pj = 0;
};

struct CheckpointPoint {
  std::string choices;  // by tensor: k, r or p
  double latency_cycles = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0, saved_bytes = 0;
};

struct Checkpointing {
  std::string model, hardware, memory, method, measure;
  std::string recipe, recipe_from;  // of the number formats, as in Evaluation
  Reach reach;
  std::string objective;  // "own": a function of the user's
  double clock_hz = 0;
  std::int64_t budget_bytes = 0;
  double deadline_cycles = 0;  // 0: none
  bool feasible = true;
  bool pareto_budgets = false;  // the plans are the best for rising budgets
  CheckpointPlan all_kept;
  std::vector<CheckpointPlan> plans;  // the best; a front with --pareto, nsga2, exact: rising in memory
  double bound_cycles = 0, bound_pj = 0;
  bool proven = false;      // no plan of this space is better
  bool complete = true;     // the search ended by itself
  std::size_t tensors = 0;  // that were decided about
  double space = 0;         // plans that there are
  std::size_t evaluated = 0;
  // When nothing fits: the least that was found (within the deadline, where that can be), and what it consists of. As a
  // budget it is enough.
  std::int64_t least_bytes = 0;
  double least_cycles = 0;  // of that plan
  std::vector<std::pair<std::string, std::int64_t>> forced_by;
  std::vector<CheckpointPoint> points;  // exact: all of them, where wanted
  std::vector<std::string> warnings, notes;
  double wall_s = 0;
};

Expected<Checkpointing> checkpoint_network(const Network& network, const CheckpointOptions& given,
                                           bool keep_points = false);

// When no plan fits: the smallest budget that would do, and what forces it.
Error does_not_fit(const Checkpointing& result);

std::string to_json(const Checkpointing& result);
Text to_text(const Checkpointing& result);
std::string to_csv(const Checkpointing& result);         // a line for each plan
std::string points_to_csv(const Checkpointing& result);  // a line for each plan that exact looked at

}  // namespace monet
