#include "optimize/joint/joint.h"

#include "base/glob.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/stopwatch.h"
#include "base/try.h"
#include "evaluate/account/complete_plan.h"
#include "evaluate/kernels/lowering_choice.h"
#include "optimize/assignment/search.h"
#include "optimize/fusion/fuse.h"
#include "optimize/fusion/kernel_stacks.h"
#include "optimize/joint/archive.h"
#include "optimize/joint/front.h"
#include "optimize/memory/search.h"
#include "optimize/placement/placement.h"
#include "optimize/pricing/plan_for.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>

namespace monet {

namespace {

constexpr std::size_t memory_batch = 16;  // plans that a search of memory decisions prices together

class JointSearch {
 public:
  JointSearch(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
              const Plan& plan, const std::vector<BoundTensor>& decided, const JointOptions& options)
      : step_(step),
        hardware_(hardware),
        cache_(cache),
        how_(how),
        plan_(plan),
        decided_(decided),
        options_(options),
        begun_(std::chrono::steady_clock::now()),
        stop_(stop_after(options.time_limit_s, options.stop)),
        until_the_end_(stop_),
        pricer_(step, hardware, cache, how) {
    if (options.found) {
      archive_.tell([found = options.found](const PlanObjectives& taken) {
        found(taken[0], taken[1], static_cast<std::int64_t>(taken[2]));
      });
    }
  }

  Expected<JointResult> run() {
    MONET_TRY(JointResult result, begin());
    std::vector<Base> bases = {{.plan = plan_}};
    const bool kernels = pricer_.original().evaluator.runs_kernels();  // one after the other, on one core
    const bool assigned = (options_.fuse || options_.place) && !kernels;
    const bool compiled = kernels && options_.fuse && how_.lowering == compiled_lowering && plan_.stacks.empty();
    if (compiled && !is_over()) MONET_RETURN_IF_ERROR(improve_stacks(plan_, decided_));
    if (options_.fuse && !kernels && !is_over()) {
      MONET_TRY(Base fused, fuse());
      MONET_RETURN_IF_ERROR(add(fused, decided_));
      bases.push_back(std::move(fused));
    }
    if (assigned && !is_over()) {
      MONET_TRY(Base best,
                assign(starts_of(bases), decided_, result.start.peak_bytes > options_.budget_bytes ? 0.5 : 0.7));
      bases.resize(1);
      bases.insert(bases.begin(), std::move(best));
    }
    for (std::size_t round = 0; round < options_.rounds && !is_over(); ++round) {
      stop_ = round == 0 && assigned ? stop_at(0.8) : until_the_end_;
      for (const Base& base : bases) {
        if (!is_over()) MONET_RETURN_IF_ERROR(decide(base, round));
      }
      stop_ = until_the_end_;
      if (round == 0 && assigned && !is_over()) MONET_RETURN_IF_ERROR(assign_again());
      if (!options_.place || kernels || round + 1 == options_.rounds || is_over()) break;
      MONET_TRY(Base placed, place(round));
      bases.clear();
      bases.push_back(std::move(placed));
    }
    if (compiled && !is_over()) MONET_RETURN_IF_ERROR(improve_best_stacks());
    result.complete = !is_over();
    MONET_RETURN_IF_ERROR(take_front(result));
    result.evaluated = evaluated_;
    return result;
  }

 private:
  // A plan for operators, on which memory is decided.
  struct Base {
    Plan plan;
    bool fused = false, placed = false;
  };

  bool is_over() const { return stop_(); }
  bool has_time_limit() const { return options_.time_limit_s < std::numeric_limits<double>::infinity(); }

  PlanObjectives objectives_of(const Price& price, std::int64_t peak_bytes) const {
    return monet::objectives_of(price, peak_bytes, options_.objective);
  }

  void say(const std::string& what, std::size_t done, std::size_t all) const {
    if (options_.progress) options_.progress(what, done, all);
  }

