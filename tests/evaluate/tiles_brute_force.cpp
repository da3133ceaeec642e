#include "evaluate/tiles_brute_force.h"

#include "base/checked.h"
#include "graph/nests.h"
#include "interpret/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace monet::test {

namespace {

using Elements = std::vector<std::int64_t>;

class BruteForce {
 public:
  BruteForce(const Graph& graph, const TilingGraph& tiling, const Assignment& assignment, const TileGraph& tiles)
      : graph_(graph), tiling_(tiling), assignment_(assignment), tiles_(tiles) {}

  std::string complaint() {
    number_elements();
    place_elements();
    for (std::size_t n = 0; n < graph_.nodes().size() && complaint_.empty(); ++n) check_node(NodeId(n));
    if (complaint_.empty()) check_buffers();
    return complaint_;
  }

 private:
  template <class... Args>
  void complain(fmt::format_string<Args...> text, Args&&... args) {
    if (complaint_.empty()) complaint_ = fmt::format(text, std::forward<Args>(args)...);
  }

  bool is_view(TensorId id) const {
    const NodeId producer = graph_[id].producer;
    return producer.valid() && family_of(graph_[producer].op) == OpFamily::view;
  }

  // Every element of a stored tensor has a number; those of views are found by moving numbers about.
  void number_elements() {
    numbers_.resize(graph_.tensors().size());
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorId id(t);
      if (is_view(id)) continue;
      numbers_[t] = Array::zeros(graph_[id].type.shape);
      for (double& value : numbers_[t].values) value = static_cast<double>(elements_++);
    }
    for (const Node& node : graph_.nodes()) {
      if (family_of(node.op) != OpFamily::view) continue;
      auto results = moved(node, [&](std::size_t i) { return &numbers_[node.inputs[i].index()]; });
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].valid()) numbers_[node.outputs[i].index()] = std::move(results[i]);
      }
    }
  }

  std::vector<Array> moved(const Node& node, const std::function<const Array*(std::size_t)>& input) const {
    const OperatorSite site = site_of(graph_, node);
    std::vector<const Array*> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(input(i));
    return *execute({node.op, node.attributes, inputs, site.inputs, site.outputs});
  }

  // The buffer of every element, from where tensors are cut.
  void place_elements() {
    buffer_.resize(static_cast<std::size_t>(elements_));
    owner_.resize(static_cast<std::size_t>(elements_));
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      const TensorId id(t);
      const std::size_t count = tiles_.first_buffer[t + 1] - tiles_.first_buffer[t];
      if (is_view(id)) {
        if (count != 0) complain("the view {} has buffers", graph_[id].name);
        continue;
      }
      const auto cells = *tiling_.cells(assignment_, id);
      const Shape& shape = graph_[id].type.shape;
      std::size_t product = 1;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const bool whole = cells[axis].front() == 0 && cells[axis].back() == shape[axis];
        if (!whole || !std::ranges::is_sorted(cells[axis])) complain("bad cells of {}", graph_[id].name);
        product *= cells[axis].size() - 1;
      }
      if (product != count) complain("{} has {} buffers instead of {}", graph_[id].name, count, product);
      std::size_t element = 0;
      for (IndexCounter at(shape); at.more(); at.next(), ++element) {
        std::size_t buffer = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
          const auto cell = std::ranges::upper_bound(cells[axis], at[axis]) - cells[axis].begin() - 1;
          buffer = buffer * (cells[axis].size() - 1) + static_cast<std::size_t>(cell);
        }
        buffer_[static_cast<std::size_t>(numbers_[t].values[element])] = tiles_.first_buffer[t] + buffer;
      }
    }
    filled_.assign(tiles_.buffers.size(), 0);
    for (std::size_t buffer : buffer_) ++filled_[buffer];
  }

  using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Ranges ranges_of(const Nest& nest, const OperatorTiles& operation, TileId tile) const {
    Ranges ranges;
    for (const Loop& loop : nest.loops) {
      ranges.emplace_back(0, loop.size);
      for (std::size_t axis = 0; axis < operation.axes.size(); ++axis) {
        const GridAxis& grid = operation.axes[axis];
        if (grid.loop != loop.name || grid.bounds.back() != loop.size) continue;
        const std::size_t index = TileGraph::index_along(operation, tile, axis);
        ranges.back() = {grid.bounds[index], grid.bounds[index + 1]};
      }
    }
    return ranges;
  }

  // Every element of an operand of this shape that the access touches, by its number in the operand.
  static void touch(const Access& access, const Shape& shape, const Ranges& ranges,
                    const std::function<void(std::int64_t)>& visit) {
    Ranges used = ranges;
    for (std::size_t loop = 0; loop < ranges.size(); ++loop) {
      if (ranges[loop].first >= ranges[loop].second) return;
      const bool moves = std::ranges::any_of(access.axes, [&](const AxisIndex& axis) {
        return std::ranges::any_of(axis.terms, [&](const Term& t) { return t.loop == loop && t.factor != 0; });
      });
      if (!moves) used[loop].second = used[loop].first + 1;
    }
    Shape at;
    for (const auto& range : used) at.push_back(range.first);
    while (true) {
      touch_point(access, shape, at, 0, 0, visit);
      std::size_t loop = at.size();
      while (loop > 0 && ++at[loop - 1] == used[loop - 1].second) {
        at[loop - 1] = used[loop - 1].first;
        --loop;
      }
      if (loop == 0) return;
    }
  }

  static void touch_point(const Access& access, const Shape& shape, const Shape& at, std::size_t axis,
                          std::int64_t before, const std::function<void(std::int64_t)>& visit) {
    if (axis == shape.size()) return visit(before);
    const AxisIndex& index = access.axes[axis];
    std::int64_t first = index.offset;
    for (const Term& term : index.terms) first += term.factor * at[term.loop];
    first = floor_divide(first, index.divisor);
    std::int64_t end = first + index.span;
    if (index.anywhere) {
      first = 0;
      end = shape[axis];
    }
    for (std::int64_t i = std::max<std::int64_t>(first, 0); i < std::min(end, shape[axis]); ++i) {
      touch_point(access, shape, at, axis + 1, before * shape[axis] + i, visit);
    }
  }

  // What each input of the node shows, by element numbers. A gather with known indices shows its rows at the place of
  // its output.
  struct Shown {
    const Array* numbers;
    Array gathered;
    bool at_output = false;
  };

  Shown shown(const Node& node, std::size_t input) const {
    Shown result{&numbers_[node.inputs[input].index()], {}, false};
    if (node.op != Op::Gather || input != 0 || graph_.constant(node.inputs[1]) == nullptr) return result;
    const Array indices = to_array(*graph_.constant(node.inputs[1]));
    result.gathered =
        moved(node, [&](std::size_t i) { return i == 0 ? &numbers_[node.inputs[0].index()] : &indices; })[0];
    result.at_output = true;
    return result;
  }

  void check_node(NodeId id) {
    const Node& node = graph_[id];
    const OperatorTiles& operation = tiles_.operators[id.index()];
    if (family_of(node.op) == OpFamily::view) {
      if (operation.count != 0) complain("the view {} has tiles", node.name);
      return;
    }
    const OperatorNests nests = nests_of(site_of(graph_, node));
    std::map<std::size_t, std::vector<TileId>> pieces;
    for (std::uint32_t i = 0; i < operation.count; ++i) {
      const TileId tile(operation.first + i);
      if (tiles_.node[tile.index()] != id) complain("tile {} is not one of {}", tile.index(), node.name);
      pieces[tiles_.piece_of(tile)].push_back(tile);
      check_writes(node, nests, operation, tile);
    }
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      if (!node.inputs[input].valid()) continue;
      const Shown source = shown(node, input);
      for (const auto& [piece, members] : pieces) check_reads(node, nests, operation, input, source, members);
    }
    for (std::uint32_t i = 0; i < operation.count; ++i) {
      const auto reads = tiles_.reads_of(TileId(operation.first + i));
      const auto key = [&](const TileRead& read) { return std::pair(tiles_.part(read).input, read.buffer); };
      if (std::ranges::adjacent_find(reads, std::greater_equal(), key) != reads.end()) {
        complain("the reads of tile {} of {} are not in order", i, node.name);
      }
    }
  }

  Elements read_by(const OperatorNests& nests, const OperatorTiles& operation, std::size_t input, const Shown& source,
                   TileId tile) const {
    Elements result;
    for (const Nest& nest : nests.nests) {
      const Ranges ranges = ranges_of(nest, operation, tile);
      for (const Access& access : nest.reads) {
        if (access.kind != OperandKind::input || access.operand != input) continue;
        const Access place = source.at_output ? read_output(0, identity_axes(nest.loops.size())) : access;
        const Array& numbers = source.at_output ? source.gathered : *source.numbers;
        touch(place, numbers.shape, ranges, [&](std::int64_t element) {
          result.push_back(static_cast<std::int64_t>(numbers.values[static_cast<std::size_t>(element)]));
        });
      }
    }
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    return result;
  }

  std::map<std::size_t, std::int64_t> by_buffer(const Elements& elements) const {
    std::map<std::size_t, std::int64_t> result;
    for (std::int64_t element : elements) ++result[buffer_[static_cast<std::size_t>(element)]];
    return result;
  }

  std::int64_t bytes_of(std::size_t buffer, std::int64_t elements) const {
    const Format& format = graph_[tiles_.buffers[buffer].tensor].type.format;
    return ceil_divide(elements * bits_of(format.element), 8);
  }

  void check_reads(const Node& node, const OperatorNests& nests, const OperatorTiles& operation, std::size_t input,
                   const Shown& source, const std::vector<TileId>& members) {
    Elements all;
    std::vector<std::map<std::size_t, std::int64_t>> of_tiles;
    for (TileId tile : members) {
      const Elements elements = read_by(nests, operation, input, source, tile);
      of_tiles.push_back(by_buffer(elements));
      Elements merged;
      std::ranges::set_union(all, elements, std::back_inserter(merged));
      all = std::move(merged);
    }
    const auto of_piece = by_buffer(all);
    for (std::size_t i = 0; i < members.size(); ++i) {
      std::map<std::size_t, std::int64_t> missing = of_tiles[i];
      for (const TileRead& read : tiles_.reads_of(members[i])) {
        const ReadPart& part = tiles_.part(read);
        if (part.input != input) continue;
        const std::size_t buffer = read.buffer.index();
        const std::string where = fmt::format("{} ({}), tile {}, input {}, buffer {} of {}", node.name,
                                              name_of(node.op), members[i].index() - operation.first, input,
                                              buffer - tiles_.first_buffer[tiles_.buffers[buffer].tensor.index()],
                                              graph_[tiles_.buffers[buffer].tensor].name);
        const auto found = missing.find(buffer);
        if (found == missing.end()) return complain("{}: nothing is read of it", where);
        const std::int64_t bytes = bytes_of(buffer, found->second);
        const std::int64_t piece_bytes = bytes_of(buffer, of_piece.at(buffer));
        if (part.bytes != bytes) return complain("{}: {} bytes instead of {}", where, part.bytes, bytes);
        if (part.group_bytes != piece_bytes) {
          return complain("{}: {} bytes of its piece instead of {}", where, part.group_bytes, piece_bytes);
        }
        missing.erase(found);
      }
      if (!missing.empty()) {
        return complain("{} ({}), tile {}, input {}: a read of buffer {} of {} is missing", node.name, name_of(node.op),
                        members[i].index() - operation.first, input, missing.begin()->first,
                        graph_[tiles_.buffers[missing.begin()->first].tensor].name);
      }
    }
  }

  // What a tile writes is in its buffers, what it reads back it has written itself, and no other tile has overwritten
  // it or relies on it.
  void check_writes(const Node& node, const OperatorNests& nests, const OperatorTiles& operation, TileId tile) {
    std::map<std::size_t, std::size_t> buffers;  // by output
    for (const TileWrite& write : tiles_.writes_of(tile)) {
      if (!buffers.emplace(write.output, write.buffer.index()).second) complain("{} writes twice", node.name);
      writers_[write.buffer.index()].emplace_back(tile, write);
    }
    std::map<std::pair<OperandKind, std::size_t>, std::vector<bool>> mine;
    const auto written = [&](const Access& access, std::int64_t element) {
      std::vector<bool>& marks = mine[{access.kind, access.operand}];
      if (marks.empty()) marks.resize(static_cast<std::size_t>(element_count(shape_of(node, nests, access))));
      return marks[static_cast<std::size_t>(element)];
    };
    for (const Nest& nest : nests.nests) {
      const Ranges ranges = ranges_of(nest, operation, tile);
      const auto check_read_back = [&] {
        for (const Access& access : nest.reads) {
          if (access.kind == OperandKind::input) continue;
          touch(access, shape_of(node, nests, access), ranges, [&](std::int64_t element) {
            if (!written(access, element)) {
              complain("{} ({}), tile {} reads back what it has not written", node.name, name_of(node.op),
                       tile.index() - operation.first);
            }
          });
        }
      };
      // A running sum reads what the same nest has written.
      if (node.op != Op::CumSum) check_read_back();
      for (const Access& access : nest.writes) {
        const bool placed_by_data = std::ranges::any_of(access.axes, &AxisIndex::anywhere);
        touch(access, shape_of(node, nests, access), ranges, [&](std::int64_t element) {
          written(access, element) = true;
          if (access.kind != OperandKind::output) return;
          const TensorId tensor = node.outputs[access.operand];
          const auto number =
              static_cast<std::size_t>(numbers_[tensor.index()].values[static_cast<std::size_t>(element)]);
          const auto found = buffers.find(access.operand);
          if (found == buffers.end() || buffer_[number] != found->second) {
            complain("{} ({}), tile {} writes outside of its buffer of output {}", node.name, name_of(node.op),
                     tile.index() - operation.first, access.operand);
          }
          const TileId owner = std::exchange(owner_[number], tile);
          if (owner.valid() && owner != tile && (!access.accumulate || placed_by_data)) {
            complain("{} ({}), tile {} overwrites what another has written", node.name, name_of(node.op),
                     tile.index() - operation.first);
          }
        });
      }
      if (node.op == Op::CumSum) check_read_back();
    }
  }

  const Shape& shape_of(const Node& node, const OperatorNests& nests, const Access& access) const {
    return access.kind == OperandKind::scratch ? nests.scratch[access.operand].shape
                                               : graph_[node.outputs[access.operand]].type.shape;
  }

  void check_buffers() {
    for (std::size_t b = 0; b < tiles_.buffers.size(); ++b) {
      const Buffer& buffer = tiles_.buffers[b];
      const std::string& name = graph_[buffer.tensor].name;
      if (buffer.bytes != bytes_of(b, filled_[b])) complain("a buffer of {} has {} bytes", name, buffer.bytes);
      const auto& writers = writers_[b];
      if (writers.empty() != !graph_[buffer.tensor].producer.valid()) complain("{}: writers of a buffer", name);
      if (writers.empty()) {
        if (buffer.maker.valid()) complain("{} is made by nobody", name);
        continue;
      }
      if (buffer.maker != writers.back().first) complain("{}: not the last one makes it", name);
      for (std::size_t i = 0; i < writers.size(); ++i) {
        const TileWrite& write = writers[i].second;
        if (write.adds != (i > 0) || write.final != (i + 1 == writers.size())) complain("{}: the chain is wrong", name);
      }
    }
  }

  const Graph& graph_;
  const TilingGraph& tiling_;
  const Assignment& assignment_;
  const TileGraph& tiles_;
  std::string complaint_;
  std::vector<Array> numbers_;  // by tensor
  std::int64_t elements_ = 0;
  std::vector<std::size_t> buffer_;  // by element
  std::vector<std::int64_t> filled_;
  std::map<std::size_t, std::vector<std::pair<TileId, TileWrite>>> writers_;
  std::vector<TileId> owner_;  // by element: the last tile that wrote it
};

}  // namespace

