#include "optimize/pricing/pricer.h"

#include "base/try.h"
#include "evaluate/account/totals.h"
#include "evaluate/addresses/addresses.h"
#include "evaluate/check/kernels.h"
#include "optimize/pricing/plan_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace monet {

std::string_view name_of(SearchObjective objective) {
  static constexpr std::array<std::string_view, 3> names = {"latency", "energy", "edp"};
  return names[static_cast<std::size_t>(objective)];
}

Expected<SearchObjective> search_objective(const std::string& name) {
  for (const SearchObjective objective : {SearchObjective::latency, SearchObjective::energy, SearchObjective::edp}) {
    if (name_of(objective) == name) return objective;
  }
  return Error{.message = fmt::format("there is no objective '{}'", name),
               .place = "--objective",
               .advice = "latency, energy or edp"};
}

double value_of(const Price& price, SearchObjective objective) {
  switch (objective) {
    case SearchObjective::latency: return price.cycles;
    case SearchObjective::energy: return price.energy_pj;
    case SearchObjective::edp: break;
  }
  return price.edp();
}

RewrittenEvaluator::RewrittenEvaluator(const Graph& original, const Hardware& hardware, MappingCache& cache,
                                       const EvaluatorOptions& options)
    : graph(&original), evaluator(original, hardware, cache, options) {
  step.tensors.resize(original.tensors().size());
  for (std::size_t i = 0; i < step.tensors.size(); ++i) step.tensors[i] = TensorId(i);
}

RewrittenEvaluator::RewrittenEvaluator(training::Recomputed rewritten, const Evaluator& like)
    : step(std::move(rewritten)), graph(&step.graph), evaluator(step.graph, like) {}

Pricer::Pricer(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& options)
    : step_(step), hardware_(hardware), cache_(cache), options_(options), recomputation_(step) {}

Pricer::~Pricer() = default;

RewrittenEvaluator& Pricer::original() {
  if (!original_) original_ = std::make_unique<RewrittenEvaluator>(step_, hardware_, cache_, options_);
  return *original_;
}

Expected<RewrittenEvaluator*> Pricer::variant(std::vector<TensorId> recomputed) {
  if (recomputed.empty()) return &original();
  std::ranges::sort(recomputed);
  if (!variant_ || recomputed != recomputed_) {
    variant_.reset();
    MONET_TRY(training::Recomputed rewritten, recomputation_.with(recomputed));
    variant_ = std::make_unique<RewrittenEvaluator>(std::move(rewritten), original().evaluator);
    recomputed_ = std::move(recomputed);
  }
  return variant_.get();
}

Expected<Priced> Pricer::price(const Plan& plan) {
  MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(plan, step_, hardware_));
  return price(plan, tensors);
}

Expected<RewrittenEvaluator*> Pricer::rewritten(std::span<const BoundTensor> tensors) {
  std::vector<TensorId> again;
  for (const BoundTensor& tensor : tensors) {
    if (tensor.retention == Retention::recompute) again.push_back(tensor.tensor);
  }
  return variant(std::move(again));
}

std::vector<MemoryId> Pricer::paged(const RewrittenEvaluator& step, std::span<const BoundTensor> tensors) {
  std::vector<MemoryId> paged;
  for (const BoundTensor& tensor : tensors) {
    if (tensor.retention != Retention::page) continue;
    const TensorId now = step.step.tensors[tensor.tensor.index()];
    if (!now.valid()) continue;
    paged.resize(step.graph->tensors().size());
    paged[now.index()] = tensor.memory;
  }
  return paged;
}

Expected<Priced> Pricer::price(const Plan& plan, std::span<const BoundTensor> tensors) {
  Priced priced;
  MONET_TRY(priced.variant, rewritten(tensors));
  RewrittenEvaluator& variant = *priced.variant;
  PlanRequest request;
  if (&variant == original_.get()) {
    MONET_TRY(request, variant.evaluator.bind(plan));
  } else {
    MONET_TRY(request, variant.evaluator.bind(plan_for(plan, step_, variant.step, variant.evaluator.dependencies())));
  }
  request.paged = paged(variant, tensors);
  if (part_share_) request.part_share = *part_share_;
  MONET_TRY(priced.evaluated, variant.evaluator.evaluate(request));
  const Totals sums = totals(hardware_, priced.evaluated.schedule);
  priced.price = {.cycles = sums.cycles, .energy_pj = sums.energy_pj, .peak_bytes = sums.live_peak_bytes};
  return priced;
}

Status Pricer::check(const Priced& priced) const {
  if (priced.evaluated.kernels) return verify_kernels(*priced.variant->graph, hardware_, *priced.evaluated.kernels);
  CheckOptions options{.streams = priced.variant->evaluator.counts_streams(),
                       .element_bits = priced.variant->evaluator.element_bits()};
  // Whether memories that all of it must fit into do is a question of budgets, not of rules.
  for (std::size_t m = 0; m < hardware_.memories.size(); ++m) {
    const MemoryId memory(m);
    const RoutedMachine& machine = priced.variant->evaluator.machine();
    const bool enlarged =
        machine.lives_in_storage() && machine.capacity_bytes(memory) > hardware_[memory].size_bits / 8;
    if (machine.is_backing(memory) || enlarged) options.too_small.push_back(memory);
  }
  const ScheduledStep step = priced.scheduled(hardware_);
  return verify_schedule(step.graph, hardware_, step.assignment, step.tiles, step.schedule, options);
}

Expected<std::int64_t> Pricer::packed_peak(const Priced& priced, MemoryId memory) const {
  // A caching allocator has addresses of its own.
  if (priced.evaluated.kernels) return priced.price.peak_bytes[memory.index()];
  MONET_TRY(const PackedStays packed,
            pack_stays(priced.scheduled(hardware_), priced.variant->evaluator.machine(), memory));
  return std::max(packed.peak_bytes[memory.index()], priced.price.peak_bytes[memory.index()]);
}

}  // namespace monet
