#include "parallel/tensor_parallel.h"

#include "parallel/cut.h"
#include "parallel/weights.h"

#include <algorithm>
#include <map>
#include <set>

namespace monet::parallel {

namespace {

constexpr std::array<std::int64_t, 7> tried_blocks = {1, 2, 3, 4, 6, 8, 12};

// Weights from which a region's places follow, and what it needs of them.
struct Region {
  std::map<TensorId, Place> places;  // of what is computed in it
  std::map<TensorId, Place> stored;
  std::vector<NodeId> first, last;
  std::vector<NodeId> biased;
};

class Search {
 public:
  Search(const Graph& graph, std::int64_t chips) : graph_(graph), chips_(chips), readers_(graph), weights_(graph) {
    for (TensorId id : graph.inputs) is_input_.insert(id);
    for (TensorId id : graph.outputs) is_output_.insert(id);
    trains_ = std::ranges::any_of(graph.nodes(), [](const Node& node) { return node.phase != Phase::forward; });
  }

  TensorParallel run() {
    std::map<TensorId, std::vector<NodeId>> by_activation;  // in the order of the graph: ids grow along it
    std::vector<TensorId> order;
    for (std::size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Node& node = graph_.nodes()[i];
      const auto weight = weight_of(node);
      if (node.phase != Phase::forward || !weight) continue;
      const TensorId from = origin(node.inputs[1 - *weight]);
      auto& all = by_activation[from];
      if (all.empty()) order.push_back(from);
      all.emplace_back(i);
    }
    for (TensorId from : order) {
      std::vector<NodeId> all = by_activation[from];
      std::erase_if(all, [&](NodeId id) { return assigned_.contains(id); });
      if (all.empty() || take(all) || all.size() == 1) continue;
      for (NodeId id : all) take({id});
    }
    take_tables();
    for (const auto& [from, all] : by_activation) {
      for (NodeId id : all) {
        if (!assigned_.contains(id) && !take_head(id)) result_.rest.push_back(graph_[id].name);
      }
    }
    add_states(graph_, chips_, result_.stored);
    return std::move(result_);
  }

 private:
  const Shape& shape(TensorId id) const { return graph_[id].type.shape; }

  TensorId parameter_behind(TensorId id) const { return weights_.parameter_behind(id); }
  TensorId origin(TensorId id) const { return weights_.origin(id); }
  std::optional<std::size_t> weight_of(const Node& node) const { return weights_.weight_of(node); }

  bool take(const std::vector<NodeId>& products) {
    for (const std::int64_t blocks : tried_blocks) {
      auto region = grow(products, blocks);
      if (!region) continue;
      for (const auto& [id, place] : region->stored) result_.stored.emplace(graph_[id].name, place);
      for (NodeId id : region->first) result_.first.push_back(graph_[id].name);
      for (NodeId id : region->last) result_.last.push_back(graph_[id].name);
      for (NodeId id : region->biased) result_.in_parts.push_back(graph_[id].name);
      assigned_.insert(region->first.begin(), region->first.end());
      assigned_.insert(region->last.begin(), region->last.end());
      return true;
    }
    return false;
  }

  // Tables that numbers in the step's inputs choose rows of, and the gradients of those rows.
  void take_tables() {
    for (const Node& node : graph_.nodes()) {
      if (node.op != Op::Gather || node.phase != Phase::forward || !is_input_.contains(origin(node.inputs[1])))
        continue;
      const TensorId table = parameter_behind(node.inputs[0]);
      if (!table.valid() || shape(node.inputs[0]).size() < 2) continue;
      const Place rows = Place::sharded(static_cast<std::size_t>(node.attributes.integer(Attr::axis)));
      Region region;
      if (!fits(shape(node.inputs[0]), rows, chips_) || !store(region, table, node.inputs[0], rows)) {
        result_.whole_tables.push_back(graph_[table].name);
        continue;
      }
      for (const auto& [id, place] : region.stored) result_.stored.emplace(graph_[id].name, place);
      result_.tables.push_back(graph_[table].name);
      for (const Node& other : graph_.nodes()) {
        const bool own = other.op == Op::GatherGrad && origin(other.inputs[1]) == origin(node.inputs[1]) &&
                         other.attributes.integers(Attr::shape) == shape(node.inputs[0]) &&
                         other.attributes.integer(Attr::axis) == node.attributes.integer(Attr::axis);
        if (own) result_.rows.emplace(graph_[other.outputs[0]].name, rows);
      }
    }
  }

