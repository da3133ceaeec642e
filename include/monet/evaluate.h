// A training step of a network on a machine, in time: latency, energy, memory, and why.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/plan.h>
#include <monet/reach.h>
#include <monet/text.h>
#include <monet/train.h>

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

// A tile of an operator that the library does not know, or whose cost the user gives, on one kind of core.
struct CustomTile {
  std::string op;                                                      // the operator's type: "FancyNorm"
  std::string core;                                                    // the core's type
  std::string precision;                                               // of its first input
  std::vector<std::pair<std::string, std::int64_t>> loops;             // of the tile, outermost first
  std::vector<std::vector<std::int64_t>> input_shapes, output_shapes;  // of the whole operator
  std::vector<std::pair<std::string, std::string>> attributes;
};

struct CustomCost {
  double cycles = 0, energy_pj = 0;
};

// None: as if it had not been asked. Called by one thread at a time, once for each different tile.
using CustomCosts = std::function<Expected<std::optional<CustomCost>>(const CustomTile&)>;

// Costs as a YAML file gives them, by expressions over the tile (docs/custom-operators.md).
Expected<CustomCosts> read_custom_costs(const std::string& path);

// How a step is evaluated.
struct EvaluateOptions {
  std::vector<std::string> recompute;                     // patterns of saved tensors, beside what the plan says
  std::vector<std::string> keep;                          // patterns of those of them that are kept all the same
  std::vector<std::pair<std::string, std::string>> page;  // patterns of saved tensors, and the memory they go to
  bool force = false;  // a plan made for another graph or machine is used with a warning

  std::string products;               // precision at whose rate fp32 products run: tf32; empty: fp32
  std::string objective = "latency";  // of the mappings: energy, edp
  std::int64_t factors = 6;
  std::string order;      // overrides the plan's: critical-path, graph, listed
  std::string transfers;  // overrides the plan's: direct, memory
  bool off_chip = false;  // every operator reads from and writes to off-chip memory, as the published flow does
  std::string home;       // overrides the plan's: storage in which data are at home, and come to cores in parts
  // Costs by the rules of ZigZag 3.8.5 and Stream, defects included, in 8 bits: what they do not know is free, and
  // every operator is alone between off-chip memory and its core.
  bool zigzag = false;
  // On a graphics processor, kernel by kernel, by the laws of its file. "eager": as a framework runs operators one by
  // one. "compiled": as a fusing compiler does; stacks of the plan are operators that become one kernel, and where it
  // has none the compiler's policy makes them. "nests": each operator as its plain loop nest on arrays. Empty: as the
  // plan says, else eager where a core has kernels.
  std::string lowering;
  // Of many chips (docs/parallel.md): "tp=4,dp=2,zero=1"; empty: as the plan says, else one. A batch is then that of
  // all chips. `chips`: all; 0: as the mesh has. `micro_batch`: samples of one chip of dp at a time; 0: all it has.
  std::string parallel;
  std::int64_t chips = 0, micro_batch = 0;
  bool check = true;    // the schedule, by the independent checker
  bool compare = true;  // also inference, to compare with
  bool pack = true;     // addresses
  bool advise = true;   // when it does not fit: what would, each evaluated
  // When it fits: other options are tried where the step has no more tiles or launches, and those that help are listed.
  std::int64_t suggest_up_to = 0;
  bool trace = false;      // Evaluation::trace is wanted
  bool lifetimes = false;  // Evaluation::lifetimes is wanted
  bool graph = false;      // Evaluation::graph is wanted
  std::string cache_file;
  std::int64_t jobs = 0;

