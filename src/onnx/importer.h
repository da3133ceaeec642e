// Turns a flat list of ONNX nodes into a graph: binds dimensions, folds what is known, asks the rule of each operator.
#pragma once

#include "graph/role_choice.h"
#include "onnx/flatten.h"
#include "onnx/node_import.h"
#include "onnx/provenance.h"
#include "onnx/rebatch.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace monet::onnx {

// Sizes for what the file leaves open.
struct Bindings {
  std::unordered_map<std::string, std::int64_t> symbols;
  std::optional<std::int64_t> batch;  // first axis of the data inputs, whatever the file says
  RoleChoice roles;                   // what the user says is trained is not folded
};

class Importer {
 public:
  // `record`, if given, receives the shapes at which a fixed batch may be baked in; `correction`, if given, replaces
  // such constants.
  Importer(const FlatModel& model, std::string folder, const Bindings& bindings, BatchRecord* record,
           const BatchCorrection* correction);

  Expected<Graph> run();
  // Tensors that are initializers of the file; valid after run().
  const std::unordered_set<TensorId>& initializers() const { return initializers_; }
  static constexpr std::size_t most_warnings = 10'000;
  std::vector<std::string> warnings;
  std::size_t merged_initializers = 0;  // that the exporter had merged with another; they are apart again

 private:
  friend class NodeImport;

  // What a name in the file stands for: a tensor of the graph, a known value, a sequence, or an initializer of which
  // nothing has been asked yet. Constants become tensors when somebody reads them as such.
  struct Value {
    TensorId tensor;
    std::optional<Constant> constant;
    const RawTensor* initializer = nullptr;
    bool values_asked = false;  // the initializer's values were looked for
    bool is_sequence = false;
    std::vector<TensorId> sequence;
  };

  Status add_initializers();
  Status add_inputs();
  Status add_outputs();
  // `index` is the node's position in the model; nothing for one inside a branch.
  Status import_node(const FlatNode& flat, std::optional<std::size_t> index);
  // Control flow that shapes decide: the branch taken, the turns of a loop one after the other.
  Status import_branch(const FlatNode& conditional);
  Status import_loop(const FlatNode& loop);
  Status import_turn(const FlatNode& loop, const RawGraph& body, std::int64_t turn, std::vector<Value>& state,
                     std::vector<std::vector<TensorId>>& stacked);
  Expected<std::vector<Value>> import_subgraph(const RawNode& owner, std::int64_t version, const RawGraph& graph,
                                               std::vector<Value> arguments);
  Expected<bool> known_condition(const RawNode& node, const Value& value);
  bool undo_merge(const RawNode& node);
  void record_batch_site(NodeImport& node, const RawNode& raw, std::size_t index);
  void correct_batch(NodeImport& node, std::size_t index);

  Value* find(Text name);
  Value& define(Text name);
  Expected<TensorId> tensor_of(Text name);
  const Constant* constant_of(Value& value);
  // The value of a tensor that folding may use: not of one among the initializers that may be trained.
  const Constant* foldable(TensorId id) const;
  bool may_be_trained(Text name, const Constant& value) const;
  // What the file says of a value between nodes, or of an output; null: nothing.
  const RawValue* declared(Text name);
  std::optional<Shape> declared_shape(Text name);
  std::string unique_node_name(std::string name);
  // Adds a tensor under that name, or one made unique from it.
  TensorId add_tensor(std::string name, TensorType type, Role role);

  const FlatModel& model_;
  const Signature signature_;
  std::string folder_;
  const Bindings& bindings_;
  BatchRecord* record_;
  const BatchCorrection* correction_;

  Graph graph_;
  std::unordered_map<Text, std::uint32_t> index_of_;
  std::deque<Value> values_;                                 // never move
  std::unordered_map<Text, const RawValue*> declared_;       // filled when first asked
  std::deque<std::string> inner_names_;                      // storage of names in branches and loops
  std::unordered_map<std::string, std::size_t> node_names_;  // with the last number added to make one unique
  std::unordered_map<std::string, std::size_t> tensor_names_;
  std::unordered_set<Text> output_names_;
  std::unordered_set<TensorId> initializers_;                      // that are in the graph
  std::int64_t fold_budget_ = std::int64_t{1} << 24;               // elements; bounds time and memory spent on folding
  std::size_t sequence_elements_ = 0;                              // of all sequences together
  std::vector<std::unordered_map<Text, Text>> scopes_;             // new names in the branches and loops being imported
  std::unordered_map<const RawTensor*, Text> inner_initializers_;  // of branches and loops, under their new names
  std::size_t subgraph_nodes_ = 0;                                 // imported in place of control flow, all turns
  std::optional<std::vector<std::int64_t>> corrected_target_;      // of the node being imported
};

// The rule for an operator, or null.
ImportRule find_rule(std::string_view domain, std::string_view op_type);

}  // namespace monet::onnx
