#include "graph/nests/loss.h"

namespace monet {

namespace {

bool is_mean(const OperatorSite& site) { return site.attributes.text(Attr::reduction) == "mean"; }

}  // namespace

// Sum of (x - t)^2, or of (1 - t) x + log(1 + exp(-x)); signs cost nothing.
OperatorNests pair_loss_nests(const OperatorSite& site) {
  using enum Count;
  const std::vector<AxisIndex> each = identity_axes(site.in(0).size());
  Nest sum{.loops = loops_over(site.in(0)),
           .reads = {read_input(0, each), read_input(1, each)},
           .writes = {write_output(0, {}, true)},
           .per_point = site.op == Op::MeanSquaredErrorLoss ? counts_of({{add, 2}, {multiply, 1}})
                                                            : counts_of({{add, 4}, {multiply, 1}, {exp, 1}, {log, 1}})};
  OperatorNests result{.nests = {std::move(sum)}, .scratch = {}};
  if (is_mean(site)) {
    result.nests.push_back({.loops = {},
                            .reads = {read_output(0, {})},
                            .writes = {write_output(0, {})},
                            .per_point = counts_of({{multiply, 1}})});
  }
  return result;
}

// (x - t) or (sigmoid(x) - t), times the loss's gradient with all constant factors.
OperatorNests pair_loss_gradient_nests(const OperatorSite& site) {
  using enum Count;
  const bool squared = site.op == Op::MeanSquaredErrorLossGrad;
  const std::vector<AxisIndex> each = identity_axes(site.in(1).size());
  const Access loss_gradient = read_input(0, std::vector<AxisIndex>(site.in(0).size(), at_zero()));
  Nest main{.loops = loops_over(site.in(1)),
            .reads = {read_input(1, each), read_input(2, each)},
            .writes = {write_output(0, each)},
            .per_point = squared ? counts_of({{add, 1}, {multiply, 1}})
                                 : counts_of({{exp, 1}, {add, 2}, {divide, 1}, {multiply, 1}})};
  OperatorNests result;
  if (squared || is_mean(site)) {
    result.nests.push_back({.loops = {},
                            .reads = {loss_gradient},
                            .writes = {write_scratch(0, {})},
                            .per_point = counts_of({{multiply, 1}})});
    result.scratch.push_back({{}, site.inputs[1]->format});
    main.reads.push_back(read_scratch(0, {}));
  } else {
    main.reads.push_back(loss_gradient);
  }
  result.nests.push_back(std::move(main));
  return result;
}

}  // namespace monet
