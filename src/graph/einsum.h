// An Einsum equation in normal form, "ab,bc->ac", taken apart: the letters of each operand and of the output.
#pragma once

#include "graph/shape.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

struct EinsumEquation {
  std::vector<std::string> operands;
  std::string output;

  // Every letter once: those of the output in its order, then the contracted ones as they appear.
  std::string letters() const {
    std::string all = output;
    for (const std::string& operand : operands) {
      for (char letter : operand) {
        if (all.find(letter) == std::string::npos) all += letter;
      }
    }
    return all;
  }
  bool contracts() const { return letters().size() > output.size(); }
};

// Takes any text; what is not there comes back empty.
inline EinsumEquation parse_einsum(std::string_view equation) {
  EinsumEquation result;
  const std::size_t arrow = equation.find("->");
  if (arrow != std::string_view::npos) result.output = equation.substr(arrow + 2);
  std::string_view rest = equation.substr(0, arrow);
  for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
    result.operands.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma + 1);
  }
  result.operands.emplace_back(rest);
  return result;
}

// The size a letter stands for: that of the operands which have it, where 1 broadcasts to the others' size.
template <class ShapeOfOperand>
std::int64_t einsum_size(const EinsumEquation& equation, char letter, const ShapeOfOperand& shape_of) {
  std::int64_t size = 1;
  for (std::size_t i = 0; i < equation.operands.size(); ++i) {
    const std::size_t axis = equation.operands[i].find(letter);
    if (axis == std::string::npos) continue;
    const std::int64_t here = shape_of(i)[axis];
    if (here != 1) size = here;
  }
  return size;
}

}  // namespace monet
