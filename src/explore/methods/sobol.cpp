#include "explore/methods/sobol.h"

#include "base/random.h"
#include "base/require.h"

namespace monet::explore {

SobolSequence::SobolSequence(std::size_t dimensions, std::uint64_t seed) {
  MONET_REQUIRE(dimensions <= sobol_dimensions);
  SeededRandom random(seed);
  for (std::size_t d = 0; d < dimensions; ++d) {
    const SobolDirection& from = sobol_direction(d);
    std::array<std::uint64_t, bits> numbers{};
    for (int i = 0; i < bits; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (from.degree == 0) {
        numbers[at] = std::uint64_t{1} << (bits - 1 - i);
      } else if (i < from.degree) {
        numbers[at] = std::uint64_t{from.first[at]} << (bits - 1 - i);
      } else {
        // Bratley and Fox, Algorithm 659: the recurrence that the polynomial gives.
        const std::uint64_t oldest = numbers[at - static_cast<std::size_t>(from.degree)];
        std::uint64_t number = oldest ^ (oldest >> from.degree);
        for (int k = 1; k < from.degree; ++k) {
          if ((from.polynomial >> (from.degree - k) & 1U) != 0) number ^= numbers[at - static_cast<std::size_t>(k)];
        }
        numbers[at] = number;
      }
    }
    directions_.push_back(numbers);
    shift_.push_back(seed == 0 ? 0 : random.next() >> (64 - bits));
  }
}

std::vector<std::uint64_t> SobolSequence::point(std::uint64_t index) const {
  std::vector<std::uint64_t> coordinates = shift_;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    std::size_t digit = 0;
    for (std::uint64_t rest = index; rest != 0; rest >>= 1U, ++digit) {
      if ((rest & 1U) != 0) coordinates[d] ^= directions_[d][digit];
    }
  }
  return coordinates;
}

}  // namespace monet::explore
