#include "remat/prune.h"

#include <algorithm>

namespace monet::remat {

namespace {

// Does the earlier run of the same node fit in place of this one? Operands that were live for this run alone end
// before.
bool removable(Row run, const Sequence& sequence, const Profile& profile, std::int64_t budget, const Problem& problem) {
  const std::int64_t longer = problem.nodes[sequence[run].node()].bytes;
  for (Row row = run - 1; row > profile.end(profile.previous(run)); --row) {
    std::int64_t bytes = profile.bytes(row) + longer;
    if (bytes <= budget) continue;
    for (const Row operand : profile.operands(run))
      if (profile.end(operand) == run && row > profile.last_use_before(operand, run))
        bytes -= problem.nodes[sequence[operand].node()].bytes;
    if (bytes > budget) return false;
  }
  return true;
}

}  // namespace

void drop_unused(Sequence& sequence, Profile& profile, bool reorder) {
  constexpr std::uint32_t gone = ~std::uint32_t{0};
  std::vector<std::uint32_t> uses(sequence.size(), 0);
  std::vector<std::uint8_t> again(sequence.size(), 0);  // by run: the next of the same node, of those left, is computed
  for (Row run = 0; run < profile.rows(); ++run)
    for (const Row operand : profile.operands(run)) ++uses[operand];
  bool any = false;
  for (Row run = profile.rows() - 1; run >= 0; --run) {
    const bool goes = uses[run] == 0 && (!profile.first(run) || (reorder && again[run] != 0));
    if (!profile.first(run)) again[profile.previous(run)] = goes ? again[run] : (sequence[run].paged() ? 0 : 1);
    if (!goes) continue;
    any = true;
    for (const Row operand : profile.operands(run)) --uses[operand];
    uses[run] = gone;
  }
  if (!any) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i)
    if (uses[i] != gone) sequence[kept++] = sequence[i];
  sequence.resize(kept);
  profile.evaluate(sequence);
}

void prune(Sequence& sequence, Profile& profile, const Prices& prices, std::int64_t budget, const Problem& problem,
           bool reorder, const std::function<bool()>& stop) {
  drop_unused(sequence, profile, reorder);
  while (!stop()) {
    Row dearest = -1;
    for (Row run = 0; run < profile.rows(); ++run) {
      if (profile.first(run)) continue;
      if (dearest >= 0 && prices.of(sequence[run]) <= prices.of(sequence[dearest])) continue;
      if (removable(run, sequence, profile, budget, problem)) dearest = run;
    }
    if (dearest < 0) return;
    sequence.erase(sequence.begin() + dearest);
    profile.evaluate(sequence);
    drop_unused(sequence, profile, reorder);
  }
}

}  // namespace monet::remat
