// On what it is computed: cores with their compute units and memory levels, memories, and the links between them, as
// flat tables. A file (hardware/reader.h) or another tool's description (hardware/import/) becomes this; everything
// above works on this alone.
//
// Time is counted in cycles of the reference clock; a part in another clock domain has its bandwidths and rates
// converted when it is read, so that nothing above needs to know. Energy is in picojoules, power in watts, area in
// square millimetres, sizes in bits (a register may hold less than a byte).
#pragma once

#include "base/ids.h"
#include "config/expression.h"
#include "graph/nests.h"
#include "hardware/fabric.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monet {

struct KernelLaws;

using CoreId = Id<struct CoreTag>;
using MemoryId = Id<struct MemoryTag>;
using LinkId = Id<struct LinkTag>;

// The three paths of data through a core. An operator's operand takes one of them: activations (and gradients) the
// first, weights the second, results the third.
enum class Path : std::uint8_t { input, weight, output };
constexpr std::size_t path_count = 3;
std::string_view name_of(Path path);
std::optional<Path> path_named(std::string_view name);

// Ways in which data cross a memory's ports: filled from the level above, read by the level below, filled by the level
// below, drained to the level above.
enum class Transfer : std::uint8_t { from_high, to_low, from_low, to_high };
constexpr std::size_t transfer_count = 4;
std::string_view name_of(Transfer transfer);
std::optional<Transfer> transfer_named(std::string_view name);
constexpr bool is_read(Transfer transfer) { return transfer == Transfer::to_low || transfer == Transfer::to_high; }

enum class PortKind : std::uint8_t { read, write, read_write };
std::string_view name_of(PortKind kind);
constexpr bool fits(PortKind kind, Transfer transfer) {
  return kind == PortKind::read_write || (kind == PortKind::read) == is_read(transfer);
}

struct Port {
  std::string name;
  PortKind kind = PortKind::read_write;
  std::int64_t min_bits = 0;  // what one access moves at least
  std::int64_t max_bits = 0;  // a whole word, for which an access pays its full energy
  // Whole words in a cycle of the reference clock. Another than 1 in another clock domain, and where a bandwidth is
  // not a whole number of bits a cycle.
  double words_per_cycle = 1;

  double bits_per_cycle() const { return static_cast<double>(max_bits) * words_per_cycle; }
};

enum class MemoryKind : std::uint8_t { registers, sram, dram, storage };
std::string_view name_of(MemoryKind kind);

// Where a value that the file does not state comes from, and how far every value can be trusted.
struct Origin {
  std::string part;       // "core pe: memory sram"
  std::string quantity;   // "read_energy"
  std::string value;      // as printed: "416.16 pJ"
  std::string source;     // file, paper, table; empty: not stated
  char confidence = '-';  // A read in the primary source … D derived; '-': not stated
  bool derived = false;   // not in the file: computed from a table or a rule named in `source`
};

struct Memory {
  std::string name;  // unique; a path: "chip0/core1/sram"
  MemoryKind kind = MemoryKind::sram;
  std::int64_t size_bits = 0;  // of one instance
  double read_pj = 0;          // for an access of one whole word
  double write_pj = 0;
  double latency_cycles = 0;
  std::vector<Port> ports;
  bool double_buffered = false;   // half of it is filled while the other half is read, always
  std::int64_t page_bits = 0;     // smallest piece that moves (storage); 0: a word
  double network_pj_per_bit = 0;  // of the wires to what it feeds
  double static_w = 0;            // of one instance
  double area_mm2 = 0;            // of one instance
  // Storage may read and write at different speed: overrides what its ports say. 0: as the ports.
  double read_latency_cycles = 0, write_latency_cycles = 0;
};

constexpr std::int8_t no_port = -1;
constexpr std::array<std::array<std::int8_t, transfer_count>, path_count> no_ports() {
  std::array<std::array<std::int8_t, transfer_count>, path_count> ports{};
  for (auto& path : ports) path.fill(no_port);
  return ports;
}

// How a core uses a memory.
struct Level {
  MemoryId memory;
  // Port of the memory for each path and transfer; no_port where the path does not pass here.
  std::array<std::array<std::int8_t, transfer_count>, path_count> port = no_ports();
  // Bit i: one instance of the memory feeds all lanes along dimension i of the core's first unit. There are as many
  // instances as the sizes of the other dimensions multiply to.
  std::uint32_t served = 0;
  LinkId link;  // between this memory and the level below; not valid: attached directly, or
  // reached over links of other cores: those on the way depend on where the core is, so they are no part of the level.
  bool over_links = false;

  bool holds(Path path) const;
};

// One dimension of a compute unit, and the loops that may be unrolled along it (empty: any).
struct UnitDimension {
  std::string name;
  std::int64_t size = 1;
  std::vector<Dim> loops;
};

// What a number costs to work on, by its precision: "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4", "mxfp8" ….
struct PrecisionRate {
  std::string name;
  double rate = 1;         // operations of one lane in one cycle, relative to `cycles`
  double energy = 1;       // relative to `energy_pj`
  std::string accumulate;  // precision of partial sums; empty: the same
};

