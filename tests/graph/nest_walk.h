// Walks through a nest point by point, as its header defines it: for tests against brute force.
#pragma once

#include "base/checked.h"
#include "graph/infer.h"
#include "graph/nests.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <random>

namespace monet {

// An operator with its types, all inferred.
struct Sample {
  Op op;
  Attributes attributes;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;

  static Sample of(Op op, Attributes attributes, const std::vector<Shape>& shapes) {
    Sample sample{op, std::move(attributes), {}, {}};
    for (const Shape& shape : shapes) sample.inputs.push_back({shape, {}});
    const auto types = sample.inferred();
    EXPECT_TRUE(types.has_value()) << (types ? "" : types.error().message);
    if (types) sample.outputs = *types;
    return sample;
  }
  static std::vector<const TensorType*> pointers(const std::vector<TensorType>& types) {
    std::vector<const TensorType*> result;
    for (const TensorType& type : types) result.push_back(&type);
    return result;
  }
  Expected<Types> inferred() const { return infer({op, attributes, pointers(inputs)}); }
  OperatorSite site() const { return {op, attributes, pointers(inputs), pointers(outputs)}; }
  OperatorNests nests() const { return nests_of(site()); }
  Counts counts() const {
    const auto total = operation_counts(nests());
    EXPECT_TRUE(total.has_value());
    return total ? *total : Counts{};
  }
};

inline const Shape& operand_shape(const Sample& sample, const OperatorNests& nests, const Access& access) {
  switch (access.kind) {
    case OperandKind::input: return sample.inputs[access.operand].shape;
    case OperandKind::output: return sample.outputs[access.operand].shape;
    default: return nests.scratch[access.operand].shape;
  }
}

inline Shape position(const Access& access, const Shape& point) {
  Shape result;
  for (const AxisIndex& axis : access.axes) {
    std::int64_t sum = axis.offset;
    for (const Term& term : axis.terms) sum += term.factor * point[term.loop];
    result.push_back(floor_divide(sum, axis.divisor));
  }
  return result;
}

inline bool inside(const Shape& shape, const Shape& index) {
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (index[i] < 0 || index[i] >= shape[i]) return false;
  }
  return true;
}

template <class Visit>
void for_each_point(const Nest& nest, const Visit& visit) {
  Shape sizes;
  for (const Loop& loop : nest.loops) sizes.push_back(loop.size);
  for (IndexCounter point(sizes); point.more(); point.next()) visit(point.index());
}

// Every access has as many axes as its operand and stays inside it at every point, but for operands `may_pad` names.
template <class MayPad>
void expect_inside(const Sample& sample, const MayPad& may_pad) {
  const OperatorNests nests = sample.nests();
  for (const Nest& nest : nests.nests) {
    std::vector<Access> accesses = nest.reads;
    accesses.insert(accesses.end(), nest.writes.begin(), nest.writes.end());
    for (const Access& access : accesses) {
      const Shape& shape = operand_shape(sample, nests, access);
      ASSERT_EQ(access.axes.size(), shape.size());
      if (may_pad(access)) continue;
      for_each_point(nest, [&](const Shape& point) { ASSERT_TRUE(inside(shape, position(access, point))); });
    }
  }
}

inline std::vector<Array> random_values(const Sample& sample, std::mt19937& random) {
  std::uniform_int_distribution<int> value(-4, 4);
  std::vector<Array> arrays;
  for (const TensorType& type : sample.inputs) {
    arrays.push_back(Array::zeros(type.shape));
    for (double& element : arrays.back().values) element = value(random);
  }
  return arrays;
}

// Sum of products along the first nest, which reads inputs and accumulates into output 0.
inline Array products(const Sample& sample, const std::vector<Array>& values) {
  const Nest nest = sample.nests().nests.front();
  Array result = Array::zeros(sample.outputs[0].shape);
  for_each_point(nest, [&](const Shape& point) {
    double term = 1;
    for (const Access& read : nest.reads) {
      const Array& array = values[read.operand];
      const Shape at = position(read, point);
      term *= inside(array.shape, at) ? array.values[static_cast<std::size_t>(offset(array.shape, at))] : 0.0;
    }
    const Shape at = position(nest.writes[0], point);
    if (inside(result.shape, at)) result.values[static_cast<std::size_t>(offset(result.shape, at))] += term;
  });
  return result;
}

inline Array executed(const Sample& sample, const std::vector<Array>& values) {
  std::vector<const Array*> arrays;
  for (const Array& array : values) arrays.push_back(&array);
  const auto inputs = Sample::pointers(sample.inputs);
  const auto outputs = Sample::pointers(sample.outputs);
  auto results = execute({sample.op, sample.attributes, arrays, inputs, outputs});
  EXPECT_TRUE(results.has_value());
  return results ? results->front() : Array{};
}

// What the first nest says is what the interpreter does. Small integers, so that sums are exact in any order.
inline void expect_same_products(const Sample& sample, std::mt19937& random) {
  const std::vector<Array> values = random_values(sample, random);
  EXPECT_EQ(products(sample, values).values, executed(sample, values).values);
}

}  // namespace monet