  CustomCosts custom_costs;
  std::string custom_file;     // the same as a file
  std::function<bool()> stop;  // asked now and then; true: ends with an error
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

// All that is asked of a step of a network, in one struct: what commands and searches hand on.
struct StepRequest : EvaluateOptions {
  TrainOptions train;      // batch, dimensions, precision, loss, optimizer …
  bool inference = false;  // the forward part alone; what only the backward part needs is not kept
  Machine machine;
  Plan plan;  // empty: all of it by the default policy
};

using Parts = std::vector<std::pair<std::string, double>>;

// One operator, all its tiles together.
struct OperatorResult {
  std::string name, op, phase;
  std::string stack;               // its name or number
  std::vector<std::string> cores;  // that run it
  std::int64_t tiles = 0;
  double macs = 0;
  double start = 0, end = 0;  // cycles
  double busy_cycles = 0;     // of its cores, added up
  double compute_cycles = 0, stall_cycles = 0, load_cycles = 0, fill_cycles = 0;
  double slowed_cycles = 0;  // longer than its mapping wants, because memory or links were shared
  double wait_cycles = 0;    // its cores stood still before its tiles
  double energy_pj = 0, compute_pj = 0, memory_pj = 0, network_pj = 0, transfer_pj = 0;
  double home_read_bytes = 0, home_write_bytes = 0;
  double bound_cycles = 0;
  bool recomputed = false;
  std::string precision;   // in which it runs, its products if it has some
  bool converted = false;  // products that run in blocks of numbers, though their operands are none
};

// busy + idle = latency, for each part of the machine.
struct ResourceResult {
  std::string name, kind;  // core, link, port
  std::string type;        // tables count those of equal type together; empty: it is alone
  double busy_cycles = 0;  // a core: running tiles; a link or port: at its full width
  // Cores: what running consists of.
  double compute_cycles = 0, stall_cycles = 0, load_cycles = 0, fill_cycles = 0, slowed_cycles = 0;
  double idle_cycles = 0;
  Parts idle_by;  // cores: cycles waiting for data, transfers, memory, nothing to do
  double bytes = 0;
  double energy_pj = 0;
  double utilization = 0;
};

struct LiveTensor {
  std::string name, role;
  std::int64_t bytes = 0;
  double start = 0, end = 0;  // cycles
};

// What one memory holds.
struct MemoryResult {
  std::string name, kind;
  std::int64_t capacity_bytes = 0;
  std::int64_t live_peak_bytes = 0;
  std::int64_t packed_peak_bytes = 0;  // with real addresses; 0: not packed
  double peak_at = 0;                  // cycles
  Parts peak_by_role;
  std::vector<LiveTensor> alive_at_peak;  // the largest first
  double read_bytes = 0, written_bytes = 0;
  double energy_pj = 0;
  // Bytes over time by role: a curve of steps for reports, thinned where it has very many.
  std::vector<std::string> roles;
  std::vector<double> curve_at;
  std::vector<std::vector<std::int64_t>> curve;  // by time, then role
};

struct CriticalStep {
  std::string name;  // of an operator, or "fetch conv1.weight"
  std::string kind;  // compute, transfer, wait
  double start = 0, end = 0;
};

struct PhaseResult {
  std::string phase;
  double start = 0, end = 0;  // first and last moment of its operators
  double busy_cycles = 0;
  double latency_cycles = 0;  // its share of the makespan
  double energy_pj = 0;
  double macs = 0;
};

// What would fit, or where it fits already what would be better: then `what` is an option to add.
struct FitOption {
  std::string what;  // "batch 8", "recompute all saved tensors", "page saved tensors to flash", "--lowering compiled"
  bool fits = false;
  double latency_cycles = 0, energy_pj = 0;
  std::int64_t peak_bytes = 0;
  std::string reason;  // why it does not, or cannot be told; or how it is better
};

// What an event did not begin before: its core was free, a result was there, there was room in a memory.
enum class EventWait { nothing, core, data, room };

// Events for a trace viewer; made only when wanted.
struct TraceEvent {
  std::string track;
  std::string name;  // of the operator or the tensor; a transfer may have none
  std::string kind;
  double start = 0, end = 0;
  std::int64_t bytes = 0;
  EventWait wait = EventWait::nothing;
  std::int64_t by = -1;            // the event that ended the wait, in Evaluation::trace
  std::int64_t operator_row = -1;  // of a tile: in Evaluation::operators
  std::int64_t part = -1;          // of a tile: which of its operator's, where it has several
  bool critical = false;
  std::string from, to;  // of a transfer: the memories

