#include "graph/nests.h"

#include <algorithm>
#include <numeric>

namespace monet {

namespace {

// The group of the channel that loop 1 counts.
AxisIndex at_group(std::int64_t channels, std::int64_t groups) {
  AxisIndex index = at_loop(1);
  index.divisor = groups == 0 ? 1 : std::max<std::int64_t>(channels / groups, 1);
  return index;
}

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
                          counts_of({{multiply, 1}}),
                          true});
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

// The nests of the gradients of normalizations.
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

using Axes = std::vector<std::int64_t>;
using Indices = std::vector<AxisIndex>;

// A tensor of statistics: scratch, or an output that somebody wants.
struct Store {
  OperandKind kind;
  std::uint8_t operand;

  Access at(Indices axes, bool accumulate = false) const { return {kind, operand, std::move(axes), accumulate}; }
};

// Builds the nests of one normalization. Statistics have one value for each row: the elements normalized together.
class Normalization {
 public:
  // `row` is the place in the statistics at the loops over the input.
  Normalization(const OperatorSite& site, Shape row_shape, Indices row)
      : site_(site), row_shape_(std::move(row_shape)), row_(std::move(row)), all_(identity_axes(site.in(0).size())) {}

  // The output if it is wanted, else new scratch.
  Store store(std::size_t output) {
    if (output > 0 && site_.has_output(output)) return {OperandKind::output, static_cast<std::uint8_t>(output)};
    result_.scratch.push_back({row_shape_, site_.inputs[0]->format});
    return {OperandKind::scratch, static_cast<std::uint8_t>(result_.scratch.size() - 1)};
  }

  void for_each_element(std::vector<Access> reads, Access write, Counts counts) {
    reads.insert(reads.begin(), read_input(0, all_));
    result_.nests.push_back({loops_over(site_.in(0)), std::move(reads), {std::move(write)}, counts});
  }

  void for_each_row(std::vector<Access> reads, Access write, Counts counts) {
    result_.nests.push_back({loops_over(row_shape_), std::move(reads), {std::move(write)}, counts});
  }

  void mean(Store mean) {
    for_each_element({}, mean.at(row_, true), counts_of({{Count::add, 1}}));
    for_each_row({mean.at(each_row())}, mean.at(each_row()), counts_of({{Count::multiply, 1}}));
  }

  void squared_deviations(Store mean, Store variance) {
    for_each_element({mean.at(row_)}, variance.at(row_, true), counts_of({{Count::add, 2}, {Count::multiply, 1}}));
  }

  void squares(Store sum) {
    for_each_element({}, sum.at(row_, true), counts_of({{Count::multiply, 1}, {Count::add, 1}}));
  }

  // 1 / sqrt(sum / n + epsilon), in place.
  void inverse_root_of_mean(Store sum) {
    for_each_row({sum.at(each_row())}, sum.at(each_row()),
                 counts_of({{Count::multiply, 1}, {Count::add, 1}, {Count::sqrt, 1}, {Count::divide, 1}}));
  }

  // The normalization itself, from statistics and from per-channel or per-element inputs.
  void apply(std::vector<Access> reads, Counts counts) {
    for_each_element(std::move(reads), write_output(0, all_), counts);
  }

  Indices each_row() const { return identity_axes(row_shape_.size()); }
  const Indices& row() const { return row_; }
  const Indices& all() const { return all_; }
  OperatorNests& result() { return result_; }

 private:
  const OperatorSite& site_;
  Shape row_shape_;
  Indices row_;
  Indices all_;
  OperatorNests result_;
};

Axes axes_from(std::size_t first, std::size_t rank) {
  Axes axes(rank - first);
  std::iota(axes.begin(), axes.end(), static_cast<std::int64_t>(first));
  return axes;
}

Normalization over_axes(const OperatorSite& site, const Axes& axes) {
  Shape rows = site.in(0);
  for (std::int64_t axis : axes) rows[static_cast<std::size_t>(axis)] = 1;
  return {site, std::move(rows), reduced_axes(site.in(0).size(), axes)};
}

const Counts centre_and_scale = counts_of({{Count::add, 1}, {Count::multiply, 1}});
const Counts centre_and_scale_with_bias = counts_of({{Count::add, 2}, {Count::multiply, 2}});
const Counts running_average = counts_of({{Count::multiply, 2}, {Count::add, 1}});

// Mean and inverse deviation of each row, then scale and bias by channel.
OperatorNests per_channel(const OperatorSite& site, Normalization norm) {
  const Store mean = norm.store(1);
  const Store deviation = norm.store(2);
  norm.mean(mean);
  norm.squared_deviations(mean, deviation);
  norm.inverse_root_of_mean(deviation);
  std::vector<Access> reads = {mean.at(norm.row()), deviation.at(norm.row())};
  for (std::size_t i = 1; i < site.inputs.size(); ++i) reads.push_back(read_input(i, {at_loop(1)}));
  norm.apply(std::move(reads), site.inputs.size() > 1 ? centre_and_scale_with_bias : centre_and_scale);
  return std::move(norm.result());
}