  // A product whose columns are the classes of a loss, which sums over them; without a loss, those of a result.
  bool take_head(NodeId id) {
    const Node& node = graph_[id];
    const auto axis = column_axis(node);
    if (!axis || !fits(shape(node.outputs[0]), Place::sharded(*axis), chips_)) return false;
    const auto own = cut(graph_, node, chips_, {.output = true, .operand = 0, .place = Place::sharded(*axis)});
    Region region;
    std::set<NodeId> open;
    if (!own || !join(region, node, *own) || !give(region, open, node, *own, true)) return false;
    bool meets_loss = false;
    while (!open.empty()) {
      const NodeId next = *open.begin();
      open.erase(open.begin());
      if (is_loss_along(next, region)) {
        meets_loss = true;
      } else if (weight_of(graph_[next]) || !grow_by(region, open, next, true)) {
        return false;
      }
    }
    const bool is_result =
        std::ranges::any_of(region.places, [&](const auto& at) { return is_output_.contains(at.first); });
    if (!meets_loss && (trains_ || !is_result)) return false;
    for (const auto& [stored, place] : region.stored) result_.stored.emplace(graph_[stored].name, place);
    result_.heads.push_back(node.name);
    assigned_.insert(id);
    return true;
  }

  // A loss over classes, whose scores are cut along them.
  bool is_loss_along(NodeId id, const Region& region) const {
    const Node& node = graph_[id];
    if (node.op != Op::SoftmaxCrossEntropyLoss && node.op != Op::NegativeLogLikelihoodLoss) return false;
    const auto found = region.places.find(node.inputs[0]);
    return found != region.places.end() &&
           std::cmp_equal(found->second.axis, node.attributes.integer_or(Attr::axis, 1));
  }

  // The axis of a product's result along which its weight's columns lie.
  std::optional<std::size_t> column_axis(const Node& node) const {
    const std::size_t weight = *weight_of(node);
    const OperatorNests nests = nests_of(site_of(graph_, node));
    const Nest& nest = nests.nests.front();
    const auto uses = [&](std::size_t operand, std::uint8_t loop) {
      return std::ranges::any_of(nest.reads, [&](const Access& access) {
        return access.kind == OperandKind::input && access.operand == operand &&
               std::ranges::any_of(access.axes, [&](const AxisIndex& index) {
                 return std::ranges::any_of(index.terms, [&](const Term& term) { return term.loop == loop; });
               });
      });
    };
    const Access& write = nest.writes.front();
    for (std::size_t axis = 0; axis < write.axes.size(); ++axis) {
      for (const Term& term : write.axes[axis].terms) {
        const bool is_column = uses(weight, term.loop) && !uses(1 - weight, term.loop);
        if (is_column && nest.loops[term.loop].size > 1) return axis;
      }
    }
    return std::nullopt;
  }

  std::optional<Region> grow(const std::vector<NodeId>& products, std::int64_t blocks) const {
    Region region;
    std::set<NodeId> open;
    for (NodeId id : products) {
      const Node& node = graph_[id];
      const auto axis = column_axis(node);
      if (!axis || assigned_.contains(id)) return std::nullopt;
      const Place place = Place::sharded(*axis, blocks);
      if (!fits(shape(node.outputs[0]), place, chips_)) return std::nullopt;
      const auto own = cut(graph_, node, chips_, {.output = true, .operand = 0, .place = place});
      if (!own || !join(region, node, *own) || !give(region, open, node, *own)) return std::nullopt;
      region.first.push_back(id);
    }
    while (!open.empty()) {
      const NodeId id = *open.begin();
      open.erase(open.begin());
      if (std::ranges::find(region.first, id) != region.first.end()) return std::nullopt;
      if (!grow_by(region, open, id)) return std::nullopt;
    }
    if (region.last.empty()) return std::nullopt;
    return region;
  }

