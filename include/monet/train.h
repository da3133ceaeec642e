// From a forward network to a complete training step: forward, loss, backward, optimizer.
#pragma once

#include <monet/expected.h>
#include <monet/inspect.h>
#include <monet/network.h>
#include <monet/plan.h>
#include <monet/text.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct TrainOptions {
  std::optional<std::int64_t> batch;
  std::vector<std::pair<std::string, std::int64_t>> dimensions;
  std::vector<std::string> parameter,
      buffer;                // patterns of tensors that are trained, and that are not: before any guess
  bool fused_norms = false;  // norms that the file spells out are one operator each; else they run and save as written

  std::string loss = "cross-entropy";  // or mse, bce, output:NAME
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;
  std::optional<std::int64_t> class_axis;

  std::string optimizer = "adam";
  std::string optimizer_form = "fused";  // or elementwise
  // Unset: the optimizer's own default.
  std::optional<double> momentum, beta1, beta2, epsilon, weight_decay;
  std::optional<double> clip_norm;
  std::int64_t accumulate = 1;  // micro-batches

  std::string conv_gradient = "direct";  // or im2col

  std::vector<std::string> train, freeze;  // name patterns
  bool bias_only = false;
  std::optional<std::int64_t> last_layers;
  std::optional<std::int64_t> lora_rank;
  std::optional<double> lora_alpha;       // unset: the rank, so that the update is not scaled
  std::vector<std::string> lora_targets;  // patterns of weights; none: every weight of a product or convolution

  std::string precision;  // a recipe's name, or a file (docs/precision.md); empty: the file's own
  std::optional<double> loss_scale;
};

// A network's step: with its loss, gradients and optimizer, or its forward part alone.
struct Step {
  Network network;
  TrainOptions options;
  bool inference = false;
};

// Which saved tensors the step computes again instead of keeping them.
struct RecomputeOptions {
  Plan plan;                           // of it only what it says of recomputing
  std::vector<std::string> recompute;  // patterns of saved tensors, beside what the plan says; or "blocks"
  std::vector<std::string> keep;       // patterns of those of them that are kept all the same
  bool force = false;                  // a plan made for another step is used with a warning
};

struct SavedSummary {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string type;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  // Of the storage that it keeps alive: more than `bytes` for a slice, 0 where a tensor before it keeps it already.
  std::int64_t storage_bytes = 0;
};

struct ParameterSummary {
  std::string name;
  std::vector<std::int64_t> shape;
  std::string type;
  bool trained = false;
};

// What a recipe of numbers made of one class of tensors. Weights, activations, gradients: what products read.
struct FormatClass {
  std::string name;    // weights, activations, gradients, stored values, accumulators, master weights …
  std::string format;  // the recipe's name for it
  std::int64_t tensors = 0;
  std::int64_t copies = 0;         // quantized copies of them
  std::int64_t elements = 0;       // that are quantized in a step, each copy counted
  std::int64_t bytes = 0;          // of all copies; of a class without copies, of its tensors
  std::int64_t padding_bytes = 0;  // of these: what fills groups up
};

// Bytes that are there before the step begins.
struct StaticBytes {
  std::int64_t parameters = 0;
  std::int64_t buffers = 0;  // running statistics and other tensors that are kept and not trained
  std::int64_t optimizer_state = 0;
  std::int64_t batch = 0;  // inputs and targets

  std::int64_t total() const { return parameters + buffers + optimizer_state + batch; }
};

struct Training {
  Inspection step;  // nodes, MACs and operations by phase; layers
  std::string loss;
  std::string optimizer;
  std::string precision;            // as it was asked for
  std::string recipe, recipe_from;  // of the number formats, as in Evaluation
  bool was_training_step = false;   // the file had a backward part: it was not differentiated again
  std::int64_t micro_batches = 1;
  std::int64_t trained_parameters = 0;
  std::int64_t trained_tensors = 0;
  std::vector<ParameterSummary> parameters;
  std::vector<FormatClass> formats;  // empty: nothing is quantized
  StaticBytes static_bytes;
  std::int64_t gradient_bytes = 0;
  std::int64_t saved_bytes = 0;  // of all storage that is kept alive
  std::int64_t saved_elements = 0;
  std::vector<SavedSummary> saved;      // in the order in which the forward part makes them
  std::vector<std::string> recomputed;  // tensors that are not kept
  std::int64_t recomputed_nodes = 0;    // of the backward part: they repeat nodes of the forward part
  std::int64_t recomputed_macs = 0;
};

// Opens a network and makes its training step; `onnx_path`, if not empty, receives the step as a standard ONNX file.
// All that is said of the step, and the file, are of the step with its recomputations.
Expected<Training> train(const Network& network, const TrainOptions& options = {}, const std::string& onnx_path = {},
                         const RecomputeOptions& recompute = {});

struct TrainView {
  bool layers = false;
  bool saved = false;       // a line for each saved tensor
  bool parameters = false;  // a line for each parameter
};

// As one JSON object with "schema": 1.
std::string to_json(const Training& training, const TrainView& view);
// As tables for people.
Text to_text(const Training& training, const TrainView& view);

}  // namespace monet
