// ZigZag's accelerator files, which are also Stream's core files: one array with its memories.
#pragma once

#include "config/yaml_node.h"
#include "hardware/hardware.h"

#include <optional>

namespace monet {

// A core file by itself. `core.levels` number `memories`, whose names are those of the file.
struct ZigzagCore {
  std::string name;
  std::string kind;      // "compute", "memory", "shim" or "offchip"; "compute" where the file does not say
  bool computes = true;  // the array has at least one unit
  Core core;
  std::vector<Memory> memories;
  std::vector<Origin> origins;  // `part` starts with the memory's name
  std::vector<std::string> notes;
};

// Understands today's format and the older one (r_bw, w_bw, r_port …, `ports: - {fh: w_port_1}`, `multipliers`).
// Fails for arrays of in-memory computing and for AI-engine tiles, whose costs are not in the file.
Expected<ZigzagCore> read_zigzag_core(const YamlNode& root);

// Of one memory (`what` names it in messages): the ports, and for each path and transfer the port it takes.
struct ZigzagPorts {
  std::vector<Port> ports;
  std::array<std::array<std::int8_t, transfer_count>, path_count> use = no_ports();
};
Expected<ZigzagPorts> read_zigzag_ports(const YamlNode& memory, const std::string& what,
                                        const std::vector<Path>& operands, std::vector<std::string>& notes);

// I1, I2, O.
std::optional<Path> zigzag_operand(std::string_view name);
std::string_view zigzag_operand(Path path);

}  // namespace monet
