#include "base/quantities.h"
#include "base/stop.h"
#include "base/try.h"
#include "evaluate/account/bound.h"
#include "evaluate/open/step_on_machine.h"
#include "evaluate/plan/bind_tensors.h"
#include "optimize/memory/baselines.h"
#include "optimize/memory/bound.h"
#include "optimize/memory/budget.h"
#include "optimize/memory/fronts.h"
#include "optimize/memory/least.h"
#include "optimize/memory/milp.h"
#include "optimize/memory/stored.h"
#include "optimize/memory/sweep.h"

#include <monet/checkpoint.h>
#include <monet/plan.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace monet {

namespace {

using Clock = std::chrono::steady_clock;

// Everything that the methods share.
class Checkpointer {
 public:
  Checkpointer(const CheckpointOptions& options, StepOnMachine opened, PlanValue objective)
      : options_(options),
        hardware_(std::move(opened.hardware)),
        opened_step_(std::move(opened.opened_step)),
        plan_(std::move(opened.plan)),
        is_over_(stop_after(options.time_limit_s, options.stop)),
        first_answer_(options.time_limit_s, options.stop) {
    goal_.objective = std::move(objective);
  }

  Expected<Checkpointing> run(Checkpointing result, bool keep_points) {
    keep_points_ = keep_points;
    if (options_.method != "search") MONET_RETURN_IF_ERROR(home_in_memory(plan_));
    MONET_RETURN_IF_ERROR(prepare(result));
    MONET_RETURN_IF_ERROR(price_all_kept(result));
    first_answer_.found();
    if (options_.method == "exact") {
      MONET_RETURN_IF_ERROR(run_exact(result));
    } else if (options_.method == "nsga2") {
      MONET_RETURN_IF_ERROR(run_nsga2(result));
    } else if (options_.method == "milp") {
      MONET_RETURN_IF_ERROR(run_milp(result));
    } else if (options_.method != "search") {
      MONET_RETURN_IF_ERROR(run_baseline(result));
    } else if (options_.pareto) {
      MONET_RETURN_IF_ERROR(run_sweep(result));
    } else {
      MONET_RETURN_IF_ERROR(run_search(result));
    }
    result.evaluated = std::max(result.evaluated, prices_->known().size()) + afresh_;
    result.complete = result.complete && !is_over_();
    return result;
  }

 private:
  Status prepare(Checkpointing& result) {
    MONET_TRY(how_, evaluator_options(options_.evaluate));
    how_.stop = first_answer_.stop();
    MONET_TRY(budgets_, budgets_from(options_.budgets, std::move(hardware_)));
    hardware_ = budgets_.hardware;
    memory_ = budgets_.memory;
    result.notes.insert(result.notes.end(), budgets_.notes.begin(), budgets_.notes.end());
    MONET_TRY(const std::vector<BoundTensor> decided, bind_tensors(plan_, opened_step_.graph, hardware_));
    first_.emplace(opened_step_.graph, hardware_, cache_, how_);
    RewrittenEvaluator& original = first_->original();
    space_.emplace(opened_step_.graph, hardware_, original.evaluator.machine(), plan_, decided,
                   original.evaluator.element_bits(),
                   MemorySpaceOptions{.recompute = options_.recompute,
                                      .page = options_.page,
                                      .page_static = options_.page_static,
                                      .reorder = options_.reorder && !original.evaluator.runs_kernels(),
                                      .tensors = options_.tensors});
    if (!options_.tensors.empty() && space_->candidates().empty()) {
      return Error{.message = fmt::format("no saved tensor that can be decided about matches {}",
                                          fmt::join(options_.tensors, " or ")),
                   .place = "--tensors",
                   .advice = "`monet train MODEL --saved` lists them"};
    }
    prices_.emplace(MemoryPricesInput{.step = opened_step_.graph,
                                      .hardware = hardware_,
                                      .cache = cache_,
                                      .how = how_,
                                      .plan = plan_,
                                      .space = *space_,
                                      .memory = memory_,
                                      .jobs = static_cast<std::size_t>(options_.evaluate.jobs)});
    result.memory = hardware_[memory_].name;
    result.tensors = space_->candidates().size();
    result.space = plans_in(space_->choices());
    return Done{};
  }

