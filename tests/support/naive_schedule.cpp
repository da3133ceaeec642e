#include "support/naive_schedule.h"

#include "base/checked.h"
#include "graph/nests.h"
#include "hardware/reader.h"
#include "interpret/interpret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace monet::test {

namespace {

constexpr double tensor_step = 1ULL << 32U;  // elements of a tensor are numbered from (its number * tensor_step) on

bool is_view(const Graph& graph, NodeId node) { return family_of(graph[node].op) == OpFamily::view; }
bool is_stored(const Graph& graph, TensorId id) {
  return !graph[id].producer.valid() || !is_view(graph, graph[id].producer);
}

// By tensor, where each of its elements is stored: numbers pass through the interpreter's views.
std::vector<Array> stored_elements(const Graph& graph) {
  std::vector<Array> numbers(graph.tensors().size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!is_stored(graph, TensorId(i))) continue;
    numbers[i] = Array::zeros(graph[TensorId(i)].type.shape);
    for (std::size_t e = 0; e < numbers[i].values.size(); ++e) {
      numbers[i].values[e] = static_cast<double>(i) * tensor_step + static_cast<double>(e);
    }
  }
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const Node& node = graph[NodeId(n)];
    if (!is_view(graph, NodeId(n))) continue;
    std::vector<const Array*> inputs;
    std::vector<const TensorType*> input_types, output_types;
    for (TensorId id : node.inputs) {
      inputs.push_back(&numbers[id.index()]);
      input_types.push_back(&graph[id].type);
    }
    for (TensorId id : node.outputs) output_types.push_back(id.valid() ? &graph[id].type : nullptr);
    auto results = execute({node.op, node.attributes, inputs, input_types, output_types});
    EXPECT_TRUE(results.has_value());
    for (std::size_t o = 0; o < node.outputs.size(); ++o) {
      if (node.outputs[o].valid()) numbers[node.outputs[o].index()] = (*results)[o];
    }
  }
  return numbers;
}

class NaiveTiles {
 public:
  NaiveTiles(const Graph& graph, const Assignment& assignment)
      : graph_(graph), assignment_(assignment), stored_(stored_elements(graph)), owner_(graph.tensors().size()) {}

