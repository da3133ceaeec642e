// A mapping run point by point, with the elements that every instance of every level holds as explicit sets: what the
// loop-nest model says in closed form, counted. Shares data types with the model and nothing else.
#pragma once

#include "mapping/mapping.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace monet::test {

using Element = std::vector<std::int64_t>;
using Tile = std::set<Element>;

class Simulator {
 public:
  Simulator(const Problem& problem, const Target& target, const Mapping& mapping)
      : problem_(problem), target_(target), mapping_(mapping) {
    lay_out();
    collect_points();
  }

  // By operand and level, as MappingCost::traffic.
  std::vector<std::vector<Traffic>> run() {
    std::vector<std::vector<Traffic>> traffic;
    for (std::size_t o = 0; o < problem_.operands.size(); ++o) {
      traffic.emplace_back(mapping_.cuts[o].size());
      unit(o, traffic.back());
      for (std::size_t level = 0; level + 1 < mapping_.cuts[o].size(); ++level) link(o, level, traffic.back());
    }
    return traffic;
  }

  double iterations() const { return static_cast<double>(steps_.size()); }

 private:
  // One point of the problem: where in time and on which lane (a digit for each spatial loop).
  struct Point {
    std::vector<std::int64_t> lane;
    std::vector<std::int64_t> index;  // of each loop
  };
  struct Step {
    std::vector<std::int64_t> time;  // a digit for each temporal loop
    std::vector<Point> points;
  };
  using Instance = std::vector<std::int64_t>;
  using Tiles = std::map<Instance, Tile>;

  // The lanes of a loop are its lowest digits, then the temporal pieces from inside.
  void lay_out() {
    std::vector<std::int64_t> stride(problem_.loops.size(), 1);
    for (const SpatialLoop& loop : mapping_.spatial) {
      lane_stride_.push_back(stride[loop.loop]);
      stride[loop.loop] *= loop.size;
    }
    for (const TemporalLoop& loop : mapping_.temporal) {
      time_stride_.push_back(stride[loop.loop]);
      stride[loop.loop] *= loop.size;
    }
  }

  template <class Loops, class Visit>
  static void each(const Loops& loops, const Visit& visit) {
    std::vector<std::int64_t> digits(loops.size(), 0);
    while (true) {
      visit(digits);
      std::size_t i = 0;
      while (i < digits.size() && ++digits[i] == loops[i].size) digits[i++] = 0;
      if (i == digits.size()) return;
    }
  }

  // Points beyond the end of a loop are not there: last pieces and last lanes are ragged.
  void collect_points() {
    each(mapping_.temporal, [&](const std::vector<std::int64_t>& time) {
      Step step{.time = time, .points = {}};
      each(mapping_.spatial, [&](const std::vector<std::int64_t>& lane) {
        std::vector<std::int64_t> index(problem_.loops.size(), 0);
        for (std::size_t i = 0; i < time.size(); ++i) index[mapping_.temporal[i].loop] += time[i] * time_stride_[i];
        for (std::size_t i = 0; i < lane.size(); ++i) index[mapping_.spatial[i].loop] += lane[i] * lane_stride_[i];
        for (std::size_t i = 0; i < index.size(); ++i) {
          if (index[i] >= problem_.loops[i].size) return;
        }
        step.points.push_back({lane, index});
      });
      if (!step.points.empty()) steps_.push_back(std::move(step));
    });
  }

  void touch(const ProblemOperand& operand, const Point& point, Tile& tile) const {
    std::vector<Element> found = {{}};
    for (const ProblemAxis& axis : operand.axes) {
      std::int64_t sum = 0;
      for (const Term& term : axis.terms) sum += term.factor * point.index[term.loop];
      std::vector<Element> longer;
      for (std::int64_t s = 0; s < axis.span; ++s) {
        const std::int64_t position = sum / axis.divisor + s;
        if (position >= axis.limit) continue;
        for (Element element : found) {
          element.push_back(position);
          longer.push_back(std::move(element));
        }
      }
      found = std::move(longer);
    }
    tile.insert(found.begin(), found.end());
  }

  // Which instance of a level a lane belongs to: its digits along the dimensions that the level, and those below it,
  // do not feed.
  Instance instance(std::size_t o, std::size_t level, const std::vector<std::int64_t>& lane) const {
    Instance result;
    if (level + 1 == mapping_.cuts[o].size()) return result;
    std::uint32_t served = 0;
    for (std::size_t l = 0; l <= level; ++l) served |= memory(o, l).served;
    for (std::size_t i = 0; i < lane.size(); ++i) {
      if ((served >> mapping_.spatial[i].dimension & 1U) == 0) result.push_back(lane[i]);
    }
    return result;
  }

  const TargetMemory& memory(std::size_t o, std::size_t level) const {
    const auto path = static_cast<std::size_t>(problem_.operands[o].path);
    return target_.memories[target_.levels[path][level]];
  }

  bool depends(const ProblemOperand& operand, std::uint8_t loop) const {
    for (const ProblemAxis& axis : operand.axes) {
      for (const Term& term : axis.terms) {
        if (term.loop == loop) return true;
      }
    }
    return false;
  }

