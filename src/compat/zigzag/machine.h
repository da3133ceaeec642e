// A target in ZigZag's eyes: its memories as a graph, the order in which they are filled, and what each port serves.
#pragma once

#include "mapping/target.h"

#include <monet/expected.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace monet::zigzag {

constexpr std::size_t max_levels = 8;  // of one path
constexpr std::size_t max_memories = 32;
constexpr std::int64_t max_lanes = 1 << 20;  // along one dimension
constexpr std::size_t max_dimensions = 8;    // of the array

struct ServedLink {
  Path path;
  std::uint8_t level;  // of the path
  Transfer transfer;
};

struct MachinePort {
  double min_bits = 0;
  double max_bits = 0;
  std::string name;
  std::vector<ServedLink> served;
  bool both_inputs = false;  // serves inputs and weights
};

struct MachineMemory {
  double size_bits = 0;
  double read_pj = 0;
  double write_pj = 0;
  std::vector<Path> paths;                       // that it holds, in order
  std::array<std::uint8_t, path_count> level{};  // of each path
  std::vector<std::uint8_t> served;              // dimensions of the array, in the order in which a set walks them
  std::vector<MachinePort> ports;                // those in use
  std::array<std::array<std::int8_t, transfer_count>, path_count> port{};  // into `ports`; no_port: none
};

struct Machine {
  std::vector<std::string> dimensions;
  std::vector<std::int64_t> sizes;
  std::vector<std::uint64_t> hashes;  // of the dimensions' names
  double lanes = 1;
  double mac_pj = 0;
  std::vector<MachineMemory> memories;                       // as listed, lowest first
  std::vector<std::uint8_t> order;                           // topological
  std::vector<std::uint8_t> inner;                           // below which there is no other
  std::array<std::vector<std::uint8_t>, path_count> levels;  // memories of a path, lowest first
  std::vector<std::string> names;                            // of the memories
};

// Fails where a path has no memory or no port that it needs, and on sizes that cannot be.
Expected<Machine> machine_of(const Target& target);

}  // namespace monet::zigzag
