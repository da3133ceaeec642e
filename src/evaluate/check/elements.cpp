// Dependencies, element by element: what a tile reads is found from the points of its loops alone.
#include "base/checked.h"
#include "evaluate/check/makers.h"
#include "evaluate/check/points.h"
#include "evaluate/check/rules.h"
#include "evaluate/check/storage_element.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace monet::check {

namespace {

// A tile with up to so many points, and a point with up to so many elements of one operand, is looked at completely.
constexpr std::int64_t all_points = 512;
constexpr std::int64_t all_elements = 64;
// Of others so many are.
constexpr std::size_t some_points = 48;
constexpr std::size_t some_elements = 6;

// One element that a tile reads.
struct Use {
  std::uint64_t group;  // buffer; for a tensor that the step begins with its number, above all buffers
  std::int64_t position;
  std::uint8_t input;
  auto operator<=>(const Use&) const = default;
};

// What the tile that is looked at reads of a tensor.
struct OfTensor {
  std::int64_t reads = 0;
  std::int64_t bytes = 0;
  bool buffer_twice = false;
  bool checked = false;
};

class ElementCheck {
 public:
  explicit ElementCheck(const CheckContext& context)
      : context_(context),
        graph_(context.graph),
        tiles_(context.tiles),
        walker_(context.graph),
        makers_(context.graph.tensors().size()),
        buffer_read_by_(context.tiles.buffers.size()),
        reads_of_buffer_(context.tiles.buffers.size(), 0),
        tensor_read_by_(context.graph.tensors().size()),
        of_tensor_(context.graph.tensors().size()) {}

  std::size_t run() {
    const std::size_t tiles = tiles_.tiles();
    std::size_t looked_at = 0;
    for (std::size_t n = 0; n < tiles_.operators.size(); ++n) {
      node_ = NodeId(n);
      const OperatorTiles& grid = tiles_.operators[n];
      scratch_.clear();
      for (std::size_t i = 0; i < context_.nests[n].scratch.size() && grid.count > 1; ++i) {
        scratch_.emplace_back(context_, node_, OperandKind::scratch, i);
      }
      for (std::size_t i = 0; i < grid.count; ++i) {
        const std::size_t tile = grid.first + i;
        const bool chosen = i == 0 || i + 1 == grid.count || Mixer(tile).next() % tiles < context_.options.sample;
        if (!chosen) continue;
        ++looked_at;
        look_at(TileId(tile), i);
      }
    }
    return looked_at;
  }

 private:
  void look_at(TileId tile, std::size_t number) {
    tile_ = tile;
    place(number);
    uses_.clear();
    complete_ = true;
    exact_ = true;
    right_ = true;
    for (const TileRead& read : tiles_.reads_of(tile)) note(read);
    Mixer mixer(tile.index());
    for (const Nest& nest : context_.nests[node_.index()].nests) {
      set_box(nest);
      complete_ &= visit_points(loops_, all_points, some_points, mixer, point_, [&](const Shape&) {
        for (const Access& read : nest.reads) visit(nest, read, false, mixer);
        for (const Access& write : nest.writes) visit(nest, write, true, mixer);
        return right_;
      });
      if (!right_) return;
    }
    if (complete_) check_uses();
  }

  void note(const TileRead& read) {
    const std::size_t buffer = read.buffer.index();
    const std::size_t tensor = tiles_.buffers[buffer].tensor.index();
    if (std::exchange(buffer_read_by_[buffer], tile_) != tile_) reads_of_buffer_[buffer] = 0;
    if (std::exchange(tensor_read_by_[tensor], tile_) != tile_) of_tensor_[tensor] = {};
    OfTensor& of = of_tensor_[tensor];
    of.buffer_twice |= ++reads_of_buffer_[buffer] > 1;
    of.bytes += tiles_.part(read).bytes;
    ++of.reads;
  }

  // Indices along the axes of the grid.
  void place(std::size_t number) {
    const OperatorTiles& grid = tiles_.operators[node_.index()];
    place_.assign(grid.axes.size(), 0);
    for (std::size_t i = grid.axes.size(); i-- > 0; number /= grid.axes[i].count()) {
      place_[i] = number % grid.axes[i].count();
    }
  }

