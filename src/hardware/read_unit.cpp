#include "base/try.h"
#include "hardware/derive/costs.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t max_lanes = std::int64_t{1} << 30;
constexpr std::size_t max_dimensions = 12;
constexpr int max_generic_loops = 16;

const std::vector<std::string>& loop_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; i < static_cast<int>(Dim::A0) + max_generic_loops; ++i) all.push_back(name_of(static_cast<Dim>(i)));
    return all;
  }();
  return names;
}

Expected<std::vector<Dim>> read_loops(const Fields& fields) {
  std::vector<Dim> loops;
  for (const Yaml* loop : fields.names("loops")) {
    const auto& known = loop_names();
    const auto found = std::find(known.begin(), known.end(), loop->scalar);
    if (found == known.end()) {
      return Error{.message = fmt::format("there is no loop '{}'", shown(loop->scalar)),
                   .place = loop->place.text(),
                   .advice = meant_name(loop->scalar, known)};
    }
    loops.push_back(static_cast<Dim>(found - known.begin()));
  }
  return loops;
}

Expected<std::vector<UnitDimension>> read_dimensions(const ReadState& state, const Fields& unit) {
  const Yaml* table = unit.find("dimensions");
  if (table == nullptr || table->entries.empty()) {
    return unit.error("dimensions", "an array without dimensions", "write dimensions: {K: 32, C: 32}");
  }
  if (table->entries.size() > max_dimensions) {
    return unit.error("dimensions", fmt::format("more than {} dimensions", max_dimensions));
  }
  std::vector<UnitDimension> dimensions;
  for (const Yaml::Entry& entry : table->entries) {
    if (entry.key == "all" || entry.key == "gang") {
      return Error{.message = fmt::format("'{}' cannot name a dimension", entry.key),
                   .place = entry.place.text(),
                   .advice = "`serves` needs the word for itself"};
    }
    const YamlPtr block = block_of(entry.value, "size");
    MONET_TRY(const Fields fields, state.open(*block, dimension_block(), unit.context(), ""));
    MONET_TRY(const auto size, fields.integer("size", 1, max_lanes));
    if (!size) return fields.error("size", fmt::format("the dimension '{}' has no size", entry.key), "write size: 32");
    UnitDimension dimension{.name = entry.key, .size = *size, .loops = {}};
    MONET_TRY(dimension.loops, read_loops(fields));
    dimensions.push_back(std::move(dimension));
  }
  return dimensions;
}

Expected<DerivedCost> derive_energy(const Fields& fields, Count kind, const PrecisionRate* base) {
  const std::string precision = base == nullptr ? "fp32" : base->name;
  const double technology = fields.context().technology_nm;
  const std::string kind_name(name_of(kind));
  if (technology > 0) {
    if (auto cost = operation_pj(kind, precision, base == nullptr ? "" : base->accumulate, technology)) {
      if (base == nullptr) cost->source += "; for fp32, as no precision is stated";
      return *std::move(cost);
    }
  }
  if (kind == Count::move) return DerivedCost{.source = "moving is no arithmetic: it costs what its memories cost"};
  return Error{.message = technology > 0 ? fmt::format("no table has the energy of {} in {}", kind_name, precision)
                                         : fmt::format("the energy of {} is left out, and so is the technology to "
                                                       "derive it from",
                                                       kind_name),
               .place = fields.node().place.text(),
               .advice = fmt::format("write {}: {{cycles: 1, energy: 0.04 pJ}}{}", kind_name,
                                     technology > 0 ? "" : ", or technology: 22 nm for the machine")};
}

