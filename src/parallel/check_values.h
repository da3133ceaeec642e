// What the checker knows of a tensor.
#pragma once

#include "graph/nests.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace monet::parallel::checked {

// Pieces: along `axis` of one chip's part, `run` neighbours are neighbours in the whole too; then come other chips'.
struct Pieces {
  std::size_t axis = 0;
  std::int64_t run = 1;
  bool operator==(const Pieces&) const = default;
};

struct Value {
  enum class Kind : std::uint8_t { unknown, same, pieces, term } kind = Kind::unknown;
  std::uint64_t constant_along = 0;    // same on all chips: axes along which it does not change, of any length
  std::vector<Pieces> readings;        // pieces: what they can be; reshapes leave more than one
  bool zero = false;                   // a beginning of sums
  std::string_view joined_by = "sum";  // a term
  bool may_be_term = false;            // pieces: where axes have one element, it can be read as a term as well

  static Value same(std::uint64_t constant_along = 0) { return {.kind = Kind::same, .constant_along = constant_along}; }
  static Value pieces(std::size_t axis, std::int64_t run) { return {.kind = Kind::pieces, .readings = {{axis, run}}}; }
  static Value term(std::string_view joined_by = "sum") { return {.kind = Kind::term, .joined_by = joined_by}; }
  bool is(Kind other) const { return kind == other; }
  bool can_be_term() const { return kind == Kind::term || may_be_term; }
  bool can_be(const Pieces& wanted) const {
    if (kind == Kind::same) return (constant_along >> wanted.axis & 1U) != 0;
    return kind == Kind::pieces && std::ranges::find(readings, wanted) != readings.end();
  }
  void add(const Pieces& reading) {
    if (std::ranges::find(readings, reading) == readings.end()) readings.push_back(reading);
  }
};

// By output; nothing: the operands do not go together.
using Results = std::optional<std::vector<Value>>;

Results after_nests(const Graph& graph, const Node& node, const std::vector<Value>& inputs);
Results after_view(const Graph& graph, const Node& node, const std::vector<Value>& inputs, bool own_axis);
// Operators that number places of the axis that is looked at.
Results after_own_places(const Graph& graph, const Node& node, const std::vector<Value>& inputs);
// Collectives: over the axis that is looked at, and over others.
Results after_own_collective(const Graph& graph, const Node& node, const std::vector<Value>& inputs);
Results after_other_collective(const Graph& graph, const Node& node, const std::vector<Value>& inputs);

}  // namespace monet::parallel::checked
