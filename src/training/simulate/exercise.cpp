#include "base/try.h"
#include "graph/nests.h"
#include "training/simulate/trainer.h"

#include <algorithm>

namespace monet::training {

namespace {

// The network as it is used, with its loss, in the numbers of the recipe.
Expected<TaskGraph> held_out_graph(const NetworkGraph& network, const StepOptions& options) {
  Graph forward = network.graph;
  if (options.lora) {
    MONET_TRY(LoraGraph adapted, add_lora(std::move(forward), *options.lora));
    forward = std::move(adapted.graph);
  }
  if (options.recipe) forward = with_values_of(*options.recipe, std::move(forward));
  MONET_TRY(TaskGraph task, task_graph(std::move(forward), options.loss));
  if (!options.recipe || !options.recipe->quantizes()) return task;
  MONET_TRY(QuantizedGraph after, quantized(std::move(task.graph), *options.recipe));
  task.graph = std::move(after.graph);
  for (TensorId* id : {&task.target, &task.scores, &task.loss}) *id = after.tensors[id->index()];
  for (TensorId& id : task.inputs) id = after.tensors[id.index()];
  return task;
}

// Inputs stand in the order of the network in every graph that is made of it; what a pass adds comes behind them.
std::vector<TensorId> same_inputs(const TaskGraph& task, const Graph& graph) {
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < task.graph.inputs.size(); ++i) {
    const TensorId id = task.graph.inputs[i];
    if (id == task.target || std::ranges::find(task.inputs, id) != task.inputs.end()) ids.push_back(graph.inputs[i]);
  }
  return ids;
}

}  // namespace

Expected<Exercise> make_exercise(const NetworkGraph& network, const TaskGraph& task, const StepOptions& options) {
  Exercise exercise;
  MONET_TRY(TrainingStep step, make_training_step(network, options));
  exercise.notes = std::move(step.notes);
  exercise.inputs = same_inputs(task, step.graph);
  const std::size_t data = task.graph.inputs.size();
  exercise.learning_rate = step.graph.inputs[data];
  if (step.graph.inputs.size() > data + 1) exercise.count = step.graph.inputs[data + 1];
  exercise.loss = step.loss;
  exercise.loss_scale = options.optimizer.loss_scale;
  std::vector<TensorId> kept = {step.loss};
  for (std::size_t i = 0; i < step.graph.tensors().size(); ++i) {
    if (step.graph.tensors()[i].updates.valid()) kept.emplace_back(i);
  }
  MONET_TRY(exercise.step, PreparedGraph::prepare(std::move(step.graph), kept));

  MONET_TRY(TaskGraph held_out, held_out_graph(network, options));
  exercise.held_out_inputs = same_inputs(task, held_out.graph);
  exercise.held_out_loss = held_out.loss;
  exercise.scores = held_out.scores;
  MONET_TRY(exercise.held_out, PreparedGraph::prepare(std::move(held_out.graph), {held_out.loss, held_out.scores}));
  return exercise;
}

namespace {

// Measured on one core of an AMD EPYC (Zen 4 class, SSE2 code): products and convolutions 5 to 8 · 10^9, common
// arithmetic 7 · 10^8, other operators some 10^7 to 10^8.
constexpr double macs_a_second = 5e9;
constexpr double elements_a_second = 2e8;

double macs_of(const PreparedGraph& program) {
  double macs = 0;
  for (const Node& node : program.graph().nodes()) {
    const auto counts = operation_counts(nests_of(site_of(program.graph(), node)));
    if (counts) macs += static_cast<double>((*counts)[Count::mac]);
  }
  return macs;
}

}  // namespace

Expense expense_of_a_step(const Exercise& exercise) {
  const auto seconds = [](const PreparedGraph& program, double macs) {
    return macs / macs_a_second + static_cast<double>(program.elements()) / elements_a_second;
  };
  const double macs = macs_of(exercise.step);
  return {.macs = macs,
          .seconds = seconds(exercise.step, macs),
          .bytes = sizeof(double) * static_cast<double>(exercise.step.peak_elements()),
          .held_out_seconds = seconds(exercise.held_out, macs_of(exercise.held_out))};
}

}  // namespace monet::training
