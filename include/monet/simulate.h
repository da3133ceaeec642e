// Training a small network for real, every number rounded as a recipe has it: what a number format does to accuracy.
//
// The reference executor works in float64 and rounds each result to the format of its tensor. It is exact and slow:
// meant for networks up to about a million multiply-accumulates a sample, and some hundred steps. Weights begin at
// random, by the usual rules (training/simulate/initial.h), whatever values a file has.
#pragma once

#include <monet/expected.h>
#include <monet/text.h>
#include <monet/train.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace monet {

struct SimulateOptions {
  TrainOptions train;  // batch, optimizer, loss; its `precision` is the recipe
  std::int64_t steps = 200;
  std::optional<double> learning_rate;     // none: 1e-3 for Adam and its kin, 0.05 for SGD
  std::uint64_t seed = 1;                  // of initial weights, data and order: the same for every recipe
  std::optional<std::uint64_t> data_seed;  // of made-up samples, and of which are held out; none: `seed`
  // Samples, one a line: features, then the class (cross-entropy) or the targets. Empty: a made-up task of the
  // network's own input and output shapes: classes with random centres and noise around them; sequences of tokens with
  // a rule; or the answers of a teacher, the same network with other random weights.
  std::string data;
  std::int64_t samples = 0;        // of the made-up task; 0: 64 batches. A fifth is held out, at least a batch.
  std::int64_t measure_every = 0;  // steps between measurements of the held-out samples; 0: a quarter of all
  bool force = false;              // also what is estimated to take hours
  std::int64_t jobs = 0;
  std::function<bool()> stop;  // asked before each step and micro-batch; true: what was done is given
  std::function<void(const std::string& what, std::size_t done, std::size_t all)> progress;
};

struct Measured {
  std::int64_t step = 0;
  double loss = 0;                 // on the held-out samples
  std::optional<double> accuracy;  // share of right classes; none: not a classification, or no number any more
};

struct Simulation {
  std::string model, precision, optimizer, loss, data;
  std::int64_t batch = 0, steps = 0, parameters = 0;
  double learning_rate = 0;
  std::uint64_t seed = 0;
  std::int64_t macs = 0;           // of a step
  std::vector<double> losses;      // of each step's batch; they end before the first that is not a finite number
  std::vector<Measured> measured;  // the first before any step, the last after the last
  bool diverged = false;           // a loss was not a finite number
  bool stopped = false;
  std::optional<double> chance;  // the loss of guessing among all classes, ln of their number; none: no classes
  std::vector<std::string> warnings, notes;
  double wall_s = 0;

  const Measured& last() const { return measured.back(); }
};

// One recipe, that of options.train. Batches have 32 samples where neither the network nor `options` says more than
// one.
Expected<Simulation> simulate(const Network& network, const SimulateOptions& given);
// Each of `precisions` (recipes), on the same weights, data and order; as many at a time as there are jobs.
Expected<std::vector<Simulation>> simulate(const Network& network, const std::vector<std::string>& precisions,
                                           const SimulateOptions& options);

// What to tell where the held-out loss at the end is hardly below that of guessing; empty: it is, or that is not known.
std::string hardly_learned(const Simulation& simulation);

std::string to_json(const std::vector<Simulation>& simulations);
// precision, step, loss, held_out_loss, held_out_accuracy: a line for each step, from 0
std::string to_csv(const std::vector<Simulation>& simulations);
Text to_text(const std::vector<Simulation>& simulations);  // the first is what the others are compared with

}  // namespace monet
