// Instructions of the stack machine that evaluates an Expression.
#pragma once

#include <cstddef>

namespace monet::expression_code {

enum Code : int {
  push_number,
  push_name,
  add,
  subtract,
  multiply,
  divide,
  remainder_of,
  power,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  both,
  either,
  minimum,
  maximum,  // the last of those that take two
  negate,
  invert,
  ceiling,
  floor_of,
  round_of,
  absolute,
  logarithm,
  square_root,  // the last of those that take one
  choose,
};

constexpr std::size_t max_stack = 1024;

}  // namespace monet::expression_code