  Status price_all_kept(Checkpointing& result) {
    const Genome kept = space_->all_kept();
    MONET_TRY(const MemoryPrice* price, prices_->price_exactly(kept));
    if (!price->failure.empty()) {
      // Say it as evaluating the plan would.
      MONET_TRY(const Priced priced, first_->price(plan_));
      return Done{};
    }
    goal_.budget_bytes = budgets_.bytes(price->peak_bytes);
    MONET_TRY(const MemoryBound own, bound_for(price->peak_bytes));
    MONET_TRY(result.all_kept, plan_of(kept, price->peak_bytes, own));
    if (!options_.deadline.empty()) {
      MONET_TRY(goal_.deadline_cycles, deadline_from(options_.deadline, price->price.cycles, hardware_.clock_hz));
      result.deadline_cycles = goal_.deadline_cycles;
    }
    result.budget_bytes = goal_.budget_bytes;
    for (std::string& warning : budgets_.warnings(goal_.budget_bytes)) result.warnings.push_back(std::move(warning));
    MONET_TRY(const MemoryBound bound, bound_for(goal_.budget_bytes));
    result.bound_cycles = bound.cycles;
    result.bound_pj = bound.energy_pj;
    return Done{};
  }

  Expected<MemoryBound> bound_for(std::int64_t budget) {
    // By no plan: what a plan recomputes would be another graph, and its tensors have other numbers.
    if (!as_it_is_) {
      MONET_TRY(as_it_is_, first_->price(Plan{}));
      operator_bounds_ = first_->original().evaluator.operator_bounds();
    }
    return memory_bound(as_it_is_->scheduled(hardware_), as_it_is_->variant->evaluator.machine(), operator_bounds_,
                        *space_, memory_, budget);
  }

  // The best that was found for a budget.
  Expected<CheckpointPlan> plan_of(const Genome& genome, std::int64_t budget, const MemoryBound& bound) {
    MONET_TRY(const MemoryPrice* price, prices_->price_exactly(genome));
    CheckpointPlan plan;
    plan.latency_cycles = price->price.cycles;
    plan.latency_s = hardware_.clock_hz > 0 ? price->price.cycles / hardware_.clock_hz : 0;
    plan.energy_pj = price->price.energy_pj;
    plan.peak_bytes = price->peak_bytes;
    if (goal_.objective.is_function()) plan.value = goal_.objective(price->price, price->peak_bytes);
    plan.saved_bytes = space_->kept_bytes(genome);
    plan.saved_bytes_dropped = space_->dropped_bytes(genome);
    plan.order = name_of(space_->order(genome));
    plan.recomputed = space_->names(genome, Retention::recompute);
    plan.paged = space_->names(genome, Retention::page);
    plan.budget_bytes = budget;
    plan.bound_cycles = bound.cycles;
    plan.bound_pj = bound.energy_pj;
    MONET_TRY(const Plan complete, prices_->complete_plan(genome));
    plan.plan_yaml = to_yaml(complete);
    return plan;
  }

  MemorySearchOptions search_options(const std::string& what) const {
    MemorySearchOptions search{.evaluations = options_.evaluations,
                               .seed = options_.seed,
                               .seeds = options_.seeds,
                               .prune = options_.prune,
                               .improve = options_.improve,
                               .stop = is_over_};
    if (options_.progress) {
      search.progress = [this, what](std::size_t priced, double) { options_.progress(what, priced, 0); };
    }
    return search;
  }

  Status run_search(Checkpointing& result, const Genome& start = {}) {
    std::optional<MemoryAnswer> answer;
    if (may_stay_in_memory(goal_.budget_bytes)) {
      MemorySearch search(*prices_, search_options("plans priced"));
      MONET_TRY(answer, search.search(goal_, start));
      if (!answer->feasible) answer.reset();
    }
    if (answer) {
      MONET_RETURN_IF_ERROR(add_plan(result, answer->genome, goal_.budget_bytes));
      result.proven = static_cast<double>(prices_->known().size()) >= result.space;
    }
    // What fits without storage gains nothing by it.
    if (!result.plans.empty() && result.plans.front().paged.empty()) return Done{};
    MONET_TRY(const std::optional<CheckpointPlan> stored, best_stored(goal_.budget_bytes));
    if (stored && (result.plans.empty() || value_of_plan(*stored) < value_of_plan(result.plans.front()))) {
      result.plans.assign(1, *stored);
      result.proven = false;
    }
    return result.plans.empty() ? last_try(result) : Done{};
  }

