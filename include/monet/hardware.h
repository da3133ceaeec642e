// Machines: presets and files, what they consist of, what they can do at most, and where each number comes from.
#pragma once

#include <monet/expected.h>
#include <monet/machine.h>
#include <monet/reach.h>
#include <monet/text.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct PortSummary {
  std::string name;
  std::string kind;  // "read", "write", "read_write"
  std::int64_t min_bits = 0, max_bits = 0;
  double bits_per_cycle = 0;
  std::vector<std::string> moves;  // "weight to_low"; none for a memory of the system
};

struct MemorySummary {
  std::string name;
  std::string kind;                // "registers", "sram", "dram", "storage"
  std::int64_t size_bits = 0;      // of one instance
  std::int64_t instances = 1;      // in one core
  bool shared = false;             // a memory of the system that this core uses
  std::vector<std::string> paths;  // "input", "weight", "output"; none for a memory of the system
  std::vector<PortSummary> ports;
  double read_pj = 0, write_pj = 0;
  double latency_cycles = 0;
  double static_w = 0, area_mm2 = 0;
  bool double_buffered = false;
};

struct OperationSummary {
  std::string kind;             // "mac", "exp", …
  double cycles = 0;            // of one lane; 0 for a core that is described by rates
  double operations_per_s = 0;  // of such a core
  double energy_pj = 0;
};

struct PrecisionSummary {
  std::string name;
  double rate = 1, energy = 1;
  std::string accumulate;  // empty: the same
};

struct UnitSummary {
  std::string name;  // "array", "vector", "rate"
  struct Dimension {
    std::string name;
    std::int64_t size = 1;
    std::vector<std::string> loops;  // none: any
  };
  std::vector<Dimension> dimensions;
  std::int64_t lanes = 1;
  std::vector<OperationSummary> operations;
  std::vector<PrecisionSummary> precisions;
  double fill_cycles = 0;
  std::string cycle_rule;          // empty: the loop-nest model
  double energy_pj_per_cycle = 0;  // of the rule
};

// Equal cores.
struct CoreSummary {
  std::string type;
  std::vector<std::string> names;
  std::vector<UnitSummary> units;
  std::vector<MemorySummary> memories;  // lowest first
  std::vector<std::string> operators;   // none: whatever the units can
  double static_w = 0, area_mm2 = 0;
};

// Links that differ in their ends alone.
struct LinkSummary {
  std::string name;  // of the first
  std::string kind;  // "link", "bus"
  std::int64_t count = 1;
  std::string between;  // "pe, pe"; "pe, pool, simd, dram"
  double bits_per_cycle = 0;
  double latency_cycles = 0;
  double energy_pj_per_bit = 0;
  bool both_ways = true;
};

// A level of the network between equal chips, of which the rest of the report describes one.
struct FabricLevelSummary {
  std::string name;
  std::string kind;                        // "switch", "ring", "torus", "full"
  std::optional<std::int64_t> chips;       // under one unit of it; none: as many as are asked for
  std::vector<std::int64_t> sizes;         // of a torus of so many chips
  std::optional<std::int64_t> dimensions;  // of a torus of any
  double bytes_per_s = 0;                  // of one chip, each way
  double latency_s = 0, start_s = 0;       // of a message; of a collective
  bool reduces = false;                    // the switch adds up
  double energy_pj_per_bit = 0;
  double oversubscription = 1;
  double chip_share = 0;                // of the chip's compute, while a collective runs
  std::vector<std::string> algorithms;  // beside ring and direct; none: all
  // Share of the width by bytes of the whole buffer; none: 1.
  std::vector<std::pair<double, double>> efficiency, efficiency_in_switch;
};

struct PeakSummary {
  std::string precision;        // "any" where the machine treats all alike
  double operations_per_s = 0;  // units × rate × clock, a MAC counting two
  std::optional<double> stated;
  std::string source;
  char confidence = '-';
  double deviation_percent = 0;  // of ours from the stated one
  bool holds = true;             // within 2 %, or nothing is stated
};

// Where a value comes from.
struct ValueSummary {
  std::string part, quantity, value, source;
  char confidence = '-';
  bool derived = false;
  bool left_out = false;  // derived as 0
};

struct HardwareReport {
  std::string name, description;
  double clock_hz = 0;
  double technology_nm = 0;  // 0: not stated
  HardwareParameters parameters;
  std::vector<std::string> effects;     // those that are counted
  std::vector<CoreSummary> cores;       // by type
  std::vector<MemorySummary> memories;  // of the system
  std::vector<LinkSummary> links;
  std::vector<FabricLevelSummary> fabric;  // innermost first; none: one chip
  std::vector<PeakSummary> peaks;
  std::int64_t on_chip_bits = 0, dram_bits = 0;  // registers and SRAM; DRAM: all instances
  std::int64_t gang_cores = 0;                   // cores, those that work as one counted each
  double macs_per_cycle = 0;  // of all arrays at rate 1; 0 for machines that are described by rates alone
  // Of what states one or has it from a table; no total while a part lacks its own (empty: none does).
  double static_w = 0, area_mm2 = 0;
  std::string without_static_power, without_area;
  std::vector<ValueSummary> values;
  std::vector<std::string> notes;
  // Of the weakest value that matters: clock, sizes, widths, cycles and rates for time; energies of accesses, products
  // and sums for energy. Not stated where one of them has none.
  char time_confidence = '-', energy_confidence = '-';
  char confidence = '-';  // the weaker of the two
  Reach reach;            // of results on it, where nothing else is asked for
};

struct PresetSummary {
  std::string name, description;
  std::int64_t cores = 0;  // those that work as one counted each
  double macs_per_cycle = 0;
  double clock_hz = 0;
  std::string peak_precision;
  double peak_operations_per_s = 0;
  std::int64_t on_chip_bits = 0;  // registers and SRAM, all instances
  std::int64_t dram_bits = 0;
  char confidence = '-';
};

Expected<std::vector<PresetSummary>> list_hardware();
Expected<HardwareReport> describe_hardware(const Machine& machine);
// A picture of the system as SVG.
Expected<std::string> draw_hardware(const Machine& machine);
// A file of ZigZag or Stream as a file of ours; `mapping` is a mapping file of Stream, or empty.
Expected<std::string> import_hardware_file(const std::string& path, const std::string& mapping = {});
// JSON schema of hardware files, for editors.
std::string hardware_schema();

struct HardwareView {
  bool values = false;  // every value with its source; else those that were derived
};

// As one JSON object with "schema": 1.
std::string to_json(const std::vector<PresetSummary>& presets);
std::string to_json(const HardwareReport& report, const HardwareView& view);
// As tables for people.
Text to_text(const std::vector<PresetSummary>& presets);
Text to_text(const HardwareReport& report, const HardwareView& view);

}  // namespace monet
