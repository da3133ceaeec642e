#include "graph/op_writer.h"

#include "base/require.h"

#include <fmt/format.h>

namespace monet {

namespace {
using Integers = std::vector<std::int64_t>;
}  // namespace

TensorId OpWriter::add(Op op, std::vector<TensorId> inputs, Attributes attributes) {
  return builder_.add(op, fmt::format("{}.{}", prefix_, name_of(op)), std::move(inputs), std::move(attributes));
}

std::vector<TensorId> OpWriter::add_some(Op op, std::vector<TensorId> inputs, Attributes attributes,
                                         const std::vector<bool>& wanted) {
  return builder_.add_some(op, fmt::format("{}.{}", prefix_, name_of(op)), std::move(inputs), std::move(attributes),
                           wanted);
}

TensorId OpWriter::integers(Integers values) {
  const auto size = static_cast<std::int64_t>(values.size());
  return builder_.constant(prefix_ + ".integers", Constant::integers(ElementType::int64, {size}, std::move(values)));
}

TensorId OpWriter::fill(double value, Shape shape, ElementType type) {
  return add(Op::Fill, {},
             {{Attr::shape, std::move(shape)}, {Attr::value, value}, {Attr::to, static_cast<std::int64_t>(type)}});
}

TensorId OpWriter::cast(TensorId a, ElementType to) {
  if (type(a) == to) return a;
  return add(Op::Cast, {a}, {{Attr::to, static_cast<std::int64_t>(to)}});
}

TensorId OpWriter::matmul(TensorId a, TensorId b, bool trans_a, bool trans_b, double alpha) {
  return add(Op::MatMul, {a, b},
             {{Attr::trans_a, std::int64_t{trans_a}}, {Attr::trans_b, std::int64_t{trans_b}}, {Attr::alpha, alpha}});
}

TensorId OpWriter::transpose(TensorId a, Integers perm) {
  return add(Op::Transpose, {a}, {{Attr::perm, std::move(perm)}});
}

TensorId OpWriter::reshape(TensorId a, Shape shape) {
  if (builder_.shape(a) == shape) return a;
  return add(Op::Reshape, {a}, {{Attr::shape, std::move(shape)}});
}

TensorId OpWriter::expand(TensorId a, Shape shape) {
  if (builder_.shape(a) == shape) return a;
  return add(Op::Expand, {a}, {{Attr::shape, std::move(shape)}});
}

TensorId OpWriter::slice(TensorId a, std::int64_t axis, std::int64_t start, std::int64_t size, std::int64_t step) {
  Shape to = shape(a);
  to[static_cast<std::size_t>(axis)] = size;
  return add(Op::Slice, {a},
             {{Attr::axes, Integers{axis}},
              {Attr::starts, Integers{start}},
              {Attr::steps, Integers{step}},
              {Attr::shape, std::move(to)}});
}

TensorId OpWriter::concat(std::vector<TensorId> parts, std::int64_t axis) {
  return add(Op::Concat, std::move(parts), {{Attr::axis, axis}});
}

TensorId OpWriter::reduce_sum(TensorId a, Integers axes, bool keepdims) {
  if (axes.empty()) return a;
  return add(Op::ReduceSum, {a}, {{Attr::axes, std::move(axes)}, {Attr::keepdims, std::int64_t{keepdims}}});
}

TensorId OpWriter::reduce_mean(TensorId a, Integers axes, bool keepdims) {
  if (axes.empty()) return a;
  return add(Op::ReduceMean, {a}, {{Attr::axes, std::move(axes)}, {Attr::keepdims, std::int64_t{keepdims}}});
}

TensorId OpWriter::sum_to(TensorId a, const Shape& target) {
  const Shape from = shape(a);
  if (from == target || builder_.failed()) return a;
  MONET_REQUIRE(target.size() <= from.size());
  const std::size_t lead = from.size() - target.size();
  Integers axes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i < lead || (target[i - lead] == 1 && from[i] != 1)) axes.push_back(static_cast<std::int64_t>(i));
  }
  return reshape(reduce_sum(a, std::move(axes), lead == 0), target);
}

}  // namespace monet