  // Some plan with data at home in memory could fit.
  bool may_stay_in_memory(std::int64_t budget) {
    if (!plan_.home.empty()) return false;
    RewrittenEvaluator& original = first_->original();
    least_in_memory_ =
        least_in_memory(opened_step_.graph, original.evaluator.machine(), original.evaluator.element_bits());
    return least_in_memory_ <= budget;
  }

  double value_of_plan(const CheckpointPlan& plan) const {
    return goal_.objective({.cycles = plan.latency_cycles, .energy_pj = plan.energy_pj, .peak_bytes = {}},
                           plan.peak_bytes);
  }

  // With data at home in storage, where the machine has some and weights may be paged.
  Expected<std::optional<CheckpointPlan>> best_stored(std::int64_t budget, std::size_t share = 10) {
    std::optional<CheckpointPlan> best;
    if (!options_.page || !options_.page_static || !options_.tensors.empty()) return best;
    MemoryGoal goal = goal_;
    goal.budget_bytes = budget;
    for (const MemoryId storage : homes_in_storage(hardware_)) {
      if (!plan_.home.empty() && plan_.home != hardware_[storage].name) continue;
      StoredSearchOptions search{.evaluations = std::max<std::size_t>(4, options_.evaluations / share),
                                 .recompute = options_.recompute,
                                 .reorder = options_.reorder,
                                 .stop = is_over_};
      if (options_.progress) {
        search.progress = [&](std::size_t priced) { options_.progress("plans from storage priced", priced, 0); };
      }
      MONET_TRY(const StoredAnswer answer, search_stored(prices_->input(), goal, storage, search));
      afresh_ += answer.priced;
      if (!answer.best) {
        if (!answer.failure.empty()) stored_failure_ = answer.failure;
        continue;
      }
      MONET_TRY(CheckpointPlan plan, plan_of(*answer.best, budget));
      if (!best || value_of_plan(plan) < value_of_plan(*best)) best = std::move(plan);
    }
    return best;
  }

  Expected<CheckpointPlan> plan_of(const StoredPlan& stored, std::int64_t budget) {
    MONET_TRY(const MemoryBound bound, bound_for(budget));
    CheckpointPlan plan{.latency_cycles = stored.price.cycles, .energy_pj = stored.price.energy_pj};
    plan.latency_s = hardware_.clock_hz > 0 ? stored.price.cycles / hardware_.clock_hz : 0;
    plan.peak_bytes = stored.peak_bytes;
    if (goal_.objective.is_function()) plan.value = value_of_plan(plan);
    plan.order = name_of(stored.plan.order);
    plan.home = stored.plan.home;
    plan.plan_yaml = to_yaml(stored.plan);
    plan.budget_bytes = budget;
    plan.bound_cycles = bound.cycles;
    plan.bound_pj = bound.energy_pj;
    for (const MemoryCandidate& candidate : space_->candidates()) {
      if (!candidate.saved) continue;
      const bool again =
          std::ranges::find(stored.tensors, candidate.tensor, &BoundTensor::tensor) != stored.tensors.end();
      (again ? plan.saved_bytes_dropped : plan.saved_bytes) += candidate.bytes;
      if (again) plan.recomputed.push_back(opened_step_.graph[candidate.tensor].name);
    }
    return plan;
  }

  Status add_plan(Checkpointing& result, const Genome& genome, std::int64_t budget) {
    MONET_TRY(const MemoryBound bound, bound_for(budget));
    MONET_TRY(CheckpointPlan plan, plan_of(genome, budget, bound));
    result.plans.push_back(std::move(plan));
    return Done{};
  }

  static void set_least(Checkpointing& result, const LeastMemory& least) {
    result.least_bytes = least.peak_bytes;
    result.least_cycles = least.cycles;
    result.forced_by = least.forced_by;
  }

  Status last_try(Checkpointing& result) {
    MONET_TRY(const LastTry last, try_the_least(*prices_, goal_, search_options("plans priced for the least memory")));
    set_least(result, last.least);
    afresh_ += last.priced;
    if (!stored_failure_.empty()) result.notes.push_back("with data at home in storage: " + stored_failure_);
    result.feasible = last.best.has_value();
    return last.best ? add_plan(result, *last.best, goal_.budget_bytes) : Done{};
  }

