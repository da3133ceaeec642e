#include "base/try.h"
#include "compat/import/zigzag.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

constexpr std::int64_t most_port_width = std::int64_t{1} << 40;
constexpr std::int64_t most_ports = 64;

const std::vector<std::string> operand_names = {"I1", "I2", "O"};                    // in the order of Path
const std::vector<std::string> zigzag_transfers = {"fh", "tl", "fl", "th"};          // in the order of Transfer
const std::vector<std::string> zigzag_port_kinds = {"read", "write", "read_write"};  // in the order of PortKind

std::optional<std::size_t> index_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// Gives a transfer of an operand to a port, unless the port cannot or another has it.
Status assign(ZigzagPorts& result, const YamlNode& at, const std::string& what, Path path, Transfer transfer,
              std::size_t port) {
  const Port& chosen = result.ports[port];
  const std::string move =
      fmt::format("{}, {}", zigzag_operand(path), zigzag_transfers[static_cast<std::size_t>(transfer)]);
  if (!fits(chosen.kind, transfer)) {
    return at.error(fmt::format("{}: port '{}' cannot carry '{}'", what, chosen.name, move),
                    is_read(transfer) ? "tl and th are reads: give them a read or read_write port"
                                      : "fh and fl are writes: give them a write or read_write port");
  }
  std::int8_t& use = result.use[static_cast<std::size_t>(path)][static_cast<std::size_t>(transfer)];
  // As there: the last port that names it has it.
  use = static_cast<std::int8_t>(port);
  return Done{};
}

Expected<Port> read_port(const YamlNode& node, const std::string& what) {
  static const std::vector<std::string> keys = {"name", "type", "bandwidth_min", "bandwidth_max", "allocation"};
  MONET_RETURN_IF_ERROR(allow_keys(node, fmt::format("a port of {}", what), keys));
  Port port;
  MONET_TRY(const YamlNode* name, require_key(node, fmt::format("a port of {}", what), "name"));
  MONET_TRY(port.name, yaml_word(*name, "the name of a port"));
  const std::string here = fmt::format("port '{}' of {}", port.name, what);
  MONET_TRY(const YamlNode* type, require_key(node, here, "type"));
  MONET_TRY(const std::string kind, yaml_word(*type, "the type of a port"));
  const auto kind_index = index_of(zigzag_port_kinds, kind);
  if (!kind_index)
    return type->error(fmt::format("{} has no type '{}'", here, kind), advise_choice(kind, zigzag_port_kinds));
  port.kind = static_cast<PortKind>(*kind_index);
  MONET_TRY(const YamlNode* least, require_key(node, here, "bandwidth_min"));
  MONET_TRY(port.min_bits, yaml_integer(*least, "bandwidth_min", 1, most_port_width));
  MONET_TRY(const YamlNode* most, require_key(node, here, "bandwidth_max"));
  MONET_TRY(port.max_bits, yaml_integer(*most, "bandwidth_max", 1, most_port_width));
  if (port.min_bits > port.max_bits) {
    return least->error(
        fmt::format("{}: bandwidth_min {} is more than bandwidth_max {}", here, port.min_bits, port.max_bits),
        "the smallest access cannot be larger than a whole word");
  }
  return port;
}

Status read_allocation(ZigzagPorts& result, const YamlNode& node, const std::string& what,
                       const std::vector<Path>& operands, std::size_t port) {
  MONET_TRY(const YamlNode* allocation, require_key(node, "a port of " + what, "allocation"));
  MONET_RETURN_IF_ERROR(expect_sequence(*allocation, "allocation"));
  for (const YamlNode& entry : allocation->items) {
    MONET_TRY(const auto parts, yaml_parts(entry, "an allocation"));
    if (parts.size() != 2) {
      return entry.error(fmt::format("an allocation of {} is not an operand and a direction", what), "write 'I1, tl'");
    }
    const auto operand = index_of(operand_names, parts[0]);
    if (!operand || std::find(operands.begin(), operands.end(), static_cast<Path>(*operand)) == operands.end()) {
      return entry.error(fmt::format("{} does not hold operand '{}'", what, parts[0]),
                         "name it under 'operands' too, or remove it here");
    }
    const auto transfer = index_of(zigzag_transfers, parts[1]);
    if (!transfer) {
      return entry.error(fmt::format("there is no direction '{}'", parts[1]),
                         "fh: from above, tl: to below, fl: from below, th: to above");
    }
    MONET_RETURN_IF_ERROR(
        assign(result, entry, what, static_cast<Path>(*operand), static_cast<Transfer>(*transfer), port));
  }
  return Done{};
}

// The older format: numbers of ports of each kind, and for each operand the port of each direction.
struct OldWidths {
  std::int64_t read = 0, write = 0, least_read = 0, least_write = 0;
};

Expected<std::int64_t> old_number(const YamlNode& memory, const std::string& what, const std::string& key,
                                  std::int64_t least, std::int64_t most, std::optional<std::int64_t> otherwise) {
  const YamlNode* node = memory.find(key);
  if (otherwise && (node == nullptr || node->is_null())) return *otherwise;
  MONET_TRY(node, require_key(memory, what, key));
  return yaml_integer(*node, key, least, most);
}

