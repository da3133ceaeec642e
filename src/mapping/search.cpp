#include "mapping/search.h"

#include "base/try.h"
#include "mapping/builder.h"
#include "mapping/describe.h"
#include "mapping/extract.h"
#include "mapping/refine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace monet {

namespace {

// Orders, finished or not, that the search looks at for a problem; what is beyond is left out. Ten different loops need
// less.
constexpr std::size_t order_limit = 2'000'000;

// All orders of a multiset of factors on one frame, depth first, innermost loop first.
class OrderSearch {
 public:
  // `visited` and `effort` count on from one unrolling to the next.
  OrderSearch(const Frame& frame, const SearchOptions& options, OrderBuilder& builder, Score& best,
              std::size_t& visited, SearchEffort& effort)
      : frame_(frame), options_(options), builder_(builder), best_(best), visited_(visited), effort_(effort) {
    left_.resize(frame.loops);
    builder.reset(frame);
  }

  // All orders of `factors`, with `outermost` around them. True: something better than `best` was found.
  bool run(const std::vector<Factor>& factors, std::optional<Factor> outermost = {}) {
    outermost_ = outermost;
    if (outermost) ++left_[outermost->loop];
    for (const Factor& factor : factors) {
      ++left_[factor.loop];
      if (!kinds_.empty() && kinds_.back() == factor) {
        ++count_.back();
      } else {
        kinds_.push_back(factor);
        count_.push_back(1);
      }
    }
    total_ = factors.size();
    if (options_.prune) look_ahead();
    descend();
    builder_.look_no_further();
    return !order_.empty() || found_;
  }

  const std::vector<Factor>& order() const { return order_; }
  const Cuts& cuts() const { return cuts_; }
  double evaluated() const { return cut_search_.evaluated; }
  bool complete() const { return cut_search_.complete && visited_ <= order_limit; }

 private:
  void look_ahead() {
    std::vector<Factor> kinds = kinds_;
    std::vector<std::size_t> counts = count_;
    outermost_kind_ = kinds.size();
    if (outermost_) {
      kinds.push_back(*outermost_);
      counts.push_back(1);
    }
    builder_.look_ahead(kinds, counts);
  }

  bool hopeless() const {
    if (!options_.prune) return false;
    const double cycles = builder_.least_cycles();
    if (options_.objective == Objective::latency && effort_.is_worth({cycles, best_.second}, best_)) return false;
    const double energy = builder_.least_energy() + static_pj(frame_, cycles);
    return !effort_.is_worth(score_of(options_.objective, cycles, energy), best_);
  }

  void descend() {
    ++effort_.steps;
    if (++visited_ > order_limit || effort_.is_spent()) return;
    if (hopeless()) return;
    if (chosen_.size() == total_) {
      if (outermost_) builder_.push(outermost_->loop, outermost_->size, true, outermost_kind_);
      builder_.finish();
      if (cut_search_.run(frame_, builder_.cuts(), options_.objective, options_.constraints.held, effort_, best_,
                          cuts_)) {
        order_ = chosen_;
        if (outermost_) order_.push_back(*outermost_);
        found_ = true;
      }
      builder_.unfinish();
      if (outermost_) builder_.pop();
      return;
    }
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (count_[kind] == 0 || !allowed(kinds_[kind])) continue;
      const Factor factor = kinds_[kind];
      --count_[kind];
      const bool last = --left_[factor.loop] == 0;
      builder_.push(factor.loop, factor.size, last, kind);
      chosen_.push_back(factor);
      descend();
      chosen_.pop_back();
      builder_.pop();
      ++left_[factor.loop];
      ++count_[kind];
    }
  }

  // What the user has said of the next place.
  bool allowed(const Factor& factor) const {
    const std::size_t place = chosen_.size();
    const auto fits = [&](const OrderSlot& slot) {
      return slot.loop.value_or(factor.loop) == factor.loop && slot.size.value_or(factor.size) == factor.size;
    };
    const MappingConstraints& given = options_.constraints;
    if (place < given.innermost.size() && !fits(given.innermost[place])) return false;
    const std::size_t from_outside = total_ - 1 - place;
    return from_outside >= given.outermost.size() || fits(given.outermost[from_outside]);
  }

