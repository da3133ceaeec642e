// One part of a cover: its own operators and sets, numbered from 0, and cuts.
#pragma once

#include "optimize/fusion/problem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace monet::fusion {

struct Part {
  std::size_t operators = 0;
  Lists<Index> sets;          // operators in order
  std::vector<double> costs;  // by set
  // At most `most` of `sets` may be chosen.
  struct Cut {
    std::vector<std::uint32_t> sets;
    std::size_t most = 0;
  };
  std::vector<Cut> cuts;
};

struct PartCover {
  std::vector<std::uint32_t> chosen;
  double cost = 0;
  double bound = 0;
};

// Exact, or nothing: more than `states` combinations are open at once, operators too far apart, or there are cuts.
std::optional<PartCover> cover_in_order(const Part& part, std::size_t states);

// As an integer program. When time is up the best so far, at worst single operators.
PartCover cover_by_program(const Part& part, double time_limit_s, const std::function<bool()>& stop);

// No cover of the part costs less: its linear relaxation; when time is up each operator's share of its cheapest set.
double relaxed_bound(const Part& part, double time_limit_s, const std::function<bool()>& stop);

}  // namespace monet::fusion
