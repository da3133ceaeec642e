#include "graph/expand/class_labels.h"

#include <numeric>

namespace monet {

std::vector<std::int64_t> all_axes(const Shape& shape) {
  std::vector<std::int64_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  return axes;
}

ClassLabels::ClassLabels(OpWriter& writer, const Attributes& attributes, Shape scores, ElementType type,
                         TensorId labels, TensorId weights)
    : writer_(writer),
      reduction_(attributes.text(Attr::reduction)),
      axis_(attributes.integer_or(Attr::axis, 1)),
      scores_(std::move(scores)),
      labels_(writer.cast(labels, ElementType::int64)) {
  if (weights.valid()) class_weights_ = writer.cast(weights, type);
  if (!attributes.has(Attr::ignore_index)) return;
  const TensorId ignored_label = writer.builder().constant(
      "ignore_index", Constant::integers(ElementType::int64, {}, {attributes.integer(Attr::ignore_index)}));
  ignored_ = writer.add(Op::Equal, {labels_, ignored_label});
  labels_ = writer.where(ignored_, writer.builder().scalar(ElementType::int64, 0), labels_);
}

TensorId ClassLabels::class_weights() { return by_class(class_weights_); }

TensorId ClassLabels::by_class(TensorId values) {
  Shape shape(scores_.size(), 1);
  shape[static_cast<std::size_t>(axis_)] = classes();
  return writer_.reshape(values, std::move(shape));
}

TensorId ClassLabels::label_weights() {
  if (!label_weights_.valid()) {
    label_weights_ = writer_.add(Op::Gather, {class_weights_, labels_}, {{Attr::axis, std::int64_t{0}}});
  }
  return label_weights_;
}

TensorId ClassLabels::with_one_class(TensorId values) {
  Shape shape = scores_;
  shape[static_cast<std::size_t>(axis_)] = 1;
  return writer_.reshape(values, std::move(shape));
}

TensorId ClassLabels::over_scores(TensorId values) {
  return writer_.shape(values).empty() ? values : with_one_class(values);
}

TensorId ClassLabels::indices() { return with_one_class(labels_); }

TensorId ClassLabels::is_label() {
  const TensorId numbers = writer_.add(Op::Range, {},
                                       {{Attr::shape, Shape{classes()}},
                                        {Attr::start, 0.0},
                                        {Attr::delta, 1.0},
                                        {Attr::to, static_cast<std::int64_t>(ElementType::int64)}});
  return writer_.add(Op::Equal, {indices(), by_class(numbers)});
}

TensorId ClassLabels::without_ignored(TensorId values) {
  return ignored_.valid() ? writer_.where(ignored_, writer_.scalar(0, values), values) : values;
}

TensorId ClassLabels::mean(TensorId values) {
  if (reduction_ != "mean") return values;
  const Shape labels = writer_.shape(labels_);
  if (!weighted() && !ignored_.valid()) return writer_.over(values, static_cast<double>(element_count(labels)));
  const TensorId weights = weighted() ? label_weights() : writer_.scalar(1, values);
  return writer_.over(values, writer_.reduce_sum(without_ignored(weights), all_axes(labels), false));
}

TensorId ClassLabels::scale(TensorId loss_gradient, bool with_weights) {
  if (reduction_ != "none") loss_gradient = writer_.reshape(loss_gradient, {});
  TensorId scale = mean(loss_gradient);
  if (with_weights && weighted()) scale = writer_.times(scale, label_weights());
  return without_ignored(scale);
}

TensorId ClassLabels::losses(TensorId log_probabilities, double smoothing) {
  const TensorId picked = writer_.reshape(
      writer_.add(Op::GatherElements, {log_probabilities, indices()}, {{Attr::axis, axis_}}), writer_.shape(labels_));
  TensorId value = weighted() ? writer_.times(picked, label_weights()) : picked;
  if (smoothing != 0) {
    const TensorId all = weighted() ? writer_.times(log_probabilities, class_weights()) : log_probabilities;
    const TensorId spread =
        writer_.times(writer_.reduce_sum(all, {axis_}, false), smoothing / static_cast<double>(classes()));
    value = writer_.plus(writer_.times(value, 1 - smoothing), spread);
  }
  const TensorId losses = without_ignored(writer_.negative(value));
  if (reduction_ == "none") return losses;
  return mean(writer_.reduce_sum(losses, all_axes(writer_.shape(losses)), false));
}

}  // namespace monet
