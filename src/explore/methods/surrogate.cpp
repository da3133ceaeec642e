#include "base/random.h"
#include "base/try.h"
#include "explore/methods/each_method.h"
#include "explore/methods/gaussian_process.h"
#include "explore/methods/sample_budget.h"
#include "explore/methods/sequences.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace monet::explore {

namespace {

constexpr std::size_t round_size = 8;                  // designs of a round: does not depend on who evaluates them
constexpr std::size_t first_of_axis = 4;               // designs of the even start, for each axis
constexpr std::size_t most_points = 200;               // that a model knows
constexpr std::size_t most_candidates = 1024;          // of a round
constexpr double least_ratio_for_log = 4;              // of an axis' largest to its smallest value
constexpr std::array<double, 3> optimism = {0, 1, 2};  // deviations by which a guess is taken to be better, in turn

class Guided {
 public:
  Guided(const Space& space, const MethodOptions& options, std::size_t samples, const Ask& ask)
      : space_(space),
        budget_(space, options, ask, samples),
        even_(space, options.seed),
        order_(space.size(), options.seed),
        random_(options.seed) {
    for (const Axis& axis : space.axes) places_.push_back(places_of(axis));
    lengths_.assign(space.objectives.size(), {.lengths = std::vector<double>(space.axes.size(), 0.8)});
    first_ = std::min(samples, std::max(round_size, first_of_axis * space.axes.size()));
  }

  Expected<Searched> run() {
    std::vector<Design> designs = {0, space_.size() - 1};
    while (designs.size() < first_ && !even_.done()) designs.push_back(even_.next());
    MONET_RETURN_IF_ERROR(budget_.look(designs));
    // Candidates are a part of a large space: there may be others where all of them have been seen.
    for (std::uint64_t in_vain = 0; !budget_.over() && in_vain * most_candidates <= space_.size();) {
      designs = next_batch();
      in_vain = designs.empty() ? in_vain + 1 : 0;
      MONET_RETURN_IF_ERROR(budget_.look(designs));
      ++round_;
    }
    return budget_.result();
  }

 private:
  using Guesses = std::vector<GaussianProcess::Guess>;

  // Where the values of an axis lie from 0 to 1; sizes and speeds by their logarithm.
  static std::vector<double> places_of(const Axis& axis) {
    std::vector<double> places;
    for (const Quantity& quantity : axis.quantities) places.push_back(quantity.value);
    const auto [least, most] = std::ranges::minmax(places);
    if (least > 0 && most >= least_ratio_for_log * least) {
      for (double& place : places) place = std::log(place / least) / std::log(most / least);
    } else {
      for (double& place : places) place = most > least ? (place - least) / (most - least) : 0;
    }
    return places;
  }

  Coordinates coordinates(Design design) const {
    const Choice choice = space_.choice(design);
    Coordinates result;
    for (std::size_t a = 0; a < choice.size(); ++a) result.push_back(places_[a][choice[a]]);
    return result;
  }

  std::vector<Design> next_batch() {
    const std::vector<Design> candidates = unseen_candidates();
    const std::vector<Design> front = budget_.front();
    // Nothing to learn from yet: evenly over those that are known of.
    if (front.empty()) {
      std::vector<Design> some;
      const std::size_t count = std::min(round_size, candidates.size());
      for (std::size_t i = 0; i < count; ++i) some.push_back(candidates[i * candidates.size() / count]);
      return some;
    }
    const std::vector<Design> known = known_designs(front);
    std::vector<Guesses> guesses;
    for (std::size_t o = 0; o < space_.objectives.size(); ++o) guesses.push_back(guess(o, known, candidates));
    return chosen(candidates, guesses, front);
  }

  // In random order, those next to the front first.
  std::vector<Design> unseen_candidates() {
    std::vector<Design> result;
    for (const Design design : budget_.front()) {
      Choice choice = space_.choice(design);
      for (std::size_t a = 0; a < choice.size(); ++a) {
        const std::uint16_t here = choice[a];
        for (const int to : {here - 1, here + 1}) {
          if (to < 0 || static_cast<std::size_t>(to) >= space_.axes[a].texts.size()) continue;
          choice[a] = static_cast<std::uint16_t>(to);
          result.push_back(space_.design(choice));
        }
        choice[a] = here;
      }
    }
    for (std::size_t i = 0; i < most_candidates && i < space_.size(); ++i) {
      result.push_back(order_.at(next_++));
      if (next_ == space_.size()) next_ = 0;
    }
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    std::erase_if(result, [&](Design design) { return budget_.find(design) != nullptr; });
    return result;
  }

