#include "base/try.h"
#include "explore/methods/each_method.h"
#include "explore/methods/sample_budget.h"
#include "explore/methods/sequences.h"

#include <algorithm>

namespace monet::explore {

namespace {

// Of the samples, what the coarse grid may take.
constexpr double share_of_first_grid = 0.25;

class Narrowing {
 public:
  Narrowing(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask)
      : space_(space), budget_(space, options, ask, samples), seed_(options.seed) {
    for (const Axis& axis : space.axes) stride_.push_back(axis.texts.size() / 2);
    grid_samples_ =
        std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(samples) * share_of_first_grid));
  }

  Expected<Searched> run() {
    MONET_RETURN_IF_ERROR(look_at_grid());
    MONET_RETURN_IF_ERROR(look_until_one_runs());
    MONET_RETURN_IF_ERROR(look_around_front(1));
    while (!budget_.over() && std::ranges::any_of(stride_, [](std::size_t stride) { return stride > 1; })) {
      for (std::size_t& stride : stride_) stride = (stride + 1) / 2;
      MONET_RETURN_IF_ERROR(look_around_front(1));
    }
    if (!budget_.over()) MONET_RETURN_IF_ERROR(look_around_front(2));
    return budget_.result();
  }

 private:
  // First, middle and last of each axis; where these are too many, some of them, evenly.
  Status look_at_grid() {
    Space coarse;
    std::vector<std::vector<std::uint16_t>> values;
    for (std::size_t a = 0; a < space_.axes.size(); ++a) {
      const std::size_t count = space_.axes[a].texts.size();
      std::vector<std::uint16_t>& chosen = values.emplace_back();
      for (std::size_t v = 0; v < count; v += std::max<std::size_t>(stride_[a], 1)) {
        chosen.push_back(static_cast<std::uint16_t>(v));
      }
      if (chosen.back() + 1U < count) chosen.push_back(static_cast<std::uint16_t>(count - 1));
      coarse.axes.push_back({.name = {}, .texts = std::vector<std::string>(chosen.size()), .quantities = {}});
    }
    EvenOrder order(coarse, seed_);
    std::vector<Design> designs;
    while (designs.size() < grid_samples_ && !order.done()) {
      Choice choice = coarse.choice(order.next());
      for (std::size_t a = 0; a < choice.size(); ++a) choice[a] = values[a][choice[a]];
      designs.push_back(space_.design(choice));
    }
    return budget_.look(designs);
  }

  // Nothing to go on from yet: evenly over all.
  Status look_until_one_runs() {
    constexpr std::size_t together = 16;
    EvenOrder order(space_, seed_);
    while (!budget_.over() && budget_.front().empty() && !order.done()) {
      std::vector<Design> some;
      while (some.size() < together && !order.done()) some.push_back(order.next());
      MONET_RETURN_IF_ERROR(budget_.look(some));
    }
    return Done{};
  }

  // Looks around the front until it does not change any more.
  Status look_around_front(int moves) {
    while (!budget_.over()) {
      std::vector<Design> around;
      for (const Design design : budget_.front()) add_neighbours(space_.choice(design), 0, moves, around);
      std::erase_if(around, [&](Design design) { return budget_.find(design) != nullptr; });
      if (around.empty()) break;
      MONET_RETURN_IF_ERROR(budget_.look(around));
    }
    return Done{};
  }

  // One stride up or down in up to `moves` axes from `axis` on.
  void add_neighbours(Choice choice, std::size_t axis, int moves, std::vector<Design>& around) const {
    if (moves == 0) return;
    for (std::size_t a = axis; a < choice.size(); ++a) {
      const int here = choice[a], last = static_cast<int>(space_.axes[a].texts.size()) - 1;
      for (const int to : {here - static_cast<int>(stride_[a]), here + static_cast<int>(stride_[a])}) {
        const int inside = std::clamp(to, 0, last);
        if (inside == here) continue;
        choice[a] = static_cast<std::uint16_t>(inside);
        around.push_back(space_.design(choice));
        add_neighbours(choice, a + 1, moves - 1, around);
      }
      choice[a] = static_cast<std::uint16_t>(here);
    }
  }

  const Space& space_;
  SampleBudget budget_;
  std::uint64_t seed_;
  std::size_t grid_samples_;
  std::vector<std::size_t> stride_;  // by axis
};

}  // namespace

Expected<Searched> narrow_down(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask) {
  return Narrowing(space, options, samples, ask).run();
}

}  // namespace monet::explore