  TileGraph make() {
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) make_grid(NodeId(n));
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) make_buffers(TensorId(t));
    result_.first_buffer.push_back(static_cast<std::uint32_t>(result_.buffers.size()));
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (result_.operators[n].count > 0) make_reads(NodeId(n));
    }
    result_.first_read.push_back(static_cast<std::uint32_t>(result_.reads.size()));
    result_.first_write.push_back(static_cast<std::uint32_t>(result_.writes.size()));
    return std::move(result_);
  }

 private:
  static bool follows(const OperatorNests& nests, Dim loop) {
    for (const Nest& nest : nests.nests) {
      for (const Access& write : nest.writes) {
        for (const AxisIndex& axis : write.axes) {
          for (const Term& term : axis.terms) {
            if (write.kind == OperandKind::output && nest.loops[term.loop].name == loop) return true;
          }
        }
      }
    }
    return false;
  }

  void make_grid(NodeId node) {
    OperatorTiles grid;
    grid.first = static_cast<std::uint32_t>(result_.node.size());
    const OperatorNests nests = nests_of(site_of(graph_, graph_[node]));
    if (!nests.nests.empty()) {
      grid.count = 1;
      for (const LoopCut& cut : assignment_.operators[node.index()].cuts) {
        GridAxis axis{.loop = cut.loop, .bounds = {0}, .piece = {}, .reduces = !follows(nests, cut.loop)};
        const std::int64_t size = std::ranges::find(nests.nests[0].loops, cut.loop, &Loop::name)->size;
        for (std::int64_t piece = 0, end = 0; piece < cut.pieces; ++piece) {
          end += size / cut.pieces + (piece < size % cut.pieces ? 1 : 0);
          while (axis.bounds.back() < end) {
            axis.bounds.push_back(cut.tile > 0 ? std::min(end, axis.bounds.back() + cut.tile) : end);
            axis.piece.push_back(static_cast<std::uint32_t>(piece));
          }
        }
        grid.count *= static_cast<std::uint32_t>(axis.count());
        grid.axes.push_back(std::move(axis));
      }
      std::ranges::stable_sort(grid.axes, {}, &GridAxis::reduces);
      result_.node.insert(result_.node.end(), grid.count, node);
    }
    result_.operators.push_back(std::move(grid));
  }

  static std::uint32_t chain(const OperatorTiles& grid) {
    std::uint32_t length = 1;
    for (const GridAxis& axis : grid.axes) length *= axis.reduces ? static_cast<std::uint32_t>(axis.count()) : 1;
    return length;
  }
  static std::int64_t size_in_bytes(std::int64_t elements, const Tensor& tensor) {
    return (elements * bits_of(tensor.type.format.element) + 7) / 8;
  }

  void make_buffers(TensorId id) {
    result_.first_buffer.push_back(static_cast<std::uint32_t>(result_.buffers.size()));
    if (!is_stored(graph_, id)) return;
    const Tensor& tensor = graph_[id];
    const std::int64_t elements = element_count(tensor.type.shape);
    auto& owner = owner_[id.index()];
    owner.assign(static_cast<std::size_t>(elements), static_cast<std::uint32_t>(result_.buffers.size()));
    if (!tensor.producer.valid()) {
      result_.buffers.push_back({.tensor = id, .maker = {}, .bytes = size_in_bytes(elements, tensor)});
      return;
    }
    const OperatorTiles& grid = result_.operators[tensor.producer.index()];
    const std::uint32_t length = chain(grid);
    const std::size_t first = result_.buffers.size();
    for (std::size_t i = 0; i < grid.count; ++i) {
      for_each_element(tensor.producer, i, [&](const Access& access, bool writes, std::int64_t element) {
        if (!writes || access.kind != OperandKind::output) return;
        if (graph_[tensor.producer].outputs[access.operand] != id) return;
        owner[static_cast<std::size_t>(element)] = static_cast<std::uint32_t>(first + i / length);
      });
    }
    for (std::size_t i = 0; i < grid.count / length; ++i) {
      const std::int64_t own = std::ranges::count(owner, static_cast<std::uint32_t>(first + i));
      result_.buffers.push_back(
          {.tensor = id, .maker = TileId(grid.first + (i + 1) * length - 1), .bytes = size_in_bytes(own, tensor)});
    }
  }

  // Every element that tile `number` of a node touches.
  template <class Visit>
  void for_each_element(NodeId node, std::size_t number, const Visit& visit) const {
    const OperatorTiles& grid = result_.operators[node.index()];
    const OperatorNests nests = nests_of(site_of(graph_, graph_[node]));
    std::map<Dim, std::pair<std::int64_t, std::int64_t>> box;
    for (std::size_t i = grid.axes.size(); i-- > 0; number /= grid.axes[i].count()) {
      const std::size_t index = number % grid.axes[i].count();
      box[grid.axes[i].loop] = {grid.axes[i].bounds[index], grid.axes[i].bounds[index + 1]};
    }
    for (const Nest& nest : nests.nests) {
      Shape sizes;
      for (const Loop& loop : nest.loops) sizes.push_back(loop.size);
      for (IndexCounter point(sizes); point.more(); point.next()) {
        bool inside = true;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
          const auto bounds = box.find(nest.loops[i].name);
          inside &= bounds == box.end() || (point[i] >= bounds->second.first && point[i] < bounds->second.second);
        }
        if (!inside) continue;
        for (const Access& read : nest.reads) touch(node, read, false, point.index(), visit);
        for (const Access& write : nest.writes) touch(node, write, true, point.index(), visit);
      }
    }
  }

  template <class Visit>
  void touch(NodeId node, const Access& access, bool writes, const Shape& point, const Visit& visit) const {
    if (access.kind == OperandKind::scratch) return;
    const TensorId id =
        access.kind == OperandKind::input ? graph_[node].inputs[access.operand] : graph_[node].outputs[access.operand];
    const Shape& shape = graph_[id].type.shape;
    for (IndexCounter index(shape); index.more(); index.next()) {
      bool under = true;
      for (std::size_t i = 0; i < shape.size(); ++i) {
        std::int64_t sum = access.axes[i].offset;
        for (const Term& term : access.axes[i].terms) sum += term.factor * point[term.loop];
        const std::int64_t from = floor_divide(sum, access.axes[i].divisor);
        under &= access.axes[i].anywhere || (index[i] >= from && index[i] < from + access.axes[i].span);
      }
      if (under) visit(access, writes, offset(shape, index.index()));
    }
  }

  std::size_t piece_of(NodeId node, std::size_t number) const {
    const OperatorTiles& grid = result_.operators[node.index()];
    std::map<Dim, std::size_t> pieces;
    for (std::size_t i = grid.axes.size(); i-- > 0; number /= grid.axes[i].count()) {
      pieces[grid.axes[i].loop] = grid.axes[i].piece[number % grid.axes[i].count()];
    }
    std::size_t piece = 0;
    for (const LoopCut& cut : assignment_.operators[node.index()].cuts) {
      piece = piece * static_cast<std::size_t>(cut.pieces) + pieces[cut.loop];
    }
    return piece;
  }

  void make_reads(NodeId node) {
    const OperatorTiles& grid = result_.operators[node.index()];
    using Key = std::pair<std::uint32_t, std::uint8_t>;  // buffer, input
    std::vector<std::map<Key, std::set<std::int64_t>>> elements(grid.count);
    std::map<std::pair<std::size_t, std::uint32_t>, std::set<std::int64_t>> of_group;
    for (std::size_t i = 0; i < grid.count; ++i) {
      for_each_element(node, i, [&](const Access& access, bool, std::int64_t element) {
        if (access.kind != OperandKind::input) return;
        const Array& stored = stored_[graph_[node].inputs[access.operand].index()];
        const auto code = static_cast<std::int64_t>(stored.values[static_cast<std::size_t>(element)]);
        const auto& owner = owner_[static_cast<std::size_t>(code >> 32)];
        const std::uint32_t buffer = owner[static_cast<std::size_t>(code & 0xffffffff)];
        elements[i][{buffer, access.operand}].insert(code);
        of_group[{piece_of(node, i), buffer}].insert(code);
      });
    }
    const std::uint32_t length = chain(grid);
    for (std::size_t i = 0; i < grid.count; ++i) {
      result_.first_read.push_back(static_cast<std::uint32_t>(result_.reads.size()));
      result_.first_write.push_back(static_cast<std::uint32_t>(result_.writes.size()));
      for (const auto& [key, set] : elements[i]) {
        const Tensor& tensor = graph_[result_.buffers[key.first].tensor];
        const auto& group = of_group[{piece_of(node, i), key.first}];
        result_.reads.push_back({BufferId(key.first), static_cast<std::uint32_t>(result_.parts.size())});
        result_.parts.push_back({size_in_bytes(static_cast<std::int64_t>(set.size()), tensor),
                                 size_in_bytes(static_cast<std::int64_t>(group.size()), tensor), key.second});
      }
      for (std::size_t o = 0; o < graph_[node].outputs.size(); ++o) {
        const TensorId id = graph_[node].outputs[o];
        if (!id.valid()) continue;
        result_.writes.push_back({.buffer = BufferId(result_.first_buffer[id.index()] + i / length),
                                  .output = static_cast<std::uint8_t>(o),
                                  .adds = i % length != 0,
                                  .final = (i + 1) % length == 0});
      }
    }
  }

  const Graph& graph_;
  const Assignment& assignment_;
  std::vector<Array> stored_;
  std::vector<std::vector<std::uint32_t>> owner_;  // by tensor and element: its buffer
  TileGraph result_;
};