  Status run_sweep(Checkpointing& result) {
    const std::int64_t kept = result.all_kept.peak_bytes;
    const std::int64_t top = budgets_.home ? std::min(goal_.budget_bytes, kept) : kept;
    result.pareto_budgets = true;
    result.feasible = false;
    if (may_stay_in_memory(top)) MONET_RETURN_IF_ERROR(sweep_in_memory(result, top, kept));
    return sweep_stored(result, top);
  }

  // From where plans in memory begin to page, for half, a quarter … of it, until nothing fits; plans that are no better
  // for more memory are left out.
  Status sweep_stored(Checkpointing& result, std::int64_t top) {
    constexpr std::size_t share = 100;  // of the plans that may be priced, for each
    std::vector<CheckpointPlan> all = std::move(result.plans);
    std::int64_t first = all.empty() ? top : 0;
    for (const CheckpointPlan& plan : all) {
      first = std::max(first, plan.paged.empty() ? plan.peak_bytes / 2 : plan.budget_bytes);
      if (plan.paged.empty()) break;
    }
    for (std::int64_t budget = first; budget > 0 && !is_over_(); budget /= 2) {
      MONET_TRY(std::optional<CheckpointPlan> plan, best_stored(budget, share));
      if (!plan) break;
      all.push_back(*std::move(plan));
    }
    if (all.empty()) return last_try(result);
    std::ranges::stable_sort(all, {}, &CheckpointPlan::peak_bytes);
    result.plans.clear();
    for (CheckpointPlan& plan : all) {
      const double before =
          result.plans.empty() ? std::numeric_limits<double>::infinity() : value_of_plan(result.plans.back());
      const double value = value_of_plan(plan);
      if (plan.home.empty() ? value <= before : value < before) result.plans.push_back(std::move(plan));
    }
    result.feasible = true;
    return Done{};
  }

  Status sweep_in_memory(Checkpointing& result, std::int64_t top, std::int64_t kept) {
    MONET_TRY(const LeastMemory least,
              find_least(*prices_, goal_, search_options("plans priced for the least memory")));
    set_least(result, least);
    result.feasible = least.peak_bytes <= top && least.cycles <= goal_.deadline_cycles;
    if (!result.feasible) return Done{};
    SweepOptions sweep{.most_bytes = top,
                       .least_bytes = least.peak_bytes,
                       .step_bytes = options_.pareto_step * static_cast<double>(kept),
                       .search = search_options("")};
    sweep.search.evaluations = std::max<std::size_t>(1, options_.evaluations / 4);
    sweep.progress = progress_of("budgets");
    MONET_TRY(const std::vector<BudgetPlan> plans, sweep_budgets(*prices_, goal_, sweep));
    for (const BudgetPlan& plan : plans) MONET_RETURN_IF_ERROR(add_plan(result, plan.genome, plan.budget_bytes));
    return Done{};
  }

  Status add_front(Checkpointing& result, const std::vector<Genome>& front) {
    for (const Genome& genome : front) MONET_RETURN_IF_ERROR(add_plan(result, genome, goal_.budget_bytes));
    return front.empty() ? last_try(result) : Done{};
  }

  MemoryMeasure measure() const { return options_.measure == "saved" ? MemoryMeasure::saved : MemoryMeasure::peak; }

  std::function<void(std::size_t, std::size_t)> progress_of(const char* what) const {
    if (!options_.progress) return nullptr;
    return [this, what](std::size_t done, std::size_t all) { options_.progress(what, done, all); };
  }

  Status run_nsga2(Checkpointing& result) {
    GeneticOptions genetic{.population = options_.population,
                           .generations = options_.generations,
                           .crossover = options_.crossover,
                           .mutation = options_.mutation,
                           .seed = options_.seed,
                           .stop = is_over_};
    if (options_.progress) {
      genetic.progress = [this](std::size_t done, std::size_t) {
        options_.progress("generations", done, options_.generations);
      };
    }
    MONET_TRY(const std::vector<Genome> front, genetic_front(*prices_, goal_, measure(), genetic));
    return add_front(result, front);
  }

  Status check_no_kernels() const {
    if (!as_it_is_->evaluated.kernels) return Done{};
    return Error{
        .message = fmt::format("{} knows no kernels, and {} runs them",
                               options_.method == "milp" ? "the integer program" : "the method", hardware_.name),
        .place = "--method " + options_.method,
        .advice = "use --method search; --lowering nests takes the machine as arrays"};
  }

