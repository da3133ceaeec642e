#include "kernels/compile/recompute.h"

#include "kernels/compile/min_cut.h"
#include "kernels/compile/rewriting.h"

#include <algorithm>
#include <map>
#include <utility>

namespace monet::compiling {

namespace {

// Launches of the forward part that are not repeated: they read something again, element by element, that was read
// before by what leads to a library. To repeat such a chain of sums (a residual stream) would repeat all before it.
// As PyTorch's partitioner does (torch/_functorch/partitioners.py, ban_recompute_used_far_apart).
class FarApart {
 public:
  FarApart(const LoweredStep& step, const std::vector<Part>& parts, const Order& order)
      : step_(step), parts_(parts), order_(order), far_(step.launches.size(), false), seen_(step.launches.size(), 0) {
    for (std::size_t b = 0; b < step.buffers.size(); ++b) {
      if (!step.buffers[b].permanent) look_at(AllocationId(b));
    }
  }

  bool operator[](std::uint32_t launch) const { return far_[launch]; }

 private:
  bool forward(std::uint32_t launch) const { return step_.launches[launch].phase == Phase::forward; }

  void look_at(AllocationId buffer) {
    const auto& readers = order_.readers(buffer);
    const auto count = std::ranges::count_if(readers, [&](std::uint32_t r) { return forward(r); });
    if (count < 2) return;
    std::uint32_t last = 0;
    for (std::uint32_t reader : readers) {
      if (forward(reader)) last = std::max(last, reader);
    }
    const std::uint32_t first = first_library(readers, last);
    for (std::uint32_t reader : readers) {
      if (forward(reader) && reader > first && parts_[reader].kind != PartKind::library) far_[reader] = true;
    }
  }

  // The first of the libraries that something leads to, up to `last`.
  std::uint32_t first_library(const std::vector<std::uint32_t>& readers, std::uint32_t last) {
    ++stamp_;
    std::uint32_t first = last;
    std::vector<std::uint32_t> stack;
    const auto visit = [&](std::uint32_t launch) {
      if (!forward(launch) || launch > last || seen_[launch] == stamp_) return;
      seen_[launch] = stamp_;
      if (parts_[launch].kind == PartKind::library)
        first = std::min(first, launch);
      else
        stack.push_back(launch);
    };
    for (std::uint32_t reader : readers) visit(reader);
    while (!stack.empty()) {
      const std::uint32_t launch = stack.back();
      stack.pop_back();
      for (std::uint32_t next : order_.after(launch)) visit(next);
    }
    return first;
  }

  const LoweredStep& step_;
  const std::vector<Part>& parts_;
  const Order& order_;
  std::vector<bool> far_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
};

// Which buffers are kept from the forward to the backward part.
class Keeping {
 public:
  Keeping(const LoweredStep& step, const std::vector<Part>& parts, const Order& order)
      : step_(step),
        parts_(parts),
        order_(order),
        far_apart_(step, parts, order),
        network_(2 * step.buffers.size() + 2) {
    for (std::size_t b = 0; b < step.buffers.size(); ++b) add(AllocationId(b));
    sink_side_ = network_.sink_side(source(), sink());
  }

  // Computed again wherever the backward part reads it.
  bool recomputed(AllocationId buffer) const {
    return made_forward(buffer) && sink_side_[in(buffer)] && sink_side_[out(buffer)] && by_elements(buffer);
  }

 private:
  static std::uint32_t in(AllocationId buffer) { return static_cast<std::uint32_t>(2 * buffer.index()); }
  static std::uint32_t out(AllocationId buffer) { return in(buffer) + 1; }
  std::uint32_t source() const { return static_cast<std::uint32_t>(2 * step_.buffers.size()); }
  std::uint32_t sink() const { return source() + 1; }

  bool made_forward(AllocationId buffer) const {
    const auto& writers = order_.writers(buffer);
    return !step_.buffers[buffer.index()].permanent && writers.size() == 1 &&
           step_.launches[writers[0]].phase == Phase::forward;
  }
  bool by_elements(AllocationId buffer) const {
    const std::uint32_t writer = order_.writers(buffer)[0];
    return parts_[writer].kind == PartKind::element && step_.launches[writer].kernel.op != KernelOp::embedding &&
           !far_apart_[writer];
  }

  void add(AllocationId buffer) {
    if (!made_forward(buffer)) return;
    bool forward_library = !by_elements(buffer), backward_library = false;
    for (std::uint32_t reader : order_.readers(buffer)) {
      const bool library = parts_[reader].kind == PartKind::library;
      if (step_.launches[reader].phase == Phase::forward) {
        forward_library |= library;
      } else {
        backward_library |= library;
        network_.add(out(buffer), sink(), Network::unlimited);
      }
    }
    const double bytes = std::max(1.0, static_cast<double>(step_.buffers[buffer.index()].bytes));
    network_.add(in(buffer), out(buffer), forward_library ? bytes : 2 * bytes);
    if (!by_elements(buffer) || backward_library) network_.add(source(), in(buffer), Network::unlimited);
    if (!by_elements(buffer)) return;
    for (const Touch& read : step_.launches[order_.writers(buffer)[0]].reads) {
      if (made_forward(read.buffer)) network_.add(out(read.buffer), in(buffer), Network::unlimited);
    }
  }

  const LoweredStep& step_;
  const std::vector<Part>& parts_;
  const Order& order_;
  FarApart far_apart_;
  Network network_;
  std::vector<bool> sink_side_;
};

// Computes again what `launch` reads and is not kept, in the order in which it was computed first.
class Recomputing {
 public:
  Recomputing(Rewriting& to, const Order& order, const Keeping& keeping) : to_(to), order_(order), keeping_(keeping) {}

  void before(Launch& launch) {
    for (Touch& read : launch.reads) read.buffer = again(read.buffer, launch);
  }

 private:
  AllocationId again(AllocationId wanted, const Launch& reader) {
    std::vector<AllocationId> stack = {wanted};
    while (!stack.empty()) {
      const AllocationId buffer = stack.back();
      if (!keeping_.recomputed(buffer) || copies_.contains(buffer)) {
        stack.pop_back();
        continue;
      }
      const Launch& made = to_.old()[order_.writers(buffer)[0]];
      const std::size_t depth = stack.size();
      for (const Touch& read : made.reads) {
        if (keeping_.recomputed(read.buffer) && !copies_.contains(read.buffer)) stack.push_back(read.buffer);
      }
      if (stack.size() > depth) continue;
      std::vector<Touch> reads = made.reads;
      for (Touch& read : reads) {
        if (const auto copy = copies_.find(read.buffer); copy != copies_.end()) read.buffer = copy->second;
      }
      to_.copy(made, std::move(reads), reader, copies_);
      stack.pop_back();
    }
    const auto copy = copies_.find(wanted);
    return copy == copies_.end() ? wanted : copy->second;
  }

  Rewriting& to_;
  const Order& order_;
  const Keeping& keeping_;
  std::map<AllocationId, AllocationId> copies_;
};

}  // namespace

void recompute_cheap(LoweredStep& step, const Graph& graph) {
  const std::vector<Part> parts = parts_of(step, graph);
  const Order order(step);
  const Keeping keeping(step, parts, order);
  Rewriting rewriting(step);
  Recomputing recomputing(rewriting, order, keeping);
  for (Launch launch : rewriting.old()) {
    if (launch.phase == Phase::backward) recomputing.before(launch);
    rewriting.keep(std::move(launch));
  }
}

}  // namespace monet::compiling
