#include "base/stop.h"
#include "base/try.h"
#include "evaluate/account/bound.h"
#include "evaluate/plan/bind_tensors.h"
#include "evaluate/plan/hash.h"
#include "evaluate/plan/writer.h"
#include "hardware/open/open.h"
#include "optimize/memory/bare.h"
#include "optimize/memory/bound.h"
#include "optimize/memory/exact.h"
#include "optimize/memory/search.h"
#include "optimize/nsga2/nsga2.h"
#include "optimize/remat/milp.h"
#include "report/budget.h"
#include "evaluate/subject/subject.h"
#include "report/units.h"

#include <monet/checkpoint.h>

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
  Checkpointer(const CheckpointOptions& options, Hardware hardware, Subject subject, Plan plan,
               SearchObjective objective)
      : options_(options),
        hardware_(std::move(hardware)),
        subject_(std::move(subject)),
        plan_(std::move(plan)),
        is_over_(stop_after(options.time_limit_s, options.stop)) {
    goal_.objective = objective;
  }

  Expected<Checkpointing> run(Checkpointing result, bool keep_points) {
    keep_points_ = keep_points;
    MONET_CHECK(prepare(result));
    MONET_CHECK(price_all_kept(result));
    if (options_.method == "exact") {
      MONET_CHECK(run_exact(result));
    } else if (options_.method == "nsga2") {
      MONET_CHECK(run_nsga2(result));
    } else if (options_.method == "milp") {
      MONET_CHECK(run_milp(result));
    } else if (options_.pareto) {
      MONET_CHECK(run_sweep(result));
    } else {
      MONET_CHECK(run_search(result));
    }
    result.evaluated = std::max(result.evaluated, prices_->known().size()) + afresh_;
    result.complete = result.complete && !is_over_();
    return result;
  }

 private:
  Status prepare(Checkpointing& result) {
    MONET_TRY(how_, evaluator_options(options_.evaluate));
    MONET_TRY(budgets_, budgets_from(options_.budgets, std::move(hardware_)));
    hardware_ = budgets_.hardware;
    memory_ = budgets_.memory;
    result.notes.insert(result.notes.end(), budgets_.notes.begin(), budgets_.notes.end());
    MONET_TRY(const std::vector<BoundTensor> settled, bind_tensors(plan_, subject_.graph, hardware_));
    first_.emplace(subject_.graph, hardware_, cache_, how_);
    StepVariant& original = first_->original();
    space_.emplace(subject_.graph, hardware_, original.evaluator.machine(), plan_, settled,
                   original.evaluator.element_bits(),
                   MemorySpaceOptions{.recompute = options_.recompute,
                                      .page = options_.page,
                                      .page_static = options_.page_static,
                                      .reorder = options_.reorder,
                                      .tensors = options_.tensors});
    if (!options_.tensors.empty() && space_->candidates().empty()) {
      return Error{.message = fmt::format("no saved tensor that can be decided about matches {}",
                                          fmt::join(options_.tensors, " or ")),
                   .place = "--tensors",
                   .advice = "`monet train MODEL --saved` lists them"};
    }
    prices_.emplace(MemoryPricesInput{.step = subject_.graph,
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
    MONET_TRY(const MemoryPrice* price, prices_->settle(kept));
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
    MONET_TRY(const MemoryPrice* price, prices_->settle(genome));
    CheckpointPlan plan;
    plan.latency_cycles = price->price.cycles;
    plan.latency_s = hardware_.clock_hz > 0 ? price->price.cycles / hardware_.clock_hz : 0;
    plan.energy_pj = price->price.energy_pj;
    plan.peak_bytes = price->peak_bytes;
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
    MemorySearch search(*prices_, search_options("plans priced"));
    MONET_TRY(const MemoryAnswer answer, search.search(goal_, start));
    if (!answer.feasible) return try_the_least(result);
    MONET_CHECK(add_plan(result, answer.genome, goal_.budget_bytes));
    result.proven = static_cast<double>(prices_->known().size()) >= result.space;
    return Done{};
  }

  Status add_plan(Checkpointing& result, const Genome& genome, std::int64_t budget) {
    MONET_TRY(const MemoryBound bound, bound_for(budget));
    MONET_TRY(CheckpointPlan plan, plan_of(genome, budget, bound));
    result.plans.push_back(std::move(plan));
    return Done{};
  }

  // Nothing fits yet. The least is searched for without what was priced for the budget: so the same search, given as
  // budget what it named, finds it again.
  Status try_the_least(Checkpointing& result) {
    MemoryPrices afresh(prices_->input());
    MONET_TRY(const Genome least, find_least(result, afresh));
    afresh_ = afresh.known().size();
    MONET_TRY(const MemoryPrice* price, prices_->settle(least));
    result.feasible = violation_of(*price, goal_) == 0;
    if (!result.feasible) return Done{};
    MONET_TRY(const MemoryAnswer answer, best_within(goal_));
    return add_plan(result, answer.genome, goal_.budget_bytes);
  }

  Expected<Genome> find_least(Checkpointing& result, MemoryPrices& prices) const {
    MemorySearch search(prices, search_options("plans priced for the least memory"));
    MemoryGoal least = goal_;
    least.least_memory = true;
    MONET_TRY(const MemoryAnswer answer, search.search(least));
    MONET_TRY(const MemoryPrice* price, prices.settle(answer.genome));
    result.least_bytes = price->peak_bytes;
    result.least_cycles = price->price.cycles;
    constexpr std::size_t most = 10;
    MONET_TRY(result.forced_by, prices.alive_at_peak(answer.genome, most));
    return answer.genome;
  }

  // From what all kept needs down to the least, each budget beginning where the one above ended.
  Status run_sweep(Checkpointing& result) {
    const std::int64_t top =
        budgets_.home ? std::min(goal_.budget_bytes, result.all_kept.peak_bytes) : result.all_kept.peak_bytes;
    MONET_TRY(const Genome least, find_least(result, *prices_));
    result.feasible = result.least_bytes <= top && result.least_cycles <= goal_.deadline_cycles;
    result.pareto_budgets = true;
    if (!result.feasible) return Done{};
    const double step = options_.pareto_step * static_cast<double>(result.all_kept.peak_bytes);
    std::vector<std::int64_t> budgets;
    for (double at = static_cast<double>(top); at > static_cast<double>(result.least_bytes); at -= step) {
      budgets.push_back(static_cast<std::int64_t>(at));
    }
    budgets.push_back(result.least_bytes);
    Genome before;
    std::size_t done = 0;
    for (std::int64_t budget : budgets) {
      MemoryGoal goal = goal_;
      goal.budget_bytes = budget;
      MemorySearchOptions how = search_options("");
      how.evaluations = std::max<std::size_t>(1, options_.evaluations / 4);
      how.seed = options_.seed + done;
      MemorySearch search(*prices_, how);
      MONET_TRY(const MemoryAnswer answer, search.search(goal, before));
      before = answer.genome;
      if (options_.progress) options_.progress("budgets", ++done, budgets.size());
    }
    return take_front(result, budgets);
  }

  // The best for each budget among all that was priced: the more memory, the better.
  Status take_front(Checkpointing& result, std::vector<std::int64_t> budgets) {
    std::ranges::sort(budgets);
    for (std::int64_t budget : budgets) {
      MemoryGoal goal = goal_;
      goal.budget_bytes = budget;
      MONET_TRY(const MemoryAnswer answer, best_within(goal));
      if (answer.feasible) MONET_CHECK(add_plan(result, answer.genome, budget));
    }
    return Done{};
  }

  Expected<MemoryAnswer> best_within(const MemoryGoal& goal) {
    MemorySearchOptions none{.evaluations = 0, .seeds = false, .prune = false, .improve = false};
    return MemorySearch(*prices_, none).search(goal);
  }

  std::vector<double> objectives_of(const Genome& genome, const Price& price, std::int64_t peak) const {
    const std::int64_t memory = options_.measure == "saved" ? space_->kept_bytes(genome) : peak;
    return {static_cast<double>(memory), price.cycles, price.energy_pj};
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
    std::optional<Error> failure;
    const auto evaluate = [&](std::span<GeneticPoint> points) {
      std::vector<Genome> genomes;
      for (const GeneticPoint& point : points) genomes.push_back(point.genome);
      const auto found = prices_->price(genomes);
      if (!found && !failure) failure = found.error();
      for (std::size_t i = 0; i < points.size(); ++i) {
        if (!found || !(*found)[i]->failure.empty()) {
          points[i].objectives.assign(3, 0);
          points[i].violation = std::numeric_limits<double>::infinity();
          continue;
        }
        points[i].objectives = objectives_of(points[i].genome, (*found)[i]->price, (*found)[i]->peak_bytes);
        points[i].violation = violation_of(*(*found)[i], goal_);
      }
    };
    const std::vector<Genome> seeds = {space_->all_kept()};
    nsga2(space_->choices(), seeds, evaluate, genetic);
    if (failure) return *failure;
    std::vector<GeneticPoint> points;
    for (const auto& [genome, price] : prices_->known()) {
      if (violation_of(price, goal_) > 0) continue;
      points.push_back({.genome = genome, .objectives = objectives_of(genome, price.price, price.peak_bytes)});
    }
    return take_points(result, std::move(points));
  }

  // The front of plans within budget and deadline. With addresses a plan may need more than the budget: it then stands
  // in no other's way.
  Status take_points(Checkpointing& result, std::vector<GeneticPoint> points) {
    std::ranges::stable_sort(points, {}, &GeneticPoint::objectives);  // dominated only by one before
    std::vector<GeneticPoint> live, packed;
    for (GeneticPoint& point : points) {
      const bool beaten = std::ranges::any_of(live, [&](const GeneticPoint& other) {
        return other.objectives == point.objectives || dominates(other.objectives, point.objectives);
      });
      if (beaten) continue;
      MONET_TRY(const MemoryPrice* price, prices_->settle(point.genome));
      if (price->peak_bytes > goal_.budget_bytes) continue;
      packed.push_back(
          {.genome = point.genome, .objectives = objectives_of(point.genome, price->price, price->peak_bytes)});
      live.push_back(std::move(point));
    }
    for (const GeneticPoint& point : front_of(std::move(packed))) {
      MONET_CHECK(add_plan(result, point.genome, goal_.budget_bytes));
    }
    if (result.plans.empty()) return try_the_least(result);
    return Done{};
  }

  // The published formulation on the step as a bare problem; what it decides is then priced like everything else.
  Status run_milp(Checkpointing& result) {
    const BareStep bare = bare_step(*as_it_is_, hardware_, *space_, memory_);
    const remat::Moves moves{.recompute = options_.recompute,
                             .page = options_.page && bare.problem.channel.has_value()};
    const std::size_t variables = remat::milp_variables(bare.problem, moves);
    if (variables > remat::milp_most_variables) {
      return Error{.message = fmt::format("the integer program would have {} variables, more than {}", variables,
                                          remat::milp_most_variables),
                   .place = "--method milp",
                   .advice = "it is for small networks; use --method search"};
    }
    remat::Goal goal{
        .budget = goal_.budget_bytes,
        .objective = goal_.objective == SearchObjective::energy ? remat::Objective::energy : remat::Objective::time,
        .transfers_take_time = false};
    if (goal_.deadline_cycles < std::numeric_limits<double>::infinity() && hardware_.clock_hz > 0) {
      goal.deadline = goal_.deadline_cycles / hardware_.clock_hz;
    }
    const remat::MilpResult solved =
        remat::solve_milp(bare.problem, goal, {.moves = moves, .time_limit_s = options_.time_limit_s});
    result.notes.push_back(fmt::format("integer program of {} variables: {}{}", variables,
                                       solved.sequence ? "solved" : "no solution",
                                       solved.proven ? ", proven in its own model" : ""));
    if (!solved.sequence) return try_the_least(result);
    const Genome decided = decisions_of(bare, *space_, *solved.sequence);
    MONET_TRY(const MemoryPrice* price, prices_->settle(decided));
    if (!price->failure.empty() || violation_of(*price, goal_) > 0) {
      result.notes.push_back(
          fmt::format("its plan needs {} and takes {} when it is carried out, which is not what was asked for; search "
                      "goes on from it",
                      byte_size(price->peak_bytes), cycles_text(price->price.cycles)));
      return run_search(result, decided);
    }
    return add_plan(result, decided, goal_.budget_bytes);
  }

  Status run_exact(Checkpointing& result) {
    const std::vector<std::uint16_t> choices = space_->choices();
    if (result.space > static_cast<double>(options_.exact_limit)) {
      return Error{.message = fmt::format("there are {:.3g} plans, more than {}", result.space, options_.exact_limit),
                   .place = "--method exact",
                   .advice = "name fewer tensors with --tensors, or use --method search"};
    }
    ExactOptions exact{.stop = is_over_};
    if (options_.progress) {
      exact.progress = [this](std::size_t done, std::size_t all) { options_.progress("plans", done, all); };
    }
    MONET_TRY(const std::vector<ExactPoint> points, price_all(*prices_, exact));
    std::vector<GeneticPoint> fitting;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const ExactPoint& point = points[i];
      if (point.peak_bytes < 0) continue;
      ++result.evaluated;
      const Genome genome = genome_at(choices, i);
      if (keep_points_) {
        result.points.push_back(
            {letters(genome), point.cycles, point.energy_pj, point.peak_bytes, space_->kept_bytes(genome)});
      }
      const Price price{.cycles = point.cycles, .energy_pj = point.energy_pj};
      const bool fits = point.peak_bytes <= goal_.budget_bytes && point.cycles <= goal_.deadline_cycles;
      if (fits) fitting.push_back({.genome = genome, .objectives = objectives_of(genome, price, point.peak_bytes)});
    }
    result.proven = static_cast<double>(points.size()) >= result.space && !is_over_();
    return take_points(result, std::move(fitting));
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
  Subject subject_;
  Plan plan_;
  std::function<bool()> is_over_;
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
  std::size_t afresh_ = 0;  // plans priced to find the least
};

}  // namespace

Expected<Checkpointing> checkpoint_network(const std::string& model, const CheckpointOptions& options,
                                           bool keep_points) {
  const auto start = Clock::now();
  Checkpointing result{
      .model = model, .method = options.method, .objective = options.objective, .measure = options.measure};
  MONET_TRY(const SearchObjective objective, search_objective(options.objective));
  MONET_TRY(Hardware hardware, open_hardware(options.evaluate.hardware, {.parameters = options.evaluate.parameters}));
  result.hardware = hardware.name;
  result.clock_hz = hardware.clock_hz;
  MONET_TRY(Plan plan, plan_of(options.evaluate));
  MONET_TRY(Subject subject, open_subject(model, options.evaluate, false));
  MONET_TRY(result.warnings, check_hashes(plan, subject.graph, hardware, options.evaluate.force));
  result.warnings.insert(result.warnings.end(), subject.warnings.begin(), subject.warnings.end());
  result.notes = subject.notes;
  Checkpointer checkpointer(options, std::move(hardware), std::move(subject), std::move(plan), objective);
  MONET_TRY(result, checkpointer.run(std::move(result), keep_points));
  result.wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

}  // namespace monet