// Energies of precisions that state none, relative to the first: as the table has them for the unit's main operation.
void derive_precision_energies(const Fields& unit, const std::vector<bool>& stated, Unit& result) {
  if (result.precisions.size() < 2) return;
  const PrecisionRate& base = result.precisions.front();
  const Count kind = result.cycles[static_cast<std::size_t>(Count::mac)] > 0 ? Count::mac : Count::add;
  const double technology = unit.context().technology_nm;
  const auto cost = [&](const PrecisionRate& precision) -> std::optional<DerivedCost> {
    if (!(technology > 0)) return std::nullopt;
    return operation_pj(kind, precision.name, precision.accumulate, technology);
  };
  const auto base_cost = cost(base);
  for (std::size_t i = 0; i < result.precisions.size(); ++i) {
    if (stated[i] || i == 0) continue;
    PrecisionRate& precision = result.precisions[i];
    const auto own = cost(precision);
    const std::string quantity = fmt::format("{} energy", precision.name);
    if (own && base_cost && base_cost->value > 0) {
      precision.energy = base.energy * own->value / base_cost->value;
      unit.note_derived(quantity, precision.energy, Measure::number,
                        fmt::format("relative to {}, for {}: {}", base.name, name_of(kind), own->source), 'D');
    } else {
      precision.energy = base.energy;
      unit.note_derived(quantity, precision.energy, Measure::number,
                        fmt::format("left out, and no table has it: as {}", base.name), 'D');
    }
  }
}

Status read_operations(const ReadState& state, const Fields& unit, const Yaml& table, Unit& result) {
  std::array<bool, count_kinds> has_energy{};
  const double scale = state.cycle_scale(unit.context().clock_hz);
  if (table.entries.empty()) {
    return Error{.message = "no operation is listed", .place = table.place.text(), .advice = "write mac: 1 cycle"};
  }
  for (const Yaml::Entry* entry : general_first(table)) {
    const YamlPtr block = block_of(entry->value, "cycles");
    MONET_TRY(const Fields fields, state.open(*block, operation_block(), unit.context(), entry->key));
    MONET_TRY(const auto cycles, fields.cycles("cycles"));
    MONET_TRY(const auto energy, fields.quantity("energy"));
    if (cycles && *cycles <= 0) {
      return fields.error("cycles", fmt::format("{} takes no cycles", entry->key),
                          "leave it out where the unit cannot do it");
    }
    for (const Count kind : kinds_of(entry->key)) {
      const auto i = static_cast<std::size_t>(kind);
      result.cycles[i] = cycles.value_or(1) * scale;
      result.energy_pj[i] = energy.value_or(0);
      has_energy[i] = energy.has_value();
    }
  }
  const PrecisionRate* base = result.precisions.empty() ? nullptr : &result.precisions.front();
  for (std::size_t i = 0; i < count_kinds; ++i) {
    if (result.cycles[i] == 0 || has_energy[i]) continue;
    const auto kind = static_cast<Count>(i);
    MONET_TRY(const DerivedCost cost, derive_energy(unit, kind, base));
    // The table's energy is that of the first precision, which may state its own factor.
    result.energy_pj[i] = base != nullptr && base->energy > 0 ? cost.value / base->energy : cost.value;
    unit.note_derived(fmt::format("{} energy", name_of(kind)), result.energy_pj[i], Measure::energy, cost.source,
                      cost.confidence);
  }
  return Done{};
}

// A unit that multiplies and adds can do a MAC in two operations.
void compose_macs(const Fields& unit, Unit& result) {
  const auto mac = static_cast<std::size_t>(Count::mac);
  const auto add = static_cast<std::size_t>(Count::add), multiply = static_cast<std::size_t>(Count::multiply);
  if (result.cycles[mac] > 0 || result.cycles[add] == 0 || result.cycles[multiply] == 0) return;
  result.cycles[mac] = result.cycles[multiply] + result.cycles[add];
  result.energy_pj[mac] = result.energy_pj[multiply] + result.energy_pj[add];
  unit.note_derived("mac cycles", result.cycles[mac], Measure::time, "left out: a product and a sum", 'D');
  unit.note_derived("mac energy", result.energy_pj[mac], Measure::energy, "left out: a product and a sum", 'D');
}

