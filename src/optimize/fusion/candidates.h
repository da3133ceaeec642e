// Sets of operators that could be one stack.
//
// This folder uses evaluate and optimize/program. Inside it: rules < problem < candidates < part, rings, dominance <
// cover; extract, shared_loops < price; cover, price < choose < improve (with moves) < fuse. check stands apart and
// shares nothing but rules.
#pragma once

#include "optimize/fusion/problem.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace monet::fusion {

struct CandidateOptions {
  std::size_t per_operator = 4096;  // sets whose first operator is the same
  std::size_t total = 500000;
  std::function<bool()> stop;  // asked now and then: no more sets are looked for
};

struct Candidates {
  Lists<Index> sets;     // operators in order; the first size() are the single ones
  bool complete = true;  // all that the rules allow are there
};

// Which operators lie behind which, for all pairs.
class Reachability {
 public:
  // Cost: operators times what follows them, by 64; a bit for each pair.
  explicit Reachability(const Problem& problem);
  bool leads(Index from, Index to) const { return ((rows_[from * words_ + to / 64] >> (to % 64)) & 1U) != 0; }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> rows_;
};

// Every set that keeps the rules: connected by what passes between its operators, with no way out of it and back in.
// Each once, in an order that depends on nothing else. A single operator is always there, whatever the rules say.
Candidates candidates_of(const Problem& problem, const Rules& rules, const Reachability& reach,
                         const CandidateOptions& options = {});

}  // namespace monet::fusion
