// One ONNX node on its way into the graph: what the file says about it, and how a rule turns it into operators.
//
// A rule reads attributes and inputs, and makes nodes. Mistakes in the file are sticky: after the first, accessors give
// defaults, emitting does nothing, and the reader reports the mistake with the node's name when the rule returns. So a
// rule needs no error handling of its own beyond fail().
#pragma once

#include "graph/graph.h"
#include "onnx/model.h"
#include "onnx/values.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet::onnx {

class Importer;

class NodeImport {
 public:
  NodeImport(Importer& importer, const RawNode& raw, std::int64_t version);

  // ---- what the file says
  std::string_view domain() const { return raw_.domain; }
  std::string_view op_type() const { return raw_.op_type; }
  std::int64_t version() const { return version_; }  // of the operator set that the node belongs to

  std::size_t input_count() const { return raw_.inputs.size(); }
  std::size_t output_count() const { return raw_.outputs.size(); }
  bool has_input(std::size_t i) const;
  bool has_output(std::size_t i) const { return i < raw_.outputs.size() && !raw_.outputs[i].empty(); }
  bool is_initializer(std::size_t i) const;
  TensorId input(std::size_t i);  // not valid when absent
  std::vector<TensorId> inputs();
  // Of an input that is there; fails the node when it is not, and gives a scalar.
  Shape shape(std::size_t i);
  std::size_t rank(std::size_t i) { return shape(i).size(); }
  ElementType type(std::size_t i);
  // The shape that the exporter noted for an output, -1 where it is not a number; nothing when it noted none.
  std::optional<Shape> declared_shape(std::size_t output);
  // The type that the file states for an output, with its dimensions bound; fails the node when it does not say all.
  TensorType stated_type(std::size_t output);
  // The value of an input if it is known (see Constant), else null. For an input that decides shapes use required_*.
  const Constant* value(std::size_t i);
  // The integers of an input that must be known; fails the node, naming the input, when they are not.
  std::vector<std::int64_t> required_integers(std::size_t i);
  std::int64_t required_integer(std::size_t i);
  std::vector<double> required_reals(std::size_t i);
  double required_real(std::size_t i);

  // Attributes with the operator's default. A value of another type fails the node.
  bool has_attribute(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t otherwise);
  double real(std::string_view name, double otherwise);
  std::string text(std::string_view name, std::string_view otherwise);
  std::vector<std::int64_t> integers(std::string_view name, const std::vector<std::int64_t>& otherwise = {});
  std::vector<double> reals(std::string_view name, const std::vector<double>& otherwise = {});
  std::optional<Constant> tensor(std::string_view name);  // decoded; fails the node when it is too large to keep
  // All of them; those that the graph cannot keep are left out with a warning.
  std::vector<std::pair<std::string, AttributeValue>> all_attributes();
  // Marks attributes as known and without meaning for us (`activation` hints, deprecated switches).
  void ignore(std::initializer_list<std::string_view> names);

  // An axis in [0, rank); fails the node otherwise.
  std::int64_t axis(std::int64_t value, std::size_t rank);
  // Sorted, unique, in [0, rank).
  std::vector<std::int64_t> axes(std::vector<std::int64_t> values, std::size_t rank);

  // ---- what the rule makes of it
  // The node itself: its outputs are the ONNX node's outputs, in order.
  void emit(Op op, std::vector<TensorId> inputs, Attributes attributes = {});
  // A helper in front of it; gives its first output. Named after the node.
  TensorId make(Op op, std::vector<TensorId> inputs, Attributes attributes = {});
  // The same with its first `wanted` outputs.
  std::vector<TensorId> make_many(Op op, std::vector<TensorId> inputs, Attributes attributes, std::size_t wanted);
  // The ONNX output is another name of `id`, or has a known value.
  void alias(std::size_t output, TensorId id);
  void set_constant(std::size_t output, Constant value);
  TensorId make_constant(Constant value);
  // The ONNX output is the tensor in an attribute: known when it is small, data otherwise.
  void bind_literal(std::size_t output, std::string_view attribute);
  // Fails the node when a tensor of that shape is impossible.
  bool check_shape(const Shape& shape);
  Shape shape_of(TensorId id);
  ElementType type_of(TensorId id);

  // Sequences of tensors exist while reading only.
  const std::vector<TensorId>* sequence(std::size_t i);
  void set_sequence(std::size_t output, std::vector<TensorId> elements);

  void fail(std::string message, std::string advice = {});
  bool failed() const { return error_.has_value(); }

 private:
  friend class Importer;
  const RawAttribute* find(std::string_view name, RawAttribute::Kind kind);
  // The size that the file states for an axis of an output; nothing: it does not, and the node has failed.
  std::optional<std::int64_t> stated_size(std::size_t output, std::size_t axis);
  // Of an input that is there; fails the node when it is not, and gives a scalar's.
  TensorType input_type(std::size_t i);
  // The outputs' values when all inputs' are known and folding them is allowed.
  std::optional<std::vector<Constant>> folded(Op op, const std::vector<TensorId>& inputs, const Attributes& attributes,
                                              const std::vector<TensorType>& types);
  // Output types, or nothing when the node has failed or fails now.
  std::optional<std::vector<TensorType>> inferred(Op op, const std::vector<TensorId>& inputs,
                                                  const Attributes& attributes);

  Importer& importer_;
  const RawNode& raw_;
  std::int64_t version_;
  std::optional<Error> error_;
  std::vector<bool> attribute_read_;
};

// Turns one kind of ONNX node into operators.
using ImportRule = void (*)(NodeImport& node);

// For what no rule is known: an operator that the graph has by name alone.
void import_custom(NodeImport& node);

struct ImportEntry {
  std::string_view domain;  // "" is ONNX itself
  std::string_view op_type;
  ImportRule rule;
};

// The rules by family, each in a file of its own under import/.
std::span<const ImportEntry> constant_rules();
std::span<const ImportEntry> elementwise_rules();
std::span<const ImportEntry> contraction_rules();
std::span<const ImportEntry> convolution_rules();
std::span<const ImportEntry> pool_rules();
std::span<const ImportEntry> reduction_rules();
std::span<const ImportEntry> softmax_rules();
std::span<const ImportEntry> norm_rules();
std::span<const ImportEntry> view_rules();
std::span<const ImportEntry> movement_rules();
std::span<const ImportEntry> generate_rules();
std::span<const ImportEntry> sequence_rules();

}  // namespace monet::onnx
