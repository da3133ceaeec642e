#include "solvers/nsga2.h"

#include "base/random.h"

#include <algorithm>
#include <limits>
#include <map>

namespace monet {

bool dominates(std::span<const double> a, std::span<const double> b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better |= a[i] < b[i];
  }
  return better;
}

std::vector<GeneticPoint> front_of(std::vector<GeneticPoint> points) {
  std::erase_if(points, [](const GeneticPoint& p) { return p.violation > 0; });
  std::ranges::stable_sort(points, {}, &GeneticPoint::objectives);
  // Sorted so, a point can only be dominated by one before it.
  std::vector<GeneticPoint> front;
  for (GeneticPoint& point : points) {
    const bool beaten = std::ranges::any_of(front, [&](const GeneticPoint& other) {
      return other.objectives == point.objectives || dominates(other.objectives, point.objectives);
    });
    if (!beaten) front.push_back(std::move(point));
  }
  return front;
}

namespace {

struct Standing {
  std::size_t rank = 0;
  double crowding = 0;
};

bool comes_before(const GeneticPoint& a, const GeneticPoint& b) {
  if (a.violation > 0 || b.violation > 0) return a.violation < b.violation;
  return dominates(a.objectives, b.objectives);
}

// By the number of fronts that must be taken away before a point is in one.
std::vector<std::size_t> ranks_of(const std::vector<GeneticPoint>& points) {
  const std::size_t count = points.size();
  std::vector<std::vector<std::size_t>> beats(count);
  std::vector<std::size_t> beaten_by(count, 0), rank(count, 0), front;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (!comes_before(points[i], points[j])) continue;
      beats[i].push_back(j);
      ++beaten_by[j];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (beaten_by[i] == 0) front.push_back(i);
  }
  for (std::size_t level = 0; !front.empty(); ++level) {
    std::vector<std::size_t> next;
    for (std::size_t i : front) {
      rank[i] = level;
      for (std::size_t j : beats[i]) {
        if (--beaten_by[j] == 0) next.push_back(j);
      }
    }
    front = std::move(next);
  }
  return rank;
}

// How far the neighbours of the same rank are, in every objective.
std::vector<Standing> standings_of(const std::vector<GeneticPoint>& points) {
  const std::vector<std::size_t> rank = ranks_of(points);
  std::vector<Standing> result(points.size());
  std::map<std::size_t, std::vector<std::size_t>> fronts;
  for (std::size_t i = 0; i < points.size(); ++i) {
    result[i].rank = rank[i];
    fronts[rank[i]].push_back(i);
  }
  for (auto& [level, front] : fronts) {
    for (std::size_t o = 0; o < points[front.front()].objectives.size(); ++o) {
      std::ranges::stable_sort(front, {}, [&](std::size_t i) { return points[i].objectives[o]; });
      const double width = points[front.back()].objectives[o] - points[front.front()].objectives[o];
      result[front.front()].crowding = result[front.back()].crowding = std::numeric_limits<double>::infinity();
      for (std::size_t k = 1; k + 1 < front.size() && width > 0; ++k) {
        result[front[k]].crowding += (points[front[k + 1]].objectives[o] - points[front[k - 1]].objectives[o]) / width;
      }
    }
  }
  return result;
}

class Evolution {
 public:
  Evolution(std::span<const std::uint16_t> choices, const GeneticEvaluate& evaluate, const GeneticOptions& options)
      : choices_(choices), evaluate_(evaluate), options_(options), random_(options.seed) {}

  GeneticResult run(std::span<const Genome> seeds) {
    std::vector<GeneticPoint> population = looked_at(first(seeds));
    GeneticResult result;
    for (; result.generations < options_.generations; ++result.generations) {
      if (options_.progress) options_.progress(result.generations, known_.size());
      if (options_.stop && options_.stop()) break;
      const std::vector<Standing> standing = standings_of(population);
      std::vector<Genome> children;
      while (children.size() < options_.population) children.push_back(child(population, standing));
      for (GeneticPoint& point : looked_at(std::move(children))) population.push_back(std::move(point));
      select(population);
    }
    std::vector<GeneticPoint> all;
    for (const auto& [genome, point] : known_) all.push_back(point);
    result.front = front_of(std::move(all));
    result.population = std::move(population);
    result.evaluated = known_.size();
    return result;
  }

