#include "graph/nests/norm_gradient.h"

#include <algorithm>

namespace monet {

namespace {

using enum Count;
using Indices = std::vector<AxisIndex>;

// Where an element of the input finds its statistics and its scale.
struct Places {
  Indices all;          // the element itself
  Indices statistic;    // mean and inverse deviation
  Indices scale;        // scale, bias and their gradients
  bool centred = true;  // has a mean: the first of the statistics
};

// Reads dY and X, which are the first inputs of every gradient.
std::vector<Access> gradient_and_input(const Places& at) { return {read_input(0, at.all), read_input(1, at.all)}; }

Places of_channels(const OperatorSite& site) {
  return {.all = identity_axes(site.in(1).size()), .statistic = {at_loop(1)}, .scale = {at_loop(1)}};
}

Places of_groups(const OperatorSite& site) {
  Places at = of_channels(site);
  at.statistic = {at_loop(0), at_group(site.in(1)[1], site.attributes.integer(Attr::num_groups))};
  return at;
}

// Over all axes from Attr::axis on.
Places of_rows(const OperatorSite& site, const Shape& scale, bool centred) {
  const Shape& input = site.in(1);
  Places at{.all = identity_axes(input.size()),
            .statistic = identity_axes(input.size()),
            .scale = broadcast_axes(scale, input),
            .centred = centred};
  std::fill(at.statistic.begin() + site.attributes.integer(Attr::axis), at.statistic.end(), at_zero());
  return at;
}

// dscale = Σ dY · (X − mean) · inverse deviation, dbias = Σ dY, in one pass.
OperatorNests parameters(const OperatorSite& site, const Places& at) {
  std::vector<Access> reads = gradient_and_input(at);
  for (std::size_t i = 2; i < site.inputs.size(); ++i) reads.push_back(read_input(i, at.statistic));
  Counts counts = counts_of({{multiply, 2}, {add, at.centred ? 2 : 1}});
  std::vector<Access> writes = {write_output(0, at.scale, true)};
  if (site.has_output(1)) {
    writes.push_back(write_output(1, at.scale, true));
    counts[add] += 1;
  }
  return {.nests = {{loops_over(site.in(1)), std::move(reads), std::move(writes), counts}}, .scratch = {}};
}

// The same where all elements of a channel have one inverse deviation: it comes last.
OperatorNests batch_parameters(const OperatorSite& site) {
  OperatorNests result = parameters(site, of_channels(site));
  Nest& sums = result.nests.front();
  sums.reads.pop_back();
  sums.per_point[multiply] -= 1;
  const Indices channel = {at_loop(0)};
  result.nests.push_back({loops_over(site.out(0)),
                          {read_output(0, channel), read_input(3, channel)},
                          {write_output(0, channel)},
                          counts_of({{multiply, 1}})});
  return result;
}

// dX = a · (dY − b − c · (X − mean)) with a = scale · inverse, b = dbias / n, c = inverse · dscale / n by channel.
OperatorNests batch_input(const OperatorSite& site) {
  const Places at = of_channels(site);
  const TensorType factor = *site.inputs[4];
  const Indices channel = {at_loop(0)};
  std::vector<Access> of_channel;
  for (const std::size_t i : {2, 4, 5, 6}) of_channel.push_back(read_input(i, channel));
  std::vector<Access> factors;
  std::vector<Access> reads = gradient_and_input(at);
  reads.push_back(read_input(3, at.statistic));
  for (std::size_t i = 0; i < 3; ++i) {
    factors.push_back(write_scratch(i, channel));
    reads.push_back(read_scratch(i, at.statistic));
  }
  return {.nests = {{loops_over(factor.shape), std::move(of_channel), std::move(factors), counts_of({{multiply, 4}})},
                    {loops_over(site.in(1)),
                     std::move(reads),
                     {write_output(0, at.all)},
                     counts_of({{add, 3}, {multiply, 2}})}},
          .scratch = {factor, factor, factor}};
}

// With g = dY · scale:  dX = inverse · (g − mean(g) − (X − mean) · inverse² · mean(g · (X − mean)))
// for each row, in three passes: the two sums, what they become for the row, and dX. Without a mean both its terms go.
OperatorNests row_input(const OperatorSite& site, const Places& at) {
  const std::size_t inverse = at.centred ? 4 : 3;
  const TensorType row = *site.inputs[inverse];
  const std::size_t sums = at.centred ? 2 : 1;
  const Indices each = identity_axes(row.shape.size());
  std::vector<Access> reads = gradient_and_input(at);
  reads.push_back(read_input(2, at.scale));
  if (at.centred) reads.push_back(read_input(3, at.statistic));
  Nest sum{loops_over(site.in(1)), reads, {}, counts_of({{multiply, 2}, {add, 1}})};
  Nest factors{loops_over(row.shape), {read_input(inverse, each)}, {}, counts_of({{multiply, 3}})};
  Nest apply{loops_over(site.in(1)), reads, {write_output(0, at.all)}, counts_of({{multiply, 3}, {add, 1}})};
  apply.reads.push_back(read_input(inverse, at.statistic));
  for (std::size_t i = 0; i < sums; ++i) {
    sum.writes.push_back(write_scratch(i, at.statistic, true));
    factors.reads.push_back(read_scratch(i, each));
    factors.writes.push_back(write_scratch(i, each));
    apply.reads.push_back(read_scratch(i, at.statistic));
  }
  if (at.centred) {
    sum.per_point[add] += 2;
    factors.per_point[multiply] += 1;
    apply.per_point[add] += 2;
  }
  return {.nests = {std::move(sum), std::move(factors), std::move(apply)},
          .scratch = std::vector<TensorType>(sums, row)};
}

}  // namespace

AxisIndex at_group(std::int64_t channels, std::int64_t groups) {
  AxisIndex index = at_loop(1);
  index.divisor = groups == 0 ? 1 : std::max<std::int64_t>(channels / groups, 1);
  return index;
}

OperatorNests norm_gradient_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::BatchNormalizationParameterGrad: return batch_parameters(site);
    case Op::BatchNormalizationGrad: return batch_input(site);
    case Op::LayerNormalizationParameterGrad: return parameters(site, of_rows(site, site.out(0), true));
    case Op::LayerNormalizationGrad: return row_input(site, of_rows(site, site.in(2), true));
    case Op::RMSNormalizationParameterGrad: return parameters(site, of_rows(site, site.out(0), false));
    case Op::RMSNormalizationGrad: return row_input(site, of_rows(site, site.in(2), false));
    case Op::GroupNormalizationParameterGrad: return parameters(site, of_groups(site));
    case Op::GroupNormalizationGrad: return row_input(site, of_groups(site));
    default: return {};
  }
}

}  // namespace monet