  Expected<JointResult> begin() {
    JointResult result;
    MONET_TRY(const Priced priced, pricer_.price(plan_, decided_));
    result.start = {.plan = plan_, .price = priced.price};
    MONET_TRY(result.start.peak_bytes, pricer_.packed_peak(priced, options_.memory));
    complete(result.start, priced);
    MONET_RETURN_IF_ERROR(keep_time_free());
    archive_.add({.objectives = objectives_of(priced.price, result.start.peak_bytes), .plan = [&] { return plan_; }});
    return result;
  }

  void complete(JointPlan& plan, const Priced& priced) const {
    plan.complete = complete_plan_of(priced.scheduled(hardware_), plan.plan, step_);
    for (const std::vector<NodeId>& stack : priced.evaluated.assignment.stacks) plan.stacks += stack.size() > 1 ? 1 : 0;
  }

  // The plans of the front are priced, checked and packed when the search has ended: as long as one takes now that its
  // mappings are known, for each of them, and half as long again, since plans that are fused have more tiles. At most
  // half of the time.
  Status keep_time_free() {
    if (!has_time_limit()) return Done{};
    constexpr double more_tiles = 1.5;
    const auto start = std::chrono::steady_clock::now();
    MONET_TRY(const Priced priced, pricer_.price(plan_, decided_));
    evaluation_s_ = seconds_since(start);
    MONET_RETURN_IF_ERROR(pricer_.check(priced));
    MONET_TRY(const std::int64_t peak, pricer_.packed_peak(priced, options_.memory));
    static_cast<void>(peak);
    const double at_the_end = more_tiles * static_cast<double>(options_.plans) * seconds_since(start);
    const double left = options_.time_limit_s - seconds_since(begun_);
    end_s_ = options_.time_limit_s - std::min(at_the_end, options_.time_limit_s / 2);
    stop_ = until_the_end_ = stop_after(left - std::min(at_the_end, options_.time_limit_s / 2), options_.stop);
    return Done{};
  }

  Expected<Base> fuse() {
    fusion::FuseSettings settings;
    settings.rules = options_.rules;
    const SearchObjective objective = options_.objective.of_parts();
    settings.objective = objective == SearchObjective::latency  ? fusion::Objective::latency
                         : objective == SearchObjective::energy ? fusion::Objective::energy
                                                                : fusion::Objective::edp;
    if (options_.objective.is_function()) {
      settings.value = [this](const fusion::StepCost& step) {
        return options_.objective({.cycles = step.cost.cycles, .energy_pj = step.cost.energy_pj, .peak_bytes = {}},
                                  step.live_peak_bytes[options_.memory.index()]);
      };
    }
    settings.evaluator = how_;
    settings.evaluator.jobs = options_.jobs;
    settings.tile_budget = options_.tiles;
    settings.stop = stop_at(0.1);
    settings.progress = options_.progress;
    MONET_TRY(PlanRequest base, pricer_.original().evaluator.bind(plan_));
    MONET_TRY(const fusion::Fused fused, fusion::fuse(step_, hardware_, cache_, base, settings));
    evaluated_ += fused.evaluated;
    Base result{.plan = plan_, .fused = true};
    fusion::add_to(result.plan, step_, fused);
    return result;
  }

  // Of a compiler: its policy's for the step with `tensors` decided, and what is better.
  Status improve_stacks(const Plan& plan, std::span<const BoundTensor> tensors) {
    MONET_TRY(const Priced priced, pricer_.price(plan, tensors));
    const auto value = [this](const KernelStep& step) {
      const Price price{.cycles = step.costs.total_us * 1e-6 * hardware_.clock_hz,
                        .energy_pj = step.costs.total_mj * 1e9,
                        .peak_bytes = {}};
      const std::int64_t peak = step.memory.peak();
      const bool within = peak <= options_.budget_bytes && price.cycles <= options_.deadline_cycles;
      return within ? options_.objective(price, peak) : std::numeric_limits<double>::infinity();
    };
    const fusion::KernelStacks found =
        fusion::improved_stacks(*priced.evaluated.kernels, *hardware_[kernel_core(hardware_)].kernels,
                                {.tf32 = how_.cost.extract.products == "tf32", .value = value, .stop = stop_});
    evaluated_ += found.tried;
    Base base{.plan = plan, .fused = true};
    base.plan.stacks = fusion::stated_stacks(found.step);
    leave_alone(priced.variant->step, base.plan);
    return add(base, tensors);
  }

