// One node of the graph on its way into an ONNX file: what rules read and write.
//
// A rule reads the node's inputs and attributes and writes one ONNX node, with helpers in front of it where the
// operator set says the same in other words. Every node that a rule is found for can be written.
#pragma once

#include "onnx/encode.h"
#include "onnx/export_names.h"

#include <algorithm>
#include <unordered_map>

namespace monet::onnx {

// What all nodes of a file share.
struct FileExport {
  explicit FileExport(const Graph& exported) : graph(exported), names(exported) {}

  const Graph& graph;
  Names names;
  ModelEncoder encoder;
  std::unordered_map<std::string, Text> constants;  // initializers of attributes, by type, shape and bytes
  std::int64_t opset = 20;                          // the newest that something in the file needs

  // An initializer with that value; equal ones are written once.
  Text constant(const Constant& value);
};

class NodeExport {
 public:
  NodeExport(FileExport& file, const Node& node) : file_(file), node_(node) {}

  Op op() const { return node_.op; }
  const Attributes& attributes() const { return node_.attributes; }
  std::size_t input_count() const { return node_.inputs.size(); }
  bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i].valid(); }
  Text input(std::size_t i) const { return has(i) ? file_.names[node_.inputs[i]] : Text(); }
  std::vector<Text> inputs() const;
  const Shape& shape(std::size_t i) const { return file_.graph[node_.inputs[i]].type.shape; }
  ElementType type(std::size_t i) const { return file_.graph[node_.inputs[i]].type.format.element; }
  // Of the first output.
  const Shape& output_shape() const { return file_.graph[node_.outputs[0]].type.shape; }
  ElementType output_type() const { return file_.graph[node_.outputs[0]].type.format.element; }

  // Constants that ONNX wants as inputs.
  Text integers(std::vector<std::int64_t> values);  // one axis, 64 bit
  Text integer(std::int64_t value);                 // no axes, 64 bit
  Text scalar(ElementType type, double value);
  Text constant(const Constant& value) { return file_.constant(value); }

  // The node itself: its outputs are the node's. ONNX demands `least_outputs` of them; those that the graph has no
  // tensor for get a name that nobody reads.
  void emit(Text op_type, std::vector<Text> inputs, OnnxAttributes attributes = {}, std::size_t least_outputs = 1,
            Text domain = {});
  // A helper in front of it: the name of its output.
  Text make(Text op_type, std::vector<Text> inputs, OnnxAttributes attributes, Shape shape, ElementType type);
  // Helpers that several rules need. Where nothing is to be done they give the tensor itself.
  Text reshaped(Text tensor, const Shape& from, const Shape& to, ElementType type);
  Text cast(Text tensor, const Shape& shape, ElementType from, ElementType to);
  void emit_reshape(Text tensor);  // to the output's shape
  void emit_cast(Text tensor);     // to the output's type

  // The file needs an operator set at least that new.
  void need_opset(std::int64_t version) { file_.opset = std::max(file_.opset, version); }

 private:
  Metadata metadata() const;

  FileExport& file_;
  const Node& node_;
};

using ExportRule = void (*)(NodeExport& node);

// The rule for a node; null when ONNX's standard operators have no form for it.
ExportRule find_export_rule(const Graph& graph, const Node& node);
inline bool has_standard_form(const Graph& graph, const Node& node) { return find_export_rule(graph, node) != nullptr; }

// The same operator under the same name, inputs and attributes as they are.
void export_as_is(NodeExport& node);

// Our attributes as ONNX's, without those of `omitted`: most have the same name and meaning.
OnnxAttributes same_attributes(const Attributes& attributes, std::initializer_list<Attr> omitted = {});

// The families, each in a file of its own.
ExportRule elementwise_export(const Graph& graph, const Node& node);
ExportRule contraction_export(const Graph& graph, const Node& node);
ExportRule convolution_export(const Graph& graph, const Node& node);
ExportRule pool_export(const Graph& graph, const Node& node);
ExportRule reduction_export(const Graph& graph, const Node& node);
ExportRule softmax_export(const Graph& graph, const Node& node);
ExportRule norm_export(const Graph& graph, const Node& node);
ExportRule view_export(const Graph& graph, const Node& node);
ExportRule movement_export(const Graph& graph, const Node& node);
ExportRule resize_export(const Graph& graph, const Node& node);
ExportRule generate_export(const Graph& graph, const Node& node);

}  // namespace monet::onnx
