#include "python/functions.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace nb = nanobind;

namespace monet::python {

namespace {

double number_from(const nb::object& value) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  return number;
}

double objective_from(const nb::object& value) {
  const double number = number_from(value);
  if (!std::isnan(number)) return number;
  raise({.message = "the objective is not a number",
         .place = "objective",
         .advice = "return a number, the smaller the better; float('inf') for what must not be taken"});
}

CustomCost cost_from(const nb::object& value, const std::string& op) {
  const Error wrong{.message = fmt::format("the cost of '{}' is {}", op, nb::cast<std::string>(nb::repr(value))),
                    .place = "costs",
                    .advice = "return (cycles, energy_pj), both 0 or more, or None"};
  if (!nb::isinstance<nb::sequence>(value) || nb::len(value) != 2) raise(wrong);
  const CustomCost cost{.cycles = number_from(value[0]), .energy_pj = number_from(value[1])};
  const auto is_amount = [](double number) { return number >= 0 && std::isfinite(number); };
  if (!is_amount(cost.cycles) || !is_amount(cost.energy_pj)) raise(wrong);
  return cost;
}

}  // namespace

PlanObjective plan_objective(Call& call, const nb::object& function) {
  if (function.is_none()) return nullptr;
  return [&call, &function](const PlanMetrics& metrics) {
    return call.ask(std::numeric_limits<double>::infinity(),
                    [&] { return objective_from(function(nb::cast(metrics))); });
  };
}

DesignObjective design_objective(Call& call, const nb::object& function) {
  return [&call, &function](const DesignResult& design) {
    return call.ask(std::numeric_limits<double>::infinity(),
                    [&] { return objective_from(function(nb::cast(design))); });
  };
}

CustomCosts custom_costs(Call& call, const nb::dict& functions) {
  if (nb::len(functions) == 0) return nullptr;
  return [&call, &functions](const CustomTile& tile) -> Expected<std::optional<CustomCost>> {
    using Answer = Expected<std::optional<CustomCost>>;
    const Answer ended = Error{.message = "the cost of an operator could not be asked for", .place = tile.op};
    return call.ask<Answer>(ended, [&]() -> Answer {
      const nb::str op(tile.op.c_str());
      if (!functions.contains(op)) return std::optional<CustomCost>();
      const nb::object answer = functions[op](nb::cast(tile));
      if (answer.is_none()) return std::optional<CustomCost>();
      return std::optional(cost_from(answer, tile.op));
    });
  };
}

void bind_functions(nb::module_& module) {
  nb::class_<PlanMetrics>(module, "PlanMetrics", "What a whole plan costs: what an objective is asked with.")
      .def(nb::init<>())
      .def_rw("latency_cycles", &PlanMetrics::latency_cycles)
      .def_rw("latency_s", &PlanMetrics::latency_s, "0: the machine states no clock")
      .def_rw("energy_pj", &PlanMetrics::energy_pj)
      .def_rw("peak_bytes", &PlanMetrics::peak_bytes, "of the memory of the budget");
  nb::class_<WorkloadMetrics>(module, "WorkloadMetrics", "A workload on a design.")
      .def_ro("workload", &WorkloadMetrics::workload)
      .def_ro("latency_cycles", &WorkloadMetrics::latency_cycles)
      .def_ro("latency_s", &WorkloadMetrics::latency_s)
      .def_ro("energy_pj", &WorkloadMetrics::energy_pj)
      .def_ro("edp", &WorkloadMetrics::edp)
      .def_ro("peak_bytes", &WorkloadMetrics::peak_bytes)
      .def_ro("utilization", &WorkloadMetrics::utilization)
      .def_ro("cost", &WorkloadMetrics::cost)
      .def_ro("stacks", &WorkloadMetrics::stacks)
      .def_ro("tiles", &WorkloadMetrics::tiles)
      .def_ro("recomputed", &WorkloadMetrics::recomputed)
      .def_ro("paged", &WorkloadMetrics::paged)
      .def_ro("recipe", &WorkloadMetrics::recipe, "of the number formats");
  nb::class_<DesignResult> design(module, "DesignMetrics", "A design that ran: what an objective is asked with.");
  design.def_ro("design", &DesignResult::design, "its place in the order of all points of the space")
      .def_prop_ro(
          "parameters",
          [](const DesignResult& self) {
            nb::dict parameters;
            for (const auto& [name, value] : self.parameters) parameters[name.c_str()] = value;
            return parameters;
          },
          "by name, as the space writes them")
      .def_prop_ro(
          "workloads",
          [](const DesignResult& self) {
            nb::dict workloads;
            for (const WorkloadMetrics& workload : self.workloads) workloads[workload.workload.c_str()] = workload;
            return workloads;
          },
          "by name");
  for (const char* metric : {"latency_s", "energy_pj", "edp", "area_mm2", "peak_bytes", "cost", "utilization"}) {
    design.def_prop_ro(
        metric,
        [metric](const DesignResult& self) {
          for (const auto& [name, value] : self.metrics) {
            if (name == metric) return value;
          }
          return 0.0;
        },
        "of all workloads by weight");
  }
  nb::class_<CustomTile>(module, "CustomTile", "A piece of an operator on a core: what a cost is asked with.")
      .def(nb::init<>())
      .def_rw("op", &CustomTile::op, "the operator's type")
      .def_rw("core", &CustomTile::core, "the core's type")
      .def_rw("precision", &CustomTile::precision, "of its first input")
      .def_rw("loops", &CustomTile::loops, "of the piece, outermost first")
      .def_rw("input_shapes", &CustomTile::input_shapes, "of the whole operator")
      .def_rw("output_shapes", &CustomTile::output_shapes, "of the whole operator")
      .def_rw("attributes", &CustomTile::attributes);
}

}  // namespace monet::python