  // What is said of operators holds for their copies, but for those that are named: those that are in no stack.
  static void leave_alone(const training::Recomputed& step, Plan& plan) {
    std::set<std::string_view> named;
    for (const PlannedStack& stack : plan.stacks) named.insert(stack.operators.begin(), stack.operators.end());
    std::vector<PlannedStack> single;
    for (std::size_t n = 0; n < step.copy_of.size(); ++n) {
      const std::string& name = step.graph.nodes()[n].name;
      if (step.copy_of[n].valid() && !named.contains(name)) single.emplace_back().operators.push_back(name);
    }
    std::ranges::move(single, std::back_inserter(plan.stacks));
  }

  // The same where the best plan recomputes: its copies have stacks too.
  Status improve_best_stacks() {
    const ArchivedPlan* best = best_within();
    if (best == nullptr || !best->plan.stacks.empty()) return Done{};
    const Plan start = best->plan;  // the archive changes
    MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(start, step_, hardware_));
    return improve_stacks(start, tensors);
  }

  // When a share of all the time is over.
  std::function<bool()> stop_at(double share) const {
    if (!has_time_limit()) return stop_;
    return stop_after(share * options_.time_limit_s - seconds_since(begun_), stop_);
  }

  // When there is no time left for so many plans, which are priced together.
  std::function<bool()> stop_before(std::size_t plans) const {
    if (!has_time_limit()) return stop_;
    constexpr double longer = 2;  // rewritten steps, and more tiles
    const double takes =
        longer * evaluation_s_ * static_cast<double>(plans) / static_cast<double>(threads_for(options_.jobs));
    return stop_after(end_s_ - takes - seconds_since(begun_), stop_);
  }

  // What was found so far, and other policies.
  std::vector<Plan> starts_of(const std::vector<Base>& bases) const {
    std::vector<Plan> starts;
    for (const Base& base : bases) starts.push_back(base.plan);
    if (!orders_are_open()) return starts;
    for (const PlanOrder order : {PlanOrder::graph, PlanOrder::frugal}) {
      starts.push_back(plan_);
      starts.back().order = order;
    }
    return starts;
  }

  // Splits, tiles, stacks and order together, for the step with `tensors` decided.
  Expected<Base> assign(const std::vector<Plan>& starts, std::span<const BoundTensor> tensors, double until) {
    constexpr std::size_t times = 8;  // as many plans as for one budget
    MONET_TRY(const std::size_t evaluations, evaluations_for(starts.front(), tensors));
    assigning::SearchOptions search{
        .objective = options_.objective,
        .memory = options_.memory,
        .budget_bytes = options_.budget_bytes,
        .deadline_cycles = options_.deadline_cycles,
        .moves = {.cores = options_.place,
                  .tiles = options_.fuse,
                  .stacks = options_.fuse,
                  .order = orders_are_open(),
                  .decided = decided_operators(tensors)},
        .evaluations = has_time_limit() ? std::numeric_limits<std::size_t>::max() : times * evaluations,
        .jobs = options_.jobs,
        .stop = stop_at(options_.decide ? until : 1)};
    if (options_.progress) {
      search.progress = [&](std::size_t done, double) { options_.progress("plans", done, times * evaluations); };
    }
    MONET_TRY(assigning::Found found, assigning::search(step_, hardware_, cache_, how_, starts, tensors, search));
    evaluated_ += found.evaluated;
    const auto offer = [&](const assigning::FoundPlan& plan) {
      archive_.add({.objectives = objectives_of(plan.price, plan.price.peak_bytes[options_.memory.index()]),
                    .plan = [&] { return plan.plan; },
                    .fused = options_.fuse,
                    .placed = options_.place});
    };
    offer(found.best);
    std::ranges::for_each(found.others, offer);
    Base best{.plan = std::move(found.best.plan), .fused = options_.fuse, .placed = options_.place};
    best.plan.tensors = plan_.tensors;
    return best;
  }

