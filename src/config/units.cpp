#include "config/units.h"

#include "base/suggest.h"
#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <vector>

namespace monet {

namespace {

constexpr Dimension bits{.bit = 1}, cycles{.cycle = 1}, seconds{.second = 1}, energies{.energy = 1};
constexpr Dimension lengths{.length = 1}, operations{.operation = 1};

using Units = std::unordered_map<std::string, UnitScale>;

void add_prefixed(Units& units, std::string_view prefixes, std::string_view base, UnitScale scale) {
  static constexpr std::string_view all = "fpnumkMGTPE";
  static constexpr std::array<int, 11> exponents = {-15, -12, -9, -6, -3, 3, 6, 9, 12, 15, 18};
  units[std::string(base)] = scale;
  for (const char prefix : prefixes) {
    UnitScale scaled = scale;
    scaled.exponent += exponents[all.find(prefix)];
    units[prefix + std::string(base)] = scaled;
  }
}

Units make_units() {
  Units units;
  for (const auto& [name, factor] : {std::pair{"bit", 1.0}, std::pair{"B", 8.0}}) {
    add_prefixed(units, "kMGTPE", name, {.factor = factor, .dimension = bits});
    double binary = factor;
    for (const char prefix : std::string_view("KMGTPE")) {
      binary *= 1024;
      units[std::string{prefix, 'i'} + name] = {.factor = binary, .dimension = bits};
    }
  }
  add_prefixed(units, "kMG", "Hz", {.dimension = cycles - seconds});
  add_prefixed(units, "fpnum", "J", {.exponent = 12, .dimension = energies});
  add_prefixed(units, "fpnumkM", "W", {.exponent = 12, .dimension = energies - seconds});
  add_prefixed(units, "pnum", "s", {.dimension = seconds});
  units["cycle"] = units["cycles"] = {.dimension = cycles};
  for (const auto& [name, exponent] :
       {std::pair{"nm", 0}, std::pair{"um", 3}, std::pair{"mm", 6}, std::pair{"cm", 7}}) {
    units[name] = {.exponent = exponent, .dimension = lengths};
    units[name + std::string("2")] = {.exponent = 2 * exponent, .dimension = lengths + lengths};
  }
  for (const std::string_view name : {"OP", "FLOP", "MAC"}) {
    add_prefixed(units, "kMGTPE", name, {.dimension = operations});
  }
  return units;
}

const Units& all_units() {
  static const Units units = make_units();
  return units;
}

struct MeasureInfo {
  Dimension dimension;
  double scale;  // base units in one unit of Hardware
  std::string_view unit, what, example, other;
};

const MeasureInfo& info(Measure measure) {
  static const std::array<MeasureInfo, 13> infos = {{
      {{}, 1, "", "a number without a unit", "4", ""},
      {bits, 1, "bit", "a size", "2 MiB", "64 kbit"},
      {bits - cycles, 1, "bit/cycle", "a bandwidth", "512 bit/cycle", "17 MB/s"},
      {cycles - seconds, 1, "Hz", "a frequency", "500 MHz", "1.2 GHz"},
      {energies, 1, "pJ", "an energy", "0.095 pJ", "1 nJ"},
      {energies, 1, "pJ", "an energy", "0.095 pJ", "1.2 pJ/bit"},
      {energies - bits, 1, "pJ/bit", "an energy per bit", "0.8 pJ/bit", "3 pJ/B"},
      {energies - cycles, 1, "pJ/cycle", "an energy per cycle", "2 pJ/cycle", ""},
      {energies - seconds, 1e12, "W", "a power", "50 mW", "3 uW"},
      {cycles, 1, "cycle", "a time", "100 cycle", "60 ns"},
      {lengths + lengths, 1e12, "mm2", "an area", "1.5 mm2", "200 um2"},
      {lengths, 1, "nm", "a length", "22 nm", ""},
      {operations - seconds, 1, "OP/s", "a rate", "6.4 MOP/s", "2 GFLOP/s"},
  }};
  return infos[static_cast<std::size_t>(measure)];
}

// Conversion by a clock leaves 80.00000000000001 where 80 is meant.
double snapped(double value) {
  const double whole = std::round(value);
  return std::abs(value - whole) <= 1e-12 * std::abs(value) ? whole : value;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Expected<UnitScale> parse_unit(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view name = trimmed(text.substr(0, slash));
  const auto unknown = [](std::string_view wrong) {
    return Error{.message = fmt::format("unknown unit '{}'", wrong.substr(0, 40)), .advice = unit_meant(wrong)};
  };
  auto unit = unit_named(name);
  if (!unit) return unknown(name);
  if (slash == std::string_view::npos) return *unit;
  const std::string_view below = trimmed(text.substr(slash + 1));
  const auto divisor = unit_named(below);
  if (!divisor) return unknown(below);
  return UnitScale{.exponent = unit->exponent - divisor->exponent,
                   .factor = unit->factor / divisor->factor,
                   .dimension = unit->dimension - divisor->dimension};
}

}  // namespace

Dimension operator+(const Dimension& a, const Dimension& b) {
  const auto sum = [](int x, int y) { return static_cast<std::int8_t>(x + y); };
  return {sum(a.bit, b.bit),       sum(a.cycle, b.cycle),   sum(a.second, b.second),
          sum(a.energy, b.energy), sum(a.length, b.length), sum(a.operation, b.operation)};
}

Dimension operator-(const Dimension& a, const Dimension& b) {
  const auto difference = [](int x, int y) { return static_cast<std::int8_t>(x - y); };
  return {difference(a.bit, b.bit),       difference(a.cycle, b.cycle),   difference(a.second, b.second),
          difference(a.energy, b.energy), difference(a.length, b.length), difference(a.operation, b.operation)};
}

std::string expected_form(Measure measure) {
  const MeasureInfo& about = info(measure);
  std::string text = fmt::format("{}, for example {}", about.what, about.example);
  if (!about.other.empty()) text += fmt::format(" or {}", about.other);
  return text;
}

std::string_view example_of(Measure measure) { return info(measure).example; }
std::string_view unit_of(Measure measure) { return info(measure).unit; }

std::string format_measure(double value, Measure measure) {
  if (measure == Measure::size && value >= 8 && value == std::floor(value)) {
    static constexpr std::array<std::string_view, 7> bytes = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double size = value / 8;
    std::size_t step = 0;
    for (; step + 1 < bytes.size() && size >= 1024; ++step) size /= 1024;
    // Only where it is short: 1000 bit is not 0.1220703125 KiB.
    if (size * 8 == std::floor(size * 8)) return fmt::format("{:.12g} {}", size, bytes[step]);
  }
  const std::string_view unit = unit_of(measure);
  struct Prefix {
    Measure measure;
    double factor;
    std::string_view unit;
  };
  static constexpr std::array<Prefix, 9> prefixes = {{{Measure::frequency, 1e9, "GHz"},
                                                      {Measure::frequency, 1e6, "MHz"},
                                                      {Measure::rate, 1e12, "TOP/s"},
                                                      {Measure::rate, 1e9, "GOP/s"},
                                                      {Measure::rate, 1e6, "MOP/s"},
                                                      {Measure::power, 1, "W"},
                                                      {Measure::power, 1e-3, "mW"},
                                                      {Measure::power, 1e-6, "uW"},
                                                      {Measure::power, 1e-9, "nW"}}};
  for (const Prefix& prefix : prefixes) {
    if (prefix.measure != measure || std::abs(value) < prefix.factor) continue;
    return fmt::format("{:.12g} {}", value / prefix.factor, prefix.unit);
  }
  return unit.empty() ? fmt::format("{:.12g}", value) : fmt::format("{:.12g} {}", value, unit);
}

std::optional<UnitScale> unit_named(std::string_view name) {
  const auto found = all_units().find(std::string(name));
  if (found == all_units().end()) return std::nullopt;
  return found->second;
}

std::string unit_meant(std::string_view name) {
  if (name == "KB") return "write kB for 1000 bytes or KiB for 1024";
  if (name == "b") return "write bit or B";
  if (name == "%") return "write a fraction";
  std::vector<std::string> names;
  for (const auto& entry : all_units()) names.push_back(entry.first);
  std::sort(names.begin(), names.end());
  if (name.size() > 3 && (name.ends_with("OPS") || name.ends_with("LOPS"))) {
    return fmt::format("write {}/s", name.substr(0, name.size() - 1));
  }
  const std::string near = nearest(name, names);
  return near.empty()
             ? "units: B, bit, cycle, s, Hz, J, W, mm2, nm, OP, with k M G … or Ki Mi Gi …, and one / between two"
             : fmt::format("did you mean '{}'?", near);
}

std::size_t number_length(std::string_view text) {
  std::size_t at = 0;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t first = at;
  bool digits = false;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '.'); ++at) {
    // Two dots end a number: 64..512.
    if (text[at] == '.' &&
        (text.substr(at, 2) == ".." || text.substr(first, at - first).find('.') != std::string_view::npos))
      break;
    digits |= is_digit(text[at]);
  }
  if (!digits) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    std::size_t exponent = at + 1;
    if (exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+')) ++exponent;
    if (exponent < text.size() && is_digit(text[exponent])) {
      while (exponent < text.size() && is_digit(text[exponent])) ++exponent;
      at = exponent;
    }
  }
  return at;
}

