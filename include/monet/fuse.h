// Layers of a training step fused into stacks, and the sizes of their tiles.
#pragma once

#include <monet/evaluate.h>
#include <monet/reach.h>
#include <monet/text.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace monet {

struct FuseOptions {
  // The step and the machine. Of its plan all but the stacks is kept; its objective is not used.
  StepRequest step;

  std::string objective = "latency";  // sets, traffic, latency, energy, edp
  // own: all but views are operators; published: neither are Sum, Gather, Pad and generated values, 8 bits a weight.
  std::string rules = "own";
  std::int64_t limit = 6;         // operators of a stack
  std::int64_t convolutions = 3;  // of a stack
  std::int64_t transposed = 3;
  std::int64_t products = 1;
  std::int64_t convolutions_with_product = 1;
  std::int64_t leaving = 1;  // operators whose results are read outside
  bool divisible_tilings = true;
  bool weights_fit = true;
  // Numbers of nodes, first and last: these stacks, whatever the rules say, and the rest single.
  std::vector<std::pair<std::int64_t, std::int64_t>> stacks;

  bool tiles = true;    // else no operator is cut
  bool improve = true;  // on evaluations of the whole step
  double effort = 1;    // of improvement
  std::int64_t max_candidates = 500000;
  // Techniques of the exact choice; none changes the cost of the answer.
  bool dominance = true, decompose = true, repeat = true, dynamic = true, lift = true;

  double time_limit_s = 0;     // 0: none
  std::function<bool()> stop;  // asked often: true ends the search with the best so far
};

struct FusedOperators {
  std::vector<std::string> operators;
  // Iterations of a tile by operator and loop: {"conv1", {{"OY", 4}}}; operators that are not cut are left out.
  std::vector<std::pair<std::string, std::vector<std::pair<std::string, std::int64_t>>>> tiles;
};

struct Fusion {
  std::string model, hardware, objective, rules;
  std::string recipe, recipe_from;  // of the number formats, as in Evaluation
  Reach reach;
  std::int64_t limit = 0;
  bool given = false;  // the stacks were
  double clock_hz = 0;

  std::vector<FusedOperators> stacks;  // every operator that counts is in one, single ones too
  double latency_cycles = 0, energy_pj = 0;
  double unfused_cycles = 0, unfused_pj = 0;
  std::int64_t tiles = 0;
  std::int64_t operators = 0;   // that count
  std::int64_t candidates = 0;  // sets that the rules allow
  std::int64_t classes = 0;     // of equal content
  std::int64_t priced = 0;      // evaluations of single sets
  std::int64_t evaluated = 0;   // and of the whole step
  std::int64_t parts = 0, parts_solved = 0, programs = 0, cuts = 0;
  bool complete = true;    // no set was left out because there were too many
  bool proven = false;     // no choice of sets is better in what is predicted
  bool unchanged = false;  // the step as it was is the best that was found
  bool stopped = false;
  double predicted = 0;                   // sum over the sets: number, bytes, cycles, pJ; edp: product of the two sums
  double predicted_bound = 0;             // no choice of sets is predicted to be better
  std::int64_t bound_stacks = 0;          // no choice has fewer
  double bound_cycles = 0, bound_pj = 0;  // no plan at all does better

  std::vector<std::string> warnings, notes;
  std::string plan_yaml;
  double wall_s = 0;
};

Expected<Fusion> fuse_network(const Network& network, const FuseOptions& given);

std::string to_json(const Fusion& fusion);
// With the largest `stacks` stacks; 0: all.
Text to_text(const Fusion& fusion, std::size_t stacks);

}  // namespace monet
