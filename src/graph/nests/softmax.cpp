#include "graph/nests.h"

namespace monet {

namespace {

using Axes = std::vector<std::int64_t>;
using Indices = std::vector<AxisIndex>;

// The maximum of each row goes to scratch 0, the sum of its exponentials to scratch 1.
struct RowStatistics {
  Indices all, row;
  std::vector<Loop> loops;
  TensorType type;  // of one value for each row

  RowStatistics(const TensorType& scores, const Axes& axes)
      : all(identity_axes(scores.shape.size())),
        row(reduced_axes(scores.shape.size(), axes)),
        loops(loops_over(scores.shape)),
        type(scores) {
    for (std::int64_t axis : axes) type.shape[static_cast<std::size_t>(axis)] = 1;
  }

  Nest maximum() const {
    return {.loops = loops,
            .reads = {read_input(0, all)},
            .writes = {write_scratch(0, row, true)},
            .per_point = counts_of({{Count::compare, 1}})};
  }

  Nest sum_of_exponentials() const {
    return {.loops = loops,
            .reads = {read_input(0, all), read_scratch(0, row)},
            .writes = {write_scratch(1, row, true)},
            .per_point = counts_of({{Count::add, 2}, {Count::exp, 1}})};
  }

  // Scratch 0 becomes maximum + log(sum): what a score must lose to be a log-probability.
  Nest logarithm() const {
    const Indices each = identity_axes(type.shape.size());
    return {.loops = loops_over(type.shape),
            .reads = {read_scratch(0, each), read_scratch(1, each)},
            .writes = {write_scratch(0, each)},
            .per_point = counts_of({{Count::log, 1}, {Count::add, 1}})};
  }

