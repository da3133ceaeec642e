// Number formats and recipes: what there is, training in them for real, and what each costs.
#include "python/functions.h"

#include <monet/precision.h>
#include <monet/report.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

namespace {

using Simulations = std::vector<Simulation>;

// `step` says of what step; its options are those of the whole package.
SimulateOptions completed(const SimulateOptions& given, const StepRequest& step, Call& call) {
  SimulateOptions options = given;
  options.train = step.train;
  options.jobs = step.jobs;
  options.stop = call.stop();
  options.progress = call.progress();
  return options;
}

void bind_simulation(nb::module_& module) {
  nb::class_<SimulateOptions>(module, "SimulateOptions", "As `monet train --simulate` takes them.")
      .def(nb::init<>())
      .def_rw("steps", &SimulateOptions::steps)
      .def_rw("learning_rate", &SimulateOptions::learning_rate, nb::arg("value").none())
      .def_rw("seed", &SimulateOptions::seed)
      .def_rw("data", &SimulateOptions::data)
      .def_rw("samples", &SimulateOptions::samples)
      .def_rw("measure_every", &SimulateOptions::measure_every)
      .def_rw("force", &SimulateOptions::force);
  module.def(
      "simulate",
      [](const Network& network, const StepRequest& step, const SimulateOptions& given, nb::object progress) {
        Call call(std::move(progress));
        const SimulateOptions options = completed(given, step, call);
        return call.run([&]() -> Expected<std::string> {
          auto simulation = simulate(network, options);
          if (!simulation) return std::move(simulation).error();
          return to_json(Simulations{*std::move(simulation)});
        });
      },
      nb::arg("network"), nb::arg("step"), nb::arg("options"), nb::arg("progress").none());
}

PrecisionComparisonOptions comparison_options(const StepRequest& step, const SimulateOptions& given,
                                              const std::vector<std::string>& recipes, const std::string& trained,
                                              std::optional<std::int64_t> batch, bool accuracy, Call& call) {
  PrecisionComparisonOptions options{.recipes = recipes,
                                     .evaluate = step,
                                     .simulate = completed(given, step, call),
                                     .simulate_model = trained,
                                     .accuracy = accuracy};
  if (batch) options.simulate.train.batch = batch;
  options.evaluate.stop = call.stop();
  options.evaluate.progress = call.progress();
  return options;
}

}  // namespace

void bind_precision(nb::module_& module) {
  module.def("list_precisions", [] {
    return without_lock([]() -> Expected<std::string> {
      auto all = recipes();
      if (!all) return std::move(all).error();
      return to_json(number_formats(), *all);
    });
  });
  module.def(
      "describe_precision",
      [](const std::string& name) {
        return without_lock([&]() -> Expected<std::string> {
          auto described = describe_precision(name);
          if (!described) return std::move(described).error();
          return to_json(*described);
        });
      },
      nb::arg("name"));
  bind_simulation(module);
  nb::class_<PrecisionComparison>(module, "PrecisionComparison", "Recipes on one network and one machine.")
      .def("to_json", [](const PrecisionComparison& self) { return to_json(self); })
      .def("to_text", [](const PrecisionComparison& self) { return to_text(self).plain(); })
      .def("to_csv", [](const PrecisionComparison& self) { return to_csv(self); })
      .def("page", [](const PrecisionComparison& self) { return without_lock([&] { return report_page(self); }); });
  module.def(
      "compare_precisions",
      [](const Network& network, const StepRequest& step, const SimulateOptions& simulation,
         const std::vector<std::string>& recipes, const std::string& trained, std::optional<std::int64_t> batch,
         bool accuracy, const nb::dict& costs, nb::object progress) {
        Call call(std::move(progress));
        PrecisionComparisonOptions options =
            comparison_options(step, simulation, recipes, trained, batch, accuracy, call);
        options.evaluate.custom_costs = custom_costs(call, costs);
        return call.run([&] { return compare_precisions(network, options.evaluate.machine, options); });
      },
      nb::arg("network"), nb::arg("step"), nb::arg("simulation"), nb::arg("recipes"), nb::arg("trained"),
      nb::arg("batch").none(), nb::arg("accuracy"), nb::arg("costs"), nb::arg("progress").none());
}

}  // namespace monet::python
