#include "explore/methods/sequences.h"

#include "base/random.h"
#include "base/require.h"

namespace monet::explore {

namespace {

constexpr std::uint64_t most_draws_in_vain = 1000;

std::uint64_t mixed(std::uint64_t value, std::uint64_t key) { return SeededRandom(value ^ key).next(); }

std::vector<std::size_t> open_axes(const Space& space) {
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < space.axes.size(); ++a) {
    if (space.axes[a].texts.size() > 1) axes.push_back(a);
  }
  return axes;
}

}  // namespace

RandomOrder::RandomOrder(std::uint64_t count, std::uint64_t seed) : count_(count) {
  while (half_bits_ < 31 && (std::uint64_t{1} << (2 * half_bits_)) < count) ++half_bits_;
  SeededRandom random(seed);
  for (std::uint64_t& key : keys_) key = random.next();
}

std::uint64_t RandomOrder::cipher(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (const std::uint64_t key : keys_) {
    const std::uint64_t next = left ^ (mixed(right, key) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t RandomOrder::at(std::uint64_t index) const {
  MONET_REQUIRE(index < count_);
  do index = cipher(index);
  while (index >= count_);
  return index;
}

EvenOrder::EvenOrder(const Space& space, std::uint64_t seed)
    : space_(space), size_(space.size()), axes_(open_axes(space)), sequence_(axes_.size(), seed), rest_(size_, seed) {}

Design EvenOrder::next() {
  MONET_REQUIRE(!done());
  while (in_vain_ < most_draws_in_vain) {
    const std::vector<std::uint64_t> point = sequence_.point(point_++);
    Choice choice(space_.axes.size(), 0);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const std::uint64_t values = space_.axes[axes_[i]].texts.size();
      // 2^48 times 4096 is below 2^64.
      choice[axes_[i]] = static_cast<std::uint16_t>((point[i] * values) >> SobolSequence::bits);
    }
    const Design design = space_.design(choice);
    if (given_.insert(design).second) {
      in_vain_ = 0;
      return design;
    }
    ++in_vain_;
  }
  for (;;) {
    const Design design = rest_.at(left_over_++);
    if (given_.insert(design).second) return design;
  }
}

}  // namespace monet::explore
