// When the runs of a sequence take place: one processor and one channel, side by side.
#pragma once

#include "remat/schedule.h"
#include "remat/sequence.h"

namespace monet::remat {

// What is paged in later is paged out right after its first run; its memory is given back when that is done. A run
// waits for its operands and for room; so does a page-in, which takes its room from the start of the transfer. Neither
// overtakes an earlier one of the sequence in taking room, so that there is always enough.
class Timing {
 public:
  explicit Timing(const Problem& problem);

  // The end of the last run. Requires: `profile` is of `sequence`, within the budget. With `schedule`, writes it there.
  double end_time(const Sequence& sequence, const Profile& profile, std::int64_t budget, Schedule* schedule = nullptr);

 private:
  struct Release {
    double time;
    std::int64_t bytes;
  };

  double wait_for_room(std::int64_t bytes, std::int64_t budget, double time);
  void release_after(Row row, double now, const Sequence& sequence, Schedule* schedule);
  void sort_ends(const Profile& profile);

  const Problem& problem_;
  std::vector<std::uint8_t> pages_;  // by node: it is paged in somewhere
  std::vector<double> ready_;        // by node: the latest run is done
  std::vector<double> stored_;       // by node: the copy is complete
  std::vector<std::uint32_t> ends_start_;
  std::vector<Row> ends_;         // runs by the row after which they are freed
  std::vector<Release> pending_;  // the earliest last
  std::int64_t used_ = 0;
  double floor_ = 0;  // no later action takes room before
};

// Page-ins are moved up, as far as memory allows, so that they end before they are needed; without transfers that wait
// for each other where that can be had. Requires, and leaves, `profile` of `sequence`, within the budget.
void prefetch(Sequence& sequence, Profile& profile, const Problem& problem, std::int64_t budget);

}  // namespace monet::remat
