// Small machines for tests, built without a file.
#pragma once

#include "mapping/problem.h"
#include "mapping/target.h"

#include <initializer_list>
#include <string>
#include <tuple>

namespace monet::test {

// A memory of a target: which paths it holds and how its ports are used.
struct MemorySpec {
  std::string name;
  std::int64_t bits = 0;
  double read_pj = 0, write_pj = 0;
  std::vector<Path> paths;
  std::uint32_t served = 0;
  std::int64_t min_bits = 8, max_bits = 8;
  bool one_port = false;  // one port for reading and writing; else one each
  MemoryKind kind = MemoryKind::sram;
};

inline TargetMemory memory_of(const MemorySpec& spec, std::int64_t instances) {
  TargetMemory memory{.name = spec.name, .memory = MemoryId(), .kind = spec.kind, .size_bits = spec.bits};
  memory.read_pj = spec.read_pj;
  memory.write_pj = spec.write_pj;
  memory.served = spec.served;
  memory.instances = instances;
  memory.ports.push_back({"r", spec.one_port ? PortKind::read_write : PortKind::read, spec.min_bits, spec.max_bits});
  if (!spec.one_port) memory.ports.push_back({"w", PortKind::write, spec.min_bits, spec.max_bits});
  for (auto& path : memory.port) path.fill(no_port);
  for (Path path : spec.paths) {
    for (std::size_t transfer = 0; transfer < transfer_count; ++transfer) {
      memory.port[static_cast<std::size_t>(path)][transfer] =
          spec.one_port || is_read(static_cast<Transfer>(transfer)) ? 0 : 1;
    }
  }
  return memory;
}

struct DimensionSpec {
  std::int64_t size;
  std::vector<Dim> loops;
};

inline Target target_with(std::vector<DimensionSpec> dimensions, double mac_pj,
                          const std::vector<MemorySpec>& memories) {
  Target target;
  target.unit.name = "array";
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    target.unit.dimensions.push_back({"D" + std::to_string(i + 1), dimensions[i].size, dimensions[i].loops});
  }
  target.unit.cycles.fill(1);
  target.unit.energy_pj.fill(mac_pj);
  target.effects = {false, false, false, false, false};
  for (const MemorySpec& spec : memories) {
    std::int64_t instances = 1;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      if ((spec.served >> i & 1U) == 0) instances *= dimensions[i].size;
    }
    target.memories.push_back(memory_of(spec, instances));
  }
  for (std::size_t path = 0; path < path_count; ++path) {
    for (std::size_t i = 0; i < memories.size(); ++i) {
      if (target.memories[i].port[path][0] != no_port) target.levels[path].push_back(static_cast<std::uint8_t>(i));
    }
  }
  return target;
}

// 32 x 32 units for K and C, weights in registers fed by DRAM, one SRAM for activations.
inline Target tpu_like() {
  using enum Path;
  return target_with({{32, {Dim::K}}, {32, {Dim::C}}}, 0.04,
                     {{"rf_w", 1024, 0.095, 0.095, {weight}, 0, 8, 8, false, MemoryKind::registers},
                      {"rf_o", 16, 0.021, 0.021, {output}, 0, 16, 16, false, MemoryKind::registers},
                      {"sram", 16777216, 416.16, 378.4, {input, output}, 3, 64, 2048},
                      {"dram", 10000000000, 700, 750, {input, weight, output}, 3, 64, 64, true, MemoryKind::dram}});
}

// Loops K, C, OY, OX, FY, FX of a convolution with batch 1, 8-bit elements and 16-bit partial sums.
inline Problem convolution(std::int64_t k, std::int64_t c, std::int64_t y, std::int64_t x, std::int64_t f,
                           std::int64_t stride = 1) {
  Problem problem;
  std::vector<std::uint8_t> at(6, 0xff);
  const std::pair<Dim, std::int64_t> loops[] = {{Dim::K, k},  {Dim::C, c},  {Dim::OY, y},
                                                {Dim::OX, x}, {Dim::FY, f}, {Dim::FX, f}};
  for (std::size_t i = 0; i < 6; ++i) {
    if (loops[i].second == 1) continue;
    at[i] = static_cast<std::uint8_t>(problem.loops.size());
    problem.loops.push_back({loops[i].first, loops[i].second});
  }
  const auto axis = [&](std::initializer_list<std::pair<std::size_t, std::int64_t>> terms, std::int64_t limit) {
    ProblemAxis result{.terms = {}, .limit = limit};
    for (auto [loop, factor] : terms) {
      if (at[loop] != 0xff) result.terms.push_back({at[loop], factor});
    }
    return result;
  };
  problem.operands = {
      {.path = Path::input,
       .bits = 8,
       .partial_bits = 16,
       .axes = {axis({{1, 1}}, c), axis({{2, stride}, {4, 1}}, y * stride), axis({{3, stride}, {5, 1}}, x * stride)}},
      {.path = Path::weight,
       .bits = 8,
       .partial_bits = 16,
       .axes = {axis({{0, 1}}, k), axis({{1, 1}}, c), axis({{4, 1}}, f), axis({{5, 1}}, f)}},
      {.path = Path::output,
       .written = true,
       .accumulates = true,
       .bits = 8,
       .partial_bits = 16,
       .axes = {axis({{0, 1}}, k), axis({{2, 1}}, y), axis({{3, 1}}, x)}}};
  problem.per_point[Count::mac] = 1;
  problem.precision = "int8";
  return problem;
}

}  // namespace monet::test
