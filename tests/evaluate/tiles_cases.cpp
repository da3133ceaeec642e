#include "evaluate/tiles_cases.h"

#include "support/operator_attributes.h"

#include <algorithm>

namespace monet::test {

namespace {

using Integers = std::vector<std::int64_t>;

Attributes along(Integers axes, std::int64_t keepdims) {
  return {{Attr::axes, std::move(axes)}, {Attr::keepdims, keepdims}};
}

}  // namespace

Shape TileCase::random_shape(std::size_t rank, std::int64_t most) {
  Shape result;
  for (std::size_t i = 0; i < rank; ++i) result.push_back(between(1, most));
  return result;
}

TensorId TileCase::elementwise(TensorId x) {
  if (below(2) == 0) return add(Op::Relu, {x});
  Shape other = shape(x);
  for (std::int64_t& size : other) size = below(3) == 0 ? 1 : size;
  if (below(2) == 0 && shape(x) == other) return add(Op::Mul, {x, x});
  return add(Op::Add, {x, builder_.parameter(name(), other)});
}

TensorId TileCase::reshape(TensorId x) {
  // Each size falls into factors, which join anew.
  Integers factors;
  for (std::int64_t size : shape(x)) {
    for (std::int64_t f = 2; f <= size; ++f) {
      while (size % f == 0) {
        factors.push_back(f);
        size /= f;
      }
    }
  }
  Shape to = {1};
  for (std::int64_t factor : factors) {
    if (below(2) == 0) {
      to.back() *= factor;
    } else {
      to.push_back(factor);
    }
  }
  if (below(3) == 0) to.insert(to.begin() + below(static_cast<std::int64_t>(to.size())), 1);
  return add(Op::Reshape, {x}, {{Attr::shape, to}});
}

TensorId TileCase::slice(TensorId x) {
  Shape to = shape(x);
  const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(to.size())));
  const std::int64_t step = between(1, 3);
  std::int64_t start = below(to[axis]);
  const bool back = below(3) == 0;
  const std::int64_t room = back ? start / step + 1 : (to[axis] - start - 1) / step + 1;
  to[axis] = between(1, room);
  return add(Op::Slice, {x},
             {{Attr::axes, Integers{static_cast<std::int64_t>(axis)}},
              {Attr::starts, Integers{start}},
              {Attr::steps, Integers{back ? -step : step}},
              {Attr::shape, to}});
}

TensorId TileCase::view(TensorId x) {
  const Shape from = shape(x);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (rank == 0) return add(Op::Reshape, {x}, {{Attr::shape, Shape{1, 1}}});
  switch (below(9)) {
    case 0:
    case 1: return reshape(x);
    case 2: {
      Integers order;
      for (std::int64_t i = 0; i < rank; ++i) order.insert(order.begin() + below(i + 1), i);
      return add(Op::Transpose, {x}, {{Attr::perm, order}});
    }
    case 3: return slice(x);
    case 4: {
      const std::int64_t axis = below(rank);
      const TensorId other = below(2) == 0 ? x : elementwise(x);
      return add(Op::Concat, {x, other}, {{Attr::axis, axis}});
    }
    case 5: {
      const std::int64_t axis = below(rank);
      const std::int64_t size = from[static_cast<std::size_t>(axis)];
      if (size < 2) return x;
      const std::int64_t first = between(1, size - 1);
      const auto parts = builder_.add_many(Op::Split, name(), {x},
                                           {{Attr::axis, axis}, {Attr::split, Integers{first, size - first}}}, 2);
      return below(2) == 0 ? parts[0] : add(Op::Concat, {parts[1], parts[0]}, {{Attr::axis, axis}});
    }
    case 6: {
      Shape to = from;
      for (std::int64_t& size : to) size = size == 1 ? between(1, 3) : size;
      if (below(2) == 0) to.insert(to.begin(), between(1, 3));
      return add(Op::Expand, {x}, {{Attr::shape, to}});
    }
    case 7:
      if (rank == 4 && from[1] % 4 == 0) {
        const std::string mode = below(2) == 0 ? "DCR" : "CRD";
        return add(Op::DepthToSpace, {x}, {{Attr::blocksize, std::int64_t{2}}, {Attr::mode, mode}});
      }
      return x;
    default:
      if (rank == 4 && from[2] % 2 == 0 && from[3] % 2 == 0) {
        return add(Op::SpaceToDepth, {x}, {{Attr::blocksize, std::int64_t{2}}});
      }
      return add(Op::Identity, {x});
  }
}

