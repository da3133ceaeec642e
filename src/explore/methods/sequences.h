// Orders in which the designs of a space may be looked at.
#pragma once

#include "explore/methods/sobol.h"
#include "explore/space/space.h"

#include <array>
#include <cstdint>
#include <unordered_set>

namespace monet::explore {

// All numbers below `count` in a random order, without a list of them: a Feistel cipher of the next power of four,
// walked until it is below `count` (Black and Rogaway, Ciphers with arbitrary finite domains, 2002).
class RandomOrder {
 public:
  RandomOrder(std::uint64_t count, std::uint64_t seed);
  // `index` below count; different for different ones.
  std::uint64_t at(std::uint64_t index) const;

 private:
  std::uint64_t cipher(std::uint64_t value) const;

  static constexpr std::size_t rounds = 6;
  std::uint64_t count_;
  int half_bits_ = 1;
  std::array<std::uint64_t, rounds> keys_{};
};

// Designs of a space evenly over all axes: points of Sobol's sequence, each once. What a small space leaves over after
// many points comes in random order.
class EvenOrder {
 public:
  EvenOrder(const Space& space, std::uint64_t seed);
  // All of the space has been given.
  bool done() const { return given_.size() == size_; }
  // Requires !done().
  Design next();

 private:
  const Space& space_;
  std::uint64_t size_;
  std::vector<std::size_t> axes_;  // those with more than one value
  SobolSequence sequence_;
  RandomOrder rest_;
  std::uint64_t point_ = 0, left_over_ = 0;
  std::uint64_t in_vain_ = 0;  // points since one was new
  std::unordered_set<Design> given_;
};

}  // namespace monet::explore
