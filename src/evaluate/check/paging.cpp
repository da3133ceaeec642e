// What the plan pages out is away from home memory in between.
#include "evaluate/check/rules.h"

#include <algorithm>

namespace monet::check {

namespace {

// When a tensor has left, and when it begins to come back.
struct Absence {
  double from = 0;
  double to = 0;
};

}  // namespace

void check_paging(const Subject& subject) {
  const auto& paged = subject.assignment.paged;
  if (paged.empty()) return;
  std::vector<Absence> absence(paged.size(), Absence{.from = 0, .to = subject.schedule.cycles});
  std::vector<bool> left(subject.tiles.buffers.size(), false);
  for (const ScheduledTransfer& transfer : subject.schedule.transfers) {
    Absence& of = absence[subject.tiles.buffers[transfer.buffer.index()].tensor.index()];
    if (transfer.kind == TransferKind::page_out) {
      left[transfer.buffer.index()] = true;
      of.from = std::max(of.from, transfer.end);
    }
    if (transfer.kind == TransferKind::page_in) of.to = std::min(of.to, transfer.start);
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    const MemoryId away = paged[subject.tiles.buffers[i].tensor.index()];
    if (!away.valid() || left[i]) continue;
    subject.findings.add("{} is planned to be paged out to {} and is not", subject.name(BufferId(i)),
                         subject.name(away));
  }
  for (const TensorStay& stay : subject.schedule.home) {
    const MemoryId away = paged[stay.tensor.index()];
    if (!away.valid() || stay.memory == away) continue;
    const Absence& of = absence[stay.tensor.index()];
    const double both = std::min(of.to, stay.end) - std::max(of.from, stay.start);
    if (both <= 2 * subject.tolerance) continue;
    subject.findings.add("{} is paged out to {} and stays in {} for {} cycles meanwhile",
                         subject.graph[stay.tensor].name, subject.name(away), subject.name(stay.memory), both);
  }
}

}  // namespace monet::check
