#include "compat/import/zigzag.h"

#include "base/try.h"
#include "hardware/derive/costs.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

const std::vector<std::string>& zigzag_loops() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Dim::A0); ++i) all.push_back(name_of(static_cast<Dim>(i)));
    return all;
  }();
  return names;
}

constexpr std::int64_t most_bits = std::int64_t{1} << 60;
constexpr std::int64_t most_size = std::int64_t{1} << 31;
constexpr double most_lanes = 1e12;
constexpr std::size_t most_dimensions = 16;
constexpr std::size_t most_memories = 64;
// The process of the tables from which that tool takes costs that a file leaves out.
constexpr double assumed_nm = 22;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The files do not say what a memory is made of: its name does.
MemoryKind kind_of(std::string_view name, std::string_view type) {
  if (type == "dram" || contains(name, "dram") || contains(name, "DRAM") || contains(name, "hbm"))
    return MemoryKind::dram;
  if (name.starts_with("rf") || name.starts_with("reg") || contains(name, "register")) return MemoryKind::registers;
  return MemoryKind::sram;
}

class CoreReader {
 public:
  explicit CoreReader(const YamlNode& root) : root_(root) {}

  Expected<ZigzagCore> read() {
    MONET_RETURN_IF_ERROR(read_type());
    static const std::vector<std::string> keys = {"name",        "type",           "memories",  "operational_array",
                                                  "multipliers", "operator_types", "dataflows", "utilization"};
    MONET_RETURN_IF_ERROR(allow_keys(root_, "a core file", keys));
    MONET_TRY(const YamlNode* name, require_key(root_, "a core file", "name"));
    MONET_TRY(core_.name, yaml_word(*name, "name"));
    MONET_RETURN_IF_ERROR(read_array());
    MONET_RETURN_IF_ERROR(read_memories());
    MONET_RETURN_IF_ERROR(read_dataflows());
    if (const YamlNode* types = root_.find("operator_types"); types != nullptr && !types->is_null()) {
      MONET_TRY(core_.core.operators, yaml_words(*types, "operator_types"));
    }
    if (root_.find("utilization") != nullptr) core_.notes.push_back("'utilization' is not used");
    if (has_area_) core_.notes.push_back("areas have no unit in that tool and are left out");
    return std::move(core_);
  }

 private:
  Status read_type() {
    MONET_RETURN_IF_ERROR(expect_map(root_, "a core file"));
    core_.kind = "compute";
    const YamlNode* node = root_.find("type");
    if (node == nullptr || node->is_null()) return Done{};
    MONET_TRY(const std::string type, yaml_word(*node, "type"));
    if (type.starts_with("aie2.")) {
      return node->error("AI-engine tiles ('aie2') state neither their array nor their energies",
                         "describe the tile as a core of type zigzag.compute");
    }
    core_.kind = type.starts_with("zigzag.") ? type.substr(7) : type;
    static const std::vector<std::string> kinds = {"compute", "memory", "shim", "offchip"};
    if (std::find(kinds.begin(), kinds.end(), core_.kind) == kinds.end())
      return node->error(fmt::format("there is no core type '{}'", type), advise_choice(core_.kind, kinds));
    return Done{};
  }

  Status read_array() {
    const bool old = root_.find("operational_array") == nullptr && root_.find("multipliers") != nullptr;
    if (old) core_.notes.push_back("'multipliers' is an older name of 'operational_array'");
    MONET_TRY(const YamlNode* array, require_key(root_, "a core file", old ? "multipliers" : "operational_array"));
    static const std::vector<std::string> keys = {
        "dimensions",      "sizes",  "unit_energy", "unit_area",      "multiplier_energy",   "multiplier_area",
        "input_precision", "is_imc", "imc_type",    "adc_resolution", "bit_serial_precision"};
    MONET_RETURN_IF_ERROR(allow_keys(*array, "operational_array", keys));
    MONET_RETURN_IF_ERROR(refuse_memory_computing(*array));
    MONET_RETURN_IF_ERROR(read_dimensions(*array));
    const char* energy_key = array->find("multiplier_energy") != nullptr ? "multiplier_energy" : "unit_energy";
    MONET_TRY(const YamlNode* energy, require_key(*array, "operational_array", energy_key));
    MONET_TRY(const double picojoules, yaml_number(*energy, energy_key));
    unit_.name = "array";
    unit_.cycles.fill(1);
    // The tool counts 8 bits for every element and 16 for every partial sum.
    unit_.precisions = {{.name = "int8", .rate = 1, .energy = 1, .accumulate = "int16"}};
    unit_.energy_pj.fill(picojoules);
    core_.core.units.push_back(unit_);
    return Done{};
  }

