// The optimizer's part of a training step.
#pragma once

#include "graph/builder.h"
#include "training/optimizer_options.h"

#include <span>

namespace monet::training {

struct Trained {
  TensorId parameter;
  TensorId gradient;  // not valid: none arrives, and the parameter stays as it is
};

struct OptimizerResult {
  TensorId learning_rate;  // graph inputs: float32, no axes
  TensorId step;           // counted from 1; not valid: not needed
  TensorId gradient_norm;  // of all gradients together, before clipping; not valid: no clipping
};

// Appends to the builder, in phase optimizer, one operator for each parameter P. Its states come from outside under the
// names P.m, P.v, P.momentum, P.row, P.column, P.m.scale, P.v.scale, all zero before the first step, and each result
// X.new replaces X. States have the parameter's element type; 8-bit codes and their float32 scales have their own.
//
// Clipping is that of torch.nn.utils.clip_grad_norm_. It and the loss scale are a factor that the operators take; the
// gradients stay as they are.
//
// With micro-batches, P.accumulated (role weight gradient, zero before the first micro-batch) grows by the gradient in
// phase backward, once in each; the optimizer reads P.accumulated.new. The caller scales the loss by 1/micro_batches.
//
// Fails when an option is out of range, nothing is trained, or a parameter is not floating point.
// Cost: linear in the parameters.
Expected<OptimizerResult> add_optimizer(GraphBuilder& builder, std::span<const Trained> trained,
                                        const OptimizerOptions& options);

// A finished step with every optimizer's operator written out as operators on whole tensors: the element-wise form.
// Adam without weight decay has 14 nodes a parameter so.
// `renumbered`, if given, receives the new id of each old tensor.
Expected<Graph> elementwise_optimizer(Graph step, std::vector<TensorId>* renumbered = nullptr);

}  // namespace monet::training
