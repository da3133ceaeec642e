// One network trained in one recipe.
#pragma once

#include "interpret/prepared_graph.h"
#include "training/simulate/task.h"
#include "training/step.h"

#include <monet/simulate.h>

#include <map>
#include <optional>

namespace monet::training {

// What all recipes have in common.
struct Lesson {
  TaskGraph task;
  Samples samples;
  Split split;
  std::map<std::string, Array> weights;  // at the start, by name
};

// The graphs of one recipe, ready to run.
struct Exercise {
  PreparedGraph step;
  PreparedGraph held_out;  // forward, as networks run when they are used, and the loss
  // Of `step`:
  std::vector<TensorId> inputs;  // data, then the target
  TensorId learning_rate;
  TensorId count;  // of steps; not valid: the optimizer does not need it
  TensorId loss;
  double loss_scale = 1;
  // Of `held_out`:
  std::vector<TensorId> held_out_inputs;
  TensorId held_out_loss, scores;
  std::vector<std::string> notes;
};

// `network`: as it was opened, the one that `task` is of.
Expected<Exercise> make_exercise(const NetworkGraph& network, const TaskGraph& task, const StepOptions& options);

// What a step costs, roughly.
struct Expense {
  double macs = 0;
  double seconds = 0;  // of one processor
  double bytes = 0;
  double held_out_seconds = 0;  // of one batch that is held out
};
// A step is one micro-batch.
Expense expense_of_a_step(const Exercise& exercise);

struct TrainerCalls {
  std::function<bool()> stop;       // may be empty
  std::function<void()> step_done;  // may be empty
  // The same exercise with another loss scale.
  std::function<Expected<Exercise>(double loss_scale)> rescaled;
};
// Fills in what the run gives. Requires that `options` has its learning rate and steps.
//
// Where the gradients are scaled by more than 1 and one of them overflows, the step changes nothing and the scale is
// halved from there on, as torch.amp.GradScaler does; it does not grow again.
Expected<Simulation> train_for_real(Exercise exercise, const Lesson& lesson, const SimulateOptions& options,
                                    const TrainerCalls& calls);

}  // namespace monet::training
