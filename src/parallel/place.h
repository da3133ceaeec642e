// Where the elements of a tensor are when it is spread over the chips of one group (an axis of a mesh).
#pragma once

#include "graph/graph.h"

#include <string>

namespace monet::parallel {

enum class Spread : std::uint8_t {
  whole,    // every chip has all of it
  sharded,  // every chip has its pieces of one axis
  partial,  // every chip has a term of all of it; the sum (or the maximum, the minimum) of the terms is meant
};

enum class Reduction : std::uint8_t { sum, max, min };
std::string_view name_of(Reduction reduction);

// An axis that is sharded consists of `blocks` parts, each of which is cut into one piece a chip: pieces of projections
// that are stored one behind the other, tokens of sequences that are.
struct Place {
  Spread spread = Spread::whole;
  std::size_t axis = 0;
  std::int64_t blocks = 1;
  Reduction reduction = Reduction::sum;

  static Place sharded(std::size_t axis, std::int64_t blocks = 1) { return {Spread::sharded, axis, blocks}; }
  static Place partial(Reduction reduction = Reduction::sum) { return {Spread::partial, 0, 1, reduction}; }
  bool is_whole() const { return spread == Spread::whole; }
  bool is_sharded() const { return spread == Spread::sharded; }
  bool is_partial() const { return spread == Spread::partial; }
  bool operator==(const Place&) const = default;
};

// "whole", "sharded along axis 1", "sharded along axis 1 in 3 blocks", "partial (sum)"
std::string to_string(const Place& place);

// Whether the pieces are equal.
bool fits(const Shape& shape, const Place& place, std::int64_t chips);
// The sizes that one chip has. Requires fits().
Shape local_shape(Shape shape, const Place& place, std::int64_t chips);

}  // namespace monet::parallel
