#include "training/simulate/initial.h"

#include "graph/einsum.h"
#include "training/simulate/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace monet::training {

namespace {

constexpr double table_deviation = 0.02;
constexpr double prelu_slope = 0.25;

// The operator that gives a tensor its meaning, and which of its inputs the tensor is.
struct Use {
  const Node* node = nullptr;
  std::size_t input = 0;
  Shape shape;  // of that input
};

bool passes_on(const Node& node) {
  switch (node.op) {
    case Op::Cast:
    case Op::Expand:
    case Op::Identity:
    case Op::Quantize:
    case Op::Reshape:
    case Op::Slice:
    case Op::Split:
    case Op::Transpose: return true;
    default: return false;
  }
}

// The first that is found behind views and casts.
Use use_of(const Graph& graph, const Readers& readers, TensorId of) {
  std::vector<TensorId> open = {of};
  std::set<std::size_t> seen;
  while (!open.empty()) {
    const TensorId id = open.back();
    open.pop_back();
    if (!seen.insert(id.index()).second) continue;
    for (const NodeId reader : readers.of(id)) {
      const Node& node = graph[reader];
      if (!passes_on(node)) {
        const auto input = static_cast<std::size_t>(std::ranges::find(node.inputs, id) - node.inputs.begin());
        return {&node, input, graph[id].type.shape};
      }
      open.push_back(node.outputs[0]);
    }
  }
  return {};
}

std::int64_t product_of(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

// How many products one result sums up.
std::int64_t fan_in(const Use& use) {
  const Attributes& attributes = use.node->attributes;
  const Shape& shape = use.shape;
  switch (use.node->op) {
    case Op::MatMul:
    case Op::Gemm: {
      if (shape.size() < 2) return product_of(shape);
      const bool transposed = attributes.integer_or(use.input == 0 ? Attr::trans_a : Attr::trans_b, 0) != 0;
      const bool last = (use.input == 0) != transposed;
      return last ? shape.back() : shape[shape.size() - 2];
    }
    case Op::Einsum: {
      const EinsumEquation equation = parse_einsum(attributes.text(Attr::equation));
      std::int64_t summed = 1;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        if (equation.output.find(equation.operands[use.input][axis]) == std::string::npos) summed *= shape[axis];
      }
      return summed;
    }
    case Op::ConvTranspose:
      return shape[0] / attributes.integer_or(Attr::group, 1) * product_of(std::span(shape).subspan(2));
    default: return shape.empty() ? 1 : product_of(std::span(shape).subspan(1));
  }
}

Array uniform(const Tensor& tensor, double deviation, std::uint64_t seed) {
  Array array = Array::zeros(tensor.type.shape);
  SeededRandom random(stream_seed(seed, tensor.name));
  const double bound = deviation * std::sqrt(3.0);
  for (double& value : array.values) value = bound * signed_unit(random);
  return array;
}

Array constant(const Tensor& tensor, double value) {
  Array array = Array::zeros(tensor.type.shape);
  std::ranges::fill(array.values, value);
  return array;
}

bool is_matrix(const Shape& shape) {
  return std::ranges::count_if(shape, [](std::int64_t size) { return size > 1; }) > 1;
}

Array initial_value(const Tensor& tensor, const Use& use, std::uint64_t seed) {
  const auto of_product = [&] {
    return uniform(tensor, std::sqrt(2 / static_cast<double>(std::max<std::int64_t>(fan_in(use), 1))), seed);
  };
  if (use.node == nullptr || tensor.name.ends_with(".lora_B")) return constant(tensor, 0);
  switch (family_of(use.node->op)) {
    case OpFamily::contraction:
    case OpFamily::convolution: return use.input < 2 ? of_product() : constant(tensor, 0);
    case OpFamily::norm: return constant(tensor, use.input == 1 || use.input == 4 ? 1 : 0);
    case OpFamily::movement: return uniform(tensor, table_deviation, seed);
    default: break;
  }
  switch (use.node->op) {
    case Op::Mul:
    case Op::Div: return constant(tensor, 1);
    case Op::PRelu: return constant(tensor, prelu_slope);
    case Op::Add:
    case Op::Concat:
    case Op::Sum: return is_matrix(use.shape) ? uniform(tensor, table_deviation, seed) : constant(tensor, 0);
    default: return constant(tensor, 0);
  }
}

}  // namespace

std::map<std::string, Array> initial_values(const Graph& forward, std::uint64_t seed) {
  const Readers readers(forward);
  std::map<std::string, Array> values;
  for (std::size_t i = 0; i < forward.tensors().size(); ++i) {
    const TensorId id(i);
    const Tensor& tensor = forward[id];
    if (tensor.producer.valid() || tensor.role == Role::input || forward.constant(id) != nullptr) continue;
    values.emplace(tensor.name, initial_value(tensor, use_of(forward, readers, id), seed));
  }
  return values;
}

}  // namespace monet::training
