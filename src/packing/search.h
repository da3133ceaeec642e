// Depth-first search for a packing within a capacity: complete, so that failure is a proof.
#pragma once

#include "packing/problem.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace monet::packing {

enum class Outcome { found, impossible, gave_up };

struct SearchLimit {
  std::int64_t work = 0;  // visits of a buffer or a section; taken off by those who spend it
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::function<bool()> stop;

  bool reached() const {
    return work <= 0 || (deadline && std::chrono::steady_clock::now() >= *deadline) || (stop && stop());
  }
};

// Buffers are placed from low to high offsets, each on the highest below it; of equal offsets, in `order`: every
// packing that cannot be pushed down is met once. A buffer passed over must later lie on another one that is still to
// come. Each has a bound, the least offset that it can still get; a section whose least bound plus what is left to
// place exceeds the capacity ends the branch. Where nothing crosses a section any more, both sides are solved by
// themselves. A dead end names a range of sections that proves it, and decisions outside of it are not tried otherwise.
class Search {
 public:
  // `problem` must outlive this. Takes memory for problem.span_total() entries.
  Search(const Problem& problem, std::span<const std::int32_t> order);

  Outcome run(std::int64_t capacity, SearchLimit& limit);

  // After `found`: by buffer of the problem.
  std::vector<std::int64_t> offsets() const;
  // By section: how often it ended a branch.
  std::span<const std::int64_t> failures() const { return failures_; }

 private:
  static constexpr std::int64_t placed = std::int64_t{1} << 61;  // above every offset

  // In the order of preference, which is the index.
  struct Buffer {
    std::int32_t first = 0, last = 0;
    std::int64_t size = 0;
    std::int64_t support = 0;  // the top of what is below, aligned; `placed` when placed
    std::int64_t bound = 0;    // at least the support; more: passed over. `placed` when placed

    bool is_placed() const { return support == placed; }
    bool meets(const Buffer& other) const { return first < other.last && other.first < last; }
  };

  struct Section {
    std::int64_t left = 0;      // sizes still to place
    std::int64_t bound = 0;     // the least of those buffers
    std::int32_t witness = -1;  // a buffer that has it
    std::int32_t crossing = 0;  // buffers still to place that are in the next section too
  };

  // Sections that explain a dead end.
  struct Reason {
    std::int32_t begin = 0, end = 0;
    bool meets(const Buffer& buffer) const { return buffer.first < end && begin < buffer.last; }
    void add(std::int32_t first, std::int32_t last);
  };

  // What to put back, in reverse. A bound that was raised was raised because of buffers that it meets.
  struct Change {
    enum class Kind : std::uint8_t { buffer, section, place, passed_over, together };
    Kind kind;
    std::int32_t index;
    std::int64_t a, b;
  };

  // A set of buffers to place, and the one of them that is being tried.
  struct Frame {
    std::int32_t parent = -1;
    std::int32_t begin = 0, end = 0;  // in lists_
    std::int32_t chosen = -1;
    std::size_t changes = 0;                               // before it was placed
    std::int32_t lists = 0;                                // length of lists_ then
    std::int32_t parts = 0, parts_end = 0, part_next = 0;  // in parts_: what is left, in independent parts
  };
  struct Part {
    std::int32_t begin = 0, end = 0;  // in lists_
  };

  bool start(std::int64_t capacity);
  std::span<const std::int32_t> members(std::int32_t section) const;
  std::span<const std::int32_t> list(const Frame& frame) const;

  bool choose(Frame& frame);
  bool raise_passed_over(const Frame& frame, std::int64_t offset);
  bool place(const Frame& frame);
  void divide(Frame& frame);
  void divide_at_cuts(Frame& frame);
  bool descend();
  bool back_up();
  bool pass_over(const Frame& frame);

  bool set_bound(std::int32_t index, std::int64_t bound);
  void examine(std::int32_t section);
  void examine_span(std::int32_t index);
  bool propagate();
  bool drop_queue();  // false
  bool tighten(std::int32_t index);
  bool fail(std::int32_t first, std::int32_t last);  // false
  void undo(std::size_t changes);

  const Problem& problem_;
  std::vector<std::int32_t> order_;
  std::vector<Buffer> buffers_;
  std::vector<std::int64_t> alignment_;
  std::vector<Section> sections_;
  std::vector<std::int32_t> member_begin_, member_;
  std::vector<std::int64_t> offset_;
  std::vector<std::int64_t> failures_;
  std::int64_t smallest_ = 0;
  std::int64_t capacity_ = 0;
  std::int64_t work_ = 0;

  std::vector<Frame> frames_;
  std::vector<std::int32_t> lists_;
  std::vector<Part> parts_;
  std::vector<Change> changes_;
  std::vector<std::int32_t> queue_;
  std::vector<std::uint8_t> queued_;
  Reason reason_;
};

}  // namespace monet::packing
