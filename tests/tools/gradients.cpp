#include "tools/gradients.h"

#include "base/try.h"
#include "graph/verify.h"
#include "tools/case.h"
#include "tools/npy.h"
#include "training/differentiate.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace monet::tools {

namespace {

// One array for each of `wanted`.
Expected<std::vector<Array>> gradients(const Case& given, const std::vector<TensorId>& wanted,
                                       const std::string& folder) {
  GraphBuilder builder(given.graph);
  Values values = given.values;
  std::vector<training::Seed> seeds;
  for (std::size_t i = 0; i < given.graph.outputs.size(); ++i) {
    const std::string file = fmt::format("{}/cotangent_{}.npy", folder, i);
    if (!std::filesystem::exists(file)) continue;
    const TensorId id = given.graph.outputs[i];
    const TensorType type = given.graph[id].type;
    const TensorId cotangent = builder.input(fmt::format("cotangent_{}", i), type.shape, type.format.element);
    MONET_TRY(Array array, load_npy(file));
    values.insert_or_assign(cotangent, std::move(array));
    seeds.push_back({id, cotangent});
  }
  MONET_TRY(const training::Derivatives derivatives,
            training::differentiate(builder, seeds, wanted, training::ConvGradient::direct));
  MONET_TRY(const Graph step, builder.finish());
  MONET_RETURN_IF_ERROR(verify(step));
  MONET_RETURN_IF_ERROR(run(step, values));
  std::vector<Array> result;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TensorId id = derivatives.gradients[i];
    const Constant* constant = step.constant(id);
    result.push_back(!id.valid()           ? Array::zeros(given.graph[wanted[i]].type.shape)
                     : constant != nullptr ? to_array(*constant)
                                           : values.at(id));
  }
  return result;
}

}  // namespace

Status write_gradients(const std::string& folder) {
  MONET_TRY(const Case given, load_case(folder));
  std::vector<TensorId> wanted;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    const TensorId id = given.inputs[i];
    if (!id.valid() || given.graph[id].producer.valid() || !is_floating(given.graph[id].type.format.element)) continue;
    if (given.graph.constants.contains(id) && !given.graph[id].parameter) continue;
    wanted.push_back(id);
    places.push_back(i);
  }
  const auto save = [&](std::size_t place, const Array& array) {
    save_npy(fmt::format("{}/gradient_{}.npy", folder, place), array);
  };
  if (const auto all = gradients(given, wanted, folder)) {
    for (std::size_t i = 0; i < wanted.size(); ++i) save(places[i], (*all)[i]);
    return Done{};
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const auto one = gradients(given, {wanted[i]}, folder)) {
      save(places[i], one->front());
    } else {
      std::ofstream(fmt::format("{}/refused_{}.txt", folder, places[i])) << one.error().text() << "\n";
    }
  }
  return Done{};
}

}  // namespace monet::tools
