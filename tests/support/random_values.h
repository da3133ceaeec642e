// Values for everything a graph takes from outside, the same for the same seed and name.
#pragma once

#include "interpret/interpret.h"

#include <random>

namespace monet::test {

// Between -2 and 2; small whole numbers for integers. Known constants are left to their values.
inline Values random_values(const Graph& graph, unsigned seed) {
  Values values;
  for (std::size_t i = 0; i < graph.tensors().size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    if (tensor.producer.valid() || graph.constant(TensorId(i)) != nullptr) continue;
    std::seed_seq name(tensor.name.begin(), tensor.name.end());
    std::vector<std::uint32_t> word(1);
    name.generate(word.begin(), word.end());
    std::mt19937 random(seed ^ word[0]);
    Array array = Array::zeros(tensor.type.shape);
    const bool real = is_floating(tensor.type.format.element);
    for (double& value : array.values)
      value = real ? static_cast<double>(random() % 4001) / 1000.0 - 2.0 : static_cast<double>(random() % 2);
    values.emplace(TensorId(i), std::move(array));
  }
  return values;
}

}  // namespace monet::test
