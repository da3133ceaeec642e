#include "onnx/writer.h"

#include "base/try.h"
#include "base/whole_file.h"
#include "graph/compact.h"
#include "graph/expand.h"
#include "graph/graph.h"
#include "graph/op_writer.h"
#include "onnx/node_export.h"
#include "onnx/own_notes.h"

#include <monet/expected.h>

#include <cmath>
#include <ostream>

namespace monet::onnx {

namespace {

constexpr std::int64_t most_written_elements = 1024;
constexpr double largest_exact_integer = 0x1p53;  // an operator's attribute is a double

bool is_spelt_out(const Constant& value) {
  if (value.pattern == Constant::Pattern::dense || element_count(value.shape) <= most_written_elements) return false;
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&value.values);
  if (integers == nullptr) return true;
  for (std::int64_t integer : *integers) {
    if (std::abs(static_cast<double>(integer)) > largest_exact_integer) return false;
  }
  return true;
}

TensorId uniform(OpWriter& writer, const Constant& value) {
  return writer.fill(value.real_at(0), value.shape, value.type);
}

// The first value on and below the diagonal, the second above: a triangle chooses, in types that every runtime has.
TensorId banded(OpWriter& writer, const Constant& value) {
  const Shape matrix(value.shape.end() - 2, value.shape.end());
  const auto corner = [&](std::size_t i) {
    return std::visit([i](const auto& stored) { return static_cast<double>(stored[i]); }, value.values);
  };
  const TensorId ones = writer.fill(1, matrix, ElementType::int64);
  const TensorId triangle = writer.add(Op::Trilu, {ones}, {{Attr::upper, std::int64_t{0}}, {Attr::k, value.diagonal}});
  const ElementType chosen = value.type == ElementType::float64 ? ElementType::float64
                             : is_floating(value.type)          ? ElementType::float32
                                                                : ElementType::int64;
  GraphBuilder& builder = writer.builder();
  const TensorId choice = writer.where(writer.cast(triangle, ElementType::boolean), builder.scalar(chosen, corner(0)),
                                       builder.scalar(chosen, corner(1)));
  return writer.expand(writer.cast(choice, value.type), value.shape);
}

// The graph with every patterned constant (a fill, a causal mask) that is larger than its recipe made by nodes in front
// of the others.
Expected<Graph> spell_out_patterns(Graph graph) {
  std::vector<TensorId> patterned;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Constant* value = graph.constant(TensorId(i));
    if (value != nullptr && is_spelt_out(*value)) patterned.emplace_back(i);
  }
  if (patterned.empty()) return graph;
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  for (TensorId id : patterned) {
    const Constant value = builder.graph().constants.at(id);
    builder.edit().constants.erase(id);
    OpWriter writer(builder, builder.graph()[id].name);
    const TensorId made = value.pattern == Constant::Pattern::uniform ? uniform(writer, value) : banded(writer, value);
    // What was made takes the constant's place.
    if (builder.failed()) break;
    const NodeId last = builder.graph()[made].producer;
    builder.edit()[last].outputs = {id};
    builder.edit()[id].producer = last;
  }
  for (const Node& node : nodes) builder.edit().add_node(node);
  auto result = builder.finish();
  if (!result) return result;
  return compact(*std::move(result));
}

constexpr std::size_t most_bytes = 0x7fffffff;  // of a protocol-buffer message

// The operator set in which operators have that type as they have float32 (bfloat16), or at all.
std::int64_t opset_of(ElementType type) {
  switch (type) {
    case ElementType::float8e4m3fn:
    case ElementType::float8e4m3fnuz:
    case ElementType::float8e5m2:
    case ElementType::float8e5m2fnuz:
    case ElementType::int4:
    case ElementType::uint4: return 21;
    case ElementType::bfloat16: return 22;
    case ElementType::float4e2m1: return 23;
    case ElementType::float8e8m0: return 24;
    default: return 20;
  }
}

std::int64_t ir_version_of(std::int64_t opset) {
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  return opset == 23 ? 11 : 12;
}

class GraphWriter {
 public:
  explicit GraphWriter(const Graph& graph) : graph_(graph), file_(graph), is_output_(graph.tensors().size(), false) {}

  Expected<std::string> run() {
    MONET_RETURN_IF_ERROR(check_types());
    collect_outputs();
    write_sources();
    MONET_RETURN_IF_ERROR(write_nodes());
    write_outputs();
    const std::string name = graph_.name.empty() ? "graph" : graph_.name;
    if (file_.encoder.size() > most_bytes - name.size() - 100) {
      return Error{.message = "the graph's constants are larger than the 2 GiB that an ONNX file may have",
                   .place = {},
                   .advice = {}};
    }
    return file_.encoder.finish(name, {.ir = ir_version_of(file_.opset), .opset = file_.opset});
  }

