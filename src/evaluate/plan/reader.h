// Reads a plan file (docs/plans.md). What it says is checked for form only: whether a graph has the operators and a
// machine the cores is bind's question.
#pragma once

#include "evaluate/plan/plan.h"

#include <monet/expected.h>

#include <string>

namespace monet {

constexpr std::size_t max_plan_bytes = std::size_t{16} << 20;
constexpr std::size_t max_plan_values = 500000;
constexpr std::size_t max_plan_name = 1000;                    // characters of a name or pattern
constexpr std::size_t max_plan_patterns = 1000;                // names with * or ?, in `operators` and in `tensors`
constexpr std::int64_t max_plan_size = std::int64_t{1} << 62;  // of a tile or split

Expected<Plan> read_plan(const std::string& path);
// `file` is for messages.
Expected<Plan> plan_from(const std::string& text, const std::string& file);

// Whether a name stands for all that match it.
bool is_pattern(std::string_view name);

}  // namespace monet
