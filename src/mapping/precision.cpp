#include "mapping/precision.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace monet {

std::int64_t bits_of_precision(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  std::int64_t bits = 0;
  if (digits != std::string_view::npos) std::from_chars(name.data() + digits, name.data() + name.size(), bits);
  return std::clamp<std::int64_t>(bits, 0, 1024);
}

namespace {

// What stands before the bits of a name.
enum class NumberKind : std::uint8_t { floating, integer, block_floating, block_integer, microexponents, unknown };

NumberKind kind_of(std::string_view name) {
  const std::string_view letters = name.substr(0, name.find_first_of("0123456789"));
  if (letters == "fp" || letters == "float" || letters == "bf" || letters == "tf") return NumberKind::floating;
  if (letters == "int" || letters == "uint") return NumberKind::integer;
  if (letters == "mxfp" || letters == "nvfp") return NumberKind::block_floating;
  if (letters == "mxint" || letters == "bfp") return NumberKind::block_integer;
  return letters == "mx" ? NumberKind::microexponents : NumberKind::unknown;
}

// How far from each other two kinds are.
int distance(NumberKind wanted, NumberKind given) {
  using enum NumberKind;
  if (wanted == given || wanted == unknown) return 0;
  const auto order = [&]() -> std::array<NumberKind, 2> {
    switch (wanted) {
      case block_floating: return {floating, block_integer};
      case block_integer: return {integer, microexponents};
      case microexponents: return {block_integer, block_floating};
      case integer: return {block_integer, floating};
      default: return {block_floating, microexponents};
    }
  }();
  return given == order[0] ? 1 : given == order[1] ? 2 : 3;
}

// "fp8" of "fp8e4m3" and "fp8_e4m3".
std::string_view without_layout(std::string_view name) {
  const std::size_t digits = name.find_first_of("0123456789");
  return digits == std::string_view::npos ? name : name.substr(0, name.find_first_not_of("0123456789", digits));
}

std::string plain(std::string_view name) {
  std::string text(name);
  std::erase(text, '_');
  return text;
}

const PrecisionRate* named(std::span<const PrecisionRate> precisions, std::string_view name) {
  const auto found = std::ranges::find(precisions, name, &PrecisionRate::name);
  return found == precisions.end() ? nullptr : &*found;
}

// The entry that stands for these numbers; null: none does.
const PrecisionRate* entry_for(std::span<const PrecisionRate> precisions, std::string_view name) {
  if (const PrecisionRate* found = named(precisions, name)) return found;
  for (const PrecisionRate& precision : precisions) {
    if (plain(precision.name) == plain(name)) return &precision;
  }
  return named(precisions, without_layout(name));
}

bool is_block(NumberKind kind) {
  return kind == NumberKind::block_floating || kind == NumberKind::block_integer || kind == NumberKind::microexponents;
}

void narrow(ProblemOperand& operand, std::int64_t bits) {
  operand.bits = std::min(operand.bits, static_cast<double>(bits));
  operand.register_bits = static_cast<std::uint16_t>(std::min<std::int64_t>(operand.register_bits, bits));
}

// Results of integers that are wider than the unit's sums of them (int32, where sums have 16 bits) are not numbers of
// that machine: as operands that are too wide, they are costed at the widest that it has.
void narrow_results(Problem& problem, const Unit& unit, const PrecisionRate& rate, std::string* note) {
  if (kind_of(rate.name) != NumberKind::integer || rate.accumulate.empty()) return;
  const std::int64_t sums = bits_of_precision(rate.accumulate);
  std::int64_t widest = 0;
  for (const PrecisionRate& each : unit.precisions) widest = std::max(widest, bits_of_precision(each.name));
  for (ProblemOperand& operand : problem.operands) {
    const double bits = operand.bits_in(MemoryKind::registers);
    if (!operand.written || bits <= static_cast<double>(std::max(sums, widest))) continue;
    narrow(operand, widest);
    if (note != nullptr && note->empty()) {
      *note = fmt::format("the {} works in {} and adds up in {}: results of {} bits are costed at {} bits", unit.name,
                          rate.name, rate.accumulate, bits, widest);
    }
  }
}

// What a user should know of products that the unit does in other numbers.
std::string product_note(const Unit& unit, const std::string& wanted, const std::string& used, bool narrower) {
  if (is_block(kind_of(used)) && !is_block(kind_of(wanted))) {
    return fmt::format("the {} works in {}: a product of {} operands {} to {}", unit.name, used, wanted,
                       costed_as_converted, used);
  }
  if (!narrower) return fmt::format("the {} has no {}: such products are costed in {}", unit.name, wanted, used);
  return fmt::format("the {} works in {}: {} operands are costed at {} bits", unit.name, used, wanted,
                     bits_of_precision(used));
}

}  // namespace

const PrecisionRate* nearest_precision(std::span<const PrecisionRate> precisions, std::string_view name) {
  if (const PrecisionRate* found = entry_for(precisions, name)) return found;
  const std::int64_t wanted = bits_of_precision(name);
  const NumberKind kind = kind_of(name);
  const auto worse = [&](const PrecisionRate& a, const PrecisionRate& b) {
    const std::int64_t bits_a = bits_of_precision(a.name);
    const std::int64_t bits_b = bits_of_precision(b.name);
    const bool holds_a = bits_a >= wanted;
    const bool holds_b = bits_b >= wanted;
    if (holds_a != holds_b) return holds_b;
    const int distance_a = distance(kind, kind_of(a.name));
    const int distance_b = distance(kind, kind_of(b.name));
    if (holds_a && distance_a != distance_b) return distance_a > distance_b;
    if (bits_a != bits_b) return holds_a ? bits_a > bits_b : bits_a < bits_b;
    return distance_a > distance_b;
  };
  const auto best = std::ranges::max_element(precisions, worse);
  return best == precisions.end() ? nullptr : &*best;
}

Problem adapt(const Problem& problem, const Unit& unit, std::string* note) {
  const PrecisionRate* rate = nearest_precision(unit.precisions, problem.precision);
  if (rate == nullptr) return problem;
  Problem result = problem;
  if (rate->name != problem.precision) {
    const std::int64_t bits = bits_of_precision(rate->name);
    const bool product = problem.per_point[Count::mac] > 0;
    result.precision = rate->name;
    const bool wider = std::ranges::any_of(
        result.operands, [&](const auto& o) { return std::floor(o.bits) > static_cast<double>(bits); });
    const bool narrower = wider && bits_of_precision(problem.precision) > bits;
    if (narrower) {
      for (ProblemOperand& operand : result.operands) {
        narrow(operand, bits);
        operand.partial_bits = std::min(operand.partial_bits, std::max<std::int64_t>(32, bits));
      }
    }
    if (note != nullptr && (narrower || (product && entry_for(unit.precisions, problem.precision) == nullptr))) {
      *note = product ? product_note(unit, problem.precision, rate->name, narrower)
                      : fmt::format("the {} works in {}: {} operands are costed at {} bits", unit.name, rate->name,
                                    problem.precision, bits);
    }
  }
  narrow_results(result, unit, *rate, note);
  if (!rate->accumulate.empty()) {
    const std::int64_t bits = bits_of_precision(rate->accumulate);
    for (ProblemOperand& operand : result.operands) {
      operand.partial_bits = std::max(static_cast<std::int64_t>(std::ceil(operand.bits)), bits);
    }
  }
  return result;
}

}  // namespace monet
