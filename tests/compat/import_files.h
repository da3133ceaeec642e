// Small files of the formats that are imported, to be bent by a test.
#pragma once

#include "compat/import/import.h"
#include "hardware/support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace monet::test {

inline const std::string core_file = R"(name: small
memories:
  rf:
    size: 64
    r_cost: 0.5
    w_cost: 0.75
    area: 0
    latency: 1
    operands: [I2]
    ports:
      - name: r_port_1
        type: read
        bandwidth_min: 8
        bandwidth_max: 16
        allocation:
          - I2, tl
      - name: w_port_1
        type: write
        bandwidth_min: 8
        bandwidth_max: 8
        allocation:
          - I2, fh
    served_dimensions: [D2]
  sram:
    size: 8192
    r_cost: 10
    w_cost: 12
    area: 0
    latency: 2
    operands: [I1, I2, O]
    ports:
      - name: rw_port_1
        type: read_write
        bandwidth_min: 64
        bandwidth_max: 128
        allocation: ["I1, tl", "I1, fh", "I2, tl", "I2, fh", "O, tl", "O, th", "O, fl", "O, fh"]
    served_dimensions: [D1, D2]
operational_array:
  unit_energy: 0.25
  unit_area: 1
  dimensions: [D1, D2]
  sizes: [4, 2]
dataflows:
  D1:
    - K, 4
  D2:
    - C, 1
    - FX, 2
)";

inline const std::string memory_file = R"(name: offchip
memories:
  dram:
    size: 1_000_000
    r_cost: 100
    w_cost: 110
    area: 0
    latency: 1
    operands: [I1, I2, O]
    ports:
      - name: rw_port_1
        type: read_write
        bandwidth_min: 64
        bandwidth_max: 64
        allocation: ["I1, tl", "I1, fh", "I2, tl", "I2, fh", "O, tl", "O, th", "O, fl", "O, fh"]
    served_dimensions: [D1]
operational_array:
  unit_energy: 0
  dimensions: [D1]
  sizes: [0]
)";

inline const std::string system_file = R"(name: pair
cores:
  0: small.yaml
  1: small.yaml
  2: other.yaml
offchip_core: offchip.yaml
core_connectivity:
  - 0, 1
  - 0, 1, 2
bandwidth: 32
unit_energy_cost: 3
)";

inline const std::string newer_system_file = R"(name: pair
cores:
  0: ./cores/small.yaml
  1: ./cores/offchip.yaml
  2: ./cores/small.yaml
offchip_core_id: 1
unit_energy_cost: 3
core_connectivity:
  - {type: link, cores: [0, 2], bandwidth: 32}
  - {type: bus, cores: [0, 1, 2], bandwidth: 128, unit_energy_cost: 5}
)";

using Files = std::map<std::string, std::string>;

// The files of the systems above.
inline Files all_files() {
  return {{"small.yaml", core_file},           {"other.yaml", with(core_file, "name: small", "name: other")},
          {"offchip.yaml", memory_file},       {"cores/small.yaml", core_file},
          {"cores/offchip.yaml", memory_file}, {"system.yaml", system_file},
          {"newer.yaml", newer_system_file}};
}

inline Expected<Hardware> import_from(const Files& files, const std::string& name, const ImportOptions& options = {}) {
  const FileReader read = [&](const std::string& path) -> Expected<std::string> {
    if (const auto file = files.find(path); file != files.end()) return file->second;
    return Error{.message = "absent", .place = path};
  };
  return import_hardware_text(files.at(name), name, read, options);
}

inline Expected<Hardware> import_text(const std::string& text) {
  return import_from({{"file.yaml", text}}, "file.yaml");
}

}  // namespace monet::test
