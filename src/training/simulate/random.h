// Streams of random numbers with names: the same on every machine, whatever else is drawn.
#pragma once

#include "base/random.h"

#include <string_view>
#include <utility>
#include <vector>

namespace monet::training {

// FNV-1a of the name, mixed with the seed.
inline std::uint64_t stream_seed(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return SeededRandom(seed ^ hash).next();
}

// In [-1, 1).
inline double signed_unit(SeededRandom& random) { return 2 * random.unit() - 1; }

// Mean 0, variance 1, nearly normal: the sum of twelve uniform numbers. No function whose last bit differs from machine
// to machine.
inline double nearly_normal(SeededRandom& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return sum;
}

// 0 … count - 1 in random order (Fisher and Yates, from the end).
inline std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  SeededRandom random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

}  // namespace monet::training
