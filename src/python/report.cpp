#include "python/bindings.h"

#include <monet/compare.h>
#include <monet/report.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_report(nb::module_& module) {
  nb::class_<Comparison>(module, "Comparison", "Two results, and what changed.")
      .def("to_json", [](const Comparison& self) { return to_json(self); })
      .def("to_text", [](const Comparison& self) { return to_text(self).plain(); })
      .def("to_csv", [](const Comparison& self) { return to_csv(self); });
  module.def(
      "compare",
      [](const std::string& a, const std::string& b) { return without_lock([&] { return compare_results(a, b); }); },
      nb::arg("a"), nb::arg("b"));
  module.def(
      "report_page",
      [](const std::vector<std::string>& inputs, const std::string& title, const std::vector<std::string>& objectives) {
        return without_lock([&] { return report_page({.inputs = inputs, .title = title, .objectives = objectives}); });
      },
      nb::arg("inputs"), nb::arg("title"), nb::arg("objectives"));
}

}  // namespace monet::python