  // The event whose result it uses; -1: none that it waited for.
  std::int64_t flow_from() const { return wait == EventWait::data ? by : -1; }
};

struct Lifetime {
  std::string memory, name, role;
  std::string tensor;  // of whose parts this is one, or the name
  double start = 0, end = 0;
  std::int64_t bytes = 0;
  std::int64_t address = -1;  // -1: not packed
};

// What the machine could do at best, and what its file leaves to be derived.
struct MachineFacts {
  double peak_macs_per_cycle = 0;  // of all cores, at the precision that most MACs are in
  struct Roof {
    std::string memory;
    double bytes_per_cycle = 0;
  };
  std::vector<Roof> roofs;  // of home memory and of memories that cores share
  struct Derived {
    std::string name, value, source;
  };
  std::vector<Derived> derived;
};

// The step as it ran, views included, with a place for each node in a picture; made only when wanted.
struct StepGraph {
  struct Node {
    std::string name, op, phase;
    std::int64_t stack = -1;  // -1: a view
    bool recomputed = false;
    double x = 0, y = 0;             // in units of one node: forward runs down, backward up beside it
    std::int64_t operator_row = -1;  // in Evaluation::operators
  };
  struct Tensor {
    std::string name, role, shape;  // "4x64x32x32 fp32"
    std::int64_t bytes = 0;
    std::int64_t from = -1;  // the node that makes it; -1: from outside
    std::vector<std::int64_t> to;
    bool saved = false;    // made forward, read backward
    std::string decision;  // kept, recomputed, paged to NAME; empty: nothing to decide
  };
  std::vector<Node> nodes;
  std::vector<Tensor> tensors;
};

// One axis of the mesh: what chips along it send each other.
struct AxisResult {
  std::string axis;
  std::int64_t chips = 1;
  std::int64_t collectives = 0;
  double sent_bytes = 0;       // that leave a chip
  double communication_s = 0;  // of its collectives, added up
  double exposed_s = 0;        // of it, for which the chip waited
};

// Chips of a pipeline that do the same: first, middle, last …
struct StageResult {
  std::int64_t chip = 0, chips = 1;      // the first of them along pp, and how many
  std::vector<std::int64_t> stages;      // of the first
  std::int64_t blocks = 0;               // of the network, on one of them
  double forward_s = 0, backward_s = 0;  // of one micro-batch
  double update_s = 0, busy_s = 0;       // of the step; busy_s without the update
  std::int64_t static_bytes = 0, peak_bytes = 0;
  std::int64_t in_flight = 0;  // micro-batches that one holds at most, each chunk's counted
};

// One task of a pipeline, for pictures.
struct PipelineEvent {
  std::int64_t chip = 0, stage = 0, micro_batch = 0;
  std::string part;  // forward, backward, weights
  double begin_s = 0, end_s = 0;
};

// A step of many chips; all else in an evaluation is of one of them.
struct ParallelResult {
  std::string recipe;  // "dp=2,tp=4,zero=1"
  std::int64_t chips = 1;
  std::int64_t micro_batch = 0;  // samples of one chip of dp at a time
  std::int64_t tokens = 0;       // in a sample; 0: it has none
  double samples_per_s = 0, tokens_per_s = 0;
  double model_macs = 0;  // of the whole step on one chip, nothing computed again
  double mfu = 0;         // those over what all chips could do in that time; 0: no peak is known
  double hfu = 0;         // the same, with what is computed again
  double energy_pj = 0;   // of all chips
  std::vector<AxisResult> axes;
  // Of a pipeline; no stages: there is none.
  std::string schedule;
  double bubble_fraction = 0;       // chips standing still, over what they work, without the update
  std::vector<StageResult> stages;  // by kind
  std::vector<PipelineEvent> pipeline;
};

struct Evaluation {
  std::string model, hardware, objective;
  std::string hardware_parameters;  // as they were given: "x=2, y=2"
  // Of the number formats: a recipe's name or file, or what the network's own are ("fp32"); and where that comes from:
  // file, machine (it has no unit for the network's own), option.
  std::string recipe, recipe_from;
  Reach reach;
  std::string optimizer;  // empty: inference
  bool inference = false;
  double clock_hz = 0;
  std::int64_t batch = 0;
  std::int64_t micro_batches = 1;

