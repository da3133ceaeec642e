#include "optimize/memory/search.h"

#include "base/try.h"
#include "optimize/memory/exact.h"
#include "optimize/memory/seeds.h"

#include <algorithm>
#include <cmath>

namespace monet {

namespace {

// Plans that are priced together.
constexpr std::size_t batch = 16;

}  // namespace

double violation_of(const MemoryPrice& price, const MemoryGoal& goal) {
  if (!price.failure.empty()) return std::numeric_limits<double>::infinity();
  double violation = 0;
  if (price.peak_bytes > goal.budget_bytes) {
    const auto budget = static_cast<double>(std::max<std::int64_t>(1, goal.budget_bytes));
    violation += static_cast<double>(price.peak_bytes - goal.budget_bytes) / budget;
    // Several moments may be as high: what lowers one of them is better, too.
    double area = 0;
    for (std::size_t i = 0; i + 1 < price.profile.size(); ++i) {
      const MemoryMoment& moment = price.profile[i];
      if (moment.bytes > goal.budget_bytes) {
        area += static_cast<double>(moment.bytes - goal.budget_bytes) / budget * (price.profile[i + 1].at - moment.at);
      }
    }
    if (price.price.cycles > 0) violation += area / price.price.cycles;
  }
  if (price.price.cycles > goal.deadline_cycles) violation += price.price.cycles / goal.deadline_cycles - 1;
  if (goal.objective.forbids(price.price, price.peak_bytes)) return std::numeric_limits<double>::infinity();
  return violation;
}

MemorySearch::MemorySearch(MemoryPrices& prices, const MemorySearchOptions& options)
    : prices_(prices), options_(options), random_(options.seed) {}

bool MemorySearch::is_over() const { return prices_.known().size() >= limit_ || (options_.stop && options_.stop()); }

MemorySearch::Score MemorySearch::score(const MemoryPrice& price) const {
  if (!price.failure.empty()) return {};
  if (goal_.least_memory) {
    const MemoryGoal in_time{.deadline_cycles = goal_.deadline_cycles};
    return {.violation = violation_of(price, in_time), .value = static_cast<double>(price.peak_bytes)};
  }
  return {.violation = violation_of(price, goal_), .value = goal_.objective(price.price, price.peak_bytes)};
}

// With addresses: until the best stays the best.
Expected<MemorySearch::Incumbent> MemorySearch::best_known() {
  for (;;) {
    Incumbent best;
    for (const auto& [genome, price] : prices_.known()) {
      const Score own = score(price);
      if (best.genome.empty() || own < best.score) best = {genome, own};
    }
    if (best.genome.empty()) return best;
    MONET_TRY(const MemoryPrice* exact, prices_.price_exactly(best.genome));
    const Score now = score(*exact);
    if (!(best.score < now)) return Incumbent{best.genome, now};
  }
}

std::vector<Genome> MemorySearch::relieving(const Incumbent& at) const {
  const MemoryPrice& price = prices_.known().at(at.genome);
  std::vector<Genome> moves;
  for (std::uint32_t candidate : price.at_peak) {
    const auto& choices = prices_.input().space.candidates()[candidate].choices;
    const auto count = static_cast<std::uint16_t>(choices.size());
    for (std::uint16_t choice = 0; choice < count; ++choice) {
      if (choice == at.genome[candidate]) continue;
      moves.push_back(at.genome);
      moves.back()[candidate] = choice;
    }
  }
  const auto orders = static_cast<std::uint16_t>(prices_.input().space.orders().size());
  for (std::uint16_t order = 0; order < orders; ++order) {
    if (order == at.genome.back()) continue;
    moves.push_back(at.genome);
    moves.back().back() = order;
  }
  return moves;
}

// Goes to the best of the moves if that is better.
Expected<bool> MemorySearch::step(Incumbent& at, std::span<const Genome> moves) {
  MONET_TRY(const auto found, prices_.price(moves));
  Incumbent best = at;
  double best_rate = 0;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Score own = score(*found[i]);
    if (!(own < at.score)) continue;
    // Still too much: what is gained for what it costs.
    const double gain = at.score.violation - own.violation;
    const double more = own.value - at.score.value;
    const double cost = std::isfinite(more) ? std::max(more, 1e-9 * std::abs(at.score.value)) : 1;
    const double rate = own.violation > 0 ? gain / cost : std::numeric_limits<double>::infinity();
    const bool better = own.violation > 0 ? rate > best_rate : own < best.score || best.score.violation > 0;
    if (!better) continue;
    best = {moves[i], own};
    best_rate = rate;
  }
  const bool moved = best.genome != at.genome;
  at = std::move(best);
  return moved;
}

