#include "optimize/memory/baselines.h"

#include "evaluate/account/step.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace monet {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

// Memory, clock and what is dropped, as DTR has them.
class Rematerializer {
 public:
  Rematerializer(const remat::Problem& problem, std::int64_t budget)
      : problem_(problem),
        budget_(budget),
        used_(problem.fixed_bytes),
        here_(problem.size(), false),
        made_(problem.size(), false),
        locks_(problem.size(), 0),
        left_(problem.size(), 0),
        touched_(problem.size(), 0) {
    for (remat::NodeIndex node = 0; node < problem.size(); ++node) {
      left_[node] = static_cast<std::uint32_t>(problem.users.of(node).size());
    }
  }

  std::optional<remat::Sequence> run() {
    for (remat::NodeIndex node = 0; node < problem_.size(); ++node) {
      if (!make(node)) return std::nullopt;
      for (const remat::NodeIndex operand : problem_.operands.of(node)) {
        if (--left_[operand] == 0 && here_[operand]) drop(operand);
      }
      if (left_[node] == 0 && here_[node]) drop(node);
    }
    return std::move(sequence_);
  }

 private:
  void drop(remat::NodeIndex node) {
    here_[node] = false;
    used_ -= problem_.nodes[node].bytes;
  }

  // Operands first, each held while the run needs it.
  bool make(remat::NodeIndex node) {
    const auto operands = problem_.operands.of(node);
    for (const remat::NodeIndex operand : operands) ++locks_[operand];
    bool fits = true;
    for (const remat::NodeIndex operand : operands) {
      if (!here_[operand]) fits = fits && make(operand);
      touched_[operand] = clock_;
    }
    fits = fits && make_room(problem_.nodes[node].bytes);
    for (const remat::NodeIndex operand : operands) --locks_[operand];
    if (!fits) return false;
    clock_ += problem_.nodes[node].time;
    used_ += problem_.nodes[node].bytes;
    here_[node] = made_[node] = true;
    touched_[node] = clock_;
    sequence_.emplace_back(node);
    // What came back for this run alone goes again.
    for (const remat::NodeIndex operand : operands) {
      if (left_[operand] == 0 && locks_[operand] == 0 && here_[operand]) drop(operand);
    }
    return true;
  }

  bool make_room(std::int64_t bytes) {
    while (used_ + bytes > budget_) {
      remat::NodeIndex victim = no_bare_node;
      double least = unlimited;
      for (remat::NodeIndex node = 0; node < problem_.size(); ++node) {
        if (!here_[node] || locks_[node] > 0 || !problem_.nodes[node].recomputable) continue;
        if (problem_.nodes[node].bytes == 0) continue;
        const double score = score_of(node);
        if (victim != no_bare_node && score >= least) continue;
        victim = node;
        least = score;
      }
      if (victim == no_bare_node) return false;
      drop(victim);
    }
    return true;
  }

  double score_of(remat::NodeIndex node) const {
    // Never touched in less than nothing: what was just made is as fresh as can be.
    const double stale = std::max(clock_ - touched_[node], 1e-12);
    return cost_around(node) / (static_cast<double>(problem_.nodes[node].bytes) * stale);
  }

  // Of running it and all that is dropped before and behind it, as far as only dropped ones lead there.
  double cost_around(remat::NodeIndex node) const {
    std::vector<remat::NodeIndex> open = {node};
    std::vector<bool> seen(problem_.size(), false);
    seen[node] = true;
    double cost = 0;
    while (!open.empty()) {
      const remat::NodeIndex at = open.back();
      open.pop_back();
      cost += problem_.nodes[at].time;
      const auto visit = [&](std::span<const remat::NodeIndex> around) {
        for (const remat::NodeIndex other : around) {
          if (seen[other] || !made_[other] || here_[other] || left_[other] == 0) continue;
          seen[other] = true;
          open.push_back(other);
        }
      };
      visit(problem_.operands.of(at));
      visit(problem_.users.of(at));
    }
    return cost;
  }

  const remat::Problem& problem_;
  const std::int64_t budget_;
  std::int64_t used_;
  std::vector<bool> here_, made_;
  std::vector<std::uint32_t> locks_, left_;
  std::vector<double> touched_;
  double clock_ = 0;
  remat::Sequence sequence_;
};

std::uint16_t choice_of(const MemoryCandidate& candidate, Retention retention) {
  const auto found = std::ranges::find(candidate.choices, retention, &MemoryChoice::retention);
  return found == candidate.choices.end() ? 0 : static_cast<std::uint16_t>(found - candidate.choices.begin());
}

// Saved tensors in the order in which the forward part makes them.
std::vector<std::size_t> by_time(const BareStep& bare, const MemorySpace& space) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < space.candidates().size(); ++i) {
    if (bare.of_candidate[i] != no_bare_node) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return bare.of_candidate[i]; });
  return order;
}

// Algorithm 4 tries budgets of segments around the best one of a first pass.
std::vector<Genome> chen_genomes(const BareStep& bare, const MemorySpace& space) {
  const std::vector<std::size_t> order = by_time(bare, space);
  std::vector<std::int64_t> bytes;
  for (const std::size_t i : order) bytes.push_back(space.candidates()[i].bytes);
  const double all = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0}));
  const double most = bytes.empty() ? 0 : static_cast<double>(std::ranges::max(bytes));
  std::vector<Genome> genomes;
  // x bytes of checkpoints with segments of y come to x + y; the least is near the root of all bytes times one tensor.
  const double middle = std::sqrt(std::max(1.0, all * most));
  constexpr int steps = 6;
  for (int step = -steps; step <= steps; ++step) {
    const auto limit = static_cast<std::int64_t>(middle * std::pow(2.0, 0.5 * step));
    const std::vector<bool> kept = chen_kept(bytes, limit);
    Genome genome = space.all_kept();
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (!kept[k]) genome[order[k]] = choice_of(space.candidates()[order[k]], Retention::recompute);
    }
    genomes.push_back(std::move(genome));
  }
  return genomes;
}

