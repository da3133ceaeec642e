// Sobol's sequence: points of a cube that fill it evenly, however many are taken.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monet::explore {

constexpr std::size_t sobol_dimensions = 64;

// A primitive polynomial over {0, 1}, its coefficients as bits, and the first direction numbers.
struct SobolDirection {
  int degree = 0;
  std::uint32_t polynomial = 0;
  std::array<std::uint32_t, 9> first{};
};
const SobolDirection& sobol_direction(std::size_t dimension);

class SobolSequence {
 public:
  static constexpr int bits = 48;

  // `dimensions` at most sobol_dimensions. Each coordinate is shifted by a number that depends on the seed (bit by bit,
  // modulo two), which keeps the distances that count; seed 0: no shift.
  SobolSequence(std::size_t dimensions, std::uint64_t seed);

  // Coordinates of point `index` below 2^48, each in [0, 2^48).
  std::vector<std::uint64_t> point(std::uint64_t index) const;

 private:
  std::vector<std::array<std::uint64_t, bits>> directions_;
  std::vector<std::uint64_t> shift_;
};

}  // namespace monet::explore
