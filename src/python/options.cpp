// Options by the names that the C++ headers give them; those of the training step stand beside the others.
#include "python/bindings.h"

#include <monet/evaluate.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

namespace {

using Options = nb::class_<EvaluateOptions>;

// `names` gets those of the training step.
struct StepOptions {
  Options& options;
  nb::list names;
};

template <class Value>
void bind_train_option(StepOptions& step, const char* name, Value TrainOptions::* member) {
  step.names.append(name);
  step.options.def_prop_rw(
      name, [member](const EvaluateOptions& self) { return self.train.*member; },
      [member](EvaluateOptions& self, Value value) { self.train.*member = std::move(value); },
      nb::for_setter(nb::arg("value").none()));
}

void bind_train_options(StepOptions& options) {
  bind_train_option(options, "batch", &TrainOptions::batch);
  bind_train_option(options, "dimensions", &TrainOptions::dimensions);
  bind_train_option(options, "parameter", &TrainOptions::parameter);
  bind_train_option(options, "buffer", &TrainOptions::buffer);
  bind_train_option(options, "fused_norms", &TrainOptions::fused_norms);
  bind_train_option(options, "loss", &TrainOptions::loss);
  bind_train_option(options, "label_smoothing", &TrainOptions::label_smoothing);
  bind_train_option(options, "ignore_index", &TrainOptions::ignore_index);
  bind_train_option(options, "class_axis", &TrainOptions::class_axis);
  bind_train_option(options, "optimizer", &TrainOptions::optimizer);
  bind_train_option(options, "optimizer_form", &TrainOptions::optimizer_form);
  bind_train_option(options, "momentum", &TrainOptions::momentum);
  bind_train_option(options, "beta1", &TrainOptions::beta1);
  bind_train_option(options, "beta2", &TrainOptions::beta2);
  bind_train_option(options, "epsilon", &TrainOptions::epsilon);
  bind_train_option(options, "weight_decay", &TrainOptions::weight_decay);
  bind_train_option(options, "clip_norm", &TrainOptions::clip_norm);
  bind_train_option(options, "accumulate", &TrainOptions::accumulate);
  bind_train_option(options, "conv_gradient", &TrainOptions::conv_gradient);
  bind_train_option(options, "train", &TrainOptions::train);
  bind_train_option(options, "freeze", &TrainOptions::freeze);
  bind_train_option(options, "bias_only", &TrainOptions::bias_only);
  bind_train_option(options, "last_layers", &TrainOptions::last_layers);
  bind_train_option(options, "lora_rank", &TrainOptions::lora_rank);
  bind_train_option(options, "lora_alpha", &TrainOptions::lora_alpha);
  bind_train_option(options, "lora_targets", &TrainOptions::lora_targets);
  bind_train_option(options, "precision", &TrainOptions::precision);
  bind_train_option(options, "loss_scale", &TrainOptions::loss_scale);
}

}  // namespace

void bind_options(nb::module_& module) {
  Options options(module, "EvaluateOptions", "As `monet evaluate` takes them.");
  options.def(nb::init<>());
  StepOptions step{options, nb::list()};
  bind_train_options(step);
  module.attr("STEP_OPTIONS") = step.names;
  options.def_rw("inference", &EvaluateOptions::inference)
      .def_rw("hardware", &EvaluateOptions::hardware)
      .def_rw("parameters", &EvaluateOptions::parameters)
      .def_rw("plan", &EvaluateOptions::plan)
      .def_rw("recompute", &EvaluateOptions::recompute)
      .def_rw("keep", &EvaluateOptions::keep)
      .def_rw("page", &EvaluateOptions::page)
      .def_rw("force", &EvaluateOptions::force)
      .def_rw("products", &EvaluateOptions::products)
      .def_rw("objective", &EvaluateOptions::objective)
      .def_rw("factors", &EvaluateOptions::factors)
      .def_rw("order", &EvaluateOptions::order)
      .def_rw("transfers", &EvaluateOptions::transfers)
      .def_rw("off_chip", &EvaluateOptions::off_chip)
      .def_rw("zigzag", &EvaluateOptions::zigzag)
      .def_rw("check", &EvaluateOptions::check)
      .def_rw("compare", &EvaluateOptions::compare)
      .def_rw("pack", &EvaluateOptions::pack)
      .def_rw("advise", &EvaluateOptions::advise)
      .def_rw("trace", &EvaluateOptions::trace)
      .def_rw("lifetimes", &EvaluateOptions::lifetimes)
      .def_rw("graph", &EvaluateOptions::graph)
      .def_rw("custom", &EvaluateOptions::custom_file)
      .def_rw("cache_file", &EvaluateOptions::cache_file)
      .def_rw("jobs", &EvaluateOptions::jobs);
}

}  // namespace monet::python
