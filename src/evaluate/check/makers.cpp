#include "evaluate/check/makers.h"

#include "base/checked.h"

#include <algorithm>
#include <cstdlib>

namespace monet::check {

namespace {

// Smallest and largest value of factor * iteration.
std::pair<std::int64_t, std::int64_t> reach(std::int64_t factor, std::int64_t low, std::int64_t high) {
  return {std::min(factor * low, factor * high), std::max(factor * low, factor * high)};
}

// Iterations whose product with `factor` lies in [least, most].
std::pair<std::int64_t, std::int64_t> iterations(std::int64_t factor, std::int64_t least, std::int64_t most) {
  if (factor > 0) return {ceil_divide(least, factor), floor_divide(most, factor)};
  return {ceil_divide(-most, -factor), floor_divide(-least, -factor)};
}

std::size_t index_at(const GridAxis& axis, std::int64_t iteration) {
  const auto after = std::upper_bound(axis.bounds.begin() + 1, axis.bounds.end() - 1, iteration);
  return static_cast<std::size_t>(after - axis.bounds.begin()) - 1;
}

}  // namespace

Makers::Makers(const CheckContext& context, NodeId node, OperandKind kind, std::size_t operand)
    : grid_(context.tiles.operators[node.index()]), ways_(grid_.axes.size()), along_grid_(grid_.axes.size(), false) {
  const OperatorNests& nests = context.nests[node.index()];
  const Shape& shape = kind == OperandKind::output ? context.graph[context.graph[node].outputs[operand]].type.shape
                                                   : nests.scratch[operand].shape;
  std::int64_t best = -1;
  for (const Nest& nest : nests.nests) {
    for (const Access& write : nest.writes) {
      if (write.kind != kind || write.operand != operand) continue;
      std::vector<Way> ways;
      for (const GridAxis& axis : grid_.axes) ways.push_back(way_of(nest, write, axis.loop));
      const std::int64_t followed = std::ranges::count_if(ways, [](const Way& way) { return way.axis >= 0; });
      if (followed <= best) continue;
      best = followed;
      ways_ = std::move(ways);
      set_plain_axes(nest, write, shape);
    }
  }
}

Makers::Way Makers::way_of(const Nest& nest, const Access& access, Dim loop) {
  const auto found = std::ranges::find(nest.loops, loop, &Loop::name);
  if (found == nest.loops.end() || found->size == 1) return {};
  const auto wanted = static_cast<std::size_t>(found - nest.loops.begin());
  for (std::size_t i = 0; i < access.axes.size(); ++i) {
    const AxisIndex& axis = access.axes[i];
    Way way{.axis = static_cast<std::int32_t>(i),
            .steps = {},
            .offset = axis.offset,
            .divisor = axis.divisor,
            .span = axis.span};
    bool follows = false;
    for (const Term& term : axis.terms) {
      if (term.factor == 0 || nest.loops[term.loop].size == 1) continue;
      follows |= term.loop == wanted;
      way.steps.push_back({term.factor, nest.loops[term.loop].size, term.loop == wanted});
    }
    if (axis.anywhere || !follows) continue;
    std::ranges::stable_sort(way.steps,
                             [](const Step& a, const Step& b) { return std::abs(a.factor) > std::abs(b.factor); });
    return way;
  }
  return {};
}

void Makers::set_plain_axes(const Nest& nest, const Access& access, const Shape& shape) {
  plain_ = true;
  plain_elements_ = 1;
  along_grid_.assign(grid_.axes.size(), false);
  std::vector<bool> used(nest.loops.size(), false);
  for (std::size_t i = 0; i < access.axes.size(); ++i) {
    const AxisIndex& axis = access.axes[i];
    plain_ &= !axis.anywhere && axis.divisor == 1 && axis.span == 1 && axis.offset == 0;
    std::size_t moving = 0;
    for (const Term& term : axis.terms) {
      const Loop& loop = nest.loops[term.loop];
      if (loop.size == 1) continue;
      plain_ &= ++moving == 1 && term.factor == 1 && loop.size == shape[i] && !used[term.loop];
      used[term.loop] = true;
      const auto cut = std::ranges::find(grid_.axes, loop.name, &GridAxis::loop);
      if (cut == grid_.axes.end()) {
        plain_elements_ *= loop.size;
      } else {
        along_grid_[static_cast<std::size_t>(cut - grid_.axes.begin())] = true;
      }
    }
    plain_ &= moving == 1 || shape[i] == 1;
  }
}

IndexRange Makers::range(std::size_t grid_axis, std::span<const std::int64_t> element) const {
  const GridAxis& axis = grid_.axes[grid_axis];
  const Way& way = ways_[grid_axis];
  const IndexRange all{0, axis.count() - 1};
  if (way.axis < 0) return all;
  const std::int64_t position = element[static_cast<std::size_t>(way.axis)];
  // floor((sum + offset) / divisor) lies in (position - span, position].
  std::int64_t least = (position - way.span + 1) * way.divisor - way.offset;
  std::int64_t most = position * way.divisor + way.divisor - 1 - way.offset;
  for (std::size_t i = 0; i < way.steps.size(); ++i) {
    const Step& step = way.steps[i];
    std::int64_t rest_least = 0, rest_most = 0;
    for (std::size_t j = i + 1; j < way.steps.size(); ++j) {
      const auto [low, high] = reach(way.steps[j].factor, 0, way.steps[j].size - 1);
      rest_least += low;
      rest_most += high;
    }
    auto [low, high] = iterations(step.factor, least - rest_most, most - rest_least);
    if (low > high) return all;  // nothing writes it
    low = std::clamp<std::int64_t>(low, 0, step.size - 1);
    high = std::clamp<std::int64_t>(high, low, step.size - 1);
    if (step.wanted) return {index_at(axis, low), index_at(axis, high)};
    const auto [taken_least, taken_most] = reach(step.factor, low, high);
    least -= taken_most;
    most -= taken_least;
  }
  return all;
}

std::optional<std::size_t> Makers::buffer_of(std::span<const std::int64_t> element) const {
  std::size_t number = 0;
  for (std::size_t i = 0; i < grid_.axes.size() && !grid_.axes[i].reduces; ++i) {
    const IndexRange found = range(i, element);
    if (found.low != found.high) return std::nullopt;
    number = number * grid_.axes[i].count() + found.low;
  }
  return number;
}

bool Makers::may_hold(std::size_t buffer, std::span<const std::int64_t> element) const {
  for (std::size_t i = grid_.axes.size(); i-- > 0;) {
    if (grid_.axes[i].reduces) continue;
    const std::size_t index = buffer % grid_.axes[i].count();
    const IndexRange found = range(i, element);
    if (index < found.low || index > found.high) return false;
    buffer /= grid_.axes[i].count();
  }
  return true;
}

std::optional<std::int64_t> Makers::elements(std::size_t buffer) const {
  if (!plain_) return std::nullopt;
  std::int64_t count = plain_elements_;
  for (std::size_t i = grid_.axes.size(); i-- > 0;) {
    const GridAxis& axis = grid_.axes[i];
    if (axis.reduces) continue;
    const std::size_t index = buffer % axis.count();
    if (along_grid_[i]) count *= axis.bounds[index + 1] - axis.bounds[index];
    buffer /= axis.count();
  }
  return count;
}

}  // namespace monet::check
