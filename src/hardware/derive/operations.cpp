// Energy of one operation. Two publications give additions and multiplications at several precisions: Horowitz at 45 nm
// and Jouppi et al. at 7 nm, whose levels differ by more than scaling explains. So one of them is the anchor of an
// answer (the latter below 16 nm), other nodes follow by scaling, and what the anchor lacks is had from a ratio inside
// another publication, never from a sum of two.
#include "base/embedded.h"
#include "base/require.h"
#include "hardware/derive/costs.h"
#include "hardware/derive/scaling.h"
#include "hardware/derive/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr double seven_nanometres_below_nm = 16;

struct Family {
  std::string name;
  double node_nm = 0, voltage = 0;
  std::string source;
};

Family family_named(std::string_view name) {
  static const CostTable table(embedded_text("data/hardware/families.csv"));
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "family") != name) continue;
    const bool absolute = !table.text(row, "voltage").empty();
    return {std::string(name), table.number(row, "node_nm"), absolute ? table.number(row, "voltage") : 0,
            table.text(row, "source")};
  }
  MONET_REQUIRE(false);
  return {};
}

std::optional<DerivedCost> entry(const Family& family, std::string_view operation, std::string_view precision) {
  static const CostTable table(embedded_text("data/hardware/operations.csv"));
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.text(row, "family") == family.name && table.text(row, "operation") == operation &&
        table.text(row, "precision") == precision)
      return DerivedCost{table.number(row, "pj"), family.source, table.text(row, "confidence").front()};
  }
  return std::nullopt;
}

// `cost` times a number that `reason` explains.
DerivedCost times(DerivedCost cost, double factor, const std::string& reason) {
  return {cost.value * factor, fmt::format("{}, {}", cost.source, reason), 'D'};
}

// An addition or a multiplication.
std::optional<DerivedCost> basic(const Family& family, std::string_view operation, std::string_view precision) {
  if (auto known = entry(family, operation, precision)) return known;
  const Family other = family_named(family.name == "horowitz" ? "jouppi" : "horowitz");
  const auto by_ratio = [&](std::string_view relative) -> std::optional<DerivedCost> {
    const auto anchor = entry(family, operation, relative);
    const auto numerator = entry(other, operation, precision);
    const auto denominator = entry(other, operation, relative);
    if (!anchor || !numerator || !denominator) return std::nullopt;
    return times(*anchor, numerator->value / denominator->value,
                 fmt::format("{} : {} as in {}", precision, relative, other.source));
  };
  if (precision == "bf16") return by_ratio("fp32");
  if (precision == "int16") return by_ratio("int32");
  // A significand of 11 bits is multiplied as in fp16; sums are fp32.
  if (precision == "tf32") {
    auto same = basic(family, operation, operation == "add" ? "fp32" : "fp16");
    if (same) same = times(*same, 1, operation == "add" ? "tf32 adds as fp32" : "tf32 multiplies as fp16");
    return same;
  }
  if (precision == "fp8") {
    const auto wide = basic(family, operation, "bf16");
    if (wide) return times(*wide, 0.45, "fp8 0.4 to 0.5 of bf16 by the squares of significands");
  }
  return std::nullopt;
}

std::optional<DerivedCost> mac(const Family& family, std::string_view precision, std::string_view accumulate) {
  const auto product = basic(family, "multiply", precision);
  const auto sum = basic(family, "add", accumulate.empty() ? precision : accumulate);
  if (!product || !sum) return std::nullopt;
  return DerivedCost{product->value + sum->value, fmt::format("multiply + add: {}", product->source), 'D'};
}

bool is_float(std::string_view precision) {
  return precision.starts_with("fp") || precision.starts_with("bf") || precision.starts_with("tf");
}

// Relative to a MAC of the same precision, as FuseMax has it in fp16.
std::optional<DerivedCost> by_macs(const Family& family, std::string_view operation, std::string_view precision,
                                   const std::string& note) {
  if (!is_float(precision)) return std::nullopt;
  const Family fusemax = family_named("fusemax");
  const auto known = entry(fusemax, operation, "fp16"), unit = entry(fusemax, "mac", "fp16");
  const auto own = mac(family, precision, {});
  MONET_REQUIRE(known && unit);
  if (!own) return std::nullopt;
  const double macs = known->value / unit->value;
  return times(*own, macs, fmt::format("{:.3g} MACs as in {}{}", macs, fusemax.source, note));
}

