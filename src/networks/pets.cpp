// The models of four robots that PETS learns (Chua et al. 2018): what comes next, as means and logarithms of variances.
// Sizes, activation and batch of 32 are those of kchua/handful-of-trials (dmbrl/config, dmbrl/modeling/models/BNN.py);
// one member of its ensemble of five.
#include "networks/layers.h"
#include "networks/network.h"

#include <fmt/format.h>

namespace monet::networks {

namespace {

constexpr std::int64_t pets_batch = 32;

Expected<Graph> build_pets(const BuiltinInfo& info, const OptionValues& values) {
  GraphBuilder builder(info.name);
  TensorId x = builder.input("input", {values["batch"], values["inputs"]});
  const std::int64_t hidden_layers = values["layers"];
  for (std::int64_t i = 0; i < hidden_layers; ++i) {
    x = fully_connected(builder, fmt::format("layers.{}", i), x, values["hidden"]);
    x = builder.add(Op::Silu, fmt::format("swish.{}", i), {x});
  }
  return finish(builder, fully_connected(builder, fmt::format("layers.{}", hidden_layers), x, values["outputs"]),
                "logits");
}

BuiltinNetwork robot(const std::string& name, std::int64_t inputs, std::int64_t hidden, std::int64_t layers,
                     std::int64_t outputs) {
  return network("pets-" + name,
                 fmt::format("dynamics of the robot {} in PETS: {}-{}x{}-{}, swish, batch {}", name, inputs, hidden,
                             layers, outputs, pets_batch),
                 {{"inputs", "values of state and action", inputs, 1, 1 << 20},
                  {"hidden", "units of a hidden layer", hidden, 1, 1 << 20},
                  {"layers", "hidden layers", layers, 1, 1024},
                  {"outputs", "means and variances", outputs, 1, 1 << 20}},
                 build_pets, pets_batch);
}

}  // namespace

std::vector<BuiltinNetwork> pets_networks() {
  return {robot("cartpole", 6, 500, 3, 8), robot("reacher", 24, 200, 4, 34), robot("pusher", 27, 200, 3, 40),
          robot("halfcheetah", 24, 200, 4, 36)};
}

}  // namespace monet::networks
