// Small random problems, machines and mappings.
#pragma once

#include "mapping/machines.h"
#include "mapping/mapping.h"
#include "mapping/spatial.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace monet::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(engine_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(engine_); }
  template <class T>
  const T& one_of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    std::shuffle(values.begin(), values.end(), engine_);
  }

 private:
  std::mt19937_64 engine_;
};

// Operands are given by terms over named loops; loops of size 1 go away as they do in real problems.
struct ProblemSpec {
  std::vector<Loop> loops;
  struct Axis {
    std::vector<std::pair<Dim, std::int64_t>> terms;
    std::int64_t limit = 0;  // 0: as many positions as there are
    std::int64_t divisor = 1;
    std::int64_t span = 1;
  };
  struct Operand {
    Path path;
    std::vector<Axis> axes;
    bool accumulates = false;
    bool continues = false;
    double bits = 8;
    std::int64_t partial_bits = 16;
  };
  std::vector<Operand> operands;
};

inline Problem problem_from(const ProblemSpec& spec) {
  Problem problem;
  std::vector<std::pair<Dim, std::uint8_t>> number;
  for (const Loop& loop : spec.loops) {
    if (loop.size == 1) continue;
    number.emplace_back(loop.name, static_cast<std::uint8_t>(problem.loops.size()));
    problem.loops.push_back(loop);
  }
  for (const auto& operand : spec.operands) {
    ProblemOperand result{.path = operand.path,
                          .written = operand.path == Path::output,
                          .accumulates = operand.accumulates,
                          .continues = operand.continues,
                          .bits = operand.bits,
                          .partial_bits = operand.partial_bits};
    for (const auto& from : operand.axes) {
      ProblemAxis axis{.divisor = from.divisor, .span = from.span};
      std::int64_t reach = 0;
      for (auto [dim, factor] : from.terms) {
        for (auto [name, index] : number) {
          if (name != dim) continue;
          axis.terms.push_back({index, factor});
          reach += factor * (problem.loops[index].size - 1);
        }
      }
      axis.limit = from.limit > 0 ? from.limit : reach / axis.divisor + axis.span;
      if (!axis.terms.empty() || axis.span > 1) result.axes.push_back(std::move(axis));
    }
    problem.operands.push_back(std::move(result));
  }
  problem.per_point[Count::mac] = 1;
  problem.precision = "int8";
  return problem;
}

inline Problem matmul(std::int64_t batch, std::int64_t rows, std::int64_t columns, std::int64_t depth,
                      bool continues = false) {
  using enum Dim;
  return problem_from({{{B, batch}, {D, rows}, {K, columns}, {C, depth}},
                       {{Path::input, {{{{B, 1}}}, {{{D, 1}}}, {{{C, 1}}}}},
                        {Path::weight, {{{{B, 1}}}, {{{C, 1}}}, {{{K, 1}}}}},
                        {Path::output, {{{{B, 1}}}, {{{D, 1}}}, {{{K, 1}}}}, true, continues}}});
}

// Fields of a random convolution along one axis.
struct Window {
  std::int64_t stride = 1, dilation = 1;
  std::int64_t clipped = 0;  // positions that padding takes off at the end
};

inline Problem convolution_with(std::int64_t k, std::int64_t c, std::int64_t x, std::int64_t f, Window window,
                                std::int64_t y = 1, std::int64_t fy = 1) {
  using enum Dim;
  const std::int64_t reach = window.stride * (x - 1) + window.dilation * (f - 1) + 1;
  return problem_from(
      {{{K, k}, {C, c}, {OY, y}, {OX, x}, {FY, fy}, {FX, f}},
       {{Path::input,
         {{{{C, 1}}},
          {{{OY, 1}, {FY, 1}}},
          {{{OX, window.stride}, {FX, window.dilation}}, std::max<std::int64_t>(1, reach - window.clipped)}}},
        {Path::weight, {{{{K, 1}}}, {{{C, 1}}}, {{{FY, 1}}}, {{{FX, 1}}}}},
        {Path::output, {{{{K, 1}}}, {{{OY, 1}}}, {{{OX, 1}}}}, true}}});
}

// c = a + b with b broadcast along the first axis.
inline Problem broadcast_add(std::int64_t rows, std::int64_t columns) {
  using enum Dim;
  return problem_from({{{B, rows}, {K, columns}},
                       {{Path::input, {{{{B, 1}}}, {{{K, 1}}}}},
                        {Path::weight, {{{{K, 1}}}}},
                        {Path::output, {{{{B, 1}}}, {{{K, 1}}}}}}});
}

inline Problem reduction(std::int64_t rows, std::int64_t columns) {
  using enum Dim;
  return problem_from(
      {{{D, rows}, {C, columns}}, {{Path::input, {{{{D, 1}}}, {{{C, 1}}}}}, {Path::output, {{{{D, 1}}}}, true}}});
}