// What array and vector share: precisions, operations, fill, area.
Status read_work(const ReadState& state, const Fields& unit, const Yaml& operations, Unit& result) {
  MONET_TRY(result.precisions, read_precisions(state, unit, precision_block()));
  MONET_RETURN_IF_ERROR(read_operations(state, unit, operations, result));
  std::vector<bool> stated;
  if (const Yaml* table = unit.find("precisions")) {
    for (const Yaml::Entry& entry : table->entries) {
      stated.push_back(entry.value->is_map() && entry.value->find("energy") != nullptr);
    }
  }
  derive_precision_energies(unit, stated, result);
  compose_macs(unit, result);
  MONET_TRY(const auto fill, unit.cycles("fill"));
  result.fill_cycles = fill.value_or(0) * state.cycle_scale(unit.context().clock_hz);
  MONET_TRY(const auto area, unit.quantity("area"));
  result.area_mm2 = area.value_or(0);
  return Done{};
}

Expected<Expression> read_cycle_rule(const ReadState& state, const Fields& unit) {
  const Yaml& node = *unit.find("cycle_rule");
  static const std::vector<std::string> known = [] {
    std::vector<std::string> names = {"rows", "columns", "depth", "batch", "rate"};
    for (int i = 0; i < static_cast<int>(Dim::A0); ++i) names.push_back(name_of(static_cast<Dim>(i)));
    return names;
  }();
  const std::string written = node.scalar.starts_with('=') ? node.scalar.substr(1) : node.scalar;
  auto as_written = Expression::parse(written);
  if (!as_written) return placed(std::move(as_written).error(), node.place);
  for (const std::string& name : as_written->names()) {
    if (state.parameters.has(name) && std::find(known.begin(), known.end(), name) != known.end()) {
      return unit.error("cycle_rule", fmt::format("'{}' is a parameter and a size of the tile", name),
                        "give the parameter another name");
    }
  }
  std::string text = state.parameters.substitute(written);
  const double scale = state.cycle_scale(unit.context().clock_hz);
  if (scale != 1) text = fmt::format("({}) * {}", text, scale);
  auto rule = Expression::parse(text);
  if (!rule) return placed(std::move(rule).error(), node.place);
  for (const std::string& name : rule->names()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return unit.error("cycle_rule", fmt::format("'{}' is neither a parameter nor a size of the tile", shown(name)),
                        meant_name(name, known));
    }
  }
  return rule;
}

// What an array does when the file does not say: products, one a cycle.
const Yaml& only_products() {
  static const YamlPtr table = [] {
    auto one = std::make_shared<Yaml>();
    one->kind = YamlKind::scalar;
    one->scalar = "1";
    auto block = std::make_shared<Yaml>();
    block->kind = YamlKind::map;
    block->entries.push_back({"mac", {}, one});
    return block;
  }();
  return *table;
}

}  // namespace

Expected<std::vector<PrecisionRate>> read_precisions(const ReadState& state, const Fields& unit, const Block& kind) {
  std::vector<PrecisionRate> precisions;
  const Yaml* table = unit.find("precisions");
  if (table == nullptr) return precisions;
  if (table->entries.empty()) return unit.error("precisions", "no precision is listed", "leave the key out for all");
  for (const Yaml::Entry& entry : table->entries) {
    const YamlPtr block = block_of(entry.value, "rate");
    MONET_TRY(const Fields fields, state.open(*block, kind, unit.context(), entry.key));
    PrecisionRate precision{.name = entry.key};
    MONET_TRY(const auto rate, fields.number("rate"));
    precision.rate = rate.value_or(1);
    if (precision.rate <= 0) return fields.error("rate", fmt::format("{} at rate 0", entry.key), "leave it out");
    if (rate) fields.note("rate", format_measure(*rate, Measure::number), fields.node().find("rate"));
    MONET_TRY(const auto energy, fields.number("energy"));
    precision.energy = energy.value_or(1);
    if (energy) fields.note("energy", format_measure(*energy, Measure::number), fields.node().find("energy"));
    precision.accumulate = fields.text("accumulate");
    if (!precision.accumulate.empty() && !is_precision(precision.accumulate)) {
      return fields.error("accumulate", fmt::format("'{}' is no precision", shown(precision.accumulate)),
                          "for example fp32 or int32");
    }
    precisions.push_back(std::move(precision));
  }
  return precisions;
}

