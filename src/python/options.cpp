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

using Options = nb::class_<StepRequest>;

// `names` gets those of the training step.
struct StepOptions {
  Options& options;
  nb::list names;
};

template <class Value>
void bind_train_option(StepOptions& step, const char* name, Value TrainOptions::* member) {
  step.names.append(name);
  step.options.def_prop_rw(
      name, [member](const StepRequest& self) { return self.train.*member; },
      [member](StepRequest& self, Value value) { self.train.*member = std::move(value); },
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
  Options options(module, "StepRequest", "As `monet evaluate` takes them.");
  options.def(nb::init<>());
  StepOptions step{options, nb::list()};
  bind_train_options(step);
  module.attr("STEP_OPTIONS") = step.names;
  options.def_rw("inference", &StepRequest::inference)
      .def_rw("machine", &StepRequest::machine)
      .def_rw("plan", &StepRequest::plan)
      .def_rw("recompute", &StepRequest::recompute)
      .def_rw("keep", &StepRequest::keep)
      .def_rw("page", &StepRequest::page)
      .def_rw("force", &StepRequest::force)
      .def_rw("products", &StepRequest::products)
      .def_rw("objective", &StepRequest::objective)
      .def_rw("factors", &StepRequest::factors)
      .def_rw("order", &StepRequest::order)
      .def_rw("transfers", &StepRequest::transfers)
      .def_rw("off_chip", &StepRequest::off_chip)
      .def_rw("home", &StepRequest::home)
      .def_rw("zigzag", &StepRequest::zigzag)
      .def_rw("lowering", &StepRequest::lowering)
      .def_rw("check", &StepRequest::check)
      .def_rw("compare", &StepRequest::compare)
      .def_rw("pack", &StepRequest::pack)
      .def_rw("advise", &StepRequest::advise)
      .def_rw("suggest_up_to", &StepRequest::suggest_up_to)
      .def_rw("trace", &StepRequest::trace)
      .def_rw("lifetimes", &StepRequest::lifetimes)
      .def_rw("graph", &StepRequest::graph)
      .def_rw("custom", &StepRequest::custom_file)
      .def_rw("cache_file", &StepRequest::cache_file)
      .def_rw("jobs", &StepRequest::jobs);
}

}  // namespace monet::python
