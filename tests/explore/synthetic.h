// Spaces whose designs are priced by a formula, to try methods on.
#pragma once

#include "explore/methods/methods.h"
#include "solvers/nsga2.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace monet::test {

// Values 1, 2, 3 … on each axis; two objectives of one workload: latency and energy.
inline explore::Space synthetic_space(const std::vector<std::size_t>& sizes) {
  explore::Space space;
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    explore::Axis axis{.name = "a" + std::to_string(a), .texts = {}, .quantities = {}};
    for (std::size_t v = 1; v <= sizes[a]; ++v) {
      axis.texts.push_back(std::to_string(v));
      axis.quantities.push_back({.value = static_cast<double>(v), .dimension = {}});
    }
    space.axes.push_back(std::move(axis));
  }
  space.workloads.resize(1);
  space.workloads.front().name = "w";
  space.objectives = {{.metric = explore::Metric::latency}, {.metric = explore::Metric::energy}};
  return space;
}

inline explore::Outcome ran(explore::Design design, double latency, double energy) {
  explore::Outcome outcome{.design = design};
  outcome.workloads.push_back({.latency_cycles = latency, .latency_s = latency, .energy_pj = energy});
  return outcome;
}
inline explore::Outcome did_not_run(explore::Design design) {
  explore::Outcome outcome{.design = design};
  outcome.workloads.push_back({.failure = "too small"});
  return outcome;
}
inline explore::Outcome excluded(explore::Design design) {
  explore::Outcome outcome{.design = design, .failure = "area <= 1 mm2", .excluded = true};
  return outcome;
}

// Like machines: the slowest of computing and moving, and energy of switching, of size and of standing still.
inline explore::Outcome machine_like(const explore::Space& space, explore::Design design) {
  const explore::Choice choice = space.choice(design);
  const auto at = [&](std::size_t axis) {
    return axis < choice.size() ? space.axes[axis].quantities[choice[axis]].value : 1.0;
  };
  const double macs = at(0) * at(1) * at(2), used = 1 / (1 + 0.03 * at(0) * at(0) + 0.02 * at(1)), memory = at(3);
  const double compute = 1000 / (macs * used), moves = 300 / (1 + memory) + 20 * std::abs(at(4) - 3);
  const double latency = std::max(compute, moves) + 0.3 * std::min(compute, moves) + 2 * at(5);
  const double energy = 500 + 8 * moves + 3 * memory * memory + latency * (0.2 * macs + 0.5 * memory) + 10 / at(5);
  return ran(design, latency, energy);
}

// Answers by a formula and remembers what it was asked.
struct Oracle {
  std::function<explore::Outcome(explore::Design)> price;
  std::size_t answers = static_cast<std::size_t>(-1);  // then no more
  std::vector<explore::Design> asked = {};
  std::vector<std::size_t> questions = {};  // how long each was

  explore::Ask ask() {
    return [this](std::span<const explore::Design> designs) -> Expected<std::vector<explore::Outcome>> {
      std::vector<explore::Outcome> outcomes;
      questions.push_back(designs.size());
      for (const explore::Design design : designs) {
        if (asked.size() == answers) break;
        asked.push_back(design);
        outcomes.push_back(price(design));
      }
      return outcomes;
    };
  }
  std::set<explore::Design> different() const { return {asked.begin(), asked.end()}; }
};

// Of outcomes that ran: none dominated, each vector once; by the definition.
inline std::vector<std::vector<double>> front_values(const explore::Space& space,
                                                     const std::vector<explore::Outcome>& outcomes) {
  std::set<std::vector<double>> all;
  for (const explore::Outcome& outcome : outcomes) {
    if (!outcome.excluded && outcome.ran()) all.insert(explore::values_of(outcome, space, space.objectives));
  }
  std::vector<std::vector<double>> front;
  for (const auto& one : all) {
    if (std::ranges::none_of(all, [&](const auto& other) { return dominates(other, one); })) front.push_back(one);
  }
  return front;
}

// Area that a front of two objectives dominates below `reference`, as a share of that from `ideal` to it.
inline double area_of(std::vector<std::vector<double>> front, const std::vector<double>& ideal,
                      const std::vector<double>& reference) {
  std::ranges::sort(front);
  double area = 0, height = reference[1];
  for (const auto& point : front) {
    if (point[0] >= reference[0] || point[1] >= height) continue;
    area += (reference[0] - point[0]) * (height - point[1]);
    height = point[1];
  }
  return area / ((reference[0] - ideal[0]) * (reference[1] - ideal[1]));
}

}  // namespace monet::test
