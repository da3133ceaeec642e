#include "remat/search.h"

#include "base/parallel.h"
#include "remat/improve.h"

#include <algorithm>
#include <array>
#include <memory>

namespace monet::remat {

namespace {

constexpr std::size_t steps_a_round = 100;
constexpr std::size_t rounds_alone = 4;  // then the worst goes on from the best
constexpr std::array<double, 4> slacks = {0.01, 0, 0.03, 0.1};

class Team {
 public:
  Team(const Problem& problem, const Goal& goal, const SearchOptions& options) : options_(options) {
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.seeds); ++i)
      members_.push_back(std::make_unique<Improve>(problem, goal, options.moves, options.seed * 1000003 + i,
                                                   slacks[i % slacks.size()], options.stop));
  }

  // The last start is that of the first member, and so on round; repaired with more noise each time.
  void start(std::span<const Sequence> starts) {
    for_each_member([&](std::size_t i) {
      constexpr double step = 0.5;
      const std::size_t turn = i / starts.size();
      members_[i]->start(starts[starts.size() - 1 - i % starts.size()], step * static_cast<double>(turn));
    });
    collect();
  }

  void round() {
    for_each_member([&](std::size_t i) {
      for (std::size_t step = 0; step < steps_a_round && !options_.stop(); ++step) members_[i]->step();
    });
    ++result_.rounds;
    collect();
    if (result_.rounds % rounds_alone == 0) share();
  }

  bool ended() {
    result_.stopped = options_.stop();
    const bool enough = result_.value.feasible() && result_.value.price <= options_.enough;
    return result_.stopped || enough || !options_.moves.improve ||
           result_.rounds - improved_ >= options_.patience + 3 * improved_;
  }

  SearchResult result() && { return std::move(result_); }

 private:
  template <class Work>
  void for_each_member(const Work& work) {
    for_each_index(members_.size(), options_.jobs, work);
  }

  void collect() {
    for (const auto& member : members_) {
      if (!(member->best_value() < result_.value)) continue;
      result_.value = member->best_value();
      result_.sequence = member->best();
      improved_ = result_.rounds;
      if (options_.progress) options_.progress(result_.value);
    }
  }

  void share() {
    const auto worst = std::ranges::max_element(members_, {}, [](const auto& member) { return member->best_value(); });
    if ((*worst)->best_value() > result_.value) (*worst)->start(result_.sequence, 0);
  }

  const SearchOptions& options_;
  std::vector<std::unique_ptr<Improve>> members_;
  SearchResult result_;
  std::size_t improved_ = 0;
};

}  // namespace

SearchResult search(const Problem& problem, const Goal& goal, std::span<const Sequence> starts,
                    const SearchOptions& options) {
  Team team(problem, goal, options);
  team.start(starts);
  while (!team.ended()) team.round();
  return std::move(team).result();
}

}  // namespace monet::remat
