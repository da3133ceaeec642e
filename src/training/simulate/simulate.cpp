#include <monet/simulate.h>

#include "base/parallel.h"
#include "base/try.h"
#include "networks/open.h"
#include "training/options.h"
#include "training/simulate/initial.h"
#include "training/simulate/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <span>
#include <utility>

namespace monet {

namespace {

using namespace training;

constexpr std::int64_t default_batch = 32;
constexpr std::int64_t default_measurements = 4;  // after the first
constexpr double most_seconds = 3600;
constexpr double clearly_below_chance = 0.9;  // of the loss of guessing
constexpr double most_bytes = 0x1p32;

Status check(const SimulateOptions& options) {
  const auto wrong = [](std::string message, const char* place, const char* advice) {
    return Error{.message = std::move(message), .place = place, .advice = advice};
  };
  if (options.steps < 1)
    return wrong(fmt::format("{} steps are not possible", options.steps), "--simulate", "take one at least");
  if (options.learning_rate && !(*options.learning_rate >= 0 && *options.learning_rate <= 1e6))
    return wrong(fmt::format("a learning rate of {} is not possible", *options.learning_rate), "--learning-rate",
                 "give a number from 0 to 1e6");
  if (options.samples < 0)
    return wrong(fmt::format("{} samples are not possible", options.samples), "--samples", "take some batches");
  if (options.samples > 0 && !options.data.empty())
    return wrong("--samples and --data do not go together", "--samples", "the file says how many there are");
  if (options.measure_every < 0)
    return wrong(fmt::format("measuring every {} steps is not possible", options.measure_every), "--measure-every",
                 "take one at least");
  return Done{};
}

double usual_learning_rate(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::sgd:
    case OptimizerKind::momentum:
    case OptimizerKind::nesterov: return 0.05;
    case OptimizerKind::lion: return 1e-4;       // its paper: three to ten times below AdamW's
    case OptimizerKind::adafactor: return 0.01;  // torch.optim
    default: return 1e-3;                        // torch.optim
  }
}

Expected<NetworkGraph> opened(const Network& source, const SimulateOptions& options) {
  const auto open = [&](std::optional<std::int64_t> batch) -> Expected<NetworkGraph> {
    onnx::ReadOptions how = read_options(options.train);
    how.batch = batch;
    MONET_TRY(const std::shared_ptr<const NetworkGraph> read, source.graph(how));
    return *read;
  };
  MONET_TRY(NetworkGraph network, open(options.train.batch));
  if (network.is_training_step) {
    return Error{.message = "this is a training step already, and only forward networks can be simulated",
                 .place = source.name(),
                 .advice = "give the network that it was made of"};
  }
  const auto& inputs = network.graph.inputs;
  const bool alone =
      !inputs.empty() && !network.graph[inputs[0]].type.shape.empty() && network.graph[inputs[0]].type.shape[0] == 1;
  if (options.train.batch || !alone) return network;
  auto larger = open(default_batch);
  return larger ? std::move(larger) : Expected<NetworkGraph>(std::move(network));
}

Expected<TaskGraph> task_of(const NetworkGraph& network, const StepOptions& step) {
  Graph forward = network.graph;
  if (step.lora) {
    MONET_TRY(LoraGraph adapted, add_lora(std::move(forward), *step.lora));
    forward = std::move(adapted.graph);
  }
  return task_graph(std::move(forward), step.loss);
}

// Samples whose classes all are ignored teach nothing, and have no loss.
Status check_classes(const Lesson& lesson, const SimulateOptions& options) {
  if (!lesson.task.classifies()) return Done{};
  const Column& target = lesson.samples.columns.back();
  const auto each = static_cast<std::size_t>(target.a_sample);
  const auto counts = [&](std::size_t sample) {
    const auto of_sample = std::span(target.values).subspan(sample * each, each);
    return std::ranges::any_of(of_sample,
                               [&](double value) { return value != static_cast<double>(lesson.task.ignore_index); });
  };
  const Split& parts = lesson.split;
  for (const auto& [what, part] : {std::pair("to learn from", &parts.train), {"held out", &parts.held_out}}) {
    if (std::ranges::any_of(*part, counts)) continue;
    return Error{
        .message = fmt::format("the samples {} have no class but {}, which is ignored", what, lesson.task.ignore_index),
        .place = options.data.empty() ? "--samples" : options.data,
        .advice = "give samples with classes, more of them or another --seed"};
  }
  return Done{};
}

Expected<Lesson> lesson_of(TaskGraph task, const SimulateOptions& options) {
  Lesson lesson;
  lesson.task = std::move(task);
  const std::uint64_t seed = options.data_seed.value_or(options.seed);
  const TaskOptions task_options{.file = options.data, .samples = options.samples, .seed = seed};
  MONET_TRY(lesson.samples, make_samples(lesson.task, task_options));
  lesson.split = split(lesson.samples.count, lesson.task.batch, seed);
  MONET_RETURN_IF_ERROR(check_classes(lesson, options));
  lesson.weights = initial_values(lesson.task.graph, options.seed);
  return lesson;
}

// Small networks only, unless someone insists. `held_out`: batches that are measured.
Status check_size(const std::string& model, const Expense& expense, std::int64_t held_out,
                  const SimulateOptions& options) {
  if (options.force) return Done{};
  Error error{.message = {},
              .place = model,
              .advice = "take fewer steps, a smaller batch or a smaller network of its kind, or insist with --force"};
  const std::int64_t measurements = 1 + (options.steps + options.measure_every - 1) / options.measure_every;
  const double micro_batches = static_cast<double>(options.steps) * static_cast<double>(options.train.accumulate);
  const double seconds = expense.seconds * micro_batches +
                         expense.held_out_seconds * static_cast<double>(measurements) * static_cast<double>(held_out);
  if (seconds > most_seconds) {
    error.message = fmt::format(
        "training it for real is too much work: {:.2g} multiply-accumulates a step, {} steps{}, about {:.1f} hours for "
        "each precision",
        expense.macs * static_cast<double>(options.train.accumulate), options.steps,
        held_out > 0 ? fmt::format(" and {} measurements of {} batches", measurements, held_out) : "", seconds / 3600);
    return error;
  }
  if (expense.bytes > most_bytes) {
    error.message =
        fmt::format("training it for real is too large: about {:.1f} GiB for each precision", expense.bytes / 0x1p30);
    return error;
  }
  return Done{};
}

std::int64_t parameters_of(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph.tensors()) sum += tensor.parameter ? element_count(tensor.type.shape) : 0;
  return sum;
}

