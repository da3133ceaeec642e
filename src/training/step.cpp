#include "training/step.h"

#include "base/try.h"
#include "graph/expand.h"
#include "graph/op_writer.h"
#include "training/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monet::training {

namespace {

// The gradient that enters at the loss: 1, divided among the micro-batches and multiplied by the loss scale.
Seed seed_of(GraphBuilder& builder, TensorId loss, const OptimizerOptions& options) {
  builder.set_phase(Phase::backward);
  builder.set_role(Role::gradient);
  OpWriter writer(builder, builder.graph()[loss].name + ".grad");
  const double value = options.loss_scale / static_cast<double>(options.micro_batches);
  return {loss, writer.fill(value, writer.shape(loss), writer.type(loss))};
}

// The parameters to train. With low-rank additions those, and what the user names.
Expected<std::vector<TensorId>> chosen_parameters(Graph& forward, const StepOptions& options) {
  if (!options.lora) return select_trained(forward, options.select);
  std::vector<TensorId> chosen;
  if (!options.select.train.empty()) {
    MONET_TRY(chosen, select_trained(forward, options.select));
  }
  MONET_TRY(LoraGraph adapted, add_lora(std::move(forward), *options.lora));
  forward = std::move(adapted.graph);
  chosen.insert(chosen.end(), adapted.added.begin(), adapted.added.end());
  return chosen;
}

// Parameters with their gradients, under the name P.grad. What no gradient reaches stays as it is, with a note.
std::vector<Trained> trained_with_gradients(GraphBuilder& builder, const std::vector<TensorId>& chosen,
                                            const std::vector<TensorId>& gradients, std::vector<std::string>& notes) {
  std::vector<Trained> trained;
  std::size_t unreached = 0;
  std::string example;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::string name = builder.graph()[chosen[i]].name;
    if (!gradients[i].valid()) {
      if (unreached++ == 0) example = name;
      continue;
    }
    TensorId gradient = gradients[i];
    // One tensor cannot carry two names: that of the gradient of two parameters, or of another tensor.
    const Tensor& tensor = builder.graph()[gradient];
    if (!tensor.producer.valid() || tensor.role == Role::weight_gradient) {
      gradient = builder.add(Op::Identity, name + ".grad.Identity", {gradient});
    }
    builder.edit()[gradient].role = Role::weight_gradient;
    builder.rename(gradient, name + ".grad");
    trained.push_back({chosen[i], gradient});
  }
  if (unreached > 0) {
    notes.push_back(fmt::format("the loss does not depend on {} of the parameters, so they are not trained: '{}'{}",
                                unreached, example, unreached > 1 ? ", …" : ""));
  }
  return trained;
}

// All but the graph follows its tensors to their new ids.
void renumber(TrainingStep& step, const std::vector<TensorId>& moved) {
  if (step.loss.valid()) step.loss = moved[step.loss.index()];
  for (Trained& each : step.trained) each = {moved[each.parameter.index()], moved[each.gradient.index()]};
  for (SavedBy& each : step.saves) {
    if (each.tensor.valid()) each.tensor = moved[each.tensor.index()];
  }
  for (SavedTensor& each : step.saved) each.tensor = moved[each.tensor.index()];
}

// The optimizer as element-wise nodes.
Status expand_optimizer(TrainingStep& step) {
  std::vector<TensorId> moved;
  MONET_TRY(step.graph, elementwise_optimizer(std::move(step.graph), &moved));
  renumber(step, moved);
  return Done{};
}

// What products read, and what is kept, in the formats of the recipe.
Status quantize(TrainingStep& step, const Recipe& recipe) {
  if (recipe.everything) {
    step.graph = all_in(*recipe.everything, std::move(step.graph));
    step.saved = saved_tensors(step.graph, step.saves);
  }
  if (recipe.everything || !recipe.quantizes()) return Done{};
  MONET_TRY(QuantizedGraph after, quantized(std::move(step.graph), recipe));
  step.graph = std::move(after.graph);
  step.loss = after.tensors[step.loss.index()];
  for (Trained& each : step.trained) {
    each = {after.tensors[each.parameter.index()], after.tensors[each.gradient.index()]};
  }
  step.saves = saves_of(step.graph);
  step.saved = saved_tensors(step.graph, step.saves);
  step.formats = std::move(after.classes);
  std::ranges::move(after.notes, std::back_inserter(step.notes));
  return Done{};
}

}  // namespace

Expected<TrainingStep> expanded(TrainingStep step, std::span<const std::string> operators) {
  const std::set<std::string, std::less<>> named(operators.begin(), operators.end());
  std::vector<TensorId> moved;
  MONET_TRY(
      step.graph,
      expand(std::move(step.graph), [&](const Graph&, const Node& node) { return named.contains(node.name); }, &moved));
  renumber(step, moved);
  step.saves = saves_of(step.graph);
  return step;
}

Expected<TrainingStep> make_training_step(NetworkGraph network, const StepOptions& options) {
  TrainingStep step;
  step.warnings = std::move(network.warnings);
  step.notes = std::move(network.notes);
  Graph forward = in_training_mode(std::move(network.graph), step.notes);
  MONET_TRY(const std::vector<TensorId> chosen, chosen_parameters(forward, options));
  if (options.recipe) forward = with_values_of(*options.recipe, std::move(forward));
  GraphBuilder builder(std::move(forward));
  MONET_TRY(step.loss, add_loss(builder, options.loss));
  const Seed seed = seed_of(builder, step.loss, options.optimizer);
  MONET_TRY(Derivatives derivatives, differentiate(builder, {&seed, 1}, chosen, options.conv_gradient));
  step.trained = trained_with_gradients(builder, chosen, derivatives.gradients, step.notes);
  if (!builder.failed() && step.trained.empty()) {
    return Error{.message = "nothing is trained: the loss depends on no parameter that may change",
                 .place = builder.graph().name,
                 .advice = "freeze less, or choose another --loss"};
  }
  MONET_RETURN_IF_ERROR(add_optimizer(builder, step.trained, options.optimizer));
  if (options.loss.kind != LossKind::output) builder.output(step.loss);
  MONET_TRY(step.graph, builder.finish());
  step.saves = std::move(derivatives.saves);
  step.saved = saved_tensors(step.graph, step.saves);
  if (options.optimizer.elementwise) MONET_RETURN_IF_ERROR(expand_optimizer(step));
  if (options.recipe) MONET_RETURN_IF_ERROR(quantize(step, *options.recipe));
  return step;
}

}  // namespace monet::training