  // What the models learn from: the front and, where all are too many, others by chance.
  std::vector<Design> known_designs(const std::vector<Design>& front) {
    std::vector<Design> known;
    for (const auto& [design, seen] : budget_.seen()) known.push_back(design);
    if (known.size() <= most_points) return known;
    for (std::size_t i = known.size(); i-- > 1;) std::swap(known[i], known[random_.below(i + 1)]);
    std::vector<Design> result = front;
    for (const Design design : known) {
      if (std::ranges::find(front, design) == front.end()) result.push_back(design);
    }
    result.resize(most_points);
    return result;
  }

  Guesses guess(std::size_t objective, const std::vector<Design>& known, const std::vector<Design>& candidates) {
    std::vector<Coordinates> points;
    std::vector<double> values;
    double worst = -std::numeric_limits<double>::infinity();
    for (const Design design : known) {
      points.push_back(coordinates(design));
      const Seen& seen = *budget_.find(design);
      values.push_back(seen.ran() ? scaled(seen.values[objective]) : std::numeric_limits<double>::infinity());
      if (seen.ran()) worst = std::max(worst, values.back());
    }
    // One that did not run counts as the worst that did.
    for (double& value : values) value = std::min(value, worst);
    // Lengths change slowly: they are looked for when there is a quarter more to learn from.
    if (4 * known.size() >= 5 * learned_from_ || learning_ == round_) {
      lengths_[objective] = likely_lengths(points, values, lengths_[objective]);
      learned_from_ = known.size();
      learning_ = round_;
    }
    const GaussianProcess process(std::move(points), values, lengths_[objective]);
    Guesses guesses;
    for (const Design design : candidates) guesses.push_back(process.at(coordinates(design)));
    return guesses;
  }

  static double scaled(double value) { return value > 0 ? std::log(value) : value; }

  // One design for each of a few ways to weigh the objectives against each other.
  std::vector<Design> chosen(const std::vector<Design>& candidates, const std::vector<Guesses>& guesses,
                             const std::vector<Design>& front) {
    const std::size_t objectives = guesses.size();
    std::vector<double> ideal(objectives, std::numeric_limits<double>::infinity()), width(objectives);
    for (std::size_t o = 0; o < objectives; ++o) {
      double most = -ideal[o];
      for (const Design design : front) {
        const double value = scaled(budget_.find(design)->values[o]);
        ideal[o] = std::min(ideal[o], value);
        most = std::max(most, value);
      }
      width[o] = most > ideal[o] ? most - ideal[o] : 1;
    }
    std::vector<Design> result;
    std::vector<char> taken(candidates.size(), 0);
    for (std::size_t slot = 0; slot < std::min(round_size, candidates.size()); ++slot) {
      const std::vector<double> weights = random_weights(objectives, slot);
      const double hope = optimism[(slot + round_) % optimism.size()];
      std::size_t best = candidates.size();
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        if (taken[c] != 0) continue;
        // The augmented Chebyshev distance from the best of each objective.
        double most = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::size_t o = 0; o < objectives; ++o) {
          const double value = guesses[o][c].mean - hope * guesses[o][c].deviation;
          const double distance = weights[o] * (value - ideal[o]) / width[o];
          most = std::max(most, distance);
          sum += distance;
        }
        const double score = most + 0.05 * sum;
        if (score < least) {
          least = score;
          best = c;
        }
      }
      if (best == candidates.size()) break;
      taken[best] = 1;
      result.push_back(candidates[best]);
    }
    return result;
  }

  // Evenly over the simplex; in every other round the first ask for the best of one objective alone.
  std::vector<double> random_weights(std::size_t objectives, std::size_t slot) {
    std::vector<double> weights(objectives);
    double sum = 0;
    for (double& weight : weights) sum += weight = -std::log(1 - random_.unit());
    for (double& weight : weights) weight /= sum > 0 ? sum : 1;
    if (round_ % 2 == 0 && slot < objectives) {
      std::ranges::fill(weights, 0.0);
      weights[slot] = 1;
    }
    return weights;
  }

  const Space& space_;
  SampleBudget budget_;
  EvenOrder even_;
  RandomOrder order_;
  SeededRandom random_;
  std::vector<std::vector<double>> places_;  // by axis and value
  std::vector<Lengths> lengths_;             // by objective
  std::size_t first_ = 0, round_ = 0, learned_from_ = 0, learning_ = 0;
  std::uint64_t next_ = 0;
};

}  // namespace

Expected<Searched> look_where_promising(const Space& space, const MethodOptions& options, std::size_t samples,
                                        const Ask& ask) {
  return Guided(space, options, samples, ask).run();
}

}  // namespace monet::explore