  Nest subtraction(std::size_t output) const {
    return {.loops = loops,
            .reads = {read_input(0, all), read_scratch(0, row)},
            .writes = {write_output(output, all)},
            .per_point = counts_of({{Count::add, 1}})};
  }
};

OperatorNests softmax(const OperatorSite& site) {
  const RowStatistics rows(*site.inputs[0], site.attributes.integers(Attr::axes));
  Nest exponential = rows.sum_of_exponentials();
  exponential.writes.push_back(write_output(0, rows.all));
  Nest division{.loops = rows.loops,
                .reads = {read_output(0, rows.all), read_scratch(1, rows.row)},
                .writes = {write_output(0, rows.all)},
                .per_point = counts_of({{Count::divide, 1}})};
  return {.nests = {rows.maximum(), std::move(exponential), std::move(division)}, .scratch = {rows.type, rows.type}};
}

OperatorNests log_softmax(const OperatorSite& site) {
  const RowStatistics rows(*site.inputs[0], site.attributes.integers(Attr::axes));
  return {.nests = {rows.maximum(), rows.sum_of_exponentials(), rows.logarithm(), rows.subtraction(0)},
          .scratch = {rows.type, rows.type}};
}

// Labels stand at every axis of the scores but the classes'.
Indices without(Indices indices, std::int64_t axis) {
  indices.erase(indices.begin() + axis);
  return indices;
}

// At the loops over the labels, one class of the scores or of its statistics (which have one class).
Indices at_class(std::size_t label_rank, std::int64_t axis, AxisIndex index) {
  Indices indices = identity_axes(label_rank);
  indices.insert(indices.begin() + axis, std::move(index));
  return indices;
}

// The mean divides by a number known beforehand, unless weights or ignored labels decide it.
bool divisor_is_data(const OperatorSite& site, std::size_t weights) {
  return site.attributes.text(Attr::reduction) == "mean" &&
         (site.has_input(weights) || site.attributes.has(Attr::ignore_index));
}

// Picks the class of each label and sums: the end of both losses. `picked` is where the log-probability comes from.
void append_loss(const OperatorSite& site, std::vector<Access> picked, OperatorNests& result) {
  const std::string& reduction = site.attributes.text(Attr::reduction);
  const Shape& labels = site.in(1);
  const Indices each = identity_axes(labels.size());
  const Indices loss = reduction == "none" ? each : Indices{};
  Nest pick{.loops = loops_over(labels), .reads = std::move(picked), .writes = {}, .per_point = {}};
  // One addition for the sum or the sign, and one for each further term of the log-probability.
  pick.per_point[Count::add] = static_cast<std::int64_t>(pick.reads.size());
  pick.reads.push_back(read_input(1, each));
  pick.writes.push_back(write_output(0, loss, reduction != "none"));
  if (site.has_input(2)) {
    pick.reads.push_back(read_input(2, {at_any(site.in(2)[0])}));
    pick.per_point[Count::multiply] += 1;
  }
  if (site.attributes.has(Attr::ignore_index)) pick.per_point[Count::compare] += 1;
  const bool divisor = divisor_is_data(site, 2);
  const std::size_t total = result.scratch.size();
  if (divisor) {
    result.scratch.push_back({{}, site.inputs[0]->format});
    pick.writes.push_back(write_scratch(total, {}, true));
    pick.per_point[Count::add] += 1;
  }
  result.nests.push_back(std::move(pick));
  if (reduction != "mean") return;
  Nest mean{.loops = {},
            .reads = {read_output(0, {})},
            .writes = {write_output(0, {})},
            .per_point = counts_of({{divisor ? Count::divide : Count::multiply, 1}})};
  if (divisor) mean.reads.push_back(read_scratch(total, {}));
  result.nests.push_back(std::move(mean));
}

OperatorNests loss(const OperatorSite& site) {
  const std::int64_t axis = site.attributes.integer_or(Attr::axis, 1);
  const std::size_t label_rank = site.in(1).size();
  const Indices score = at_class(label_rank, axis, at_any(site.in(0)[static_cast<std::size_t>(axis)]));
  OperatorNests result;
  std::vector<Access> picked = {read_input(0, score)};
  if (site.op == Op::SoftmaxCrossEntropyLoss) {
    const RowStatistics rows(*site.inputs[0], {axis});
    result = {.nests = {rows.maximum(), rows.sum_of_exponentials(), rows.logarithm()},
              .scratch = {rows.type, rows.type}};
    if (site.has_output(1)) {
      result.nests.push_back(rows.subtraction(1));
      picked = {read_output(1, score)};
    } else {
      picked.push_back(read_scratch(0, at_class(label_rank, axis, at_zero())));
    }
  }
  if (site.has_output(0)) append_loss(site, std::move(picked), result);
  return result;
}

// dX = dY * weight[label] / divisor * (exp(log-probability) - [class is label])
OperatorNests loss_gradient(const OperatorSite& site) {
  const std::string& reduction = site.attributes.text(Attr::reduction);
  const std::int64_t axis = site.attributes.integer_or(Attr::axis, 1);
  const Indices all = identity_axes(site.in(1).size());
  const Indices whole_gradient(site.in(0).size(), at_zero());
  const bool divisor = divisor_is_data(site, 3);
  const Access weight = site.has_input(3) ? read_input(3, {at_any(site.in(3)[0])}) : Access{};
  const TensorType scalar{{}, site.inputs[1]->format};
  OperatorNests result;
  if (divisor) {
    Nest total{.loops = loops_over(site.in(2)),
               .reads = {read_input(2, identity_axes(site.in(2).size()))},
               .writes = {write_scratch(1, {}, true)},
               .per_point = counts_of({{Count::add, 1}})};
    if (site.has_input(3)) total.reads.push_back(weight);
    if (site.attributes.has(Attr::ignore_index)) total.per_point[Count::compare] += 1;
    result.nests.push_back(std::move(total));
  }
  Nest main{.loops = loops_over(site.in(1)),
            .reads = {read_input(1, all), read_input(2, without(all, axis))},
            .writes = {write_output(0, all)},
            .per_point = counts_of({{Count::exp, 1}, {Count::compare, 1}, {Count::add, 1}, {Count::multiply, 1}})};
  if (reduction == "mean") {
    Nest scale{.loops = {},
               .reads = {read_input(0, whole_gradient)},
               .writes = {write_scratch(0, {})},
               .per_point = counts_of({{divisor ? Count::divide : Count::multiply, 1}})};
    if (divisor) scale.reads.push_back(read_scratch(1, {}));
    result.nests.push_back(std::move(scale));
    result.scratch.assign(divisor ? 2 : 1, scalar);
    main.reads.push_back(read_scratch(0, {}));
  } else {
    main.reads.push_back(read_input(0, reduction == "none" ? without(all, axis) : whole_gradient));
  }
  if (site.has_input(3)) {
    main.reads.push_back(weight);
    main.per_point[Count::multiply] += 1;
  }
  result.nests.push_back(std::move(main));
  return result;
}

}  // namespace

OperatorNests softmax_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::Softmax: return softmax(site);
    case Op::LogSoftmax: return log_softmax(site);
    case Op::SoftmaxCrossEntropyLossGrad: return loss_gradient(site);
    default: return loss(site);
  }
}

}  // namespace monet
