// Types of an operator's outputs from the types of its inputs. The only place that knows the shape rules; readers,
// builders and passes all ask here.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>

#include <span>

namespace monet {

// One operator as the rules see it: attributes in normal form, inputs by type; null: an optional input that is absent.
struct OperatorTypes {
  Op op;
  const Attributes& attributes;
  std::span<const TensorType* const> inputs;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  const Shape& shape(std::size_t i) const { return inputs[i]->shape; }
  const Format& format(std::size_t i) const { return inputs[i]->format; }
};

using Types = std::vector<TensorType>;

// One type for each output the operator can have, also those a node does not use.
// Fails with a message, without a place, when inputs are missing, do not fit each other or give a tensor too large to
// count. Attributes must be complete (see op_list.inc); their values may be anything.
Expected<Types> infer(const OperatorTypes& operation);

// The families, each in a file of its own under infer/. Called through infer() only, which has checked that the inputs
// that required_inputs() counts exist and which checks the sizes that come back.
Expected<Types> infer_elementwise(const OperatorTypes& operation);
Expected<Types> infer_contraction(const OperatorTypes& operation);
Expected<Types> infer_convolution(const OperatorTypes& operation);
Expected<Types> infer_pool(const OperatorTypes& operation);
Expected<Types> infer_reduction(const OperatorTypes& operation);
Expected<Types> infer_softmax(const OperatorTypes& operation);
Expected<Types> infer_norm(const OperatorTypes& operation);
Expected<Types> infer_view(const OperatorTypes& operation);
Expected<Types> infer_movement(const OperatorTypes& operation);
Expected<Types> infer_generate(const OperatorTypes& operation);
Expected<Types> infer_optimizer(const OperatorTypes& operation);
Expected<Types> infer_custom(const OperatorTypes& operation);
Expected<Types> infer_collective(const OperatorTypes& operation);

// Largest number of elements a tensor may have: far beyond any machine, and small enough that bits and sums of a few
// tensors still fit 64 bits.
constexpr std::int64_t max_elements = std::int64_t{1} << 52;
// Most axes of a tensor and most inputs of an operator other than a view, so that loops and operands fit a byte.
constexpr std::size_t max_rank = 32;
constexpr std::size_t max_operands = 255;

// Helpers that the rules share.

// The format that Attr::to names.
Expected<Format> target_format(const OperatorTypes& operation);
// Attr::axes are ascending axes of input 0.
Status check_axes(const OperatorTypes& operation);
// Attr::axis is one of the axes of input 0.
Status check_axis(const OperatorTypes& operation);
// Whether a tensor of that shape can be: the reason if not, else empty.
std::string impossible_shape(const Shape& shape);

// A rule's complaint; the caller adds the place.
inline Error shape_error(std::string message, std::string advice = {}) {
  return {.kind = ErrorKind::user, .message = std::move(message), .place = {}, .advice = std::move(advice)};
}

}  // namespace monet
