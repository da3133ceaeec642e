#include "training/loss.h"

#include "base/suggest.h"
#include "base/try.h"
#include "graph/op_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

namespace {

constexpr std::string_view output_prefix = "output:";

Error unfit(const Graph& graph, TensorId scores, std::string reason, std::string advice) {
  return {
      .message = fmt::format("the loss does not fit the output of {}: {}", to_string(graph[scores].type.shape), reason),
      .place = graph[scores].name,
      .advice = std::move(advice)};
}

Expected<TensorId> first_output(const Graph& graph) {
  if (graph.outputs.empty()) {
    return Error{.message = "the network has no output to compute a loss from", .place = graph.name, .advice = {}};
  }
  const TensorId scores = graph.outputs.front();
  if (!is_floating(graph[scores].type.format.element)) {
    return unfit(graph, scores, fmt::format("it holds {}", name_of(graph[scores].type.format.element)),
                 "a loss needs floating-point scores: choose another output with --loss output:NAME");
  }
  return scores;
}

Expected<std::int64_t> class_axis(const Graph& graph, TensorId scores, const LossOptions& options) {
  const Shape& shape = graph[scores].type.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (rank == 0) return unfit(graph, scores, "there are no classes to choose from", "use --loss output:NAME");
  std::int64_t axis = options.class_axis.value_or(-1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) {
    return unfit(graph, scores, fmt::format("it has no axis {}", *options.class_axis),
                 fmt::format("choose a --class-axis from 0 to {}", rank - 1));
  }
  if (shape[static_cast<std::size_t>(axis)] < 2) {
    return unfit(graph, scores, fmt::format("axis {} has one class only, so cross entropy is always 0", axis),
                 "use --loss mse or bce, or another --class-axis");
  }
  return axis;
}

Expected<TensorId> cross_entropy(GraphBuilder& builder, TensorId scores, const LossOptions& options) {
  MONET_TRY(const std::int64_t axis, class_axis(builder.graph(), builder.graph().outputs.front(), options));
  Shape positions = builder.shape(scores);
  positions.erase(positions.begin() + axis);
  const TensorId target = builder.input("target", positions, ElementType::int64);
  Attributes attributes = {
      {Attr::axis, axis}, {Attr::reduction, std::string("mean")}, {Attr::ignore_index, options.ignore_index}};
  if (options.label_smoothing != 0) attributes.set(Attr::label_smoothing, options.label_smoothing);
  return OpWriter(builder, "loss").add(Op::SoftmaxCrossEntropyLoss, {scores, target}, std::move(attributes));
}

Expected<TensorId> from_values(GraphBuilder& builder, TensorId scores, Op op) {
  const TensorId target = builder.input("target", builder.shape(scores), builder.type(scores));
  return OpWriter(builder, "loss").add(op, {scores, target}, {{Attr::reduction, std::string("mean")}});
}

Expected<TensorId> own_output(GraphBuilder& builder, const std::string& name) {
  const Graph& graph = builder.graph();
  const auto found = std::ranges::find_if(graph.outputs, [&](TensorId id) { return graph[id].name == name; });
  if (found == graph.outputs.end()) {
    std::vector<std::string> names;
    for (TensorId id : graph.outputs) names.push_back(graph[id].name);
    const std::string guess = nearest(name, names);
    return Error{.message = fmt::format("the network has no output '{}'", name),
                 .place = "--loss",
                 .advice = guess.empty() ? fmt::format("its outputs are {}", fmt::join(names, ", "))
                                         : fmt::format("did you mean '{}'?", guess)};
  }
  const TensorId loss = *found;
  if (element_count(graph[loss].type.shape) != 1 || !is_floating(graph[loss].type.format.element)) {
    return unfit(graph, loss, "a loss is one floating-point number", "reduce it in the model, or choose a loss");
  }
  if (!graph[loss].producer.valid()) return unfit(graph, loss, "nothing computes it", "choose another output");
  return loss;
}

}  // namespace

Expected<LossOptions> parse_loss(const std::string& text) {
  LossOptions options;
  if (text.starts_with(output_prefix)) {
    options.kind = LossKind::output;
    options.output = text.substr(output_prefix.size());
    return options;
  }
  if (text == "cross-entropy") return options;
  options.kind = text == "mse" ? LossKind::mean_squared_error : LossKind::binary_cross_entropy;
  if (text == "mse" || text == "bce") return options;
  static const std::vector<std::string> words = {"cross-entropy", "mse", "bce"};
  const std::string guess = nearest(text, words);
  return Error{.message = fmt::format("there is no loss '{}'", text),
               .place = "--loss",
               .advice = guess.empty() ? "losses are cross-entropy, mse, bce and output:NAME"
                                       : fmt::format("did you mean '{}'?", guess)};
}

Expected<TensorId> add_loss(GraphBuilder& builder, const LossOptions& options) {
  builder.set_phase(Phase::forward);
  builder.set_role(Role::activation);
  if (options.kind == LossKind::output) return own_output(builder, options.output);
  if (options.label_smoothing < 0 || options.label_smoothing > 1) {
    return Error{.message = fmt::format("a label smoothing of {} is not possible", options.label_smoothing),
                 .place = "--label-smoothing",
                 .advice = "give a number from 0 to 1"};
  }
  MONET_TRY(const TensorId output, first_output(builder.graph()));
  const TensorId scores =
      bits_of(builder.type(output)) < 32 ? OpWriter(builder, "loss").cast(output, ElementType::float32) : output;
  const auto loss = [&]() -> Expected<TensorId> {
    switch (options.kind) {
      case LossKind::mean_squared_error: return from_values(builder, scores, Op::MeanSquaredErrorLoss);
      case LossKind::binary_cross_entropy: return from_values(builder, scores, Op::BinaryCrossEntropyLoss);
      default: return cross_entropy(builder, scores, options);
    }
  }();
  if (loss) builder.rename(*loss, "loss");
  return loss;
}

}  // namespace monet::training
