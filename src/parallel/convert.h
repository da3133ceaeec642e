// Writes one chip's step: tensors in the places they are made in, and collectives where they are wanted in others.
#pragma once

#include "parallel/split.h"

#include <map>
#include <tuple>
#include <unordered_set>

namespace monet::parallel {

class StepWriter {
 public:
  // Keeps references.
  StepWriter(const Graph& before, const AxisPlan& plan);

  const Place& place(TensorId before) const { return at_[before.index()]; }
  // A tensor that comes from outside the step.
  void add_source(TensorId before, const Place& place);
  // One chip's node. `cut`: also what it needs of its inputs.
  Status add_node(const Node& node, const struct Cut& cut);
  // Where it must be once it is made: it replaces something, or the step gives it.
  std::optional<Place> final_place(TensorId before) const;
  bool is_made(TensorId before, const Place& place, Phase phase) const;

  AxisResult finish();

 private:
  using Key = std::tuple<TensorId, Spread, std::size_t, std::int64_t, int>;
  Key key(TensorId before, const Place& place, Phase phase) const;
  Expected<TensorId> as(TensorId before, const Place& wanted, Phase phase);
  Expected<TensorId> converted(TensorId before, const Place& to, Phase phase, std::string name);
  std::optional<TensorId> viewed(TensorId before, Phase phase, const std::string& name);
  std::optional<TensorId> made_locally(TensorId before, const Place& to, Phase phase, const std::string& name);
  Expected<TensorId> own_pieces(TensorId before, const Place& to, Phase phase, const std::string& name);
  TensorId exchange(Op op, TensorId input, TensorType type, Phase phase, const std::string& name, Role role,
                    Attributes attributes);
  TensorId append(Op op, std::vector<TensorId> inputs, TensorType type, Phase phase, const std::string& name, Role role,
                  Attributes attributes);
  std::string unique(std::string name);

  const Graph& before_;
  const AxisPlan& plan_;
  AxisResult result_;
  std::vector<TensorId> made_;  // by tensor before
  std::vector<Place> at_;
  std::vector<bool> is_output_;
  std::unordered_set<std::string> names_;  // of tensors
  std::unordered_set<std::string> node_names_;
  std::map<Key, TensorId> converted_;
};

}  // namespace monet::parallel
