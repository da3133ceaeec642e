#include "mapping/spatial.h"

#include "base/checked.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_set>

namespace monet {

namespace {

// Combinations that are looked at; beyond it fewer loops may share a dimension.
constexpr std::size_t unrolling_choice_limit = 20000;

// What a loop does in a product.
enum class LoopPart : std::uint8_t { group, row, column, sum };

LoopPart part_by_name(Dim dim) {
  switch (dim) {
    case Dim::G: return LoopPart::group;
    case Dim::K: return LoopPart::column;
    case Dim::C:
    case Dim::FZ:
    case Dim::FY:
    case Dim::FX: return LoopPart::sum;
    default: return LoopPart::row;
  }
}

LoopPart part_of(const Problem& problem, std::size_t loop) {
  bool written = false;
  bool column = false;
  bool row = false;
  for (const ProblemOperand& operand : problem.operands) {
    if ((operand.relevant() >> loop & 1U) == 0) continue;
    if (operand.written) written = true;
    if (!operand.written && operand.path == Path::weight) column = true;
    if (!operand.written && operand.path == Path::input) row = true;
  }
  if (!written) return LoopPart::sum;
  return row && column ? LoopPart::group : column ? LoopPart::column : LoopPart::row;
}

class Chooser {
 public:
  Chooser(const Problem& problem, const Target& target, const SpatialOptions& options)
      : problem_(problem),
        target_(target),
        unit_(target.unit),
        options_(options),
        allowed_(allowed_loops(problem, target.unit)) {
    for (const ProblemOperand& operand : problem.operands) relevant_.push_back(operand.relevant());
    for (const Loop& loop : problem.loops) left_.push_back(loop.size);
    for (const SpatialLoop& loop : options.fixed) {
      fixed_ |= std::uint64_t{1} << loop.dimension;
      take(loop.dimension, loop.loop, loop.size);
    }
  }

  // Nothing when there are too many.
  std::optional<std::vector<Unrolling>> run() {
    dimension(0);
    if (visited_ > unrolling_choice_limit) return std::nullopt;
    std::ranges::stable_sort(choices_, {}, &Unrolling::compute_points);
    return std::move(choices_);
  }

 private:
  // Lanes that the memories allow for a loop on a dimension: an instance holds what all the lanes that it feeds need.
  std::int64_t room_in_memories(std::size_t dimension, std::size_t loop, std::int64_t room) const {
    for (std::size_t m = 0; m < target_.memories.size(); ++m) {
      double fixed = 0;     // bits whatever is taken
      double for_each = 0;  // and for each lane
      for (std::size_t o = 0; o < problem_.operands.size(); ++o) {
        const auto [bits, fed] = bits_in(m, o, dimension);
        (fed && (relevant_[o] >> loop & 1U) != 0 ? for_each : fixed) += bits;
      }
      if (for_each == 0) continue;
      const double lanes = (static_cast<double>(target_.memories[m].size_bits) - fixed) / for_each;
      room = std::min(room, static_cast<std::int64_t>(std::max(lanes, 0.0)));
    }
    return room;
  }

  // Bits of an operand that one instance of a memory holds for one cycle, as far as lanes are chosen; and whether it
  // feeds the lanes along a dimension. A home holds the operand anyhow.
  std::pair<double, bool> bits_in(std::size_t memory, std::size_t o, std::size_t dimension) const {
    const ProblemOperand& operand = problem_.operands[o];
    const auto& levels = target_.levels[static_cast<std::size_t>(operand.path)];
    std::uint32_t served = 0;
    const bool product = problem_.per_point[Count::mac] > 0;
    for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
      if (!product && target_.memories[levels[level]].kind == MemoryKind::registers) continue;
      served |= target_.memories[levels[level]].served;
      if (levels[level] != memory) continue;
      double elements = 1;
      for (const SpatialLoop& chosen : chosen_) {
        const bool counts = (served >> chosen.dimension & 1U) != 0 && (relevant_[o] >> chosen.loop & 1U) != 0;
        if (counts) elements *= static_cast<double>(chosen.size);
      }
      const double bits = operand.written && operand.accumulates ? static_cast<double>(operand.partial_bits)
                                                                 : operand.bits_in(target_.memories[memory].kind);
      return {elements * bits, (served >> dimension & 1U) != 0};
    }
    return {0, false};
  }

  // Unrolls as much of the loop as there is room for; gives back what it was.
  std::int64_t take(std::size_t dimension, std::size_t loop, std::int64_t room) {
    const std::int64_t before = left_[loop];
    const std::int64_t iterations = ceil_divide(before, std::min(before, room));
    const std::int64_t size = ceil_divide(before, iterations);
    left_[loop] = iterations;
    chosen_.push_back({.dimension = static_cast<std::uint8_t>(dimension),
                       .loop = static_cast<std::uint8_t>(loop),
                       .size = size,
                       .average = 1});
    return before;
  }

  void dimension(std::size_t d) {
    if (visited_ > unrolling_choice_limit) return;
    if (d == unit_.dimensions.size()) {
      ++visited_;
      if (seen_.insert(canonical()).second) choices_.push_back(unrolling_of(problem_, chosen_));
      return;
    }
    if ((fixed_ >> d & 1U) != 0) return dimension(d + 1);
    fill(d, unit_.dimensions[d].size, 0, 0);
  }