std::string tiles_complaint(const Graph& graph, const TilingGraph& tiling, const Assignment& assignment,
                            const TileGraph& tiles) {
  return BruteForce(graph, tiling, assignment, tiles).complaint();
}

Assignment random_cuts(const Graph& graph, const TilingGraph& tiling, std::mt19937& random, std::int64_t limit) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  Assignment assignment;
  assignment.operators.resize(graph.nodes().size());
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    std::int64_t tiles = 1;
    for (const CuttableLoop& loop : tiling.cuttable(NodeId(n))) {
      if (below(2) == 0) continue;
      const std::int64_t size = loop.loop.size;
      LoopCut cut{.loop = loop.loop.name, .pieces = 1, .tile = 0};
      if (below(3) == 0) cut.pieces = 1 + below(std::min<std::int64_t>(size, 3));
      if (below(3) != 0) cut.tile = 1 + below(size);
      const std::int64_t count = cut.tile == 0 ? cut.pieces : ceil_divide(size, cut.tile) + cut.pieces;
      if (tiles * count > limit) continue;
      tiles *= count;
      auto& cuts = assignment.operators[n].cuts;
      cuts.insert(cuts.begin() + below(static_cast<std::int64_t>(cuts.size()) + 1), cut);
    }
  }
  return assignment;
}

}  // namespace monet::test
