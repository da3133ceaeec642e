// Temporal loops: what is left of the layer's loops after unrolling, split into factors, and the orders of them.
#pragma once

#include "compat/zigzag/layer.h"
#include "compat/zigzag/options.h"
#include "compat/zigzag/spatial.h"

#include <monet/expected.h>

#include <cstdint>
#include <vector>

namespace monet::zigzag {

constexpr std::size_t max_factors = 32;

struct Factor {
  std::uint8_t loop = 0;
  std::int64_t size = 1;
  bool operator==(const Factor&) const = default;
};

// A place in the order that the user has fixed.
struct FixedPlace {
  std::size_t position = 0;
  std::uint8_t loop = 0;
  std::int64_t size = 0;  // 0: any
};

struct Factors {
  std::vector<Factor> factors;
  std::vector<FixedPlace> fixed;
  bool complete = false;  // `factors` is the one order to take
};

Expected<Factors> factors_of(const ZigzagLayer& layer, const Unrolling& unrolling, const ZigzagMapping& mapping,
                             const ZigzagOptions& options);

// Every distinct order of a multiset of factors, once, in ZigZag's order (which decides between equals): prefix shifts
// of a list, A. Williams, "Loopless generation of multiset permutations using a constant number of variables by prefix
// shifts", SODA 2009.
class Orders {
 public:
  Orders(const ZigzagLayer& layer, std::vector<Factor> factors);
  // Innermost first. Valid until the next call of `next`.
  std::span<const Factor> order() const { return order_; }
  // False: that was the last.
  bool next();

 private:
  void visit();

  std::vector<Factor> sorted_;       // by name and size
  std::vector<std::uint8_t> value_;  // of each list cell: equal factors have equal values
  std::vector<std::uint8_t> after_;  // next cell
  std::uint8_t head_ = 0, i_ = 0, j_ = 0;
  std::vector<Factor> order_;
};

double order_count(const std::vector<Factor>& factors);

}  // namespace monet::zigzag