class NaiveSchedule {
 public:
  NaiveSchedule(const Graph& graph, const Hardware& hardware, const TileGraph& tiles, const Assignment& assignment)
      : graph_(graph), tiles_(tiles), assignment_(assignment), machine_(hardware), result_(machine_.empty(hardware)) {}

  Schedule make() {
    for (std::size_t i = 0; i < tiles_.tiles(); ++i) run(TileId(i));
    result_.cycles = now_;
    for (std::size_t i = 0; i < graph_.tensors().size(); ++i) {
      const Tensor& tensor = graph_.tensors()[i];
      if (tiles_.first_buffer[i] == tiles_.first_buffer[i + 1] || tensor.updates.valid()) continue;
      result_.home.push_back(
          {.start = 0, .end = now_, .bytes = bytes(tensor), .tensor = TensorId(i), .memory = machine_.dram});
    }
    return std::move(result_);
  }

 private:
  std::size_t core_of(TileId tile) const {
    const NodeId node = tiles_.node[tile.index()];
    const OperatorTiles& grid = tiles_.operators[node.index()];
    const OperatorAssignment& plan = assignment_.operators[node.index()];
    std::size_t number = tile.index() - grid.first;
    std::map<Dim, std::size_t> pieces;
    for (std::size_t i = grid.axes.size(); i-- > 0; number /= grid.axes[i].count()) {
      pieces[grid.axes[i].loop] = grid.axes[i].piece[number % grid.axes[i].count()];
    }
    std::size_t piece = 0;
    for (const LoopCut& cut : plan.cuts) piece = piece * static_cast<std::size_t>(cut.pieces) + pieces[cut.loop];
    return plan.cores[piece].index();
  }