  const Frame& frame_;
  const SearchOptions& options_;
  OrderBuilder& builder_;
  Score& best_;
  std::size_t& visited_;
  SearchEffort& effort_;
  std::vector<Factor> kinds_;
  std::vector<std::size_t> count_;
  std::vector<std::size_t> left_;
  std::size_t total_ = 0;
  std::optional<Factor> outermost_;
  std::size_t outermost_kind_ = 0;
  std::vector<Factor> chosen_;
  std::vector<Factor> order_;
  Cuts cuts_{};
  bool found_ = false;
  CutSearch cut_search_;
};

// Too large to be made for every problem.
OrderBuilder& builder_of_this_thread() {
  thread_local const auto builder = std::make_unique<OrderBuilder>();
  return *builder;
}

constexpr const char* smaller_tiles = "give it smaller tiles";
constexpr const char* no_points = "one of its loops has no iterations";

bool has_points(const Problem& problem) {
  return std::ranges::all_of(problem.loops, [](const Loop& loop) { return loop.size > 0; });
}

std::vector<Factor> given_factors(const MappingConstraints& constraints) {
  std::vector<Factor> given;
  for (const auto* slots : {&constraints.innermost, &constraints.outermost}) {
    for (const OrderSlot& slot : *slots) {
      if (slot.loop && slot.size && *slot.size > 1) given.push_back({*slot.loop, *slot.size});
    }
  }
  return given;
}

}  // namespace

Expected<MappedProblem> map_problem(const Problem& problem, const Target& target, const SearchOptions& options) {
  if (!has_points(problem)) return Error{.kind = ErrorKind::infeasible, .message = no_points};
  SpatialOptions spatial;
  spatial.fixed = options.constraints.unrolled;
  const std::vector<Unrolling> choices = spatial_choices(problem, target, spatial);
  Score best;
  std::optional<MappedProblem> result;
  double evaluated = 0;
  std::size_t visited = 0;
  SearchEffort effort;
  bool complete = true;
  std::string reason;
  bool too_large = true;
  OrderBuilder& builder = builder_of_this_thread();
  const std::vector<Factor> given = given_factors(options.constraints);
  const bool free = given.empty() && options.constraints.innermost.empty() && options.constraints.outermost.empty();
  double cycles_per_point = 0;
  for (const Unrolling& choice : choices) {
    // They are sorted: none of the rest can be faster.
    const bool hopeful =
        effort.is_worth(score_of(options.objective, choice.compute_points * cycles_per_point, 0), best);
    if (options.prune && options.objective == Objective::latency && !target.unit.cycle_rule && !hopeful) break;
    const Frame frame = make_frame(problem, target, choice);
    if (!frame.infeasible.empty()) {
      reason = frame.infeasible;
      too_large = frame.too_large;
      continue;
    }
    if (!target.unit.cycle_rule) cycles_per_point = frame.cycles_per_point;
    const std::vector<Factor> factors = factors_of(choice.iterations, options.factors, given);
    if (factors.size() > max_factors) {
      reason = fmt::format("{} pieces of loops are more than the model has room for", factors.size());
      too_large = false;
      continue;
    }
    std::optional<std::pair<std::vector<Factor>, Cuts>> found;
    const auto look = [&](const std::vector<Factor>& inner, std::optional<Factor> outermost) {
      OrderSearch search(frame, options, builder, best, visited, effort);
      if (search.run(inner, outermost)) found = {search.order(), search.cuts()};
      evaluated += search.evaluated();
      complete &= search.complete();
    };
    look(factors, {});
    // Joined pieces are coarser for a larger batch: it can be worked on in parts as well, as smaller ones are.
    if (free && factors.size() >= options.factors && factors.size() < max_factors) {
      for (std::size_t loop = 0; loop < problem.loops.size(); ++loop) {
        if (problem.loops[loop].name != Dim::B) continue;
        std::vector<std::int64_t> part(choice.iterations.begin(), choice.iterations.end());
        for (std::int64_t parts = 2; part[loop] % 2 == 0; parts *= 2) {
          part[loop] /= 2;
          look(factors_of(part, options.factors), Factor{static_cast<std::uint8_t>(loop), parts});
        }
      }
    }
    if (found) {
      auto& [order, cuts] = *found;
      if (options.refine && free) refine(frame, options, builder, best, order, cuts);
      builder.build(order);
      builder.finish();
      result = describe(frame, builder, cuts);
      builder.unfinish();
    }
  }
  if (!result) {
    if (reason.empty()) {
      reason = free ? "no order of its loops fits the memories"
                    : "no order of its loops that is as prescribed fits the memories";
    }
    return Error{.kind = ErrorKind::infeasible, .message = reason, .advice = too_large ? smaller_tiles : ""};
  }
  result->evaluated = evaluated;
  result->within = effort.slack();
  result->complete = complete && !effort.is_spent();
  return *result;
}

