// A problem unrolled on a target: everything about it that does not depend on the order of the loops in time.
//
// Words used below. A *cut* is a number of temporal loops: those below it run inside a memory level, which holds the
// tile that they touch. A *link* joins two neighbouring levels of an operand's path (or its lowest level and the unit);
// a tile crosses it once in each iteration of the loops above the cut.
#pragma once

#include "graph/narrow.h"
#include "mapping/mapping.h"
#include "mapping/spatial.h"

#include <array>
#include <cstdint>

namespace monet {

constexpr std::size_t max_frame_loops = max_problem_loops;
constexpr std::size_t max_frame_operands = most_inputs_at_once + 1;
constexpr std::size_t max_frame_levels = 6;
constexpr std::size_t max_frame_memories = 16;
constexpr std::size_t max_frame_ports = 48;

// What of an operand lies below a cut: elements in one instance of each level.
struct TileSize {
  std::array<double, max_frame_levels> average{};
  std::array<double, max_frame_levels> most{};
};

struct FrameOperand {
  std::uint8_t levels = 0;  // memories it uses, up to its home
  std::array<std::uint8_t, max_frame_levels> memory{};
  std::uint32_t relevant = 0;
  Path path = Path::input;
  bool written = false;
  bool accumulates = false;
  bool continues = false;
  bool latched = true;                          // the unit keeps what it works on while it does not change
  std::array<double, max_frame_levels> bits{};  // of an element at each level
  double partial_bits = 0;
  double piece_bits = 0;  // that its home holds at a time; 0: all of it
  // Extents of the loops unrolled within one instance of a level.
  std::array<std::array<double, max_frame_loops>, max_frame_levels> inside_average{};
  std::array<std::array<double, max_frame_loops>, max_frame_levels> inside_most{};
  std::array<double, max_frame_levels> instances{};      // at work on average
  std::array<std::uint8_t, max_frame_levels> same_as{};  // the first level with the same extents
  std::array<double, max_frame_levels> first_cycles{};   // that what one cycle needs takes over the link above a level
  std::array<std::uint8_t, max_frame_levels> low_port{}, high_port{};  // of the link above a level, main direction
};

// Data crossing a link one way.
struct Flow {
  std::uint8_t low_port = 0, high_port = 0;  // of Frame::ports; only low_port between unit and lowest level
  double count = 0;                          // transfers
  double low_cycles = 0;                     // that one transfer takes on each of the ports
  double high_cycles = 0;
  double cycles = 0;                     // the longer of them, and of the wires between
  double low_words = 0, high_words = 0;  // in all, over all instances
  double low_bits = 0, high_bits = 0;
};

struct LinkCost {
  std::array<Flow, 2> flows;  // down, up
  std::uint8_t flow_count = 0;
  double energy_pj = 0;
  double network_pj = 0;  // of that, in wires
  double tile_most = 0;   // elements of the tile at most, in one instance of the lower level
  bool partial = false;   // partial sums cross
  double low_busy = 0;    // cycles of the ports of the main direction, all transfers
  double high_busy = 0;
  double low_back = 0;  // and of those of the other direction, where it has ports of its own
  double high_back = 0;
  std::uint8_t low_back_port = 0, high_back_port = 0;
  double exposed = 0;         // cycles that the unit waits, if the lower level holds one tile
  double exposed_double = 0;  // if it holds two
  double load = 0;            // before the first point, or after the last
};

struct FramePort {
  std::uint8_t memory = 0;
  std::uint8_t port = 0;
};

struct Frame {
  const Problem* problem = nullptr;
  const Target* target = nullptr;
  const Unrolling* unrolling = nullptr;
  std::size_t loops = 0;
  std::size_t operands = 0;
  std::array<FrameOperand, max_frame_operands> operand{};
  std::size_t ports = 0;
  std::array<FramePort, max_frame_ports> port{};
  std::array<std::uint8_t, max_frame_ports> first_port{};  // of each memory
  double cycles_per_point = 0;
  double ideal_cycles = 0;  // every lane at work all the time
  double iterations = 1;    // temporal ones, all loops
  double compute_pj = 0;
  double fixed_cycles = 0;  // fill and drain, latencies
  double first_cycles = 0;  // no load and unload take less
  std::string infeasible;   // why nothing can be mapped; empty: it may be possible
  bool too_large = false;   // … and smaller tiles of it could be
};

// Fails for problems with more loops, operands or levels than there is room for.
Frame make_frame(const Problem& problem, const Target& target, const Unrolling& unrolling);

// Elements of operand `index` below a cut whose loops have these extents in time (averages and at most).
TileSize tile_size(const Frame& frame, std::size_t index, const double* average, const double* most);

// Of operand `index`, the link above level `level`. `above`: transfers a loop order asks for; `distinct`: how many of
// them meet a tile for the first time (fewer where partial sums come back); `period`: cycles between transfers;
// `window`: of these, the cycles in which a single buffer is free.
LinkCost link_cost(const Frame& frame, std::size_t index, std::size_t level, const TileSize& tile, double above,
                   double distinct, double period, double window);

// Between the unit and the lowest level: `stationary` iterations need the same element, `reduced` is true where some
// loop adds to the output.
LinkCost unit_cost(const Frame& frame, std::size_t index, const TileSize& point, double stationary, bool reduced,
                   double distinct);

}  // namespace monet
