// Random numbers that are the same on every machine: the distributions of the standard library are not.
#pragma once

#include <cstdint>
#include <random>

namespace monet {

class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : engine_(seed) {}

  // Below `count`, which is above zero.
  std::uint64_t below(std::uint64_t count) { return engine_() % count; }
  // In [0, 1).
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  bool with(double probability) { return unit() < probability; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace monet