TensorId TileCase::views(TensorId x) {
  const std::int64_t count = below(5);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t elements = element_count(shape(x));
    if (elements > 0 && elements <= 600) x = view(x);
  }
  return x;
}

TensorId TileCase::gather(TensorId x) {
  if (shape(x).empty()) return elementwise(x);
  const std::int64_t axis = below(static_cast<std::int64_t>(shape(x).size()));
  const std::int64_t size = shape(x)[static_cast<std::size_t>(axis)];
  const Shape sizes = random_shape(static_cast<std::size_t>(below(3)), 4);
  if (below(4) == 0) {
    return add(Op::Gather, {x, builder_.input(name(), sizes, ElementType::int64)}, {{Attr::axis, axis}});
  }
  Integers values;
  for (std::int64_t i = 0; i < element_count(sizes); ++i) values.push_back(below(size));
  const TensorId indices = builder_.constant(name(), Constant::integers(ElementType::int64, sizes, values));
  return add(Op::Gather, {x, indices}, {{Attr::axis, axis}});
}

TensorId TileCase::reduction(TensorId x) {
  if (shape(x).empty()) return elementwise(x);
  const auto rank = static_cast<std::int64_t>(shape(x).size());
  static constexpr Op ops[] = {Op::ReduceSum, Op::ReduceMean, Op::ReduceMax, Op::ReduceLogSumExp, Op::ReduceL2};
  if (below(6) == 0) {
    return add(Op::CumSum, {x}, {{Attr::axis, below(rank)}, {Attr::exclusive, below(2)}, {Attr::reverse, below(2)}});
  }
  if (below(6) == 0) {
    return add(Op::ArgMax, {x},
               {{Attr::axis, below(rank)}, {Attr::keepdims, below(2)}, {Attr::select_last_index, std::int64_t{0}}});
  }
  Integers axes;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (below(2) == 0) axes.push_back(i);
  }
  return add(ops[below(std::size(ops))], {x}, along(std::move(axes), below(2)));
}

TensorId TileCase::softmax(TensorId x) {
  if (shape(x).empty()) return elementwise(x);
  const auto rank = static_cast<std::int64_t>(shape(x).size());
  static constexpr Op ops[] = {Op::Softmax, Op::LogSoftmax, Op::Hardmax};
  return add(ops[below(3)], {x}, {{Attr::axes, Integers{below(rank)}}});
}

TensorId TileCase::product(TensorId x) {
  if (shape(x).size() < 2) return elementwise(x);
  const std::int64_t inner = shape(x).back();
  const TensorId weight = builder_.parameter(name(), {inner, between(1, 5)});
  if (shape(x).size() == 2 && below(2) == 0) {
    Attributes attributes = plain_product;
    attributes.set(Attr::beta, 1.0);
    return add(Op::Gemm, {x, weight, builder_.parameter(name(), {shape(weight)[1]})}, attributes);
  }
  return add(Op::MatMul, {x, weight}, plain_product);
}

TensorId TileCase::any_operator(TensorId x) {
  switch (below(6)) {
    case 0: return gather(x);
    case 1: return reduction(x);
    case 2: return softmax(x);
    case 3: return product(x);
    default: return elementwise(x);
  }
}

Attributes TileCase::window(std::size_t spatial, const Shape& kernel, std::int64_t group) {
  Integers strides, dilations, pads;
  for (std::size_t i = 0; i < spatial; ++i) {
    strides.push_back(between(1, 3));
    dilations.push_back(between(1, 3));
  }
  for (std::size_t i = 0; i < 2 * spatial; ++i)
    pads.push_back(below(std::min<std::int64_t>(kernel[i % spatial], 2) + 1));
  return {{Attr::strides, strides}, {Attr::dilations, dilations}, {Attr::pads, pads}, {Attr::group, group}};
}

