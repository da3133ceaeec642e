#include "python/functions.h"

#include <monet/checkpoint.h>
#include <monet/fuse.h>
#include <monet/optimize.h>
#include <monet/report.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

namespace {

template <class Result>
std::vector<std::string> plans_of(const Result& result) {
  std::vector<std::string> plans;
  for (const auto& plan : result.plans) plans.push_back(plan.plan_yaml);
  return plans;
}

template <class Result>
void bind_result(nb::class_<Result>& result) {
  result.def("to_json", [](const Result& self) { return to_json(self); })
      .def("to_text", [](const Result& self) { return to_text(self).plain(); })
      .def("to_csv", [](const Result& self) { return to_csv(self); })
      .def("page", [](const Result& self) { return without_lock([&] { return report_page(self); }); })
      .def_prop_ro("plans", &plans_of<Result>);
}

}  // namespace

void bind_search(nb::module_& module) {
  nb::class_<Fusion>(module, "Fusion", "Operators in stacks.")
      .def("to_json", [](const Fusion& self) { return to_json(self); })
      .def(
          "to_text", [](const Fusion& self, std::size_t stacks) { return to_text(self, stacks).plain(); },
          nb::arg("stacks"))
      .def_ro("plan_yaml", &Fusion::plan_yaml);
  module.def(
      "fuse",
      [](const Network& network, const FuseOptions& given, const nb::dict& costs, nb::object progress) {
        Call call(std::move(progress));
        FuseOptions options = given;
        options.step.custom_costs = custom_costs(call, costs);
        options.stop = options.step.stop = call.stop();
        options.step.progress = call.progress();
        return call.run([&] { return fuse_network(network, options); });
      },
      nb::arg("network"), nb::arg("options"), nb::arg("costs"), nb::arg("progress").none());

  nb::class_<Checkpointing> checkpointing(module, "Checkpointing", "Plans for a memory budget.");
  bind_result(checkpointing);
  checkpointing.def("points_to_csv", [](const Checkpointing& self) { return points_to_csv(self); });
  module.def(
      "checkpoint",
      [](const Network& network, const CheckpointOptions& given, bool points, const nb::object& objective,
         const nb::dict& costs, nb::object progress) {
        Call call(std::move(progress));
        CheckpointOptions options = given;
        options.evaluate.custom_costs = custom_costs(call, costs);
        options.function = plan_objective(call, objective);
        options.stop = options.evaluate.stop = call.stop();
        options.progress = call.progress();
        return call.run([&] { return checkpoint_network(network, options, points); });
      },
      nb::arg("network"), nb::arg("options"), nb::arg("points"), nb::arg("objective").none(), nb::arg("costs"),
      nb::arg("progress").none());

  nb::class_<Optimization> optimization(module, "Optimization", "Plans, each the best in its way.");
  bind_result(optimization);
  module.def(
      "optimize",
      [](const Network& network, const OptimizeOptions& given, const nb::object& objective, const nb::dict& costs,
         nb::object progress) {
        Call call(std::move(progress));
        OptimizeOptions options = given;
        options.evaluate.custom_costs = custom_costs(call, costs);
        options.function = plan_objective(call, objective);
        options.stop = options.evaluate.stop = call.stop();
        options.progress = call.progress();
        return call.run([&] { return optimize_network(network, options); });
      },
      nb::arg("network"), nb::arg("options"), nb::arg("objective").none(), nb::arg("costs"),
      nb::arg("progress").none());
}

}  // namespace monet::python