  // Stacks and all else once more, for the step with what was decided about memory.
  Status assign_again() {
    const ArchivedPlan* best = best_within();
    if (best == nullptr) return Done{};
    const Plan start = best->plan;  // the archive changes
    MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(start, step_, hardware_));
    MONET_TRY(const Base found, assign({start}, tensors, 0.97));
    return Done{};
  }

  bool orders_are_open() const { return options_.space.reorder && plan_.order == PlanOrder::critical_path; }

  // By node of the step in which tensors are recomputed: the plan that is kept to speaks of it, or of what it repeats.
  std::vector<bool> decided_operators(std::span<const BoundTensor> tensors) {
    std::vector<bool> decided;
    auto step = pricer_.rewritten(tensors);
    if (!step) return decided;
    const Graph& graph = *(*step)->graph;
    decided.resize(graph.nodes().size(), false);
    const auto settle = [&](const std::string& name) {
      for (std::size_t n = 0; n < decided.size(); ++n) {
        const std::vector<NodeId>& copies = (*step)->step.copy_of;
        const bool copy = n < copies.size() && copies[n].valid() && matches(name, step_[copies[n]].name);
        if (copy || matches(name, graph.nodes()[n].name)) decided[n] = true;
      }
    };
    for (const PlannedOperator& op : plan_.operators) settle(op.name);
    for (const PlannedStack& stack : plan_.stacks) std::ranges::for_each(stack.operators, settle);
    return decided;
  }

  Status add(const Base& base, std::span<const BoundTensor> tensors) {
    MONET_TRY(const Priced priced, pricer_.price(base.plan, tensors));
    MONET_TRY(const std::int64_t peak, pricer_.packed_peak(priced, options_.memory));
    archive_.add({.objectives = objectives_of(priced.price, peak),
                  .plan = [&] { return base.plan; },
                  .fused = base.fused,
                  .placed = base.placed});
    return Done{};
  }

  // As many plans as there are tiles for.
  Expected<std::size_t> evaluations_for(const Plan& plan, std::span<const BoundTensor> tensors) {
    constexpr std::size_t least = 8;
    MONET_TRY(const Priced priced, pricer_.price(plan, tensors));
    const std::size_t tiles = std::max<std::size_t>(1, priced.evaluated.tiles.tiles());
    return std::clamp(options_.tiles / tiles, std::min(least, options_.evaluations), options_.evaluations);
  }

  Status decide(const Base& base, std::size_t round) {
    Evaluator& evaluator = pricer_.original().evaluator;
    MemorySpaceOptions choices = options_.space;
    if (!options_.decide) choices.recompute = choices.page = choices.reorder = false;
    if (evaluator.runs_kernels()) choices.reorder = false;
    const MemorySpace space(step_, hardware_, evaluator.machine(), base.plan, decided_, evaluator.element_bits(),
                            choices);
    MemoryPrices prices({.step = step_,
                         .hardware = hardware_,
                         .cache = cache_,
                         .how = how_,
                         .plan = base.plan,
                         .space = space,
                         .memory = options_.memory,
                         .jobs = options_.jobs});
    MONET_TRY(const std::size_t evaluations, evaluations_for(base.plan, decided_));
    MemorySearchOptions effort{
        .evaluations = evaluations, .seed = options_.seed + round, .stop = stop_before(memory_batch)};
    const auto search_for = [&](const MemoryGoal& goal) -> Status {
      MONET_TRY(const MemoryAnswer answer, MemorySearch(prices, effort).search(goal));
      return Done{};
    };
    const MemoryGoal goal{.objective = options_.objective,
                          .budget_bytes = options_.budget_bytes,
                          .deadline_cycles = options_.deadline_cycles};
    say("memory: the budget", 0, options_.budgets + 2);
    MONET_RETURN_IF_ERROR(search_for(goal));
    if (options_.decide && !space.candidates().empty() && !is_over()) {
      MemoryGoal least = goal;
      least.least_memory = true;
      say("memory: the least", 1, options_.budgets + 2);
      MONET_RETURN_IF_ERROR(search_for(least));
      MONET_RETURN_IF_ERROR(sweep(prices, space, goal, effort));
    }
    evaluated_ += prices.known().size();
    return keep_best(prices, base);
  }

