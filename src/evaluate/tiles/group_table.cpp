#include "evaluate/tiles/group_table.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace monet::tiling {

namespace {

constexpr std::size_t few_keys = 8;

std::size_t hash_of(const Interner::Key& key) {
  std::uint64_t hash = static_cast<std::uint64_t>(key.a) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ (hash >> 29U) ^ static_cast<std::uint64_t>(key.b)) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ (hash >> 32U) ^ key.c) * 0x94d049bb133111ebU;
  return hash ^ (hash >> 31U);
}

// The cell that holds `position`, looked for from `near` on.
std::uint32_t cell_at(const AxisCells& cells, std::int64_t position, std::uint32_t near) {
  if (near < cells.count && cells.bounds[near] <= position) {
    for (int steps = 0; steps < 4; ++steps, ++near) {
      if (position < cells.bounds[near + 1]) return near;
    }
  }
  return static_cast<std::uint32_t>(std::upper_bound(cells.bounds, cells.bounds + cells.count + 1, position) -
                                    cells.bounds - 1);
}

}  // namespace

std::uint32_t Interner::number(const Key& key) {
  if (slots_.empty()) {
    for (std::size_t i = keys_.size(); i-- > 0;) {
      if (keys_[i] == key) return static_cast<std::uint32_t>(i);
    }
    keys_.push_back(key);
    if (keys_.size() > few_keys) grow();
    return static_cast<std::uint32_t>(keys_.size() - 1);
  }
  std::size_t at = hash_of(key) & (slots_.size() - 1);
  for (; slots_[at] != 0; at = (at + 1) & (slots_.size() - 1)) {
    if (keys_[slots_[at] - 1] == key) return slots_[at] - 1;
  }
  keys_.push_back(key);
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  if (keys_.size() * 2 > slots_.size()) grow();
  return static_cast<std::uint32_t>(keys_.size() - 1);
}

