#include "optimize/fusion/improve.h"

#include "base/parallel.h"
#include "base/try.h"
#include "evaluate/account/totals.h"
#include "optimize/fusion/moves.h"

#include <algorithm>
#include <atomic>
#include <memory>

namespace monet::fusion {

namespace {

// Neighbours that are evaluated before one is taken: the same for any number of threads.
constexpr std::size_t batch = 8;

class Improving {
 public:
  Improving(const Step& step, MappingCache& cache, const ImproveOptions& options)
      : step_(step), options_(options), table_(step.candidates.sets) {
    EvaluatorOptions evaluator = options.evaluator;
    const std::size_t workers = std::min(threads_for(evaluator.jobs), batch);
    evaluator.jobs = 1;
    evaluator.progress = nullptr;
    evaluator.cost.store = nullptr;  // is for one thread
    for (std::size_t i = 0; i < workers; ++i)
      evaluators_.push_back(std::make_unique<Evaluator>(step.graph, step.hardware, cache, evaluator));
  }

  Expected<Improved> run(std::span<const Stacks> starts) {
    std::vector<Stacks> all(starts.begin(), starts.end());
    const std::vector<Outcome> outcomes = evaluate(all);
    std::size_t best = outcomes.size();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (outcomes[i].error) continue;
      if (best == outcomes.size() || value(outcomes[i].cost) < value(outcomes[best].cost)) best = i;
    }
    if (best == outcomes.size()) return *outcomes.front().error;
    now_ = {.stacks = all[best], .cost = outcomes[best].cost, .evaluated = 0};
    while (round()) {
    }
    now_.evaluated = evaluated_;
    return std::move(now_);
  }

 private:
  struct Outcome {
    StepCost cost;
    std::optional<Error> error;
  };

  double value(const StepCost& cost) const {
    return options_.value ? options_.value(cost) : value_of(cost.cost, options_.objective);
  }
  bool finished() const { return tiles_ >= options_.tile_budget || (options_.stop && options_.stop()); }

  // All moves once; whether one was taken.
  bool round() {
    if (finished()) return false;
    const std::vector<Move> moves = moves_of(step_, table_, now_.stacks, options_.objective, options_.sets);
    bool better = false;
    std::vector<Stacks> tried;
    for (std::size_t i = 0; i < moves.size() && !finished();) {
      tried.clear();
      for (; i < moves.size() && tried.size() < batch; ++i) {
        if (auto next = moved(step_, now_.stacks, moves[i])) tried.push_back(*std::move(next));
      }
      better |= take_best(tried);
    }
    return better;
  }

  bool take_best(const std::vector<Stacks>& tried) {
    const std::vector<Outcome> outcomes = evaluate(tried);
    std::size_t best = tried.size();
    const double now = value(now_.cost);
    double least = std::min(now * (1 - 1e-9), now * (1 + 1e-9));
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (outcomes[i].error || value(outcomes[i].cost) >= least) continue;
      best = i;
      least = value(outcomes[i].cost);
    }
    if (options_.progress) options_.progress(evaluated_, std::min(least, value(now_.cost)));
    if (best == tried.size()) return false;
    now_.stacks = tried[best];
    now_.cost = outcomes[best].cost;
    return true;
  }

  std::vector<Outcome> evaluate(const std::vector<Stacks>& all) {
    std::vector<Outcome> outcomes(all.size());
    std::atomic<std::size_t> next = 0;
    for_each_index(std::min(evaluators_.size(), all.size()), evaluators_.size(), [&](std::size_t worker) {
      for (std::size_t i = next++; i < all.size(); i = next++) outcomes[i] = evaluate(*evaluators_[worker], all[i]);
    });
    for (const Outcome& outcome : outcomes) tiles_ += outcome.error ? now_.cost.tiles : outcome.cost.tiles;
    evaluated_ += all.size();
    return outcomes;
  }

  Outcome evaluate(Evaluator& evaluator, const Stacks& stacks) const {
    const auto evaluated = evaluator.evaluate(request_of(step_, stacks));
    if (!evaluated) return {.cost = {}, .error = evaluated.error()};
    const Totals sums = totals(step_.hardware, evaluated->schedule);
    return {.cost = {{sums.cycles, sums.energy_pj}, evaluated->tiles.tiles(), sums.live_peak_bytes},
            .error = std::nullopt};
  }

  const Step& step_;
  const ImproveOptions& options_;
  SetTable table_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;
  Improved now_;
  std::size_t tiles_ = 0, evaluated_ = 0;
};

}  // namespace

PlanRequest request_of(const Step& step, const Stacks& stacks) {
  PlanRequest request = step.base;
  for (const Stack& stack : stacks) {
    const std::vector<NodeId> nodes = nodes_of(step.graph, step.problem, step.candidates.sets[stack.set]);
    const auto& ways = step.prices.of(stack.set).ways;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      BoundOperator& bound = request.plan.operators[nodes[i].index()];
      if (nodes.size() > 1) bound.stack = static_cast<std::uint32_t>(request.plan.stacks.size());
      if (stack.way == no_way || bound.tile_stated || bound.split_stated) continue;
      for (const LoopSize& tile : ways[stack.way].tiles[i]) {
        bound.cuts.push_back({.loop = tile.loop, .pieces = 1, .tile = tile.size});
        bound.tile_stated = true;
      }
    }
    if (nodes.size() > 1) request.plan.stacks.push_back({.name = {}, .nodes = nodes});
  }
  return request;
}

Expected<Improved> improve(const Step& step, MappingCache& cache, std::span<const Stacks> starts,
                           const ImproveOptions& options) {
  return Improving(step, cache, options).run(starts);
}

}  // namespace monet::fusion
