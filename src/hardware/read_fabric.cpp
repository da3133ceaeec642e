#include "base/try.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace monet {

namespace {

constexpr std::int64_t most_fabric_chips = std::int64_t{1} << 30;
constexpr std::size_t most_efficiency_points = 100;

// Widths and times are kept in cycles of a clock on the way; this takes out what that rounds.
double to_13_digits(double value) { return std::strtod(fmt::format("{:.12e}", value).c_str(), nullptr); }

// In seconds, or bytes a second; noted in units that say more than cycles.
Expected<double> seconds(const Fields& fields, std::string_view key) {
  const Yaml* value = fields.find(key);
  if (value == nullptr) return 0.0;
  MONET_TRY(const double cycles, fields.convert_value(*value, Measure::time));
  const double result = to_13_digits(cycles / fields.context().clock_hz);
  fields.note(key, fmt::format("{:.6g} us", result * 1e6), fields.node().find(key));
  return result;
}

Expected<double> bytes_per_second(const Fields& fields, std::string_view key) {
  const Yaml* value = fields.find(key);
  if (value == nullptr) return 0.0;
  MONET_TRY(const double bits_per_cycle, fields.convert_value(*value, Measure::bandwidth));
  const double result = to_13_digits(bits_per_cycle * fields.context().clock_hz / 8);
  fields.note(key, fmt::format("{:.6g} GB/s", result / 1e9), fields.node().find(key));
  return result;
}

Expected<WidthShare> read_point(const Fields& fields, std::string_view key, const Yaml& item) {
  const Error wrong = {.message = fmt::format("'{}' is no size with its share of the width", shown(item.scalar)),
                       .place = item.place.text(),
                       .advice = fmt::format("write {}: [1 MiB 0.2, 1 GiB 0.8]", key)};
  const std::size_t gap = item.scalar.find_last_of(' ');
  if (gap == std::string::npos) return wrong;
  const auto size = parse_quantity(item.scalar.substr(0, gap));
  const auto share = parse_quantity(item.scalar.substr(gap + 1));
  if (!size || !share || !share->dimension.is_number()) return wrong;
  const auto bits = convert(*size, Measure::size, fields.context().clock_hz);
  if (!bits || !(*bits >= 8) || !(*bits <= 1e18)) return wrong;
  if (!(share->value >= 1e-6 && share->value <= 1)) {
    return Error{.message = fmt::format("a share of {} of the width", share->value),
                 .place = item.place.text(),
                 .advice = "above 0 and at most 1"};
  }
  return WidthShare{*bits / 8, share->value};
}

Expected<std::vector<WidthShare>> read_shares(const Fields& fields, std::string_view key) {
  std::vector<WidthShare> table;
  for (const Yaml* item : fields.names(key)) {
    MONET_TRY(const WidthShare point, read_point(fields, key, *item));
    if (table.size() == most_efficiency_points) {
      return Error{.message = "too many sizes", .place = item->place.text(), .advice = "at most 100"};
    }
    if (!table.empty()) {
      const WidthShare& last = table.back();
      if (point.bytes <= last.bytes) {
        return Error{.message = fmt::format("the size of '{}' is not above the one before", shown(item->scalar)),
                     .place = item->place.text(),
                     .advice = "write them by growing size"};
      }
      if (point.share / last.share > point.bytes / last.bytes) {
        return Error{.message = fmt::format("with '{}' more bytes take less time", shown(item->scalar)),
                     .place = item->place.text(),
                     .advice = "the share may not grow faster than the size: leave out one of the two"};
      }
    }
    table.push_back(point);
  }
  return table;
}

Status read_efficiency(const ReadState& state, const Fields& fields, FabricLevel& level) {
  const Yaml* node = fields.find("efficiency");
  if (node == nullptr) return Done{};
  MONET_TRY(const Fields inner, state.open(*node, fabric_efficiency_block(), fields.context(), "efficiency"));
  MONET_TRY(level.efficiency, read_shares(inner, "by_size"));
  MONET_TRY(level.efficiency_in_switch, read_shares(inner, "in_switch"));
  level.efficiency_source = inner.context().source;
  const auto note = [&](std::string_view key, const std::vector<WidthShare>& table) {
    if (table.empty()) return;
    inner.note(key, fmt::format("{:.3g} to {:.3g}, {} sizes", table.front().share, table.back().share, table.size()),
               inner.node().find(key));
  };
  note("by_size", level.efficiency);
  note("in_switch", level.efficiency_in_switch);
  if (!level.efficiency_in_switch.empty() && !level.reduces) {
    return inner.error("in_switch", "a switch that does not reduce", "write reduces: true, or leave this out");
  }
  return Done{};
}

Status read_algorithms(const Fields& fields, FabricLevel& level) {
  for (const Yaml* item : fields.names("algorithms")) {
    const auto algorithm = collective_algorithm_named(item->scalar);
    const auto fail = [&](std::string message, std::string advice) {
      return Error{.message = std::move(message), .place = item->place.text(), .advice = std::move(advice)};
    };
    if (!algorithm) {
      return fail(fmt::format("there is no algorithm '{}'", shown(item->scalar)),
                  "known: ring, tree, halving, direct, in_switch");
    }
    if (*algorithm == CollectiveAlgorithm::hierarchical)
      return fail("hierarchical is not of one level", "leave it out: it is always there");
    if (*algorithm == CollectiveAlgorithm::in_switch && !level.reduces)
      return fail("in_switch on a level that does not reduce", "write reduces: true");
    level.algorithms.push_back(*algorithm);
  }
  return Done{};
}

Status read_sizes(const Fields& fields, std::int64_t below, FabricLevel& level) {
  MONET_TRY(level.sizes, fields.integers("sizes", most_fabric_chips));
  MONET_TRY(const auto dimensions, fields.integer("dimensions", 1, max_torus_dimensions));
  if (level.kind != FabricKind::torus) {
    const std::string_view other = fields.has("sizes") ? "sizes" : "dimensions";
    if (!fields.has(other)) return Done{};
    return fields.error(other, fmt::format("'{}' on a level that is no torus", other),
                        "write kind: torus, or leave it out");
  }
  if (level.chips == any_chips) {
    if (fields.has("sizes")) {
      return fields.error("sizes", "sizes of a torus of any chips", "write dimensions: 3, or the number of its chips");
    }
    if (!dimensions) return fields.error("dimensions", "a torus of any chips", "write dimensions: 3");
    level.dimensions = *dimensions;
    return Done{};
  }
  if (dimensions) return fields.error("dimensions", "dimensions of a torus of so many chips", "write sizes: [4, 4]");
  if (level.sizes.empty() || level.sizes.size() > max_torus_dimensions) {
    return fields.error("sizes", fmt::format("a torus of {} sizes", level.sizes.size()),
                        fmt::format("from 1 to {}: write sizes: [4, 4]", max_torus_dimensions));
  }
  double product = static_cast<double>(below);
  for (const std::int64_t size : level.sizes) product *= static_cast<double>(size);
  if (product == static_cast<double>(level.chips)) return Done{};
  return fields.error("sizes", fmt::format("the sizes multiply to {} chips, not to {}", product, level.chips),
                      below > 1 ? fmt::format("they count units of {} chips", below) : "correct them, or `chips`");
}

Status read_chips(const Fields& fields, std::int64_t below, bool outermost, FabricLevel& level) {
  const Yaml* value = fields.find("chips");
  if (value == nullptr) {
    return fields.error("chips", fmt::format("the level '{}' does not say how many chips lie under it", level.name),
                        outermost ? "write chips: any, or a number" : "write chips: 8");
  }
  if (value->scalar == "any") {
    if (outermost) return Done{};
    return fields.error("chips", fmt::format("'any' on the level '{}', which is not the outermost", level.name),
                        "write how many chips lie under one unit of it");
  }
  if (!is_expression(*value) && number_length(value->scalar) == 0)
    return fields.error("chips", fmt::format("'{}' is no number of chips", shown(value->scalar)),
                        outermost ? "write a number, or any" : "write a number");
  MONET_TRY(const auto chips, fields.integer("chips", 1, most_fabric_chips));
  level.chips = *chips;
  if (level.chips <= below) {
    return fields.error(
        "chips",
        below == 1 ? fmt::format("the level '{}' joins one chip", level.name)
                   : fmt::format("the level '{}' has {} chips, and each unit below {}", level.name, level.chips, below),
        "write all chips that lie under one unit of it, or remove the level");
  }
  if (level.chips % below != 0) {
    return fields.error(
        "chips",
        fmt::format("{} chips under the level '{}' are no multiple of the {} below", level.chips, level.name, below),
        fmt::format("write a multiple of {}", below));
  }
  return Done{};
}

Expected<FabricLevel> read_fabric_level(const ReadState& state, const Fields& machine, const Yaml& node,
                                        std::int64_t below, bool outermost) {
  const Yaml* name = node.find("name");
  if (name == nullptr || !name->is_scalar() || name->scalar.empty()) {
    return Error{.message = "the level has no name", .place = node.place.text(), .advice = "write name: nvlink"};
  }
  MONET_TRY(const Fields fields, state.open(node, fabric_level_block(), machine.context(), "fabric " + name->scalar));
  FabricLevel level;
  level.name = fields.text("name");
  const std::string kind = fields.text("kind");
  for (const FabricKind each : {FabricKind::ring, FabricKind::torus, FabricKind::full})
    if (kind == name_of(each)) level.kind = each;
  MONET_RETURN_IF_ERROR(read_chips(fields, below, outermost, level));
  MONET_RETURN_IF_ERROR(read_sizes(fields, below, level));
  MONET_TRY(level.bytes_per_s, bytes_per_second(fields, "width"));
  if (level.bytes_per_s <= 0) {
    return fields.error("width", fmt::format("the level '{}' has no width", level.name), "write width: 50 GB/s");
  }
  MONET_TRY(level.latency_s, seconds(fields, "latency"));
  MONET_TRY(level.start_s, seconds(fields, "start"));
  MONET_TRY(level.reduces, fields.boolean("reduces", false));
  if (level.reduces && level.kind != FabricKind::switched) {
    return fields.error("reduces", fmt::format("a {} does not reduce", name_of(level.kind)), "leave it out");
  }
  MONET_TRY(const auto energy, fields.quantity("energy"));
  level.energy_pj_per_bit = energy.value_or(0);
  MONET_TRY(const auto oversubscription, fields.number("oversubscription", 1));
  level.oversubscription = oversubscription.value_or(1);
  MONET_TRY(const auto share, fields.number("share"));
  level.chip_share = share.value_or(0);
  if (level.chip_share >= 1) {
    return fields.error("share", "a collective that takes the whole chip", "write a number below 1");
  }
  MONET_RETURN_IF_ERROR(read_algorithms(fields, level));
  MONET_RETURN_IF_ERROR(read_efficiency(state, fields, level));
  return level;
}

}  // namespace

Expected<Fabric> read_fabric(const ReadState& state, const Fields& machine) {
  const Yaml& list = *machine.find("fabric");
  if (list.items.empty())
    return machine.error("fabric", "a fabric without levels", "write - {name: nvlink, chips: 8, …}");
  if (list.items.size() > max_fabric_levels) {
    return machine.error("fabric", fmt::format("a fabric of {} levels", list.items.size()),
                         fmt::format("at most {}", max_fabric_levels));
  }
  if (!(machine.context().clock_hz > 0)) return machine.error("fabric", "a fabric needs a clock", "write clock: 1 GHz");
  Fabric fabric;
  std::int64_t below = 1;
  for (const YamlPtr& item : list.items) {
    const bool outermost = item == list.items.back();
    MONET_TRY(FabricLevel level, read_fabric_level(state, machine, *item, below, outermost));
    for (const FabricLevel& other : fabric.levels) {
      if (other.name != level.name) continue;
      return Error{.message = fmt::format("there are two levels '{}'", shown(level.name)),
                   .place = item->place.text(),
                   .advice = "give one of them another name"};
    }
    below = level.chips;
    fabric.levels.push_back(std::move(level));
  }
  return fabric;
}

}  // namespace monet
