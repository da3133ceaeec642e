// Small random graphs for questions about tiles: chains of operators with views between them.
#pragma once

#include "graph/builder.h"

#include <random>

namespace monet::test {

class TileCase {
 public:
  explicit TileCase(unsigned seed) : random_(seed), builder_("case") {}

  // A few operators of one kind, each followed by views and by something that reads through them.
  Expected<Graph> make();

 private:
  using Integers = std::vector<std::int64_t>;

  std::int64_t below(std::int64_t limit) { return static_cast<std::int64_t>(random_() % static_cast<unsigned>(limit)); }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  std::string name() { return "n" + std::to_string(count_++); }
  const Shape& shape(TensorId id) const { return builder_.shape(id); }
  Shape random_shape(std::size_t rank, std::int64_t most);
  TensorId add(Op op, std::vector<TensorId> inputs, Attributes attributes = {}) {
    return builder_.add(op, name(), std::move(inputs), std::move(attributes));
  }
  TensorId input(Shape shape) { return builder_.input(name(), std::move(shape)); }

  TensorId elementwise(TensorId x);
  TensorId view(TensorId x);
  TensorId views(TensorId x);
  TensorId reshape(TensorId x);
  TensorId slice(TensorId x);
  TensorId gather(TensorId x);
  TensorId reduction(TensorId x);
  TensorId softmax(TensorId x);
  TensorId product(TensorId x);
  TensorId any_operator(TensorId x);

  Attributes window(std::size_t spatial, const Shape& kernel, std::int64_t group);
  void convolutions();
  void pools();
  void norms();
  void products();
  void einsums();
  void attention();
  void movements();
  void chain();

  std::mt19937 random_;
  GraphBuilder builder_;
  int count_ = 0;
};

}  // namespace monet::test