  double latency_cycles = 0, latency_s = 0;
  double energy_pj = 0;
  Parts energy;  // compute by precision, each memory, each link, static: adds up to energy_pj
  // What explains them: compute, stall, traffic, recomputation, paging, and waiting or static. Add up to
  // latency_cycles and energy_pj.
  Parts latency_by, energy_by;
  double macs = 0, utilization = 0;
  std::int64_t nodes = 0, parameters = 0, saved_bytes = 0, stacks = 0, tiles = 0, transfers = 0;
  std::vector<std::pair<std::string, std::int64_t>> footprint_bytes;  // by role, at the peak of home memory
  double bound_cycles = 0, bound_pj = 0;
  std::string bound_by;
  std::string home;  // storage in which data are at home; empty: the memory that cores work in, or the one above it
  double wall_s = 0, map_s = 0, schedule_s = 0, check_s = 0, pack_s = 0;

  std::vector<PhaseResult> phases;
  std::vector<OperatorResult> operators;
  std::vector<ResourceResult> resources;
  std::vector<MemoryResult> memories;
  std::vector<CriticalStep> critical_path;  // in order of time
  Parts critical_by_kind;
  std::string checked;  // what the checker looked at; empty: it was off

  bool fits = true;
  std::string does_not_fit;  // "dram is too small by 12 MiB"
  std::vector<FitOption> options;

  // The same network, only forward; zero where it was not wanted.
  double inference_cycles = 0, inference_pj = 0;
  std::int64_t inference_peak_bytes = 0;

  std::vector<std::string> filled;  // what the policy decided
  std::vector<std::string>
      expanded;  // composite operators that no core runs whole: they ran in their parts, X.OPERATOR
  std::vector<std::string> warnings, notes;
  std::string plan_yaml;  // complete: gives the same result again

  std::optional<ParallelResult> parallel;  // none: one chip
  MachineFacts machine;
  std::vector<TraceEvent> trace;
  std::vector<Lifetime> lifetimes;
  StepGraph graph;
};

// A step on a machine by a plan. What the plan leaves out is decided by the default policy, and is in
// Evaluation::plan_yaml, which gives the same result again.
Expected<Evaluation> evaluate(const Step& step, const Machine& machine, const Plan& plan = {},
                              const EvaluateOptions& options = {});
Expected<Evaluation> evaluate_network(const Network& network, const StepRequest& request);

struct EvaluateView {
  std::size_t operators = 15;  // rows of the table; 0: all
  std::size_t tensors = 10;    // alive at the peak; 0: all
};

// "conv1 [12]", "fetch conv1.weight"; and why it did not begin earlier, "waited for conv1 [12]", empty: for nothing.
std::string label_of(const TraceEvent& event);
std::string cause_of(const TraceEvent& event, const Evaluation& evaluation);

// As one JSON object with "schema": 1; as tables; one line an operator; for Perfetto; one line a buffer.
std::string to_json(const Evaluation& evaluation);
Text to_text(const Evaluation& evaluation, const EvaluateView& view);
std::string to_csv(const Evaluation& evaluation);
std::string to_trace(const Evaluation& evaluation);
void write_trace(const Evaluation& evaluation, std::ostream& out);  // the same, piece by piece
// The trace as a Chakra execution trace of MLCommons, node by node: tiles compute, transfers load, store or send.
void write_chakra(const Evaluation& evaluation, std::ostream& out);
std::string to_lifetimes_csv(const Evaluation& evaluation);

}  // namespace monet
