// Random training steps: a random graph whose outputs all count for the loss.
#pragma once

#include "support/random_graph.h"
#include "training/step.h"

namespace monet::test {

inline Expected<Graph> random_step(unsigned seed) {
  auto forward = RandomGraph(seed).make();
  if (!forward) return forward.error();
  GraphBuilder builder(*std::move(forward));
  std::vector<TensorId> means;
  for (TensorId id : std::exchange(builder.edit().outputs, {})) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < builder.shape(id).size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    means.push_back(builder.add(Op::ReduceMean, "mean", {id}, {{Attr::axes, axes}, {Attr::keepdims, std::int64_t{0}}}));
  }
  builder.output(builder.add(Op::Sum, "sum", means));
  auto joined = builder.finish();
  if (!joined) return joined.error();
  auto step = training::make_training_step({*std::move(joined), false, {}, {}},
                                           {.loss = {.kind = training::LossKind::mean_squared_error}});
  if (!step) return step.error();
  return std::move(step->graph);
}

}  // namespace monet::test
