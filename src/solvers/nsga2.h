// The genetic search NSGA-II (Deb et al., 2002): several objectives at once, all made small. Choices are whole numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace monet {

using Genome = std::vector<std::uint16_t>;

struct GeneticPoint {
  Genome genome;
  std::vector<double> objectives;
  double violation = 0;  // of constraints; points without come before all with

  bool operator==(const GeneticPoint&) const = default;
};

struct GeneticOptions {
  std::size_t population = 100;
  std::size_t generations = 50;
  double crossover = 0.9;  // share of children that mix two parents, gene by gene
  double mutation = 0.1;   // of a gene
  bool ordered = false;    // values of a gene have an order: half of its mutations go one step
  std::uint64_t seed = 1;
  std::function<bool()> stop;  // asked after each generation
  std::function<void(std::size_t generation, std::size_t evaluated)> progress;
};

struct GeneticResult {
  std::vector<GeneticPoint> population;  // the last one
  std::vector<GeneticPoint> front;       // the best of all that were looked at, in the order of their objectives
  std::size_t evaluated = 0;             // different genomes
  std::size_t generations = 0;
};

// No worse in all, better in one.
bool dominates(std::span<const double> a, std::span<const double> b);

// Points without violation of which none dominates another, each vector of objectives once; sorted by objectives.
std::vector<GeneticPoint> front_of(std::vector<GeneticPoint> points);

// Fills objectives and violation of points that all have different genomes, none of them looked at before.
using GeneticEvaluate = std::function<void(std::span<GeneticPoint>)>;

// `choices`: how many values each gene has. `seeds`: genomes of the first population; the rest are random.
// Deterministic for a seed, whatever `evaluate` does in parallel.
GeneticResult nsga2(std::span<const std::uint16_t> choices, std::span<const Genome> seeds,
                    const GeneticEvaluate& evaluate, const GeneticOptions& options);

}  // namespace monet
