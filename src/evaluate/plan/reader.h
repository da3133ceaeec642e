// Limits of plan files, which read_plan() keeps.
#pragma once

#include <monet/expected.h>
#include <monet/plan.h>

#include <string>

namespace monet {

constexpr std::size_t max_plan_bytes = std::size_t{16} << 20;
constexpr std::size_t max_plan_values = 500000;
constexpr std::size_t max_plan_name = 1000;                    // characters of a name or pattern
constexpr std::size_t max_plan_patterns = 1000;                // names with * or ?, in `operators` and in `tensors`
constexpr std::int64_t max_plan_size = std::int64_t{1} << 62;  // of a tile or split

// Whether a name stands for all that match it.
bool is_pattern(std::string_view name);

}  // namespace monet
