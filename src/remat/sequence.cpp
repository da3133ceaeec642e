#include "remat/sequence.h"

#include <algorithm>

namespace monet::remat {

Sequence first_runs(const Problem& problem) {
  Sequence sequence;
  sequence.reserve(problem.size());
  for (NodeIndex node = 0; node < problem.size(); ++node) sequence.emplace_back(node);
  return sequence;
}

Profile::Profile(const Problem& problem) : problem_(problem), last_(problem.size(), -1) {
  sizes_.reserve(problem.size());
  for (const Node& node : problem.nodes) sizes_.push_back(node.bytes);
}

void Profile::evaluate(std::span<const Run> sequence) {
  const std::size_t count = sequence.size();
  std::fill(last_.begin(), last_.end(), -1);
  end_.resize(count);
  previous_.resize(count);
  use_head_.assign(count, -1);
  use_tail_.resize(count);
  operand_start_.resize(count + 1);
  operand_runs_.clear();
  use_next_.clear();
  use_row_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const Row row = static_cast<Row>(i);
    operand_start_[i] = static_cast<std::uint32_t>(operand_runs_.size());
    const NodeIndex node = sequence[i].node();
    if (!sequence[i].paged()) {
      for (const NodeIndex operand : problem_.operands.of(node)) {
        const Row run = last_[operand];
        operand_runs_.push_back(run);
        end_[run] = row;
        const auto use = static_cast<std::int32_t>(use_row_.size());
        use_row_.push_back(row);
        use_next_.push_back(-1);
        (use_head_[run] < 0 ? use_head_[run] : use_next_[use_tail_[run]]) = use;
        use_tail_[run] = use;
      }
    }
    end_[i] = row;
    previous_[i] = last_[node];
    last_[node] = row;
  }
  operand_start_[count] = static_cast<std::uint32_t>(operand_runs_.size());

  bytes_.assign(count + 1, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = sizes_[sequence[i].node()];
    bytes_[i] += size;
    bytes_[end_[i] + 1] -= size;
  }
  std::int64_t live = problem_.fixed_bytes;
  peak_ = live;
  peak_row_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bytes_[i] = live += bytes_[i];
    if (live > peak_) {
      peak_ = live;
      peak_row_ = static_cast<Row>(i);
    }
  }
}

Row Profile::next_use(Row run, Row row) const {
  for (std::int32_t use = use_head_[run]; use >= 0; use = use_next_[use])
    if (use_row_[use] > row) return use_row_[use];
  return run;
}

Row Profile::last_use_before(Row run, Row row) const {
  Row found = run;
  for (std::int32_t use = use_head_[run]; use >= 0 && use_row_[use] < row; use = use_next_[use]) found = use_row_[use];
  return found;
}

Row Profile::latest(NodeIndex node, Row row) const {
  Row run = last_[node];
  while (run >= row) run = previous_[run];
  return run;
}

}  // namespace monet::remat