// Lanes that do the same operation at the same time.
struct Unit {
  std::string name;  // "array", "vector"
  std::vector<UnitDimension> dimensions;
  // Cycles and energy of one operation of a kind in one lane; cycles 0: cannot do it.
  std::array<double, count_kinds> cycles{};
  std::array<double, count_kinds> energy_pj{};
  std::vector<PrecisionRate> precisions;  // empty: every precision at rate 1
  double fill_cycles = 0;                 // to fill and drain its pipeline, once for each nest
  // Own cycle rule of products: cycles over tile sizes (docs/hardware.md, "Cycle rules"); empty: the loop-nest model.
  std::optional<Expression> cycle_rule;
  double energy_pj_per_cycle = 0;  // of a cycle of that rule, beside the energy of the operations
  double area_mm2 = 0;
  std::int64_t lanes() const;
  const PrecisionRate* precision(std::string_view wanted) const;
};

// Operations a second and the energy of one, by kind; a MAC is one operation. 0: cannot do it.
struct KindRates {
  std::array<double, count_kinds> operations_per_s{};
  std::array<double, count_kinds> energy_pj{};
};

// Operations a second and energy by kind: a processor that is described by what was measured on it.
struct Rate : KindRates {
  std::vector<PrecisionRate> precisions;
  // What precisions state for kinds of operations, as software floating point needs; 0: as above, by the factors of the
  // precision. Empty, or one for each.
  std::vector<KindRates> by_precision;

  // In precisions[i].
  KindRates in(std::size_t precision) const;
};

// So many steps of a loop at the same time, along a dimension of the core's first unit.
struct SpatialChoice {
  std::size_t dimension = 0;
  Dim loop = Dim::K;
  std::int64_t size = 1;
  bool operator==(const SpatialChoice&) const = default;
};

struct Core {
  std::string name;         // unique; a path
  std::string type;         // cores of one type are equal in everything but name and links
  std::vector<Unit> units;  // none: a rate core
  std::optional<Rate> rate;
  std::shared_ptr<const KernelLaws> kernels;  // a kernel core: a graphics processor; null: it is none
  std::vector<Level> levels;                  // lowest first, for every path
  std::vector<SpatialChoice> dataflow;        // how to unroll where a mapping does not say; empty: to be searched
  std::vector<std::string>
      operators;        // patterns of operator names or families it may run; empty: whatever its units can
  double static_w = 0;  // without its memories
  double area_mm2 = 0;
};

// A connection. A link joins two parts, each way separately unless shared; a bus joins any number and carries one
// transfer at a time.
enum class LinkKind : std::uint8_t { link, bus };

struct End {
  CoreId core;
  MemoryId memory;  // one of the two is valid
  bool operator==(const End&) const = default;
};

struct Link {
  std::string name;
  LinkKind kind = LinkKind::link;
  std::vector<End> ends;  // link: from, to
  bool both_ways = true;  // link: the way back is another channel of the same width
  double bits_per_cycle = 0;
  double latency_cycles = 0;
  double energy_pj_per_bit = 0;
  double energy_pj_per_cycle = 0;  // while it is in use
  double static_w = 0;
  double area_mm2 = 0;
};

// What the models that go beyond the plain loop-nest model may count. Another tool's files switch all of it off.
struct Effects {
  bool fill_drain = true;
  bool memory_latency = true;
  bool energy_by_precision = true;
  bool static_energy = true;
  bool network_energy = true;
  bool operator==(const Effects&) const = default;
};

// What a maker says that the machine can do at most (2 for a MAC): units × rate × clock should come to that.
struct StatedPeak {
  std::string precision;
  double operations_per_s = 0;
  std::string source;  // empty: not stated
  char confidence = '-';
};

// How well results were compared with measurements: mean absolute errors, none where a quantity was not compared.
struct Validated {
  std::string lowering;  // of the results: "eager"
  std::string machine;   // that was measured: one of another name that includes this file is not validated by it
  std::optional<double> latency_percent, energy_percent, memory_percent;
  std::string source;
};

struct Hardware {
  std::string name;
  std::string description;
  double clock_hz = 0;       // reference clock
  double technology_nm = 0;  // 0: not stated
  Effects effects;
  std::vector<Core> cores;
  std::vector<Memory> memories;
  std::vector<Link> links;
  std::optional<Fabric> fabric;  // between chips, of which all the rest is one; none: there is one chip
  double static_w = 0;           // of what belongs to no part
  double area_mm2 = 0;
  std::vector<StatedPeak> peaks;
  std::vector<Validated> validated;
  std::string recipe;  // of number formats, for networks whose own it does not work in; empty: it names none
  std::vector<Origin> origins;
  std::vector<std::pair<std::string, std::string>> parameters;  // name and value it was built with
  std::vector<std::string> notes;

  Core& operator[](CoreId id) { return cores[id.index()]; }
  const Core& operator[](CoreId id) const { return cores[id.index()]; }
  Memory& operator[](MemoryId id) { return memories[id.index()]; }
  const Memory& operator[](MemoryId id) const { return memories[id.index()]; }
  Link& operator[](LinkId id) { return links[id.index()]; }
  const Link& operator[](LinkId id) const { return links[id.index()]; }
};

// The core that runs a step kernel by kernel: the first that has laws of kernels. Not valid: the machine has none.
CoreId kernel_core(const Hardware& hardware);
// Of this machine, by that lowering; null: nothing was compared.
const Validated* validated_by(const Hardware& hardware, std::string_view lowering);

// Instances of a level's memory in its core.
std::int64_t instances(const Core& core, const Level& level);

// Largest number of operations a second of that kind and precision, over all cores (2 for a MAC): units × rate × clock.
double peak_operations(const Hardware& hardware, Count kind, std::string_view precision);

}  // namespace monet