Expected<OldWidths> old_widths(const YamlNode& memory, const std::string& what) {
  OldWidths widths;
  MONET_TRY(widths.read, old_number(memory, what, "r_bw", 1, most_port_width, {}));
  MONET_TRY(widths.write, old_number(memory, what, "w_bw", 1, most_port_width, {}));
  MONET_TRY(widths.least_read, old_number(memory, what, "min_r_granularity", 1, most_port_width, widths.read));
  MONET_TRY(widths.least_write, old_number(memory, what, "min_w_granularity", 1, most_port_width, widths.write));
  if (widths.least_read > widths.read || widths.least_write > widths.write) {
    return memory.error(fmt::format("{}: the smallest access is wider than a whole word", what),
                        "min_r_granularity is at most r_bw, and min_w_granularity at most w_bw");
  }
  return widths;
}

Status add_old_ports(ZigzagPorts& result, const YamlNode& memory, const std::string& what,
                     std::vector<std::string>& notes) {
  MONET_TRY(const OldWidths widths, old_widths(memory, what));
  const auto add = [&](const std::string& base, PortKind kind, std::int64_t count, std::int64_t least,
                       std::int64_t most) {
    for (std::int64_t i = 1; i <= count; ++i)
      result.ports.push_back(
          {.name = fmt::format("{}_{}", base, i), .kind = kind, .min_bits = least, .max_bits = most});
  };
  MONET_TRY(const auto reads, old_number(memory, what, "r_port", 0, most_ports / 3, 0));
  MONET_TRY(const auto writes, old_number(memory, what, "w_port", 0, most_ports / 3, 0));
  MONET_TRY(const auto both, old_number(memory, what, "rw_port", 0, most_ports / 3, 0));
  add("r_port", PortKind::read, reads, widths.least_read, widths.read);
  add("w_port", PortKind::write, writes, widths.least_write, widths.write);
  add("rw_port", PortKind::read_write, both, widths.least_read, widths.read);
  if (both > 0 && widths.read != widths.write)
    notes.push_back(
        fmt::format("{}: its read-write ports are taken to be r_bw = {} bits wide both ways", what, widths.read));
  notes.push_back(fmt::format("{}: read in the older port format (r_bw, w_bw)", what));
  return Done{};
}

Expected<ZigzagPorts> read_old_ports(const YamlNode& memory, const std::string& what, const YamlNode& list,
                                     const std::vector<Path>& operands, std::vector<std::string>& notes,
                                     ZigzagPorts result) {
  MONET_RETURN_IF_ERROR(add_old_ports(result, memory, what, notes));
  if (list.items.size() != operands.size()) {
    return list.error(
        fmt::format("{} holds {} operands, but 'ports' has {} entries", what, operands.size(), list.items.size()),
        "one entry for each operand, in the order of 'operands'");
  }
  std::vector<std::string> names;
  for (const Port& port : result.ports) names.push_back(port.name);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    MONET_RETURN_IF_ERROR(allow_keys(list.items[i], "a port entry of " + what, zigzag_transfers));
    for (std::size_t k = 0; k < list.items[i].keys.size(); ++k) {
      const YamlNode& value = list.items[i].items[k];
      if (value.is_null()) continue;
      MONET_TRY(const std::string name, yaml_word(value, "a port"));
      const auto port = index_of(names, name);
      if (!port) return value.error(fmt::format("{} has no port '{}'", what, name), advise_choice(name, names));
      const auto transfer = static_cast<Transfer>(*index_of(zigzag_transfers, list.items[i].keys[k].text));
      MONET_RETURN_IF_ERROR(assign(result, value, what, operands[i], transfer, *port));
    }
  }
  return result;
}

bool is_old(const YamlNode& memory, const YamlNode& list) {
  if (!list.items.empty()) return list.items[0].find("name") == nullptr && list.items[0].find("type") == nullptr;
  return memory.find("r_bw") != nullptr;
}

}  // namespace

std::optional<Path> zigzag_operand(std::string_view name) {
  const auto index = index_of(operand_names, name);
  if (!index) return std::nullopt;
  return static_cast<Path>(*index);
}

std::string_view zigzag_operand(Path path) { return operand_names[static_cast<std::size_t>(path)]; }

Expected<ZigzagPorts> read_zigzag_ports(const YamlNode& memory, const std::string& what,
                                        const std::vector<Path>& operands, std::vector<std::string>& notes) {
  ZigzagPorts result;
  MONET_TRY(const YamlNode* list, require_key(memory, what, "ports"));
  MONET_RETURN_IF_ERROR(expect_sequence(*list, "'ports' of " + what));
  if (list->items.size() > most_ports)
    return list->error(fmt::format("{} has more than {} ports", what, most_ports), "describe fewer ports");
  if (is_old(memory, *list)) {
    MONET_TRY(result, read_old_ports(memory, what, *list, operands, notes, result));
  } else {
    for (const YamlNode& node : list->items) {
      MONET_TRY(Port port, read_port(node, what));
      const auto same = [&](const Port& other) { return other.name == port.name; };
      if (std::any_of(result.ports.begin(), result.ports.end(), same))
        return node.error(fmt::format("{} has two ports '{}'", what, port.name), "give each a name of its own");
      result.ports.push_back(std::move(port));
      MONET_RETURN_IF_ERROR(read_allocation(result, node, what, operands, result.ports.size() - 1));
    }
  }
  for (const Path path : operands) {
    const auto& transfers = result.use[static_cast<std::size_t>(path)];
    if (std::all_of(transfers.begin(), transfers.end(), [](std::int8_t port) { return port == no_port; })) {
      return list->error(fmt::format("{} holds operand {}, but no port moves it", what, zigzag_operand(path)),
                         "add it to the 'allocation' of a port, or take it out of 'operands'");
    }
  }
  return result;
}

}  // namespace monet
