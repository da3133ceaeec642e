#include "evaluate/run/evaluate_network.h"
#include "evaluate/run/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace monet {

namespace {

constexpr double helps = 0.97;  // of the time of a sample: what is not below is not worth a word
constexpr std::size_t most_suggestions = 3;

struct Suggestion {
  std::string option;
  std::function<void(StepRequest&)> change;
};

std::vector<Suggestion> suggestions_for(const StepRequest& given, const Evaluation& result) {
  std::vector<Suggestion> suggestions;
  // Other numbers change what is computed: only where the network's own are used, and nobody asked for them.
  if (result.recipe == "fp32" && given.train.precision.empty() && !given.zigzag) {
    for (const char* recipe : {"bf16", "mixed", "tf32"}) {
      suggestions.push_back(
          {fmt::format("--precision {}", recipe), [recipe](StepRequest& trial) { trial.train.precision = recipe; }});
    }
  }
  const bool kernels = !result.reach.laws.empty();
  if (kernels && given.lowering.empty() && is_empty(given.plan))
    suggestions.push_back({"--lowering compiled", [](StepRequest& trial) { trial.lowering = "compiled"; }});
  if (!kernels && given.order.empty() && is_empty(given.plan)) {
    for (const char* order : {"graph", "frugal"})
      suggestions.push_back({fmt::format("--order {}", order), [order](StepRequest& trial) { trial.order = order; }});
  }
  if (result.batch > 0) {
    const std::int64_t batch = 2 * result.batch;
    suggestions.push_back(
        {fmt::format("--batch {}", batch), [batch](StepRequest& trial) { trial.train.batch = batch; }});
  }
  return suggestions;
}

double of_a_sample(double value, const Evaluation& evaluation) {
  return value / static_cast<double>(std::max<std::int64_t>(1, evaluation.batch));
}

}  // namespace

void price_suggestions(const Network& network, const StepRequest& options, MappingCache& cache, Evaluation& result) {
  StepRequest trial = options;
  trial.check = trial.compare = trial.trace = trial.lifetimes = trial.graph = trial.advise = false;
  trial.suggest_up_to = 0;
  trial.progress = nullptr;
  std::vector<std::pair<double, FitOption>> found;
  for (const Suggestion& suggestion : suggestions_for(options, result)) {
    StepRequest changed = trial;
    suggestion.change(changed);
    const auto other = evaluate_network(network, changed, cache);
    if (!other || !other->fits) continue;
    const double time = of_a_sample(other->latency_cycles, *other) / of_a_sample(result.latency_cycles, result);
    if (time > helps) continue;
    const double energy = of_a_sample(other->energy_pj, *other) / of_a_sample(result.energy_pj, result);
    FitOption option{
        .what = suggestion.option,
        .fits = true,
        .latency_cycles = other->latency_cycles,
        .energy_pj = other->energy_pj,
        .reason = fmt::format("{:.2f}x the time{}", time, other->batch != result.batch ? " of a sample" : "")};
    if (result.energy_pj > 0) option.reason += fmt::format(", {:.2f}x the energy", energy);
    for (const MemoryResult& memory : other->memories)
      if (memory.kind != "storage")
        option.peak_bytes = std::max({option.peak_bytes, memory.live_peak_bytes, memory.packed_peak_bytes});
    found.emplace_back(time, std::move(option));
  }
  std::ranges::stable_sort(found, {}, [](const auto& one) { return one.first; });
  if (found.size() > most_suggestions) found.resize(most_suggestions);
  for (auto& [time, option] : found) result.options.push_back(std::move(option));
}

}  // namespace monet
