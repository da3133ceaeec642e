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

// By tensor: the operators that read it, views looked through.
std::vector<std::vector<NodeId>> readers_of(const Graph& graph) {
  std::vector<std::vector<NodeId>> readers(graph.tensors().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (family_of(node.op) == OpFamily::view) continue;
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

// Of reading, or of writing, a byte of it: what its cheapest port takes, and all that its ports pass in a cycle.
struct StorageSide {
  double pj = 0;
  double bytes_per_cycle = 0;
};

StorageSide side_of(const Hardware& hardware, MemoryId store, bool reads) {
  const Memory& memory = hardware[store];
  StorageSide side{.pj = std::numeric_limits<double>::infinity()};
  for (const Port& port : memory.ports) {
    if (port.max_bits <= 0 || port.kind == (reads ? PortKind::write : PortKind::read)) continue;
    const double access = reads ? memory.read_pj : memory.write_pj;
    side.pj = std::min(side.pj, 8 * access / static_cast<double>(port.max_bits));
    side.bytes_per_cycle += port.bits_per_cycle() / 8;
  }
  if (side.pj == std::numeric_limits<double>::infinity()) side.pj = 0;
  return side;
}

double page_pj(const Hardware& hardware, MemoryId store, double bytes) {
  return bytes * (side_of(hardware, store, true).pj + side_of(hardware, store, false).pj);
}

// Of all storage, one side: the least energy of a byte, and the width of all together.
StorageSide best_side(const Hardware& hardware, bool reads) {
  StorageSide best;
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    if (hardware.memories[m].kind != MemoryKind::storage) continue;
    const StorageSide side = side_of(hardware, MemoryId(m), reads);
    if (side.bytes_per_cycle <= 0) continue;
    best.pj = best.bytes_per_cycle == 0 ? side.pj : std::min(best.pj, side.pj);
    best.bytes_per_cycle += side.bytes_per_cycle;
  }
  return best;
}

bool outlives_the_step(const Tensor& tensor) {
  const bool lasts =
      tensor.role == Role::weight || tensor.role == Role::master_weight || tensor.role == Role::optimizer_state;
  return lasts && !tensor.producer.valid();
}

class Bounding {
 public:
  Bounding(const ScheduledStep& step, std::span<const OperatorBound> operators, const MemorySpace& space)
      : step_(step), operators_(operators), space_(space) {}

  // Candidates that are alive together, if they are kept, when some operator of the backward part starts: the most.
  void find_together() {
    const Reachability reach(step_.graph);
    const auto readers = readers_of(step_.graph);
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
        // What the step begins with has been there where it was read.
        const bool was_there = producer.valid() ? before[producer.index()]
                                                : std::ranges::any_of(readers[tensor.index()],
                                                                      [&](NodeId r) { return before[r.index()]; });
        if (!was_there || !needed) continue;
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
      if (!step_.graph[space_.candidates()[i].tensor].producer.valid()) continue;
      made[step_.graph[space_.candidates()[i].tensor].producer] += space_.candidates()[i].bytes;
    }
    std::vector<Drop> drops;
    for (std::size_t i : alive_) {
      const MemoryCandidate& candidate = space_.candidates()[i];
      const auto size = static_cast<double>(candidate.bytes);
      const NodeId producer = step_.graph[candidate.tensor].producer;
      double least = std::numeric_limits<double>::infinity();
      for (const MemoryChoice& choice : candidate.choices) {
        if (!producer.valid() && choice.retention == Retention::page) {
          // Storage has it: it is only read again.
          least = std::min(least, energy ? size * side_of(step_.hardware, choice.memory, true).pj : 0.0);
        } else if (choice.retention == Retention::recompute) {
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

// What outlives the step and finds no room in memory when it begins is read from storage, and what is replaced and
// finds none when it ends is written there.
struct OutlivingTraffic {
  double read_bytes = 0, written_bytes = 0;
};

OutlivingTraffic outliving_traffic(const ScheduledStep& step, MemoryId memory, double room_bytes) {
  const auto readers = readers_of(step.graph);
  std::set<TensorId> replaced;
  for (std::size_t i = 0; i < step.graph.tensors().size(); ++i) {
    TensorId root(i);
    while (step.graph[root].updates.valid()) root = step.graph[root].updates;
    if (root != TensorId(i)) replaced.insert(root);
  }
  OutlivingTraffic traffic{.read_bytes = -room_bytes, .written_bytes = -room_bytes};
  for (const TensorStay& stay : step.schedule.home) {
    if (stay.memory != memory || !outlives_the_step(step.graph[stay.tensor])) continue;
    if (!readers[stay.tensor.index()].empty()) traffic.read_bytes += static_cast<double>(stay.bytes);
    if (replaced.contains(stay.tensor)) traffic.written_bytes += static_cast<double>(stay.bytes);
  }
  return {std::max(0.0, traffic.read_bytes), std::max(0.0, traffic.written_bytes)};
}

// Weights and optimizer state are there all the time, unless they may be paged.
std::int64_t static_bytes(const ScheduledStep& step, const MemorySpace& space, MemoryId memory) {
  std::int64_t sum = 0;
  std::vector<bool> may_go(step.graph.tensors().size(), false);
  for (const MemoryCandidate& candidate : space.candidates()) may_go[candidate.tensor.index()] = true;
  for (const TensorStay& stay : step.schedule.home) {
    const bool lasts = outlives_the_step(step.graph[stay.tensor]);
    if (stay.memory == memory && lasts && !may_go[stay.tensor.index()]) sum += stay.bytes;
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
  const StorageSide reads = best_side(step.hardware, true), writes = best_side(step.hardware, false);
  if (reads.bytes_per_cycle <= 0 || writes.bytes_per_cycle <= 0) return bound;
  const OutlivingTraffic traffic =
      outliving_traffic(step, memory, static_cast<double>(budget_bytes) + static_cast<double>(bound.on_chip_bytes));
  bound.energy_pj += traffic.read_bytes * reads.pj + traffic.written_bytes * writes.pj;
  bound.cycles = std::max(
      {bound.cycles, traffic.read_bytes / reads.bytes_per_cycle, traffic.written_bytes / writes.bytes_per_cycle});
  return bound;
}

}  // namespace monet
