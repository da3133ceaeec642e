#include "remat/improve.h"

#include <algorithm>
#include <cmath>

namespace monet::remat {

namespace {

// Prices by which drops are chosen. Where time is short, or paging can be hidden behind computation to an unknown
// degree, there are several views of what a second is worth.
std::vector<Prices> guides_for(const Problem& problem, const Goal& goal, const Moves& moves) {
  const bool transfers = goal.transfers_take_time && problem.channel.has_value() && moves.page;
  std::vector<Prices> guides;
  if (goal.objective == Objective::time) {
    guides.push_back(prices_of(problem, {.time = 1, .transfer_time = transfers ? 0.1 : 0}));
    if (!transfers) return guides;
    for (const double hidden : {0.01, 0.5, 1.0})
      guides.push_back(prices_of(problem, {.time = 1, .transfer_time = hidden}));
    return guides;
  }
  guides.push_back(prices_of(problem, {.energy = 1}));
  const double time = base_time(problem), energy = base_energy_j(problem);
  if (!goal.deadline || time <= 0 || energy <= 0) return guides;
  for (const double worth : {1.0, 10.0, 100.0}) {
    const double second = worth * energy / time;
    guides.push_back(prices_of(problem, {.time = second, .energy = 1}));
    if (transfers) guides.push_back(prices_of(problem, {.time = second, .energy = 1, .transfer_time = second}));
    if (transfers) guides.push_back(prices_of(problem, {.energy = 1, .transfer_time = second}));
  }
  return guides;
}

}  // namespace

Improve::Improve(const Problem& problem, const Goal& goal, const Moves& moves, std::uint64_t seed, double slack,
                 Stop stop)
    : problem_(problem),
      goal_(goal),
      moves_(moves),
      measure_(problem, goal),
      guides_(guides_for(problem, goal, moves)),
      repair_(problem, goal.budget, moves),
      random_(seed),
      profile_(problem),
      stop_(std::move(stop)),
      slack_(slack),
      base_price_(goal.objective == Objective::time ? base_time(problem) : base_energy_j(problem)) {}

const Prices& Improve::random_guide() {
  const bool other = guides_.size() > 1 && random_.unit() < (current_value_.late > 0 ? 0.9 : 0.3);
  return other ? guides_[1 + random_.below(guides_.size() - 1)] : guides_[0];
}

void Improve::start(const Sequence& sequence, double noise) {
  next_ = sequence;
  repair_.run(next_, profile_, guides_[0], random_, noise, stop_);
  finish(guides_[0]);
  current_value_ = {};
  accept();
}

void Improve::finish(const Prices& prices) {
  if (moves_.prune && profile_.peak() <= goal_.budget)
    prune(next_, profile_, prices, goal_.budget, problem_, moves_.reorder, stop_);
  else
    drop_unused(next_, profile_, moves_.reorder);
}

bool Improve::accept() {
  const Value value = measure_.value_of(next_, profile_);
  Value most = current_value_;
  if (value.feasible() && best_value_.feasible())
    most.price = std::max(most.price, best_value_.price + slack_ * (best_value_.price - base_price_));
  if (value > most) return false;
  current_.swap(next_);
  current_value_ = value;
  if (value >= best_value_) return false;
  best_ = current_;
  best_value_ = value;
  return true;
}

bool Improve::step() {
  next_ = current_;
  profile_.evaluate(next_);
  take_out();
  if (moves_.reorder) shift_some();
  const Prices& prices = random_guide();
  constexpr double most_noise = 2.5;
  repair_.run(next_, profile_, prices, random_, random_.unit() * most_noise, stop_);
  finish(prices);
  return accept();
}

void Improve::choose_repeats() {
  repeats_.clear();
  for (Row run = 0; run < profile_.rows(); ++run)
    if (!profile_.first(run)) repeats_.push_back(run);
  if (repeats_.empty()) return;
  // Few more often than many.
  const double size = std::pow(static_cast<double>(repeats_.size()) + 1, random_.unit());
  const std::size_t count = std::min(repeats_.size(), static_cast<std::size_t>(size));
  if (random_.unit() < 0.7) {  // neighbours
    const auto from = static_cast<std::ptrdiff_t>(random_.below(repeats_.size() - count + 1));
    repeats_.erase(repeats_.begin() + from + static_cast<std::ptrdiff_t>(count), repeats_.end());
    repeats_.erase(repeats_.begin(), repeats_.begin() + from);
  } else {
    for (std::size_t i = 0; i < count; ++i) std::swap(repeats_[i], repeats_[i + random_.below(repeats_.size() - i)]);
    repeats_.resize(count);
    std::ranges::sort(repeats_);
  }
}

void Improve::take_out() {
  choose_repeats();
  std::size_t kept = 0, taken = 0;
  for (std::size_t i = 0; i < next_.size(); ++i) {
    if (taken < repeats_.size() && repeats_[taken] == static_cast<Row>(i))
      ++taken;
    else
      next_[kept++] = next_[i];
  }
  next_.resize(kept);
}

void Improve::shift_some() {
  constexpr std::size_t most = 4;
  for (std::size_t left = random_.below(most + 1); left > 0; --left) {
    profile_.evaluate(next_);
    shift(static_cast<Row>(random_.below(next_.size())));
  }
}

// To another row, after a run of each operand and before the first use.
void Improve::shift(Row run) {
  const NodeIndex node = next_[run].node();
  Row low = profile_.previous(run) + 1;
  if (!next_[run].paged()) {
    for (const NodeIndex operand : problem_.operands.of(node)) {
      Row earliest = profile_.latest(operand, run);
      while (!profile_.first(earliest)) earliest = profile_.previous(earliest);
      low = std::max(low, earliest + 1);
    }
  }
  Row high = profile_.used(run) ? profile_.next_use(run, run) - 1 : profile_.rows() - 1;
  for (Row row = run + 1; row <= high; ++row)
    if (next_[row].node() == node) high = row - 1;
  const Row to = low + static_cast<Row>(random_.below(static_cast<std::size_t>(high - low) + 1));
  const auto begin = next_.begin();
  if (to < run) std::rotate(begin + to, begin + run, begin + run + 1);
  if (to > run) std::rotate(begin + run, begin + run + 1, begin + to + 1);
}

}  // namespace monet::remat
