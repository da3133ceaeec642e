// The smallest value of a function of positive numbers, one after the other, by golden sections of their logarithms.
#pragma once

#include <functional>
#include <span>

namespace monet {

struct SearchRange {
  double least = 0;
  double most = 0;  // equal: it stays
};

// Changes `x` to where `loss` is smaller; the same steps for the same input.
void minimize(std::span<double> x, std::span<const SearchRange> ranges, int rounds,
              const std::function<double(std::span<const double>)>& loss);

}  // namespace monet
