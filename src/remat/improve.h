// Large-neighbourhood search: some repeats are taken out, the sequence is repaired otherwise, and kept if it is no
// worse. Also of sequences that are over the budget still.
#pragma once

#include "remat/goal.h"
#include "remat/prune.h"
#include "remat/repair.h"

#include <cstdint>

namespace monet::remat {

class Improve {
 public:
  // `problem` and `goal` must outlive this.
  // `slack`: how much worse than the best a neighbour may be and is still gone on from, as a share of what the best
  // costs more than no repeats.
  Improve(const Problem& problem, const Goal& goal, const Moves& moves, std::uint64_t seed, double slack, Stop stop);

  // From here on; first repaired where it is over the budget.
  void start(const Sequence& sequence, double noise);
  // One neighbour. True: better than all before.
  bool step();

  const Sequence& best() const { return best_; }
  const Value& best_value() const { return best_value_; }

 private:
  const Prices& random_guide();
  void finish(const Prices& prices);
  void take_out();
  void choose_repeats();
  void shift_some();
  void shift(Row run);
  bool accept();

  const Problem& problem_;
  const Goal& goal_;
  Moves moves_;
  Measure measure_;
  std::vector<Prices> guides_;  // the first is the objective
  Repair repair_;
  SeededRandom random_;
  Profile profile_;
  Sequence current_, next_, best_;
  std::vector<Row> repeats_;
  Value current_value_, best_value_;
  Stop stop_;
  double slack_;
  double base_price_;
};

}  // namespace monet::remat
