#include "optimize/fusion/fuse.h"
#include "base/stop.h"
#include "base/suggest.h"
#include "base/try.h"
#include "evaluate/account/bound.h"
#include "evaluate/open/step_on_machine.h"
#include "evaluate/plan/hash.h"
#include "evaluate/plan/rewritten.h"
#include "optimize/fuse_kernels.h"
#include "optimize/pricing/pricer.h"

#include <monet/fuse.h>
#include <monet/plan.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace monet {

namespace {

using fusion::Fused;
using fusion::FuseSettings;

const std::vector<std::string> objective_names{"sets", "traffic", "latency", "energy", "edp"};

template <class Choice>
Expected<Choice> choice(const char* option, const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<Choice>(found - names.begin());
  const std::string guess = nearest(name, names);
  return Error{
      .message = fmt::format("there is no \"{}\"", name),
      .place = option,
      .advice = guess.empty() ? fmt::format("{}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", guess)};
}

Status check_range(const char* option, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return Done{};
  return Error{.message = fmt::format("{} is out of range", value),
               .place = option,
               .advice = fmt::format("from {} to {}", least, most)};
}

Expected<fusion::Rules> rules_of(const FuseOptions& options) {
  fusion::Rules rules;
  constexpr std::int64_t most = fusion::max_limit;
  MONET_RETURN_IF_ERROR(check_range("--limit", options.limit, 1, most));
  MONET_RETURN_IF_ERROR(check_range("--max-conv", options.convolutions, 0, most));
  MONET_RETURN_IF_ERROR(check_range("--max-transposed", options.transposed, 0, most));
  MONET_RETURN_IF_ERROR(check_range("--max-products", options.products, 0, most));
  MONET_RETURN_IF_ERROR(check_range("--max-conv-with-product", options.convolutions_with_product, 0, most));
  MONET_RETURN_IF_ERROR(check_range("--max-leaving", options.leaving, 0, most));
  MONET_TRY(rules.published, choice<bool>("--rules", options.rules, {"own", "published"}));
  const auto count = [](std::int64_t number) { return static_cast<std::size_t>(number); };
  rules.limit = count(options.limit);
  rules.convolutions = count(options.convolutions);
  rules.transposed = count(options.transposed);
  rules.products = count(options.products);
  rules.convolutions_with_product = count(options.convolutions_with_product);
  rules.leaving = count(options.leaving);
  rules.divisible_tilings = options.divisible_tilings;
  rules.weights_fit = options.weights_fit;
  return rules;
}

Expected<std::vector<std::vector<NodeId>>> given_stacks(const FuseOptions& options, const Graph& graph) {
  std::vector<std::vector<NodeId>> stacks;
  const auto nodes = static_cast<std::int64_t>(graph.nodes().size());
  for (const auto& [first, last] : options.stacks) {
    if (first < 0 || last < first || last >= nodes) {
      return Error{.message = fmt::format("there are no operators {} to {}", first, last),
                   .place = "--stacks",
                   .advice = fmt::format("the step has those from 0 to {}", nodes - 1)};
    }
    std::vector<NodeId>& stack = stacks.emplace_back();
    for (std::int64_t n = first; n <= last; ++n) stack.emplace_back(static_cast<std::size_t>(n));
  }
  return stacks;
}

// Mappings are made for what fusion is for.
Expected<EvaluatorOptions> evaluator_options_for(const FuseOptions& options, MappingStore* store) {
  StepRequest step = options.step;
  step.objective = options.objective == "energy" || options.objective == "edp" ? options.objective : "latency";
  step.progress = nullptr;
  return evaluator_options(step, store);
}

Expected<FuseSettings> settings_of(const FuseOptions& options, const Graph& graph, MappingStore* store) {
  FuseSettings settings;
  MONET_TRY(settings.rules, rules_of(options));
  MONET_TRY(settings.objective, choice<fusion::Objective>("--objective", options.objective, objective_names));
  MONET_TRY(settings.given, given_stacks(options, graph));
  MONET_TRY(settings.evaluator, evaluator_options_for(options, store));
  MONET_RETURN_IF_ERROR(check_range("--max-candidates", options.max_candidates, 1, 10'000'000));
  settings.candidates.total = static_cast<std::size_t>(options.max_candidates);
  settings.cover.dominance = options.dominance;
  settings.cover.decompose = options.decompose;
  settings.cover.repeat = options.repeat;
  settings.cover.dynamic = options.dynamic;
  settings.cover.lift = options.lift;
  settings.tiles = options.tiles;
  settings.improve = options.improve;
  if (!(options.effort >= 0) || options.effort > 1e6) {
    return Error{.message = fmt::format("{} is out of range", options.effort),
                 .place = "--effort",
                 .advice = "from 0 to 1000000"};
  }
  settings.tile_budget = static_cast<std::size_t>(options.effort * static_cast<double>(settings.tile_budget));
  if (!(options.time_limit_s >= 0)) {
    return Error{.message = fmt::format("{} s is no time", options.time_limit_s),
                 .place = "--time-limit",
                 .advice = "give seconds above 0"};
  }
  settings.progress = options.step.progress;
  settings.stop = options.stop;
  constexpr double longest_s = 120;  // of one exact choice: what is left then has a gap
  settings.cover.time_limit_s = longest_s;
  if (options.time_limit_s > 0) {
    settings.cover.time_limit_s = std::min(longest_s, options.time_limit_s);
    settings.stop = stop_after(options.time_limit_s, options.stop);
  }
  return settings;
}

// The answer once more, from its plan: checked, with the numbers that `monet evaluate --plan` gives.
Status evaluate_plan(const Plan& plan, const RewrittenStep& step, const Hardware& hardware, MappingCache& cache,
                     const FuseSettings& settings, bool with_check, Fusion& result) {
  std::vector<BoundTensor> paged;
  for (std::size_t i = 0; i < step.paged.size(); ++i) {
    if (step.paged[i].valid())
      paged.push_back({.tensor = TensorId(i), .retention = Retention::page, .memory = step.paged[i]});
  }
  Pricer pricer(step.graph, hardware, cache, settings.evaluator);
  MONET_TRY(const Priced priced, pricer.price(plan, paged));
  Evaluator& evaluator = priced.variant->evaluator;
  result.latency_cycles = priced.price.cycles;
  result.energy_pj = priced.price.energy_pj;
  result.tiles = static_cast<std::int64_t>(priced.evaluated.tiles.tiles());
  for (const std::string& note : evaluator.notes()) result.notes.push_back(note);
  const Bounds least = bounds_of(priced.scheduled(hardware), evaluator.operator_bounds());
  result.bound_cycles = least.cycles;
  result.bound_pj = least.pj;
  if (!with_check) return Done{};
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const MemoryId memory(m);
    if (!evaluator.machine().is_backing(memory)) continue;
    if (priced.price.peak_bytes[m] <= evaluator.machine().capacity_bytes(memory)) continue;
    result.warnings.push_back(fmt::format("the step does not fit {}: see `monet evaluate`", hardware.memories[m].name));
  }
  return pricer.check(priced);
}

