// The solvers on bare problems, and validation.
#include "python/call.h"

#include <monet/pack.h>
#include <monet/remat.h>
#include <monet/validate.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_tools(nb::module_& module) {
  nb::class_<Packing>(module, "Packing", "Buffers with addresses.")
      .def("to_json", [](const Packing& self) { return to_json(self); })
      .def("to_text", [](const Packing& self) { return to_text(self).plain(); })
      .def("to_csv", [](const Packing& self) { return to_csv(self); });
  module.def(
      "pack",
      [](const std::string& path, std::optional<std::int64_t> capacity, std::optional<double> time_limit) {
        Call call{nb::none()};
        return call.run(
            [&] { return pack_file(path, {.capacity = capacity, .time_limit_s = time_limit, .stop = call.stop()}); });
      },
      nb::arg("path"), nb::arg("capacity").none(), nb::arg("time_limit").none());

  nb::class_<Remat>(module, "Remat", "A schedule that computes again and pages.")
      .def("to_json", [](const Remat& self) { return to_json(self); })
      .def("to_text", [](const Remat& self) { return to_text(self).plain(); })
      .def("schedule_json", [](const Remat& self) { return self.found() ? schedule_json(self) : std::string("null"); });
  module.def(
      "remat",
      [](const std::string& path, const RematOptions& given) {
        Call call{nb::none()};
        RematOptions options = given;
        options.stop = call.stop();
        return call.run([&] { return remat_file(path, options); });
      },
      nb::arg("path"), nb::arg("options"));

  module.def("validations", [] {
    std::vector<std::string> names;
    for (const ValidationInfo& info : validations()) names.push_back(info.name);
    return names;
  });
  module.def(
      "validate",
      [](const std::string& name, const std::string& data, const std::string& only, std::int64_t jobs,
         nb::object progress) {
        Call call(std::move(progress));
        const ValidateOptions options{
            .data = data, .only = only, .jobs = jobs, .stop = call.stop(), .progress = call.progress()};
        return call.run([&]() -> Expected<std::string> {
          auto validation = validate(name, options);
          if (!validation) return std::move(validation).error();
          return to_json(std::vector{*std::move(validation)});
        });
      },
      nb::arg("name"), nb::arg("data"), nb::arg("only"), nb::arg("jobs"), nb::arg("progress").none());
}

}  // namespace monet::python