  // Those that nothing is better than get addresses, the fastest first: only what comes before can be better. When time
  // is over they are taken as they are: those of the front get theirs in any case.
  Status keep_best(MemoryPrices& prices, const Base& base) {
    std::vector<std::pair<PlanObjectives, const Genome*>> found;
    for (const auto& [genome, price] : prices.known()) {
      if (price.failure.empty()) found.emplace_back(objectives_of(price.price, price.peak_bytes), &genome);
    }
    std::ranges::stable_sort(found, {}, &std::pair<PlanObjectives, const Genome*>::first);
    for (const auto& [live, genome] : found) {
      if (archive_.has_no_worse(live)) continue;
      PlanObjectives objectives = live;
      if (!is_over()) {
        MONET_TRY(const MemoryPrice* price, prices.price_exactly(*genome));
        objectives = objectives_of(price->price, price->peak_bytes);
      }
      archive_.add({.objectives = objectives,
                    .plan = [&] { return prices.input().space.plan(*genome); },
                    .fused = base.fused,
                    .placed = base.placed});
    }
    return Done{};
  }

  // Budgets in between, for each of which something else may be best.
  Status sweep(MemoryPrices& prices, const MemorySpace& space, const MemoryGoal& goal, MemorySearchOptions effort) {
    const std::int64_t kept = prices.known().at(space.all_kept()).peak_bytes;
    std::int64_t least = kept;
    for (const auto& [genome, price] : prices.known()) {
      if (price.failure.empty()) least = std::min(least, price.peak_bytes);
    }
    effort.evaluations = std::max<std::size_t>(1, effort.evaluations / 2);
    for (std::size_t i = 0; i < options_.budgets && !is_over(); ++i) {
      const auto share = static_cast<double>(i) / static_cast<double>(options_.budgets);
      MemoryGoal between = goal;
      between.budget_bytes = least + static_cast<std::int64_t>(share * static_cast<double>(kept - least));
      if (between.budget_bytes > options_.budget_bytes) continue;
      say("memory: budgets below", i + 2, options_.budgets + 2);
      MONET_TRY(const MemoryAnswer answer, MemorySearch(prices, effort).search(between));
    }
    return Done{};
  }

  // The best plan so far; null: there is none.
  const ArchivedPlan* best_within() const {
    return archive_.best([&](const ArchivedPlan& entry) {
      const double too_much = std::max(0.0, entry.objectives[2] - static_cast<double>(options_.budget_bytes)) +
                              std::max(0.0, entry.objectives[0] - options_.deadline_cycles);
      const Price price{.cycles = entry.objectives[0], .energy_pj = entry.objectives[1]};
      return std::pair(too_much, options_.objective(price, static_cast<std::int64_t>(entry.objectives[2])));
    });
  }

