// Outcomes as rows of a store's tables, and back: every number to the bit.
#pragma once

#include "explore/price/outcome.h"
#include "explore/store/database.h"

#include <functional>
#include <optional>

namespace monet::explore {

// What is wrong with results that were read: they are of other workloads than the space's, or no numbers. Empty:
// nothing.
std::string fault_of(const Outcome& outcome, const Space& space);

class OutcomeRows {
 public:
  // `database` and `space` must outlive it.
  static Expected<OutcomeRows> open(Database& database, const Space& space);

  // Whether it was written: it is not, where the design is there already. Within a transaction.
  Expected<bool> write(const Outcome& outcome);
  Expected<std::optional<Outcome>> find(Design design);
  Expected<bool> has(Design design);
  // In the order of designs.
  Status for_each(const std::function<Status(const Outcome&)>& look);

 private:
  OutcomeRows(Database& database, const Space& space) : database_(&database), space_(&space) {}
  // Of the row that is there, and those after it that belong to it; whether there are more.
  Expected<bool> read_design(Statement& rows, Outcome& outcome);

  Database* database_;
  const Space* space_;
  Statement design_, result_, find_, has_;
};

}  // namespace monet::explore