Status MemorySearch::descend(Incumbent& at) {
  while ((at.score.violation > 0 || goal_.least_memory) && !is_over()) {
    const std::vector<Genome> moves = relieving(at);
    bool moved = false;
    for (std::size_t first = 0; first < moves.size() && !moved && !is_over(); first += batch) {
      MONET_TRY(moved, step(at, std::span(moves).subspan(first, std::min(batch, moves.size() - first))));
    }
    if (!moved) return Done{};
  }
  return Done{};
}

Status MemorySearch::prune(Incumbent& at) {
  bool moved = true;
  while (moved && !is_over()) {
    std::vector<Genome> moves;
    for (std::size_t i = 0; i < at.genome.size(); ++i) {
      if (at.genome[i] == 0) continue;
      moves.push_back(at.genome);
      moves.back()[i] = 0;
    }
    moved = false;
    for (std::size_t first = 0; first < moves.size() && !moved && !is_over(); first += batch) {
      MONET_TRY(moved, step(at, std::span(moves).subspan(first, std::min(batch, moves.size() - first))));
    }
  }
  return Done{};
}

Genome MemorySearch::partly_undone(const Genome& genome) {
  Genome result = genome;
  const std::size_t count = genome.size() - 1;
  if (count == 0) return result;
  const std::size_t width = 1 + random_.below(std::max<std::size_t>(1, count / 3));
  const std::size_t first = random_.below(count);
  const bool others = random_.with(0.5);
  for (std::size_t i = first; i < std::min(count, first + width); ++i) {
    const std::size_t choices = prices_.input().space.candidates()[i].choices.size();
    result[i] = static_cast<std::uint16_t>(others ? random_.below(choices) : 0);
  }
  return result;
}

Status MemorySearch::improve(Incumbent& at) {
  constexpr std::size_t patience = 20;  // rounds in which nothing new comes up
  std::size_t idle = 0;
  while (!is_over() && idle < patience) {
    std::vector<Genome> moves;
    for (std::size_t i = 0; i < batch; ++i) moves.push_back(partly_undone(at.genome));
    const std::size_t before = prices_.known().size();
    MONET_TRY(const auto found, prices_.price(moves));
    // The most promising of them is followed.
    std::size_t best = 0;
    for (std::size_t i = 1; i < moves.size(); ++i) {
      if (score(*found[i]) < score(*found[best])) best = i;
    }
    Incumbent next{moves[best], score(*found[best])};
    MONET_RETURN_IF_ERROR(descend(next));
    if (options_.prune && next.score.violation == 0) MONET_RETURN_IF_ERROR(prune(next));
    if (next.score < at.score) at = std::move(next);
    if (options_.progress) options_.progress(prices_.known().size(), at.score.value);
    idle = prices_.known().size() == before ? idle + 1 : 0;
  }
  return Done{};
}

Status MemorySearch::price_all_of_few() {
  const std::vector<std::uint16_t> choices = prices_.input().space.choices();
  const double plans = plans_in(choices);
  if (plans > static_cast<double>(options_.evaluations)) return Done{};
  const auto count = static_cast<std::size_t>(plans);
  for (std::size_t first = 0; first < count && !is_over(); first += batch) {
    std::vector<Genome> some;
    for (std::size_t i = first; i < std::min(count, first + batch); ++i) some.push_back(genome_at(choices, i));
    MONET_RETURN_IF_ERROR(prices_.price(some));
  }
  return Done{};
}

Expected<MemoryAnswer> MemorySearch::search(const MemoryGoal& goal, const Genome& start) {
  goal_ = goal;
  const MemorySpace& space = prices_.input().space;
  limit_ = prices_.known().size() + options_.evaluations;
  std::vector<Genome> begin = {start.empty() ? space.all_kept() : start};
  if (options_.seeds) {
    // Some of them, evenly, where fewer plans may be priced than there are.
    std::vector<Genome> seeds = memory_seeds(prices_.input().step, space);
    const std::size_t every = 1 + seeds.size() / std::max<std::size_t>(1, options_.evaluations);
    for (std::size_t i = 0; i < seeds.size(); i += every) begin.push_back(std::move(seeds[i]));
  }
  MONET_TRY(const auto first, prices_.price(begin));
  MONET_TRY(Incumbent at, best_known());
  MONET_RETURN_IF_ERROR(descend(at));
  if (options_.prune && at.score.violation == 0) MONET_RETURN_IF_ERROR(prune(at));
  if (options_.improve) {
    MONET_RETURN_IF_ERROR(improve(at));
    MONET_RETURN_IF_ERROR(price_all_of_few());
  }
  MONET_TRY(Incumbent best, best_known());
  return MemoryAnswer{.genome = best.genome, .feasible = best.score.violation == 0, .violation = best.score.violation};
}

Expected<MemoryAnswer> best_known(MemoryPrices& prices, const MemoryGoal& goal) {
  return MemorySearch(prices, {.evaluations = 0, .seeds = false, .prune = false, .improve = false}).search(goal);
}

}  // namespace monet
