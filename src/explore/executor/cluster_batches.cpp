#include "explore/executor/cluster_batches.h"

#include <algorithm>
#include <cmath>

namespace monet::explore {

namespace {

constexpr double kept_share = 0.8;              // what a batch counts for when another has come
constexpr std::size_t growth = 4;               // from one batch to the next
constexpr std::size_t largest_batch = 1 << 14;  // keeps messages small where designs take no time

}  // namespace

std::size_t BatchSizes::wanted() const {
  if (largest_ == 0) return 1;
  const double by_time = seconds_ > 0 ? batch_s_ * designs_ / seconds_ : static_cast<double>(largest_batch);
  const auto limit = static_cast<double>(std::min(largest_batch, growth * largest_));
  return static_cast<std::size_t>(std::lround(std::clamp(by_time, 1.0, limit)));
}

std::size_t BatchSizes::next(std::size_t remaining, std::size_t workers) const {
  const std::size_t share = (remaining + 2 * workers - 1) / std::max<std::size_t>(1, 2 * workers);
  return std::min(remaining, std::clamp<std::size_t>(share, 1, wanted()));
}

void BatchSizes::learn(std::size_t designs, double seconds) {
  designs_ = kept_share * designs_ + static_cast<double>(designs);
  seconds_ = kept_share * seconds_ + std::max(0.0, seconds);
  largest_ = std::max(largest_, designs);
}

}  // namespace monet::explore
