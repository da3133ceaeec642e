// A space of machines: a family of hardware with the values that its parameters may take, what the machines are judged
// on, and by what.
#pragma once

#include "config/expression.h"
#include "config/units.h"

#include <monet/evaluate.h>
#include <monet/expected.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monet::explore {

// A point of the space: its place in the order of all points, the last axis running fastest. Stable: stores keep it.
using Design = std::uint64_t;

// By axis, the place of the value.
using Choice = std::vector<std::uint16_t>;

// A parameter and the values it may take.
struct Axis {
  std::string name;
  std::vector<std::string> texts;    // as a hardware file writes them
  std::vector<Quantity> quantities;  // the same in base units; of a word, its place among them
};

// A parameter that follows from others, as in `=lanes * 16 B`.
struct Derived {
  std::string name;
  std::string text;
};

// Must hold (not zero) for a design to count: over parameters of the family and what is known of a machine without
// running anything on it: `area`, `static_power`, `macs`, `on_chip` and `peak` (docs/explore.md).
struct Constraint {
  Expression expression;
  std::string place;  // file:line:column
};

// A network, and what is done with it.
struct Workload {
  std::string name;
  Network network;
  StepRequest options;  // batch, precision, loss, optimizer …; inference; machine and plan are left alone
  double weight = 1;
};

// A network and a batch in place of those of all workloads.
struct Subject {
  std::string network;  // empty: each its own
  std::optional<std::int64_t> batch;
};

enum class Metric : std::uint8_t { latency, energy, edp, area, memory, cost, utilization };
constexpr std::size_t metric_count = 7;
std::string_view name_of(Metric metric);

class Space;
struct Outcome;

// Made small; utilization is made large.
struct Objective {
  Metric metric = Metric::latency;
  int workload = -1;  // of this one alone; -1: of all, by weight
  // One of the user's own, of designs that ran, and what it is called.
  std::function<double(const Outcome&, const Space&)> function;
  std::string function_name;
};
// "latency", "energy@inference".
std::string name_of(const Objective& objective, const std::vector<Workload>& workloads);

enum class PolicyKind : std::uint8_t { standard, fused, checkpointed };

// How a design's plan is made.
struct Policy {
  PolicyKind kind = PolicyKind::standard;
  std::string objective = "latency";  // of the search: energy, edp
  std::int64_t limit = 6;             // fused: operators in a stack
  bool improve = false;               // fused: on the whole step, which is slow
  std::string budget;                 // checkpointed: as --memory-budget takes it
  std::size_t evaluations = 50;       // checkpointed: plans that are priced
};

// What a step costs beside energy: a machine is paid by its area and used for its lifetime. A unit of money is the
// user's.
struct Prices {
  double per_kwh = 0;
  double per_mm2 = 0;
  double per_machine = 0;
  double lifetime_s = 0;  // 0: machines cost nothing
};

class Space {
 public:
  // A file: docs/explore.md says what may stand in it. Files that it names are looked for beside it.
  static Expected<Space> read(const std::string& path);
  static Expected<Space> read_text(const std::string& text, const std::string& path);
  // The same without the files that it names, which may be gone: for what a store says.
  static Expected<Space> read_alone(const std::string& text, const std::string& path);

  std::string name, description;
  std::string path;           // of the file, for messages
  std::string text;           // of the file
  std::string hardware;       // a preset's name or a file; empty: the text below
  std::string hardware_text;  // of a machine that is written in the space itself
  std::vector<Axis> axes;
  std::vector<Derived> derived;
  std::vector<Constraint> constraints;
  Subject subject;  // which the workloads have already
  std::vector<Workload> workloads;
  Policy policy;
  std::vector<Objective> objectives;
  Prices prices;
  bool off_chip = false, zigzag = false;  // the published simplifications, as in `monet evaluate`

  // Points, those that break constraints included; at most 2^48.
  std::uint64_t size() const;
  Choice choice(Design design) const;
  Design design(const Choice& choice) const;
  // As `--set` takes them: axes and what follows from them.
  std::vector<std::pair<std::string, std::string>> parameters(Design design) const;
  // The axes alone.
  std::vector<std::pair<std::string, std::string>> chosen(Design design) const;

  // The objective of a name; fails with the nearest.
  Expected<Objective> objective_named(const std::string& wanted) const;
};

}  // namespace monet::explore