  // The tiles of all instances, a new entry whenever a loop above the cut that the operand depends on moves on (or, if
  // it does not `stay`, at each step).
  std::vector<Tiles> tiles(std::size_t o, std::size_t level, std::size_t cut, bool stays) const {
    std::vector<Tiles> result;
    const Step* last = nullptr;
    for (const Step& step : steps_) {
      bool moved = last == nullptr || !stays;
      for (std::size_t i = cut; i < step.time.size() && !moved; ++i) {
        moved = step.time[i] != last->time[i] && depends(problem_.operands[o], mapping_.temporal[i].loop);
      }
      if (moved) result.emplace_back();
      last = &step;
      for (const Point& point : step.points) {
        touch(problem_.operands[o], point, result.back()[instance(o, level, point.lane)]);
      }
    }
    return result;
  }

  // What each instance holds, one after the other.
  static std::map<Instance, std::vector<Tile>> sequences(const std::vector<Tiles>& in_time) {
    std::map<Instance, std::vector<Tile>> result;
    for (const Tiles& now : in_time) {
      for (const auto& [where, tile] : now) result[where].push_back(tile);
    }
    return result;
  }

  void move(Traffic& traffic, std::size_t o, std::size_t level, Transfer transfer, std::size_t elements,
            double bits) const {
    if (elements == 0) return;
    const auto path = static_cast<std::size_t>(problem_.operands[o].path);
    const auto way = static_cast<std::size_t>(transfer);
    const TargetMemory& at = memory(o, level);
    const Port& port = at.ports[static_cast<std::size_t>(at.port[path][way])];
    const double total = static_cast<double>(elements) * bits;
    const auto smallest = static_cast<double>(port.min_bits);
    traffic.bits[way] += total;
    traffic.words[way] += std::ceil(total / smallest) * smallest / static_cast<double>(port.max_bits);
  }

  // Elements of a visit by whether the same instance has had them before, and whether it will have them again.
  struct Visit {
    std::size_t fresh = 0, known = 0, finished = 0, unfinished = 0;
  };
  static std::vector<Visit> visits(const std::vector<Tile>& sequence) {
    std::map<Element, std::size_t> first, last;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      for (const Element& element : sequence[i]) {
        first.emplace(element, i);
        last[element] = i;
      }
    }
    std::vector<Visit> result(sequence.size());
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      for (const Element& element : sequence[i]) {
        ++(first[element] == i ? result[i].fresh : result[i].known);
        ++(last[element] == i ? result[i].finished : result[i].unfinished);
      }
    }
    return result;
  }

  void unit(std::size_t o, std::vector<Traffic>& traffic) const {
    const ProblemOperand& operand = problem_.operands[o];
    const bool in_register = operand.written && memory(o, 0).kind == MemoryKind::registers;
    bool reduced = false;
    for (const auto& [where, sequence] : sequences(tiles(o, 0, 0, false))) {
      for (const Visit& visit : visits(sequence)) reduced |= operand.accumulates && visit.known > 0;
    }
    const double bits = reduced ? static_cast<double>(operand.partial_bits) : operand.bits;
    for (const auto& [where, sequence] : sequences(tiles(o, 0, 0, !in_register))) {
      for (const Visit& visit : visits(sequence)) {
        const std::size_t all = visit.fresh + visit.known;
        if (!operand.written) {
          move(traffic[0], o, 0, Transfer::to_low, all, bits);
          continue;
        }
        move(traffic[0], o, 0, Transfer::from_low, all, bits);
        const std::size_t back = operand.continues ? all : operand.accumulates ? visit.known : 0;
        move(traffic[0], o, 0, Transfer::to_low, back, bits);
      }
    }
  }

  void link(std::size_t o, std::size_t level, std::vector<Traffic>& traffic) const {
    const ProblemOperand& operand = problem_.operands[o];
    for (const std::size_t end : {level, level + 1}) {
      const Transfer down = end == level ? Transfer::from_high : Transfer::to_low;
      const Transfer up = end == level ? Transfer::to_high : Transfer::from_low;
      for (const auto& [where, sequence] : sequences(tiles(o, end, mapping_.cuts[o][level], true))) {
        for (const Visit& visit : visits(sequence)) {
          if (!operand.written) {
            move(traffic[end], o, end, down, visit.fresh + visit.known, operand.bits);
            continue;
          }
          if (!operand.accumulates) {
            move(traffic[end], o, end, up, visit.fresh + visit.known, operand.bits);
            continue;
          }
          move(traffic[end], o, end, up, visit.unfinished, operand.partial_bits);
          move(traffic[end], o, end, up, visit.finished, operand.bits);
          move(traffic[end], o, end, down, visit.known, operand.partial_bits);
          if (operand.continues) move(traffic[end], o, end, down, visit.fresh, operand.bits);
        }
      }
    }
  }

  const Problem& problem_;
  const Target& target_;
  const Mapping& mapping_;
  std::vector<std::int64_t> lane_stride_, time_stride_;
  std::vector<Step> steps_;
};

}  // namespace monet::test