// Everything that does not come out of the run.
void describe(const std::string& model, const SimulateOptions& options, const Lesson& lesson, Simulation& simulation) {
  simulation.model = model;
  simulation.precision = options.train.precision.empty() ? "as in the file" : options.train.precision;
  simulation.optimizer = options.train.optimizer;
  simulation.loss = options.train.loss;
  simulation.data = lesson.samples.description;
  simulation.batch = lesson.task.batch;
  simulation.steps = options.steps;
  simulation.parameters = parameters_of(lesson.task.graph);
  simulation.learning_rate = *options.learning_rate;
  simulation.seed = options.seed;
  if (lesson.task.classifies()) simulation.chance = std::log(static_cast<double>(lesson.task.classes()));
}

bool has_moments(OptimizerKind kind) { return kind != OptimizerKind::sgd; }

// Moments divide and take roots of small numbers, of which integers have none.
std::string integer_moments(const StepOptions& step) {
  if (!step.recipe || !step.recipe->master || !has_moments(step.optimizer.kind)) return {};
  const Recipe& recipe = *step.recipe;
  const ElementType state = recipe.optimizer_state.value_or(recipe.master->number.format.element);
  if (is_floating(recipe.master->number.format.element) || is_floating(state)) return {};
  return fmt::format(
      "weights are kept in {} and updated without any floating-point number: such recipes are made for "
      "plain steps down the gradient, use --optimizer sgd",
      recipe.master->number.name);
}

// What a recipe does to numbers, where it leaves that to the machine: operands of products are rounded as they are
// read.
Status make_real(std::optional<Recipe>& recipe) {
  if (!recipe) return Done{};
  if (recipe->everything) {
    return Error{.message = fmt::format("{} only counts: nothing can be trained so", recipe->name),
                 .place = "--precision",
                 .advice = "int8-integer and int8-channel train in 8 bits"};
  }
  if (!recipe->products || recipe->quantizes()) return Done{};
  const std::string name(name_of(*recipe->products));
  const OperandFormat rounded{.number = {.name = name, .format = {.element = *recipe->products}}};
  recipe->weights = recipe->activations = recipe->gradients = rounded;
  recipe->copies = Copies::requantized;
  return Done{};
}

}  // namespace