void fill(Fusion& result, const Graph& graph, const Fused& fused) {
  for (const fusion::FusedStack& stack : fused.stacks) {
    FusedOperators& to = result.stacks.emplace_back();
    for (std::size_t i = 0; i < stack.nodes.size(); ++i) {
      const std::string& name = graph[stack.nodes[i]].name;
      to.operators.push_back(name);
      if (stack.tiles[i].empty()) continue;
      auto& tiles = to.tiles.emplace_back(name, std::vector<std::pair<std::string, std::int64_t>>()).second;
      for (const LoopSize& tile : stack.tiles[i]) tiles.emplace_back(name_of(tile.loop), tile.size);
    }
  }
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  result.unfused_cycles = fused.unfused.cycles;
  result.unfused_pj = fused.unfused.energy_pj;
  result.operators = count(fused.operators);
  result.candidates = count(fused.candidates);
  result.classes = count(fused.classes);
  result.priced = count(fused.priced);
  result.evaluated = count(fused.evaluated);
  result.parts = count(fused.parts);
  result.parts_solved = count(fused.parts_solved);
  result.programs = count(fused.programs);
  result.cuts = count(fused.cuts);
  result.complete = fused.complete;
  result.proven = fused.proven;
  result.unchanged = fused.fallback;
  result.stopped = fused.stopped;
  result.predicted = fused.predicted;
  result.predicted_bound = fused.predicted_bound;
  result.bound_stacks = static_cast<std::int64_t>(std::ceil(fused.fewest.bound - 1e-6));
  if (!fused.complete) {
    result.notes.push_back(
        fmt::format("there are more than {} sets that the rules allow: bounds hold for those alone", fused.candidates));
  }
  if (fused.stopped) result.notes.emplace_back("the search was stopped: this is the best so far");
}

}  // namespace

Expected<Fusion> fuse_network(const Network& network, const FuseOptions& given) {
  if (fuses_kernels(given)) return fuse_kernels(network, given);
  const auto start = std::chrono::steady_clock::now();
  FuseOptions options = given;
  StepRequest& step = options.step;
  Fusion result{
      .model = network.name(), .objective = options.objective, .rules = options.rules, .limit = options.limit};
  result.given = !options.stacks.empty();
  if (step.train.accumulate > 1 && !step.inference) {
    result.notes.push_back(fmt::format("the last of {} micro-batches is fused and priced, the one with the optimizer",
                                       step.train.accumulate));
  }
  MONET_TRY(StepOnMachine opened, open_step_on_machine(network, step, step.inference));
  const Hardware& hardware = opened.hardware;
  const Graph& original = opened.opened_step.graph;
  Plan& plan = opened.plan;
  if (!plan.stacks.empty()) {
    const auto& file = plan.stacks.front().place.file;
    result.notes.push_back(
        fmt::format("{}: its {} stacks are replaced", file ? *file : std::string("the plan"), plan.stacks.size()));
    plan.stacks.clear();
  }
  describe(opened, result);
  MONET_TRY(const RewrittenStep rewritten, rewritten_step(plan, original, hardware));
  std::optional<MappingStore> store;
  if (!step.cache_file.empty()) {
    MONET_TRY(store, MappingStore::open(step.cache_file));
  }
  MONET_TRY(FuseSettings settings, settings_of(options, rewritten.graph, store ? &*store : nullptr));
  constexpr double no_limit = std::numeric_limits<double>::infinity();
  UntilFirst first(options.time_limit_s > 0 ? options.time_limit_s : no_limit, options.stop);
  settings.evaluator.stop = first.stop();
  settings.begun = [&first] { first.found(); };
  PlanRequest base;
  MONET_TRY(base.plan, bind(plan, rewritten.graph, hardware));
  base.paged = rewritten.paged;
  MappingCache cache;
  MONET_TRY(const Fused fused, fusion::fuse(rewritten.graph, hardware, cache, base, settings));
  fill(result, rewritten.graph, fused);
  add_to(plan, rewritten.graph, fused);
  plan.graph_hash = hash_of(original);
  plan.hardware_hash = hash_of(hardware);
  MONET_RETURN_IF_ERROR(evaluate_plan(plan, rewritten, hardware, cache, settings, step.check, result));
  result.plan_yaml = to_yaml(plan);
  if (store) MONET_RETURN_IF_ERROR(store->save());
  result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace monet
