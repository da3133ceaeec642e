// How a step is carried out, as a user or a search says it: by names, and only in part (docs/plans.md). What it leaves
// out is filled in by the default policy. A plan is data: read from a file, written by a search, or put together here.
#pragma once

#include <monet/expected.h>
#include <monet/loops.h>
#include <monet/place.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

// The first and the last line of a plan that a program has written: what begins so and does not end so was cut.
inline constexpr std::string_view plan_begins = "# a plan of monet, down to a line that says: end of the plan";
inline constexpr std::string_view plan_ends = "# end of the plan";

// A loop of an operator and a number: iterations of a tile, or pieces of a split.
struct LoopSize {
  Dim loop = Dim::K;
  std::int64_t size = 1;
  bool operator==(const LoopSize&) const = default;
};

// Operators that are fused: they run tile by tile.
struct PlannedStack {
  std::string name;                    // for messages and reports; may be empty
  std::vector<std::string> operators;  // names of nodes
  std::vector<LoopSize> tile;          // iterations in a tile, for every operator of it that has the loop
  Place place;
};

// What is said of one operator, or of all whose names match a pattern. Later entries override earlier ones.
struct PlannedOperator {
  std::string name;  // of a node; * and ? as usual
  std::vector<LoopSize> tile;
  std::vector<LoopSize> split;     // pieces over cores
  std::vector<std::string> cores;  // names or patterns: as many as there are pieces, or fewer, which then take turns
  std::optional<double> priority;  // the higher, the earlier
  Place place;
};

enum class Retention : std::uint8_t { keep, recompute, page };
std::string_view name_of(Retention retention);

struct PlannedTensor {
  std::string name;  // of a saved tensor, weight or optimizer state, or a word for many; * and ? as usual
  Retention retention = Retention::keep;
  std::string memory;  // page: where to; keep: empty or the memory it stays in
  Place place;
};

// Which of the tiles that could run next does.
enum class PlanOrder : std::uint8_t {
  critical_path,  // the one with the longest way to the end of the step
  graph,          // stacks in the order of the graph, no overtaking
  listed,         // stacks in the order of the plan
  frugal,         // as the graph, but what frees memory as soon as it can
};
std::string_view name_of(PlanOrder order);

// How data pass from core to core.
enum class PlanTransfers : std::uint8_t { direct, memory };
std::string_view name_of(PlanTransfers transfers);

// How blocks lie on the stages of a pipeline.
struct PlannedStages {
  std::string schedule;             // gpipe, 1f1b, interleaved, zb-h1, zb-h2, zbv; empty: 1f1b, or interleaved
  std::int64_t chunks = 1;          // stages of a chip
  std::string cut;                  // balanced, equal; empty: balanced
  std::vector<std::int64_t> sizes;  // blocks of each stage; empty: as `cut` says

  bool operator==(const PlannedStages&) const = default;
};

// How a step is split over chips (docs/parallel.md).
struct PlannedParallel {
  std::vector<std::pair<std::string, std::int64_t>> mesh;  // axes and their sizes, outermost first: {dp, 16}, {tp, 8}
  std::int64_t zero = 0;
  bool sequence = false;
  bool overlap = true;           // launches run beside collectives
  std::int64_t micro_batch = 0;  // samples of one chip of dp at a time; 0: all of its samples
  std::string recompute;         // of each block: none, selective, blocks; empty: none
  PlannedStages stages;
  Place place;

  bool operator==(const PlannedParallel& other) const {
    return mesh == other.mesh && zero == other.zero && sequence == other.sequence && overlap == other.overlap &&
           micro_batch == other.micro_batch && recompute == other.recompute && stages == other.stages;
  }
};

struct Plan {
  std::string graph_hash;  // of the graph and the machine that it was made for; empty: not stated
  std::string hardware_hash;
  Place graph_place, hardware_place;  // where it says so
  PlanOrder order = PlanOrder::critical_path;
  PlanTransfers transfers = PlanTransfers::direct;
  std::string home;                   // where data are at home instead of the memory that cores work in; empty: there
  std::int64_t room_bytes = 0;        // with a home: of the memory that cores work in, so much is used; 0: all
  std::string lowering;               // as EvaluateOptions has it, on machines with a kernel core; empty: not stated
  std::vector<std::string> expanded;  // composite operators that run in their parts
  std::vector<PlannedStack> stacks;
  std::vector<PlannedOperator> operators;
  std::vector<PlannedTensor> tensors;
  std::optional<PlannedParallel> parallel;  // none: one chip
};

constexpr int plan_version = 1;

// Nothing is said: all of it by the default policy.
bool is_empty(const Plan& plan);

// What a file says is checked for its form only: whether a network has the operators and a machine the cores is a
// question for evaluate().
Expected<Plan> read_plan(const std::string& path);
// The same from a text; `file` is for messages.
Expected<Plan> plan_from(const std::string& text, const std::string& file);
// plan_from() makes the same plan of it, apart from places.
// Requires: no two entries for operators, or for tensors, have the same name; numbers are finite and positive.
std::string to_yaml(const Plan& plan);

}  // namespace monet
