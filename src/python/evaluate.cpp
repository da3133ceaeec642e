#include "python/bindings.h"

#include <monet/evaluate.h>

#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace monet::python {

void bind_evaluate(nb::module_& module) {
  nb::class_<Evaluation>(module, "Evaluation", "A step on a machine, in time.")
      .def("to_json", [](const Evaluation& self) { return to_json(self); })
      .def(
          "to_text",
          [](const Evaluation& self, std::size_t operators, std::size_t tensors) {
            return to_text(self, {.operators = operators, .tensors = tensors});
          },
          nb::arg("operators"), nb::arg("tensors"))
      .def("to_csv", [](const Evaluation& self) { return to_csv(self); })
      .def_ro("plan_yaml", &Evaluation::plan_yaml);
  module.def(
      "evaluate",
      [](const std::string& model, const EvaluateOptions& given) {
        const EvaluateOptions options = given;  // another thread may change them meanwhile
        return without_lock([&] { return evaluate_network(model, options); });
      },
      nb::arg("model"), nb::arg("options"));
}

}  // namespace monet::python
