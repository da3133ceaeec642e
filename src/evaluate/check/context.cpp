#include "evaluate/check/context.h"

#include <algorithm>
#include <tuple>

namespace monet::check {

bool equal_ports(const Memory& memory, std::size_t a, std::size_t b) {
  const auto key = [&](std::size_t i) {
    const Port& port = memory.ports[i];
    return std::tuple(port.kind, port.min_bits, port.max_bits, port.words_per_cycle);
  };
  return key(a) == key(b);
}

TensorId CheckContext::place_of(TensorId tensor) const {
  while (graph[tensor].updates.valid()) tensor = graph[tensor].updates;
  return tensor;
}

MemoryId CheckContext::away(TensorId tensor) const {
  return assignment.paged.empty() ? MemoryId() : assignment.paged[place_of(tensor).index()];
}

void CheckContext::prepare() {
  // Sums of many doubles differ in the last digits; a thousandth of a millionth of the step is no time to do anything.
  tolerance = 1e-6 + 1e-9 * schedule.cycles;
  for (const Node& node : graph.nodes()) nests.push_back(nests_of(site_of(graph, node)));
  for (const OperatorTiles& grid : tiles.operators) {
    std::uint32_t length = 1;
    for (const GridAxis& axis : grid.axes) {
      if (axis.reduces) length *= static_cast<std::uint32_t>(axis.count());
    }
    chain_tiles.push_back(length);
  }
  is_home.assign(hardware.memories.size(), false);
  for (const MemoryId home : schedule.home_of) is_home[home.index()] = true;
  for (std::size_t c = 0; c < hardware.cores.size(); ++c) {
    const MemoryId home = schedule.home_of[c];
    auto& memories = local.emplace_back();
    for (std::size_t path = 0; path < path_count; ++path) {
      for (const Level& level : hardware.cores[c].levels) {
        const bool registers = hardware[level.memory].kind == MemoryKind::registers;
        if (level.memory == home || registers || !level.holds(static_cast<Path>(path))) continue;
        if (hardware[level.memory].kind != MemoryKind::storage) memories[path].push_back(level.memory);
      }
      if (memories[path].empty()) memories[path].push_back(home);
    }
  }
}

bool CheckContext::has_level(CoreId core, MemoryId memory) const {
  return std::ranges::any_of(hardware[core].levels, [&](const Level& level) { return level.memory == memory; });
}

Chain CheckContext::chain_of(BufferId buffer) const {
  const TileId maker = tiles.buffers[buffer.index()].maker;
  if (!maker.valid()) return {};
  const std::uint32_t length = chain_tiles[tiles.node[maker.index()].index()];
  return {TileId(maker.index() + 1 - length), length};
}

std::int64_t CheckContext::bytes_of(TensorId tensor, std::int64_t elements) const {
  StoredWidth width = bits_of(graph[tensor].type.format.element);
  if (!options.element_bits.empty()) width = options.element_bits[tensor.index()];
  const __int128 eighths = static_cast<__int128>(elements) * width.bits;
  const __int128 rest = eighths % (8 * width.elements);
  return static_cast<std::int64_t>(eighths / (8 * width.elements)) + (rest > 0 ? 1 : 0);
}

bool CheckContext::has_even_width(TensorId tensor) const {
  return !options.element_bits.empty() || graph[tensor].type.format.scale_bits == 0;
}

std::span<const Buffer> CheckContext::buffers_of(TensorId tensor) const {
  const std::uint32_t first = tiles.first_buffer[tensor.index()];
  return std::span(tiles.buffers).subspan(first, tiles.first_buffer[tensor.index() + 1] - first);
}

std::string CheckContext::name(TileId tile) const {
  const NodeId node = tiles.node[tile.index()];
  return fmt::format("{} tile {}", graph[node].name, tile.index() - tiles.operators[node.index()].first);
}

std::string CheckContext::name(BufferId buffer) const {
  const TensorId tensor = tiles.buffers[buffer.index()].tensor;
  return fmt::format("buffer {} of {}", buffer.index() - tiles.first_buffer[tensor.index()], graph[tensor].name);
}

std::string CheckContext::transfer_name(std::size_t transfer) const {
  const ScheduledTransfer& t = schedule.transfers[transfer];
  return fmt::format("transfer {} ({} from {} to {}, {} to {})", transfer, name(t.buffer), name(t.from), name(t.to),
                     t.start, t.end);
}

BufferId CheckContext::made_by(TensorId tensor, std::size_t number) const {
  const NodeId node = graph[tensor].producer;
  const std::uint32_t chain = chain_tiles[node.index()];
  const TileId last(tiles.operators[node.index()].first + (number + 1) * chain - 1);
  for (const TileWrite& write : tiles.writes_of(last)) {
    if (write.output < graph[node].outputs.size() && graph[node].outputs[write.output] == tensor) return write.buffer;
  }
  return {};
}

std::size_t CheckContext::number_of(BufferId buffer) const {
  const Buffer& of = tiles.buffers[buffer.index()];
  const NodeId node = graph[of.tensor].producer;
  return (of.maker.index() - tiles.operators[node.index()].first) / chain_tiles[node.index()];
}

}  // namespace monet::check
