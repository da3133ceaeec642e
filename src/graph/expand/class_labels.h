// Labels of classes as operators: what the losses over classes and their gradients have in common.
#pragma once

#include "graph/op_writer.h"

namespace monet {

class ClassLabels {
 public:
  // Attributes, labels and weights (not valid: none) of a loss for scores of that shape and type.
  ClassLabels(OpWriter& writer, const Attributes& attributes, Shape scores, ElementType type, TensorId labels,
              TensorId weights);

  std::int64_t axis() const { return axis_; }
  std::int64_t classes() const { return scores_[static_cast<std::size_t>(axis_)]; }
  bool weighted() const { return class_weights_.valid(); }
  // By class, broadcasting over the scores. Requires weighted().
  TensorId class_weights();
  // Of each label's class. Requires weighted().
  TensorId label_weights();
  // One value for each label, or one for all, so that it broadcasts over the scores.
  TensorId over_scores(TensorId values);
  // The numbers of the labels' classes, with one class in the classes' axis; 0 where a label is ignored.
  TensorId indices();
  // By class: whether it is the label's.
  TensorId is_label();

  // The values, one for each label or one for all; 0 where a label is ignored.
  TensorId without_ignored(TensorId values);
  // Values divided by what the mean divides by, the labels' weights together; themselves for other reductions.
  TensorId mean(TensorId values);
  // What one label's loss weighs in the result: dY, for the mean over all weights; with the label's weight on demand.
  TensorId scale(TensorId loss_gradient, bool with_weights);

  // −weight · log-probability of each label, with what label smoothing takes from all classes.
  TensorId losses(TensorId log_probabilities, double smoothing);

 private:
  TensorId by_class(TensorId values);        // one for each class, in the classes' axis
  TensorId with_one_class(TensorId values);  // one for each label, at the scores' axes

  OpWriter& writer_;
  std::string reduction_;
  std::int64_t axis_;
  Shape scores_;
  TensorId labels_;   // 64 bit, 0 where ignored
  TensorId ignored_;  // boolean; not valid: none can be
  TensorId class_weights_;
  TensorId label_weights_;  // once they have been asked for
};

// Every axis of a tensor of that shape.
std::vector<std::int64_t> all_axes(const Shape& shape);

}  // namespace monet