  void set_box(const Nest& nest) {
    const OperatorTiles& grid = tiles_.operators[node_.index()];
    loops_.clear();
    for (const Loop& loop : nest.loops) {
      const auto axis = std::ranges::find(grid.axes, loop.name, &GridAxis::loop);
      if (axis == grid.axes.end()) {
        loops_.add(0, loop.size);
      } else {
        const std::size_t index = place_[static_cast<std::size_t>(axis - grid.axes.begin())];
        loops_.add(axis->bounds[index], axis->bounds[index + 1]);
      }
    }
  }

  const Shape& shape_of(const Access& access) const {
    switch (access.kind) {
      case OperandKind::input: return graph_[graph_[node_].inputs[access.operand]].type.shape;
      case OperandKind::output: return graph_[graph_[node_].outputs[access.operand]].type.shape;
      default: return context_.nests[node_.index()].scratch[access.operand].shape;
    }
  }

  // The elements of an operand under a point, or some of them.
  void visit(const Nest& nest, const Access& access, bool writes, Mixer& mixer) {
    const Shape& shape = shape_of(access);
    if (is_undecided(access)) {
      exact_ = false;
      return;
    }
    under_.clear();
    for (std::size_t i = 0; i < access.axes.size(); ++i) {
      const AxisIndex& axis = access.axes[i];
      if (axis.anywhere) {
        const auto known = known_position(nest, access, i);
        if (known) under_.add(*known, *known + 1);
        if (!known) under_.add(0, shape[i]);
        exact_ &= !known;
        continue;
      }
      std::int64_t sum = axis.offset;
      for (const Term& term : axis.terms) sum += term.factor * point_[term.loop];
      const std::int64_t position = floor_divide(sum, axis.divisor);
      under_.add(std::max<std::int64_t>(position, 0), std::min(position + axis.span, shape[i]));
    }
    const auto look = [&](const Shape& index) {
      if (access.kind == OperandKind::input) {
        read(access.operand, index);
      } else {
        own(nest, access, index, writes);
      }
      return right_;
    };
    const bool all = visit_points(under_, all_elements, some_elements, mixer, element_.index, look);
    complete_ &= all || access.kind != OperandKind::input;
  }

  // Whether an operator other than Gather reads less where its indices are known is left to those who cut it.
  bool is_undecided(const Access& access) {
    const Node& node = graph_[node_];
    if (access.kind != OperandKind::input || node.op == Op::Gather) return false;
    if (std::ranges::none_of(access.axes, &AxisIndex::anywhere)) return false;
    return std::ranges::any_of(
        node.inputs, [&](TensorId id) { return id.valid() && id != node.inputs[access.operand] && is_known(id); });
  }

  // A gather whose indices are known reads the rows that they name.
  std::optional<std::int64_t> known_position(const Nest& nest, const Access& access, std::size_t axis) {
    const Node& node = graph_[node_];
    if (access.kind != OperandKind::input || access.operand != 0 || node.op != Op::Gather) return std::nullopt;
    const auto indices = std::ranges::find_if(
        nest.reads, [](const Access& read) { return read.kind == OperandKind::input && read.operand == 1; });
    if (indices == nest.reads.end()) return std::nullopt;
    Element where{.tensor = node.inputs[1], .index = {}};
    for (const AxisIndex& index : indices->axes) {
      std::int64_t sum = index.offset;
      for (const Term& term : index.terms) sum += term.factor * point_[term.loop];
      where.index.push_back(floor_divide(sum, index.divisor));
    }
    walker_.to_storage(where);
    const Constant* constant = graph_.constant(where.tensor);
    if (constant == nullptr) return std::nullopt;
    const std::int64_t size = graph_[node.inputs[0]].type.shape[axis];
    const std::int64_t row = constant->integer_at(row_major(constant->shape, where.index));
    return std::clamp<std::int64_t>(row < 0 ? row + size : row, 0, size - 1);
  }

