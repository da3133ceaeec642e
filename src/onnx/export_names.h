// Names in the file that is written: those of the graph, and new ones that differ from all of them.
#pragma once

#include "graph/graph.h"
#include "onnx/encode.h"

#include <fmt/format.h>

#include <deque>
#include <unordered_map>

namespace monet::onnx {

class Names {
 public:
  explicit Names(const Graph& graph) {
    used_.reserve(2 * (graph.tensors().size() + graph.nodes().size()));
    for (const Node& node : graph.nodes()) used_.emplace(node.name, 1);
    for (const Tensor& tensor : graph.tensors()) used_.emplace(tensor.name, 1);
    used_.emplace("", 1);
    tensors_.reserve(graph.tensors().size());
    // An empty name would say that there is no tensor.
    for (const Tensor& tensor : graph.tensors())
      tensors_.push_back(tensor.name.empty() ? fresh("tensor") : Text(tensor.name));
  }

  Text operator[](TensorId id) const { return tensors_[id.index()]; }
  // Another name for a tensor from here on.
  void rename(TensorId id, Text name) { tensors_[id.index()] = name; }

  // `wanted`, or with a number that makes it unique; lives as long as this object. A name that is wanted n times costs
  // n steps.
  Text fresh(std::string wanted) {
    const auto found = used_.find(wanted);
    if (found == used_.end()) return keep(std::move(wanted));
    for (int& last = found->second;;) {  // stays where it is when the table grows
      std::string candidate = fmt::format("{}#{}", wanted, ++last);
      if (!used_.contains(candidate)) return keep(std::move(candidate));
    }
  }

 private:
  Text keep(std::string name) {
    const Text kept = made_.emplace_back(std::move(name));
    used_.emplace(kept, 1);
    return kept;
  }

  std::deque<std::string> made_;
  std::unordered_map<Text, int> used_;  // with the last number added
  std::vector<Text> tensors_;
};

}  // namespace monet::onnx
