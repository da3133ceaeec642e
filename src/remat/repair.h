// Brings a sequence under the budget: at a row with too much, a tensor that is live there and not used is dropped, and
// run again, or paged in, just before its next use.
#pragma once

#include "base/random.h"
#include "remat/prices.h"
#include "remat/sequence.h"

#include <functional>

namespace monet::remat {

// True: what has been found so far is the answer. Asked often.
using Stop = std::function<bool()>;

// Techniques of the search, each a switch.
struct Moves {
  bool recompute = true;        // run nodes again
  bool page = true;             // page tensors out and in, where there is a channel
  bool reorder = false;         // first runs may leave the given order
  bool prune = true;            // take out repeats that are not needed after all
  bool improve = true;          // large-neighbourhood search; without it the first repair is the answer
  int chain_depth = 5;          // of dead operands that are run again with a node
  std::size_t chain_runs = 12;  // of such a chain, about
};

class Repair {
 public:
  // `problem` must outlive this.
  Repair(const Problem& problem, std::int64_t budget, const Moves& moves);

  // True: `sequence` is within the budget; false: no drop was found that brings it nearer. `profile` is of it then.
  // `noise`: 0 always takes the drop with the best score, the excess that it removes for its price.
  bool run(Sequence& sequence, Profile& profile, const Prices& prices, SeededRandom& random, double noise,
           const Stop& stop);

 private:
  struct Choice {
    double score = 0;
    Row before = -1;  // where the chain goes
    Row from = 0;     // rows after this one, up to `before`, change
    std::vector<Run> chain;
  };
  // An operand of the chain that would be dead without it.
  struct Kept {
    NodeIndex node;
    Row end;  // without it
    std::int64_t bytes;
    std::size_t needed;  // by this member of the chain, last
  };
  // A tensor that could be dropped: not used between two rows.
  struct Gap {
    NodeIndex node;
    Row last_use, next_use;
    bool moves;     // the run before it has no use left and goes: the run moves down
    bool first;     // that one is the first of its node
    double refund;  // its price
    double factor;  // noise
    double most;    // excess that dropping it can remove
    double limit;   // of its score
  };

  void sum_excess(const Profile& profile);
  void list_over(const Profile& profile);
  bool find_drop(const Sequence& sequence, const Profile& profile);
  bool find_drops(const Sequence& sequence, const Profile& profile);
  void insert(Sequence& sequence);
  bool drop_at(Row row, const Sequence& sequence, const Profile& profile);
  Gap gap_of(Row run, Row row, Row last_use, const Sequence& sequence, const Profile& profile) const;
  double least_score(const Gap& gap) const;
  bool may_recompute(const Gap& gap) const;
  double page_price(const Gap& gap) const;
  double chain_price(const Gap& gap) const;
  double score(const Gap& gap, double removed, double price) const;
  void consider(const Gap& gap, const Sequence& sequence, const Profile& profile);
  void find_kept(const Gap& gap, const Profile& profile);
  bool lengthen_chain();
  void offer(const Gap& gap, double price, bool paged, const Sequence& sequence, const Profile& profile);
  double removed(const Gap& gap, const Sequence& sequence, const Profile& profile);
  double added_in_chain(std::int64_t live) const;
  double excess(std::int64_t bytes) const { return bytes > budget_ ? static_cast<double>(bytes - budget_) : 0; }

  const Problem& problem_;
  const Prices* prices_ = nullptr;
  SeededRandom* random_ = nullptr;
  const Stop* stop_ = nullptr;
  double noise_ = 0;
  std::int64_t budget_;
  Moves moves_;
  std::vector<std::uint8_t> has_storage_;  // by node: a copy that was paid for
  std::vector<Row> over_;
  std::vector<Row> over_before_;       // by row: rows with too much before it
  std::vector<double> excess_before_;  // by row: their excess
  std::vector<double> surplus_;        // by row: bytes less the budget
  std::vector<Gap> gaps_;
  std::vector<NodeIndex> chain_;     // the one dropped is the last
  std::vector<std::size_t> needed_;  // by member of the chain: the last that reads it; itself without one
  std::vector<Kept> kept_;
  Choice best_;
  std::vector<Choice> chosen_;  // in rows of their own
  Sequence inserted_;
};

}  // namespace monet::remat
