#include "graph/expand/class_labels.h"
#include "training/gradient_builder.h"

namespace monet::training {

namespace {

using Axes = std::vector<std::int64_t>;

// dX = Y · (dY − Σ dY · Y)
void softmax(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::SoftmaxGrad, {g.output_gradient(), g.output()}, g.attributes()));
}

// dX = dY − exp(Y) · Σ dY
void log_softmax(GradientBuilder& g) {
  g.accumulate(0, g.add(Op::LogSoftmaxGrad, {g.output_gradient(), g.output()}, g.attributes()));
}

// The classes' weights are settings, in PyTorch too.
bool trains_class_weights(GradientBuilder& g) {
  if (!g.needs(2)) return false;
  g.fail("the weights of the classes would be trained, and this loss has no gradient for them",
         "freeze what the weights depend on");
  return true;
}

// dX from the log-probabilities alone, for the loss and for what else reads the log-probabilities.
void cross_entropy(GradientBuilder& g) {
  if (trains_class_weights(g)) return;
  const TensorId log_probabilities = g.extra_output(1);
  if (g.output_gradient(0).valid()) {
    std::vector<TensorId> inputs = {g.output_gradient(0), log_probabilities, g.input(1)};
    if (g.has_input(2)) inputs.push_back(g.input(2));
    g.accumulate(0, g.add(Op::SoftmaxCrossEntropyLossGrad, std::move(inputs), g.attributes()));
  }
  if (g.output_gradient(1).valid()) {
    const Axes axes = {g.attributes().integer_or(Attr::axis, 1)};
    g.accumulate(0, g.add(Op::LogSoftmaxGrad, {g.output_gradient(1), log_probabilities}, {{Attr::axes, axes}}));
  }
}

// dX = −dL · weight at each label, 0 elsewhere
void negative_log_likelihood(GradientBuilder& g) {
  if (trains_class_weights(g)) return;
  g.keep(g.input(0));
  const TensorId weights = g.has_input(2) ? g.input(2) : TensorId();
  ClassLabels labels(g, g.attributes(), g.input_shape(0), g.input_type(0), g.input(1), weights);
  const TensorId at_labels = g.expand(g.negative(labels.scale(g.output_gradient(), true)), g.input_shape(1));
  const TensorId indices = labels.indices();
  const TensorId nothing = g.fill(0, g.input_shape(0), g.input_type(0));
  g.accumulate(0, g.add(Op::ScatterElements, {nothing, indices, g.reshape(at_labels, g.shape(indices))},
                        {{Attr::axis, labels.axis()}, {Attr::reduction, std::string("none")}}));
}

// L = (X − T)²  gives  dX = dL · 2 (X − T), dT = dL · 2 (T − X)
void mean_squared_error(GradientBuilder& g) {
  const auto gradient = [&](std::size_t of, std::size_t other) {
    if (!g.needs(of)) return;
    g.accumulate(
        of, g.add(Op::MeanSquaredErrorLossGrad, {g.output_gradient(), g.input(of), g.input(other)}, g.attributes()));
  };
  gradient(0, 1);
  gradient(1, 0);
}

// L = (1 − T) X + softplus(−X)  gives  dX = dL · (sigmoid(X) − T), dT = −dL · X
void binary_cross_entropy(GradientBuilder& g) {
  const TensorId dl = g.output_gradient();
  if (g.needs(0)) {
    g.accumulate(0, g.add(Op::BinaryCrossEntropyLossGrad, {dl, g.input(0), g.input(1)}, g.attributes()));
  }
  if (!g.needs(1)) return;
  const auto count = static_cast<double>(element_count(g.input_shape()));
  const bool mean = g.attributes().text(Attr::reduction) == "mean" && count > 0;
  g.accumulate(1, g.times(g.input(0), g.times(dl, mean ? -1 / count : -1.0)));
}

}  // namespace

GradientRule softmax_gradient(Op op) {
  switch (op) {
    case Op::Softmax: return softmax;
    case Op::LogSoftmax: return log_softmax;
    case Op::SoftmaxCrossEntropyLoss: return cross_entropy;
    case Op::NegativeLogLikelihoodLoss: return negative_log_likelihood;
    case Op::MeanSquaredErrorLoss: return mean_squared_error;
    case Op::BinaryCrossEntropyLoss: return binary_cross_entropy;
    default: return nullptr;
  }
}

}  // namespace monet::training
