#include "base/glob.h"
#include "base/try.h"
#include "graph/op.h"
#include "hardware/part_path.h"
#include "hardware/prototypes.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t max_count = 1 << 20;
constexpr std::size_t max_levels = 64;
constexpr std::size_t max_grid_rank = 3;

constexpr std::array<std::string_view, 12> family_names = {"elementwise", "contraction", "convolution", "pool",
                                                           "reduction",   "softmax",     "norm",        "view",
                                                           "movement",    "generate",    "optimizer",   "custom"};

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(family_names.begin(), family_names.end());
    for (std::size_t i = 0; i < op_count; ++i) all.emplace_back(name_of(static_cast<Op>(i)));
    return all;
  }();
  return names;
}

Expected<std::vector<std::string>> read_operators(const Fields& fields) {
  std::vector<std::string> patterns;
  for (const Yaml* item : fields.names("operators")) {
    const auto& known = operator_names();
    // A pattern that starts with ! takes away from those before it.
    const std::string_view pattern = std::string_view(item->scalar).substr(item->scalar.starts_with('!') ? 1 : 0);
    const bool found = pattern.size() <= 100 && std::any_of(known.begin(), known.end(), [&](const std::string& name) {
                         return matches(pattern, name);
                       });
    if (!found) {
      return Error{.message = fmt::format("there is no operator or family '{}'", shown(item->scalar)),
                   .place = item->place.text(),
                   .advice = meant_name(item->scalar, known)};
    }
    patterns.push_back(item->scalar);
  }
  return patterns;
}

Expected<std::array<bool, path_count>> read_paths(const Fields& fields) {
  std::array<bool, path_count> paths{};
  if (!fields.has("paths")) paths.fill(true);
  for (const Yaml* item : fields.names("paths")) {
    const auto path = path_named(item->scalar);
    if (!path) {
      return Error{.message = fmt::format("there is no path '{}'", shown(item->scalar)),
                   .place = item->place.text(),
                   .advice = meant_name(item->scalar, {"input", "weight", "output"})};
    }
    paths[static_cast<std::size_t>(*path)] = true;
  }
  return paths;
}

// Bits of the dimensions of the core's first unit; `all` is all but the gang.
Expected<std::uint32_t> read_serves(const Fields& fields, const Core& core, std::int64_t gang, bool by_default) {
  std::vector<std::string> known;
  std::uint32_t all = 0;
  std::uint32_t of_gang = 0;
  if (!core.units.empty()) {
    const auto& dimensions = core.units.front().dimensions;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      known.push_back(dimensions[i].name);
      (dimensions[i].name == "gang" ? of_gang : all) |= 1U << i;
    }
  }
  if (!fields.has("serves")) return by_default ? all : 0;
  std::uint32_t served = 0;
  for (const Yaml* item : fields.names("serves")) {
    const auto found = std::find(known.begin(), known.end(), item->scalar);
    if (item->scalar == "all") {
      served |= all;
    } else if (item->scalar == "gang" && gang <= 1) {
      served |= of_gang;  // a family may have a gang of one
    } else if (found != known.end()) {
      served |= 1U << static_cast<unsigned>(found - known.begin());
    } else {
      known.emplace_back("all");
      return Error{.message = fmt::format("the core has no dimension '{}'", shown(item->scalar)),
                   .place = item->place.text(),
                   .advice = meant_name(item->scalar, known)};
    }
  }
  return served;
}

Status read_dataflow(const ReadState& state, const Yaml& node, const Context& around, Core& core) {
  std::vector<std::string> names;
  if (!core.units.empty())
    for (const UnitDimension& dimension : core.units.front().dimensions) names.push_back(dimension.name);
  for (const Yaml::Entry& entry : node.entries) {
    const auto found = std::find(names.begin(), names.end(), entry.key);
    if (found == names.end()) {
      return Error{.message = fmt::format("the core has no dimension '{}'", shown(entry.key)),
                   .place = entry.place.text(),
                   .advice = meant_name(entry.key, names)};
    }
    MONET_TRY(const Fields fields, state.open(*entry.value, dataflow_block(), around, "dataflow"));
    for (const Yaml::Entry& loop : entry.value->entries) {
      MONET_TRY(const auto size, fields.integer(loop.key, 1, std::int64_t{1} << 31));
      const auto& keys = dataflow_block().keys;
      const auto at = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == loop.key; });
      core.dataflow.push_back({.dimension = static_cast<std::size_t>(found - names.begin()),
                               .loop = static_cast<Dim>(at - keys.begin()),
                               .size = *size});
    }
  }
  return Done{};
}