OperatorNests batch(const OperatorSite& site) {
  Normalization norm(site, {site.in(0)[1]}, {at_loop(1)});
  const Indices channel = norm.each_row();
  const std::vector<Access> affine = {read_input(1, norm.row()), read_input(2, norm.row())};
  if (site.attributes.integer(Attr::training_mode) == 0) {
    const Store deviation = norm.store(0);
    norm.for_each_row({read_input(4, channel)}, deviation.at(channel),
                      counts_of({{Count::add, 1}, {Count::sqrt, 1}, {Count::divide, 1}}));
    norm.apply({affine[0], affine[1], read_input(3, norm.row()), deviation.at(norm.row())}, centre_and_scale_with_bias);
    return std::move(norm.result());
  }
  const Store mean = norm.store(3);
  const Store deviation = norm.store(4);
  norm.mean(mean);
  norm.squared_deviations(mean, deviation);
  // Here `deviation` still holds the sum of squares; 1/n is folded into the factor of the average.
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!site.has_output(i)) continue;
    norm.for_each_row({(i == 1 ? mean : deviation).at(channel), read_input(i + 2, channel)}, write_output(i, channel),
                      running_average);
  }
  norm.inverse_root_of_mean(deviation);
  norm.apply({affine[0], affine[1], mean.at(norm.row()), deviation.at(norm.row())}, centre_and_scale_with_bias);
  return std::move(norm.result());
}

OperatorNests layer(const OperatorSite& site) {
  const Shape& input = site.in(0);
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  const bool centred = site.op == Op::LayerNormalization;
  Normalization norm = over_axes(site, axes_from(axis, input.size()));
  std::vector<Access> reads;
  Counts counts = counts_of({{Count::multiply, 1}});
  if (centred) {
    const Store mean = norm.store(1);
    const Store deviation = norm.store(2);
    norm.mean(mean);
    norm.squared_deviations(mean, deviation);
    norm.inverse_root_of_mean(deviation);
    reads = {mean.at(norm.row()), deviation.at(norm.row())};
    counts[Count::add] += 1;
  } else {
    const Store root = norm.store(1);
    norm.squares(root);
    norm.inverse_root_of_mean(root);
    reads = {root.at(norm.row())};
  }
  for (std::size_t i = 1; i < site.inputs.size() && i < 3; ++i) {
    if (!site.has_input(i)) continue;
    reads.push_back(read_input(i, broadcast_axes(site.in(i), input)));
    counts[i == 1 ? Count::multiply : Count::add] += 1;
  }
  norm.apply(std::move(reads), counts);
  return std::move(norm.result());
}

OperatorNests group(const OperatorSite& site, std::int64_t groups) {
  const Shape& input = site.in(0);
  return per_channel(site, Normalization(site, {input[0], groups}, {at_loop(0), at_group(input[1], groups)}));
}

OperatorNests lp(const OperatorSite& site) {
  Normalization norm = over_axes(site, {site.attributes.integer(Attr::axis)});
  const Store length = norm.store(0);
  if (site.attributes.integer(Attr::p) == 1) {
    norm.for_each_element({}, length.at(norm.row(), true), counts_of({{Count::compare, 1}, {Count::add, 1}}));
  } else {
    norm.squares(length);
    norm.for_each_row({length.at(norm.each_row())}, length.at(norm.each_row()), counts_of({{Count::sqrt, 1}}));
  }
  norm.apply({length.at(norm.row())}, counts_of({{Count::divide, 1}}));
  return std::move(norm.result());
}

// Squares summed over neighbouring channels; then x / (bias + alpha / size * sum) ^ beta.
OperatorNests local_response(const OperatorSite& site) {
  const std::int64_t size = site.attributes.integer(Attr::size);
  Normalization norm(site, site.in(0), identity_axes(site.in(0).size()));
  const Store sum = norm.store(0);
  std::vector<Loop> loops = loops_over(site.in(0));
  loops.push_back({Dim::C, size});
  Indices neighbour = norm.all();
  neighbour[1].terms.push_back({static_cast<std::uint8_t>(loops.size() - 1), 1});
  neighbour[1].offset = -((size - 1) / 2);
  norm.result().nests.push_back({std::move(loops),
                                 {read_input(0, std::move(neighbour))},
                                 {sum.at(norm.row(), true)},
                                 counts_of({{Count::multiply, 1}, {Count::add, 1}})});
  norm.apply({sum.at(norm.row())},
             counts_of({{Count::multiply, 1}, {Count::add, 1}, {Count::power, 1}, {Count::divide, 1}}));
  return std::move(norm.result());
}

}  // namespace

OperatorNests norm_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::BatchNormalization: return batch(site);
    case Op::LayerNormalization:
    case Op::RMSNormalization: return layer(site);
    case Op::GroupNormalization: return group(site, site.attributes.integer(Attr::num_groups));
    case Op::InstanceNormalization: return group(site, site.in(0)[1]);
    case Op::LpNormalization: return lp(site);
    case Op::MeanVarianceNormalization: return per_channel(site, over_axes(site, site.attributes.integers(Attr::axes)));
    case Op::LRN: return local_response(site);
    default: return norm_gradient_nests(site);
  }
}

}  // namespace monet
