#include "graph/nests.h"

#include <algorithm>
#include <bit>

namespace monet {

namespace {

using Axes = std::vector<std::int64_t>;

// Where the loops over the input put their result: reduced axes at 0, or not there at all.
std::vector<AxisIndex> result_axes(const OperatorSite& site, const Axes& axes) {
  const std::size_t rank = site.in(0).size();
  if (site.attributes.integer(Attr::keepdims) != 0) return reduced_axes(rank, axes);
  std::vector<AxisIndex> kept;
  for (std::size_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, static_cast<std::int64_t>(i)) == axes.end()) kept.push_back(at_loop(i));
  }
  return kept;
}

Nest accumulate(const OperatorSite& site, const Axes& axes, Counts per_point) {
  return {.loops = loops_over(site.in(0)),
          .reads = {read_input(0, identity_axes(site.in(0).size()))},
          .writes = {write_output(0, result_axes(site, axes), true)},
          .per_point = per_point};
}

// In place on the result.
Nest finish(const OperatorSite& site, Counts per_point) {
  const std::vector<AxisIndex> axes = identity_axes(site.out(0).size());
  return {.loops = loops_over(site.out(0)),
          .reads = {read_output(0, axes)},
          .writes = {write_output(0, axes)},
          .per_point = per_point};
}

// log(sum(exp(x))) as maximum + log(sum(exp(x - maximum))).
OperatorNests log_sum_exp(const OperatorSite& site, const Axes& axes) {
  Nest maximum = accumulate(site, axes, counts_of({{Count::compare, 1}}));
  maximum.writes = {write_scratch(0, result_axes(site, axes), true)};
  Nest sum = accumulate(site, axes, counts_of({{Count::add, 2}, {Count::exp, 1}}));
  sum.reads.push_back(read_scratch(0, result_axes(site, axes)));
  Nest logarithm = finish(site, counts_of({{Count::log, 1}, {Count::add, 1}}));
  logarithm.reads.push_back(read_scratch(0, identity_axes(site.out(0).size())));
  return {.nests = {std::move(maximum), std::move(sum), std::move(logarithm)}, .scratch = {*site.outputs[0]}};
}

OperatorNests reduce(const OperatorSite& site) {
  using enum Count;
  const Axes& axes = site.attributes.integers(Attr::axes);
  const auto one = [&](Counts counts) {
    return OperatorNests{.nests = {accumulate(site, axes, counts)}, .scratch = {}};
  };
  const auto two = [&](Counts first, Counts last) {
    return OperatorNests{.nests = {accumulate(site, axes, first), finish(site, last)}, .scratch = {}};
  };
  switch (site.op) {
    case Op::ReduceL1: return one(counts_of({{compare, 1}, {add, 1}}));
    case Op::ReduceL2: return two(counts_of({{multiply, 1}, {add, 1}}), counts_of({{sqrt, 1}}));
    case Op::ReduceLogSum: return two(counts_of({{add, 1}}), counts_of({{log, 1}}));
    case Op::ReduceLogSumExp: return log_sum_exp(site, axes);
    case Op::ReduceMean: {
      OperatorNests nests = two(counts_of({{add, 1}}), counts_of({{multiply, 1}}));
      nests.nests.back().proportional = true;
      return nests;
    }
    case Op::ReduceProd: return one(counts_of({{multiply, 1}}));
    case Op::ReduceSum: return one(counts_of({{add, 1}}));
    case Op::ReduceSumSquare: return one(counts_of({{multiply, 1}, {add, 1}}));
    default: return one(counts_of({{compare, 1}}));
  }
}

// Each element is its neighbour's running sum and one more element.
OperatorNests cumulative_sum(const OperatorSite& site) {
  const std::size_t rank = site.in(0).size();
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  std::vector<AxisIndex> neighbour = identity_axes(rank);
  neighbour[axis].offset = site.attributes.integer(Attr::reverse) != 0 ? 1 : -1;
  const bool exclusive = site.attributes.integer(Attr::exclusive) != 0;
  Nest nest{.loops = loops_over(site.in(0)),
            .reads = {read_input(0, exclusive ? neighbour : identity_axes(rank)), read_output(0, neighbour)},
            .writes = {write_output(0, identity_axes(rank))},
            .per_point = counts_of({{Count::add, 1}})};
  return {.nests = {std::move(nest)}, .scratch = {}};
}

// A heap of the k best: each element is compared along one path through it.
OperatorNests top_k(const OperatorSite& site) {
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  const std::int64_t k = site.attributes.integer(Attr::k);
  std::vector<AxisIndex> picked = identity_axes(site.in(0).size());
  picked[axis] = at_any(k);
  Nest nest{.loops = loops_over(site.in(0)),
            .reads = {read_input(0, identity_axes(site.in(0).size()))},
            .writes = {},
            .per_point = counts_of({{Count::compare, std::bit_width(static_cast<std::uint64_t>(k))}})};
  for (std::size_t i = 0; i < 2; ++i) {
    if (site.has_output(i)) nest.writes.push_back(write_output(i, picked, true));
  }
  return {.nests = {std::move(nest)}, .scratch = {}};
}

OperatorNests hardmax(const OperatorSite& site) {
  const Axes& axes = site.attributes.integers(Attr::axes);
  const std::vector<AxisIndex> all = identity_axes(site.in(0).size());
  const std::vector<AxisIndex> row = reduced_axes(all.size(), axes);
  TensorType winner{site.in(0), {.element = ElementType::int64}};
  for (std::int64_t axis : axes) winner.shape[static_cast<std::size_t>(axis)] = 1;
  Nest find{.loops = loops_over(site.in(0)),
            .reads = {read_input(0, all)},
            .writes = {write_scratch(0, row, true)},
            .per_point = counts_of({{Count::compare, 1}})};
  Nest mark{.loops = find.loops,
            .reads = {read_scratch(0, row)},
            .writes = {write_output(0, all)},
            .per_point = counts_of({{Count::compare, 1}})};
  return {.nests = {std::move(find), std::move(mark)}, .scratch = {std::move(winner)}};
}

}  // namespace

OperatorNests reduction_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::ArgMax:
    case Op::ArgMin:
      return {.nests = {accumulate(site, {site.attributes.integer(Attr::axis)}, counts_of({{Count::compare, 1}}))},
              .scratch = {}};
    case Op::CumSum: return cumulative_sum(site);
    case Op::TopK: return top_k(site);
    case Op::Hardmax: return hardmax(site);
    default: return reduce(site);
  }
}

}  // namespace monet
