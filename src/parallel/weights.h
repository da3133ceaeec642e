// Parameters behind what operators read: casts and views of them.
#pragma once

#include "parallel/place.h"

#include <optional>
#include <unordered_set>

namespace monet::parallel {

class Weights {
 public:
  // Keeps the reference.
  explicit Weights(const Graph& graph);

  // The parameter that a tensor is a cast or a view of; not valid: it is none.
  TensorId parameter_behind(TensorId id) const;
  // What a tensor is a cast or a view of.
  TensorId origin(TensorId id) const;
  // Which of the two operands of a product is its weight.
  std::optional<std::size_t> weight_of(const Node& node) const;
  // The place of a parameter from which `wanted` of its cast or view `used` follows.
  std::optional<Place> place_behind(TensorId parameter, TensorId used, const Place& wanted, std::int64_t chips) const;

 private:
  bool is_stored(TensorId id) const;
  std::optional<Place> place_after(TensorId parameter, TensorId used, const Place& place, std::int64_t chips) const;

  const Graph& graph_;
  std::unordered_set<TensorId> is_input_;
};

}  // namespace monet::parallel
