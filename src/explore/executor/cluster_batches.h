// How many designs a batch has: so many that it takes a given time, by what was measured.
#pragma once

#include <cstddef>

namespace monet::explore {

class BatchSizes {
 public:
  explicit BatchSizes(double batch_s) : batch_s_(batch_s) {}

  // Before anything was measured 1; then at most four times what was; less at the end, so that all workers end
  // together. Requires: remaining > 0.
  std::size_t next(std::size_t remaining, std::size_t workers) const;
  // By what is known of their speed, were there enough designs.
  std::size_t wanted() const;
  void learn(std::size_t designs, double seconds);

 private:
  double batch_s_;
  double designs_ = 0, seconds_ = 0;  // of batches that were, the older ones counting less
  std::size_t largest_ = 0;
};

}  // namespace monet::explore
