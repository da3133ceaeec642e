#include "compat/zigzag/factors.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monet::zigzag {

namespace {

// The prime factors of one loop: each distinct one, ascending, with its count.
struct LoopFactors {
  std::uint8_t loop = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> counts;
  std::int64_t total = 0;  // as ZigZag keeps it: under constraints it may differ from the sum of the counts

  std::size_t index(std::int64_t size) const {
    return static_cast<std::size_t>(std::ranges::find(sizes, size) - sizes.begin());
  }
};

void primes_of(std::int64_t n, std::vector<std::int64_t>& primes, std::vector<std::int64_t>& counts) {
  for (std::int64_t p = 2; p * p <= n; ++p) {
    if (n % p != 0) continue;
    primes.push_back(p);
    counts.push_back(0);
    for (; n % p == 0; n /= p) ++counts.back();
  }
  if (n > 1) {
    primes.push_back(n);
    counts.push_back(1);
  }
}

std::vector<Factor> temporal_loops(const ZigzagLayer& layer, const Unrolling& unrolling) {
  std::vector<std::int64_t> sizes;
  std::vector<bool> gone(layer.loops.size(), false);
  for (const Loop& loop : layer.loops) sizes.push_back(loop.size);
  for (const auto& level : unrolling.average[1].loops) {
    for (const Unrolled& each : level) {
      if (gone[each.loop]) continue;
      sizes[each.loop] = static_cast<std::int64_t>(std::ceil(static_cast<double>(sizes[each.loop]) / each.size));
      gone[each.loop] = sizes[each.loop] == 1;
    }
  }
  std::vector<Factor> loops;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1) loops.push_back({static_cast<std::uint8_t>(i), sizes[i]});
  }
  return loops;
}

// The user's ordering in terms of the layer's loops: lines for other loops, and for "*", drop out.
std::vector<FixedPlace> ordering_of(const ZigzagLayer& layer, const ZigzagMapping& mapping) {
  std::vector<FixedPlace> lines;
  for (const ZigzagOrdered& line : mapping.temporal) {
    if (!line.loop) continue;
    const auto found = std::ranges::find(layer.loops, *line.loop, &Loop::name);
    if (found == layer.loops.end()) continue;
    lines.push_back({lines.size(), static_cast<std::uint8_t>(found - layer.loops.begin()), line.size.value_or(0)});
  }
  return lines;
}

// Whether the lines are all of the temporal loops.
Expected<bool> is_complete(const ZigzagLayer& layer, const std::vector<FixedPlace>& lines,
                           const std::vector<Factor>& loops) {
  std::vector<double> given(layer.loops.size(), 0);
  for (const FixedPlace& line : lines) {
    if (line.size == 0) return false;
    double& size = given[line.loop];
    size = (size == 0 ? 1 : size) * static_cast<double>(line.size);
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != 1) continue;
    return Error{ErrorKind::user,
                 fmt::format("the temporal ordering has a loop {} of size 1", name_of(layer.loops[i].name)), layer.name,
                 "leave it out"};
  }
  for (const Factor& loop : loops) {
    if (given[loop.loop] != static_cast<double>(loop.size)) return false;
    given[loop.loop] = 0;
  }
  return std::ranges::all_of(given, [](double size) { return size == 0; });
}

Error unsplittable(const ZigzagLayer& layer, const FixedPlace& line) {
  return {ErrorKind::infeasible,
          fmt::format("the temporal ordering fixes {} {}, which is not a part of that loop's temporal iterations",
                      name_of(layer.loops[line.loop].name), line.size),
          layer.name, "fix sizes that divide what the spatial mapping leaves of the loop"};
}

