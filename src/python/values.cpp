// The values that the functions of the library take: a network, a machine, a plan.
#include "python/bindings.h"

#include <monet/machine.h>
#include <monet/network.h>
#include <monet/plan.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_values(nb::module_& module) {
  nb::class_<Network>(module, "Network", "A network, read once.")
      .def(nb::init<std::string>(), nb::arg("name"))
      .def_prop_ro("name", &Network::name);
  nb::class_<Machine>(module, "Machine", "A machine, read once.")
      .def(nb::init<std::string, HardwareParameters>(), nb::arg("name"), nb::arg("parameters"))
      .def_prop_ro("name", &Machine::name)
      .def_prop_ro("parameters", &Machine::parameters);
  nb::class_<Plan>(module, "Plan", "How a step is carried out, as far as it is said.")
      .def(nb::init<>())
      .def_static(
          "read", [](const std::string& path) { return without_lock([&] { return read_plan(path); }); },
          nb::arg("path"))
      .def_static(
          "parse",
          [](const std::string& text, const std::string& file) {
            return without_lock([&] { return plan_from(text, file); });
          },
          nb::arg("text"), nb::arg("file"))
      .def("to_yaml", [](const Plan& self) { return to_yaml(self); });
}

}  // namespace monet::python
