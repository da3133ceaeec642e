#include "python/call.h"

#include <monet/evaluate.h>
#include <monet/inspect.h>
#include <monet/networks.h>
#include <monet/train.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace monet::python {

void bind_network(nb::module_& module) {
  module.def(
      "inspect",
      [](const Network& network, std::optional<std::int64_t> batch,
         std::vector<std::pair<std::string, std::int64_t>> dimensions, bool layers) {
        return without_lock([&]() -> Expected<std::string> {
          auto inspection = inspect(network, {.batch = batch, .dimensions = std::move(dimensions)});
          if (!inspection) return std::move(inspection).error();
          return to_json(*inspection, layers);
        });
      },
      nb::arg("network"), nb::arg("batch").none(), nb::arg("dimensions"), nb::arg("layers"),
      "What a network is, as `monet inspect --json` prints it.");
  module.def(
      "list_networks",
      [](const std::string& only) {
        return without_lock([&]() -> Expected<std::string> {
          auto networks = list_networks(only);
          if (!networks) return std::move(networks).error();
          return to_json(*networks);
        });
      },
      nb::arg("only"));
  nb::class_<Training>(module, "Training", "A training step.")
      .def(
          "to_json",
          [](const Training& self, bool layers, bool parameters) {
            return to_json(self, {.layers = layers, .saved = true, .parameters = parameters});
          },
          nb::arg("layers"), nb::arg("parameters"))
      .def("to_text", [](const Training& self) { return to_text(self, {}).plain(); });
  module.def(
      "train",
      [](const Network& network, const StepRequest& given, const std::string& path) {
        const TrainOptions options = given.train;
        const RecomputeOptions recompute{
            .plan = given.plan, .recompute = given.recompute, .keep = given.keep, .force = given.force};
        Call call{nb::none()};
        return call.run([&] { return train(network, options, path, recompute); });
      },
      nb::arg("network"), nb::arg("options"), nb::arg("path"),
      "The training step of a network; a path that is not empty receives it as an ONNX file.");
}

}  // namespace monet::python