// Puts the sizes that the user fixed among the factors in place of the primes they consist of, as ZigZag does (for a
// product of different primes only the first of them is taken out).
Status take_fixed(const ZigzagLayer& layer, const std::vector<FixedPlace>& fixed, std::vector<LoopFactors>& all) {
  for (const FixedPlace& line : fixed) {
    if (line.size == 0) continue;
    std::vector<std::int64_t> primes;
    std::vector<std::int64_t> counts;
    primes_of(line.size, primes, counts);
    const auto found = std::ranges::find(all, line.loop, &LoopFactors::loop);
    if (found == all.end()) {
      if (primes.empty()) continue;
      return unsplittable(layer, line);
    }
    for (std::size_t k = 0; k < primes.size(); ++k) {
      const std::size_t at = found->index(primes[k]);
      if (at == found->sizes.size()) return unsplittable(layer, line);
      if (found->counts[at] < counts[k]) continue;
      found->counts[at] -= counts[k];
      if (found->index(line.size) < found->sizes.size()) {
        ++found->counts[at];
      } else {
        found->sizes.push_back(line.size);
        found->counts.push_back(1);
      }
      found->total -= counts[k] - 1;
    }
  }
  return Done{};
}

// The two smallest factors that are not fixed, as indices; the same one twice where it occurs twice.
std::pair<std::size_t, std::size_t> smallest_two(const LoopFactors& loop, const std::vector<FixedPlace>& fixed) {
  std::size_t first = 0;
  bool found = false;
  for (std::size_t i = 0; i < loop.sizes.size(); ++i) {
    const auto fixed_count = std::ranges::count_if(
        fixed, [&](const FixedPlace& line) { return line.loop == loop.loop && line.size == loop.sizes[i]; });
    if (fixed_count != 0 && loop.counts[i] <= fixed_count) continue;
    if (found) return {first, i};
    if (loop.counts[i] > fixed_count + 1) return {i, i};
    first = i;
    found = true;
  }
  return {first, loop.sizes.size() - 1};
}

void merge_smallest(LoopFactors& loop, const std::vector<FixedPlace>& fixed) {
  const auto [a, b] = smallest_two(loop, fixed);
  const std::int64_t merged = loop.sizes[a] * loop.sizes[b];
  --loop.counts[a];
  --loop.counts[b];
  const std::size_t at = loop.index(merged);
  if (at < loop.sizes.size()) {
    ++loop.counts[at];
  } else {
    const auto place = std::ranges::count_if(loop.sizes, [&](std::int64_t size) { return size < merged; });
    loop.sizes.insert(loop.sizes.begin() + place, merged);
    loop.counts.insert(loop.counts.begin() + place, 1);
  }
  for (std::size_t i = loop.sizes.size(); i-- > 0;) {
    if (loop.counts[i] != 0) continue;
    loop.sizes.erase(loop.sizes.begin() + static_cast<std::ptrdiff_t>(i));
    loop.counts.erase(loop.counts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  --loop.total;
}

std::int64_t total_of(const std::vector<LoopFactors>& all) {
  std::int64_t total = 0;
  for (const LoopFactors& loop : all) total += loop.total;
  return total;
}

}  // namespace

Expected<Factors> factors_of(const ZigzagLayer& layer, const Unrolling& unrolling, const ZigzagMapping& mapping,
                             const ZigzagOptions& options) {
  const std::vector<Factor> loops = temporal_loops(layer, unrolling);
  const std::vector<FixedPlace> lines = ordering_of(layer, mapping);
  MONET_TRY(const bool complete, is_complete(layer, lines, loops));
  Factors made;
  made.complete = complete;
  if (complete) {
    for (const FixedPlace& line : lines) made.factors.push_back({line.loop, line.size});
  } else {
    made.fixed = lines;
    std::vector<LoopFactors> all;
    for (const Factor& loop : loops) {
      LoopFactors& factors = all.emplace_back();
      factors.loop = loop.loop;
      primes_of(loop.size, factors.sizes, factors.counts);
      for (std::int64_t count : factors.counts) factors.total += count;
    }
    if (all.empty()) all.push_back({0, {1}, {1}, 1});
    MONET_RETURN_IF_ERROR(take_fixed(layer, lines, all));
    const std::int64_t limit =
        options.factors == 0 ? total_of(all) : std::max(options.factors, static_cast<std::int64_t>(loops.size()));
    for (std::int64_t total = total_of(all); total > limit; --total) {
      merge_smallest(*std::ranges::max_element(all, {}, &LoopFactors::total), lines);
    }
    for (const LoopFactors& loop : all) {
      if (std::ranges::any_of(loop.counts, [](std::int64_t count) { return count < 0; })) {
        return Error{
            ErrorKind::infeasible,
            fmt::format("the fixed parts of {} leave no factors to merge", name_of(layer.loops[loop.loop].name)),
            layer.name, "allow more factors, or fix fewer places of the temporal ordering"};
      }
      for (std::size_t i = 0; i < loop.sizes.size(); ++i) {
        for (std::int64_t k = 0; k < loop.counts[i]; ++k) made.factors.push_back({loop.loop, loop.sizes[i]});
      }
    }
    if (!lines.empty() && lines.back().position >= made.factors.size()) {
      return Error{ErrorKind::infeasible,
                   fmt::format("the temporal ordering has {} loops, and there are {} to order", lines.size(),
                               made.factors.size()),
                   layer.name, "order as many loops as there are, or fewer"};
    }
  }
  if (made.factors.size() > max_factors) {
    return Error{ErrorKind::user, fmt::format("there are {} temporal loops", made.factors.size()), layer.name,
                 fmt::format("at most {} are ordered", max_factors)};
  }
  if (!complete && order_count(made.factors) > zigzag_max_orders) {
    return Error{
        ErrorKind::user, fmt::format("{} factors have {:.3g} orders", made.factors.size(), order_count(made.factors)),
        layer.name, fmt::format("set a lower limit of factors; {:.0g} orders are tried at most", zigzag_max_orders)};
  }
  return made;
}

double order_count(const std::vector<Factor>& factors) {
  double count = 1;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto equal_before = std::count(factors.begin(), factors.begin() + static_cast<std::ptrdiff_t>(i), factors[i]);
    count *= static_cast<double>(i + 1) / static_cast<double>(equal_before + 1);
  }
  return std::round(count);
}

