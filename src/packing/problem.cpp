#include "packing/problem.h"

#include <algorithm>
#include <numeric>

namespace monet::packing {

namespace {

bool counts(const PackItem& item) { return item.size > 0 && item.upper > item.lower; }

// Sections of `items[chosen]`, sorted by start.
Problem problem_of(std::span<const PackItem> items, std::span<const std::size_t> chosen, std::int64_t unit) {
  Problem problem;
  problem.item.assign(chosen.begin(), chosen.end());
  std::vector<std::int64_t> ends(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) ends[i] = items[chosen[i]].upper;
  std::ranges::sort(ends);
  // The section begins at its last start: whoever ends after that is in it.
  std::vector<std::int64_t> last_start;
  std::size_t ended = 0;
  bool fresh = true;
  for (const std::size_t index : chosen) {
    const PackItem& item = items[index];
    for (; ends[ended] <= item.lower; ++ended) fresh = true;
    if (fresh) last_start.push_back(item.lower);
    fresh = false;
    last_start.back() = item.lower;
    problem.first.push_back(static_cast<std::int32_t>(last_start.size()) - 1);
  }
  problem.load.assign(last_start.size() + 1, 0);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const PackItem& item = items[chosen[i]];
    const auto after = std::ranges::lower_bound(last_start, item.upper) - last_start.begin();
    problem.last.push_back(static_cast<std::int32_t>(after));
    problem.size.push_back(item.size / unit);
    problem.alignment.push_back(std::max<std::int64_t>(item.alignment / unit, 1));
    problem.lifetime.push_back(item.upper - item.lower);
    problem.load[problem.first[i]] += problem.size[i];
    problem.load[problem.last[i]] -= problem.size[i];
  }
  std::partial_sum(problem.load.begin(), problem.load.end(), problem.load.begin());
  problem.load.pop_back();
  return problem;
}

}  // namespace

std::int64_t Problem::max_load() const { return load.empty() ? 0 : *std::ranges::max_element(load); }

std::int64_t Problem::span_total() const {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < first.size(); ++i) total += last[i] - first[i];
  return total;
}

std::int64_t common_unit(std::span<const PackItem> items) {
  std::int64_t unit = 0;
  for (const PackItem& item : items) {
    if (!counts(item)) continue;
    unit = std::gcd(unit, item.size);
    if (item.alignment > 1) unit = std::gcd(unit, item.alignment);
  }
  return std::max<std::int64_t>(unit, 1);
}

std::vector<Problem> split(std::span<const PackItem> items, std::int64_t unit) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (counts(items[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return items[i].lower; });
  std::vector<Problem> problems;
  for (std::size_t begin = 0; begin < order.size();) {
    std::int64_t until = items[order[begin]].upper;
    std::size_t end = begin + 1;
    for (; end < order.size() && items[order[end]].lower < until; ++end)
      until = std::max(until, items[order[end]].upper);
    problems.push_back(problem_of(items, std::span(order).subspan(begin, end - begin), unit));
    begin = end;
  }
  return problems;
}

}  // namespace monet::packing
