#include "evaluate/classes/operator_classes.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <variant>

namespace monet {

namespace {

// Text that says all of a content: every part has a fixed size or says how long it is.
class ContentKey {
 public:
  void clear() { text_.clear(); }
  std::string_view text() const { return text_; }

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::uint32_t>(values.size()));
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }
  void add(const std::string& text) {
    add(static_cast<std::uint32_t>(text.size()));
    text_ += text;
  }
  void add(const TensorType& type) {
    add(type.shape);
    add(type.format.element);
    add(type.format.scale_bits);
    if (type.format.scale_bits == 0) return;
    add(type.format.group_axis);
    add(type.format.group_size);
    add(type.format.group_rows);
    add(type.format.grouping);
    add(type.format.scale);
    add(type.format.subscale_bits);
    add(type.format.subgroup_size);
    add(type.format.tensor_scale_bits);
  }
  void add(const Attributes& attributes) {
    add(static_cast<std::uint8_t>(std::distance(attributes.begin(), attributes.end())));
    for (const auto& [name, value] : attributes) {
      add(name);
      add(static_cast<std::uint8_t>(value.index()));
      std::visit([this](const auto& v) { add(v); }, value);
    }
  }
  void add(const Constant& constant) {
    add(constant.shape);
    add(constant.pattern);
    add(constant.diagonal);
    add(static_cast<std::uint8_t>(constant.values.index()));
    std::visit([this](const auto& v) { add(v); }, constant.values);
  }

 private:
  std::string text_;
};

class ContentReader {
 public:
  explicit ContentReader(const Graph& graph) : graph_(graph), met_(graph.tensors().size()) {}

  // Leaves in `stored` what is behind its inputs, and in `first` where each of them begins.
  std::string_view read(const Node& node, std::vector<TensorId>& stored, std::vector<std::uint32_t>& first) {
    const bool view = family_of(node.op) == OpFamily::view;
    key_.clear();
    key_.add(node.op);
    key_.add(node.attributes);
    key_.add(static_cast<std::uint32_t>(node.inputs.size()));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      first.push_back(static_cast<std::uint32_t>(stored.size()));
      const TensorId id = node.inputs[i];
      key_.add(id.valid());
      if (!id.valid()) continue;
      key_.add(graph_[id].role);
      key_.add(graph_[id].type);
      if (!view) add_stored(id, stored);
    }
    add_equal_inputs(node);
    if (node.op == Op::Gather && node.inputs.size() > 1) {
      const Constant* indices = graph_.constant(node.inputs[1]);
      key_.add(indices != nullptr);
      if (indices != nullptr) key_.add(*indices);
    }
    key_.add(static_cast<std::uint32_t>(node.outputs.size()));
    for (TensorId id : node.outputs) {
      key_.add(id.valid());
      if (!id.valid()) continue;
      key_.add(graph_[id].role);
      key_.add(graph_[id].type);
    }
    return key_.text();
  }

 private:
  struct Met {
    std::uint32_t walk = 0;
    std::uint32_t number = 0;
  };

  bool is_view(TensorId id) const {
    const NodeId producer = graph_[id].producer;
    return producer.valid() && family_of(graph_[producer].op) == OpFamily::view;
  }

  // Whether the tensor is met for the first time on this walk.
  bool meet(TensorId id, std::uint32_t number) {
    Met& met = met_[id.index()];
    if (met.walk == walk_) return false;
    met = {walk_, number};
    return true;
  }

  // By input: the first one that is the same tensor.
  void add_equal_inputs(const Node& node) {
    ++walk_;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid() || meet(id, static_cast<std::uint32_t>(i))) continue;
      key_.add(static_cast<std::uint32_t>(i));
      key_.add(met_[id.index()].number);
    }
    key_.add(~std::uint32_t{0});
  }

  // The views behind an input, and what they show.
  void add_stored(TensorId input, std::vector<TensorId>& stored) {
    key_.add(is_view(input));
    if (!is_view(input)) {
      stored.push_back(input);
      return;
    }
    const std::size_t begin = stored.size();
    ++walk_;
    std::uint32_t count = 0;
    open_.assign(1, input);
    while (!open_.empty()) {
      const TensorId id = open_.back();
      open_.pop_back();
      const bool again = !meet(id, count);
      key_.add(again);
      if (again) {
        key_.add(met_[id.index()].number);
        continue;
      }
      ++count;
      key_.add(graph_[id].type.shape);
      key_.add(is_view(id));
      if (is_view(id)) {
        add_view(id);
      } else {
        stored.push_back(id);
      }
    }
    add_order(stored, begin);
  }

  void add_view(TensorId id) {
    const Node& node = graph_[graph_[id].producer];
    key_.add(node.op);
    key_.add(node.attributes);
    key_.add(static_cast<std::uint32_t>(std::ranges::find(node.outputs, id) - node.outputs.begin()));
    key_.add(static_cast<std::uint32_t>(std::ranges::count_if(node.inputs, &TensorId::valid)));
    for (std::size_t i = node.inputs.size(); i-- > 0;) {
      if (node.inputs[i].valid()) open_.push_back(node.inputs[i]);
    }
  }

  // Sorts what the walk has met, and notes where each of it goes.
  void add_order(std::vector<TensorId>& stored, std::size_t begin) {
    if (stored.size() - begin <= 1) return;
    met_order_.assign(stored.begin() + static_cast<std::ptrdiff_t>(begin), stored.end());
    std::sort(stored.begin() + static_cast<std::ptrdiff_t>(begin), stored.end());
    for (std::size_t i = begin; i < stored.size(); ++i) {
      met_[stored[i].index()].number = static_cast<std::uint32_t>(i - begin);
    }
    for (TensorId id : met_order_) key_.add(met_[id.index()].number);
  }

  const Graph& graph_;
  ContentKey key_;
  std::uint32_t walk_ = 0;
  std::vector<Met> met_;  // by tensor: on which walk it was met last, and as which
  std::vector<TensorId> open_, met_order_;
};

}  // namespace

std::size_t OperatorClassTable::Hash::operator()(std::string_view key) const {
  return XXH3_64bits(key.data(), key.size());
}

std::uint32_t OperatorClassTable::of(std::string_view key) {
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(numbers_.size());
  numbers_.emplace(key, number);
  return number;
}

OperatorClasses::OperatorClasses(const Graph& graph, OperatorClassTable& numbers) {
  ContentReader reader(graph);
  classes_.reserve(graph.nodes().size());
  first_input_.reserve(graph.nodes().size());
  for (const Node& node : graph.nodes()) {
    first_input_.push_back(static_cast<std::uint32_t>(first_stored_.size()));
    classes_.push_back(numbers.of(reader.read(node, stored_, first_stored_)));
  }
  first_stored_.push_back(static_cast<std::uint32_t>(stored_.size()));
}

}  // namespace monet