Expected<LevelPrototype> read_level(const ReadState& state, const Yaml::Entry& entry, const Context& around,
                                    const Core& core, std::int64_t gang) {
  MONET_TRY(const Fields fields, state.open(*entry.value, level_block(), around, fmt::format("memory {}", entry.key)));
  LevelPrototype level;
  level.name = entry.key;
  level.place = entry.place;
  MONET_TRY(level.paths, read_paths(fields));
  level.use = fields.text("use");
  level.link = fields.text("link");
  level.link_place = fields.place("link");
  if (fields.has("use")) {
    for (const Yaml::Entry& other : entry.value->entries) {
      if (other.key == "use" || other.key == "paths" || other.key == "serves" || other.key == "link" ||
          other.key == "source" || other.key == "confidence" || other.key == "note") {
        continue;
      }
      return Error{.message = fmt::format("'{}' beside 'use'", other.key),
                   .place = other.place.text(),
                   .advice = "state it where the memory of the system is described"};
    }
    MONET_TRY(level.served, read_serves(fields, core, gang, true));
    if (!fields.has("serves") && !core.units.empty()) {
      level.served = static_cast<std::uint32_t>((1ULL << core.units.front().dimensions.size()) - 1);
    }
    return level;
  }
  MONET_TRY(level.own, read_memory(state, fields, entry.key));
  MONET_TRY(level.served, read_serves(fields, core, gang, level.own->memory.kind != MemoryKind::registers));
  return level;
}

}  // namespace

Expected<Fields> ReadState::open(const Yaml& node, const Block& block, const Context& around,
                                 const std::string& part) const {
  Context context = around;
  if (!part.empty()) context.part = part_inside(context.part, part);
  return Fields::open(node, block, std::move(context), parameters, origins);
}

std::int64_t Repeat::count() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string Repeat::suffix(std::int64_t index) const {
  std::string text;
  std::int64_t parts = count();
  for (const std::int64_t size : shape) {
    parts /= size;
    if (!text.empty()) text += '_';
    text += std::to_string(index / parts % size);
  }
  return text;
}

Expected<Repeat> read_repeat(const Fields& fields) {
  Repeat repeat;
  MONET_TRY(const auto count, fields.integer("count", 1, max_count));
  MONET_TRY(repeat.shape, fields.integers("grid", 1 << 10));
  repeat.is_grid = fields.has("grid");
  if (count && repeat.is_grid) return fields.error("count", "both count and grid", "state one of them");
  if (repeat.is_grid && (repeat.shape.empty() || repeat.shape.size() > max_grid_rank)) {
    return fields.error("grid", fmt::format("a grid of {} sizes", repeat.shape.size()),
                        "write rows and columns: [4, 4]");
  }
  if (count) repeat.shape = {*count};
  return repeat;
}

Expected<CorePrototype> read_core(const ReadState& state, const Yaml::Entry& entry, const Context& around) {
  MONET_TRY(const Fields fields, state.open(*entry.value, core_block(), around, fmt::format("core {}", entry.key)));
  CorePrototype result;
  result.name = entry.key;
  result.place = entry.place;
  result.size = entry.value->size;
  MONET_TRY(result.repeat, read_repeat(fields));
  Core& core = result.core;
  MONET_TRY(core.operators, read_operators(fields));
  if (const Yaml* node = fields.find("array")) {
    MONET_TRY(Unit array, read_array(state, *node, fields.context()));
    core.units.push_back(std::move(array));
  }
  if (const Yaml* node = fields.find("vector")) {
    MONET_TRY(Unit vector, read_vector(state, *node, fields.context()));
    core.units.push_back(std::move(vector));
  }
  if (const Yaml* node = fields.find("rate")) {
    if (!core.units.empty()) {
      return fields.error("rate", "both units and a rate",
                          "describe a core by its units or by what was measured on it");
    }
    MONET_TRY(core.rate, read_rate(state, *node, fields.context()));
  }
  if (const Yaml* node = fields.find("kernels")) {
    MONET_TRY(core.kernels, read_kernels(state, *node, fields.context()));
  }
  core.type = fields.text("type");
  if (const Yaml* node = fields.find("dataflow"))
    MONET_RETURN_IF_ERROR(read_dataflow(state, *node, fields.context(), core));
  MONET_TRY(const auto gang, fields.integer("gang", 1, max_count));
  if (gang.value_or(1) > 1) {
    for (Unit& unit : core.units) unit.dimensions.push_back({.name = "gang", .size = *gang, .loops = {}});
    if (core.rate) {
      for (double& rate : core.rate->operations_per_s) rate *= static_cast<double>(*gang);
    }
  }
  if (const Yaml* memories = fields.find("memories")) {
    if (memories->entries.size() > max_levels) {
      return fields.error("memories", fmt::format("more than {} memories in a core", max_levels));
    }
    for (const Yaml::Entry& level : memories->entries) {
      MONET_TRY(LevelPrototype made, read_level(state, level, fields.context(), core, gang.value_or(1)));
      result.levels.push_back(std::move(made));
    }
  }
  MONET_TRY(const auto power, fields.quantity("static_power"));
  MONET_TRY(const auto area, fields.quantity("area"));
  const auto members = static_cast<double>(gang.value_or(1));
  core.static_w = power.value_or(0) * members;
  core.area_mm2 = area.value_or(0) * members;
  for (Unit& unit : core.units) {
    unit.area_mm2 *= members;
    if (!area && fields.find(unit.name)->find("area") == nullptr) derive_unit_area(fields, unit);
  }
  if (!power) fields.note_derived("static_power", 0, Measure::power, "left out: counted as 0", 'D');
  if (!area) fields.note_derived("area", 0, Measure::area, "left out: counted as 0", 'D');
  return result;
}

}  // namespace monet