void TileCase::convolutions() {
  const auto spatial = static_cast<std::size_t>(between(1, 2));
  const std::int64_t group = below(2) == 0 ? 1 : between(2, 3);
  Shape x_shape = {between(1, 2), group * between(1, 2)};
  Shape kernel;
  for (std::size_t i = 0; i < spatial; ++i) {
    kernel.push_back(between(1, 3));
    x_shape.push_back(between(8, 11));
  }
  const Attributes attributes = window(spatial, kernel, group);
  TensorId x = views(elementwise(input(x_shape)));
  if (shape(x) != x_shape) x = elementwise(input(x_shape));
  const std::int64_t channels = group * between(1, 2);
  Shape weight = {channels, x_shape[1] / group};
  weight.insert(weight.end(), kernel.begin(), kernel.end());
  std::vector<TensorId> inputs = {x, builder_.parameter(name(), weight)};
  if (below(3) == 0) inputs.push_back(builder_.parameter(name(), {channels}));
  const TensorId y = add(Op::Conv, inputs, attributes);
  if (builder_.failed()) return;
  const TensorId dy = elementwise(y);
  Attributes back = attributes;
  back.set(Attr::shape, weight);
  elementwise(add(Op::ConvWeightGrad, {x, dy}, back));
  Attributes transposed = attributes;
  transposed.set(Attr::output_padding, Integers(spatial, 0));
  elementwise(views(add(Op::ConvTranspose, {dy, inputs[1]}, transposed)));
}

void TileCase::pools() {
  const Shape from = {between(1, 2), between(1, 3), between(6, 9), between(6, 9)};
  const Shape kernel = {between(1, 3), between(1, 3)};
  Attributes attributes = window(2, kernel, 1);
  Shape to = {from[0], from[1]};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t pads = attributes.integers(Attr::pads)[i] + attributes.integers(Attr::pads)[i + 2];
    const std::int64_t reach = (kernel[i] - 1) * attributes.integers(Attr::dilations)[i] + 1;
    to.push_back((from[2 + i] + pads - reach) / attributes.integers(Attr::strides)[i] + 1);
  }
  attributes = {{Attr::strides, attributes.integers(Attr::strides)},
                {Attr::dilations, attributes.integers(Attr::dilations)},
                {Attr::pads, attributes.integers(Attr::pads)},
                {Attr::kernel_shape, kernel},
                {Attr::count_include_pad, std::int64_t{0}},
                {Attr::storage_order, std::int64_t{0}},
                {Attr::p, std::int64_t{2}},
                {Attr::shape, to}};
  const TensorId x = elementwise(input(from));
  if (below(2) == 0) {
    const auto pooled = builder_.add_many(Op::MaxPool, name(), {x}, attributes, 2);
    if (builder_.failed()) return;
    elementwise(add(Op::MaxPoolGrad, {elementwise(pooled[0]), pooled[1]}, {{Attr::shape, from}}));
    return;
  }
  const TensorId y = add(below(2) == 0 ? Op::AveragePool : Op::LpPool, {x}, attributes);
  attributes.set(Attr::shape, from);
  elementwise(add(Op::AveragePoolGrad, {elementwise(y)}, attributes));
}

