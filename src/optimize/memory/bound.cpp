#include "optimize/memory/bound.h"

#include "evaluate/plan/dependencies.h"
#include "training/recompute.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace monet {

namespace {

// Operators before and after a given one.
class Reachability {
 public:
  explicit Reachability(const Graph& graph) : dependencies_(graph), after_(graph.nodes().size()) {
    for (std::size_t n = 0; n < after_.size(); ++n) {
      for (NodeId before : dependencies_.before(NodeId(n))) after_[before.index()].push_back(NodeId(n));
    }
  }

  std::vector<bool> before(NodeId node) const {
    return reached(node, [&](NodeId n) { return dependencies_.before(n); });
  }
  std::vector<bool> after(NodeId node) const {
    return reached(node, [&](NodeId n) { return std::span<const NodeId>(after_[n.index()]); });
  }

 private:
  template <class Next>
  std::vector<bool> reached(NodeId node, const Next& next) const {
    std::vector<bool> seen(after_.size(), false);
    std::vector<NodeId> open = {node};
    while (!open.empty()) {
      const NodeId at = open.back();
      open.pop_back();
      for (NodeId n : next(at)) {
        if (seen[n.index()]) continue;
        seen[n.index()] = true;
        open.push_back(n);
      }
    }
    return seen;
  }

  Dependencies dependencies_;
  std::vector<std::vector<NodeId>> after_;
};

// By tensor: the operators of later phases that read it, views looked through.
std::vector<std::vector<NodeId>> later_readers(const Graph& graph) {
  std::vector<std::vector<NodeId>> readers(graph.tensors().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (node.phase == Phase::forward || family_of(node.op) == OpFamily::view) continue;
    for (TensorId input : node.inputs) {
      if (!input.valid()) continue;
      for (TensorId stored : training::stored_behind(graph, input)) readers[stored.index()].push_back(NodeId(n));
    }
  }
  return readers;
}

struct Drop {
  double cost = 0;
  double bytes = 0;
};

// The least that it costs to drop so many bytes, by parts if need be; infinite: there are not so many.
double cheapest(std::vector<Drop> drops, double bytes) {
  std::ranges::sort(drops, [](const Drop& a, const Drop& b) { return a.cost * b.bytes < b.cost * a.bytes; });
  double cost = 0;
  for (const Drop& drop : drops) {
    if (bytes <= 0) break;
    const double part = std::min(1.0, bytes / drop.bytes);
    cost += part * drop.cost;
    bytes -= part * drop.bytes;
  }
  return bytes > 0 ? std::numeric_limits<double>::infinity() : cost;
}

double page_pj(const Hardware& hardware, MemoryId store, double bytes) {
  const Memory& memory = hardware[store];
  double read = std::numeric_limits<double>::infinity(), written = read;
  for (const Port& port : memory.ports) {
    if (port.max_bits <= 0) continue;
    if (port.kind != PortKind::write) read = std::min(read, memory.read_pj / static_cast<double>(port.max_bits));
    if (port.kind != PortKind::read) written = std::min(written, memory.write_pj / static_cast<double>(port.max_bits));
  }
  const double sum = read + written;
  return sum < std::numeric_limits<double>::infinity() ? 8 * bytes * sum : 0;
}

class Bounding {
 public:
  Bounding(const ScheduledStep& step, std::span<const OperatorBound> operators, const MemorySpace& space)
      : step_(step), operators_(operators), space_(space) {}

  // Candidates that are alive together, if they are kept, when some operator of the backward part starts: the most.
  void find_together() {
    const Reachability reach(step_.graph);
    const auto readers = later_readers(step_.graph);
    constexpr std::size_t most_tried = 256;
    std::size_t tried = 0;
    for (std::size_t n = 0; n < step_.graph.nodes().size() && tried < most_tried; ++n) {
      const Node& node = step_.graph.nodes()[n];
      if (node.phase == Phase::forward || family_of(node.op) == OpFamily::view) continue;
      ++tried;
      const std::vector<bool> before = reach.before(NodeId(n));
      const std::vector<bool> after = reach.after(NodeId(n));
      std::vector<std::size_t> alive;
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < space_.candidates().size(); ++i) {
        const TensorId tensor = space_.candidates()[i].tensor;
        const NodeId producer = step_.graph[tensor].producer;
        const bool needed = std::ranges::any_of(readers[tensor.index()], [&](NodeId r) { return after[r.index()]; });
        if (!producer.valid() || !before[producer.index()] || !needed) continue;
        alive.push_back(i);
        sum += space_.candidates()[i].bytes;
      }
      if (sum <= together_) continue;
      together_ = sum;
      alive_ = std::move(alive);
    }
  }

