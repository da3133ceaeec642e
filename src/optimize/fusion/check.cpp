#include "optimize/fusion/check.h"

#include "evaluate/machine/machine.h"
#include "graph/nests.h"
#include "mapping/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

namespace monet::fusion {

namespace {

class Checking {
 public:
  Checking(const Graph& graph, const Hardware& hardware, const Rules& rules,
           std::span<const std::vector<NodeId>> stacks, std::span<const StoredWidth> element_bits)
      : graph_(graph), hardware_(hardware), machine_(hardware), rules_(rules), stacks_(stacks), bits_(element_bits) {}

  std::string run() {
    if (std::string fault = cover(); !fault.empty()) return fault;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) find_makers(NodeId(n));
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      std::set<NodeId> counted;
      for (NodeId node : stacks_[s]) {
        if (counts(node)) counted.insert(node);
      }
      if (counted.size() < 2) continue;
      const std::string fault = rules(counted);
      if (!fault.empty()) return fmt::format("stack {} ({}, …): {}", s, graph_[*counted.begin()].name, fault);
    }
    return order();
  }

 private:
  bool view(NodeId id) const { return family_of(graph_[id].op) == OpFamily::view; }
  bool counts(NodeId id) const {
    static const std::set<Op> passed{Op::Sum, Op::Gather, Op::Pad, Op::Fill, Op::Range, Op::EyeLike};
    return !view(id) && !(rules_.published && passed.contains(graph_[id].op));
  }