void TileCase::norms() {
  const std::int64_t channels = 2 * between(1, 3);
  const TensorId x = elementwise(input({between(2, 3), channels, between(2, 4), between(2, 4)}));
  const TensorId scale = builder_.parameter(name(), {channels});
  const TensorId bias = builder_.parameter(name(), {channels});
  const Attributes epsilon = {{Attr::epsilon, 1e-5},
                              {Attr::axis, between(1, 3)},
                              {Attr::num_groups, channels / 2},
                              {Attr::momentum, 0.9},
                              {Attr::training_mode, std::int64_t{1}},
                              {Attr::alpha, 1.0},
                              {Attr::beta, 0.5},
                              {Attr::bias, 1.0},
                              {Attr::size, between(1, 3)}};
  const auto wanted = static_cast<std::size_t>(between(1, 3));
  switch (below(5)) {
    case 0: {
      const TensorId mean = builder_.statistic(name(), {channels});
      const TensorId variance = builder_.statistic(name(), {channels});
      const auto all = builder_.add_many(Op::BatchNormalization, name(), {x, scale, bias, mean, variance}, epsilon, 5);
      if (builder_.failed()) return;
      const TensorId dy = elementwise(all[0]);
      const auto parameters =
          builder_.add_many(Op::BatchNormalizationParameterGrad, name(), {dy, x, all[3], all[4]}, {}, 2);
      elementwise(add(Op::BatchNormalizationGrad, {dy, x, scale, all[3], all[4], parameters[0], parameters[1]}));
      return;
    }
    case 1: {
      const auto axis = epsilon.integer(Attr::axis);
      const Shape rest(shape(x).begin() + axis, shape(x).end());
      const TensorId weight = builder_.parameter(name(), rest);
      const auto all = builder_.add_many(Op::LayerNormalization, name(), {x, weight}, epsilon, 3);
      if (builder_.failed()) return;
      const TensorId dy = elementwise(all[0]);
      builder_.add_many(Op::LayerNormalizationParameterGrad, name(), {dy, x, all[1], all[2]},
                        {{Attr::axis, axis}, {Attr::shape, rest}}, 2);
      elementwise(add(Op::LayerNormalizationGrad, {dy, x, weight, all[1], all[2]}, {{Attr::axis, axis}}));
      return;
    }
    case 2: {
      const auto all = builder_.add_many(Op::GroupNormalization, name(), {x, scale, bias}, epsilon, 3);
      if (builder_.failed()) return;
      const TensorId dy = elementwise(all[0]);
      const Attributes groups = {{Attr::num_groups, channels / 2}};
      builder_.add_many(Op::GroupNormalizationParameterGrad, name(), {dy, x, all[1], all[2]}, groups, 2);
      elementwise(add(Op::GroupNormalizationGrad, {dy, x, scale, all[1], all[2]}, groups));
      return;
    }
    case 3: {
      const auto all = builder_.add_many(Op::InstanceNormalization, name(), {x, scale, bias}, epsilon, wanted);
      elementwise(all[0]);
      return;
    }
    default: elementwise(add(Op::LRN, {x}, epsilon)); return;
  }
}

void TileCase::products() {
  const std::int64_t inner = between(2, 6);
  TensorId a = elementwise(input({between(1, 3), between(2, 6), inner}));
  const TensorId b = elementwise(input({inner, between(2, 6)}));
  const TensorId c = add(Op::MatMul, {a, b}, plain_product);
  Attributes transposed = plain_product;
  transposed.set(Attr::trans_a, std::int64_t{1});
  transposed.set(Attr::alpha, below(2) == 0 ? 1.0 : 0.5);
  elementwise(views(add(Op::MatMul, {a, elementwise(c)}, transposed)));
}

void TileCase::einsums() {
  const TensorId a = views(elementwise(input({2, 3, 4})));
  const TensorId first = shape(a) == Shape{2, 3, 4} ? a : elementwise(input({2, 3, 4}));
  const TensorId second = elementwise(input({2, 4, 5}));
  elementwise(views(add(Op::Einsum, {first, second}, {{Attr::equation, std::string("bij,bjk->kbi")}})));
  elementwise(add(Op::Einsum, {first}, {{Attr::equation, std::string("bij->jb")}}));
}

void TileCase::attention() {
  const std::int64_t batch = between(1, 2), heads = 2 * between(1, 2), rows = between(3, 5), width = between(2, 3);
  const TensorId tokens = elementwise(input({batch, rows, heads * width}));
  const std::int64_t groups = below(2) == 0 ? heads : 2;
  const TensorId all = add(
      Op::MatMul, {tokens, builder_.parameter(name(), {heads * width, (heads + 2 * groups) * width})}, plain_product);
  const auto parts = builder_.add_many(
      Op::Split, name(), {all},
      {{Attr::axis, std::int64_t{2}}, {Attr::split, Integers{heads * width, groups * width, groups * width}}}, 3);
  std::vector<TensorId> operands;
  for (TensorId part : parts) {
    const TensorId split = add(Op::Reshape, {part}, {{Attr::shape, Shape{batch, rows, shape(part)[2] / width, width}}});
    operands.push_back(add(Op::Transpose, {split}, {{Attr::perm, Integers{0, 2, 1, 3}}}));
  }
  const bool masked = below(2) == 0;
  if (masked) operands.push_back(builder_.input(name(), {rows, rows}));
  const Attributes attributes = {{Attr::scale, 0.5}, {Attr::softcap, 0.0}, {Attr::is_causal, std::int64_t{0}}};
  const auto results = builder_.add_many(Op::Attention, name(), operands, attributes, 2);
  if (builder_.failed()) return;
  const TensorId joined = add(Op::Reshape, {add(Op::Transpose, {results[0]}, {{Attr::perm, Integers{0, 2, 1, 3}}})},
                              {{Attr::shape, Shape{batch, rows, heads * width}}});
  const TensorId y = product(joined);
  const TensorId dy = elementwise(input(shape(results[0])));
  std::vector<TensorId> back = {dy, operands[0], operands[1], operands[2], results[0], results[1]};
  if (masked) back.push_back(operands[3]);
  for (TensorId gradient : builder_.add_many(Op::AttentionGrad, name(), back, attributes, masked ? 4 : 3)) {
    elementwise(views(gradient));
  }
  elementwise(y);
}