Orders::Orders(const ZigzagLayer& layer, std::vector<Factor> factors) : sorted_(std::move(factors)) {
  std::ranges::stable_sort(sorted_, [&](const Factor& a, const Factor& b) {
    const std::string a_name = name_of(layer.loops[a.loop].name);
    const std::string b_name = name_of(layer.loops[b.loop].name);
    return a_name != b_name ? a_name < b_name : a.size < b.size;
  });
  const std::size_t count = sorted_.size();
  order_.resize(count);
  // Cells in descending order: cell 0 holds the largest.
  for (std::size_t cell = 0; cell < count; ++cell) {
    const std::size_t at = count - 1 - cell;
    std::size_t first = at;
    while (first > 0 && sorted_[first - 1] == sorted_[at]) --first;
    value_.push_back(static_cast<std::uint8_t>(first));
    after_.push_back(static_cast<std::uint8_t>(cell + 1));
  }
  if (count == 0) return;
  i_ = static_cast<std::uint8_t>(count < 2 ? 0 : count - 2);
  j_ = static_cast<std::uint8_t>(count - 1);
  visit();
}

void Orders::visit() {
  std::uint8_t cell = head_;
  for (Factor& factor : order_) {
    factor = sorted_[value_[cell]];
    cell = after_[cell];
  }
}

bool Orders::next() {
  const auto end = static_cast<std::uint8_t>(sorted_.size());
  if (sorted_.empty()) return false;
  if (after_[j_] == end && value_[j_] >= value_[head_]) return false;
  const std::uint8_t s = after_[j_] != end && value_[i_] >= value_[after_[j_]] ? j_ : i_;
  const std::uint8_t t = after_[s];
  after_[s] = after_[t];
  after_[t] = head_;
  if (value_[t] < value_[head_]) i_ = t;
  j_ = after_[i_];
  head_ = t;
  visit();
  return true;
}

}  // namespace monet::zigzag
