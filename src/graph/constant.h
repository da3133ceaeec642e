// Values known while reading: small tensors, and large ones of a simple pattern (a fill, a causal mask) in a few bytes.
#pragma once

#include "graph/format.h"
#include "graph/shape.h"

#include <variant>
#include <vector>

namespace monet {

struct Constant {
  enum class Pattern : std::uint8_t {
    dense,    // every element, row by row
    uniform,  // one value everywhere
    banded,   // two values: the first where column - row <= diagonal in the last two axes, the second above
  };

  ElementType type = ElementType::float32;
  Shape shape;
  Pattern pattern = Pattern::dense;
  std::int64_t diagonal = 0;  // banded only
  // Integers and booleans (as 0 and 1) are kept exactly, floating-point values as double.
  std::variant<std::vector<std::int64_t>, std::vector<double>> values;

  static Constant integers(ElementType type, Shape shape, std::vector<std::int64_t> values);
  static Constant reals(ElementType type, Shape shape, std::vector<double> values);

  // Element `index`, counted row by row. A real as an integer loses its fraction, stops at the ends of 64 bits, and is
  // 0 if it is not a number.
  std::int64_t integer_at(std::int64_t index) const;
  double real_at(std::int64_t index) const;

  // Every element equal to `value`.
  bool is_uniformly(double value) const;
};

}  // namespace monet