  bool is_known(TensorId id) {
    if (element_count(graph_[id].type.shape) == 0) return false;
    Element first{.tensor = id, .index = Shape(graph_[id].type.shape.size(), 0)};
    walker_.to_storage(first);
    return graph_.constant(first.tensor) != nullptr;
  }

  void read(std::uint8_t input, const Shape& index) {
    stored_.tensor = graph_[node_].inputs[input];
    stored_.index = index;
    walker_.to_storage(stored_);
    const Tensor& tensor = graph_[stored_.tensor];
    const std::int64_t position = row_major(tensor.type.shape, stored_.index);
    if (!tensor.producer.valid()) {
      if (tensor_read_by_[stored_.tensor.index()] != tile_) return missing(stored_.tensor, position, tensor.name);
      uses_.push_back({tiles_.buffers.size() + stored_.tensor.index(), position, input});
      return;
    }
    const Makers& makers = makers_of(stored_.tensor);
    if (const auto number = makers.buffer_of(stored_.index)) {
      const BufferId buffer = context_.made_by(stored_.tensor, *number);
      if (buffer_read_by_[buffer.index()] != tile_) return missing(stored_.tensor, position, context_.name(buffer));
      uses_.push_back({buffer.index(), position, input});
      return;
    }
    exact_ = false;
    for (const TileRead& read : tiles_.reads_of(tile_)) {
      if (tiles_.buffers[read.buffer.index()].tensor != stored_.tensor) continue;
      if (makers.may_hold(context_.number_of(read.buffer), stored_.index)) return;
    }
    missing(stored_.tensor, position, "the buffer that holds it");
  }

  void missing(TensorId tensor, std::int64_t position, std::string_view buffer) {
    right_ = false;
    context_.findings.add("{} needs element {} of {} and does not read {}", context_.name(tile_), position,
                          graph_[tensor].name, buffer);
  }

  // Whether each tile along a loop makes all of that intermediate result for itself: nothing that writes it goes along
  // the loop, or it is done once.
  bool is_repeated(std::size_t scratch, Dim loop) const {
    return std::ranges::all_of(context_.nests[node_.index()].nests, [&](const Nest& nest) {
      const auto writes_it = [&](const Access& write) {
        return write.kind == OperandKind::scratch && write.operand == scratch;
      };
      return std::ranges::none_of(nest.writes, writes_it) || points(nest) == 1 ||
             std::ranges::find(nest.loops, loop, &Loop::name) == nest.loops.end();
    });
  }

  // What a tile writes must be its own, and so must be what passes from one of its nests to the next.
  void own(const Nest& nest, const Access& access, const Shape& index, bool writes) {
    const OperatorTiles& grid = tiles_.operators[node_.index()];
    if (grid.count == 1) return;
    const bool output = access.kind == OperandKind::output;
    if (writes && !output) return;
    const Makers& makers = output ? makers_of(graph_[node_].outputs[access.operand]) : scratch_[access.operand];
    for (std::size_t i = 0; i < grid.axes.size(); ++i) {
      if (grid.axes[i].count() == 1 || (writes && grid.axes[i].reduces)) continue;
      if (!output && is_repeated(access.operand, grid.axes[i].loop)) continue;
      // Its part of the sum: what is made of it is proportional to it, and added up.
      if (output && grid.axes[i].reduces && nest.proportional) continue;
      if (makers.range(i, index) == IndexRange{place_[i], place_[i]}) continue;
      right_ = false;
      const std::string name = output ? graph_[graph_[node_].outputs[access.operand]].name : "its intermediate results";
      context_.findings.add("{} {} an element of {} that belongs to another tile along {}", context_.name(tile_),
                            writes ? "writes" : "uses between its nests", name, name_of(grid.axes[i].loop));
      return;
    }
  }