Expected<std::vector<Simulation>> simulate(const Network& source, const std::vector<std::string>& precisions,
                                           const SimulateOptions& given) {
  MONET_RETURN_IF_ERROR(check(given));
  SimulateOptions options = given;
  if (options.measure_every == 0)
    options.measure_every = (options.steps + default_measurements - 1) / default_measurements;
  MONET_TRY(const NetworkGraph network, opened(source, options));
  std::vector<StepOptions> steps;
  for (const std::string& precision : precisions) {
    TrainOptions train = options.train;
    train.precision = precision;
    MONET_TRY(steps.emplace_back(), step_options(train));
    MONET_RETURN_IF_ERROR(make_real(steps.back().recipe));
  }
  if (steps.empty()) return std::vector<Simulation>();
  if (!options.learning_rate) options.learning_rate = usual_learning_rate(steps[0].optimizer.kind);
  MONET_TRY(TaskGraph task, task_of(network, steps[0]));
  std::vector<Exercise> exercises;
  std::vector<Expense> expenses;
  for (const StepOptions& step : steps) {
    MONET_TRY(exercises.emplace_back(), make_exercise(network, task, step));
    expenses.push_back(expense_of_a_step(exercises.back()));
    MONET_RETURN_IF_ERROR(check_size(source.name(), expenses.back(), 0, options));
  }
  MONET_TRY(const Lesson lesson, lesson_of(std::move(task), options));
  const std::int64_t held_out = std::ssize(lesson.split.held_out) / lesson.task.batch;
  for (const Expense& expense : expenses) MONET_RETURN_IF_ERROR(check_size(source.name(), expense, held_out, options));

  std::atomic<std::size_t> done = 0;
  const std::size_t all = steps.size() * static_cast<std::size_t>(options.steps);
  const auto step_done = [&] {
    const std::size_t now = ++done;
    if (options.progress) options.progress("training steps", now, all);
  };
  std::vector<std::optional<Expected<Simulation>>> results(steps.size());
  for_each_index(steps.size(), static_cast<std::size_t>(options.jobs), [&](std::size_t i) {
    const auto rescaled = [&, i](double loss_scale) {
      StepOptions step = steps[i];
      step.optimizer.loss_scale = loss_scale;
      return make_exercise(network, lesson.task, step);
    };
    std::vector<std::string> notes = exercises[i].notes;
    if (std::string note = integer_moments(steps[i]); !note.empty()) notes.push_back(std::move(note));
    results[i] = train_for_real(std::move(exercises[i]), lesson, options,
                                {.stop = options.stop, .step_done = step_done, .rescaled = rescaled});
    if (*results[i]) std::ranges::move(notes, std::back_inserter((*results[i])->notes));
  });
  std::vector<Simulation> simulations;
  for (std::size_t i = 0; i < results.size(); ++i) {
    MONET_TRY(simulations.emplace_back(), *std::move(results[i]));
    Simulation& simulation = simulations.back();
    options.train.precision = precisions[i];
    describe(source.name(), options, lesson, simulation);
    simulation.macs = static_cast<std::int64_t>(expenses[i].macs);
    simulation.warnings = network.warnings;
  }
  return simulations;
}

std::string hardly_learned(const Simulation& simulation) {
  if (!simulation.chance || simulation.stopped || simulation.diverged || simulation.measured.empty()) return {};
  const double loss = simulation.last().loss;
  if (loss < clearly_below_chance * *simulation.chance) return {};
  return fmt::format(
      "{} hardly learned: its held-out loss is {:.4g} after {} steps, and guessing has {:.4g}. What differs between "
      "precisions says little then: take more steps, another --learning-rate or an easier task",
      simulation.precision, loss, simulation.losses.size(), *simulation.chance);
}

Expected<Simulation> simulate(const Network& source, const SimulateOptions& options) {
  MONET_TRY(std::vector<Simulation> simulations, simulate(source, {options.train.precision}, options));
  return std::move(simulations.front());
}

}  // namespace monet