// A comparison of floats is one of integers of their width.
std::optional<DerivedCost> compare(const Family& family, std::string_view precision) {
  const bool narrow = precision == "int8" || precision == "fp8";
  const bool half = precision == "int16" || precision == "fp16" || precision == "bf16";
  const bool full = precision == "int32" || precision == "fp32" || precision == "tf32";
  if (!narrow && !half && !full) return std::nullopt;
  const auto sum = basic(family, "add", narrow ? "int8" : half ? "int16" : "int32");
  const Family aladdin = family_named("aladdin");
  const auto comparator = entry(aladdin, "compare", "int32"), adder = entry(aladdin, "add", "int32");
  MONET_REQUIRE(comparator && adder);
  if (!sum) return std::nullopt;
  return times(*sum, comparator->value / adder->value, "comparator : adder as in " + aladdin.source);
}

std::optional<DerivedCost> at_own_node(const Family& family, Count kind, std::string_view precision,
                                       std::string_view accumulate);

// What is computed from simpler operations: so many of each kind.
struct Step {
  double times;
  Count kind;
};
std::optional<DerivedCost> composed(const Family& family, std::string_view precision, std::initializer_list<Step> steps,
                                    const std::string& reason) {
  DerivedCost sum{0, fmt::format("{}: {}", reason, family.source), 'D'};
  for (const Step& step : steps) {
    const auto cost = at_own_node(family, step.kind, precision, {});
    if (!cost) return std::nullopt;
    sum.value += step.times * cost->value;
  }
  return sum;
}

std::optional<DerivedCost> at_own_node(const Family& family, Count kind, std::string_view precision,
                                       std::string_view accumulate) {
  switch (kind) {
    case Count::mac: return mac(family, precision, accumulate);
    case Count::add: return basic(family, "add", precision);
    case Count::multiply: return basic(family, "multiply", precision);
    case Count::compare: return compare(family, precision);
    case Count::divide: return by_macs(family, "divide", precision, "");
    case Count::sqrt: return by_macs(family, "divide", precision, "; a root as a division");
    case Count::exp: return by_macs(family, "exp", precision, "");
    case Count::log: return by_macs(family, "exp", precision, "; a logarithm as an exponential");
    case Count::trigonometric: return by_macs(family, "exp", precision, "; a sine as an exponential");
    case Count::tanh:
      return composed(family, precision, {{1, Count::exp}, {1, Count::divide}, {2, Count::add}},
                      "exponential, division, two additions");
    case Count::erf:
      return composed(family, precision,
                      {{1, Count::exp}, {1, Count::divide}, {6, Count::mac}, {2, Count::multiply}, {1, Count::add}},
                      "Abramowitz and Stegun 7.1.26: exponential, division, six MACs, two products, a sum");
    case Count::power:
      return composed(family, precision, {{1, Count::log}, {1, Count::multiply}, {1, Count::exp}},
                      "logarithm, product, exponential");
    case Count::logic: return composed(family, precision, {{1, Count::compare}}, "as a comparison");
    case Count::round: return composed(family, precision, {{1, Count::add}}, "as an addition");
    case Count::random:
      return composed(family, "int32", {{5, Count::multiply}, {15, Count::add}},
                      "Philox 4x32-10: for one number five products and fifteen sums of int32");
    case Count::move: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<DerivedCost> operation_pj(Count kind, std::string_view precision, std::string_view accumulate,
                                        double technology_nm) {
  MONET_REQUIRE(technology_nm > 0);
  const Family family = family_named(technology_nm < seven_nanometres_below_nm ? "jouppi" : "horowitz");
  auto cost = at_own_node(family, kind, precision, accumulate);
  if (!cost || technology_nm == family.node_nm) return cost;
  return times(*cost, energy_ratio(family.node_nm, technology_nm, family.voltage),
               fmt::format("scaled to {:g} nm by {}", technology_nm, scaling_source));
}

}  // namespace monet
