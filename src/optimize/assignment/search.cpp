#include "optimize/assignment/search.h"

#include "base/parallel.h"
#include "base/try.h"
#include "evaluate/account/complete_plan.h"
#include "evaluate/account/totals.h"
#include "optimize/assignment/screen.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <memory>

namespace monet::assigning {

namespace {

// Neighbours that are evaluated before one is taken: the same for any number of threads.
constexpr std::size_t batch = 8;
// Moves that are judged before the most promising of them are tried.
constexpr std::size_t screened = 128;

struct Score {
  double violation = std::numeric_limits<double>::infinity();
  double value = std::numeric_limits<double>::infinity();
  // Better by more than what rounding makes.
  bool operator<(const Score& other) const {
    if (violation != other.violation) return violation < other.violation;
    return value < other.value - 1e-9 * std::abs(other.value);
  }
};

struct Outcome {
  bool possible = false;
  std::optional<Error> defect;
  Price price;
  Score score;
  Weights weights;  // where it is asked for
};

// Time of cores, by node: until a tile ends since the one before it on its core did, as a share of the cores of the
// kind.
Weights weights_of(const Graph& graph, Evaluator& classes, const Evaluated& evaluated) {
  const RoutedMachine& machine = classes.machine();
  Weights weights(graph.nodes().size(), 0);
  std::vector<std::uint32_t> order(evaluated.tiles.tiles());
  for (std::size_t t = 0; t < order.size(); ++t) order[t] = static_cast<std::uint32_t>(t);
  const std::vector<ScheduledTile>& tiles = evaluated.schedule.tiles;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t t) { return tiles[t].end; });
  std::vector<double> free(machine.hardware().cores.size(), 0);
  for (std::uint32_t t : order) {
    const CoreId core = tiles[t].core;
    const auto cores = static_cast<double>(machine.cores_of_kind(machine[core].kind).size());
    weights[evaluated.tiles.node[t].index()] += (tiles[t].end - free[core.index()]) / cores;
    free[core.index()] = tiles[t].end;
  }
  // What a tensor is moved from and to home, shared by those that it passes between.
  std::vector<double> moved(graph.tensors().size(), 0);
  for (const ScheduledTransfer& transfer : evaluated.schedule.transfers) {
    if (transfer.joined || transfer.kind == TransferKind::core_to_core) continue;
    const double width = evaluated.schedule.routes[transfer.route].bits_per_cycle;
    moved[evaluated.tiles.buffers[transfer.buffer.index()].tensor.index()] +=
        8.0 * static_cast<double>(transfer.bytes) / width;
  }
  std::vector<double> readers(graph.tensors().size(), 0);
  const auto each_read = [&](const auto& visit) {
    for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
      for (std::size_t i = 0; i < graph.nodes()[n].inputs.size(); ++i) {
        if (!graph.nodes()[n].inputs[i].valid() || classes.dependencies().is_view(NodeId(n))) continue;
        for (TensorId tensor : classes.classes().stored(NodeId(n), i)) visit(n, tensor.index());
      }
    }
  };
  each_read([&](std::size_t, std::size_t tensor) { readers[tensor] += 1; });
  each_read([&](std::size_t n, std::size_t tensor) { weights[n] += moved[tensor] / readers[tensor]; });
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (TensorId output : graph.nodes()[n].outputs) {
      if (output.valid()) weights[n] += moved[output.index()] / 2;
    }
  }
  return weights;
}

class Searching {
 public:
  Searching(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
            std::span<const BoundTensor> tensors, const SearchOptions& options)
      : step_(step), hardware_(hardware), tensors_(tensors), options_(options) {
    EvaluatorOptions alone = how;
    const std::size_t workers = std::min(threads_for(options.jobs), batch);
    alone.jobs = 1;
    alone.progress = nullptr;
    alone.cost.store = nullptr;  // is for one thread
    // What takes longer than there is time is given up; the answer is not.
    alone.stop = [this, asked = how.stop] {
      return (searching_ && options_.stop && options_.stop()) || (asked && asked());
    };
    for (std::size_t i = 0; i < workers; ++i) {
      pricers_.push_back(std::make_unique<Pricer>(step, hardware, cache, alone));
    }
  }

