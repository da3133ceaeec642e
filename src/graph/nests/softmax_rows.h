// The statistics of rows that softmax and the losses on top of it share.
#pragma once

#include "graph/nests.h"

namespace monet {

// The maximum of each row goes to scratch 0, the sum of its exponentials to scratch 1.
struct RowStatistics {
  std::vector<AxisIndex> all, row;
  std::vector<Loop> loops;
  TensorType type;  // of one value for each row

  RowStatistics(const TensorType& scores, std::span<const std::int64_t> axes)
      : all(identity_axes(scores.shape.size())),
        row(reduced_axes(scores.shape.size(), axes)),
        loops(loops_over(scores.shape)),
        type(scores) {
    for (std::int64_t axis : axes) type.shape[static_cast<std::size_t>(axis)] = 1;
  }

  Nest maximum() const {
    return {.loops = loops,
            .reads = {read_input(0, all)},
            .writes = {write_scratch(0, row, true)},
            .per_point = counts_of({{Count::compare, 1}})};
  }

  Nest sum_of_exponentials() const {
    return {.loops = loops,
            .reads = {read_input(0, all), read_scratch(0, row)},
            .writes = {write_scratch(1, row, true)},
            .per_point = counts_of({{Count::add, 2}, {Count::exp, 1}})};
  }

  // Scratch 0 becomes maximum + log(sum): what a score must lose to be a log-probability.
  Nest logarithm() const {
    const std::vector<AxisIndex> each = identity_axes(type.shape.size());
    return {.loops = loops_over(type.shape),
            .reads = {read_scratch(0, each), read_scratch(1, each)},
            .writes = {write_scratch(0, each)},
            .per_point = counts_of({{Count::log, 1}, {Count::add, 1}})};
  }

  Nest subtraction(std::size_t output) const {
    return {.loops = loops,
            .reads = {read_input(0, all), read_scratch(0, row)},
            .writes = {write_output(output, all)},
            .per_point = counts_of({{Count::add, 1}})};
  }
};

}  // namespace monet
