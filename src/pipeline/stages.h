// Blocks of a network, one after the other, on the stages of a pipeline.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace monet {

// How many blocks each stage takes, so that the slowest stage is as fast as can be; of several such cuts one whose sum
// of squares of stages' costs is least. Every stage takes at least one. `fits(first, count, stage)`: whether these
// blocks fit the stage's chip; blocks fewer of those that fit must fit, too. Empty: nothing fits, or there are fewer
// blocks than stages. Exact; blocks² × stages.
std::vector<std::size_t> balanced_stages(std::span<const double> costs, std::size_t stages,
                                         const std::function<bool(std::size_t, std::size_t, std::size_t)>& fits = {});

}  // namespace monet
