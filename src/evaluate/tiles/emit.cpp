#include "evaluate/tiles/emit.h"

#include "base/require.h"
#include "base/try.h"
#include "evaluate/tiles/group_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace monet::tiling {

namespace {

constexpr std::uint32_t unknown = 0xffffffffU;
constexpr std::size_t max_known_parts = std::size_t{1} << 16;

// One read site with the tables of the groups that a cut meets.
struct OpenSite {
  TensorId tensor;
  std::uint8_t input = 0;
  std::uint32_t axes = 0;  // as ReadPart::axes
  std::uint32_t first_buffer = 0;
  std::size_t first_table = 0, tables = 0;
  std::int64_t rest = 1;  // elements along all other groups
  bool sorted = true;     // buffers rise when the tables are gone through one inside the other
  // Parts by the kinds of the tables, as far as they are known; parts 0: too many to keep.
  std::size_t first_part = 0, parts = 0;
};

class Emitter {
 public:
  Emitter(const GraphContent& content, PlanCells& plan, const TileOptions& options)
      : content_(content),
        graph_(content.graph),
        plan_(plan),
        options_(options),
        maker_(content, plan, options.max_reads) {}

  Expected<TileGraph> run() {
    const auto tiles = static_cast<std::size_t>(plan_.tiles);
    result_.node.resize(tiles);
    result_.first_read.resize(tiles + 1);
    result_.first_write.resize(tiles + 1);
    add_buffers();
    std::size_t writes = 0;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      writes += plan_.operators[n].count * content_.nodes[n]->cuttable.outputs.size();
    }
    result_.writes.reserve(writes);
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      const OperatorTiles& operation = plan_.operators[n];
      if (operation.count == 0) continue;
      std::fill_n(result_.node.begin() + operation.first, operation.count, NodeId(n));
      add_writes(NodeId(n));
      MONET_RETURN_IF_ERROR(add_reads(NodeId(n)));
    }
    result_.first_read[tiles] = static_cast<std::uint32_t>(result_.reads.size());
    result_.first_write[tiles] = static_cast<std::uint32_t>(result_.writes.size());
    for (const Interner::Key& key : parts_.keys()) {
      result_.parts.push_back({key.a, key.b, static_cast<std::uint8_t>(key.c & 0xffU), key.c >> 8U});
    }
    result_.operators = std::move(plan_.operators);
    result_.first_buffer = std::move(plan_.first_buffer);
    return std::move(result_);
  }

 private:
  StoredWidth width(TensorId id) const {
    return (options_.element_bits.empty() ? content_.width : options_.element_bits)[id.index()];
  }

  void add_buffers() {
    result_.buffers.resize(plan_.first_buffer.back());
    for (std::size_t t = 0; t < graph_.tensors().size(); ++t) {
      if (content_.stored[t] == 0) continue;
      const TensorId id(t);
      Buffer* buffer = &result_.buffers[plan_.first_buffer[t]];
      if (plan_.cut[t] == 0) {
        *buffer = {.tensor = id, .maker = {}, .bytes = width(id).bytes(content_.elements[t])};
      } else {
        add_buffers(id, width(id), 0, 1, buffer);
      }
    }
  }

  void add_buffers(TensorId id, const StoredWidth& stored, std::size_t axis, std::int64_t elements, Buffer*& next) {
    const Shape& shape = graph_[id].type.shape;
    if (axis == shape.size()) {
      *next++ = {.tensor = id, .maker = {}, .bytes = stored.bytes(elements)};
      return;
    }
    const AxisCells& cells = plan_.cells(content_, id)[axis];
    if (cells.bounds == nullptr) return add_buffers(id, stored, axis + 1, elements * shape[axis], next);
    for (std::uint32_t i = 0; i < cells.count; ++i) {
      add_buffers(id, stored, axis + 1, elements * (cells.bounds[i + 1] - cells.bounds[i]), next);
    }
  }

  // Goes through the tiles of an operator; `index_` is where it is in the grid.
  template <class Visit>
  void for_each_tile(const OperatorTiles& operation, const Visit& visit) {
    index_.assign(operation.axes.size(), 0);
    for (std::uint32_t i = 0; i < operation.count; ++i) {
      visit(TileId(operation.first + i));
      for (std::size_t axis = index_.size(); axis-- > 0;) {
        if (++index_[axis] < operation.axes[axis].count()) break;
        index_[axis] = 0;
      }
    }
  }

  void add_writes(NodeId id) {
    const OperatorTiles& operation = plan_.operators[id.index()];
    const PlannedNode& planned = plan_.nodes[id.index()];
    const std::vector<WrittenOutput>& outputs = content_.nodes[id.index()]->cuttable.outputs;
    // By output and axis of the grid: the step between buffers; 0: tiles along it add up.
    steps_.clear();
    for (const WrittenOutput& written : outputs) {
      const TensorId tensor = graph_[id].outputs[written.output];
      for (std::uint8_t loop : planned.loops) {
        const auto axis = std::ranges::find(written.axes, loop, &WrittenAxis::loop);
        steps_.push_back(
            axis == written.axes.end()
                ? unknown
                : plan_.cells(content_, tensor)[static_cast<std::size_t>(axis - written.axes.begin())].step);
      }
    }
    for_each_tile(operation, [&](TileId tile) {
      result_.first_write[tile.index()] = static_cast<std::uint32_t>(result_.writes.size());
      const std::uint32_t* step = steps_.data();
      for (const WrittenOutput& written : outputs) {
        std::uint32_t buffer = plan_.first_buffer[graph_[id].outputs[written.output].index()];
        bool adds = false;
        bool final = true;
        for (std::size_t axis = 0; axis < index_.size(); ++axis, ++step) {
          if (*step != unknown) {
            buffer += index_[axis] * *step;
          } else {
            adds = adds || index_[axis] != 0;
            final = final && index_[axis] + 1 == operation.axes[axis].count();
          }
        }
        result_.writes.push_back({.buffer = BufferId(buffer), .output = written.output, .adds = adds, .final = final});
        if (final) result_.buffers[buffer].maker = tile;
      }
    });
  }

  GroupTable& next_table() {
    if (used_tables_ == tables_.size()) tables_.emplace_back();
    return tables_[used_tables_++];
  }

  Status add_reads(NodeId id) {
    const OperatorTiles& operation = plan_.operators[id.index()];
    const auto too_many = [&] {
      return Error{
          .kind = ErrorKind::user,
          .message = fmt::format("with its tiles there would be more than {} reads of buffers", options_.max_reads),
          .place = graph_[id].name,
          .advice = "use larger tiles"};
    };
    maker_.begin(id);
    used_tables_ = 0;
    sites_.clear();
    known_parts_.clear();
    __int128 count = 0;
    for (const ReadSite& site : content_.nodes[id.index()]->reads) {
      if (!open(id, site)) return too_many();
      __int128 of_site = operation.count;
      for (std::size_t i = 0; i < sites_.back().tables; ++i) {
        const GroupTable& table = tables_[sites_.back().first_table + i];
        of_site = of_site / static_cast<__int128>(table.rows()) * static_cast<__int128>(table.entries.size());
      }
      count += of_site;
    }
    if (count + static_cast<__int128>(result_.reads.size()) > options_.max_reads) return too_many();
    const std::size_t before = result_.reads.size();
    reserve(before + static_cast<std::size_t>(count), operation);
    result_.reads.resize(before + static_cast<std::size_t>(count));
    next_ = result_.reads.data() + before;
    for_each_tile(operation, [&](TileId tile) {
      result_.first_read[tile.index()] = static_cast<std::uint32_t>(next_ - result_.reads.data());
      for (const OpenSite& site : sites_) add_reads(site);
    });
    MONET_REQUIRE(next_ == result_.reads.data() + result_.reads.size());
    return Done{};
  }

  // Room for as many reads as the rest of the tiles will have if they are like those so far.
  void reserve(std::size_t needed, const OperatorTiles& operation) {
    if (needed <= result_.reads.capacity()) return;
    const double done = static_cast<double>(operation.first) + operation.count;
    const double expected = static_cast<double>(needed) * static_cast<double>(plan_.tiles) / done;
    result_.reads.reserve(
        std::max(needed, static_cast<std::size_t>(std::min(expected * 1.05, 2.0 * static_cast<double>(needed)))));
  }

  // The tables of a site; false when they would be too large.
  bool open(NodeId id, const ReadSite& site) {
    const TensorId tensor = content_.tensor(id, site);
    OpenSite open{.tensor = tensor,
                  .input = site.input,
                  .first_buffer = plan_.first_buffer[tensor.index()],
                  .first_table = used_tables_,
                  .tables = 0,
                  .rest = 1};
    const std::uint32_t cut = plan_.nodes[id.index()].cut;
    const std::span<const AxisCells> cells = plan_.cells(content_, tensor);
    const bool tensor_cut = plan_.cut[tensor.index()] != 0;
    int last_axis = -1;
    std::size_t kinds = 1;
    for (const ReadGroup& group : site.groups) {
      int least = 256;
      int most = -1;
      for (std::uint8_t axis : group.axes) {
        if (!tensor_cut || cells[axis].bounds == nullptr) continue;
        least = std::min<int>(least, axis);
        most = std::max<int>(most, axis);
      }
      if ((group.loops & cut) == 0 && most < 0) {
        open.rest *= group.whole;
        continue;
      }
      open.sorted = open.sorted && least > last_axis;
      last_axis = std::max(last_axis, most);
      GroupTable& table = next_table();
      if (!maker_.fill(group, tensor, table)) return false;
      ++open.tables;
      for (const auto& [axis, step] : table.axes) open.axes |= axis < ReadPart::max_axes ? 1U << axis : 0U;
      kinds = std::min(kinds * std::max<std::size_t>(table.kinds.keys().size(), 1), max_known_parts + 1);
    }
    open.first_part = known_parts_.size();
    open.parts = kinds <= max_known_parts ? kinds : 0;
    known_parts_.resize(known_parts_.size() + open.parts, unknown);
    sites_.push_back(open);
    return true;
  }

  std::uint32_t new_part(const OpenSite& open, std::int64_t elements, std::int64_t of_piece) {
    const StoredWidth stored = width(open.tensor);
    return parts_.number({stored.bytes(elements), stored.bytes(of_piece), open.input | open.axes << 8U});
  }

  // Elements so far, while tables are gone through one inside the other.
  struct Partial {
    std::uint32_t buffer = 0;
    std::size_t kind = 0;
    std::int64_t elements = 1, of_piece = 1;
  };

  static Partial refined(const Partial& so_far, const GroupTable& table, const GroupTable::Entry& entry) {
    const std::vector<Interner::Key>& kinds = table.kinds.keys();
    return {so_far.buffer + entry.buffer, so_far.kind * kinds.size() + entry.kind,
            so_far.elements * kinds[entry.kind].a, so_far.of_piece * kinds[entry.kind].b};
  }

  std::span<const GroupTable::Entry> row_of(const GroupTable& table) const {
    std::size_t row = 0;
    for (const auto& [axis, step] : table.axes) row += std::size_t{index_[axis]} * step;
    return std::span(table.entries).subspan(table.first[row], table.first[row + 1] - table.first[row]);
  }

  void add_reads(const OpenSite& open) {
    TileRead* before = next_;
    add_reads(open, 0, {open.first_buffer, 0, open.rest, open.rest});
    if (open.sorted) return;
    std::sort(before, next_, [](const TileRead& a, const TileRead& b) { return a.buffer < b.buffer; });
  }

  void add_reads(const OpenSite& open, std::size_t level, const Partial& so_far) {
    if (level + 1 < open.tables) {
      const GroupTable& table = tables_[open.first_table + level];
      for (const GroupTable::Entry& entry : row_of(table)) add_reads(open, level + 1, refined(so_far, table, entry));
      return;
    }
    if (open.tables == 0) {
      *next_++ = {BufferId(so_far.buffer), part_of(open, so_far)};
      return;
    }
    const GroupTable& table = tables_[open.first_table + level];
    const std::uint32_t* known = known_parts_.data() + open.first_part + so_far.kind * table.kinds.keys().size();
    for (const GroupTable::Entry& entry : row_of(table)) {
      std::uint32_t part = open.parts == 0 ? unknown : known[entry.kind];
      if (part == unknown) part = part_of(open, refined(so_far, table, entry));
      *next_++ = {BufferId(so_far.buffer + entry.buffer), part};
    }
  }

  std::uint32_t part_of(const OpenSite& open, const Partial& partial) {
    if (open.parts == 0) return new_part(open, partial.elements, partial.of_piece);
    std::uint32_t& known = known_parts_[open.first_part + partial.kind];
    if (known == unknown) known = new_part(open, partial.elements, partial.of_piece);
    return known;
  }

  const GraphContent& content_;
  const Graph& graph_;
  PlanCells& plan_;
  const TileOptions& options_;
  TableMaker maker_;
  TileGraph result_;
  Interner parts_;
  std::deque<GroupTable> tables_;
  std::size_t used_tables_ = 0;
  std::vector<OpenSite> sites_;
  std::vector<std::uint32_t> known_parts_;
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> steps_;
  TileRead* next_ = nullptr;
};

}  // namespace

Expected<TileGraph> emit(const GraphContent& content, PlanCells plan, const TileOptions& options) {
  return Emitter(content, plan, options).run();
}

}  // namespace monet::tiling