  static Status refuse_memory_computing(const YamlNode& array) {
    bool computing = false;
    if (const YamlNode* node = array.find("is_imc"); node != nullptr && !node->is_null()) {
      MONET_TRY(computing, yaml_switch(*node, "is_imc"));
    }
    if (const YamlNode* type = array.find("imc_type"); type != nullptr && !type->is_null()) computing = true;
    if (!computing) return Done{};
    return array.error("arrays of in-memory computing have costs that the file does not state",
                       "remove is_imc and imc_type, and state unit_energy");
  }

  Status read_dimensions(const YamlNode& array) {
    MONET_TRY(const YamlNode* names, require_key(array, "operational_array", "dimensions"));
    MONET_TRY(dimensions_, yaml_words(*names, "dimensions"));
    MONET_TRY(const YamlNode* sizes, require_key(array, "operational_array", "sizes"));
    MONET_RETURN_IF_ERROR(expect_sequence(*sizes, "sizes"));
    if (dimensions_.size() != sizes->items.size()) {
      return sizes->error(
          fmt::format("the array has {} dimensions but {} sizes", dimensions_.size(), sizes->items.size()),
          "one size for each dimension");
    }
    if (dimensions_.size() > most_dimensions)
      return names->error(fmt::format("the array has more than {} dimensions", most_dimensions), "merge some");
    double lanes = 1;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      if (std::count(dimensions_.begin(), dimensions_.end(), dimensions_[i]) > 1)
        return names->error(fmt::format("the array has two dimensions '{}'", dimensions_[i]), "give each its own name");
      MONET_TRY(const std::int64_t size, yaml_integer(sizes->items[i], "a size of the array", 0, most_size));
      unit_.dimensions.push_back({.name = dimensions_[i], .size = size, .loops = {}});
      lanes *= static_cast<double>(size);
    }
    if (lanes > most_lanes) return sizes->error("the array has more than 1e12 units", "check the sizes");
    core_.computes = lanes > 0;
    if (!core_.computes && core_.kind == "compute") core_.kind = "memory";
    return Done{};
  }

  Expected<std::size_t> dimension(const YamlNode& at, const std::string& name) const {
    const auto found = std::find(dimensions_.begin(), dimensions_.end(), name);
    if (found != dimensions_.end()) return static_cast<std::size_t>(found - dimensions_.begin());
    return at.error(fmt::format("the array has no dimension '{}'", name), advise_choice(name, dimensions_));
  }

  Status read_memories() {
    MONET_TRY(const YamlNode* list, require_key(root_, "a core file", "memories"));
    MONET_RETURN_IF_ERROR(expect_map(*list, "memories"));
    if (list->items.empty()) return list->error("the core has no memory", "list its memories, lowest first");
    if (list->items.size() > most_memories)
      return list->error(fmt::format("the core has more than {} memories", most_memories), "describe fewer levels");
    for (std::size_t i = 0; i < list->items.size(); ++i)
      MONET_RETURN_IF_ERROR(read_memory(list->keys[i].text, list->items[i]));
    return Done{};
  }

  Status read_memory(const std::string& name, const YamlNode& node) {
    static const std::vector<std::string> keys = {"size",
                                                  "r_cost",
                                                  "w_cost",
                                                  "area",
                                                  "latency",
                                                  "mem_type",
                                                  "auto_cost_extraction",
                                                  "force_double_buffering",
                                                  "ports",
                                                  "operands",
                                                  "served_dimensions",
                                                  "r_bw",
                                                  "w_bw",
                                                  "r_port",
                                                  "w_port",
                                                  "rw_port",
                                                  "min_r_granularity",
                                                  "min_w_granularity"};
    const std::string what = fmt::format("memory '{}'", name);
    MONET_RETURN_IF_ERROR(allow_keys(node, what, keys));
    Memory memory{.name = name};
    MONET_TRY(const YamlNode* size, require_key(node, what, "size"));
    MONET_TRY(memory.size_bits, yaml_integer(*size, "size", 1, most_bits));
    MONET_TRY(const YamlNode* latency, require_key(node, what, "latency"));
    MONET_TRY(memory.latency_cycles, yaml_number(*latency, "latency"));
    std::string type;
    if (const YamlNode* given = node.find("mem_type"); given != nullptr && !given->is_null()) {
      MONET_TRY(type, yaml_word(*given, "mem_type"));
    }
    memory.kind = kind_of(name, type);
    MONET_TRY(const std::vector<Path> operands, read_operands(node, what));
    MONET_TRY(ZigzagPorts ports, read_zigzag_ports(node, what, operands, core_.notes));
    memory.ports = std::move(ports.ports);
    MONET_RETURN_IF_ERROR(read_costs(memory, node, what));
    Level level{.memory = MemoryId(core_.memories.size()), .port = ports.use};
    MONET_TRY(const YamlNode* served, require_key(node, what, "served_dimensions"));
    MONET_TRY(const auto names, yaml_words(*served, "served_dimensions"));
    for (const std::string& served_name : names) {
      MONET_TRY(const std::size_t index, dimension(*served, served_name));
      level.served |= std::uint32_t{1} << index;
    }
    core_.core.levels.push_back(level);
    core_.memories.push_back(std::move(memory));
    return Done{};
  }

  static Expected<std::vector<Path>> read_operands(const YamlNode& node, const std::string& what) {
    MONET_TRY(const YamlNode* list, require_key(node, what, "operands"));
    MONET_TRY(const auto names, yaml_words(*list, "operands"));
    std::vector<Path> operands;
    for (const std::string& name : names) {
      const auto path = zigzag_operand(name);
      if (!path) return list->error(fmt::format("{} holds no operand '{}'", what, name), "operands are I1, I2 and O");
      if (std::find(operands.begin(), operands.end(), *path) == operands.end()) operands.push_back(*path);
    }
    if (operands.empty()) return list->error(fmt::format("{} holds no operand", what), "operands are I1, I2 and O");
    return operands;
  }

  Status read_costs(Memory& memory, const YamlNode& node, const std::string& what) {
    bool derive = false;
    if (const YamlNode* automatic = node.find("auto_cost_extraction"); automatic != nullptr && !automatic->is_null()) {
      MONET_TRY(derive, yaml_switch(*automatic, "auto_cost_extraction"));
    }
    if (const YamlNode* area = node.find("area"); area != nullptr && !area->is_null()) {
      MONET_TRY(const double size, yaml_number(*area, "area"));
      has_area_ |= size > 0 && !derive;
    }
    if (derive) return derive_costs(memory);
    const auto read_cost = [&](const char* key) -> Expected<double> {
      const YamlNode* cost = node.find(key);
      if (cost != nullptr && !cost->is_null()) return yaml_number(*cost, key);
      return node.error(fmt::format("{} lacks '{}'", what, key),
                        "state it, or set 'auto_cost_extraction: true' to derive it");
    };
    MONET_TRY(memory.read_pj, read_cost("r_cost"));
    MONET_TRY(memory.write_pj, read_cost("w_cost"));
    return Done{};
  }

  Status derive_costs(Memory& memory) {
    std::int64_t width = 0;
    for (const Port& port : memory.ports) width = std::max(width, port.max_bits);
    const SramCosts costs =
        sram_costs(static_cast<double>(memory.size_bits) / 8, static_cast<double>(width), assumed_nm);
    const auto take = [&](double& target, const DerivedCost& cost, const char* quantity, const char* unit) {
      target = cost.value;
      core_.origins.push_back({.part = memory.name,
                               .quantity = quantity,
                               .value = fmt::format("{:.6g} {}", cost.value, unit),
                               .source = cost.source,
                               .confidence = cost.confidence,
                               .derived = true});
    };
    take(memory.read_pj, costs.read_pj, "read_energy", "pJ");
    take(memory.write_pj, costs.write_pj, "write_energy", "pJ");
    take(memory.area_mm2, costs.area_mm2, "area", "mm2");
    return Done{};
  }

  Status read_dataflows() {
    const YamlNode* flows = root_.find("dataflows");
    if (flows == nullptr || flows->is_null()) return Done{};
    MONET_RETURN_IF_ERROR(expect_map(*flows, "dataflows"));
    for (std::size_t i = 0; i < flows->items.size(); ++i) {
      MONET_TRY(const std::size_t index, dimension(flows->keys[i], flows->keys[i].text));
      MONET_RETURN_IF_ERROR(expect_sequence(flows->items[i], "a dataflow"));
      for (const YamlNode& entry : flows->items[i].items) MONET_RETURN_IF_ERROR(read_dataflow(entry, index));
    }
    return Done{};
  }

  Status read_dataflow(const YamlNode& entry, std::size_t index) {
    MONET_TRY(const auto parts, yaml_parts(entry, "a dataflow"));
    if (parts.size() != 2) return entry.error("a dataflow is not a loop and a size", "write 'K, 32'");
    const auto loop = dim_named(parts[0]);
    if (!loop)
      return entry.error(fmt::format("there is no loop '{}'", parts[0]), advise_choice(parts[0], zigzag_loops()));
    YamlNode size = entry;
    size.kind = YamlNode::Kind::scalar;
    size.text = parts[1];
    MONET_TRY(const std::int64_t steps, yaml_integer(size, "the size of a dataflow", 1, most_size));
    core_.core.dataflow.push_back({.dimension = index, .loop = *loop, .size = steps});
    std::vector<Dim>& loops = core_.core.units[0].dimensions[index].loops;
    if (std::find(loops.begin(), loops.end(), *loop) == loops.end()) loops.push_back(*loop);
    return Done{};
  }

  const YamlNode& root_;
  ZigzagCore core_;
  Unit unit_;
  std::vector<std::string> dimensions_;
  bool has_area_ = false;
};

}  // namespace

Expected<ZigzagCore> read_zigzag_core(const YamlNode& root) { return CoreReader(root).read(); }

}  // namespace monet
