// Quantized copies of tensors, each made once for all products that can read it.
#pragma once

#include "training/insertions.h"
#include "training/quantized.h"
#include "training/quantized_views.h"

#include <map>
#include <set>
#include <tuple>

namespace monet::training {

enum class OperandClass : std::uint8_t { weight, activation, gradient };

class QuantizedCopies {
 public:
  QuantizedCopies(Insertions& graph, Copies copies) : graph_(graph), copies_(copies) {}

  // What the node of that index reads in place of an operand. `any_groups`: an earlier copy with other groups will do.
  TensorId operand(std::size_t node, const Source& source, const OperandFormat& wanted, OperandClass kind,
                   bool any_groups);

  // A copy that is there because tensors are stored so: counted with those of its class.
  void count(OperandClass kind, TensorId copy);
  void count_tensor(OperandClass kind, TensorId tensor) { read_[static_cast<std::size_t>(kind)].insert(tensor); }

  // Weights that nothing replaces and of which only copies are read are stored as these: the weight itself in the
  // format of the first copy, those of other formats beside it. Nothing is quantized in the step then.
  void store_fixed_weights();

  // Weights of which products read copies, in the order of these.
  const std::map<TensorId, std::vector<TensorId>>& masters() const { return masters_; }
  const QuantizedClass& summary(OperandClass kind);

 private:
  struct Copy {
    TensorId tensor;
    std::size_t before = 0;  // the node before which it is made
    Phase phase = Phase::forward;
  };
  // The tensor, the copy's format and rounding, and, where copies are made anew, the part of the step.
  using Key = std::tuple<TensorId, std::string, Rounding, Phase>;

  Copy copy_of(std::size_t node, const Source& source, const OperandFormat& wanted, OperandClass kind, bool any_groups);
  Copy make(std::size_t node, const Source& source, const OperandFormat& wanted, OperandClass kind);
  TensorId view_of(const Copy& copy, const Source& source);

  Insertions& graph_;
  Copies copies_;
  std::map<Key, Copy> made_;
  std::map<std::tuple<TensorId, std::string, Phase>, Copy> first_made_;  // by tensor and the format's name
  std::map<TensorId, std::size_t> first_use_;
  std::map<std::pair<TensorId, NodeId>, TensorId> views_;
  std::map<TensorId, std::vector<TensorId>> masters_;
  std::set<TensorId> read_[3];
  QuantizedClass summaries_[3] = {{.name = "weights"}, {.name = "activations"}, {.name = "gradients"}};
};

// Bytes of a tensor that fill its groups up.
std::int64_t padding_bytes(const TensorType& type);

}  // namespace monet::training
