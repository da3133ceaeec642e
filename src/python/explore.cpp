#include "explore/space/open.h"
#include "python/bindings.h"

#include <monet/explore.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace monet::python {

void bind_explore(nb::module_& module) {
  module.def(
      "read_space",
      [](const std::string& name) {
        return without_lock([&]() -> Expected<std::pair<std::string, std::string>> {
          auto space = explore::open_space(name);
          if (!space) return std::move(space).error();
          return std::pair(space->text, space->path);
        });
      },
      nb::arg("name"), "The text of a space that comes with the library, or of a file, and its path.");
  nb::class_<DesignWorker>(module, "DesignWorker", "Designs of a space, one line of JSON each.")
      .def_static(
          "open",
          [](const std::string& text, const std::string& path) {
            return without_lock([&] { return DesignWorker::open(text, path); });
          },
          nb::arg("text"), nb::arg("path"), "`path` is for messages and for finding the files that the space names.")
      .def("fingerprint", &DesignWorker::fingerprint)
      .def(
          "evaluate",
          [](const DesignWorker& self, std::uint64_t design) {
            return without_lock([&] { return self.evaluate(design); });
          },
          nb::arg("design"));
}

}  // namespace monet::python