Expected<Quantity> make_quantity(std::string_view number, std::string_view unit) {
  UnitScale scale;
  if (!unit.empty()) {
    auto parsed = parse_unit(unit);
    if (!parsed) return std::move(parsed).error();
    scale = *parsed;
  }
  // The unit's power of ten is added to the text, so that 0.3 mW is the double nearest to 0.0003.
  if (!number.empty() && number.front() == '+') number.remove_prefix(1);
  std::string_view mantissa = number;
  long exponent = scale.exponent;
  if (const std::size_t e = number.find_first_of("eE"); e != std::string_view::npos) {
    mantissa = number.substr(0, e);
    std::string_view power = number.substr(e + 1);
    if (!power.empty() && power.front() == '+') power.remove_prefix(1);
    long written = 0;
    if (std::from_chars(power.data(), power.data() + power.size(), written).ec != std::errc()) {
      return Error{.message = fmt::format("the number {} is too large", number.substr(0, 40))};
    }
    exponent += std::clamp(written, -100000L, 100000L);
  }
  const std::string text = fmt::format("{}e{}", mantissa, exponent);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    return Error{.message = fmt::format("the number {} is too large or too small", number.substr(0, 40))};
  }
  if (result.ec != std::errc()) return Error{.message = fmt::format("'{}' is not a number", number.substr(0, 40))};
  return Quantity{.value = value * scale.factor, .dimension = scale.dimension};
}