  std::int64_t together() const { return together_; }

  // Cycles on a set of cores, or energy: what `cost_of` an operator is.
  template <class CostOf>
  double cheapest_drop(double bytes, const CostOf& cost_of, bool energy) const {
    if (bytes <= 0) return 0;
    // An operator that makes several of them runs once more for all.
    std::map<NodeId, std::int64_t> made;
    for (std::size_t i : alive_) {
      made[step_.graph[space_.candidates()[i].tensor].producer] += space_.candidates()[i].bytes;
    }
    std::vector<Drop> drops;
    for (std::size_t i : alive_) {
      const MemoryCandidate& candidate = space_.candidates()[i];
      const auto size = static_cast<double>(candidate.bytes);
      const NodeId producer = step_.graph[candidate.tensor].producer;
      double least = std::numeric_limits<double>::infinity();
      for (const MemoryChoice& choice : candidate.choices) {
        if (choice.retention == Retention::recompute) {
          least = std::min(least, cost_of(operators_[producer.index()]) * size / static_cast<double>(made[producer]));
        } else if (choice.retention == Retention::page) {
          least = std::min(least, energy ? page_pj(step_.hardware, choice.memory, size) : 0.0);
        }
      }
      if (candidate.bytes > 0 && least < std::numeric_limits<double>::infinity()) drops.push_back({least, size});
    }
    const double cost = cheapest(std::move(drops), bytes);
    return cost < std::numeric_limits<double>::infinity() ? cost : 0;
  }

  // The work that can run on these cores alone, shared evenly, and what is dropped.
  double cycles(double bytes) const {
    std::set<std::vector<CoreId>> sets;
    for (const OperatorBound& bound : operators_) {
      if (!bound.cores.empty()) sets.insert(sorted(bound.cores));
    }
    double most = 0;
    for (const std::vector<CoreId>& cores : sets) {
      const auto work = [&](const OperatorBound& bound) {
        return !bound.cores.empty() && std::ranges::includes(cores, sorted(bound.cores)) ? bound.core_cycles : 0.0;
      };
      double sum = 0;
      for (const OperatorBound& bound : operators_) sum += work(bound);
      sum += cheapest_drop(bytes, work, false);
      most = std::max(most, sum / static_cast<double>(cores.size()));
    }
    return most;
  }

 private:
  static std::vector<CoreId> sorted(std::vector<CoreId> cores) {
    std::ranges::sort(cores);
    return cores;
  }

  const ScheduledStep& step_;
  std::span<const OperatorBound> operators_;
  const MemorySpace& space_;
  std::int64_t together_ = 0;
  std::vector<std::size_t> alive_;
};

// Weights and optimizer state are there all the time, unless they may be paged.
std::int64_t static_bytes(const ScheduledStep& step, const MemorySpace& space, MemoryId memory) {
  std::int64_t sum = 0;
  std::vector<bool> may_go(step.graph.tensors().size(), false);
  for (const MemoryCandidate& candidate : space.candidates()) may_go[candidate.tensor.index()] = true;
  for (const TensorStay& stay : step.schedule.home) {
    const Tensor& tensor = step.graph[stay.tensor];
    const bool lasts =
        tensor.role == Role::weight || tensor.role == Role::master_weight || tensor.role == Role::optimizer_state;
    if (stay.memory == memory && lasts && !tensor.producer.valid() && !may_go[stay.tensor.index()]) sum += stay.bytes;
  }
  return sum;
}

}  // namespace

MemoryBound memory_bound(const ScheduledStep& step, const RoutedMachine& machine,
                         std::span<const OperatorBound> operators, const MemorySpace& space, MemoryId memory,
                         std::int64_t budget_bytes) {
  const Bounds as_it_is = bounds_of(step, operators);
  MemoryBound bound{.cycles = as_it_is.cycles, .energy_pj = as_it_is.pj};
  for (std::size_t m = 0; m < step.hardware.memories.size(); ++m) {
    const MemoryId other(m);
    if (machine.is_backing(other)) continue;
    bound.on_chip_bytes += machine.capacity_bytes(other);
  }
  Bounding bounding(step, operators, space);
  bounding.find_together();
  bound.together_bytes = bounding.together() + static_bytes(step, space, memory);
  const double excess = static_cast<double>(bound.together_bytes) - static_cast<double>(bound.on_chip_bytes) -
                        static_cast<double>(budget_bytes);
  bound.cycles = std::max(bound.cycles, bounding.cycles(excess));
  bound.energy_pj += bounding.cheapest_drop(excess, [](const OperatorBound& b) { return b.pj; }, true);
  return bound;
}

}  // namespace monet