  bool grow_by(Region& region, std::set<NodeId>& open, NodeId id, bool to_outputs = false) const {
    const Node& node = graph_[id];
    std::size_t from = 0;
    while (!node.inputs[from].valid() || !region.places.contains(node.inputs[from])) ++from;
    const Seed seed{.operand = from, .place = region.places.at(node.inputs[from])};
    const auto weight = weight_of(node);
    if (!weight || assigned_.contains(id)) {
      const auto own = cut(graph_, node, chips_, seed);
      return own && !has_partial(*own) && join(region, node, *own) && give(region, open, node, *own, to_outputs);
    }
    Node plain = node;
    const bool biased = node.inputs.size() > 2 && node.inputs[2].valid() && node.op != Op::Einsum;
    if (biased) plain.inputs.resize(2);
    const auto own = cut(graph_, plain, chips_, seed);
    if (!own || !join(region, plain, *own)) return false;
    if (!has_partial(*own)) return !biased && give(region, open, plain, *own);
    region.last.push_back(id);
    if (biased) region.biased.push_back(id);
    return true;
  }

  static bool has_partial(const Cut& cut) {
    return std::ranges::any_of(cut.outputs, [](const Place& place) { return place.is_partial(); });
  }

  // What the cut needs of its inputs is there, or can be stored so.
  bool join(Region& region, const Node& node, const Cut& own) const {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (!id.valid()) continue;
      if (const auto found = region.places.find(id); found != region.places.end()) {
        if (found->second != own.inputs[i]) return false;
        continue;
      }
      if (own.inputs[i].is_whole() || graph_.constant(id) != nullptr) continue;
      const TensorId parameter = parameter_behind(id);
      if (!parameter.valid() || !store(region, parameter, id, own.inputs[i])) return false;
    }
    return true;
  }

  bool store(Region& region, TensorId parameter, TensorId used, const Place& wanted) const {
    const auto place = weights_.place_behind(parameter, used, wanted, chips_);
    if (!place) return false;
    const auto [entry, fresh] = region.stored.emplace(parameter, *place);
    const auto before = result_.stored.find(graph_[parameter].name);
    return entry->second == *place && (before == result_.stored.end() || before->second == *place);
  }

  // `to_outputs`: what the step gives may be in pieces.
  bool give(Region& region, std::set<NodeId>& open, const Node& node, const Cut& own, bool to_outputs = false) const {
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const TensorId id = node.outputs[i];
      if (!id.valid() || own.outputs[i].is_whole()) continue;
      if (graph_[id].updates.valid()) {
        const auto kept = region.stored.find(graph_[id].updates);
        if (kept == region.stored.end() || kept->second != own.outputs[i]) return false;
      }
      if (is_output_.contains(id) && !to_outputs) return false;
      region.places.emplace(id, own.outputs[i]);
      for (NodeId reader : readers_.of(id)) {
        if (graph_[reader].phase == Phase::forward) open.insert(reader);
      }
    }
    return true;
  }

  const Graph& graph_;
  std::int64_t chips_;
  Readers readers_;
  Weights weights_;
  std::set<TensorId> is_input_, is_output_;
  bool trains_ = false;
  std::set<NodeId> assigned_;
  TensorParallel result_;
};

}  // namespace

void add_states(const Graph& step, std::int64_t chips, Places& stored) {
  Places states;
  for (const Tensor& tensor : step.tensors()) {
    const bool state = tensor.role == Role::optimizer_state || tensor.role == Role::weight_gradient ||
                       tensor.role == Role::master_weight;
    if (tensor.producer.valid() || !state) continue;
    for (std::size_t end = tensor.name.rfind('.'); end != std::string::npos && end > 0;
         end = tensor.name.rfind('.', end - 1)) {
      const auto found = stored.find(tensor.name.substr(0, end));
      if (found == stored.end()) continue;
      if (fits(tensor.type.shape, found->second, chips)) states.emplace(tensor.name, found->second);
      break;
    }
  }
  stored.merge(states);
}

TensorParallel tensor_parallel(const Graph& step, std::int64_t chips) { return Search(step, chips).run(); }

}  // namespace monet::parallel
