// What a tile works on is in a memory of its core while it runs; what it streams is at home.
#include "evaluate/check/rules.h"

#include <algorithm>
#include <cstdlib>

namespace monet::check {

namespace {

bool is_weight_like(Role role) {
  return role == Role::weight || role == Role::master_weight || role == Role::optimizer_state;
}

// By input of a node, the paths on which its nests read it, a bit each.
std::vector<std::uint8_t> paths_of_inputs(const Graph& graph, const Node& node, const OperatorNests& nests) {
  std::vector<std::uint8_t> paths(node.inputs.size(), 0);
  const auto tensor_of = [&](const Access& read) {
    return read.kind == OperandKind::input ? node.inputs[read.operand] : TensorId();
  };
  for (const Nest& nest : nests.nests) {
    // Different operands, each with its path; the same elements for two inputs are one.
    std::vector<std::pair<const Access*, Path>> reads;
    const auto find = [&](const Access& read) {
      return std::ranges::find_if(reads, [&](const auto& other) {
        const Access& first = *other.first;
        if (first.kind != read.kind || first.axes != read.axes) return false;
        return read.kind == OperandKind::input ? tensor_of(first) == tensor_of(read) : first.operand == read.operand;
      });
    };
    for (const Access& read : nest.reads) {
      if (find(read) != reads.end()) continue;
      const TensorId tensor = tensor_of(read);
      Role role = tensor.valid() ? graph[tensor].role : Role::workspace;
      if (read.kind == OperandKind::output) role = graph[node.outputs[read.operand]].role;
      reads.emplace_back(&read, is_weight_like(role) ? Path::weight : Path::input);
    }
    // A product takes its two factors by two paths.
    if (nest.per_point[Count::mac] > 0 && reads.size() == 2 && reads[0].second == reads[1].second) {
      reads[0].second = Path::input;
      reads[1].second = Path::weight;
    }
    for (const Access& read : nest.reads) {
      if (read.kind != OperandKind::input) continue;
      paths[read.operand] |= static_cast<std::uint8_t>(1U << static_cast<unsigned>(find(read)->second));
    }
  }
  return paths;
}

class Presence {
 public:
  Presence(const CheckContext& context, const Holdings& holdings)
      : context_(context), holdings_(holdings), tiles_(context.tiles), findings_(context.findings) {}

  void run() {
    for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
      const OperatorTiles& grid = tiles_.operators[n];
      if (grid.count == 0) continue;
      const Node& node = context_.graph[NodeId(n)];
      paths_ = paths_of_inputs(context_.graph, node, context_.nests[n]);
      updated_.clear();
      for (const TensorId output : node.outputs) {
        if (output.valid() && context_.graph[output].updates.valid())
          updated_.push_back(context_.graph[output].updates);
      }
      for (std::size_t i = 0; i < grid.count; ++i) {
        const TileId tile(grid.first + i);
        for (const TileRead& read : tiles_.reads_of(tile)) check_read(tile, read);
        for (const TileWrite& write : tiles_.writes_of(tile)) {
          if (write.adds) check_sum(tile, write.buffer);
        }
        check_streams(tile, node, context_.nests[n]);
      }
    }
    check_workspace();
  }

 private:
  void check_read(TileId tile, const TileRead& read) {
    const ReadPart& part = tiles_.part(read);
    if (part.input >= paths_.size() || paths_[part.input] == 0) {
      findings_.add("{} reads {} for input {}, which it does not use", context_.name(tile), context_.name(read.buffer),
                    part.input);
      return;
    }
    const TensorId tensor = tiles_.buffers[read.buffer.index()].tensor;
    Need need{.buffer = read.buffer,
              .start = context_.at(tile).start,
              .end = context_.at(tile).end,
              .version = holdings_.complete(read.buffer),
              .bytes = part.bytes,
              .may_overwrite = std::ranges::find(updated_, tensor) != updated_.end()};
    require(tile, need, paths_[part.input], "reads");
  }

  void check_sum(TileId tile, BufferId buffer) {
    const auto version = static_cast<std::uint32_t>(tile.index() - context_.chain_of(buffer).first.index());
    Need need{.buffer = buffer,
              .start = context_.at(tile).start,
              .end = context_.at(tile).end,
              .version = version,
              .bytes = tiles_.buffers[buffer.index()].bytes};
    require(tile, need, 1U << static_cast<unsigned>(Path::output), "adds to");
  }

  // In one of the memories where one of the paths can have it.
  void require(TileId tile, Need need, unsigned paths, std::string_view verb) {
    Found best = Found::no_room;
    MemoryId where;
    for (std::size_t path = 0; path < path_count; ++path) {
      if ((paths >> path & 1U) == 0) continue;
      for (const MemoryId memory : holdings_.places(tile, static_cast<Path>(path))) {
        need.memory = memory;
        const Found found = holdings_.find(need);
        if (found == Found::present) return;
        if (!where.valid() || found > best) {
          best = found;
          where = memory;
        }
      }
    }
    findings_.add("{} ({} to {}) {} {} in {}: it {}", context_.name(tile), need.start, need.end, verb,
                  context_.name(need.buffer), context_.name(where), name_of(best));
  }

