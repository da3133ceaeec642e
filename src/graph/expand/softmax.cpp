#include "graph/expand.h"
#include "graph/expand/class_labels.h"

namespace monet {

namespace {

using Axes = std::vector<std::int64_t>;

// X − max(X), and the sum of its exponentials, along the rows
struct Rows {
  TensorId shifted;
  TensorId exponentials;
  TensorId sum;

  explicit Rows(Expansion& e) {
    const Axes& axes = e.attributes().integers(Attr::axes);
    const TensorId maximum =
        e.add(Op::ReduceMax, {e.input(0)}, {{Attr::axes, axes}, {Attr::keepdims, std::int64_t{1}}});
    shifted = e.minus(e.input(0), maximum);
    exponentials = e.add(Op::Exp, {shifted});
    sum = e.reduce_sum(exponentials, axes, true);
  }
};

// Y = exp(X − max) / Σ exp(X − max)
void softmax(Expansion& e) {
  const Rows rows(e);
  e.output(0, e.over(rows.exponentials, rows.sum));
}

// Y = X − max − log Σ exp(X − max)
void log_softmax(Expansion& e) {
  const Rows rows(e);
  e.output(0, e.minus(rows.shifted, e.add(Op::Log, {rows.sum})));
}

// dX = Y · (dY − Σ dY · Y)
void softmax_grad(Expansion& e) {
  const TensorId dy = e.input(0);
  const TensorId y = e.input(1);
  const TensorId sum = e.reduce_sum(e.times(dy, y), e.attributes().integers(Attr::axes), true);
  e.output(0, e.times(y, e.minus(dy, sum)));
}

// dX = dY − exp(Y) · Σ dY
void log_softmax_grad(Expansion& e) {
  const TensorId dy = e.input(0);
  const TensorId sum = e.reduce_sum(dy, e.attributes().integers(Attr::axes), true);
  e.output(0, e.minus(dy, e.times(e.add(Op::Exp, {e.input(1)}), sum)));
}

double smoothing_of(const Expansion& e) { return e.attributes().real_or(Attr::label_smoothing, 0); }

ClassLabels labels_of(Expansion& e, std::size_t scores_at) {
  const TensorId scores = e.input(scores_at);
  const TensorId weights = e.has(scores_at + 2) ? e.input(scores_at + 2) : TensorId();
  return {e, e.attributes(), e.shape(scores), e.type(scores), e.input(scores_at + 1), weights};
}

// L = −log softmax(X) at the label: torch.nn.functional.cross_entropy
void cross_entropy(Expansion& e) {
  ClassLabels labels = labels_of(e, 0);
  const TensorId log_probabilities = e.add(Op::LogSoftmax, {e.input(0)}, {{Attr::axes, Axes{labels.axis()}}});
  e.output(0, labels.losses(log_probabilities, smoothing_of(e)));
  if (e.wants(1)) e.output(1, log_probabilities);
}

void negative_log_likelihood(Expansion& e) { e.output(0, labels_of(e, 0).losses(e.input(0), 0)); }

// A label's loss is −Σ a log(p), where a is the class's part of the target. So dX = dL · (p Σ a − a).
void cross_entropy_grad(Expansion& e) {
  ClassLabels labels = labels_of(e, 1);
  const double smoothing = smoothing_of(e);
  const double spread = smoothing / static_cast<double>(labels.classes());
  const TensorId p = e.add(Op::Exp, {e.input(1)});
  const TensorId is_label = labels.is_label();
  if (smoothing == 0 || !labels.weighted()) {
    const TensorId a = e.where(is_label, e.scalar(1 - smoothing + spread, p), e.scalar(spread, p));
    e.output(0, e.times(labels.over_scores(labels.scale(e.input(0), true)), e.minus(p, a)));
    return;
  }
  const TensorId all_weights = e.reduce_sum(e.cast(e.input(3), e.type(p)), {0}, false);
  const TensorId hit = labels.over_scores(e.times(labels.label_weights(), 1 - smoothing));
  const TensorId a = e.plus(e.where(is_label, hit, e.scalar(0, p)), e.times(labels.class_weights(), spread));
  const TensorId total = e.plus(hit, e.times(all_weights, spread));
  e.output(0, e.times(labels.over_scores(labels.scale(e.input(0), false)), e.minus(e.times(p, total), a)));
}

// The sum or the mean of all elements.
TensorId reduced(Expansion& e, TensorId each) {
  const Axes axes = all_axes(e.shape(each));
  const bool mean = e.attributes().text(Attr::reduction) == "mean";
  return mean ? e.reduce_mean(each, axes, false) : e.reduce_sum(each, axes, false);
}

// dL · factor, for the mean divided by the number of elements
TensorId loss_scale(Expansion& e, double factor) {
  const auto count = static_cast<double>(element_count(e.input_shape(1)));
  const bool mean = e.attributes().text(Attr::reduction) == "mean" && count > 0;
  return e.times(e.reshape(e.input(0), {}), mean ? factor / count : factor);
}

// L = (X − T)²
void mean_squared_error(Expansion& e) { e.output(0, reduced(e, e.square(e.minus(e.input(0), e.input(1))))); }

// dX = dL · 2 (X − T)
void mean_squared_error_grad(Expansion& e) { e.output(0, e.times(e.minus(e.input(1), e.input(2)), loss_scale(e, 2))); }

// L = (1 − T) X + softplus(−X): torch.nn.functional.binary_cross_entropy_with_logits
void binary_cross_entropy(Expansion& e) {
  const TensorId x = e.input(0);
  const TensorId linear = e.times(e.minus(1, e.input(1)), x);
  e.output(0, reduced(e, e.plus(linear, e.add(Op::Softplus, {e.negative(x)}))));
}

// dX = dL · (sigmoid(X) − T)
void binary_cross_entropy_grad(Expansion& e) {
  e.output(0, e.times(e.minus(e.add(Op::Sigmoid, {e.input(1)}), e.input(2)), loss_scale(e, 1)));
}

}  // namespace

ExpansionRule softmax_expansion(Op op) {
  switch (op) {
    case Op::Softmax: return softmax;
    case Op::LogSoftmax: return log_softmax;
    case Op::SoftmaxGrad: return softmax_grad;
    case Op::LogSoftmaxGrad: return log_softmax_grad;
    case Op::SoftmaxCrossEntropyLoss: return cross_entropy;
    case Op::NegativeLogLikelihoodLoss: return negative_log_likelihood;
    case Op::SoftmaxCrossEntropyLossGrad: return cross_entropy_grad;
    case Op::MeanSquaredErrorLoss: return mean_squared_error;
    case Op::MeanSquaredErrorLossGrad: return mean_squared_error_grad;
    case Op::BinaryCrossEntropyLoss: return binary_cross_entropy;
    case Op::BinaryCrossEntropyLossGrad: return binary_cross_entropy_grad;
    default: return nullptr;
  }
}

}  // namespace monet