  // Puts one more loop on dimension d, in any order of loops: the first takes what it can, the next what is left.
  void fill(std::size_t d, std::int64_t room, std::size_t count, std::uint64_t used) {
    bool more = false;
    if (count < options_.mixed && room > 1) {
      for (std::size_t loop = 0; loop < problem_.loops.size(); ++loop) {
        if ((used >> loop & 1U) != 0 || left_[loop] == 1 || (allowed_[d] >> loop & 1U) == 0) continue;
        const std::int64_t lanes = room_in_memories(d, loop, room);
        if (lanes < 2) continue;
        more = true;
        const std::int64_t before = take(d, loop, lanes);
        fill(d, room / chosen_.back().size, count + 1, used | std::uint64_t{1} << loop);
        chosen_.pop_back();
        left_[loop] = before;
      }
    }
    if (!more) dimension(d + 1);
  }

  // The same loops on the same dimensions, whatever the order within a dimension.
  std::string canonical() const {
    std::vector<SpatialLoop> loops = chosen_;
    std::ranges::sort(loops, {}, [](const SpatialLoop& l) { return std::tuple(l.dimension, l.loop, l.size); });
    std::string key;
    for (const SpatialLoop& loop : loops) {
      key += static_cast<char>(loop.dimension);
      key += static_cast<char>(loop.loop);
      key.append(reinterpret_cast<const char*>(&loop.size), sizeof loop.size);
    }
    return key;
  }

  const Problem& problem_;
  const Target& target_;
  const Unit& unit_;
  const SpatialOptions& options_;
  std::vector<std::uint32_t> allowed_;
  std::vector<std::uint32_t> relevant_;  // loops of each operand
  std::unordered_set<std::string> seen_;
  std::size_t visited_ = 0;
  std::vector<std::int64_t> left_;
  std::vector<SpatialLoop> chosen_;
  std::uint64_t fixed_ = 0;
  std::vector<Unrolling> choices_;
};

}  // namespace

double usable_lanes(const Problem& problem, const Unit& unit) {
  const std::vector<std::uint32_t> allowed = allowed_loops(problem, unit);
  double lanes = 1;
  for (std::size_t d = 0; d < unit.dimensions.size(); ++d) {
    double iterations = 1;
    for (std::size_t loop = 0; loop < problem.loops.size(); ++loop) {
      if ((allowed[d] >> loop & 1U) != 0) iterations *= static_cast<double>(problem.loops[loop].size);
    }
    lanes *= std::min(static_cast<double>(unit.dimensions[d].size), iterations);
  }
  return lanes;
}

Unrolling unrolling_of(const Problem& problem, std::vector<SpatialLoop> spatial) {
  Unrolling result{.spatial = std::move(spatial), .iterations = {}, .compute_points = 1};
  for (std::size_t loop = 0; loop < problem.loops.size(); ++loop) {
    const std::int64_t size = problem.loops[loop].size;
    std::int64_t lanes = 1;
    SpatialLoop* last = nullptr;
    for (SpatialLoop& s : result.spatial) {
      if (s.loop != loop) continue;
      s.size = std::min(s.size, ceil_divide(size, lanes));
      s.average = static_cast<double>(s.size);
      lanes *= s.size;
      last = &s;
    }
    const std::int64_t iterations = ceil_divide(size, lanes);
    // What does not divide is missing from the last one.
    if (last != nullptr) {
      last->average = static_cast<double>(size) / static_cast<double>(iterations) /
                      (static_cast<double>(lanes) / static_cast<double>(last->size));
    }
    result.iterations.push_back(iterations);
    result.compute_points *= static_cast<double>(iterations);
  }
  return result;
}

std::vector<std::uint32_t> allowed_loops(const Problem& problem, const Unit& unit) {
  const bool product = problem.per_point[Count::mac] > 0;
  std::vector<std::uint32_t> allowed(unit.dimensions.size(), 0);
  for (std::size_t d = 0; d < unit.dimensions.size(); ++d) {
    const std::vector<Dim>& named = unit.dimensions[d].loops;
    for (std::size_t i = 0; i < problem.loops.size(); ++i) {
      const Dim name = problem.loops[i].name;
      bool good = named.empty() || !product;
      if (!good) {
        const LoopPart part = part_of(problem, i);
        good = part == part_by_name(name)
                   ? std::ranges::find(named, name) != named.end()
                   : std::ranges::any_of(named, [&](Dim other) { return part_by_name(other) == part; });
      }
      if (good) allowed[d] |= 1U << i;
    }
  }
  return allowed;
}

std::vector<Unrolling> spatial_choices(const Problem& problem, const Target& target, const SpatialOptions& options) {
  SpatialOptions narrower = options;
  for (;; --narrower.mixed) {
    if (auto choices = Chooser(problem, target, narrower).run()) return *std::move(choices);
    if (narrower.mixed == 1) break;
  }
  // More dimensions than loops can be tried on: nothing is unrolled but what was given.
  return {unrolling_of(problem, options.fixed)};
}

}  // namespace monet
