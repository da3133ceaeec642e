// Number formats and recipes: what there is, and what each costs and does to accuracy on a network and a machine.
#pragma once

#include <monet/evaluate.h>
#include <monet/expected.h>
#include <monet/simulate.h>
#include <monet/text.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct FormatSummary {
  std::string name;  // "mxfp8_e4m3"
  std::string description;
  std::string element;               // "fp8e4m3"
  double bits = 0;                   // of an element, with its share of the scales
  std::string groups;                // "32", "8x8", "tensor", "channel"; empty: none
  std::string scale;                 // "e8m0"; empty: none
  double largest = 0, smallest = 0;  // largest and smallest positive number at scale 1
  std::string source;
};

// Formats are named; "stochastic" stands behind one that is not rounded to the nearest. Empty: nothing is said of it.
struct RecipeSummary {
  std::string name, description, source;
  std::string values, stored_values, weights, activations, gradients;
  std::string weight_gradients, master, optimizer_state, accumulators;
  std::string copies;             // "stored", "requantized"; empty: nothing is needed twice
  std::vector<std::string> keep;  // patterns of nodes whose operands are not quantized
  bool attention = false;         // the products inside attention too
};

std::vector<FormatSummary> number_formats();
Expected<std::vector<RecipeSummary>> recipes();

// A recipe and the formats that it names, or one format and no recipe.
struct PrecisionReport {
  std::optional<RecipeSummary> recipe;
  std::vector<FormatSummary> formats;
};

// A recipe or a format of the program, or a recipe's file; also what a format consists of: "fp7e3m3",
// "int8:fp32/channel".
Expected<PrecisionReport> describe_precision(const std::string& name_or_path);

Text to_text(const std::vector<FormatSummary>& formats, const std::vector<RecipeSummary>& recipes);
std::string to_json(const std::vector<FormatSummary>& formats, const std::vector<RecipeSummary>& recipes);
Text to_text(const PrecisionReport& report);
std::string to_json(const PrecisionReport& report);

struct PrecisionComparisonOptions {
  std::vector<std::string> recipes;  // names and files; none: all that are part of the program
  StepRequest evaluate;              // its train.precision is not looked at
  // Of simulate_model. Without a batch it takes that of `evaluate`; measure_every 0: a twentieth of all steps.
  SimulateOptions simulate;
  // The network that is trained for real; empty: the network itself. A small one stands for a large one of its kind.
  std::string simulate_model;
  bool accuracy = true;  // false: costs only
};

struct PrecisionRow {
  std::string recipe;
  std::string failed;  // why there are no costs; empty: there are
  // The machine cannot run its products as they are: what they were converted to for the costs. Empty: it can.
  std::string costed_as;
  double latency_s = 0;
  double energy_pj = 0;
  std::int64_t peak_bytes = 0;    // packed, of the memory that is filled most
  std::int64_t static_bytes = 0;  // parameters, optimizer state, buffers, one batch
  std::int64_t saved_bytes = 0;
  std::int64_t copy_bytes = 0;     // quantized copies
  std::int64_t padding_bytes = 0;  // of these
  std::int64_t quantized_elements = 0;
  std::optional<Simulation> simulation;
  std::string not_simulated;  // why there is none, where one was asked for
  // No other is as good in held-out loss (within loss_tolerance), energy and peak memory, and better in one of them.
  // Never where costs or loss are not its own: costed_as, stopped, diverged.
  bool best = false;
};

struct PrecisionComparison {
  std::string model, simulate_model, hardware;
  std::vector<PrecisionRow> rows;  // fp32 first where it is among them
  // How far apart the held-out losses of the first recipe that was trained are with two seeds on the same samples:
  // what is closer counts as equal in the front. None: it is not known.
  std::optional<double> loss_tolerance;
  std::vector<std::string> warnings, notes;
  double wall_s = 0;
};

// A recipe that cannot run on the machine, or does not fit it, is a row that says so. Fails where the network, the
// machine or a recipe cannot be opened. `evaluate.stop` ends it with an error, `simulate.stop` with what was trained.
Expected<PrecisionComparison> compare_precisions(const Network& network, const Machine& machine,
                                                 const PrecisionComparisonOptions& given = {});

std::string to_json(const PrecisionComparison& comparison);
std::string to_csv(const PrecisionComparison& comparison);
Text to_text(const PrecisionComparison& comparison);

}  // namespace monet