  Expected<Found> run(std::span<const Plan> starts) {
    MONET_RETURN_IF_ERROR(begin(starts));
    moves_.emplace(*steps_[0]->graph, steps_[0]->evaluator, options_.moves);
    for (RewrittenEvaluator* step : steps_) {
      screens_.push_back(std::make_unique<Screen>(*step->graph, step->evaluator, options_.objective.of_parts()));
    }
    most_tiles_ = 10000 + 3 * moves_->tiles(*now_);
    searching_ = true;
    if (options_.moves.order) open();
    const bool at_end = climb();
    searching_ = false;
    Found found{.evaluated = evaluated_, .complete = at_end};
    if (defect_) return *defect_;
    found.best = found_plan(*now_, price_);
    for (const Kept& kept : kept_) {
      if (kept.state != now_) found.others.push_back(found_plan(*kept.state, kept.price));
    }
    return found;
  }

 private:
  struct Kept {
    std::shared_ptr<const State> state;
    std::array<double, 3> objectives{};
    Price price;
  };
  using StatePtr = std::shared_ptr<const State>;

  bool is_over() const { return evaluated_ >= options_.evaluations || (options_.stop && options_.stop()) || defect_; }

  Status begin(std::span<const Plan> starts) {
    for (auto& pricer : pricers_) {
      MONET_TRY(RewrittenEvaluator* const step, pricer->rewritten(tensors_));
      steps_.push_back(step);
    }
    paged_ = Pricer::paged(*steps_[0], tensors_);
    std::optional<Error> failure;
    for (const Plan& plan : starts) {
      const auto priced = pricers_[0]->price(plan, tensors_);
      ++evaluated_;
      if (!priced) {
        if (!failure) failure = priced.error();
        continue;
      }
      const Score score = score_of(priced->price);
      if (now_ && !(score < score_)) continue;
      State state = state_of(priced->evaluated.assignment);
      now_ = std::make_shared<const State>(std::move(state));
      score_ = score;
      price_ = priced->price;
      plan_ = plan;
      weights_ = weights_of(*steps_[0]->graph, steps_[0]->evaluator, priced->evaluated);
    }
    if (!now_) return *failure;
    return Done{};
  }

  std::int64_t peak_of(const Price& price) const {
    return options_.memory.valid() ? price.peak_bytes[options_.memory.index()] : 0;
  }

  Score score_of(const Price& price) const {
    const std::int64_t peak = peak_of(price);
    Score score{.violation = 0, .value = options_.objective(price, peak)};
    if (peak > options_.budget_bytes) {
      score.violation +=
          static_cast<double>(peak) / static_cast<double>(std::max<std::int64_t>(1, options_.budget_bytes)) - 1;
    }
    if (price.cycles > options_.deadline_cycles) score.violation += price.cycles / options_.deadline_cycles - 1;
    if (options_.objective.forbids(price, peak)) score.violation = std::numeric_limits<double>::infinity();
    return score;
  }

  std::vector<Outcome> evaluate(std::span<const StatePtr> states) {
    std::vector<Outcome> outcomes(states.size());
    std::atomic<std::size_t> next = 0;
    for_each_index(std::min(steps_.size(), states.size()), steps_.size(), [&](std::size_t worker) {
      for (std::size_t i = next++; i < states.size(); i = next++) outcomes[i] = evaluate(*steps_[worker], *states[i]);
    });
    // A function of the user's is asked by one thread.
    for (std::size_t i = 0; i < states.size(); ++i) {
      Outcome& outcome = outcomes[i];
      if (outcome.defect && !defect_) defect_ = outcome.defect;
      if (!outcome.possible) continue;
      outcome.score = score_of(outcome.price);
      keep(states[i], outcome.price);
    }
    evaluated_ += states.size();
    return outcomes;
  }

  Outcome evaluate(RewrittenEvaluator& step, const State& state) const {
    Outcome outcome;
    const auto evaluated =
        step.evaluator.evaluate(request_of(state, *step.graph, step.evaluator.dependencies(), paged_));
    if (!evaluated) {
      if (evaluated.error().kind == ErrorKind::defect) outcome.defect = evaluated.error();
      return outcome;
    }
    outcome.possible = true;
    const Totals sums = totals(hardware_, evaluated->schedule);
    outcome.price = {.cycles = sums.cycles, .energy_pj = sums.energy_pj, .peak_bytes = sums.live_peak_bytes};
    outcome.weights = weights_of(*step.graph, step.evaluator, *evaluated);
    return outcome;
  }

