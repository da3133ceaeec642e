// Which tile of an operator writes an element: the access map of the write, turned round.
#pragma once

#include "evaluate/check/context.h"

#include <optional>
#include <span>
#include <vector>

namespace monet::check {

// Indices of tiles along one axis of a grid, both ends included.
struct IndexRange {
  std::size_t low = 0;
  std::size_t high = 0;
  bool operator==(const IndexRange&) const = default;
};

class Makers {
 public:
  // Of an output or a scratch tensor of the node: by the one of its writes that follows the most axes of the grid.
  Makers(const CheckContext& context, NodeId node, OperandKind kind, std::size_t operand);

  // Whether the write moves along an axis of the operand with that axis of the grid.
  bool follows(std::size_t grid_axis) const { return ways_[grid_axis].axis >= 0; }
  // Tiles along an axis of the grid that can write the element: never too few; exactly one where the map can be turned
  // round. All of them if the write does not follow it.
  IndexRange range(std::size_t grid_axis, std::span<const std::int64_t> element) const;
  // The buffer, counted among those of the tensor, that holds the element; nothing where several could.
  std::optional<std::size_t> buffer_of(std::span<const std::int64_t> element) const;
  // Whether that buffer can hold it.
  bool may_hold(std::size_t buffer, std::span<const std::int64_t> element) const;
  // Elements in a buffer, where the write is as plain as an axis for a loop.
  std::optional<std::int64_t> elements(std::size_t buffer) const;

 private:
  // One loop of the nest: factor * iteration, iteration below size.
  struct Step {
    std::int64_t factor = 0;
    std::int64_t size = 1;
    bool wanted = false;  // the loop of the grid's axis
  };
  // Where the loop of an axis of the grid stands in the operand.
  struct Way {
    std::int32_t axis = -1;   // of the operand; below 0: nowhere
    std::vector<Step> steps;  // largest factor first
    std::int64_t offset = 0, divisor = 1, span = 1;
  };
  static Way way_of(const Nest& nest, const Access& access, Dim loop);
  void set_plain_axes(const Nest& nest, const Access& access, const Shape& shape);

  const OperatorTiles& grid_;
  std::vector<Way> ways_;  // by axis of the grid
  bool plain_ = false;
  std::int64_t plain_elements_ = 1;  // along the axes that no cut loop moves along
  std::vector<bool> along_grid_;     // by axis of the grid: plain and one of the operand's
};

}  // namespace monet::check
