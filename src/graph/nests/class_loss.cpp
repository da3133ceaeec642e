#include "graph/nests/loss.h"
#include "graph/nests/softmax_rows.h"

namespace monet {

namespace {

using Indices = std::vector<AxisIndex>;

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

bool is_smoothed(const OperatorSite& site) { return site.attributes.real_or(Attr::label_smoothing, 0) != 0; }

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
  // Smoothing is one of those terms, and each of the two has a factor.
  if (is_smoothed(site)) pick.per_point[Count::multiply] += 2;
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
            .per_point = counts_of({{divisor ? Count::divide : Count::multiply, 1}}),
            .proportional = !divisor};
  if (divisor) mean.reads.push_back(read_scratch(total, {}));
  result.nests.push_back(std::move(mean));
}

// For each label, the log-probabilities of all classes together, each with its weight; `each` is where they come from.
void append_spread(const OperatorSite& site, const RowStatistics& rows, std::vector<Access> each, std::int64_t axis,
                   OperatorNests& result) {
  Nest spread{.loops = rows.loops, .reads = std::move(each), .writes = {}, .per_point = {}};
  spread.per_point[Count::add] = static_cast<std::int64_t>(spread.reads.size());
  spread.writes.push_back(write_scratch(result.scratch.size(), rows.row, true));
  if (site.has_input(2)) {
    spread.reads.push_back(read_input(2, {at_loop(static_cast<std::size_t>(axis))}));
    spread.per_point[Count::multiply] += 1;
  }
  result.scratch.push_back(rows.type);
  result.nests.push_back(std::move(spread));
}

OperatorNests cross_entropy(const OperatorSite& site, std::int64_t axis, const Indices& score) {
  const RowStatistics rows(*site.inputs[0], {&axis, 1});
  const Indices of_label = at_class(site.in(1).size(), axis, at_zero());
  OperatorNests result{.nests = {rows.maximum(), rows.sum_of_exponentials(), rows.logarithm()},
                       .scratch = {rows.type, rows.type}};
  const bool stored = site.has_output(1);
  if (stored) result.nests.push_back(rows.subtraction(1));
  std::vector<Access> each = {read_input(0, rows.all), read_scratch(0, rows.row)};
  std::vector<Access> picked = {read_input(0, score), read_scratch(0, of_label)};
  if (stored) each = {read_output(1, rows.all)};
  if (stored) picked = {read_output(1, score)};
  if (is_smoothed(site)) {
    picked.push_back(read_scratch(result.scratch.size(), of_label));
    append_spread(site, rows, std::move(each), axis, result);
  }
  append_loss(site, std::move(picked), result);
  return result;
}

// The sum of all classes' weights goes to a new scratch; `main` reads it, and the weight of its own class.
void append_weight_sum(const OperatorSite& site, std::int64_t axis, OperatorNests& result, Nest& main) {
  const std::size_t total = result.scratch.size();
  result.scratch.push_back({{}, site.inputs[1]->format});
  result.nests.push_back({.loops = loops_over(site.in(3)),
                          .reads = {read_input(3, identity_axes(1))},
                          .writes = {write_scratch(total, {}, true)},
                          .per_point = counts_of({{Count::add, 1}})});
  main.reads.push_back(read_scratch(total, {}));
  main.reads.push_back(read_input(3, {at_loop(static_cast<std::size_t>(axis))}));
}

}  // namespace

OperatorNests class_loss_nests(const OperatorSite& site) {
  const std::int64_t axis = site.attributes.integer_or(Attr::axis, 1);
  const Indices score = at_class(site.in(1).size(), axis, at_any(site.in(0)[static_cast<std::size_t>(axis)]));
  if (site.op == Op::SoftmaxCrossEntropyLoss) return cross_entropy(site, axis, score);
  OperatorNests result;
  append_loss(site, {read_input(0, score)}, result);
  return result;
}

// dX = dY * weight[label] / divisor * (exp(log-probability) - [class is label]); with smoothing and weights the
// difference is exp(log-probability) * (sum of the target's parts) - (the class's part).
OperatorNests class_loss_gradient_nests(const OperatorSite& site) {
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
  if (site.has_input(3) && is_smoothed(site)) {
    append_weight_sum(site, axis, result, main);
    main.per_point[Count::multiply] += 2;
    main.per_point[Count::add] += 2;
  }
  result.nests.push_back(std::move(main));
  return result;
}

}  // namespace monet
