// A multi-layer perceptron of the size that controls robots: 32 inputs, three hidden layers of 256, 8 outputs.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

Expected<Graph> build_mlp(const BuiltinInfo& info, const OptionValues& values) {
  GraphBuilder builder(info.name);
  TensorId x = builder.input("input", {values["batch"], values["inputs"]});
  const std::int64_t hidden_layers = values["layers"];
  for (std::int64_t i = 0; i < hidden_layers; ++i) {
    x = fully_connected(builder, fmt::format("layers.{}", i), x, values["hidden"]);
    x = relu(builder, fmt::format("relu.{}", i), x);
  }
  return finish(builder, fully_connected(builder, fmt::format("layers.{}", hidden_layers), x, values["outputs"]),
                "logits");
}

}  // namespace

std::vector<BuiltinNetwork> mlp_networks() {
  return {network("mlp-robotics", "perceptron 32-256-256-256-8 of a robot's controller",
                  {{"inputs", "sensor values", 32, 1, 1 << 20},
                   {"hidden", "units of a hidden layer", 256, 1, 1 << 20},
                   {"layers", "hidden layers", 3, 1, 1024},
                   {"outputs", "actuator values", 8, 1, 1 << 20}},
                  build_mlp)};
}

}  // namespace monet::networks
