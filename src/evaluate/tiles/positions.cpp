#include "evaluate/tiles/positions.h"

#include "base/checked.h"
#include "base/require.h"

#include <algorithm>
#include <array>

namespace monet::tiling {

namespace {

constexpr std::int64_t max_runs = std::int64_t{1} << 20;

Runs interval(std::int64_t begin, std::int64_t end) { return {.start = begin, .length = end - begin}; }

void join_touching(Runs& runs) {
  if (runs.count > 1 && runs.step <= runs.length) runs = interval(runs.start, runs.end());
}

void fill(Positions& positions) {
  std::int64_t begin = positions.front().start;
  std::int64_t end = positions.front().end();
  for (const Runs& runs : positions) {
    begin = std::min(begin, runs.start);
    end = std::max(end, runs.end());
  }
  positions.assign(1, interval(begin, end));
}

std::int64_t runs_in(const Positions& positions) {
  std::int64_t total = 0;
  for (const Runs& runs : positions) total += runs.count;
  return total;
}

// One by one, in order, overlaps joined.
void separate(Positions& positions) {
  if (positions.size() == 1) return join_touching(positions.front());
  if (positions.empty()) return;
  if (runs_in(positions) > max_runs) return fill(positions);
  Positions single;
  for (const Runs& runs : positions) {
    for (std::int64_t i = 0; i < runs.count; ++i) {
      single.push_back({.start = runs.start + i * runs.step, .length = runs.length});
    }
  }
  std::ranges::sort(single, {}, &Runs::start);
  positions.clear();
  for (const Runs& next : single) {
    if (positions.empty() || next.start > positions.back().end()) {
      positions.push_back(next);
    } else if (next.end() > positions.back().end()) {
      positions.back().length = next.end() - positions.back().start;
    }
  }
}

// Sum of a set in one pattern and {0, factor, …, factor * (count - 1)}, where that is one pattern again.
bool extend(Runs& runs, std::int64_t factor, std::int64_t count) {
  if (runs.count == 1) {
    if (factor <= runs.length) {
      runs.length += factor * (count - 1);
    } else {
      runs.step = factor;
      runs.count = count;
    }
    return true;
  }
  if (factor % runs.step != 0 || factor > runs.step * runs.count) return false;
  runs.count += factor / runs.step * (count - 1);
  return true;
}

void add_copies(Positions& positions, std::int64_t factor, std::int64_t count) {
  if (runs_in(positions) > max_runs / count) {
    fill(positions);
    positions.front().length += factor * (count - 1);
    return;
  }
  const std::size_t one = positions.size();
  for (std::int64_t i = 1; i < count; ++i) {
    for (std::size_t k = 0; k < one; ++k) {
      Runs copy = positions[k];
      copy.start += i * factor;
      positions.push_back(copy);
    }
  }
  separate(positions);
}

void divide(Positions& positions, std::int64_t divisor) {
  if (divisor == 1) return;
  Positions result;
  for (const Runs& runs : positions) {
    const std::int64_t first = floor_divide(runs.start, divisor);
    if (runs.count == 1 || runs.step - runs.length + 1 <= divisor) {
      result.push_back(interval(first, floor_divide(runs.end() - 1, divisor) + 1));
    } else if (runs.step % divisor == 0) {
      const std::int64_t last = floor_divide(runs.start + runs.length - 1, divisor);
      result.push_back({.start = first, .length = last - first + 1, .step = runs.step / divisor, .count = runs.count});
      join_touching(result.back());
    } else if (runs.count > max_runs) {
      result.push_back(interval(first, floor_divide(runs.end() - 1, divisor) + 1));
    } else {
      for (std::int64_t i = 0; i < runs.count; ++i) {
        const std::int64_t start = runs.start + i * runs.step;
        result.push_back(interval(floor_divide(start, divisor), floor_divide(start + runs.length - 1, divisor) + 1));
      }
    }
  }
  positions = std::move(result);
  separate(positions);
}

void widen(Positions& positions, std::int64_t span) {
  if (span == 1) return;
  for (Runs& runs : positions) runs.length += span - 1;
  separate(positions);
}

// Runs of a pattern that lie partly outside become ones of their own.
void clip_pattern(const Runs& runs, std::int64_t begin, std::int64_t end, Positions& result) {
  const auto run = [&](std::int64_t i) {
    const std::int64_t start = runs.start + i * runs.step;
    return interval(std::max(start, begin), std::min(start + runs.length, end));
  };
  // Those that reach beyond `begin`, and begin before `end`; whole ones among them.
  const std::int64_t first = std::max<std::int64_t>(0, floor_divide(begin - runs.start - runs.length, runs.step) + 1);
  const std::int64_t last = std::min(runs.count - 1, ceil_divide(end - runs.start, runs.step) - 1);
  if (first > last) return;
  const std::int64_t whole_first = runs.start + first * runs.step < begin ? first + 1 : first;
  const std::int64_t whole_last = runs.start + last * runs.step + runs.length > end ? last - 1 : last;
  if (whole_first > first) result.push_back(run(first));
  if (whole_first <= whole_last) {
    Runs whole = runs;
    whole.start += whole_first * runs.step;
    whole.count = whole_last - whole_first + 1;
    result.push_back(whole);
  }
  if (whole_last < last && last >= whole_first) result.push_back(run(last));
}

void clip(Positions& positions, std::int64_t begin, std::int64_t end) {
  if (positions.size() == 1 && positions.front().count == 1) {
    Runs& only = positions.front();
    only = interval(std::max(only.start, begin), std::min(only.end(), end));
    if (only.length <= 0) positions.clear();
    return;
  }
  if (begin >= end) return positions.clear();
  if (positions.empty() || (positions.front().start >= begin && positions.back().end() <= end)) return;
  Positions result;
  for (const Runs& runs : positions) clip_pattern(runs, begin, end, result);
  positions = std::move(result);
}

}  // namespace

std::int64_t Runs::below(std::int64_t position) const {
  if (position <= start) return 0;
  if (count == 1) return std::min(position - start, length);
  const std::int64_t whole = (position - start) / step;
  return whole >= count ? size() : whole * length + std::min(length, position - start - whole * step);
}

void reach(const AxisAccess& access, std::span<const Range> ranges, Positions& result) {
  result.clear();
  if (access.size == 0) return;
  if (access.anywhere) {
    result.push_back(interval(0, access.size));
    return;
  }
  struct Step {
    std::int64_t factor, count;
  };
  std::array<Step, max_terms> steps;
  std::size_t used = 0;
  std::int64_t start = access.offset;
  MONET_REQUIRE(access.terms.size() <= max_terms);
  for (const AccessTerm& term : access.terms) {
    const Range range = term.slot == AccessTerm::no_slot ? Range{0, term.size} : ranges[term.slot];
    const std::int64_t count = range.end - range.begin;
    if (count <= 0) return;
    start += term.factor * (term.factor > 0 ? range.begin : range.end - 1);
    if (count == 1 || term.factor == 0) continue;
    const Step step{term.factor > 0 ? term.factor : -term.factor, count};
    std::size_t at = used++;
    for (; at > 0 && steps[at - 1].factor > step.factor; --at) steps[at] = steps[at - 1];
    steps[at] = step;
  }
  Runs runs{.start = start};
  std::size_t done = 0;
  while (done < used && extend(runs, steps[done].factor, steps[done].count)) ++done;
  if (done == used && runs.count == 1 && access.divisor == 1) {
    const std::int64_t begin = std::max<std::int64_t>(start, 0);
    const std::int64_t end = std::min(start + runs.length + access.span - 1, access.size);
    if (begin < end) result.push_back(interval(begin, end));
    return;
  }
  result.push_back(runs);
  for (; done < used; ++done) {
    if (result.size() != 1 || !extend(result.front(), steps[done].factor, steps[done].count)) {
      add_copies(result, steps[done].factor, steps[done].count);
    }
  }
  divide(result, access.divisor);
  widen(result, access.span);
  clip(result, 0, access.size);
}

void apply(const AffineMap& map, Positions& positions) {
  clip(positions, map.begin, map.end);
  if (positions.empty()) return;
  if (map.scale == 1) {
    for (Runs& runs : positions) runs.start += map.offset;
    return;
  }
  if (map.scale == 0) {
    positions.assign(1, interval(map.offset, map.offset + 1));
    return;
  }
  const std::int64_t distance = map.scale > 0 ? map.scale : -map.scale;
  Positions result;
  for (const Runs& runs : positions) {
    const auto image = [&](std::int64_t first, std::int64_t step, std::int64_t count) {
      const std::int64_t least = map.scale > 0 ? first : first + step * (count - 1);
      return Runs{.start = map.scale * least + map.offset, .length = 1, .step = distance * step, .count = count};
    };
    if (distance == 1) {
      const std::int64_t last = map.offset - (runs.end() - 1);
      result.push_back({.start = last, .length = runs.length, .step = runs.step, .count = runs.count});
    } else if (runs.count == 1) {
      result.push_back(image(runs.start, 1, runs.length));
    } else if (runs.length == 1) {
      result.push_back(image(runs.start, runs.step, runs.count));
    } else if (runs.count > max_runs) {
      result.push_back(image(runs.start, 1, runs.end() - runs.start));
    } else {
      for (std::int64_t i = 0; i < runs.count; ++i) result.push_back(image(runs.start + i * runs.step, 1, runs.length));
    }
  }
  if (map.scale < 0) std::ranges::reverse(result);
  positions = std::move(result);
}

std::int64_t size_of(const Positions& positions) {
  std::int64_t total = 0;
  for (const Runs& runs : positions) total += runs.size();
  return total;
}

}  // namespace monet::tiling
