#include "python/bindings.h"

#include <monet/hardware.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_hardware(nb::module_& module) {
  module.def(
      "list_hardware",
      [] {
        return without_lock([]() -> Expected<std::string> {
          auto presets = list_hardware();
          if (!presets) return std::move(presets).error();
          return to_json(*presets);
        });
      },
      "The presets, as `monet hardware list --json` prints them.");
  module.def(
      "describe_hardware",
      [](const Machine& machine, bool values) {
        return without_lock([&]() -> Expected<std::string> {
          auto report = describe_hardware(machine);
          if (!report) return std::move(report).error();
          return to_json(*report, {.values = values});
        });
      },
      nb::arg("machine"), nb::arg("values"), "A machine, as `monet hardware show --json` prints it.");
}

}  // namespace monet::python
