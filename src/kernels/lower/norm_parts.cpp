// Norms as a compiler takes them: sums along rows or over channels, and what is done to every element.
#include "kernels/lower/lowering.h"

#include <algorithm>

namespace monet::lowering {

namespace {

bool over_channels(Op op) {
  return op == Op::BatchNormalization || op == Op::BatchNormalizationGrad || op == Op::BatchNormalizationParameterGrad;
}

Kernel every_element(const Operand& like) {
  Kernel kernel{.kind = KernelKind::elementwise, .op = KernelOp::add};
  kernel.elements = like.elements();
  return kernel;
}

// Sums of `from` that leave `results` numbers: along rows, or down columns and over channels.
Kernel sums_of(const Operand& from, std::int64_t results, bool along_rows) {
  Kernel kernel{.kind = KernelKind::elementwise, .op = along_rows ? KernelOp::mean_23 : KernelOp::sum_023};
  kernel.elements = from.elements();
  kernel.columns = std::max<std::int64_t>(1, results);
  kernel.rows = kernel.elements / kernel.columns;
  kernel.passes = 1;
  return kernel;
}

class NormParts {
 public:
  NormParts(Lowering& lowering, NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph()[id]), channels_(over_channels(node_.op)) {
    for (TensorId input : node_.inputs) {
      if (input.valid()) reads_.push_back(lowering.operand(input));
    }
  }

  void forward() {
    count_batch(lowering_, id_);
    const Operand input = reads_[0];
    if (channels_ && node_.attributes.integer_or(Attr::training_mode, 1) == 0) {
      const Operand output = lowering_.allocate(node_.outputs[0], dense_strides_as(input.shape, input.strides));
      lowering_.emit(id_, every_element(output), reads_, {output});
      return;
    }
    std::vector<Operand> statistics;
    bool own = false;  // statistics of this step
    for (std::size_t i = 1; i < node_.outputs.size(); ++i) {
      const TensorId output = node_.outputs[i];
      if (!output.valid()) continue;
      const TensorId old = lowering_.graph()[output].updates;
      if (old.valid()) lowering_.set(output, lowering_.operand(old));
      own |= !old.valid();
      statistics.push_back(old.valid() ? lowering_.operand(old) : lowering_.allocate(output));
    }
    if (!own) statistics.push_back(lowering_.temporary({2 * kept(input.shape)}, 4));
    lowering_.emit_beside(id_, sums_of(input, kept(input.shape), !channels_), std::vector{input}, statistics);
    const Operand output = lowering_.allocate(node_.outputs[0], dense_strides_as(input.shape, input.strides));
    lowering_.emit(id_, every_element(output), with(statistics), {output});
  }

  void backward() {
    collect(node_);
    for (NodeId with : lowering_.companions().with(id_)) collect(lowering_.graph()[with]);
    const Operand input = reads_[1];
    if (whole_.empty()) {
      lowering_.emit(id_, sums_of(input, sums_[0].elements(), false), reads_, sums_);
      return;
    }
    if (!sums_.empty()) lowering_.emit_beside(id_, sums_of(input, sums_[0].elements(), false), reads_, sums_);
    if (sums_.empty() || !channels_) {
      // Of the gradient, and of the gradient times what was normalized.
      sums_ = {lowering_.temporary({2 * kept(input.shape)}, 4)};
      lowering_.emit_beside(id_, sums_of(input, kept(input.shape), !channels_), reads_, sums_);
    }
    lowering_.emit(id_, every_element(whole_[0]), with(sums_), whole_);
  }

 private:
  // Groups of elements that are normalized together.
  std::int64_t kept(const Shape& shape) const {
    if (channels_) return shape[1];
    return element_count(shape) / std::max<std::int64_t>(1, columns_of_norm(node_, shape));
  }

  std::vector<Operand> with(const std::vector<Operand>& more) const {
    std::vector<Operand> all = reads_;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Results: gradients of what was normalized, and sums, which are those of parameters.
  void collect(const Node& node) {
    for (TensorId output : node.outputs) {
      if (!output.valid()) continue;
      const bool whole = lowering_.shape(output) == reads_[1].shape;
      if (whole) {
        whole_.push_back(lowering_.allocate(output, dense_strides_as(reads_[1].shape, reads_[1].strides)));
      } else {
        sums_.push_back(lowering_.allocate(output));
      }
    }
  }

  Lowering& lowering_;
  NodeId id_;
  const Node& node_;
  bool channels_;
  std::vector<Operand> reads_, sums_, whole_;
};

}  // namespace

void lower_norm_in_parts(Lowering& lowering, NodeId id) {
  NormParts parts(lowering, id);
  if (is_norm_gradient(lowering.graph()[id].op)) {
    parts.backward();
  } else {
    parts.forward();
  }
}

}  // namespace monet::lowering