inline Problem random_problem(Random& random, std::int64_t most) {
  const auto size = [&] { return random.between(1, most); };
  Problem problem;
  switch (random.between(0, 4)) {
    case 0: problem = matmul(random.between(1, 2), size(), size(), size(), random.chance(0.2)); break;
    case 1: problem = broadcast_add(size(), size()); break;
    case 2: problem = reduction(size(), size()); break;
    default:
      problem = convolution_with(random.between(1, 3), random.between(1, 3), size(), random.between(1, 3),
                                 {random.between(1, 3), random.between(1, 2), random.between(0, 2)},
                                 random.between(1, 2), random.between(1, 2));
      break;
  }
  // With the share of a scale, too: 8.25 is an element of MXFP8.
  const auto bits = random.one_of<double>({4, 8, 16, 8.25});
  for (ProblemOperand& operand : problem.operands) {
    operand.bits = bits;
    operand.partial_bits = static_cast<std::int64_t>(2 * std::floor(bits));
  }
  return problem;
}

// A home for all paths, and up to two levels below it, each for some of the paths.
inline Target random_target(Random& random, std::int64_t lower_bits, std::int64_t lane_limit = 4) {
  using enum Path;
  std::vector<DimensionSpec> dimensions;
  for (std::int64_t i = random.between(0, 2); i > 0; --i) dimensions.push_back({random.between(2, lane_limit), {}});
  const std::uint32_t all = (1U << dimensions.size()) - 1;
  std::vector<MemorySpec> memories;
  for (std::int64_t i = random.between(0, 2); i > 0; --i) {
    MemorySpec memory{.name = "m" + std::to_string(i), .bits = lower_bits};
    for (Path path : {input, weight, output}) {
      if (random.chance(0.7)) memory.paths.push_back(path);
    }
    if (memory.paths.empty()) memory.paths.push_back(random.one_of<Path>({input, weight, output}));
    memory.served = static_cast<std::uint32_t>(random.between(0, all));
    memory.min_bits = random.one_of<std::int64_t>({4, 8, 16});
    memory.max_bits = memory.min_bits * random.one_of<std::int64_t>({1, 2, 4});
    memory.one_port = random.chance(0.3);
    memory.read_pj = static_cast<double>(random.between(1, 20)) / 8;
    memory.write_pj = static_cast<double>(random.between(1, 20)) / 8;
    if (memories.empty() && random.chance(0.5)) memory.kind = MemoryKind::registers;
    memories.push_back(memory);
  }
  memories.push_back({.name = "home",
                      .bits = std::int64_t{1} << 40,
                      .read_pj = static_cast<double>(random.between(20, 100)),
                      .write_pj = static_cast<double>(random.between(20, 100)),
                      .paths = {input, weight, output},
                      .served = all,
                      .min_bits = 8,
                      .max_bits = random.one_of<std::int64_t>({8, 16, 64}),
                      .one_port = random.chance(0.5)});
  return target_with(dimensions, 0.5, memories);
}

struct MappingCase {
  Problem problem;
  Target target;
};

// Pieces of n iterations: divisors, or any sizes, the last of which is ragged.
inline std::vector<std::int64_t> random_pieces(Random& random, std::int64_t n, bool dividing) {
  std::vector<std::int64_t> pieces;
  while (n > 1) {
    std::int64_t piece = random.between(2, n);
    while (dividing && n % piece != 0) piece = random.between(2, n);
    pieces.push_back(piece);
    n = (n + piece - 1) / piece;
  }
  return pieces;
}

inline Mapping random_mapping(Random& random, const Problem& problem, const Target& target, bool dividing) {
  Mapping mapping;
  std::vector<std::int64_t> left;
  for (const Loop& loop : problem.loops) left.push_back(loop.size);
  for (std::size_t d = 0; d < target.unit.dimensions.size(); ++d) {
    std::int64_t room = target.unit.dimensions[d].size;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::int64_t size = random.between(1, std::min(room, left[i]));
      if (size == 1 || random.chance(0.5) || (dividing && left[i] % size != 0)) continue;
      mapping.spatial.push_back({static_cast<std::uint8_t>(d), static_cast<std::uint8_t>(i), size});
      left[i] = (left[i] + size - 1) / size;
      room /= size;
    }
  }
  std::vector<TemporalLoop> order;
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::int64_t piece : random_pieces(random, left[i], dividing)) {
      order.push_back({static_cast<std::uint8_t>(i), piece});
    }
  }
  random.shuffle(order);
  mapping.temporal = order;
  for (const ProblemOperand& operand : problem.operands) {
    std::vector<std::uint8_t> cuts;
    for (std::size_t i = 1; i < target.levels[static_cast<std::size_t>(operand.path)].size(); ++i) {
      cuts.push_back(static_cast<std::uint8_t>(random.between(0, static_cast<std::int64_t>(order.size()))));
    }
    std::ranges::sort(cuts);
    cuts.push_back(static_cast<std::uint8_t>(order.size()));
    mapping.cuts.push_back(std::move(cuts));
  }
  return mapping;
}

}  // namespace monet::test