void TileCase::movements() {
  const Shape from = {between(2, 4), between(2, 5), between(3, 6)};
  const TensorId x = elementwise(input(from));
  Integers pads;
  for (int i = 0; i < 6; ++i) pads.push_back(between(-1, 2));
  elementwise(views(add(Op::Pad, {x}, {{Attr::pads, pads}, {Attr::mode, std::string("constant")}})));
  elementwise(add(Op::Tile, {x}, {{Attr::repeats, Integers{1, between(1, 3), between(1, 2)}}}));
  const TensorId indices = builder_.input(name(), {between(1, 4)}, ElementType::int64);
  const std::int64_t axis = below(3);
  const TensorId picked = elementwise(add(Op::Gather, {x, indices}, {{Attr::axis, axis}}));
  elementwise(add(Op::GatherGrad, {picked, indices}, {{Attr::axis, axis}, {Attr::shape, from}}));
  const std::vector<double> scales = {1, 1, 1.5};
  Shape to = from;
  to[2] = from[2] * 3 / 2;
  const std::string mode = below(2) == 0 ? "linear" : "nearest";
  Attributes resize = {{Attr::mode, mode},
                       {Attr::scales, scales},
                       {Attr::coordinate_mode, std::string("asymmetric")},
                       {Attr::nearest_mode, std::string("floor")},
                       {Attr::cubic_coeff_a, -0.75},
                       {Attr::exclude_outside, std::int64_t{0}},
                       {Attr::extrapolation_value, 0.0},
                       {Attr::antialias, std::int64_t{0}},
                       {Attr::roi, std::vector<double>{}},
                       {Attr::shape, to}};
  const TensorId larger = elementwise(add(Op::Resize, {x}, resize));
  resize.set(Attr::shape, from);
  elementwise(add(Op::ResizeGrad, {larger}, resize));
  for (TensorId part : builder_.add_many(Op::TopK, name(), {x},
                                         {{Attr::axis, axis},
                                          {Attr::k, std::int64_t{2}},
                                          {Attr::largest, std::int64_t{1}},
                                          {Attr::sorted, std::int64_t{1}}},
                                         2)) {
    static_cast<void>(part);
  }
}

void TileCase::chain() {
  TensorId x = elementwise(input(random_shape(static_cast<std::size_t>(between(1, 4)), 6)));
  const std::int64_t length = between(2, 6);
  for (std::int64_t i = 0; i < length && !builder_.failed(); ++i) {
    x = any_operator(views(x));
    if (element_count(shape(x)) > 600) x = elementwise(input(random_shape(3, 5)));
  }
}

Expected<Graph> TileCase::make() {
  switch (below(12)) {
    case 0:
    case 1: convolutions(); break;
    case 2: pools(); break;
    case 3: norms(); break;
    case 4: products(); break;
    case 5: einsums(); break;
    case 6: attention(); break;
    case 7: movements(); break;
    default: chain(); break;
  }
  if (!builder_.failed()) {
    const Readers readers(builder_.graph());
    for (std::size_t t = 0; t < builder_.graph().tensors().size(); ++t) {
      if (builder_.graph()[TensorId(t)].producer.valid() && readers.of(TensorId(t)).empty())
        builder_.output(TensorId(t));
    }
  }
  return builder_.finish();
}

}  // namespace monet::test
