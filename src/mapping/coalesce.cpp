#include "mapping/extract.h"

#include "mapping/spatial.h"

#include <algorithm>

namespace monet {

namespace {

constexpr std::size_t no_axis = static_cast<std::size_t>(-1);

// The axis that follows this loop alone, one position an iteration; no_axis if there is none such, or another one
// follows the loop as well.
std::size_t own_axis(const ProblemOperand& operand, std::size_t loop, std::int64_t size) {
  const auto follows = [&](const ProblemAxis& axis) {
    return std::ranges::any_of(axis.terms, [&](const Term& term) { return term.loop == loop; });
  };
  if (std::ranges::count_if(operand.axes, follows) != 1) return no_axis;
  for (std::size_t i = 0; i < operand.axes.size(); ++i) {
    const ProblemAxis& axis = operand.axes[i];
    if (axis.terms.size() == 1 && axis.terms[0].loop == loop && axis.divisor == 1 && axis.span == 1 &&
        !axis.scattered && axis.limit >= size) {
      return i;
    }
  }
  return no_axis;
}

bool uses(const ProblemOperand& operand, std::size_t loop) { return (operand.relevant() >> loop & 1U) != 0; }

// `allowed`: loops of the problem that each dimension of the unit may take.
bool alike(const Problem& problem, std::span<const std::uint32_t> allowed, std::size_t a, std::size_t b) {
  const auto alike_to = [&](std::uint32_t loops) { return (loops >> a & 1U) == (loops >> b & 1U); };
  if (!std::ranges::all_of(allowed, alike_to)) return false;
  return std::ranges::all_of(problem.operands, [&](const ProblemOperand& operand) {
    if (!uses(operand, a) && !uses(operand, b)) return true;
    // Both axes must end with the loop, or a joined loop would run past the end of one.
    return own_axis(operand, a, problem.loops[a].size) != no_axis &&
           own_axis(operand, b, problem.loops[b].size) != no_axis;
  });
}

// Loop b becomes part of loop a.
void join(Problem& problem, std::size_t a, std::size_t b) {
  for (ProblemOperand& operand : problem.operands) {
    const std::size_t axis_a = own_axis(operand, a, problem.loops[a].size);
    const std::size_t axis_b = own_axis(operand, b, problem.loops[b].size);
    if (axis_a != no_axis && axis_b != no_axis) {
      operand.axes[axis_a].limit = problem.loops[a].size * problem.loops[b].size;
      operand.axes.erase(operand.axes.begin() + static_cast<std::ptrdiff_t>(axis_b));
    }
    for (ProblemAxis& axis : operand.axes) {
      for (Term& term : axis.terms) {
        if (term.loop > b) --term.loop;
      }
    }
  }
  problem.loops[a].size *= problem.loops[b].size;
  problem.loops.erase(problem.loops.begin() + static_cast<std::ptrdiff_t>(b));
}

}  // namespace

Problem coalesce(const Problem& problem, const Unit& unit, std::span<const Dim> named) {
  Problem joined = problem;
  std::vector<std::uint32_t> allowed = allowed_loops(joined, unit);
  for (std::size_t a = 0; a < joined.loops.size(); ++a) {
    for (std::size_t b = a + 1; b < joined.loops.size();) {
      const auto is_named = [&](std::size_t loop) {
        return std::ranges::find(named, joined.loops[loop].name) != named.end();
      };
      if (!is_named(a) && !is_named(b) && alike(joined, allowed, a, b)) {
        join(joined, a, b);
        allowed = allowed_loops(joined, unit);
      } else {
        ++b;
      }
    }
  }
  return joined;
}

}  // namespace monet
