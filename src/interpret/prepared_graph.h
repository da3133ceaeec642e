// A graph made ready to be run many times.
#pragma once

#include "interpret/interpret.h"

#include <memory>

namespace monet {

class PreparedGraph {
 public:
  // `kept`: tensors whose values are wanted after a run. All others are given up after their last reader.
  static Expected<PreparedGraph> prepare(Graph graph, const std::vector<TensorId>& kept);

  const Graph& graph() const { return graph_; }

  // `values`: one for each tensor of the graph. What no node makes and is not a known constant must be there; it stays.
  // Afterwards those of `kept` are there too. Fails as run() does.
  Status run(std::vector<Array>& values, const RunOptions& options) const;

  // Elements that all nodes of a run make.
  std::int64_t elements() const;
  // Elements of all tensors that exist at one moment, at most.
  std::int64_t peak_elements() const;

 private:
  // A node that is defined by simpler ones (is_composite), as these, prepared once.
  struct Composite {
    std::shared_ptr<const PreparedGraph> program;
    std::vector<TensorId> inputs;  // by input of the node
    std::vector<TensorId> outputs;
  };

  Expected<Composite> expansion_of(const Node& node) const;
  Expected<std::vector<Array>> results_of(std::size_t node, std::span<const Array* const> inputs,
                                          const RunOptions& options) const;

  Graph graph_;
  std::vector<Composite> composites_;                // by node; without a program: an operator of its own
  std::vector<std::vector<TensorId>> last_read_by_;  // by node: tensors that are given up after it
};

}  // namespace monet
