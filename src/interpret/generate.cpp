#include "interpret/interpret.h"

#include <random>

namespace monet {

namespace {

// The same stream for the same seed and number of elements, so that a run can be repeated.
std::mt19937_64 stream(const Execution& execution, const Array& array) {
  return std::mt19937_64(execution.seed ^ array.values.size());
}

Array from_shape(const Execution& execution) {
  const Attributes& attributes = execution.attributes;
  Array to = Array::zeros(execution.out_shape(0));
  std::mt19937_64 generator = stream(execution, to);
  switch (execution.op) {
    case Op::Fill: to.values.assign(to.values.size(), attributes.real(Attr::value)); break;
    case Op::Range:
      for (std::size_t i = 0; i < to.values.size(); ++i) {
        to.values[i] = attributes.real(Attr::start) + static_cast<double>(i) * attributes.real(Attr::delta);
      }
      break;
    case Op::EyeLike: {
      std::size_t at = 0;
      for (IndexCounter i(to.shape); i.more(); i.next()) {
        to.values[at++] = i[1] - i[0] == attributes.integer(Attr::k) ? 1.0 : 0.0;
      }
      break;
    }
    case Op::RandomNormal: {
      std::normal_distribution<double> normal;
      for (double& value : to.values) {
        value = attributes.real(Attr::mean) + attributes.real(Attr::scale) * normal(generator);
      }
      break;
    }
    default: {
      const double low = attributes.real(Attr::low);
      const double range = attributes.real(Attr::high) - low;
      std::uniform_real_distribution<double> uniform(0.0, 1.0);
      for (double& value : to.values) value = low + range * uniform(generator);
    }
  }
  return to;
}

std::vector<Array> dropout(const Execution& execution) {
  const Array& from = execution.in(0);
  const double ratio = execution.attributes.real(Attr::ratio);
  Array to = from;
  Array mask = Array::zeros(from.shape);
  std::mt19937_64 generator = stream(execution, from);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (std::size_t i = 0; i < from.values.size(); ++i) {
    const bool kept = uniform(generator) >= ratio;
    mask.values[i] = kept ? 1.0 : 0.0;
    to.values[i] = kept ? from.values[i] / (1.0 - ratio) : 0.0;
  }
  std::vector<Array> results(execution.output_types.size());
  if (execution.wants(0)) results[0] = std::move(to);
  if (execution.wants(1)) results[1] = std::move(mask);
  return results;
}

Array bernoulli(const Execution& execution) {
  Array to = execution.in(0);
  std::mt19937_64 generator = stream(execution, to);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (double& value : to.values) value = uniform(generator) < value ? 1.0 : 0.0;
  return to;
}

}  // namespace

Expected<std::vector<Array>> execute_generate(const Execution& execution) {
  if (execution.op == Op::Dropout) return dropout(execution);
  if (!execution.wants(0)) return std::vector<Array>(execution.output_types.size());
  return std::vector{execution.op == Op::Bernoulli ? bernoulli(execution) : from_shape(execution)};
}

}  // namespace monet
