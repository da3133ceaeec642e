// One layer on one machine under one unrolling, laid out so that orders of its temporal loops are costed without
// allocating: everything that does not depend on the order.
#pragma once

#include "compat/zigzag/factors.h"
#include "compat/zigzag/machine.h"
#include "compat/zigzag/relevance.h"
#include "compat/zigzag/spatial.h"

#include <array>
#include <cstdint>
#include <vector>

namespace monet::zigzag {

constexpr std::size_t max_unrolled = max_dimensions * max_loops;  // of one operand
constexpr std::size_t max_served = path_count * transfer_count;   // links of a port

// Lanes that work on average, for energy and fill; whole lanes, for time.
enum Variant : std::uint8_t { average, whole };
constexpr std::size_t variant_count = 2;

// What an operand's level does at one of its ports.
struct LinkPlan {
  double min_bits = 0;
  double max_bits = 0;
  double ratio = 0;  // min / max
  bool exists = false;
};

struct OperandPlan {
  bool output = false;
  bool windows = false;
  std::uint8_t levels = 0;
  double bits = 0;
  std::array<Relevance, max_loops> relevance{};
  std::array<std::uint8_t, max_loops> relevant{};  // loops in the order in which ZigZag multiplies them
  std::uint8_t relevant_count = 0;
  std::array<std::uint8_t, max_levels> memory{};
  std::array<std::array<LinkPlan, transfer_count>, max_levels> link{};

  std::array<std::array<Unrolled, max_unrolled>, variant_count> unrolled{};
  std::array<std::uint8_t, max_levels + 2> first{};  // of entry i in `unrolled`
  std::array<double, max_levels + 1> units{};
  std::array<std::array<double, max_levels>, variant_count> boosts{};

  // Of the output: from entry i up, the product of irrelevant lanes, whether there are more than one, and whether an
  // irrelevant loop is unrolled at all.
  std::array<std::array<double, max_levels + 2>, variant_count> irrelevant_lanes{};
  std::array<std::array<bool, max_levels + 2>, variant_count> has_irrelevant_lanes{};
  std::array<bool, max_levels + 2> has_irrelevant_loop{};
};

struct MemoryPlan {
  double size_bits = 0;
  double read_pj = 0;
  double write_pj = 0;
  double width_bits = 0;  // of its widest port
  std::uint8_t operand_count = 0;
  std::array<std::uint8_t, zigzag_operands> operands{};  // in the order of the paths
  std::array<std::uint8_t, zigzag_operands> level{};     // of those operands
  std::array<bool, zigzag_operands> top{};               // is the highest of the operand's path
};

struct PortLink {
  std::uint8_t operand;
  std::uint8_t level;
  std::uint8_t transfer;
};

struct PortPlan {
  double max_bits = 0;
  bool both_inputs = false;
  std::uint8_t count = 0;
  std::array<PortLink, max_served> links{};
};

struct Plan {
  std::uint8_t loop_count = 0;
  std::array<OperandPlan, zigzag_operands> operands;
  std::array<WindowSize, 2> windows;
  std::uint8_t window_count = 0;
  std::array<std::int8_t, max_loops> window_of{};  // of a loop; -1: none
  double final_bits = 0;
  double output_elements = 1;
  double macs = 1;
  double mac_pj = 0;
  double ideal_cycles = 0;
  Variant time = whole;  // lanes that time is taken from: average ones where all of them are whole
  bool negative_onloading = true;
  std::vector<MemoryPlan> memories;  // as listed
  std::vector<std::uint8_t> order;   // in which they are filled
  std::vector<PortPlan> ports;       // of all memories
  std::array<std::array<std::array<bool, transfer_count>, max_levels>, zigzag_operands> both_inputs{};
};

Plan plan_of(const ZigzagLayer& layer, const Machine& machine, const Links& links, const Unrolling& unrolling,
             const ZigzagOptions& options);

}  // namespace monet::zigzag
