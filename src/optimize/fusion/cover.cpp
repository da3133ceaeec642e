#include "optimize/fusion/cover.h"

#include "optimize/fusion/dominance.h"
#include "optimize/fusion/part.h"
#include "optimize/fusion/rings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <unordered_map>

namespace monet::fusion {

namespace {

constexpr std::size_t most_rounds = 1000;

// A cut by sets of the whole problem.
struct RingCut {
  std::vector<std::uint32_t> sets;
  std::size_t most = 0;
};

// Operators that are solved together.
struct Group {
  std::vector<Index> operators;  // in order
  std::vector<RingCut> cuts;
  std::vector<std::uint32_t> chosen;  // sets of the whole problem
  double cost = 0, bound = 0;
  bool solved = false;
};

class Covering {
 public:
  Covering(const Problem& problem, const Candidates& candidates, std::span<const double> costs,
           const CoverOptions& options)
      : problem_(problem),
        sets_(candidates.sets),
        costs_(costs),
        options_(options),
        local_(problem.size(), Problem::none) {
    if (options.dominance) {
      wanted_ = worthwhile(candidates, problem.size(), costs);
    } else {
      for (double cost : costs) wanted_.push_back(std::isfinite(cost) ? 1 : 0);
    }
    std::vector<std::vector<std::uint32_t>> of(problem.size());
    for (std::uint32_t s = 0; s < sets_.size(); ++s) {
      if (wanted_[s] == 0) continue;
      for (Index op : sets_[s]) of[op].push_back(s);
    }
    for (const auto& list : of) sets_of_.add(list);
  }

  Cover run() {
    make_groups();
    result_.parts = groups_.size();
    for (std::size_t round = 0; round < most_rounds; ++round) {
      for (Group& group : groups_) {
        if (!group.solved) solve(group);
      }
      if (!cut_rings()) return finish(true);
    }
    return finish(false);
  }

 private:
  void make_groups() {
    std::vector<Index> root(problem_.size());
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](Index op) {
      while (root[op] != op) op = root[op] = root[root[op]];
      return op;
    };
    for (std::size_t s = problem_.size(); s < sets_.size(); ++s) {
      if (wanted_[s] == 0) continue;
      for (Index op : sets_[s]) root[std::max(find(op), find(sets_[s][0]))] = std::min(find(op), find(sets_[s][0]));
    }
    group_of_.assign(problem_.size(), Problem::none);
    for (Index op = 0; op < problem_.size(); ++op) {
      const Index of = options_.decompose ? find(op) : 0;
      if (group_of_[of] == Problem::none) {
        group_of_[of] = static_cast<std::uint32_t>(groups_.size());
        groups_.emplace_back();
      }
      group_of_[op] = group_of_[of];
      groups_[group_of_[op]].operators.push_back(op);
    }
  }

  // With the sets that lie within `operators`; `sets` receives their numbers in the whole problem.
  Part part_of(std::span<const Index> operators, std::vector<std::uint32_t>& sets) {
    Part part{.operators = operators.size(), .sets = {}, .costs = {}, .cuts = {}};
    for (std::size_t i = 0; i < operators.size(); ++i) local_[operators[i]] = static_cast<Index>(i);
    sets.clear();
    std::vector<Index> own;
    for (Index op : operators) {
      for (std::uint32_t s : sets_of_[op]) {
        if (sets_[s][0] != op) continue;
        if (std::ranges::any_of(sets_[s], [&](Index other) { return local_[other] == Problem::none; })) continue;
        own.clear();
        for (Index other : sets_[s]) own.push_back(local_[other]);
        part.sets.add(own);
        part.costs.push_back(costs_[s]);
        sets.push_back(s);
      }
    }
    for (Index op : operators) local_[op] = Problem::none;
    return part;
  }

  void add_cuts(Part& part, const std::vector<RingCut>& cuts, const std::vector<std::uint32_t>& sets,
                std::span<const std::uint32_t> fixed) const {
    if (cuts.empty()) return;
    std::unordered_map<std::uint32_t, std::uint32_t> number;
    for (std::uint32_t i = 0; i < sets.size(); ++i) number.emplace(sets[i], i);
    for (const RingCut& cut : cuts) {
      Part::Cut own{.sets = {}, .most = cut.most};
      for (std::uint32_t s : cut.sets) {
        if (const auto found = number.find(s); found != number.end()) {
          own.sets.push_back(found->second);
        } else if (std::ranges::binary_search(fixed, s)) {
          --own.most;
        }
      }
      if (!own.sets.empty()) part.cuts.push_back(std::move(own));
    }
  }

