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

// What numbers consist of: a sign, so many bits from the first that is set to the last, and a range of powers of two.
struct NumberShape {
  NumberKind kind = NumberKind::unknown;
  std::int64_t significant = 0;
  std::int64_t exponent = 0;
};

// Digits after a letter: 4 of "e4m3" after 'e'; 0: there are none.
std::int64_t number_after(std::string_view layout, char letter) {
  const std::size_t at = layout.find(letter);
  std::int64_t number = 0;
  if (at != std::string_view::npos) std::from_chars(layout.data() + at + 1, layout.data() + layout.size(), number);
  return number;
}

NumberShape shape_of(std::string_view name) {
  const std::int64_t bits = bits_of_precision(name);
  NumberShape shape{.kind = kind_of(name)};
  const std::string_view layout = name.substr(without_layout(name).size());
  switch (shape.kind) {
    case NumberKind::integer:
    case NumberKind::block_integer: shape.significant = name.starts_with('u') ? bits : bits - 1; break;
    case NumberKind::microexponents:
      shape.significant = bits == 9 ? 7 : bits == 6 ? 4 : 2;
      break;  // DaCapo, arXiv 2403.09714
    case NumberKind::floating:
    case NumberKind::block_floating:
      if (const std::int64_t exponent = number_after(layout, 'e'); exponent > 0) {
        shape.exponent = exponent;
        shape.significant = number_after(layout, 'm') + 1;
      } else if (name == "fp16" || name == "float16") {
        shape = {shape.kind, 11, 5};
      } else if (bits >= 64) {
        shape = {shape.kind, 53, 11};
      } else if (name.starts_with("tf")) {
        shape = {shape.kind, 11, 8};
      } else if (bits >= 16) {
        shape = {shape.kind, bits - 8,
                 8};  // bf16, fp25, fp32: a sign and 8 bits of exponent, the first bit is not stored
      } else {
        // fp8: of e4m3; fp6, as blocks have it: e2m3 or e3m2; fp4: e2m1.
        shape = bits >= 8   ? NumberShape{shape.kind, 4, 4}
                : bits >= 6 ? NumberShape{shape.kind, 4, 3}
                            : NumberShape{shape.kind, 2, 2};
      }
      break;
    case NumberKind::unknown: break;
  }
  return shape;
}

// Blocks of at least as many bits, the narrowest; else the widest. Null: there are none.
const PrecisionRate* nearest_blocks(std::span<const PrecisionRate> precisions, std::string_view name) {
  const std::int64_t wanted = bits_of_precision(name);
  const PrecisionRate* best = nullptr;
  for (const PrecisionRate& each : precisions) {
    if (!is_block(kind_of(each.name))) continue;
    const std::int64_t bits = bits_of_precision(each.name);
    const std::int64_t most = best == nullptr ? 0 : bits_of_precision(best->name);
    if (best == nullptr || (most < wanted ? bits > most : bits >= wanted && bits < most)) best = &each;
  }
  return best;
}

// For counting, any numbers do: the widest, integers before others.
const PrecisionRate* widest(std::span<const PrecisionRate> precisions) {
  const auto rank = [](const PrecisionRate& each) {
    return std::pair(bits_of_precision(each.name), kind_of(each.name) == NumberKind::integer);
  };
  const auto best = std::ranges::max_element(precisions, {}, rank);
  return best == precisions.end() ? nullptr : &*best;
}

}  // namespace

bool holds(std::string_view given, std::string_view wanted) {
  if (plain(given) == plain(wanted) || given == without_layout(wanted)) return true;
  const NumberShape to = shape_of(given);
  const NumberShape from = shape_of(wanted);
  const std::int64_t bits = bits_of_precision(given);
  using enum NumberKind;
  switch (to.kind) {
    case floating:
      if (from.kind == floating) return to.significant >= from.significant && to.exponent >= from.exponent;
      if (from.kind == integer) return to.significant >= from.significant && to.exponent >= 5;
      return is_block(from.kind) && to.significant >= from.significant && to.exponent >= 8;
    case integer: return from.kind == integer && bits >= bits_of_precision(wanted);
    case block_floating:
      return (from.kind == block_floating || from.kind == floating) && bits >= bits_of_precision(wanted);
    case block_integer:
      return (from.kind == block_integer || from.kind == integer) && bits >= bits_of_precision(wanted);
    case microexponents: return from.kind == microexponents && bits >= bits_of_precision(wanted);
    case unknown: return false;
  }
  return false;
}

const PrecisionRate* precision_for(std::span<const PrecisionRate> precisions, std::string_view name) {
  if (const PrecisionRate* found = entry_for(precisions, name)) return found;
  const PrecisionRate* best = nullptr;
  for (const PrecisionRate& each : precisions) {
    if (!holds(each.name, name)) continue;
    if (best == nullptr || bits_of_precision(each.name) < bits_of_precision(best->name)) best = &each;
  }
  return best;
}

const PrecisionRate* precision_for(std::span<const PrecisionRate> precisions, const Problem& problem) {
  const PrecisionRate* found = precision_for(precisions, problem.precision);
  if (found != nullptr) return found;
  switch (problem.leeway) {
    case Leeway::none: return nullptr;
    case Leeway::any: return widest(precisions);
    case Leeway::blocks: return nearest_blocks(precisions, problem.precision);
  }
  return nullptr;
}

bool has_precision(std::span<const PrecisionRate> precisions, const Problem& problem) {
  return precisions.empty() || precision_for(precisions, problem) != nullptr;
}

bool is_converted(const Problem& problem, std::string_view used) {
  return problem.per_point[Count::mac] > 0 && is_block(kind_of(used)) && !is_block(kind_of(problem.precision));
}

Problem adapt(const Problem& problem, const Unit& unit, std::string* note) {
  const PrecisionRate* rate = precision_for(unit.precisions, problem);
  if (rate == nullptr) return problem;
  Problem result = problem;
  result.leeway = Leeway::none;
  const bool product = problem.per_point[Count::mac] > 0;
  if (rate->name != problem.precision) {
    result.precision = rate->name;
    if (note != nullptr && is_converted(problem, rate->name)) {
      *note = fmt::format("the {} works in {}: products of {} operands are costed as if these had been converted to {}",
                          unit.name, rate->name, problem.precision, rate->name);
    } else if (note != nullptr && product && entry_for(unit.precisions, problem.precision) == nullptr) {
      *note = fmt::format("the {} has no {}: such products run in {}", unit.name, problem.precision, rate->name);
    }
  }
  const std::int64_t bits = bits_of_precision(rate->name);
  for (ProblemOperand& operand : result.operands) {
    if (product && !operand.written && bits > 0 && operand.bits_in(MemoryKind::registers) > static_cast<double>(bits)) {
      operand.register_bits = static_cast<std::uint16_t>(bits);
    }
    if (rate->accumulate.empty()) continue;
    operand.partial_bits = std::max(static_cast<std::int64_t>(std::ceil(operand.bits_in(MemoryKind::registers))),
                                    bits_of_precision(rate->accumulate));
  }
  return result;
}

}  // namespace monet