  const Makers& makers_of(TensorId tensor) {
    auto& makers = makers_[tensor.index()];
    if (!makers) {
      const NodeId producer = graph_[tensor].producer;
      const auto& outputs = graph_[producer].outputs;
      const auto output = static_cast<std::size_t>(std::ranges::find(outputs, tensor) - outputs.begin());
      makers = std::make_unique<Makers>(context_, producer, OperandKind::output, output);
    }
    return *makers;
  }

  // Every element was seen: the bytes of each read are those of its elements.
  void check_uses() {
    std::ranges::sort(uses_);
    for (const TileRead& read : tiles_.reads_of(tile_)) {
      const TensorId tensor = tiles_.buffers[read.buffer.index()].tensor;
      const bool given = !graph_[tensor].producer.valid();
      const std::uint64_t group = given ? tiles_.buffers.size() + tensor.index() : read.buffer.index();
      const auto used = std::ranges::equal_range(uses_, group, {}, &Use::group);
      if (used.empty() && exact_) {
        context_.findings.add("{} reads {} and needs no element of it", context_.name(tile_),
                              context_.name(read.buffer));
        return;
      }
      if (!exact_ || graph_[tensor].type.format.scale_bits != 0) continue;
      const std::span<const Use> elements(used.begin(), used.end());
      if (!given) {
        check_made(read, elements);
      } else if (OfTensor& of = of_tensor_[tensor.index()]; !of.checked) {
        of.checked = true;
        check_given(tensor, of, elements);
      }
    }
  }

  // Elements at different positions; with an input, those of that input alone.
  static std::int64_t different(std::span<const Use> used, std::optional<std::uint8_t> input) {
    std::int64_t count = 0;
    const Use* last = nullptr;
    for (const Use& use : used) {
      if (input && use.input != *input) continue;
      count += last == nullptr || last->position != use.position ? 1 : 0;
      last = &use;
    }
    return count;
  }
  std::int64_t bytes_of(TensorId tensor, std::int64_t elements) const { return context_.bytes_of(tensor, elements); }

  void check_made(const TileRead& read, std::span<const Use> used) {
    const ReadPart& part = tiles_.part(read);
    const bool once = reads_of_buffer_[read.buffer.index()] == 1;
    const std::int64_t elements = different(used, once ? std::nullopt : std::optional(part.input));
    const std::int64_t wanted = bytes_of(tiles_.buffers[read.buffer.index()].tensor, elements);
    if (part.bytes == wanted) return;
    context_.findings.add("{} reads {} bytes of {} and its elements there take {}", context_.name(tile_), part.bytes,
                          context_.name(read.buffer), wanted);
  }

  // How such a tensor is cut is not known: what is read of all its buffers together, each rounded up to a byte.
  void check_given(TensorId tensor, const OfTensor& of, std::span<const Use> used) {
    if (of.buffer_twice) return;  // the same elements may be counted for two inputs
    const std::int64_t wanted = bytes_of(tensor, different(used, std::nullopt));
    if (of.bytes >= wanted && of.bytes < wanted + of.reads) return;
    context_.findings.add("{} reads {} bytes of {} and its elements there take {}", context_.name(tile_), of.bytes,
                          graph_[tensor].name, wanted);
  }

  const CheckContext& context_;
  const Graph& graph_;
  const TileGraph& tiles_;
  ViewWalker walker_;
  std::vector<std::unique_ptr<const Makers>> makers_;  // by tensor, made when needed
  std::vector<Makers> scratch_;                        // of the node
  std::vector<TileId> buffer_read_by_;                 // by buffer: the last tile that was looked at and reads it
  std::vector<std::uint32_t> reads_of_buffer_;         // how often
  std::vector<TileId> tensor_read_by_;
  std::vector<OfTensor> of_tensor_;

  NodeId node_;
  TileId tile_;
  std::vector<std::size_t> place_;
  Box loops_, under_;
  Shape point_;
  Element element_, stored_;
  std::vector<Use> uses_;
  bool complete_ = true;  // every element was visited
  bool exact_ = true;     // and its buffer is known
  bool right_ = true;     // no violation yet
};

}  // namespace

std::size_t check_elements(const CheckContext& context) { return ElementCheck(context).run(); }

}  // namespace monet::check
