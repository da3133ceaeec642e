// Which hardware should be built: many designs of a space, evaluated, kept in a store, and what they say.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace monet {

using DesignParameters = std::vector<std::pair<std::string, std::string>>;

struct WorkloadMetrics {
  std::string workload;
  std::string failure;
  double latency_cycles = 0, latency_s = 0, energy_pj = 0, edp = 0;
  std::int64_t peak_bytes = 0;
  double utilization = 0, cost = 0;
  std::int64_t stacks = 0, tiles = 0, recomputed = 0, paged = 0;
  std::string recipe;  // of the number formats
};

struct DesignResult {
  std::uint64_t design = 0;
  DesignParameters parameters;
  std::string failure;
  std::vector<std::pair<std::string, double>> metrics;  // of all workloads by weight: latency_s, energy_pj, edp,
                                                        // area_mm2, peak_bytes, cost, utilization
  std::vector<double> objectives;                       // as the exploration has them
  std::vector<WorkloadMetrics> workloads;
  std::vector<std::uint64_t> like;  // of the front: designs that hardly differ from it, and are left out for it
};

// Made small, of designs that ran; not a number counts as infinity. Asked by one thread at a time, once for a design.
using DesignObjective = std::function<double(const DesignResult&)>;
using DesignObjectives = std::vector<std::pair<std::string, DesignObjective>>;

struct ExploreOptions {
  std::string space;  // a file, or the name of a space that comes with the program
  // In place of those of its workloads, of which equal ones are then one.
  std::string network;                           // a built-in one or a file; empty: their own
  std::int64_t batch = 0;                        // 0: their own
  std::string method = "all";                    // random, sobol, nsga2, surrogate, narrow
  std::size_t samples = 0;                       // designs, at most; 0: the method's own
  std::size_t population = 64, generations = 0;  // of nsga2; 0: by the samples
  std::uint64_t seed = 1;
  std::vector<std::string> objectives;  // "latency", "energy@inference"; none: the space's
  DesignObjectives functions;           // of the user's own, that `objectives` may name
  double tolerance = 0.005;             // designs of the front that differ by no more in any objective are shown as one

  std::string store;    // a file; empty: in memory
  bool resume = false;  // the store may exist: what it has is not done again
  std::string cluster;  // address of a scheduler, or "local:N"; empty: the threads of this process
  std::string python;   // that runs monet.cluster; empty: $MONET_PYTHON, else python3
  std::int64_t jobs = 0;
  double time_limit_s = std::numeric_limits<double>::infinity();

  std::function<bool()> stop;
  // `who`: "2 threads", "3 workers".
  std::function<void(const std::string& who, std::size_t done, std::size_t all)> progress;
};

struct SensitivityRow {
  std::string value;
  std::uint64_t designs = 0, on_front = 0;
  double mean = 0, best = 0;
};

struct Sensitivity {
  std::string parameter, objective;
  double share = 0;  // of the variance that it explains alone, among the designs that were seen
  // Of the whole space, with 90 % confidence; equal to the share where all of it was seen.
  double share_low = 0, share_high = 0;
  double share_likely = 0;  // between them: the share less what chance alone explains
  std::vector<SensitivityRow> values;
};

struct RankCorrelation {
  std::string a, b, metric;  // two workloads
  double spearman = 0;
  std::uint64_t designs = 0;
};

struct Exploration {
  std::string space, description, store, method;
  std::vector<std::string> parameters;
  std::vector<std::string> workloads;
  std::vector<std::string> objectives;
  std::uint64_t space_size = 0;
  std::uint64_t seen = 0;       // in the store: evaluated, failed or excluded
  std::uint64_t evaluated = 0;  // ran, in the store
  std::uint64_t failed = 0;     // could not run
  std::uint64_t excluded = 0;   // by a constraint
  std::uint64_t fresh = 0;      // evaluated by this call
  bool complete = true;         // the method ended by itself
  std::vector<DesignResult> front;
  double tolerance = 0;                                         // in which they differ, at least
  std::size_t recommended = 0;                                  // one of the front
  std::string recommended_why;                                  // empty: there is none
  bool has_knee = false;                                        // the recommended one is the knee of the front
  std::vector<std::pair<std::string, std::uint64_t>> recipes;   // number formats, designs; the most frequent first
  std::vector<std::pair<std::string, std::uint64_t>> failures;  // reason, designs; the most frequent first
  std::vector<Sensitivity> sensitivities;
  std::vector<RankCorrelation> correlations;
  double hypervolume = 0;  // of the front within the best and the worst of all that ran
  double wall_s = 0, designs_per_s = 0;
  std::vector<std::string> warnings, notes;
};

Expected<Exploration> explore_space(const ExploreOptions& options);

struct ShowOptions {
  std::string store;
  std::vector<std::string> objectives;  // none: the space's
  double tolerance = 0.005;             // as ExploreOptions
};
Expected<Exploration> show_store(const ShowOptions& options);

struct RescueOptions {
  std::string damaged;  // a store; it stays as it is
  std::string space;    // what it was filled with; empty: as it says itself
  std::string store;    // a new file; empty: NAME.rescued.sqlite beside it
};
struct Rescue {
  std::string damaged, store;
  std::uint64_t rescued = 0;
  std::uint64_t broken = 0;  // designs of which a part was found, and no more
};
// Every design of a damaged store that can still be read, in a new one.
Expected<Rescue> rescue_store(const RescueOptions& options);
std::string to_json(const Rescue& rescue);
Text to_text(const Rescue& rescue);

// All of a store, a line for each design, in the order of designs, whatever the order they were evaluated in; `write`
// takes one piece at a time.
using WriteText = std::function<Status(const std::string&)>;
Status write_store_csv(const std::string& path, const WriteText& write);
Status write_store_json_lines(const std::string& path, const WriteText& write);

// A page with the front, all designs, and what each parameter does; opens without a network.
Expected<std::string> exploration_page(const std::string& store, const ShowOptions& options);

struct SpaceInfo {
  std::string name, description;
  std::uint64_t size = 0;
};
// Spaces that come with the program.
Expected<std::vector<SpaceInfo>> builtin_spaces();

struct ExplorationView {
  std::size_t front = 20;  // rows; 0: all
  bool sensitivities = true;
};
std::string to_json(const std::vector<SpaceInfo>& spaces);
std::string to_json(const Exploration& exploration);
Text to_text(const Exploration& exploration, const ExplorationView& view);

// What a worker of a cluster does: designs of a space, one line of JSON each. For monet.cluster and tests.
class DesignWorker {
 public:
  // `path` is for messages and for finding the files that the space names.
  static Expected<DesignWorker> open(const std::string& text, const std::string& path);
  DesignWorker(DesignWorker&&) noexcept;
  DesignWorker& operator=(DesignWorker&&) noexcept;
  ~DesignWorker();

  // Must equal that of who asks.
  std::string fingerprint() const;
  Expected<std::string> evaluate(std::uint64_t design) const;

 private:
  struct Impl;
  explicit DesignWorker(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace monet
