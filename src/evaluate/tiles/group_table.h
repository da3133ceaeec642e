// Which cells of a stored tensor each tile reads, along one group of axes (reads.h), and how much of each.
#pragma once

#include "evaluate/tiles/content.h"
#include "evaluate/tiles/group_elements.h"

#include <cstdint>
#include <vector>

namespace monet::tiling {

// Numbers for triples, the same for equal ones.
class Interner {
 public:
  struct Key {
    std::int64_t a = 0, b = 0;
    std::uint32_t c = 0;
    bool operator==(const Key&) const = default;
  };
  std::uint32_t number(const Key& key);
  void clear();
  const std::vector<Key>& keys() const { return keys_; }

 private:
  void grow();
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;  // number + 1; 0: free. Empty while there are few keys.
};

struct GroupTable {
  struct Entry {
    std::uint32_t buffer = 0;  // counted from the tensor's first
    std::uint32_t kind = 0;    // in `kinds`: elements read by the tile, and by all tiles of its piece
  };
  std::vector<std::uint32_t> first;  // by row, and one more
  std::vector<Entry> entries;        // of a row: rising buffers
  Interner kinds;
  // Axes of the operator's grid that matter, and the step between rows of neighbouring tiles.
  std::vector<std::pair<std::uint8_t, std::uint32_t>> axes;

  std::size_t rows() const { return first.size() - 1; }
};

// Fills tables, one after the other, with memory that it keeps.
class TableMaker {
 public:
  TableMaker(const GraphContent& content, const PlanCells& plan, std::int64_t max_entries)
      : content_(content), plan_(plan), max_entries_(max_entries) {}

  // Must come before the tables of its reads.
  void begin(NodeId node);
  // False when a table would have more than max_entries.
  [[nodiscard]] bool fill(const ReadGroup& group, TensorId tensor, GroupTable& table);

 private:
  struct Amount {
    std::uint32_t buffer = 0;
    std::int64_t elements = 0;
  };

  void add_rows(const ReadGroup& group, std::span<const AxisCells> cells, const GroupTable& table, std::size_t axis,
                bool pieces);
  void add_row(const ReadGroup& group, std::span<const AxisCells> cells);
  void add_simple(const ReadGroup& group, std::span<const AxisCells> cells);
  void add_positions(const Positions& positions, const AxisCells& axis);
  void add_product(const ReadGroup& group, std::span<const AxisCells> cells, std::span<const Positions> product);
  void add_interval(const ReadGroup& group, std::span<const AxisCells> cells, std::size_t axis, std::uint32_t buffer,
                    Interval interval);
  void add_everything(const ReadGroup& group, std::span<const AxisCells> cells, std::size_t axis, std::uint32_t buffer,
                      std::int64_t elements);
  bool has_larger_pieces(const GroupTable& table) const;
  std::size_t piece_row(const GroupTable& table, std::size_t row) const;
  void add(std::uint32_t buffer, std::int64_t elements);
  void sort_row();

  const GraphContent& content_;
  const PlanCells& plan_;
  std::int64_t max_entries_;
  NodeId node_;
  ElementWork work_;
  std::vector<Amount> amounts_;  // of the rows that are being made
  std::vector<std::uint32_t> row_ends_;
  std::vector<Amount> product_, next_product_;
  std::vector<Amount> piece_amounts_;
  std::vector<std::uint32_t> piece_first_;
  std::uint32_t near_cell_ = 0;
};

}  // namespace monet::tiling
