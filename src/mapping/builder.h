// Builds an order of loops from the innermost outward, keeping the candidates for cuts of every operand at hand.
#pragma once

#include "mapping/candidates.h"
#include "mapping/factors.h"
#include "mapping/order.h"
#include "mapping/outlook.h"

namespace monet {

// Large: make one and use it for many frames.
class OrderBuilder {
 public:
  // Begins anew. The frame must outlive its use here.
  void reset(const Frame& frame);
  // The whole order, keeping what it has in common with the present one.
  void build(const std::vector<Factor>& order) {
    build(order, [] { return false; });
  }
  // The same, as long as there is hope for what is there so far: whether it is whole.
  template <class IsHopeless>
  bool build(const std::vector<Factor>& order, const IsHopeless& is_hopeless) {
    for (std::size_t i = keep_common(order); i < order.size(); ++i) {
      push(order[i].loop, order[i].size, is_last(order, i));
      if (is_hopeless()) return false;
    }
    return true;
  }

  // All orders of these pieces are built next, each so many times: the least that they can cost is known better. They
  // are then pushed by their number.
  void look_ahead(std::span<const Factor> kinds, std::span<const std::size_t> counts);
  void look_no_further() { outlook_.clear(); }

  // The next loop outward. The last piece of a loop takes what is left of it, whatever its size.
  void push(std::uint8_t loop, std::int64_t size, bool last, std::size_t kind = 0);
  void pop();
  // After all iterations are placed: the candidates that lie below no loop.
  void finish();
  void unfinish();

  const std::vector<TemporalLoop>& order() const { return order_; }
  const OrderCuts& cuts() const { return cuts_; }

  // No completion of this order needs less.
  double least_energy() const;
  double least_cycles() const;

 private:
  struct State {
    std::array<double, max_frame_loops> average;  // extents in time below this depth
    std::array<double, max_frame_loops> most;
    std::uint64_t extents = 0;                    // CandidateTable::hash_of_extent of all of them, added up
    double product = 1;                           // iterations below this depth
    std::array<double, max_frame_operands> idle;  // product of the loops just below that an operand ignores
    // Of each link, over the candidates so far.
    std::array<std::array<LeastCost, max_frame_levels>, max_frame_operands> least;
    std::array<std::uint8_t, max_frame_operands> open;    // levels whose memory may hold more
    std::array<std::uint16_t, max_frame_operands> below;  // pieces, as the outlook numbers sets of them
  };

  static bool is_last(const std::vector<Factor>& order, std::size_t at);
  std::size_t keep_common(const std::vector<Factor>& order);
  LeastCost least_link(std::size_t operand, std::size_t level) const;
  void add_candidate(std::size_t operand);
  void make_candidate(std::size_t operand, Candidate& candidate) const;
  void set_unit(std::size_t operand, double stationary);

  const Frame* frame_ = nullptr;
  std::size_t depth_ = 0;
  std::vector<TemporalLoop> order_;
  std::vector<bool> last_;
  std::array<State, max_factors + 2> state_;
  OrderCuts cuts_;
  CandidateTable candidates_;
  Outlook outlook_;
  std::array<std::array<LeastCost, max_frame_levels>, max_frame_operands> compulsory_{};
  std::array<LinkCost, max_frame_operands> least_unit_{};
  std::array<double, max_frame_operands> distinct_{};  // iterations of the loops it depends on
};

}  // namespace monet
