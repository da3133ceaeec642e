// A schedule as the searches see it: runs in order, a node as often as it is run. A use reads the latest earlier run of
// its operand; what a run makes is live from it to the last use before the next run of the same node.
#pragma once

#include "remat/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace monet::remat {

// A node is computed, or comes back from storage. The first run of a node computes it.
class Run {
 public:
  Run() = default;
  explicit Run(NodeIndex node, bool paged = false) : code_(node | (paged ? page_bit : 0)) {}

  NodeIndex node() const { return code_ & ~page_bit; }
  bool paged() const { return (code_ & page_bit) != 0; }
  bool operator==(const Run&) const = default;

 private:
  static constexpr std::uint32_t page_bit = 1U << 31;
  std::uint32_t code_ = 0;
};

using Sequence = std::vector<Run>;
using Row = std::int32_t;  // index into a sequence

// Every node once, in the given order.
Sequence first_runs(const Problem& problem);

// Lifetimes and memory of a sequence. Storage is kept from one evaluation to the next.
class Profile {
 public:
  explicit Profile(const Problem& problem);

  // Requires: a node's first run comes after the first runs of its operands.
  // Cost: O(runs + operands of all runs).
  void evaluate(std::span<const Run> sequence);

  Row rows() const { return static_cast<Row>(end_.size()); }
  std::int64_t bytes(Row row) const { return bytes_[row]; }  // live while the run works, fixed bytes included
  const std::int64_t* bytes() const { return bytes_.data(); }
  std::int64_t peak() const { return peak_; }
  Row peak_row() const { return peak_row_; }    // the first
  Row end(Row run) const { return end_[run]; }  // of its last use; itself without one
  bool first(Row run) const { return previous_[run] < 0; }
  Row previous(Row run) const { return previous_[run]; }  // run of the same node; -1: none
  // The runs that a run reads.
  std::span<const Row> operands(Row run) const {
    return std::span(operand_runs_).subspan(operand_start_[run], operand_start_[run + 1] - operand_start_[run]);
  }
  // The first use after `row`, the last before; itself where there is none. Requires run <= row.
  Row next_use(Row run, Row row) const;
  Row last_use_before(Row run, Row row) const;
  bool used(Row run) const { return use_head_[run] >= 0; }
  // The latest run of `node` before `row`; -1: none.
  Row latest(NodeIndex node, Row row) const;

 private:
  const Problem& problem_;
  std::vector<std::int64_t> sizes_;  // by node
  std::vector<Row> last_;            // by node
  std::vector<Row> end_, previous_;
  std::vector<std::int64_t> bytes_;
  std::vector<std::uint32_t> operand_start_;
  std::vector<Row> operand_runs_;
  // Uses of a run: a list from head, in the order of rows.
  std::vector<std::int32_t> use_head_, use_tail_, use_next_;
  std::vector<Row> use_row_;
  std::int64_t peak_ = 0;
  Row peak_row_ = 0;
};

}  // namespace monet::remat