  void move(BufferId buffer, MemoryId from, MemoryId to, std::uint32_t route, TransferKind kind) {
    const std::int64_t bytes = tiles_.buffers[buffer.index()].bytes;
    const double took = static_cast<double>(bytes) * 8 / result_.routes[route].bits_per_cycle;
    result_.transfers.push_back({.start = now_,
                                 .end = now_ + took,
                                 .bytes = bytes,
                                 .buffer = buffer,
                                 .from = from,
                                 .to = to,
                                 .route = route,
                                 .kind = kind});
    now_ += took;
  }

  void run(TileId tile) {
    const std::size_t core = core_of(tile);
    const MemoryId local = machine_.sram[core];
    const double begin = now_;
    std::set<BufferId> held;
    const auto fetch = [&](BufferId buffer) {
      if (held.insert(buffer).second)
        move(buffer, machine_.dram, local, TwoCores::from_dram[core], TransferKind::fetch);
    };
    for (const TileRead& read : tiles_.reads_of(tile)) fetch(read.buffer);
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (write.adds) fetch(write.buffer);
    }
    result_.tiles.push_back({.start = now_, .end = now_ + naive_cycles, .cost = 0, .core = CoreId(core)});
    now_ += naive_cycles;
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      held.insert(write.buffer);
      move(write.buffer, local, machine_.dram, TwoCores::to_dram[core], TransferKind::write_back);
    }
    for (const BufferId buffer : held) {
      const std::int64_t bytes = tiles_.buffers[buffer.index()].bytes;
      result_.stays.push_back(
          {.start = begin, .end = now_, .bytes = bytes, .buffer = buffer, .tile = {}, .memory = local});
    }
  }

  const Graph& graph_;
  const TileGraph& tiles_;
  const Assignment& assignment_;
  TwoCores machine_;
  Schedule result_;
  double now_ = 0;
};

}  // namespace

Assignment plain_assignment(const Graph& graph, const Hardware& hardware) {
  EXPECT_FALSE(hardware.cores.empty());
  Assignment assignment;
  assignment.operators.resize(graph.nodes().size());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!is_view(graph, NodeId(i))) assignment.operators[i].cores = {CoreId(0)};
  }
  return assignment;
}

TileGraph naive_tiles(const Graph& graph, const Assignment& assignment) { return NaiveTiles(graph, assignment).make(); }