void derive_unit_area(const Fields& core, Unit& unit) {
  const auto does = [&](std::initializer_list<Count> kinds) {
    return std::ranges::any_of(kinds, [&](Count kind) { return unit.cycles[static_cast<std::size_t>(kind)] > 0; });
  };
  // Functions are computed by products and sums.
  const bool has_functions = does({Count::divide, Count::exp, Count::log, Count::sqrt, Count::erf, Count::tanh,
                                   Count::trigonometric, Count::power});
  const bool multiplies = has_functions || does({Count::mac, Count::multiply});
  const bool adds = has_functions || does({Count::mac, Count::add, Count::compare});
  const std::string quantity = unit.name + " area";
  const double technology = core.context().technology_nm;
  if (!(technology > 0)) {
    core.note_derived(quantity, 0, Measure::area, "left out, and no technology to derive it from: not known", 'D');
    return;
  }
  std::optional<DerivedCost> most;
  for (const PrecisionRate& precision : unit.precisions) {
    auto lane = lane_um2(multiplies, adds, precision.name, precision.accumulate, technology);
    if (!lane) continue;
    lane->value *= precision.rate;
    if (!most || lane->value > most->value) most = std::move(lane);
  }
  if (!most || most->value == 0) {
    core.note_derived(quantity, 0, Measure::area, "left out, and no precision is listed that a table has: not known",
                      'D');
    return;
  }
  constexpr double square_micrometres = 1e6;  // in a square millimetre
  unit.area_mm2 = most->value * static_cast<double>(unit.lanes()) / square_micrometres;
  core.note_derived(quantity, unit.area_mm2, Measure::area,
                    fmt::format("arithmetic of its lanes alone, by the precision that needs most: {}", most->source),
                    most->confidence);
}

Expected<Unit> read_array(const ReadState& state, const Yaml& node, const Context& around) {
  MONET_TRY(const Fields fields, state.open(node, array_block(), around, "array"));
  Unit unit;
  unit.name = "array";
  MONET_TRY(unit.dimensions, read_dimensions(state, fields));
  const Yaml* operations = fields.find("operations");
  if (operations == nullptr) {
    fields.note_derived("mac cycles", 1, Measure::time, "left out: one product a cycle in each unit", 'D');
  }
  MONET_RETURN_IF_ERROR(read_work(state, fields, operations == nullptr ? only_products() : *operations, unit));
  if (fields.has("cycle_rule")) {
    MONET_TRY(unit.cycle_rule, read_cycle_rule(state, fields));
  }
  MONET_TRY(const auto per_cycle, fields.quantity("energy_per_cycle"));
  if (per_cycle && !unit.cycle_rule) {
    return fields.error("energy_per_cycle", "an energy for each cycle of a rule that the array does not have",
                        "write a cycle_rule, or give the energy of the operations");
  }
  unit.energy_pj_per_cycle = per_cycle.value_or(0) / state.cycle_scale(fields.context().clock_hz);
  return unit;
}

Expected<Unit> read_vector(const ReadState& state, const Yaml& node, const Context& around) {
  MONET_TRY(const Fields fields, state.open(node, vector_block(), around, "vector"));
  Unit unit;
  unit.name = "vector";
  MONET_TRY(const auto lanes, fields.integer("lanes", 1, max_lanes));
  if (!lanes) return fields.error("lanes", "a vector unit without lanes", "write lanes: 64");
  MONET_TRY(std::vector<Dim> loops, read_loops(fields));
  unit.dimensions.push_back({.name = "lanes", .size = *lanes, .loops = std::move(loops)});
  const Yaml* operations = fields.find("operations");
  if (operations == nullptr) {
    return fields.error("operations", "a vector unit that lists no operations",
                        "write operations: {arithmetic: {cycles: 1}, exp: {cycles: 4}}");
  }
  MONET_RETURN_IF_ERROR(read_work(state, fields, *operations, unit));
  return unit;
}

}  // namespace monet