 private:
  Status check_types() {
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.type.format.scale_bits > 0) {
        return Error{.message = "it has a scale for each group of elements, which no ONNX type has",
                     .place = fmt::format("tensor '{}'", tensor.name),
                     .advice = "write the graph in a plain precision"};
      }
      if (onnx_number(tensor.type.format.element) == 0) {
        return Error{.message = fmt::format("it is {}, which no ONNX type is", name_of(tensor.type.format.element)),
                     .place = fmt::format("tensor '{}'", tensor.name),
                     .advice = "write the graph in a plain precision"};
      }
      file_.opset = std::max(file_.opset, opset_of(tensor.type.format.element));
    }
    return Done{};
  }

  // Weights and what else changes from step to step are inputs even where their value is known.
  bool is_initializer(TensorId id) const {
    switch (graph_[id].role) {
      case Role::input:
      case Role::weight:
      case Role::master_weight:
      case Role::optimizer_state:
      case Role::statistic: return false;
      default: return !graph_[id].parameter && graph_.constant(id) != nullptr;
    }
  }

  Metadata notes_on(TensorId id) const {
    const Tensor& tensor = graph_[id];
    Metadata notes;
    if (tensor.role != Role::activation) notes.emplace_back(role_key, name_of(tensor.role));
    if (tensor.parameter) notes.emplace_back(parameter_key, "true");
    if (tensor.updates.valid()) notes.emplace_back(updates_key, file_.names[tensor.updates]);
    return notes;
  }

  // A tensor that a node makes is given out as it is, the first time; everything else as a copy.
  void collect_outputs() {
    std::vector<TensorId> wanted = graph_.outputs;
    for (TensorId id : graph_.outputs) is_output_[id.index()] = true;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      if (graph_.tensors()[i].updates.valid() && !is_output_[i]) wanted.emplace_back(i);
    }
    is_output_.assign(graph_.tensors().size(), false);
    for (TensorId id : wanted) {
      const bool again = is_output_[id.index()];
      const bool copied = again || !graph_[id].producer.valid();
      // The name belongs to the output rather than to a constant that it is a copy of.
      const bool takes_name = !again && is_initializer(id);
      const Text own = file_.names[id];
      Text name = own;
      if (takes_name) file_.names.rename(id, file_.names.fresh(fmt::format("{}.value", own)));
      if (copied && !takes_name) name = file_.names.fresh(fmt::format("{}.out", graph_[id].name));
      is_output_[id.index()] = true;
      outputs_.push_back({id, name, copied});
    }
  }

  void write_sources() {
    std::vector<bool> written(graph_.tensors().size(), false);
    const auto write_input = [&](TensorId id) {
      if (written[id.index()]) return;
      written[id.index()] = true;
      file_.encoder.input(file_.names[id], graph_[id].type, notes_on(id));
    };
    for (TensorId id : graph_.inputs) write_input(id);
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const TensorId id(i);
      if (graph_[id].producer.valid() || written[i]) continue;
      if (is_initializer(id)) {
        file_.encoder.initializer(file_.names[id], *graph_.constant(id));
      } else {
        write_input(id);
      }
    }
  }

  Status write_nodes() {
    for (const Node& node : graph_.nodes()) {
      const ExportRule rule = find_export_rule(graph_, node);
      if (rule == nullptr) return no_standard_form(node);
      NodeExport exported(file_, node);
      rule(exported);
      for (TensorId id : node.outputs) {
        if (id.valid() && !is_output_[id.index()])
          file_.encoder.inner_value(file_.names[id], graph_[id].type, notes_on(id));
      }
    }
    return Done{};
  }

  Error no_standard_form(const Node& node) const {
    std::vector<std::string_view> types;
    for (TensorId id : node.inputs) {
      if (id.valid()) types.push_back(name_of(graph_[id].type.format.element));
    }
    return {.message = fmt::format("{} as it is used here (on {}) has no form in standard ONNX operators",
                                   name_of(node.op), fmt::join(types, ", ")),
            .place = fmt::format("node '{}'", node.name),
            .advice = {}};
  }

  void write_outputs() {
    for (const Output& output : outputs_) {
      if (output.copied) {
        const Text node = file_.names.fresh(fmt::format("{}/Identity", output.name));
        file_.encoder.node({"Identity", node, {file_.names[output.id]}, {output.name}, {}, {}});
      }
      file_.encoder.output(output.name, graph_[output.id].type, output.copied ? Metadata{} : notes_on(output.id));
    }
  }

  struct Output {
    TensorId id;
    Text name;
    bool copied;  // by an Identity under that name
  };

  const Graph& graph_;
  FileExport file_;
  std::vector<bool> is_output_;
  std::vector<Output> outputs_;
};

bool is_training_norm(const Node& node) {
  return node.op == Op::BatchNormalization && node.attributes.integer(Attr::training_mode) != 0;
}

}  // namespace

Expected<std::string> write_bytes(const Graph& graph) {
  // A training step may run a norm twice, once for its statistics: all are written in one way, for equal values.
  const bool step = std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.phase != Phase::forward; });
  MONET_TRY(Graph expanded, expand(graph, [&](const Graph& all, const Node& node) {
              return !has_standard_form(all, node) || (step && is_training_norm(node));
            }));
  MONET_TRY(const Graph plain, spell_out_patterns(std::move(expanded)));
  return GraphWriter(plain).run();
}

Status write(const Graph& graph, const std::string& path) {
  MONET_TRY(const std::string bytes, write_bytes(graph));
  return write_whole_file(path, [&](std::ostream& out) { out << bytes; });
}

}  // namespace monet::onnx