  std::string cover() {
    for (std::size_t s = 0; s < stacks_.size(); ++s) {
      for (NodeId node : stacks_[s]) {
        if (!stack_of_.emplace(node, s).second) return fmt::format("{} is in two stacks", graph_[node].name);
      }
    }
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (counts(NodeId(n)) && !stack_of_.contains(NodeId(n)))
        return fmt::format("{} is in no stack", graph_.nodes()[n].name);
    }
    return {};
  }

  // The operators whose results reach an operator, and through which tensors of their own.
  void find_makers(NodeId id) {
    if (!counts(id)) return;
    std::set<TensorId> met;
    std::deque<TensorId> open(graph_[id].inputs.begin(), graph_[id].inputs.end());
    for (; !open.empty(); open.pop_front()) {
      const TensorId tensor = open.front();
      if (!tensor.valid() || !met.insert(tensor).second || !graph_[tensor].producer.valid()) continue;
      const NodeId maker = graph_[tensor].producer;
      if (counts(maker)) {
        readers_[maker].insert(id);
        if (element_count(graph_[tensor].type.shape) > 1) {
          joined_[id].insert(maker);
          joined_[maker].insert(id);
        }
      } else {
        open.insert(open.end(), graph_[maker].inputs.begin(), graph_[maker].inputs.end());
      }
    }
  }

  std::string rules(const std::set<NodeId>& stack) {
    if (stack.size() > rules_.limit) return fmt::format("{} operators", stack.size());
    std::size_t convolutions = 0, transposed = 0, products = 0, leaving = 0;
    for (NodeId id : stack) {
      const Op op = graph_[id].op;
      convolutions += op == Op::Conv ? 1 : 0;
      transposed += op == Op::ConvTranspose ? 1 : 0;
      products += op == Op::ConvWeightGrad || family_of(op) == OpFamily::contraction ? 1 : 0;
      leaving += std::ranges::includes(stack, readers_[id]) ? 0 : 1;
    }
    if (convolutions > rules_.convolutions) return fmt::format("{} convolutions", convolutions);
    if (transposed > rules_.transposed) return fmt::format("{} transposed convolutions", transposed);
    if (products > rules_.products) return fmt::format("{} products", products);
    if (products > 0 && convolutions + transposed > rules_.convolutions_with_product)
      return fmt::format("{} convolutions beside a product", convolutions + transposed);
    if (leaving > rules_.leaving) return fmt::format("{} operators have readers outside", leaving);
    if (!in_one_piece(stack)) return "not connected";
    if (rules_.divisible_tilings) {
      for (NodeId a : stack) {
        for (NodeId b : stack) {
          const std::int64_t more = std::max(tiles(a), tiles(b)), fewer = std::min(tiles(a), tiles(b));
          if (more % fewer != 0) return fmt::format("tiles of {} and {}", graph_[a].name, graph_[b].name);
        }
      }
    }
    return rules_.weights_fit ? weights(stack) : std::string();
  }

  bool in_one_piece(const std::set<NodeId>& stack) {
    std::set<NodeId> reached{*stack.begin()};
    std::deque<NodeId> open{*stack.begin()};
    for (; !open.empty(); open.pop_front()) {
      for (NodeId next : joined_[open.front()]) {
        if (stack.contains(next) && reached.insert(next).second) open.push_back(next);
      }
    }
    return reached.size() == stack.size();
  }

  std::int64_t tiles(NodeId id) const {
    const Node& node = graph_[id];
    const Shape out = graph_[node.outputs[0]].type.shape;
    const Shape in = !node.inputs.empty() && node.inputs[0].valid() ? graph_[node.inputs[0]].type.shape : out;
    const auto axis = [](const Shape& shape, std::int64_t a) {
      const auto rank = static_cast<std::int64_t>(shape.size());
      if (a < 0) a += rank;
      return a >= 0 && a < rank ? std::max<std::int64_t>(1, shape[static_cast<std::size_t>(a)]) : 1;
    };
    switch (family_of(node.op)) {
      case OpFamily::convolution:
        if (node.op == Op::ConvWeightGrad) return axis(out, 0);
        return node.op == Op::ConvTranspose ? axis(in, 2) : axis(out, 2);
      case OpFamily::pool: return node.op == Op::AveragePoolGrad ? axis(in, 2) : axis(out, 2);
      case OpFamily::contraction: return axis(out, -2);
      case OpFamily::reduction: return axis(in, -2);
      default: return out.size() == 1 ? axis(out, 0) : axis(out, 1);
    }
  }

  std::string weights(const std::set<NodeId>& stack) const {
    for (std::size_t c = 0; c < hardware_.cores.size(); ++c) {
      const Core& core = hardware_.cores[c];
      const MemoryId top = machine_[CoreId(c)].local[static_cast<std::size_t>(Path::weight)];
      if (!top.valid()) continue;
      const auto alike = static_cast<std::int64_t>(machine_.cores_of_kind(machine_[CoreId(c)].kind).size());
      std::int64_t held = 0;
      for (NodeId id : stack) {
        const OpFamily family = family_of(graph_[id].op);
        if (family != OpFamily::contraction && family != OpFamily::convolution) continue;
        if (!runs(core, id)) continue;
        held += graph_[id].op == Op::Conv ? weight_bytes(id) : (weight_bytes(id) + alike - 1) / alike;
      }
      const std::int64_t room = machine_.capacity_bytes(top);
      if (held > room) return fmt::format("{} bytes of weights on {}, which has {}", held, core.name, room);
    }
    return {};
  }

  bool runs(const Core& core, NodeId id) const {
    std::vector<Counts> counts;
    for (const Nest& nest : nests_of(site_of(graph_, graph_[id])).nests) counts.push_back(nest.per_point);
    return cannot_run(core, graph_[id].op, std::span<const Counts>(counts)).empty();
  }

  std::int64_t weight_bytes(NodeId id) const {
    std::int64_t bytes = 0;
    for (TensorId input : graph_[id].inputs) {
      if (!input.valid()) continue;
      TensorId base = input;
      while (graph_[base].producer.valid() && view(graph_[base].producer))
        base = graph_[graph_[base].producer].inputs[0];
      const Role role = graph_[base].role;
      if (role != Role::weight && role != Role::master_weight) continue;
      const StoredWidth width = rules_.published ? StoredWidth(8) : bits_[input.index()];
      bytes += width.bytes(element_count(graph_[input].type.shape));
    }
    return bytes;
  }

  std::set<TensorId> stored_inputs(NodeId id) const {
    std::set<TensorId> stored, met;
    std::deque<TensorId> open(graph_[id].inputs.begin(), graph_[id].inputs.end());
    for (; !open.empty(); open.pop_front()) {
      if (!open.front().valid() || !met.insert(open.front()).second) continue;
      const NodeId maker = graph_[open.front()].producer;
      if (maker.valid() && view(maker)) {
        open.insert(open.end(), graph_[maker].inputs.begin(), graph_[maker].inputs.end());
      } else {
        stored.insert(open.front());
      }
    }
    return stored;
  }

  // Operators as they depend on each other, those of a stack made one: a ring is left where nothing is ready.
  std::string order() {
    const std::size_t nodes = graph_.nodes().size();
    const auto place = [&](NodeId id) {
      const auto found = stack_of_.find(id);
      return found != stack_of_.end() ? nodes + found->second : id.index();
    };
    std::map<std::size_t, std::set<std::size_t>> after;
    std::map<std::size_t, std::size_t> waits;
    const auto add = [&](NodeId before, NodeId then) {
      const std::size_t a = place(before), b = place(then);
      if (a != b && after[a].insert(b).second) ++waits[b];
    };
    std::map<TensorId, NodeId> replaced;
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.updates.valid() && tensor.producer.valid()) replaced[tensor.updates] = tensor.producer;
    }
    std::set<std::size_t> places;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (view(NodeId(n))) continue;
      places.insert(place(NodeId(n)));
      for (TensorId stored : stored_inputs(NodeId(n))) {
        if (graph_[stored].producer.valid()) add(graph_[stored].producer, NodeId(n));
        const auto found = replaced.find(stored);
        if (found != replaced.end() && found->second != NodeId(n)) add(NodeId(n), found->second);
      }
    }
    std::deque<std::size_t> ready;
    for (std::size_t p : places) {
      if (waits[p] == 0) ready.push_back(p);
    }
    std::size_t done = 0;
    for (; !ready.empty(); ready.pop_front(), ++done) {
      for (std::size_t next : after[ready.front()]) {
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
    return done == places.size() ? std::string() : "stacks wait for each other";
  }

  const Graph& graph_;
  const Hardware& hardware_;
  RoutedMachine machine_;
  const Rules& rules_;
  std::span<const std::vector<NodeId>> stacks_;
  std::span<const StoredWidth> bits_;
  std::map<NodeId, std::size_t> stack_of_;
  std::map<NodeId, std::set<NodeId>> readers_, joined_;
};

}  // namespace

std::string check_stacks(const Graph& graph, const Hardware& hardware, const Rules& rules,
                         std::span<const std::vector<NodeId>> stacks, std::span<const StoredWidth> element_bits) {
  return Checking(graph, hardware, rules, stacks, element_bits).run();
}

}  // namespace monet::fusion