  void solve(Group& group) {
    group.solved = true;
    if (group.operators.size() == 1) {
      group.chosen = {group.operators.front()};
      group.cost = group.bound = costs_[group.operators.front()];
      return;
    }
    std::vector<std::uint32_t> sets;
    Part part = part_of(group.operators, sets);
    add_cuts(part, group.cuts, sets, {});
    PartCover found;
    if (stopped()) {
      found = single(part);
    } else if (part.operators > options_.part_operators || part.sets.size() > options_.part_sets) {
      found = by_pieces(group, part, sets);
    } else {
      found = once(part);
    }
    group.chosen.clear();
    for (std::uint32_t s : found.chosen) group.chosen.push_back(sets[s]);
    group.cost = found.cost;
    group.bound = found.bound;
  }

  static PartCover single(const Part& part) {
    PartCover result;
    for (std::uint32_t s = 0; s < part.sets.size(); ++s) {
      if (part.sets[s].size() > 1) continue;
      result.chosen.push_back(s);
      result.cost += part.costs[s];
    }
    return result;
  }

  PartCover once(const Part& part) {
    if (!options_.repeat || !part.cuts.empty()) return exactly(part);
    std::string key(reinterpret_cast<const char*>(part.sets.items.data()), part.sets.items.size() * sizeof(Index));
    key.append(reinterpret_cast<const char*>(part.sets.first.data()), part.sets.first.size() * sizeof(std::uint32_t));
    key.append(reinterpret_cast<const char*>(part.costs.data()), part.costs.size() * sizeof(double));
    const auto known = solved_.find(key);
    if (known != solved_.end()) return known->second;
    const PartCover found = exactly(part);
    if (!stopped()) solved_.emplace(std::move(key), found);
    return found;
  }

  PartCover exactly(const Part& part) {
    ++result_.solved;
    if (options_.dynamic) {
      if (auto found = cover_in_order(part, options_.states)) return *std::move(found);
    }
    ++result_.programs;
    return cover_by_program(part, time_left(), options_.stop);
  }

  // Neighbouring operators at a time, all others as they are; then once more, with the pieces moved by half.
  PartCover by_pieces(const Group& group, const Part& whole, const std::vector<std::uint32_t>& whole_sets) {
    std::vector<std::uint32_t> chosen(group.operators.begin(), group.operators.end());  // single ones
    const std::size_t length = std::min(options_.part_operators, group.operators.size());
    for (const std::size_t offset : {std::size_t{0}, length / 2}) {
      for (std::size_t begin = offset; begin < group.operators.size() && !stopped(); begin += length) {
        const std::size_t end = std::min(begin + length, group.operators.size());
        improve_piece(group, std::span(group.operators).subspan(begin, end - begin), chosen);
      }
    }
    PartCover result;
    for (std::uint32_t s : chosen) {
      result.chosen.push_back(static_cast<std::uint32_t>(std::ranges::find(whole_sets, s) - whole_sets.begin()));
      result.cost += costs_[s];
    }
    result.bound = std::min(result.cost, relaxed_bound(whole, time_left(), options_.stop));
    return result;
  }

  void improve_piece(const Group& group, std::span<const Index> piece, std::vector<std::uint32_t>& chosen) {
    std::vector<std::uint32_t> fixed;
    std::vector<Index> free;
    for (std::uint32_t s : chosen) {
      const bool within =
          std::ranges::all_of(sets_[s], [&](Index op) { return std::ranges::binary_search(piece, op); });
      if (within) {
        free.insert(free.end(), sets_[s].begin(), sets_[s].end());
      } else {
        fixed.push_back(s);
      }
    }
    std::ranges::sort(free);
    std::ranges::sort(fixed);
    if (free.size() < 2) return;
    std::vector<std::uint32_t> sets;
    Part part = part_of(free, sets);
    add_cuts(part, group.cuts, sets, fixed);
    for (std::uint32_t s : once(part).chosen) fixed.push_back(sets[s]);
    chosen = std::move(fixed);
  }