Hardware two_cores() {
  auto hardware = read_hardware_text(R"(
monet: 1
name: two_cores
clock: 1 GHz
memories:
  dram:
    kind: dram
    size: 64 KiB
    ports: {rw: {kind: read_write, width: 128 bit/cycle}}
    read_energy: 1 pJ
    write_energy: 1 pJ
  flash:
    kind: storage
    size: 1 MiB
    ports: {r: {kind: read, width: 16 bit/cycle}, w: {kind: write, width: 8 bit/cycle}}
cores:
  core:
    count: 2
    operators: ["!generate"]
    array:
      dimensions: {K: {size: 4}}
      operations: {all: {cycles: 1, energy: 1 pJ}}
    memories:
      sram:
        kind: sram
        size: 8 KiB
        ports: {r: {kind: read, width: 256 bit/cycle}, w: {kind: write, width: 256 bit/cycle}}
        read_energy: 1 pJ
        write_energy: 1 pJ
      dram: {use: dram}
links:
  - {bus: [core, dram], width: 64 bit/cycle, name: memory_bus}
  - {link: [core0, core1], width: 32 bit/cycle, energy: 2 pJ/bit, latency: 3 cycle, name: between}
)",
                                     "two_cores.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return hardware ? *std::move(hardware) : Hardware{};
}

TwoCores::TwoCores(const Hardware& hardware) {
  for (std::size_t i = 0; i < hardware.memories.size(); ++i) {
    const std::string& name = hardware.memories[i].name;
    if (name == "dram") dram = MemoryId(i);
    if (name == "flash") flash = MemoryId(i);
    if (name == "core0/sram") sram[0] = MemoryId(i);
    if (name == "core1/sram") sram[1] = MemoryId(i);
  }
}

Schedule TwoCores::empty(const Hardware& hardware) const {
  Schedule schedule;
  LinkId bus_link, between;
  for (std::size_t i = 0; i < hardware.links.size(); ++i) {
    (hardware.links[i].kind == LinkKind::bus ? bus_link : between) = LinkId(i);
  }
  schedule.channels = {
      {.name = "memory_bus", .link = bus_link, .bits_per_cycle = 64},
      {.name = "dram rw", .memory = dram, .port = 0, .bits_per_cycle = 128},
      {.name = "between up", .link = between, .bits_per_cycle = 32},
      {.name = "between down", .link = between, .bits_per_cycle = 32},
      {.name = "flash r", .memory = flash, .port = 0, .bits_per_cycle = 16},
      {.name = "flash w", .memory = flash, .port = 1, .bits_per_cycle = 8},
  };
  schedule.routes = {
      {.from = dram, .to = sram[0], .channels = {dram_port, bus}, .bits_per_cycle = 64},
      {.from = dram, .to = sram[1], .channels = {dram_port, bus}, .bits_per_cycle = 64},
      {.from = sram[0], .to = dram, .channels = {bus, dram_port}, .bits_per_cycle = 64},
      {.from = sram[1], .to = dram, .channels = {bus, dram_port}, .bits_per_cycle = 64},
      {.from = sram[0],
       .to = sram[1],
       .channels = {link_up},
       .bits_per_cycle = 32,
       .latency_cycles = 3,
       .pj_per_bit = 2},
      {.from = sram[1],
       .to = sram[0],
       .channels = {link_down},
       .bits_per_cycle = 32,
       .latency_cycles = 3,
       .pj_per_bit = 2},
      {.from = dram, .to = flash, .channels = {dram_port, flash_write}, .bits_per_cycle = 8},
      {.from = flash, .to = dram, .channels = {flash_read, dram_port}, .bits_per_cycle = 16},
  };
  schedule.costs = {{.cycles = naive_cycles}};
  schedule.home_of = {dram, dram};
  return schedule;
}

Schedule naive_schedule(const Graph& graph, const Hardware& hardware, const TileGraph& tiles,
                        const Assignment& assignment) {
  return NaiveSchedule(graph, hardware, tiles, assignment).make();
}

}  // namespace monet::test