void Interner::grow() {
  slots_.assign(std::bit_ceil(keys_.size() * 4), 0);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::size_t at = hash_of(keys_[i]) & (slots_.size() - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

void Interner::clear() {
  keys_.clear();
  slots_.clear();
}

void TableMaker::begin(NodeId node) {
  node_ = node;
  const std::vector<CuttableLoop>& loops = content_.nodes[node.index()]->cuttable.loops;
  for (std::size_t i = 0; i < loops.size(); ++i) work_.ranges[i] = {0, loops[i].loop.size};
}

bool TableMaker::has_larger_pieces(const GroupTable& table) const {
  return std::ranges::any_of(table.axes, [&](const auto& axis) {
    const GridAxis& grid = plan_.operators[node_.index()].axes[axis.first];
    return grid.piece.back() + 1 != grid.count();
  });
}

std::size_t TableMaker::piece_row(const GroupTable& table, std::size_t row) const {
  std::size_t result = 0;
  for (const auto& [axis, step] : table.axes) {
    const GridAxis& grid = plan_.operators[node_.index()].axes[axis];
    result = result * (grid.piece.back() + 1) + grid.piece[row / step % grid.count()];
  }
  return result;
}

bool TableMaker::fill(const ReadGroup& group, TensorId tensor, GroupTable& table) {
  const PlannedNode& planned = plan_.nodes[node_.index()];
  const std::vector<GridAxis>& grid = plan_.operators[node_.index()].axes;
  const std::span<const AxisCells> cells = plan_.cells(content_, tensor);
  table.axes.clear();
  std::uint32_t rows = 1;
  for (std::size_t i = planned.loops.size(); i-- > 0;) {
    if ((group.loops >> planned.loops[i] & 1U) == 0) continue;
    table.axes.insert(table.axes.begin(), {static_cast<std::uint8_t>(i), rows});
    rows *= static_cast<std::uint32_t>(grid[i].count());
  }
  work_.budget = group_budget;
  near_cell_ = 0;

  const auto make = [&](bool pieces) {
    amounts_.clear();
    row_ends_.assign(1, 0);
    add_rows(group, cells, table, 0, pieces);
    return std::cmp_less_equal(amounts_.size(), max_entries_);
  };
  const bool larger = has_larger_pieces(table);
  if (larger) {
    if (!make(true)) return false;
    std::swap(amounts_, piece_amounts_);
    std::swap(row_ends_, piece_first_);
  }
  if (!make(false)) return false;
  std::swap(table.first, row_ends_);
  table.entries.clear();
  table.entries.reserve(amounts_.size());
  table.kinds.clear();
  const Amount* found = piece_amounts_.data();
  Interner::Key last{-1, -1, 0};
  std::uint32_t last_kind = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t in = larger ? piece_row(table, row) : 0;
    for (std::uint32_t i = table.first[row]; i < table.first[row + 1]; ++i) {
      const Amount& amount = amounts_[i];
      std::int64_t of_piece = amount.elements;
      if (larger) {
        const Amount* begin = piece_amounts_.data() + piece_first_[in];
        const Amount* end = piece_amounts_.data() + piece_first_[in + 1];
        if (found < begin || found >= end || found->buffer > amount.buffer) found = begin;
        for (int steps = 0; steps < 4 && found->buffer < amount.buffer; ++steps) ++found;
        if (found->buffer != amount.buffer)
          found = std::ranges::lower_bound(begin, end, amount.buffer, {}, &Amount::buffer);
        of_piece = found->elements;
      }
      const Interner::Key key{amount.elements, of_piece, 0};
      if (!(key == last)) {
        last = key;
        last_kind = table.kinds.number(key);
      }
      table.entries.push_back({amount.buffer, last_kind});
    }
  }
  return true;
}

void TableMaker::add_rows(const ReadGroup& group, std::span<const AxisCells> cells, const GroupTable& table,
                          std::size_t axis, bool pieces) {
  if (std::cmp_greater(amounts_.size(), max_entries_)) return;
  if (axis == table.axes.size()) return add_row(group, cells);
  const std::size_t number = table.axes[axis].first;
  const GridAxis& grid = plan_.operators[node_.index()].axes[number];
  Range& range = work_.ranges[plan_.nodes[node_.index()].loops[number]];
  const Range all = range;
  for (std::size_t i = 0; i < grid.count();) {
    std::size_t next = i + 1;
    while (pieces && next < grid.count() && grid.piece[next] == grid.piece[i]) ++next;
    range = {grid.bounds[i], grid.bounds[next]};
    add_rows(group, cells, table, axis + 1, pieces);
    i = next;
  }
  range = all;
}

void TableMaker::add_row(const ReadGroup& group, std::span<const AxisCells> cells) {
  if (group.simple) {
    add_simple(group, cells);
  } else {
    switch (collect_elements(group, work_)) {
      case Given::products:
        for (std::size_t i = 0; i < work_.products; ++i) {
          add_product(group, cells, work_.product(i, group.axes.size()));
        }
        break;
      case Given::intervals:
        for (const Interval& interval : work_.intervals) add_interval(group, cells, 0, 0, interval);
        break;
      case Given::everything: add_everything(group, cells, 0, 0, 1); break;
    }
    sort_row();
  }
  row_ends_.push_back(static_cast<std::uint32_t>(amounts_.size()));
}

// Adds to the last one of the row if it is the same buffer.
void TableMaker::add(std::uint32_t buffer, std::int64_t elements) {
  if (amounts_.size() > row_ends_.back() && amounts_.back().buffer == buffer) {
    amounts_.back().elements += elements;
  } else if (elements > 0) {
    amounts_.push_back({buffer, elements});
  }
}

void TableMaker::add_simple(const ReadGroup& group, std::span<const AxisCells> cells) {
  simple_elements(group, work_);
  add_positions(work_.positions, group.axes.empty() ? AxisCells{} : cells[group.axes[0]]);
}

void TableMaker::add_positions(const Positions& positions, const AxisCells& axis) {
  if (positions.empty()) return;
  if (axis.bounds == nullptr) return add(0, size_of(positions));
  std::uint32_t cell = near_cell_ = cell_at(axis, positions.front().start, near_cell_);
  if (positions.size() == 1 && positions.front().count == 1) {
    std::int64_t begin = positions.front().start;
    const std::int64_t end = positions.front().end();
    for (; begin < end; ++cell) {
      const std::int64_t next = std::min(end, axis.bounds[cell + 1]);
      if (begin < next) amounts_.push_back({cell * axis.step, next - begin});
      begin = next;
    }
    return;
  }
  for (const Runs& runs : positions) {
    if (axis.bounds[cell + 1] <= runs.start) cell = cell_at(axis, runs.start, cell);
    std::int64_t done = 0;
    const std::int64_t size = runs.size();
    while (true) {
      const std::int64_t now = runs.below(axis.bounds[cell + 1]);
      if (now > done) add(cell * axis.step, now - done);
      done = now;
      if (done == size) break;
      ++cell;
    }
  }
}

void TableMaker::add_product(const ReadGroup& group, std::span<const AxisCells> cells,
                             std::span<const Positions> product) {
  product_.assign(1, {0, 1});
  for (std::size_t axis = 0; axis < product.size(); ++axis) {
    const std::size_t before = amounts_.size();
    const std::uint32_t row = row_ends_.back();
    row_ends_.back() = static_cast<std::uint32_t>(before);  // so that nothing of the row is added to
    add_positions(product[axis], cells[group.axes[axis]]);
    row_ends_.back() = row;
    next_product_.clear();
    for (const Amount& so_far : product_) {
      for (std::size_t i = before; i < amounts_.size(); ++i) {
        next_product_.push_back({so_far.buffer + amounts_[i].buffer, so_far.elements * amounts_[i].elements});
      }
    }
    amounts_.resize(before);
    std::swap(product_, next_product_);
  }
  amounts_.insert(amounts_.end(), product_.begin(), product_.end());
}

// An interval of the positions in this axis and all faster ones: a part of one position of it, whole ones, a part
// again.
void TableMaker::add_interval(const ReadGroup& group, std::span<const AxisCells> cells, std::size_t axis,
                              std::uint32_t buffer, Interval interval) {
  if (axis == group.axes.size()) return add(buffer, interval.end - interval.begin);
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < group.axes.size(); ++i) inner *= group.sizes[i];
  const AxisCells& cut = cells[group.axes[axis]];
  const auto part = [&](std::int64_t position, std::int64_t begin, std::int64_t end) {
    const std::uint32_t cell = cut.bounds == nullptr ? 0 : cell_at(cut, position, 0);
    add_interval(group, cells, axis + 1, buffer + cell * cut.step, {begin, end});
  };
  std::int64_t first = interval.begin / inner;
  const std::int64_t last = interval.end / inner;
  if (const std::int64_t begin = interval.begin - first * inner; begin > 0) {
    part(first, begin, std::min(inner, interval.end - first * inner));
    if (first == last) return;
    ++first;
  }
  while (first < last) {
    const std::uint32_t cell = cut.bounds == nullptr ? 0 : cell_at(cut, first, 0);
    const std::int64_t next = cut.bounds == nullptr ? last : std::min(last, cut.bounds[cell + 1]);
    add_everything(group, cells, axis + 1, buffer + cell * cut.step, next - first);
    first = next;
  }
  if (const std::int64_t end = interval.end - last * inner; end > 0) part(last, 0, end);
}

