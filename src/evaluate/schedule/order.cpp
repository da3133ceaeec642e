#include "evaluate/schedule/order.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace monet {

namespace {

class Ranker {
 public:
  Ranker(const Graph& graph, const Dependencies& dependencies, const RoutedMachine& machine,
         const Assignment& assignment, const TileGraph& tiles, std::span<const double> cycles)
      : graph_(graph),
        dependencies_(dependencies),
        machine_(machine),
        assignment_(assignment),
        tiles_(tiles),
        cycles_(cycles) {}

  std::vector<std::uint32_t> run() {
    rank_.assign(tiles_.tiles(), unknown);
    for (std::uint32_t stack : stack_order()) {
      const std::vector<NodeId>& nodes = assignment_.stacks[stack];
      std::size_t computing = 0;
      for (NodeId node : nodes) computing += tiles_.operators[node.index()].count > 0 ? 1 : 0;
      if (computing <= 1) {
        for (NodeId node : nodes) emit_all(node);
        continue;
      }
      find_waits(nodes);
      // From the last operator back: each brings what it needs and is not there yet.
      std::vector<NodeId> sinks = sinks_of(stack);
      for (std::size_t i = 0; interleave(sinks, i, stack); ++i) {
      }
      for (NodeId node : nodes) emit_all(node);
    }
    return std::move(rank_);
  }

 private:
  static constexpr std::uint32_t unknown = 0xffffffffU;

  // Tiles that read a value which an operator replaces; those before `next` have a rank.
  struct Reader {
    NodeId replacer;
    std::uint32_t next, last;
  };