  // Forbids the rings among what is chosen; false: there are none.
  bool cut_rings() {
    std::vector<std::uint32_t> chosen, set_of(problem_.size());
    for (const Group& group : groups_) chosen.insert(chosen.end(), group.chosen.begin(), group.chosen.end());
    for (std::uint32_t i = 0; i < chosen.size(); ++i) {
      for (Index op : sets_[chosen[i]]) set_of[op] = i;
    }
    const std::vector<Ring> rings = rings_among(problem_, set_of, chosen.size());
    for (const Ring& ring : rings) {
      RingCut cut;
      std::size_t steps = 0;
      std::uint32_t group = Problem::none;
      for (const RingStep& step : ring) {
        if (step.in == step.out) continue;
        ++steps;
        group = group == Problem::none ? group_of_[step.in] : merged(group, group_of_[step.in]);
        if (options_.lift) {
          for (std::uint32_t s : sets_of_[step.in]) {
            if (std::ranges::binary_search(sets_[s], step.out)) cut.sets.push_back(s);
          }
        } else {
          cut.sets.push_back(chosen[step.set]);
        }
      }
      std::ranges::sort(cut.sets);
      cut.sets.erase(std::unique(cut.sets.begin(), cut.sets.end()), cut.sets.end());
      cut.most = steps - 1;
      groups_[group].cuts.push_back(std::move(cut));
      groups_[group].solved = false;
      ++result_.cuts;
    }
    std::erase_if(groups_, [](const Group& group) { return group.operators.empty(); });
    for (std::uint32_t g = 0; g < groups_.size(); ++g) {
      for (Index op : groups_[g].operators) group_of_[op] = g;
    }
    return !rings.empty();
  }

  // The group that both became; it keeps the lower number.
  std::uint32_t merged(std::uint32_t a, std::uint32_t b) {
    if (a == b) return a;
    if (b < a) std::swap(a, b);
    Group& to = groups_[a];
    Group& from = groups_[b];
    for (Index op : from.operators) group_of_[op] = a;
    to.operators.insert(to.operators.end(), from.operators.begin(), from.operators.end());
    std::ranges::sort(to.operators);
    std::ranges::move(from.cuts, std::back_inserter(to.cuts));
    from = {};
    return a;
  }

  Cover finish(bool without_rings) {
    for (Group& group : groups_) result_.bound += group.bound;
    if (!without_rings) open_rings();
    for (const Group& group : groups_) {
      for (std::uint32_t s : group.chosen) result_.cost += costs_[s];
      result_.chosen.insert(result_.chosen.end(), group.chosen.begin(), group.chosen.end());
    }
    std::ranges::sort(result_.chosen, {}, [&](std::uint32_t s) { return sets_[s][0]; });
    result_.bound = std::min(result_.bound, result_.cost);
    const double tolerance = 1e-9 * std::max(1.0, result_.cost);
    result_.proven = result_.cost - result_.bound <= tolerance;
    return std::move(result_);
  }

  // Splits sets of rings into single operators until none is left.
  void open_rings() {
    for (;;) {
      std::vector<std::pair<std::size_t, std::uint32_t>> chosen;  // group, set
      std::vector<std::uint32_t> set_of(problem_.size());
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        for (std::uint32_t s : groups_[g].chosen) {
          for (Index op : sets_[s]) set_of[op] = static_cast<std::uint32_t>(chosen.size());
          chosen.emplace_back(g, s);
        }
      }
      const std::vector<Ring> rings = rings_among(problem_, set_of, chosen.size());
      if (rings.empty()) return;
      for (const Ring& ring : rings) {
        for (const RingStep& step : ring) {
          const auto [g, s] = chosen[step.set];
          if (sets_[s].size() == 1) continue;
          std::erase(groups_[g].chosen, s);
          groups_[g].chosen.insert(groups_[g].chosen.end(), sets_[s].begin(), sets_[s].end());
        }
      }
    }
  }

  double time_left() const {
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start_;
    return std::max(0.05, options_.time_limit_s - used.count());
  }
  bool stopped() const {
    if (options_.stop && options_.stop()) return true;
    const std::chrono::duration<double> used = std::chrono::steady_clock::now() - start_;
    return used.count() > options_.time_limit_s;
  }

  const Problem& problem_;
  const Lists<Index>& sets_;
  std::span<const double> costs_;
  const CoverOptions& options_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::vector<std::uint8_t> wanted_;     // by set
  Lists<std::uint32_t> sets_of_;         // by operator, wanted ones
  std::vector<Index> local_;             // by operator: its number in the part that is being made
  std::vector<std::uint32_t> group_of_;  // by operator
  std::vector<Group> groups_;
  std::unordered_map<std::string, PartCover> solved_;
  Cover result_;
};

}  // namespace

Cover cover(const Problem& problem, const Candidates& candidates, std::span<const double> costs,
            const CoverOptions& options) {
  return Covering(problem, candidates, costs, options).run();
}

}  // namespace monet::fusion
