#include "training/quantized.h"

#include "base/glob.h"
#include "base/require.h"
#include "graph/graph.h"
#include "graph/op_writer.h"
#include "training/quantized_axes.h"
#include "training/quantized_copies.h"
#include "training/quantized_states.h"
#include "training/quantized_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace monet::training {

namespace {

// Q[B,H,S,E], K[B,G,T,E], V[B,G,T,F], [mask]; rows of query heads that share a head of keys become further rows of it.
class AttentionProducts {
 public:
  AttentionProducts(GraphBuilder& builder, const Node& node) : node_(node), writer_(builder, node.name) {}

  void write() {
    const Shape query = writer_.shape(node_.inputs[0]);
    const Shape key = writer_.shape(node_.inputs[1]);
    const Shape rows = {query[0], key[1], query[1] / key[1] * query[2], query[3]};
    const double scale = node_.attributes.real(Attr::scale);
    TensorId scores = writer_.matmul(writer_.reshape(node_.inputs[0], rows), node_.inputs[1], false, true, scale);
    scores = writer_.reshape(scores, {query[0], query[1], query[2], key[2]});
    if (const double softcap = node_.attributes.real_or(Attr::softcap, 0); softcap != 0) {
      scores = writer_.times(writer_.add(Op::Tanh, {writer_.over(scores, softcap)}), softcap);
    }
    TensorId shares = writer_.add(Op::Softmax, {masked(scores)}, {{Attr::axes, std::vector<std::int64_t>{3}}});
    shares = writer_.reshape(shares, {rows[0], rows[1], rows[2], key[2]});
    const TensorId product = writer_.matmul(shares, node_.inputs[2]);
    const TensorId result = node_.outputs[0];
    Graph& graph = writer_.builder().edit();
    graph.add_node({.name = node_.name,
                    .op = Op::Reshape,
                    .phase = node_.phase,
                    .attributes = {{Attr::shape, graph[result].type.shape}},
                    .inputs = {product},
                    .outputs = {result}});
  }

 private:
  // −∞ where a row must not look.
  TensorId masked(TensorId scores) {
    const TensorId never = writer_.scalar(-std::numeric_limits<double>::infinity(), scores);
    const Shape shape = writer_.shape(scores);
    if (node_.attributes.integer_or(Attr::is_causal, 0) != 0) {
      const Constant seen{.type = ElementType::boolean,
                          .shape = {shape[2], shape[3]},
                          .pattern = Constant::Pattern::banded,
                          .diagonal = 0,
                          .values = std::vector<std::int64_t>{1, 0}};
      scores = writer_.where(writer_.builder().constant(node_.name + ".causal_mask", seen), scores, never);
    }
    if (node_.inputs.size() < 4 || !node_.inputs[3].valid()) return scores;
    const TensorId mask = node_.inputs[3];
    if (writer_.type(mask) == ElementType::boolean) return writer_.where(mask, scores, never);
    return writer_.plus(scores, writer_.cast(mask, writer_.type(scores)));
  }

  const Node& node_;
  OpWriter writer_;
};

// The log-sum-exp of the scores is nobody's but the fused gradient's.
bool is_written_out(const Node& node) {
  return node.op == Op::Attention && (node.outputs.size() < 2 || !node.outputs[1].valid());
}

// Every Attention of a forward graph becomes Q·Kᵀ, the mask, Softmax, and the product with V, so that number formats
// can reach its products. Tensors keep their names. Unlike fused attention a row that is masked as a whole is not a
// number.
Graph attention_as_products(Graph graph) {
  if (std::ranges::none_of(graph.nodes(), is_written_out)) return graph;
  const std::vector<Node> nodes = graph.nodes();
  GraphBuilder builder(std::move(graph));
  builder.edit().set_nodes({});
  for (const Node& node : nodes) {
    if (is_written_out(node)) {
      AttentionProducts(builder, node).write();
    } else {
      builder.edit().add_node(node);
    }
  }
  auto result = builder.finish();
  MONET_REQUIRE(result.has_value());  // the shapes are those of the attention
  return *std::move(result);
}

// Products that stay as they are, by the reason for it.
class Unquantized {
 public:
  void add(const std::string& reason, const std::string& node) {
    const auto [entry, fresh] = of_.try_emplace(reason, 0, node);
    if (fresh) order_.push_back(reason);
    ++entry->second.first;
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> result;
    for (const std::string& reason : order_) {
      const auto& [count, example] = of_.at(reason);
      result.push_back(fmt::format("{} {} not quantized, {}: '{}'{}", count, count == 1 ? "product is" : "products are",
                                   reason, example, count > 1 ? ", …" : ""));
    }
    return result;
  }

