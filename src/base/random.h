// Random numbers that are the same on every machine: the distributions of the standard library are not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace monet {

// splitmix64
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Below `count`, which is above zero.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(unit() * static_cast<double>(count)); }
  bool with(double probability) { return unit() < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace monet