// Rising buffers, each once.
void TableMaker::sort_row() {
  const auto begin = amounts_.begin() + row_ends_.back();
  const auto rises = [](const Amount& a, const Amount& b) { return a.buffer < b.buffer; };
  if (std::adjacent_find(begin, amounts_.end(), std::not_fn(rises)) == amounts_.end()) return;
  std::sort(begin, amounts_.end(), rises);
  auto used = begin;
  for (auto next = begin + 1; next != amounts_.end(); ++next) {
    if (next->buffer == used->buffer) {
      used->elements += next->elements;
    } else {
      *++used = *next;
    }
  }
  amounts_.erase(used + 1, amounts_.end());
}

void TableMaker::add_everything(const ReadGroup& group, std::span<const AxisCells> cells, std::size_t axis,
                                std::uint32_t buffer, std::int64_t elements) {
  if (axis == group.axes.size()) {
    if (elements > 0) amounts_.push_back({buffer, elements});
    return;
  }
  const AxisCells& cut = cells[group.axes[axis]];
  if (cut.bounds == nullptr) return add_everything(group, cells, axis + 1, buffer, elements * group.sizes[axis]);
  for (std::uint32_t cell = 0; cell < cut.count; ++cell) {
    add_everything(group, cells, axis + 1, buffer + cell * cut.step,
                   elements * (cut.bounds[cell + 1] - cut.bounds[cell]));
  }
}

}  // namespace monet::tiling
