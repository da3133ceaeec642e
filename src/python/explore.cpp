#include "base/try.h"
#include "base/whole_file.h"
#include "explore/space/open.h"
#include "python/functions.h"

#include <monet/explore.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <ostream>

namespace nb = nanobind;

namespace monet::python {

namespace {

Status write_store(const std::string& store, const std::string& path,
                   Status (*write)(const std::string&, const WriteText&)) {
  MONET_TRY(WholeFile file, WholeFile::open(path));
  MONET_RETURN_IF_ERROR(write(store, [&](const std::string& line) -> Status {
    file.stream() << line;
    if (file.stream()) return Done{};
    return Error{.message = "cannot be written", .place = path, .advice = "is there room on the disk?"};
  }));
  MONET_RETURN_IF_ERROR(file.finish());
  return file.publish();
}

void bind_worker(nb::module_& module) {
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

}  // namespace

void bind_explore(nb::module_& module) {
  module.def(
      "read_space",
      [](const std::string& name, const std::string& network, std::int64_t batch) {
        return without_lock([&]() -> Expected<std::pair<std::string, std::string>> {
          auto space = explore::open_space(name, explore::subject_of(network, batch));
          if (!space) return std::move(space).error();
          return std::pair(space->text, space->path);
        });
      },
      nb::arg("name"), nb::arg("network") = "", nb::arg("batch") = 0,
      "The text of a space that comes with the library, or of a file, and its path.");
  module.def(
      "space_size",
      [](const std::string& name) {
        return without_lock([&]() -> Expected<std::uint64_t> {
          auto space = explore::open_space(name);
          if (!space) return std::move(space).error();
          return space->size();
        });
      },
      nb::arg("name"));
  module.def("list_spaces", [] {
    return without_lock([]() -> Expected<std::string> {
      auto spaces = builtin_spaces();
      if (!spaces) return std::move(spaces).error();
      return to_json(*spaces);
    });
  });
  bind_worker(module);
  nb::class_<Exploration>(module, "Exploration", "Designs of a space, compared.")
      .def("to_json", [](const Exploration& self) { return to_json(self); })
      .def(
          "to_text", [](const Exploration& self, std::size_t front) { return to_text(self, {.front = front}).plain(); },
          nb::arg("front"));
  module.def(
      "explore",
      [](const ExploreOptions& given, const std::vector<std::pair<std::string, nb::object>>& functions,
         nb::object progress) {
        Call call(std::move(progress));
        ExploreOptions options = given;
        for (const auto& [name, function] : functions) {
          options.functions.emplace_back(name, design_objective(call, function));
        }
        options.stop = call.stop();
        options.progress = call.progress();
        return call.run([&] { return explore_space(options); });
      },
      nb::arg("options"), nb::arg("functions"), nb::arg("progress").none());
  module.def(
      "show_store",
      [](const std::string& store, const std::vector<std::string>& objectives) {
        return without_lock([&] { return show_store({.store = store, .objectives = objectives}); });
      },
      nb::arg("store"), nb::arg("objectives"));
  module.def(
      "store_csv",
      [](const std::string& store) {
        return without_lock([&]() -> Expected<std::string> {
          std::string text;
          MONET_RETURN_IF_ERROR(write_store_csv(store, [&](const std::string& line) -> Status {
            text += line;
            return Done{};
          }));
          return text;
        });
      },
      nb::arg("store"));
  module.def(
      "write_store_csv",
      [](const std::string& store, const std::string& path) {
        without_lock([&] { return write_store(store, path, write_store_csv); });
      },
      nb::arg("store"), nb::arg("path"));
  module.def(
      "write_store_json_lines",
      [](const std::string& store, const std::string& path) {
        without_lock([&] { return write_store(store, path, write_store_json_lines); });
      },
      nb::arg("store"), nb::arg("path"));
}

}  // namespace monet::python
