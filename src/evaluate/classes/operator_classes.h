// Operators by content: those that are alike in all that their loops, tiles and costs depend on have one number, in one
// graph and over many. What follows from a content is worked out once and kept by its number.
#pragma once

#include "graph/graph.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace monet {

// Numbers 0, 1, … for keys: equal ones, equal numbers.
class OperatorClassTable {
 public:
  std::uint32_t of(std::string_view key);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const;
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> numbers_;
};

// The classes of one graph's operators: op, attributes, types and roles of inputs and outputs, which inputs are one
// tensor, the indices of a gather where they are known, and the views behind the inputs down to what is stored. No
// names, no phase, and of ids only their order where one input shows several stored tensors.
class OperatorClasses {
 public:
  // Cost: linear in what the operators read, views composed.
  OperatorClasses(const Graph& graph, OperatorClassTable& numbers);

  std::uint32_t operator[](NodeId node) const { return classes_[node.index()]; }
  // The stored tensors behind an input of an operator that is no view: each once, in the order of the graph.
  std::span<const TensorId> stored(NodeId node, std::size_t input) const {
    const std::size_t at = first_input_[node.index()] + input;
    return std::span(stored_).subspan(first_stored_[at], first_stored_[at + 1] - first_stored_[at]);
  }

 private:
  std::vector<std::uint32_t> classes_;       // by node
  std::vector<std::uint32_t> first_input_;   // by node: inputs of all nodes in a row
  std::vector<std::uint32_t> first_stored_;  // by input, and one more
  std::vector<TensorId> stored_;
};

// A value for each content, as far as they are known. References to values stay good.
template <class T>
class ByOperatorClass {
 public:
  // Null: not known.
  const T* find(std::uint32_t content) const { return content < values_.size() ? values_[content].get() : nullptr; }
  const T& add(std::uint32_t content, T value) {
    if (content >= values_.size()) values_.resize(content + 1);
    values_[content] = std::make_unique<const T>(std::move(value));
    return *values_[content];
  }
  template <class Make>
  const T& find_or_make(std::uint32_t content, const Make& make) {
    const T* known = find(content);
    return known != nullptr ? *known : add(content, make());
  }

 private:
  std::vector<std::unique_ptr<const T>> values_;
};

}  // namespace monet
