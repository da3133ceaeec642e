#include "explore/analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

namespace monet::explore {

namespace {

struct Sample {
  Choice choice;
  double logarithm = 0, value = 0;
  bool on_front = false;
};

struct Sum {
  std::uint64_t designs = 0, on_front = 0;
  double logarithms = 0, best = std::numeric_limits<double>::infinity();
};

AxisEffect effect_of(const Axis& axis, std::size_t index, const std::vector<Sample>& samples, double mean,
                     double variance, double sign, bool all_seen) {
  std::vector<Sum> sums(axis.texts.size());
  for (const Sample& sample : samples) {
    Sum& sum = sums[sample.choice[index]];
    ++sum.designs;
    sum.on_front += sample.on_front;
    sum.logarithms += sample.logarithm;
    sum.best = std::min(sum.best, sample.value);
  }
  AxisEffect effect{.axis = axis.name};
  double between = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    AxisEffect::Value value{.text = axis.texts[i], .designs = sums[i].designs, .on_front = sums[i].on_front};
    if (sums[i].designs > 0) {
      const auto count = static_cast<double>(sums[i].designs);
      const double of_value = sums[i].logarithms / count;
      between += count * (of_value - mean) * (of_value - mean);
      value.mean = std::exp(of_value);
      value.best = sign * sums[i].best;
    }
    effect.values.push_back(std::move(value));
  }
  if (variance > 0) effect.share = std::clamp(between / static_cast<double>(samples.size()) / variance, 0.0, 1.0);
  effect.low = effect.high = effect.likely = effect.share;
  if (!all_seen && variance > 0) {
    const auto groups = std::ranges::count_if(sums, [](const Sum& sum) { return sum.designs > 0; });
    const ShareInterval interval = share_interval(effect.share, static_cast<std::size_t>(groups), samples.size());
    effect.low = interval.low;
    effect.high = interval.high;
    effect.likely = interval.likely;
  }
  return effect;
}

}  // namespace

std::vector<AxisEffect> sensitivities(const std::vector<Outcome>& outcomes, const Space& space,
                                      const Objective& objective, const std::vector<Objective>& front_objectives) {
  std::unordered_set<Design> front;
  for (const Outcome& outcome : front_of(outcomes, space, front_objectives)) front.insert(outcome.design);

  std::vector<Sample> samples;
  double mean = 0;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.ran()) continue;
    const double value = amount_of(outcome, space, objective);
    if (!(value > 0) || !std::isfinite(value)) continue;  // has no logarithm
    samples.push_back({space.choice(outcome.design), std::log(value), value_of(outcome, space, objective),
                       front.contains(outcome.design)});
    mean += samples.back().logarithm;
  }
  if (!samples.empty()) mean /= static_cast<double>(samples.size());
  double variance = 0, largest = 0;
  for (const Sample& sample : samples) {
    variance += (sample.logarithm - mean) * (sample.logarithm - mean);
    largest = std::max(largest, std::abs(sample.logarithm));
  }
  if (!samples.empty()) variance /= static_cast<double>(samples.size());
  // Equal values differ by the rounding of their mean: that is no variance.
  const double rounding = 1e-14 * largest;
  if (variance <= rounding * rounding) variance = 0;

  const double sign = !objective.function && objective.metric == Metric::utilization ? -1 : 1;
  const bool all_seen = outcomes.size() >= space.size();
  std::vector<AxisEffect> effects;
  for (std::size_t i = 0; i < space.axes.size(); ++i)
    effects.push_back(effect_of(space.axes[i], i, samples, mean, variance, sign, all_seen));
  return effects;
}

}  // namespace monet::explore