  // What a published rule decides, carried out. Where that needs more than the rule counts, the rule gets so much less.
  Status run_baseline(Checkpointing& result) {
    MONET_RETURN_IF_ERROR(check_no_kernels());
    constexpr int most_rounds = 6;
    std::optional<Genome> best, least;
    std::int64_t least_bytes = std::numeric_limits<std::int64_t>::max();
    double best_value = std::numeric_limits<double>::infinity();
    std::int64_t budget = goal_.budget_bytes;
    for (int round = 0; round < most_rounds && !best && budget > 0 && !is_over_(); ++round) {
      MONET_TRY(const std::vector<Genome> genomes, decided_by_rule(budget, result.all_kept.peak_bytes));
      std::int64_t peak = std::numeric_limits<std::int64_t>::max();
      for (Genome genome : genomes) {
        for (std::size_t order = 0; order < space_->orders().size(); ++order) {
          genome.back() = static_cast<std::uint16_t>(order);
          MONET_TRY(const MemoryPrice* price, prices_->price_exactly(genome));
          if (!price->failure.empty()) continue;
          peak = std::min(peak, price->peak_bytes);
          if (price->peak_bytes < least_bytes) {
            least_bytes = price->peak_bytes;
            least = genome;
          }
          const double value = goal_.objective(price->price, price->peak_bytes);
          if (violation_of(*price, goal_) > 0 || (best && value >= best_value)) continue;
          best = genome;
          best_value = value;
        }
      }
      if (genomes.empty() || peak <= goal_.budget_bytes) break;
      budget -= peak - goal_.budget_bytes;
    }
    if (best) return add_plan(result, *best, goal_.budget_bytes);
    result.feasible = false;
    result.notes.push_back("no other plans were looked at: --method search does");
    if (!least) {
      result.notes.push_back(fmt::format("the rule of '{}' finds no plan", options_.method));
      least = space_->all_kept();
    }
    MONET_TRY(const MemoryPrice* price, prices_->price_exactly(*least));
    result.least_bytes = price->peak_bytes;
    result.least_cycles = price->price.cycles;
    MONET_TRY(result.forced_by, prices_->alive_at_peak(*least, 10));
    return Done{};
  }

  Expected<std::vector<Genome>> decided_by_rule(std::int64_t budget, std::int64_t all_kept_bytes) {
    if (options_.method != "checkmate") {
      return baseline_genomes(options_.method, *as_it_is_, prices_->input(), budget, all_kept_bytes);
    }
    // Checkmate's program drops and runs again; it pages nothing.
    MemoryGoal goal = goal_;
    goal.budget_bytes = budget;
    MONET_TRY(const ProgramDecision decision,
              decide_by_program(*as_it_is_, prices_->input(), goal,
                                {.moves = {.recompute = options_.recompute, .page = false},
                                 .time_limit_s = options_.time_limit_s,
                                 .stop = is_over_}));
    if (!decision.genome) return std::vector<Genome>();
    return std::vector<Genome>{*decision.genome};
  }

  // What the program decides is then priced like everything else.
  Status run_milp(Checkpointing& result) {
    MONET_RETURN_IF_ERROR(check_no_kernels());
    // The answer is never worse than that of the search.
    MONET_RETURN_IF_ERROR(run_search(result));
    constexpr int most_rounds = 4;
    MemoryGoal goal = goal_;
    for (int round = 0; round < most_rounds && !is_over_(); ++round) {
      MONET_TRY(const ProgramDecision decision,
                decide_by_program(*as_it_is_, prices_->input(), goal,
                                  {.moves = {.recompute = options_.recompute, .page = options_.page},
                                   .time_limit_s = options_.time_limit_s,
                                   .stop = is_over_}));
      result.notes.push_back(fmt::format("integer program of {} variables: {}{}", decision.variables,
                                         decision.genome ? "solved" : "no solution",
                                         decision.proven ? ", proven in its own model" : ""));
      if (!decision.genome) return Done{};
      MONET_TRY(const MemoryPrice* price, prices_->price_exactly(*decision.genome));
      if (violation_of(*price, goal_) == 0) return add_if_better(result, *decision.genome);
      // What the program counts is not all that is there: it gets so much less.
      const std::int64_t too_much = price->peak_bytes - goal_.budget_bytes;
      result.notes.push_back(fmt::format("its plan needs {} and takes {} when it is carried out{}",
                                         byte_size(price->peak_bytes), cycles_text(price->price.cycles),
                                         too_much > 0 ? "; it is solved again with so much less" : ""));
      if (too_much <= 0 || too_much >= goal.budget_bytes) return Done{};
      goal.budget_bytes -= too_much;
    }
    return Done{};
  }