  // What streams crosses as wide as it is stored, each element at least once. Where a read lies depends on data in some
  // operators: how many elements it takes is not in the tiles then.
  void check_stream_bits(TileId tile, const Node& node, const OperatorNests& nests) {
    const TileCost& cost = context_.cost(tile);
    if (cost.streamed == 0 || !context_.options.streams) return;
    const auto streams_all = [&](std::uint8_t paths) { return paths != 0 && (paths & ~cost.streamed) == 0; };
    const auto depends_on_data = [&](std::size_t input) {
      return std::ranges::any_of(nests.nests, [&](const Nest& nest) {
        return std::ranges::any_of(nest.reads, [&](const Access& read) {
          return read.kind == OperandKind::input && read.operand == input &&
                 std::ranges::any_of(read.axes, &AxisIndex::anywhere);
        });
      });
    };
    std::int64_t bytes = 0;
    const auto reads = tiles_.reads_of(tile);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const ReadPart& part = tiles_.part(reads[i]);
      if (part.input >= node.inputs.size() || !streams_all(paths_[part.input]) || depends_on_data(part.input)) continue;
      // Of two inputs that show one buffer, the first.
      const bool again =
          std::ranges::any_of(reads.first(i), [&](const TileRead& r) { return r.buffer == reads[i].buffer; });
      if (!again) bytes += part.bytes;
    }
    const auto short_of = [&](double bits, std::int64_t stored, const char* verb) {
      const double needed = 8.0 * static_cast<double>(stored);
      if (bits >= needed * (1 - 1e-9) - 8.0 * static_cast<double>(reads.size() + 1)) return;
      findings_.add("{} {} {} bytes by streams of {} bits", context_.name(tile), verb, stored, bits);
    };
    short_of(cost.home_read_bits, bytes, "reads");
    // The gradient of a convolution that steps over inputs adds to some elements. Which of the zeros between belong to
    // a tile is not known here: a tile of one iteration does not tell how far its step reaches.
    const auto steps_over = [](const Access& write) {
      return std::ranges::any_of(write.axes, [](const AxisIndex& axis) {
        return std::ranges::any_of(axis.terms, [](const Term& term) { return std::abs(term.factor) > 1; });
      });
    };
    const bool gaps = std::ranges::any_of(
        nests.nests, [&](const Nest& nest) { return std::ranges::any_of(nest.writes, steps_over); });
    if (gaps || !context_.streams(tile, Path::output)) return;
    std::int64_t written = 0;
    for (const TileWrite& write : tiles_.writes_of(tile)) written += tiles_.buffers[write.buffer.index()].bytes;
    short_of(cost.home_write_bits, written, "writes");
  }

  void check_streams(TileId tile, const Node& node, const OperatorNests& nests) {
    const ScheduledTile& at = context_.at(tile);
    const TileCost& cost = context_.cost(tile);
    const MemoryId home = context_.schedule.home_of[at.core.index()];
    // A core without a memory of its own works on home itself.
    const bool at_home = std::ranges::all_of(context_.local[at.core.index()], [&](const auto& places) {
      return std::ranges::all_of(places, [&](MemoryId memory) { return memory == home; });
    });
    if (at_home) return;
    check_stream_bits(tile, node, nests);
    const auto check = [&](std::uint32_t number, double bits, bool reads) {
      if (bits > 0 && number == no_route) {
        findings_.add("{} streams and has no route {} {}", context_.name(tile), reads ? "from" : "to",
                      context_.name(home));
      }
      if (number == no_route) return;
      const Route& route = context_.schedule.routes[number];
      const MemoryId far = reads ? route.from : route.to;
      const MemoryId near = reads ? route.to : route.from;
      if (far != home || !context_.has_level(at.core, near)) {
        findings_.add("{} streams over a route between {} and {}, which are not its core's", context_.name(tile),
                      context_.name(route.from), context_.name(route.to));
      }
    };
    check(at.read_route, cost.home_read_bits, true);
    check(at.write_route, cost.home_write_bits, false);
  }

  // What a tile holds beside its operands.
  void check_workspace() {
    std::vector<std::int64_t> held(tiles_.tiles(), 0);
    for (const Stay& stay : context_.schedule.stays) {
      if (stay.buffer.valid()) continue;
      const ScheduledTile& at = context_.at(stay.tile);
      const bool covers = context_.not_after(stay.start, at.start) && context_.not_after(at.end, stay.end);
      if (covers && context_.has_level(at.core, stay.memory)) held[stay.tile.index()] += stay.bytes;
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      std::int64_t wanted = 0;
      for (const HeldBytes& each : context_.cost(TileId(i)).held) wanted += each.bytes;
      if (held[i] >= wanted) continue;
      findings_.add("{} has {} bytes of workspace in memories of its core and needs {}", context_.name(TileId(i)),
                    held[i], wanted);
    }
  }

  const CheckContext& context_;
  const Holdings& holdings_;
  const TileGraph& tiles_;
  Findings& findings_;
  std::vector<std::uint8_t> paths_;  // by input of the node
  std::vector<TensorId> updated_;    // by the node
};

}  // namespace

void check_presence(const CheckContext& context, const Holdings& holdings) { Presence(context, holdings).run(); }

}  // namespace monet::check
