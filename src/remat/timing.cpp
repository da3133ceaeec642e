#include "remat/timing.h"

#include "base/require.h"

#include <algorithm>
#include <limits>

namespace monet::remat {

Timing::Timing(const Problem& problem)
    : problem_(problem), pages_(problem.size()), ready_(problem.size()), stored_(problem.size()) {}

double Timing::wait_for_room(std::int64_t bytes, std::int64_t budget, double time) {
  while (used_ + bytes > budget) {
    MONET_REQUIRE(!pending_.empty());
    used_ -= pending_.back().bytes;
    floor_ = std::max(floor_, pending_.back().time);
    pending_.pop_back();
  }
  used_ += bytes;
  return std::max(time, floor_);
}

void Timing::sort_ends(const Profile& profile) {
  const auto rows = static_cast<std::size_t>(profile.rows());
  ends_start_.assign(rows + 2, 0);
  ends_.resize(rows);
  for (Row run = 0; run < profile.rows(); ++run) ++ends_start_[profile.end(run) + 2];
  for (std::size_t i = 2; i < rows + 2; ++i) ends_start_[i] += ends_start_[i - 1];
  for (Row run = 0; run < profile.rows(); ++run) ends_[ends_start_[profile.end(run) + 1]++] = run;
}

void Timing::release_after(Row row, double now, const Sequence& sequence, Schedule* schedule) {
  for (std::uint32_t i = ends_start_[row]; i < ends_start_[row + 1]; ++i) {
    const NodeIndex node = sequence[ends_[i]].node();
    const std::int64_t bytes = problem_.nodes[node].bytes;
    const double time = std::max(now, pages_[node] != 0 ? stored_[node] : 0);
    if (schedule != nullptr) schedule->push_back({ActionKind::free, node, time});
    if (time <= now) {
      used_ -= bytes;
      continue;
    }
    const auto at = std::ranges::find_if(pending_, [&](const Release& other) { return other.time < time; });
    pending_.insert(at, {time, bytes});
  }
}

double Timing::end_time(const Sequence& sequence, const Profile& profile, std::int64_t budget, Schedule* schedule) {
  std::fill(pages_.begin(), pages_.end(), 0);
  for (const Run run : sequence)
    if (run.paged()) pages_[run.node()] = 1;
  sort_ends(profile);
  pending_.clear();
  used_ = problem_.fixed_bytes;
  floor_ = 0;
  double now = 0, channel = 0;
  for (Row row = 0; row < profile.rows(); ++row) {
    const NodeIndex node = sequence[row].node();
    const std::int64_t bytes = problem_.nodes[node].bytes;
    double start = wait_for_room(bytes, budget, now);
    if (sequence[row].paged()) {
      start = std::max({start, channel, stored_[node]});
      channel = ready_[node] = start + problem_.channel->in_s(bytes);
      if (schedule != nullptr) schedule->push_back({ActionKind::page_in, node, start});
      continue;
    }
    for (const NodeIndex operand : problem_.operands.of(node)) start = std::max(start, ready_[operand]);
    now = ready_[node] = start + problem_.nodes[node].time;
    if (schedule != nullptr) schedule->push_back({ActionKind::compute, node, start});
    if (pages_[node] != 0 && profile.first(row)) {
      const double out = std::max(now, channel);
      channel = stored_[node] = out + problem_.channel->out_s(bytes);
      if (schedule != nullptr) schedule->push_back({ActionKind::page_out, node, out});
    }
    release_after(row, now, sequence, schedule);
  }
  return now;
}

void prefetch(Sequence& sequence, Profile& profile, const Problem& problem, std::int64_t budget) {
  std::vector<double> begin(sequence.size() + 1, 0);  // of the runs, were no transfer to be waited for
  for (std::size_t i = 0; i < sequence.size(); ++i)
    begin[i + 1] = begin[i] + (sequence[i].paged() ? 0 : problem.nodes[sequence[i].node()].time);
  std::vector<std::int64_t> bytes(profile.bytes(), profile.bytes() + sequence.size());
  std::vector<std::pair<Row, Row>> moves;  // to before the first, from the second; the last comes first
  double next_transfer = std::numeric_limits<double>::infinity();
  for (Row run = profile.rows() - 1; run >= 0; --run) {
    if (!sequence[run].paged()) continue;
    const std::int64_t size = problem.nodes[sequence[run].node()].bytes;
    next_transfer = std::min(next_transfer, begin[profile.next_use(run, run)]) - problem.channel->in_s(size);
    const Row earliest = profile.end(profile.previous(run)) + 1;
    Row to = run;
    while (to > earliest && begin[to] > next_transfer && bytes[to - 1] + size <= budget) bytes[--to] += size;
    next_transfer = std::min(next_transfer, begin[to]);
    if (to != run) moves.emplace_back(to, run);
  }
  if (moves.empty()) return;
  std::ranges::sort(moves);
  Sequence moved;
  moved.reserve(sequence.size());
  std::vector<std::uint8_t> gone(sequence.size(), 0);
  for (const auto& [to, from] : moves) gone[from] = 1;
  std::size_t next = 0;
  for (Row row = 0; row < profile.rows(); ++row) {
    for (; next < moves.size() && moves[next].first == row; ++next) moved.push_back(sequence[moves[next].second]);
    if (gone[row] == 0) moved.push_back(sequence[row]);
  }
  sequence.swap(moved);
  profile.evaluate(sequence);
}

}  // namespace monet::remat
