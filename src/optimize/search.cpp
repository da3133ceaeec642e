#include <monet/search.h>

namespace monet {

namespace {

void put_into(StepRequest& request, const Step& step, const Machine& machine, const Plan& plan) {
  request.train = step.options;
  request.inference = step.inference;
  request.machine = machine;
  request.plan = plan;
}

}  // namespace

Expected<Fusion> fuse(const Step& step, const Machine& machine, const Plan& plan, FuseOptions options) {
  put_into(options.step, step, machine, plan);
  return fuse_network(step.network, options);
}

Expected<Checkpointing> checkpoint(const Step& step, const Machine& machine, const Plan& plan,
                                   CheckpointOptions options) {
  put_into(options.evaluate, step, machine, plan);
  return checkpoint_network(step.network, options);
}

Expected<Optimization> optimize(const Step& step, const Machine& machine, const Plan& plan, OptimizeOptions options) {
  put_into(options.evaluate, step, machine, plan);
  return optimize_network(step.network, options);
}

}  // namespace monet