  // None of those that are kept is better in all.
  void keep(const StatePtr& state, const Price& price) {
    constexpr std::size_t most = 64;
    const std::array<double, 3> objectives = {price.cycles, price.energy_pj, static_cast<double>(peak_of(price))};
    for (const Kept& kept : kept_) {
      if (kept.objectives == objectives || dominates(kept.objectives, objectives)) return;
    }
    std::erase_if(kept_, [&](const Kept& kept) { return dominates(objectives, kept.objectives); });
    if (kept_.size() < most) kept_.push_back({state, objectives, price});
  }

  // Other orders than that of the start; updates of weights as soon as there is a gradient, or as they come.
  void open() {
    std::vector<StatePtr> states;
    for (const Sequence sequence : {Sequence::graph, Sequence::longest, Sequence::latest}) {
      for (const Turn updates : {Turn::early, Turn::usual}) {
        State state = *now_;
        state.order = PlanOrder::critical_path;
        state.sequence = sequence;
        for (std::size_t n = 0; n < state.turns.size(); ++n) {
          if (steps_[0]->graph->nodes()[n].phase == Phase::optimizer) state.turns[n] = updates;
        }
        if (state != *now_) states.push_back(std::make_shared<const State>(std::move(state)));
      }
    }
    if (!is_over()) try_states(states);
  }