  Status add_if_better(Checkpointing& result, const Genome& genome) {
    const std::vector<CheckpointPlan> before = std::move(result.plans);
    result.plans.clear();
    MONET_RETURN_IF_ERROR(add_plan(result, genome, goal_.budget_bytes));
    if (before.empty() || value_of_plan(result.plans.front()) < value_of_plan(before.front())) {
      result.feasible = true;
      result.notes.push_back("the plan is that of the program");
    } else {
      result.plans = before;
      result.notes.push_back("the plan is that of the search, which is no worse");
    }
    return Done{};
  }

  Status run_exact(Checkpointing& result) {
    if (result.space > static_cast<double>(options_.exact_limit)) {
      return Error{.message = fmt::format("there are {:.3g} plans, more than {}", result.space, options_.exact_limit),
                   .place = "--method exact",
                   .advice = "name fewer tensors with --tensors, or use --method search"};
    }
    const ExactOptions exact{.stop = is_over_, .progress = progress_of("plans")};
    MONET_TRY(const std::vector<ExactPoint> points, price_all(*prices_, exact));
    const std::vector<std::uint16_t> choices = space_->choices();
    for (std::size_t i = 0; i < points.size(); ++i) {
      const ExactPoint& point = points[i];
      if (point.peak_bytes < 0) continue;
      ++result.evaluated;
      if (!keep_points_) continue;
      result.points.push_back(
          {letters(genome_at(choices, i)), point.cycles, point.energy_pj, point.peak_bytes, point.kept_bytes});
    }
    result.proven = !is_over_();
    MONET_TRY(const std::vector<Genome> front, exact_front(*prices_, points, goal_, measure()));
    return add_front(result, front);
  }

  std::string letters(const Genome& genome) const {
    static constexpr std::string_view names = "krp";
    std::string text;
    for (std::size_t i = 0; i < space_->candidates().size(); ++i) {
      text += names[static_cast<std::size_t>(space_->candidates()[i].choices[genome[i]].retention)];
    }
    return text;
  }

  const CheckpointOptions& options_;
  Hardware hardware_;
  OpenedStep opened_step_;
  Plan plan_;
  std::function<bool()> is_over_;
  UntilFirst first_answer_;
  MappingCache cache_;
  EvaluatorOptions how_;
  MemoryGoal goal_;
  MemoryId memory_;
  Budgets budgets_;
  std::optional<Pricer> first_;
  std::optional<MemorySpace> space_;
  std::optional<MemoryPrices> prices_;
  std::optional<Priced> as_it_is_;
  std::vector<OperatorBound> operator_bounds_;
  bool keep_points_ = false;
  std::size_t afresh_ = 0;  // plans priced to find the least, and those from storage
  std::int64_t least_in_memory_ = 0;
  std::string stored_failure_;  // why no plan from storage fits
};

}  // namespace

namespace {

Status check_word(const std::string& word, const char* option, const std::vector<std::string>& words) {
  if (std::ranges::find(words, word) != words.end()) return Done{};
  return Error{.message = fmt::format("there is no '{}' here", word),
               .place = option,
               .advice = fmt::format("use {}", fmt::join(words, ", "))};
}

}  // namespace

Expected<Checkpointing> checkpoint_network(const Network& network, const CheckpointOptions& given, bool keep_points) {
  const auto start = Clock::now();
  CheckpointOptions options = given;
  Checkpointing result{.model = network.name(),
                       .method = options.method,
                       .measure = options.measure,
                       .objective = options.function ? "own" : options.objective};
  MONET_RETURN_IF_ERROR(check_word(options.method, "--method",
                                   {"search", "exact", "milp", "nsga2", "chen", "checkmate", "capuchin", "dtr"}));
  MONET_RETURN_IF_ERROR(check_word(options.measure, "--measure", {"peak", "saved"}));
  MONET_TRY(PlanValue objective, search_objective(options.objective));
  MONET_TRY(StepOnMachine opened, open_step_on_machine(network, options.evaluate, false));
  describe(opened, result);
  if (options.function) objective = PlanValue(options.function, opened.hardware.clock_hz);
  Checkpointer checkpointer(options, std::move(opened), std::move(objective));
  MONET_TRY(result, checkpointer.run(std::move(result), keep_points));
  result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace monet
