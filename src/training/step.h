// The pipeline: a forward network becomes a training step.
#pragma once

#include "graph/network_graph.h"
#include "training/differentiate.h"
#include "training/lora.h"
#include "training/loss.h"
#include "training/optimizer.h"
#include "training/quantized.h"
#include "training/recipe.h"
#include "training/select.h"

#include <monet/expected.h>

#include <span>
#include <string>

namespace monet::training {

struct StepOptions {
  LossOptions loss;
  OptimizerOptions optimizer;
  SelectOptions select;
  ConvGradient conv_gradient = ConvGradient::direct;
  std::optional<LoraOptions> lora;
  std::optional<Recipe> recipe;  // of its numbers; none: the file's own
};

struct TrainingStep {
  Graph graph;  // its outputs are the network's and the loss
  TensorId loss;
  std::vector<Trained> trained;  // parameters that a gradient reaches, with it
  std::vector<SavedBy> saves;    // by operators of the forward part
  std::vector<SavedTensor> saved;
  std::vector<QuantizedClass> formats;  // what the recipe made of its tensors; empty: nothing beyond `values`
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
};

// Requires that the network is not a training step already.
// Ensures that verify() holds for the graph. Gradients of parameters are named P.grad, new values P.new.
Expected<TrainingStep> make_training_step(NetworkGraph network, const StepOptions& options);

// The step with the operators of these names in their parts, where they consist of others.
Expected<TrainingStep> expanded(TrainingStep step, std::span<const std::string> operators);

}  // namespace monet::training