  void try_states(const std::vector<StatePtr>& states) {
    const std::vector<Outcome> outcomes = evaluate(states);
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (outcomes[i].possible && outcomes[i].score < score_) accept(states[i], outcomes[i]);
    }
  }

  // Whether it ends because no move makes it better.
  bool climb() {
    constexpr int rounds = 6;
    for (int round = 0; !is_over();) {
      if (try_all(round % 2 == 1, round < 4, round < 2)) {
        round = 0;
      } else if (++round == rounds) {
        return true;
      }
    }
    return false;
  }

  // All moves of equal operators together or of single ones, that promise something or the others; whether one was
  // taken. Hasty: of those that are judged together the rest are passed over when some in a row were no better.
  bool try_all(bool single, bool promising, bool hasty) {
    const std::vector<AssignmentMove> moves = moves_->of(*now_, weights_, single);
    bool better = false;
    for (std::size_t first = 0; first < moves.size() && !is_over(); first += screened) {
      const std::size_t count = std::min(screened, moves.size() - first);
      better |= try_some(chosen(std::span(moves).subspan(first, count), promising), hasty);
    }
    return better;
  }

  bool try_some(const std::vector<AssignmentMove>& moves, bool hasty) {
    constexpr int patience = 2;  // batches
    bool better = false;
    int in_vain = 0;
    std::vector<StatePtr> states;
    std::vector<std::size_t> of;  // moves
    for (std::size_t i = 0; i < moves.size() && !is_over();) {
      states.clear();
      of.clear();
      for (; i < moves.size() && states.size() < batch; ++i) {
        auto next = moves_->moved(*now_, moves[i]);
        if (next && moves_->tiles(*next) <= most_tiles_) {
          states.push_back(std::make_shared<const State>(*std::move(next)));
          of.push_back(i);
        }
      }
      if (states.empty()) break;
      const bool taken = take(moves, states, of);
      better |= taken;
      in_vain = taken ? 0 : in_vain + 1;
      if (hasty && in_vain == patience) break;
    }
    return better;
  }

  // Those that promise to be worth it, the most first, in turns with those that cannot be judged before; or the others.
  std::vector<AssignmentMove> chosen(std::span<const AssignmentMove> moves, bool promising) {
    std::vector<double> gains(moves.size(), 0);
    std::atomic<std::size_t> next = 0;
    for_each_index(screens_.size(), screens_.size(), [&](std::size_t worker) {
      for (std::size_t i = next++; i < moves.size(); i = next++) {
        if (options_.stop && options_.stop()) break;
        gains[i] = screens_[worker]->gain(*moves_, *now_, moves[i]);
      }
    });
    std::vector<std::pair<double, std::size_t>> judged;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (moves[i].kind == MoveKind::turn || moves[i].kind == MoveKind::sequence) {
        if (promising) open.push_back(i);
      } else if ((gains[i] > 0) == promising && std::isfinite(gains[i])) {
        judged.emplace_back(-gains[i], i);
      }
    }
    std::ranges::stable_sort(judged, {}, [](const auto& each) { return each.first; });
    std::vector<AssignmentMove> result;
    for (std::size_t i = 0; i < std::max(judged.size(), open.size()); ++i) {
      if (i < open.size()) result.push_back(moves[open[i]]);
      if (i < judged.size()) result.push_back(moves[judged[i].second]);
    }
    return result;
  }

  // The best of them, and what others of them add to it.
  bool take(const std::vector<AssignmentMove>& moves, std::vector<StatePtr>& states,
            const std::vector<std::size_t>& of) {
    const std::vector<Outcome> outcomes = evaluate(states);
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!outcomes[i].possible || !(outcomes[i].score < score_)) continue;
      good.push_back(i);
    }
    if (options_.progress) options_.progress(evaluated_, score_.value);
    if (good.empty()) return false;
    std::ranges::stable_sort(good, [&](std::size_t a, std::size_t b) { return outcomes[a].score < outcomes[b].score; });
    accept(states[good.front()], outcomes[good.front()]);
    // One after the other on top of it.
    std::vector<StatePtr> together;
    StatePtr last = now_;
    for (std::size_t i = 1; i < good.size(); ++i) {
      auto next = moves_->moved(*last, moves[of[good[i]]]);
      if (!next) continue;
      last = std::make_shared<const State>(*std::move(next));
      together.push_back(last);
    }
    if (together.empty() || is_over()) return true;
    const std::vector<Outcome> more = evaluate(together);
    std::size_t best = together.size();
    for (std::size_t i = 0; i < together.size(); ++i) {
      if (more[i].possible && more[i].score < (best == together.size() ? score_ : more[best].score)) best = i;
    }
    if (best < together.size()) accept(together[best], more[best]);
    return true;
  }

  void accept(const StatePtr& state, const Outcome& outcome) {
    now_ = state;
    score_ = outcome.score;
    price_ = outcome.price;
    weights_ = outcome.weights;
  }

  // A state says everything: its plan can be told without evaluating it again.
  FoundPlan found_plan(const State& state, const Price& price) const {
    const RewrittenEvaluator& step = *steps_[0];
    const PlanRequest request = request_of(state, *step.graph, step.evaluator.dependencies(), paged_);
    Assignment assignment{.operators = state.operators};
    for (std::size_t n = 0; n < assignment.operators.size(); ++n) {
      assignment.operators[n].priority = request.plan.operators[n].priority.value_or(0);
    }
    for (const BoundStack& stack : request.plan.stacks) assignment.stacks.push_back(stack.nodes);
    Plan plan = plan_;
    plan.order = state.order;
    plan.transfers = state.transfers;
    const ScheduledStep carried_out{*step.graph, hardware_, assignment, {}, {}};
    return {.plan = complete_plan_of(carried_out, plan, step_), .price = price};
  }

  const Graph& step_;
  const Hardware& hardware_;
  std::span<const BoundTensor> tensors_;
  const SearchOptions& options_;
  std::vector<std::unique_ptr<Pricer>> pricers_;  // one a thread
  std::vector<RewrittenEvaluator*> steps_;
  std::vector<MemoryId> paged_;
  std::optional<Moves> moves_;
  std::vector<std::unique_ptr<Screen>> screens_;  // one a thread
  Plan plan_;
  StatePtr now_;
  Score score_;
  Price price_;
  Weights weights_;
  std::vector<Kept> kept_;
  std::optional<Error> defect_;
  std::atomic<bool> searching_ = false;  // else beginning or ending, which must come to an end
  std::int64_t most_tiles_ = 0;          // of a step
  std::size_t evaluated_ = 0;
};

}  // namespace

Expected<Found> search(const Graph& step, const Hardware& hardware, MappingCache& cache, const EvaluatorOptions& how,
                       std::span<const Plan> starts, std::span<const BoundTensor> tensors,
                       const SearchOptions& options) {
  return Searching(step, hardware, cache, how, tensors, options).run(starts);
}

}  // namespace monet::assigning