Expected<Quantity> parse_quantity(std::string_view text) {
  text = trimmed(text);
  const std::size_t length = number_length(text);
  if (length == 0) return Error{.message = fmt::format("'{}' does not start with a number", text.substr(0, 40))};
  return make_quantity(text.substr(0, length), trimmed(text.substr(length)));
}

Expected<double> convert(const Quantity& quantity, Measure measure, double clock_hz) {
  const MeasureInfo& about = info(measure);
  Quantity converted = quantity;
  const Dimension seconds_to_cycles = cycles - seconds;
  const bool times = measure == Measure::time && quantity.dimension == seconds;
  const bool bandwidths = measure == Measure::bandwidth && quantity.dimension == bits - seconds;
  if (times || bandwidths) {
    if (!(clock_hz > 0)) {
      return Error{.message = "without a clock, seconds cannot be turned into cycles",
                   .advice = "state the clock, for example clock: 500 MHz"};
    }
    converted.value = snapped(times ? quantity.value * clock_hz : quantity.value / clock_hz);
    converted.dimension = times ? quantity.dimension + seconds_to_cycles : quantity.dimension - seconds_to_cycles;
  }
  if (converted.dimension == about.dimension) return converted.value / about.scale;
  if (quantity.dimension.is_number()) {
    return Error{.message = "a unit is missing", .advice = fmt::format("write {}", expected_form(measure))};
  }
  return Error{.message = "the unit does not fit here", .advice = fmt::format("write {}", expected_form(measure))};
}

}  // namespace monet
