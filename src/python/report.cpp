#include "python/bindings.h"

#include <monet/compare.h>
#include <monet/results.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_report(nb::module_& module) {
  nb::class_<NamedResult>(module, "NamedResult", "A result as text, or where it is.")
      .def(
          "__init__",
          [](NamedResult* self, std::string name, std::string result, std::string details) {
            new (self) NamedResult{std::move(name), std::move(result), std::move(details)};
          },
          nb::arg("name"), nb::arg("result") = "", nb::arg("details") = "");
  nb::class_<Comparison>(module, "Comparison", "Two results, and what changed.")
      .def("to_json", [](const Comparison& self) { return to_json(self); })
      .def("to_text", [](const Comparison& self) { return to_text(self).plain(); })
      .def("to_csv", [](const Comparison& self) { return to_csv(self); });
  module.def(
      "compare",
      [](const NamedResult& a, const NamedResult& b) { return without_lock([&] { return compare_results(a, b); }); },
      nb::arg("a"), nb::arg("b"));
  module.def(
      "report_page",
      [](const std::vector<NamedResult>& results, const std::string& title,
         const std::vector<std::string>& objectives) {
        return without_lock([&] { return report_page(results, title, objectives); });
      },
      nb::arg("results"), nb::arg("title"), nb::arg("objectives"));
}

}  // namespace monet::python
