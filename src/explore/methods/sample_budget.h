// What a method has seen so far, and how much more it may see.
#pragma once

#include "explore/methods/methods.h"

#include <map>
#include <span>
#include <vector>

namespace monet::explore {

// Designs looked at for one that is not excluded, at most.
constexpr std::uint64_t most_tries_per_sample = 1000;

struct Seen {
  std::vector<double> values;  // by objective, made small; none: it did not run
  bool excluded = false;

  bool ran() const { return !values.empty(); }
};

class SampleBudget {
 public:
  // `samples`: designs that are looked at, excluded ones not counted. `remember`: what is seen is kept.
  SampleBudget(const Space& space, const MethodOptions& options, const Ask& ask, std::size_t samples,
               bool remember = true);

  // Asks for those that were not looked at before, in this order and once each, as far as the samples go. Which these
  // are does not depend on who answers.
  Status look(std::span<const Design> designs);

  // No more may be asked: the samples are spent, the user wants no more, or constraints leave very little of the space.
  bool over() const { return stopped_ || left() == 0 || looked_at_ >= most_tries_per_sample * samples_; }
  std::size_t left() const { return samples_ - counted_; }
  std::uint64_t looked_at() const { return looked_at_; }
  Searched result() const { return {.looked_at = looked_at_, .complete = !stopped_}; }

  const Seen* find(Design design) const;
  const std::map<Design, Seen>& seen() const { return seen_; }
  // Those that ran and are dominated by none, equal values once; by objectives.
  std::vector<Design> front() const;

 private:
  Status ask(std::span<const Design> designs);

  const Space& space_;
  const MethodOptions& options_;
  const Ask& ask_;
  std::size_t samples_, counted_ = 0;
  std::uint64_t looked_at_ = 0;
  bool remember_, stopped_ = false;
  std::map<Design, Seen> seen_;
};

}  // namespace monet::explore
