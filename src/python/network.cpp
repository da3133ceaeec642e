#include "python/bindings.h"

#include <monet/inspect.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_network(nb::module_& module) {
  module.def(
      "inspect",
      [](const std::string& model, std::optional<std::int64_t> batch,
         std::vector<std::pair<std::string, std::int64_t>> dimensions, bool layers) {
        return without_lock([&]() -> Expected<std::string> {
          auto inspection = inspect(model, {.batch = batch, .dimensions = std::move(dimensions)});
          if (!inspection) return std::move(inspection).error();
          return to_json(*inspection, layers);
        });
      },
      nb::arg("model"), nb::arg("batch").none(), nb::arg("dimensions"), nb::arg("layers"),
      "What a network is, as `monet inspect --json` prints it.");
}

}  // namespace monet::python