  std::vector<std::uint32_t> stack_order() const {
    const std::size_t count = assignment_.stacks.size();
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    if (assignment_.order != PlanOrder::critical_path) return order;
    const CoreId core = only_core();
    if (core.valid() && !keeps_all(machine_[core])) return order_on_one_core();
    std::vector<double> own(count, 0), length(count, 0), stated(count, 0);
    for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
      const OperatorTiles& op = tiles_.operators[n];
      if (op.count == 0) continue;
      double sum = 0;
      for (std::uint32_t i = 0; i < op.count; ++i) sum += cycles_[op.first + i];
      const OperatorAssignment& assigned = assignment_.operators[n];
      own[assigned.stack] += sum / static_cast<double>(std::max<std::size_t>(1, assigned.cores.size()));
      stated[assigned.stack] = std::max(stated[assigned.stack], assigned.priority);
    }
    // Stacks stand in an order in which they can run: what reads comes later.
    const auto stack_of = [&](NodeId node) { return assignment_.operators[node.index()].stack; };
    std::vector<double> after(count, 0);  // longest way from what reads it
    for (std::size_t s = count; s-- > 0;) {
      length[s] = own[s] + after[s];
      for (NodeId node : assignment_.stacks[s]) {
        for (NodeId maker : dependencies_.before(node)) {
          const std::uint32_t before = stack_of(maker);
          if (before != s) after[before] = std::max(after[before], length[s]);
        }
      }
    }
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(stated[a], length[a]) > std::tuple(stated[b], length[b]);
    });
    return order;
  }

  // The core that runs everything; not valid: there are several.
  CoreId only_core() const {
    CoreId only;
    for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
      if (tiles_.operators[n].count == 0) continue;
      for (CoreId core : assignment_.operators[n].cores) {
        if (only.valid() && core != only) return {};
        only = core;
      }
    }
    return only;
  }

  // All that is made before the updates fits on chip, so that nothing leaves it in any order.
  bool keeps_all(const CorePlaces& core) const {
    const MemoryId memory = core.local[static_cast<std::size_t>(Path::output)];
    if (!memory.valid()) return true;  // nothing is ever on chip
    std::int64_t bytes = 0;
    for (const Buffer& buffer : tiles_.buffers) {
      if (buffer.maker.valid() && graph_[tiles_.node[buffer.maker.index()]].phase != Phase::optimizer) {
        bytes += buffer.bytes;
      }
    }
    return bytes <= machine_.capacity_bytes(memory);
  }

  // Nothing runs meanwhile, so no way is longer than another: what has just been made is used while it is on chip.
  // Updates come where their gradient is made, all else in the order of the graph.
  std::vector<std::uint32_t> order_on_one_core() const {
    const std::size_t count = assignment_.stacks.size();
    std::vector<std::uint32_t> order(count), follows(count);
    std::vector<double> stated(count, 0);
    std::iota(order.begin(), order.end(), 0U);
    for (std::uint32_t s = 0; s < count; ++s) {
      follows[s] = s;
      bool updates = true;
      std::uint32_t last = 0;
      for (NodeId node : assignment_.stacks[s]) {
        stated[s] = std::max(stated[s], assignment_.operators[node.index()].priority);
        updates = updates && graph_[node].phase == Phase::optimizer;
        for (NodeId maker : dependencies_.before(node)) {
          const std::uint32_t before = assignment_.operators[maker.index()].stack;
          if (before != s) last = std::max(last, follows[before]);
        }
      }
      if (updates) follows[s] = last;
    }
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(stated[b], follows[a], a) < std::tuple(stated[a], follows[b], b);
    });
    return order;
  }

  std::vector<NodeId> sinks_of(std::uint32_t stack) const {
    std::vector<bool> read(dependencies_.nodes(), false);
    for (NodeId node : assignment_.stacks[stack]) {
      for (NodeId maker : dependencies_.before(node)) read[maker.index()] = true;
    }
    std::vector<NodeId> sinks;
    for (NodeId node : assignment_.stacks[stack]) {
      if (!read[node.index()] && tiles_.operators[node.index()].count > 0) sinks.push_back(node);
    }
    return sinks;
  }

  // What tiles of the stack wait for beside what they read: the tile before that adds to the same buffer, and all
  // tiles that read a value which they replace.
  void find_waits(const std::vector<NodeId>& nodes) {
    readers_.clear();
    for (NodeId node : nodes) {
      const OperatorTiles& op = tiles_.operators[node.index()];
      const std::uint32_t first = tiles_.first_write[op.first];
      const std::uint32_t last = tiles_.first_write[op.first + op.count];
      for (std::uint32_t w = first; w < last; ++w) {
        if (!tiles_.writes[w].final) last_writer_.resize(tiles_.buffers.size());
      }
      for (std::uint32_t i = 0; i < op.count && !last_writer_.empty(); ++i) {
        const TileId tile(op.first + i);
        for (std::uint32_t w = tiles_.first_write[tile.index()]; w < tiles_.first_write[tile.index() + 1]; ++w) {
          const TileWrite& write = tiles_.writes[w];
          if (before_.empty()) before_.resize(tiles_.writes.size());
          if (write.adds) before_[w] = last_writer_[write.buffer.index()];
          last_writer_[write.buffer.index()] = tile;
        }
      }
      for (TensorId output : graph_[node].outputs) {
        if (output.valid() && graph_[output].updates.valid()) find_readers(nodes, node, graph_[output].updates);
      }
    }
  }

  void find_readers(const std::vector<NodeId>& nodes, NodeId replacer, TensorId old) {
    for (NodeId node : nodes) {
      const OperatorTiles& op = tiles_.operators[node.index()];
      if (node == replacer || op.count == 0) continue;
      const auto reads = std::span(tiles_.reads)
                             .subspan(tiles_.first_read[op.first],
                                      tiles_.first_read[op.first + op.count] - tiles_.first_read[op.first]);
      const bool reads_it = std::ranges::any_of(
          reads, [&](const TileRead& read) { return tiles_.buffers[read.buffer.index()].tensor == old; });
      if (reads_it) readers_.push_back({replacer, op.first, op.first + op.count});
    }
  }

  // The i-th tile of each sink; false: none has so many.
  bool interleave(const std::vector<NodeId>& sinks, std::size_t i, std::uint32_t stack) {
    bool any = false;
    for (NodeId node : sinks) {
      const OperatorTiles& op = tiles_.operators[node.index()];
      if (i >= op.count) continue;
      any = true;
      emit(TileId(op.first + i), stack);
    }
    return any;
  }

  void emit_all(NodeId node) {
    const OperatorTiles& op = tiles_.operators[node.index()];
    for (std::uint32_t i = 0; i < op.count; ++i) {
      if (rank_[op.first + i] == unknown) rank_[op.first + i] = next_++;
    }
  }

  // The tile, after all tiles of the stack that it needs.
  void emit(TileId tile, std::uint32_t stack) {
    open_.assign(1, {tile, 0});
    while (!open_.empty()) {
      auto& [current, read] = open_.back();
      if (rank_[current.index()] != unknown) {
        open_.pop_back();
        continue;
      }
      const TileId needed = next_needed(current, read, stack);
      if (needed.valid()) {
        open_.emplace_back(needed, 0U);
        continue;
      }
      rank_[current.index()] = next_++;
      open_.pop_back();
    }
  }

  // A tile of the stack that `tile` needs and that has no rank yet; `position` goes on from call to call.
  TileId next_needed(TileId tile, std::uint32_t& position, std::uint32_t stack) {
    const auto reads = tiles_.reads_of(tile);
    for (; position < reads.size(); ++position) {
      const TileId maker = tiles_.buffers[reads[position].buffer.index()].maker;
      if (!maker.valid() || rank_[maker.index()] != unknown) continue;
      if (assignment_.operators[tiles_.node[maker.index()].index()].stack == stack) return maker;
    }
    for (std::uint32_t w = tiles_.first_write[tile.index()]; w < tiles_.first_write[tile.index() + 1]; ++w) {
      if (tiles_.writes[w].adds && rank_[before_[w].index()] == unknown) return before_[w];
    }
    for (Reader& reader : readers_) {
      if (reader.replacer != tiles_.node[tile.index()]) continue;
      while (reader.next < reader.last && rank_[reader.next] != unknown) ++reader.next;
      if (reader.next < reader.last) return TileId(reader.next);
    }
    return {};
  }

  const Graph& graph_;
  const Dependencies& dependencies_;
  const RoutedMachine& machine_;
  const Assignment& assignment_;
  const TileGraph& tiles_;
  std::span<const double> cycles_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::pair<TileId, std::uint32_t>> open_;
  std::vector<TileId> last_writer_;  // by buffer; empty: no tile adds
  std::vector<TileId> before_;       // by write that adds: the tile before
  std::vector<Reader> readers_;      // of values that the stack replaces
  std::uint32_t next_ = 0;
};

}  // namespace

std::vector<std::uint32_t> tile_order(const Graph& graph, const Dependencies& dependencies,
                                      const RoutedMachine& machine, const Assignment& assignment,
                                      const TileGraph& tiles, std::span<const double> cycles) {
  return Ranker(graph, dependencies, machine, assignment, tiles, cycles).run();
}

}  // namespace monet
