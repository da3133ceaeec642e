// Arithmetic in files: parameters of a family of machines, and cycle rules over the sizes of a tile.
//
//   + - * / % ** ( )   == != < <= > >=   and or not   min max ceil floor round abs log2 sqrt   if(condition, a, b)
//
// Precedence as in Python, ** binds most tightly and to the right; a % b has the sign of b; `round` takes halves away
// from zero. Numbers are doubles; a comparison gives 0 or 1; both branches of `if` are computed. A quantity with a unit
// (2 MiB) is its value in base units (config/units.h).
#pragma once

#include "config/units.h"

#include <monet/expected.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monet {

class Expression {
 public:
  // Fails (message with the column in `text`) on wrong syntax, unknown functions, or nesting deeper than 64.
  static Expected<Expression> parse(std::string_view text);

  // The free names, each once, in order of first use: `evaluate` takes their values in this order.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& text() const { return text_; }
  // Not finite where the arithmetic is not (1 / 0).
  double evaluate(std::span<const double> values) const;
  // With dimensions: adding or comparing a size and a time is an error (message only).
  Expected<Quantity> evaluate(std::span<const Quantity> values) const;

  // Names that no parameter may have: functions, `and`, `or`, `not`, and the units that may stand below a `/`.
  static bool is_reserved(std::string_view name);

  bool operator==(const Expression& other) const { return text_ == other.text_; }

 private:
  friend class ExpressionParser;
  struct Instruction {
    int code = 0;
    double number = 0;
    int argument = 0;
    Dimension dimension;  // of the number
  };
  std::string text_;
  std::vector<std::string> names_;
  std::vector<Instruction> program_;  // for a stack machine
};

}  // namespace monet
