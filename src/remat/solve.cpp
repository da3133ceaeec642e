#include "remat/solve.h"

#include "remat/bound.h"
#include "remat/milp.h"
#include "remat/prune.h"

#include <algorithm>
#include <chrono>

namespace monet::remat {

namespace {

using Clock = std::chrono::steady_clock;

class Solver {
 public:
  Solver(const Problem& problem, const Goal& goal, const SolveOptions& options)
      : problem_(problem), goal_(goal), options_(options), start_(Clock::now()) {}

  Solution run() {
    const bool fits = structural_minimum(problem_).bytes <= goal_.budget;
    if (fits) {
      if (options_.method == Method::milp)
        by_program();
      else
        by_search();
      if (options_.moves.reorder) in_any_order();
    } else {
      solution_.bound = std::numeric_limits<double>::infinity();
      solution_.proven = true;
    }
    if (!solution_.given && !solution_.reordered && !solution_.shortest_time) find_what_would_do();
    return std::move(solution_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stop stop_after(double seconds) const {
    return [this, seconds] { return options_.stop() || elapsed() >= seconds; };
  }

  SearchOptions search_options(bool reorder, double until) const {
    SearchOptions options{.moves = options_.moves, .seed = options_.seed, .jobs = options_.jobs};
    options.moves.reorder = reorder;
    options.enough = solution_.bound.value_or(base_price());
    options.stop = stop_after(until);
    options.progress = options_.progress;
    return options;
  }

  double base_price() const {
    return goal_.objective == Objective::time ? base_time(problem_) : base_energy_j(problem_);
  }

  Answer answer_of(Sequence sequence, bool given_order) const {
    Profile profile(problem_);
    profile.evaluate(sequence);
    drop_unused(sequence, profile, false);
    Answer answer;
    Measure measure(problem_, goal_);
    answer.value = measure.value_of(sequence, profile);
    if (!answer.value.feasible()) return answer;
    if (problem_.channel && !measure.needs_timing(sequence)) prefetch(sequence, profile, problem_, goal_.budget);
    Timing(problem_).end_time(sequence, profile, goal_.budget, &answer.schedule);
    answer.checked = check_schedule(problem_, answer.schedule, {goal_.budget, given_order});
    return answer;
  }

  void take(const Sequence& sequence) {
    Answer answer = answer_of(sequence, true);
    if (!answer.value.feasible()) return;
    if (solution_.given && solution_.given->value <= answer.value) return;
    sequence_ = sequence;
    solution_.given = std::move(answer);
  }

  // A short search, a bound that can prove it the best; else a long search, and the bound again if there was something
  // better.
  void by_search() {
    constexpr std::size_t short_patience = 2;
    const double limit = options_.time_limit_s;
    search_for(short_patience, options_.bound ? 0.2 * limit : limit);
    if (options_.bound) find_bound(0.5 * limit);
    if (!solution_.proven && options_.moves.improve) {
      const std::optional<double> before = price();
      search_for(SearchOptions().patience, limit);
      if (options_.bound && price() != before) find_bound(limit);
    }
    judge();
  }

  std::optional<double> price() const {
    return solution_.given ? std::optional(solution_.given->value.price) : std::nullopt;
  }

  void search_for(std::size_t patience, double until) {
    SearchOptions options = search_options(false, until);
    options.patience = patience;
    std::vector<Sequence> starts = starts_;
    starts.push_back(sequence_.empty() ? first_runs(problem_) : sequence_);
    if (!unfinished_.empty()) starts.back() = std::move(unfinished_);
    const SearchResult result = search(problem_, goal_, starts, options);
    solution_.out_of_time = result.stopped;
    if (result.value.feasible())
      take(result.sequence);
    else
      unfinished_ = result.sequence;
    if (result.value.excess == 0) note_time(result);
  }

  void note_time(const SearchResult& result) {
    if (goal_.deadline && result.value.late > 0) solution_.shortest_time = *goal_.deadline + result.value.late;
  }

  void find_bound(double until) {
    const double left = std::min(until, options_.time_limit_s) - elapsed();
    if (left <= 0) return;
    Bound found = lower_bound(problem_, goal_,
                              {.moves = options_.moves,
                               .known = price().value_or(std::numeric_limits<double>::infinity()),
                               .time_limit_s = left,
                               .stop = options_.stop});
    solution_.bound = std::max(found.price, solution_.bound.value_or(0));
    if (found.sequence) take(*found.sequence);
    starts_ = std::move(found.starts);
    judge();
  }

  void judge() {
    if (!solution_.bound) solution_.bound = base_price();
    solution_.proven = solution_.given ? solution_.given->value.price <= *solution_.bound * (1 + equal_prices)
                                       : *solution_.bound == std::numeric_limits<double>::infinity();
  }

  void by_program() {
    const MilpResult result = solve_milp(
        problem_, goal_, {.moves = options_.moves, .time_limit_s = options_.time_limit_s, .stop = options_.stop});
    if (result.sequence) take(*result.sequence);
    solution_.out_of_time = !result.proven && result.bound < std::numeric_limits<double>::infinity();
    // Its model is narrower than sequences are: what it proves about others is its own.
    solution_.bound = result.bound;
    judge();
  }

  void in_any_order() {
    const double until = elapsed() + options_.time_limit_s;
    SearchOptions options = search_options(true, until);
    options.enough = base_price();
    const Sequence start = sequence_.empty() ? first_runs(problem_) : sequence_;
    const SearchResult result = search(problem_, goal_, std::span(&start, 1), options);
    if (!result.value.feasible()) return;
    Answer answer = answer_of(result.sequence, false);
    if (!answer.value.feasible()) return;
    solution_.reordered = std::move(answer);
    solution_.reordered_proven = solution_.reordered->value.price <= base_price() * (1 + equal_prices);
  }

  // Halves the range between a budget that does and one that did not; both ends are tried with little patience.
  void find_what_would_do() {
    Goal goal = goal_;
    goal.deadline.reset();
    std::int64_t works = base_peak_bytes(problem_), fails = goal_.budget;
    if (fails >= works) return;
    const StructuralMinimum minimum = structural_minimum(problem_);
    fails = std::max(fails, minimum.bytes - 1);
    constexpr int halvings = 12;
    for (int i = 0; i < halvings && works - fails > 1 && !options_.stop(); ++i) {
      goal.budget = i == 0 ? fails + 1 : fails + (works - fails) / 2;
      SearchOptions options = search_options(options_.moves.reorder, elapsed() + options_.time_limit_s / halvings);
      options.patience = 2;
      options.progress = nullptr;
      options.enough = std::numeric_limits<double>::max();
      const Sequence start = first_runs(problem_);
      const bool found = search(problem_, goal, std::span(&start, 1), options).value.feasible();
      (found ? works : fails) = goal.budget;
    }
    solution_.smallest_budget = works;
  }

  const Problem& problem_;
  const Goal& goal_;
  const SolveOptions& options_;
  Clock::time_point start_;
  Sequence sequence_;             // of solution_.given
  Sequence unfinished_;           // over the budget or too late, to go on from
  std::vector<Sequence> starts_;  // from the bound
  Solution solution_;
};

}  // namespace

Solution solve(const Problem& problem, const Goal& goal, const SolveOptions& options) {
  return Solver(problem, goal, options).run();
}

}  // namespace monet::remat