  // The best plan so far, with its operators moved to other cores.
  Expected<Base> place(std::size_t round) {
    const ArchivedPlan* best = best_within();
    if (best == nullptr) return Base{.plan = plan_};
    const ArchivedPlan start = *best;  // the archive changes
    MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(start.plan, step_, hardware_));
    MONET_TRY(const std::size_t evaluations, evaluations_for(start.plan, tensors));
    const std::size_t generations =
        std::max<std::size_t>(1, options_.generations * evaluations / std::max<std::size_t>(1, options_.evaluations));
    const std::size_t population = std::min(options_.population, std::max<std::size_t>(4, evaluations));
    if (stop_before(population)()) return Base{.plan = plan_};
    PlacementOptions placement{.objective = options_.objective,
                               .memory = options_.memory,
                               .budget_bytes = options_.budget_bytes,
                               .population = population,
                               .generations = generations,
                               .seed = options_.seed + round,
                               .jobs = options_.jobs,
                               .stop = stop_before(population)};
    if (options_.progress) {
      placement.progress = [&](std::size_t done, std::size_t all) { options_.progress("placement", done, all); };
    }
    MONET_TRY(const Placement found, monet::place(step_, hardware_, cache_, how_, start.plan, tensors, placement));
    evaluated_ += found.evaluated;
    for (const PlacedPlan& placed : found.front) {
      MONET_TRY(const Priced priced, pricer_.price(placed.plan, tensors));
      MONET_TRY(const std::int64_t peak, pricer_.packed_peak(priced, options_.memory));
      archive_.add({.objectives = objectives_of(priced.price, peak),
                    .plan = [&] { return placed.plan; },
                    .fused = start.fused,
                    .placed = true});
    }
    Base result{.plan = start.plan, .fused = start.fused, .placed = start.placed};
    if (!found.front.empty()) {
      const auto first = std::ranges::min_element(found.front, {}, [&](const PlacedPlan& p) {
        return options_.objective(p.price, p.price.peak_bytes[options_.memory.index()]);
      });
      result = {.plan = first->plan, .fused = start.fused, .placed = true};
    }
    result.plan = without_copies(std::move(result.plan), step_);
    result.plan.tensors = plan_.tensors;
    result.plan.order = plan_.order;
    return result;
  }

  // With addresses, and checked.
  Status take_front(JointResult& result) {
    std::vector<JointPlan> plans;
    result.least_bytes = result.start.peak_bytes;
    for (const ArchivedPlan& entry : archive_.plans()) {
      result.least_bytes = std::min(result.least_bytes, static_cast<std::int64_t>(entry.objectives[2]));
    }
    std::vector<ArchivedPlan> spread =
        archive_.spread(options_.plans, options_.deadline_cycles, static_cast<double>(options_.budget_bytes));
    const auto first = std::ranges::min_element(spread, {}, [this](const ArchivedPlan& entry) {
      const Price price{.cycles = entry.objectives[0], .energy_pj = entry.objectives[1]};
      return options_.objective(price, static_cast<std::int64_t>(entry.objectives[2]));
    });
    if (first != spread.end()) std::rotate(spread.begin(), first, first + 1);
    double longest_s = 0;
    for (const ArchivedPlan& entry : spread) {
      // The best one at least.
      const double began = seconds_since(begun_);
      if (!plans.empty() && began + longest_s > options_.time_limit_s) {
        result.complete = false;
        break;
      }
      MONET_TRY(const std::vector<BoundTensor> tensors, bind_tensors(entry.plan, step_, hardware_));
      MONET_TRY(const Priced priced, pricer_.price(entry.plan, tensors));
      MONET_RETURN_IF_ERROR(pricer_.check(priced));
      JointPlan plan{.plan = entry.plan, .price = priced.price, .fused = entry.fused, .placed = entry.placed};
      MONET_TRY(plan.peak_bytes, pricer_.packed_peak(priced, options_.memory));
      if (plan.peak_bytes > options_.budget_bytes || plan.price.cycles > options_.deadline_cycles) continue;
      complete(plan, priced);
      plans.push_back(std::move(plan));
      longest_s = std::max(longest_s, seconds_since(begun_) - began);
    }
    result.front = front_of(std::move(plans), options_.objective);
    return Done{};
  }

  const Graph& step_;
  const Hardware& hardware_;
  MappingCache& cache_;
  const EvaluatorOptions& how_;
  const Plan& plan_;
  const std::vector<BoundTensor>& decided_;
  const JointOptions& options_;
  std::chrono::steady_clock::time_point begun_;
  std::function<bool()> stop_;           // of what is searched now
  std::function<bool()> until_the_end_;  // of the search
  Pricer pricer_;
  PlanArchive archive_;
  std::size_t evaluated_ = 0;
  double evaluation_s_ = 0;  // of a plan
  double end_s_ = 0;         // of the search, counted from its beginning; where there is a time limit
};

}  // namespace

Expected<JointResult> optimize_jointly(const Graph& step, const Hardware& hardware, MappingCache& cache,
                                       const EvaluatorOptions& how, const Plan& plan,
                                       const std::vector<BoundTensor>& decided, const JointOptions& options) {
  return JointSearch(step, hardware, cache, how, plan, decided, options).run();
}

}  // namespace monet
