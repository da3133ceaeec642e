// Random graphs of elementwise operators, views, products and reductions.
#pragma once

#include "graph/builder.h"

#include <random>

namespace monet::test {

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed), builder_("random") {}

  // With 5 to 40 nodes; every tensor that nothing reads is an output.
  Expected<Graph> make() {
    for (int i = 0; i < 3; ++i) values_.push_back(builder_.input("x" + std::to_string(i), shape(1 + below(4))));
    const std::int64_t nodes = 5 + below(36);
    for (std::int64_t i = 0; i < nodes; ++i) values_.push_back(add("n" + std::to_string(i)));
    const Readers readers(builder_.graph());
    for (TensorId id : values_) {
      if (readers.of(id).empty()) builder_.output(id);
    }
    return builder_.finish();
  }

 private:
  using Integers = std::vector<std::int64_t>;

  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(limit)); }
  Shape shape(std::int64_t rank) {
    Shape result;
    for (std::int64_t i = 0; i < rank; ++i) result.push_back(1 + below(4));
    return result;
  }
  TensorId any() { return values_[static_cast<std::size_t>(below(static_cast<std::int64_t>(values_.size())))]; }

  TensorId add(const std::string& name) {
    const TensorId x = any();
    const Shape from = builder_.shape(x);
    const auto rank = static_cast<std::int64_t>(from.size());
    switch (below(9)) {
      case 0: return unary(name, x);
      case 1: return binary(name, x, from);
      case 2: return builder_.add(Op::Reshape, name, {x}, {{Attr::shape, regrouped(from)}});
      case 3: return builder_.add(Op::Transpose, name, {x}, {{Attr::perm, permutation(rank)}});
      case 4: return slice(name, x, from);
      case 5: return builder_.add(Op::Concat, name, {x, x}, {{Attr::axis, below(rank)}});
      case 6: return rank < 2 ? unary(name, x) : product(name, x, from);
      case 7: {
        const Op op = below(2) == 0 ? Op::ReduceMean : Op::ReduceMax;
        return builder_.add(op, name, {x}, {{Attr::axes, Integers{below(rank)}}, {Attr::keepdims, std::int64_t{1}}});
      }
      default: return builder_.add(Op::Softmax, name, {x}, {{Attr::axes, Integers{rank - 1}}});
    }
  }

  TensorId unary(const std::string& name, TensorId x) {
    static constexpr Op ops[] = {Op::Relu, Op::Tanh, Op::Sigmoid, Op::Neg, Op::Abs, Op::Silu};
    return builder_.add(ops[below(std::size(ops))], name, {x});
  }

  // With a parameter of the same shape but for axes that broadcast.
  TensorId binary(const std::string& name, TensorId x, Shape other) {
    static constexpr Op ops[] = {Op::Add, Op::Sub, Op::Mul, Op::Max};
    for (std::int64_t& size : other) size = below(3) == 0 ? 1 : size;
    other.erase(other.begin(), other.begin() + below(static_cast<std::int64_t>(other.size())));
    const TensorId parameter = builder_.parameter(name + ".p", other);
    return builder_.add(ops[below(std::size(ops))], name, {x, parameter});
  }

  Shape regrouped(const Shape& from) {
    Shape to = {1};
    for (std::int64_t size : from) {
      if (below(2) == 0) {
        to.back() *= size;
      } else {
        to.push_back(size);
      }
    }
    return to;
  }

  Integers permutation(std::int64_t rank) {
    Integers order;
    for (std::int64_t i = 0; i < rank; ++i) order.insert(order.begin() + below(i + 1), i);
    return order;
  }

  TensorId slice(const std::string& name, TensorId x, Shape to) {
    const auto axis = static_cast<std::size_t>(below(static_cast<std::int64_t>(to.size())));
    const std::int64_t start = below(to[axis]);
    to[axis] = 1 + below(to[axis] - start);
    return builder_.add(Op::Slice, name, {x},
                        {{Attr::axes, Integers{static_cast<std::int64_t>(axis)}},
                         {Attr::starts, Integers{start}},
                         {Attr::steps, Integers{1}},
                         {Attr::shape, to}});
  }

  TensorId product(const std::string& name, TensorId x, const Shape& from) {
    const std::int64_t transposed = below(2);
    const std::int64_t columns = 1 + below(4);
    const Shape sizes = transposed != 0 ? Shape{columns, from.back()} : Shape{from.back(), columns};
    const TensorId weight = builder_.parameter(name + ".w", sizes);
    return builder_.add(Op::MatMul, name, {x, weight},
                        {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, transposed}, {Attr::alpha, 1.0}});
  }

  std::mt19937 random_;
  GraphBuilder builder_;
  std::vector<TensorId> values_;
};

}  // namespace monet::test
