#include "mapping/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace monet {

std::int64_t bits_of_precision(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  std::int64_t bits = 0;
  if (digits != std::string_view::npos) std::from_chars(name.data() + digits, name.data() + name.size(), bits);
  return std::clamp<std::int64_t>(bits, 0, 1024);
}

const PrecisionRate* nearest_precision(std::span<const PrecisionRate> precisions, std::string_view name) {
  const auto named = std::ranges::find(precisions, name, &PrecisionRate::name);
  if (named != precisions.end()) return &*named;
  const std::int64_t wanted = bits_of_precision(name);
  const auto worse = [&](const PrecisionRate& a, const PrecisionRate& b) {
    const std::int64_t bits_a = bits_of_precision(a.name);
    const std::int64_t bits_b = bits_of_precision(b.name);
    const bool holds_a = bits_a >= wanted;
    const bool holds_b = bits_b >= wanted;
    if (holds_a != holds_b) return holds_b;
    return holds_a ? bits_a > bits_b : bits_a < bits_b;
  };
  const auto best = std::ranges::max_element(precisions, worse);
  return best == precisions.end() ? nullptr : &*best;
}

Problem adapt(const Problem& problem, const Unit& unit, std::string* note) {
  const PrecisionRate* rate = nearest_precision(unit.precisions, problem.precision);
  if (rate == nullptr) return problem;
  Problem result = problem;
  if (rate->name != problem.precision) {
    const std::int64_t wanted = bits_of_precision(problem.precision);
    result.precision = rate->name;
    const std::int64_t bits = bits_of_precision(rate->name);
    const bool narrower = std::ranges::any_of(result.operands, [&](const auto& o) { return o.bits > bits; });
    if (narrower && wanted > bits) {
      for (ProblemOperand& operand : result.operands) {
        operand.bits = std::min(operand.bits, bits);
        operand.partial_bits = std::min(operand.partial_bits, std::max<std::int64_t>(32, bits));
      }
      if (note != nullptr) {
        *note = fmt::format("the {} works in {}: {} operands are costed at {} bits", unit.name, rate->name,
                            problem.precision, bits);
      }
    }
  }
  if (!rate->accumulate.empty()) {
    const std::int64_t bits = bits_of_precision(rate->accumulate);
    for (ProblemOperand& operand : result.operands) operand.partial_bits = std::max(operand.bits, bits);
  }
  return result;
}

}  // namespace monet