 private:
  std::map<std::string, std::pair<std::int64_t, std::string>> of_;
  std::vector<std::string> order_;
};

class Quantization {
 public:
  Quantization(Graph graph, const Recipe& recipe)
      : graph_(std::move(graph)), recipe_(recipe), copies_(graph_, recipe.copies) {}

  QuantizedGraph run() {
    QuantizedGraph result;
    std::vector<QuantizedClass> states = set_state_formats(graph_, recipe_);
    kept_.assign(recipe_.keep.size(), false);
    for (std::size_t i = 0; i < view().nodes().size(); ++i) visit(i);
    show_sums();
    copies_.store_fixed_weights();
    name_masters();
    for (const OperandClass kind : {OperandClass::weight, OperandClass::activation, OperandClass::gradient}) {
      const OperandFormat* wanted = format_of(kind);
      if (wanted == nullptr) continue;
      result.classes.push_back(copies_.summary(kind));
      result.classes.back().format = wanted->number.name;
    }
    std::ranges::move(states, std::back_inserter(result.classes));
    result.notes = unquantized_.notes();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i])
        result.notes.push_back(fmt::format("the recipe keeps '{}', and no product has that name", recipe_.keep[i]));
    }
    const std::size_t before = tensors_before_;
    result.graph = graph_.finish(result.tensors);
    result.tensors.resize(before);
    return result;
  }

 private:
  struct Operand {
    OperandAxes axes;
    OperandClass kind = OperandClass::activation;
    const OperandFormat* wanted = nullptr;
  };

  const Graph& view() const { return graph_.graph(); }

  const OperandFormat* format_of(OperandClass kind) const {
    const auto pointer = [](const std::optional<OperandFormat>& format) { return format ? &*format : nullptr; };
    switch (kind) {
      case OperandClass::weight: return pointer(recipe_.weights);
      case OperandClass::activation: return pointer(recipe_.activations);
      case OperandClass::gradient: break;
    }
    return pointer(recipe_.gradients);
  }

  OperandClass class_of(TensorId operand) const {
    const Tensor& base = view()[behind_views(view(), operand)];
    const bool weight = base.parameter || base.role == Role::weight || base.role == Role::master_weight;
    if (weight && !base.producer.valid()) return OperandClass::weight;
    const Tensor& origin = view()[origin_of(view(), operand)];
    const bool late = origin.producer.valid() && view()[origin.producer].phase != Phase::forward;
    return late && (origin.role == Role::gradient || origin.role == Role::weight_gradient) ? OperandClass::gradient
                                                                                           : OperandClass::activation;
  }

  bool is_kept(const Node& node) {
    bool kept = false;
    for (std::size_t i = 0; i < recipe_.keep.size(); ++i) {
      if (!matches(recipe_.keep[i], node.name)) continue;
      kept_[i] = kept = true;
    }
    return kept;
  }

  void visit(std::size_t index) {
    const Node node = view().nodes()[index];
    const bool attends = node.op == Op::Attention || node.op == Op::AttentionGrad;
    if (attends && (recipe_.weights || recipe_.activations || recipe_.gradients)) {
      return unquantized_.add("as attention is one operator (attention: true writes it as products)", node.name);
    }
    if (!is_product(node.op) || (!recipe_.weights && !recipe_.activations && !recipe_.gradients)) return;
    const auto operands = operand_axes(view(), node);
    if (!operands) return unquantized_.add("each an Einsum of other than two operands or without a sum", node.name);
    if (is_kept(node)) return unquantized_.add("kept by the recipe", node.name);
    quantize(index, node, *operands);
  }

  void quantize(std::size_t index, const Node& node, const std::vector<OperandAxes>& axes) {
    std::vector<Operand> operands;
    for (const OperandAxes& each : axes) {
      const TensorId id = node.inputs[each.input];
      Operand operand{.axes = each, .kind = class_of(id)};
      if (view()[id].type.format.is_real()) operand.wanted = format_of(operand.kind);
      operands.push_back(operand);
    }
    const auto plain = std::ranges::count(operands, nullptr, &Operand::wanted);
    if (plain == 2) return;
    const auto lacks_groups = [](const Operand& operand) {
      if (operand.wanted == nullptr || operand.axes.summed > 1) return false;
      const Format& format = operand.wanted->number.format;
      return format.is_scaled() && format.grouping == Grouping::block;
    };
    if (std::ranges::any_of(operands, lacks_groups)) {
      return unquantized_.add("with no more than one element along the axis of groups", node.name);
    }
    for (const Operand& operand : operands) {
      if (operand.wanted != nullptr) replace(index, operand, plain > 0);
    }
    set_result(node);
  }

  // A product with an operand that is not quantized runs on real numbers: groups may lie anywhere.
  void replace(std::size_t index, const Operand& operand, bool any_groups) {
    const TensorId id = view().nodes()[index].inputs[operand.axes.input];
    const Source source =
        source_of(view(), id, operand.wanted->number.format, operand.axes.contracted, operand.axes.other);
    copies_.count_tensor(operand.kind, source.tensor);
    if (view()[source.tensor].type.format == source.format) return;  // it is stored so
    graph_.edit()[NodeId(index)].inputs[operand.axes.input] =
        copies_.operand(index, source, *operand.wanted, operand.kind, any_groups);
  }

  // It is the gradient of a weight, or nothing but that is a view of it.
  bool is_seen_as_weight_gradient(TensorId id) const {
    if (view()[id].role == Role::weight_gradient) return true;
    if (id.index() >= tensors_before_) return false;
    const auto readers = readers_.of(id);
    return !readers.empty() && std::ranges::all_of(readers, [&](NodeId reader) {
      return family_of(view()[reader].op) == OpFamily::view && is_seen_as_weight_gradient(view()[reader].outputs[0]);
    });
  }

  // Accumulators where they are narrower than what operators leave.
  void set_result(const Node& node) {
    const TensorId out = node.outputs[0];
    const Tensor& tensor = view()[out];
    const bool plain = is_floating(tensor.type.format.element) && !tensor.type.format.is_scaled();
    if (recipe_.weight_gradients && is_seen_as_weight_gradient(out)) return;
    if (!plain || tensor.updates.valid() || !is_floating(recipe_.accumulators)) return;
    if (bits_of(recipe_.accumulators) >= bits_of(tensor.type.format.element)) return;
    graph_.edit()[out].type.format = Format{.element = recipe_.accumulators};
    narrowed_.insert(out);
  }

  // Views of results.
  void show_sums() {
    for (const Node& node : view().nodes()) {
      if (family_of(node.op) != OpFamily::view || !narrowed_.contains(node.inputs[0])) continue;
      for (TensorId id : node.outputs) {
        if (!id.valid() || view()[id].updates.valid()) continue;
        graph_.edit()[id].type.format = Format{.element = recipe_.accumulators};
        narrowed_.insert(id);
      }
    }
  }

  void name_masters() {
    for (const auto& [id, copies] : copies_.masters()) graph_.edit()[id].role = Role::master_weight;
    for (std::size_t i = 0; i < tensors_before_; ++i) {
      const TensorId target = view().tensors()[i].updates;
      if (target.valid() && copies_.masters().contains(target)) graph_.edit()[TensorId(i)].role = Role::master_weight;
    }
  }

  Insertions graph_;
  const Recipe& recipe_;
  std::size_t tensors_before_ = graph_.graph().tensors().size();
  const Readers readers_{graph_.graph()};  // before anything is added
  QuantizedCopies copies_;
  Unquantized unquantized_;
  std::vector<bool> kept_;       // by pattern: it names a product
  std::set<TensorId> narrowed_;  // tensors in the format of accumulators
};

}  // namespace

Graph all_in(ElementType type, Graph graph) {
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    Format& format = graph[TensorId(i)].type.format;
    if (bits_of(format.element) > bits_of(type)) format = Format{.element = type};
  }
  return graph;
}

Graph with_values_of(const Recipe& recipe, Graph forward) {
  if (recipe.everything) return forward;
  if (recipe.attention) forward = attention_as_products(std::move(forward));
  return with_precision(std::move(forward), recipe.values);
}

Expected<QuantizedGraph> quantized(Graph graph, const Recipe& recipe) {
  return Quantization(std::move(graph), recipe).run();
}

}  // namespace monet::training