 private:
  std::vector<Genome> first(std::span<const Genome> seeds) {
    std::vector<Genome> genomes(
        seeds.begin(), seeds.begin() + static_cast<std::ptrdiff_t>(std::min(seeds.size(), options_.population)));
    while (genomes.size() < options_.population) {
      Genome genome;
      for (std::uint16_t count : choices_) genome.push_back(static_cast<std::uint16_t>(random_.below(count)));
      genomes.push_back(std::move(genome));
    }
    return genomes;
  }

  // The points of these genomes, each genome once; what is not known is evaluated.
  std::vector<GeneticPoint> looked_at(std::vector<Genome> genomes) {
    std::ranges::sort(genomes);
    genomes.erase(std::ranges::unique(genomes).begin(), genomes.end());
    std::vector<GeneticPoint> unknown;
    for (const Genome& genome : genomes) {
      if (!known_.contains(genome)) unknown.push_back({.genome = genome, .objectives = {}, .violation = 0});
    }
    if (!unknown.empty()) evaluate_(unknown);
    for (GeneticPoint& point : unknown) known_.emplace(point.genome, std::move(point));
    std::vector<GeneticPoint> points;
    for (const Genome& genome : genomes) points.push_back(known_.at(genome));
    return points;
  }

  // The better of two by chance.
  const Genome& parent(const std::vector<GeneticPoint>& population, const std::vector<Standing>& standing) {
    const std::size_t a = random_.below(population.size());
    const std::size_t b = random_.below(population.size());
    const bool first = standing[a].rank != standing[b].rank ? standing[a].rank < standing[b].rank
                                                            : standing[a].crowding >= standing[b].crowding;
    return population[first ? a : b].genome;
  }

  Genome child(const std::vector<GeneticPoint>& population, const std::vector<Standing>& standing) {
    Genome genome = parent(population, standing);
    if (random_.with(options_.crossover)) {
      const Genome& other = parent(population, standing);
      for (std::size_t g = 0; g < genome.size(); ++g) {
        if (random_.with(0.5)) genome[g] = other[g];
      }
    }
    for (std::size_t g = 0; g < genome.size(); ++g) {
      if (choices_[g] < 2 || !random_.with(options_.mutation)) continue;
      if (options_.ordered && random_.with(0.5)) {
        const bool up = genome[g] == 0 || (genome[g] + 1U < choices_[g] && random_.with(0.5));
        genome[g] = static_cast<std::uint16_t>(genome[g] + (up ? 1 : -1));
        continue;
      }
      // Another value than before.
      const auto value = static_cast<std::uint16_t>(random_.below(choices_[g] - 1U));
      genome[g] = static_cast<std::uint16_t>(value + (value >= genome[g] ? 1 : 0));
    }
    return genome;
  }

  void select(std::vector<GeneticPoint>& population) const {
    std::ranges::sort(population, {}, &GeneticPoint::genome);
    population.erase(std::ranges::unique(population, {}, &GeneticPoint::genome).begin(), population.end());
    const std::vector<Standing> standing = standings_of(population);
    std::vector<std::size_t> order(population.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return standing[a].rank != standing[b].rank ? standing[a].rank < standing[b].rank
                                                  : standing[a].crowding > standing[b].crowding;
    });
    order.resize(std::min(order.size(), options_.population));
    std::vector<GeneticPoint> kept;
    for (std::size_t i : order) kept.push_back(std::move(population[i]));
    population = std::move(kept);
  }

  std::span<const std::uint16_t> choices_;
  const GeneticEvaluate& evaluate_;
  const GeneticOptions& options_;
  SeededRandom random_;
  std::map<Genome, GeneticPoint> known_;
};

}  // namespace

GeneticResult nsga2(std::span<const std::uint16_t> choices, std::span<const Genome> seeds,
                    const GeneticEvaluate& evaluate, const GeneticOptions& options) {
  return Evolution(choices, evaluate, options).run(seeds);
}

}  // namespace monet
