#include "support/gradient_check.h"

#include "base/try.h"
#include "graph/verify.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace monet::test {

Array random_array(const Shape& shape, unsigned seed) {
  Array array = Array::zeros(shape);
  std::mt19937 random(seed * 7919 + 17);
  for (double& value : array.values) {
    const double magnitude = 0.05 + 0.95 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    value = random() % 2 == 0 ? magnitude : -magnitude;
  }
  return array;
}

double CheckedGradients::worst() const {
  double worst = 0;
  for (double error : errors) worst = std::isnan(error) ? error : std::max(worst, error);
  return worst;
}

namespace {

// Sum over the outputs of output · cotangent.
Expected<double> objective(const Graph& graph, Values values,
                           const std::vector<std::pair<TensorId, Array>>& cotangents) {
  MONET_RETURN_IF_ERROR(run(graph, values));
  double sum = 0;
  for (const auto& [id, cotangent] : cotangents) {
    const Array& value = values.at(id);
    for (std::size_t i = 0; i < cotangent.values.size(); ++i) sum += value.values[i] * cotangent.values[i];
  }
  return sum;
}

double relative_error(const Array& ours, const Array& differences) {
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < ours.values.size(); ++i) {
    error += std::pow(ours.values[i] - differences.values[i], 2);
    norm += std::pow(differences.values[i], 2);
  }
  return norm > 1e-12 ? std::sqrt(error / norm) : std::sqrt(error);
}

}  // namespace

Expected<CheckedGradients> check_gradients(const Graph& forward, const Values& given,
                                           const std::vector<TensorId>& wanted, const GradientCheckOptions& options) {
  Values values = given;
  GraphBuilder builder(forward);
  std::vector<training::Seed> seeds;
  std::vector<std::pair<TensorId, Array>> cotangents;
  for (TensorId id : forward.outputs) {
    if (!is_floating(forward[id].type.format.element) || !forward[id].producer.valid()) continue;
    const Shape shape = forward[id].type.shape;
    const TensorId cotangent = builder.input("cotangent." + forward[id].name, shape, forward[id].type.format.element);
    cotangents.emplace_back(id, random_array(shape, 1000 + static_cast<unsigned>(seeds.size())));
    values.insert_or_assign(cotangent, cotangents.back().second);
    seeds.push_back({id, cotangent});
  }
  MONET_TRY(const training::Derivatives derivatives,
            training::differentiate(builder, seeds, wanted, options.conv_gradient));
  CheckedGradients result;
  MONET_TRY(result.step, builder.finish());
  MONET_RETURN_IF_ERROR(verify(result.step));
  result.gradients = derivatives.gradients;
  MONET_RETURN_IF_ERROR(run(result.step, values));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const TensorId id = wanted[i];
    Array differences = Array::zeros(forward[id].type.shape);
    for (std::size_t at = 0; at < differences.values.size(); ++at) {
      const auto moved = [&](double by) -> Expected<double> {
        Values changed = given;
        changed.at(id).values[at] += by;
        return objective(forward, std::move(changed), cotangents);
      };
      MONET_TRY(const double up, moved(options.step));
      MONET_TRY(const double down, moved(-options.step));
      differences.values[at] = (up - down) / (2 * options.step);
    }
    const TensorId gradient = result.gradients[i];
    const Array ours = gradient.valid() ? values.at(gradient) : Array::zeros(forward[id].type.shape);
    result.errors.push_back(relative_error(ours, differences));
  }
  result.values = std::move(values);
  return result;
}

Expected<double> operator_gradient_error(Op op, const std::vector<TensorType>& inputs, Attributes attributes,
                                         std::size_t outputs, std::vector<std::pair<std::size_t, Array>> given,
                                         const GradientCheckOptions& options) {
  GraphBuilder builder("operator");
  std::vector<TensorId> ids;
  Values values;
  std::vector<TensorId> wanted;
  for (const TensorType& type : inputs) {
    ids.push_back(builder.input("input" + std::to_string(ids.size()), type.shape, type.format.element));
    values.emplace(ids.back(), random_array(type.shape, static_cast<unsigned>(ids.size())));
    if (is_floating(type.format.element)) wanted.push_back(ids.back());
  }
  for (auto& [input, array] : given) values.insert_or_assign(ids[input], std::move(array));
  for (TensorId id : builder.add_many(op, "node", ids, std::move(attributes), outputs)) builder.output(id);
  MONET_TRY(const Graph graph, builder.finish());
  MONET_TRY(const CheckedGradients checked, check_gradients(graph, values, wanted, options));
  return checked.worst();
}

}  // namespace monet::test
