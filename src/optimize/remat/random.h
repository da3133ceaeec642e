// Random numbers with the same values everywhere.
#pragma once

#include <cstdint>

namespace monet::remat {

// splitmix64
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // In [0, count). Requires count > 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(real() * static_cast<double>(count)); }

 private:
  std::uint64_t state_;
};

}  // namespace monet::remat