std::vector<Genome> dtr_genomes(const BareStep& bare, const MemorySpace& space, std::int64_t budget) {
  const auto sequence = dtr_sequence(bare.problem, budget);
  if (!sequence) return {};
  return {decisions_of(bare, space, *sequence)};
}

std::vector<Genome> capuchin_genomes(const BareStep& bare, const MemorySpace& space, std::int64_t save_bytes) {
  const remat::Problem& problem = bare.problem;
  std::vector<double> end(problem.size(), 0);
  double now = 0;
  for (remat::NodeIndex node = 0; node < problem.size(); ++node) end[node] = now += problem.nodes[node].time;
  const std::vector<std::size_t> order = by_time(bare, space);
  std::vector<std::size_t> number(problem.size(), order.size());
  for (std::size_t k = 0; k < order.size(); ++k) number[bare.of_candidate[order[k]]] = k;
  std::vector<CapuchinTensor> tensors;
  for (const std::size_t i : order) {
    const MemoryCandidate& candidate = space.candidates()[i];
    const remat::NodeIndex node = bare.of_candidate[i];
    CapuchinTensor tensor{.bytes = candidate.bytes, .made = end[node], .last_read = end[node], .next_read = now};
    // The longest time in which nobody reads it.
    double before = end[node], longest = -1;
    for (const remat::NodeIndex user : problem.users.of(node)) {
      const double begins = end[user] - problem.nodes[user].time;
      if (begins - before > longest) {
        longest = begins - before;
        tensor.last_read = before;
        tensor.next_read = begins;
      }
      before = end[user];
    }
    if (problem.channel && choice_of(candidate, Retention::page) > 0) {
      tensor.out_s = problem.channel->out_s(candidate.bytes);
      tensor.in_s = problem.channel->in_s(candidate.bytes);
    }
    if (choice_of(candidate, Retention::recompute) > 0) tensor.again_s = problem.nodes[node].time;
    for (const remat::NodeIndex operand : problem.operands.of(node)) {
      if (number[operand] < order.size()) tensor.operands.push_back(number[operand]);
    }
    tensors.push_back(std::move(tensor));
  }
  const std::vector<CapuchinChoice> choices = capuchin_choices(tensors, save_bytes);
  Genome genome = space.all_kept();
  for (std::size_t k = 0; k < order.size(); ++k) {
    const MemoryCandidate& candidate = space.candidates()[order[k]];
    if (choices[k] == CapuchinChoice::recompute) genome[order[k]] = choice_of(candidate, Retention::recompute);
    if (choices[k] == CapuchinChoice::page) genome[order[k]] = choice_of(candidate, Retention::page);
  }
  return {genome};
}

}  // namespace

std::vector<bool> chen_kept(std::span<const std::int64_t> bytes, std::int64_t limit) {
  std::vector<bool> kept;
  std::int64_t together = 0;
  for (const std::int64_t each : bytes) {
    together += each;
    kept.push_back(together > limit);
    if (kept.back()) together = 0;
  }
  return kept;
}

std::optional<remat::Sequence> dtr_sequence(const remat::Problem& problem, std::int64_t budget) {
  return Rematerializer(problem, budget).run();
}

std::vector<CapuchinChoice> capuchin_choices(std::span<const CapuchinTensor> tensors, std::int64_t save_bytes) {
  std::vector<CapuchinChoice> choices(tensors.size(), CapuchinChoice::keep);
  const auto free_time = [&](std::size_t i) {
    const CapuchinTensor& tensor = tensors[i];
    return tensor.next_read - tensor.last_read - tensor.out_s.value_or(0) - tensor.in_s.value_or(0);
  };
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, free_time);
  // Of a run and of what it needs that is dropped to be run again.
  const std::function<double(std::size_t)> again = [&](std::size_t i) {
    if (!tensors[i].again_s) return unlimited;
    double seconds = *tensors[i].again_s;
    for (const std::size_t operand : tensors[i].operands) {
      if (choices[operand] == CapuchinChoice::recompute) seconds += again(operand);
    }
    return seconds;
  };
  std::int64_t saved = 0;
  for (const std::size_t i : order) {
    if (saved >= save_bytes) break;
    const double exposed = tensors[i].out_s ? std::max(0.0, -free_time(i)) : unlimited;
    const double repeated = again(i);
    if (exposed == unlimited && repeated == unlimited) continue;
    choices[i] = exposed <= repeated ? CapuchinChoice::page : CapuchinChoice::recompute;
    saved += tensors[i].bytes;
  }
  return choices;
}

std::vector<Genome> baseline_genomes(const std::string& method, const Priced& as_it_is, const MemoryPricesInput& input,
                                     std::int64_t budget_bytes, std::int64_t all_kept_bytes) {
  const BareStep bare = bare_step(as_it_is, input.hardware, input.space, input.memory);
  if (method == "chen") return chen_genomes(bare, input.space);
  if (method == "dtr") return dtr_genomes(bare, input.space, budget_bytes);
  return capuchin_genomes(bare, input.space, all_kept_bytes - budget_bytes);
}

}  // namespace monet