namespace {

Error does_not_fit(std::string message) { return {.kind = ErrorKind::infeasible, .message = std::move(message)}; }

// The candidate that a cut falls on: loops that the operand ignores belong to the level below.
std::optional<std::uint8_t> candidate_at(const OperandCuts& operand, std::uint8_t cut) {
  for (std::size_t k = 0; k < operand.count; ++k) {
    if (operand.candidate[k]->cut >= cut) return static_cast<std::uint8_t>(k);
  }
  return std::nullopt;
}

// Lanes that the unit has, along each of its dimensions.
bool fits(const Unit& unit, const std::vector<SpatialLoop>& spatial) {
  std::vector<double> lanes(unit.dimensions.size(), 1);
  for (const SpatialLoop& loop : spatial) lanes[loop.dimension] *= static_cast<double>(loop.size);
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i] > static_cast<double>(unit.dimensions[i].size)) return false;
  }
  return true;
}

bool fits(const Frame& frame, const OrderCuts& operands, const Cuts& cuts) {
  std::vector<double> used(frame.target->memories.size(), 0);
  for (std::size_t o = 0; o < frame.operands; ++o) {
    std::uint8_t below = 0;
    for (std::size_t level = 0; level < frame.operand[o].levels; ++level) {
      const bool home = level + 1U == frame.operand[o].levels;
      const std::size_t k = home ? operands[o].count - 1 : cuts[o][level];
      const Candidate& candidate = *operands[o].candidate[k];
      used[frame.operand[o].memory[level]] += held_bits(frame, operands, o, level, candidate.tile, below);
      below = candidate.cut;
    }
  }
  for (std::size_t m = 0; m < used.size(); ++m) {
    if (used[m] > static_cast<double>(frame.target->memories[m].size_bits)) return false;
  }
  return true;
}

}  // namespace

Expected<MappedProblem> cost_of(const Problem& problem, const Target& target, const Mapping& mapping) {
  if (!has_points(problem)) return does_not_fit(no_points);
  for (const SpatialLoop& loop : mapping.spatial) {
    if (loop.loop >= problem.loops.size() || loop.dimension >= target.unit.dimensions.size()) {
      return does_not_fit("the unrolling names a loop or a dimension that is not there");
    }
    if (loop.size < 1) return does_not_fit("the unrolling takes no lanes");
  }
  const Unrolling unrolling = unrolling_of(problem, mapping.spatial);
  if (!fits(target.unit, unrolling.spatial)) return does_not_fit("the unrolling takes more lanes than there are");
  const Frame frame = make_frame(problem, target, unrolling);
  if (!frame.infeasible.empty()) return does_not_fit(frame.infeasible);
  std::vector<Factor> order;
  std::vector<double> covered(problem.loops.size(), 1);
  for (const TemporalLoop& loop : mapping.temporal) {
    if (loop.loop >= problem.loops.size()) return does_not_fit("the order names a loop that is not there");
    if (loop.size < 1) return does_not_fit("a loop of the order has no iterations");
    order.push_back({loop.loop, loop.size});
    covered[loop.loop] *= static_cast<double>(loop.size);
  }
  for (std::size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] < static_cast<double>(unrolling.iterations[i])) {
      return does_not_fit(fmt::format("the order leaves out iterations of loop {}", name_of(problem.loops[i].name)));
    }
  }
  if (order.size() > max_factors || mapping.cuts.size() != frame.operands) {
    return does_not_fit("the mapping is of another problem");
  }
  OrderBuilder& builder = builder_of_this_thread();
  builder.reset(frame);
  builder.build(order);
  builder.finish();
  Cuts cuts{};
  for (std::size_t o = 0; o < frame.operands; ++o) {
    if (mapping.cuts[o].size() != frame.operand[o].levels) return does_not_fit("the mapping is of another machine");
    for (std::size_t level = 0; level + 1U < frame.operand[o].levels; ++level) {
      const auto candidate = candidate_at(builder.cuts()[o], mapping.cuts[o][level]);
      if (!candidate || (level > 0 && *candidate < cuts[o][level - 1]))
        return does_not_fit("the levels are not in order");
      cuts[o][level] = *candidate;
    }
  }
  if (!fits(frame, builder.cuts(), cuts)) return does_not_fit("the tiles do not fit the memories");
  return describe(frame, builder, cuts);
}

}  // namespace monet
