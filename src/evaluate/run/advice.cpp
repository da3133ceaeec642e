#include "evaluate/run/fit.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::int64_t working_peak(const Evaluation& evaluation) {
  std::int64_t peak = 0;
  for (const MemoryResult& memory : evaluation.memories) {
    if (memory.kind != "storage") peak = std::max({peak, memory.live_peak_bytes, memory.packed_peak_bytes});
  }
  return peak;
}

FitOption priced(const std::string& what, const Expected<Evaluation>& evaluation) {
  FitOption option{.what = what};
  if (!evaluation) {
    option.reason = evaluation.error().message;
    return option;
  }
  option.fits = evaluation->fits;
  option.latency_cycles = evaluation->latency_cycles;
  option.energy_pj = evaluation->energy_pj;
  option.peak_bytes = working_peak(*evaluation);
  if (!option.fits) option.reason = evaluation->does_not_fit;
  return option;
}

}  // namespace

void price_options(const Network& network, const StepRequest& options, const Hardware& hardware, Evaluation& result) {
  StepRequest trial = options;
  trial.check = trial.compare = trial.trace = trial.lifetimes = trial.graph = trial.advise = false;
  trial.progress = nullptr;
  // The largest power of two below the batch that fits, and the smallest batch at all.
  for (std::int64_t batch = options.train.batch.value_or(1) / 2; batch >= 1; batch /= 2) {
    trial.train.batch = batch;
    FitOption option = priced(fmt::format("batch {}", batch), evaluate_network(network, trial));
    const bool done = option.fits || batch == 1;
    if (done) result.options.push_back(std::move(option));
    if (done) break;
  }
  trial.train.batch = options.train.batch;
  if (options.inference || !is_empty(options.plan)) return;
  trial.recompute = {"*"};
  result.options.push_back(priced("recompute all saved tensors", evaluate_network(network, trial)));
  trial.recompute.clear();
  for (const Memory& memory : hardware.memories) {
    if (memory.kind != MemoryKind::storage) continue;
    trial.page = {{"*", memory.name}};
    result.options.push_back(
        priced(fmt::format("page all saved tensors to {}", memory.name), evaluate_network(network, trial)));
  }
}

}  // namespace monet
