#include "graph/nests/loss.h"
#include "graph/nests/softmax_rows.h"

namespace monet {

namespace {

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

// What the sum over each row of f(dY, Y) passes to g(dY, Y, sum): y (dy - sum dy y), or dy - exp(y) sum dy.
OperatorNests row_gradient(const OperatorSite& site) {
  using enum Count;
  const bool logarithmic = site.op == Op::LogSoftmaxGrad;
  const RowStatistics rows(*site.inputs[0], site.attributes.integers(Attr::axes));
  Nest sum{.loops = rows.loops,
           .reads = {read_input(0, rows.all)},
           .writes = {write_scratch(0, rows.row, true)},
           .per_point = logarithmic ? counts_of({{add, 1}}) : counts_of({{multiply, 1}, {add, 1}})};
  if (!logarithmic) sum.reads.push_back(read_input(1, rows.all));
  Nest main{
      .loops = rows.loops,
      .reads = {read_input(0, rows.all), read_input(1, rows.all), read_scratch(0, rows.row)},
      .writes = {write_output(0, rows.all)},
      .per_point = logarithmic ? counts_of({{exp, 1}, {multiply, 1}, {add, 1}}) : counts_of({{add, 1}, {multiply, 1}})};
  return {.nests = {std::move(sum), std::move(main)}, .scratch = {rows.type}};
}

}  // namespace

OperatorNests softmax_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::Softmax: return softmax(site);
    case Op::LogSoftmax: return log_softmax(site);
    case Op::SoftmaxGrad:
    case Op::LogSoftmaxGrad: return row_gradient(site);
    case Op::SoftmaxCrossEntropyLossGrad: return class_loss_gradient_nests(site);
    case Op::MeanSquaredErrorLoss:
    case Op::BinaryCrossEntropyLoss: return pair_loss_nests(site);
    case Op::MeanSquaredErrorLossGrad:
    case Op::BinaryCrossEntropyLossGrad: return pair_loss_gradient_nests(site);
    default: return class_loss_nests(site);
  }
}

}  // namespace monet
