#include "base/suggest.h"
#include "base/try.h"
#include "compat/zigzag/python.h"
#include "compat/zigzag/relevance.h"
#include "compat/zigzag/spatial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace monet::zigzag {

namespace {

constexpr double max_candidates = 1e8;

using Limits = std::vector<std::vector<double>>;  // [dimension][loop]: lanes at most

class Unroller {
 public:
  Unroller(const ZigzagLayer& layer, const Machine& machine, const Links& links)
      : layer_(layer), machine_(machine), links_(links), relevance_(relevances(layer)) {
    for (std::int64_t size : machine.sizes) {
      auto& limits = limits_.emplace_back();
      for (const Loop& loop : layer.loops) limits.push_back(static_cast<double>(std::min(loop.size, size)));
    }
    limit_to_bandwidth();
  }

  // The user's part, cut down. Fails on names that do not exist.
  Expected<ArrayMapping> given(const ZigzagMapping& mapping) const;
  std::vector<std::uint8_t> open_dimensions(const ArrayMapping& mapping) const;
  // Ways to fill the open dimensions, the most promising first.
  Expected<std::vector<ArrayMapping>> filled(const ArrayMapping& start, const ZigzagMapping& mapping,
                                             std::int64_t count) const;
  Status limit_to_capacity(ArrayMapping& mapping) const;

 private:
  bool is_irrelevant(std::size_t operand, std::uint8_t loop) const {
    return relevance_[operand][loop] == Relevance::irrelevant;
  }
  std::uint8_t loop_count() const { return static_cast<std::uint8_t>(layer_.loops.size()); }
  double loop_size(std::uint8_t loop) const { return static_cast<double>(layer_.loops[loop].size); }
  void limit_to_bandwidth();
  std::vector<std::uint8_t> in_set_order(const std::vector<std::uint8_t>& loops) const;
  std::vector<std::uint8_t> hinted_loops(std::uint8_t dimension, const ZigzagMapping& mapping) const;
  Expected<std::uint8_t> dimension(const std::string& name) const;
  std::optional<std::uint8_t> loop(Dim name) const;
  void cut_dimensions(ArrayMapping& mapping) const;
  void cut_loops(ArrayMapping& mapping) const;

  const ZigzagLayer& layer_;
  const Machine& machine_;
  const Links& links_;
  Relevances relevance_;
  Limits limits_;
};

double product(const std::vector<Unrolled>& loops) {
  double lanes = 1;
  for (const Unrolled& each : loops) lanes *= each.size;
  return lanes;
}

double total(const ArrayMapping& mapping, std::uint8_t loop) {
  double lanes = 1;
  for (const auto& [dimension, loops] : mapping) {
    for (const Unrolled& each : loops) {
      if (each.loop == loop) lanes *= each.size;
    }
  }
  return lanes;
}

std::vector<Unrolled>* find(ArrayMapping& mapping, std::uint8_t dimension) {
  const auto found = std::ranges::find(mapping, dimension, &ArrayMapping::value_type::first);
  return found == mapping.end() ? nullptr : &found->second;
}

void Unroller::limit_to_bandwidth() {
  for (std::uint8_t m : machine_.inner) {
    const MachineMemory& memory = machine_.memories[m];
    for (Path path : memory.paths) {
      const std::size_t o = links_.operand[static_cast<std::size_t>(path)];
      const Transfer transfer = path == Path::output ? Transfer::from_low : Transfer::to_low;
      const std::int8_t port = memory.port[static_cast<std::size_t>(path)][static_cast<std::size_t>(transfer)];
      const double elements = std::floor(memory.ports[static_cast<std::size_t>(port)].max_bits /
                                         static_cast<double>(layer_.operands[o].bits));
      for (std::uint8_t d : memory.served) {
        for (std::uint8_t i = 0; i < loop_count(); ++i) {
          if (!is_irrelevant(o, i)) limits_[d][i] = std::min(limits_[d][i], elements);
        }
      }
    }
  }
}

std::vector<std::uint8_t> Unroller::in_set_order(const std::vector<std::uint8_t>& loops) const {
  std::vector<std::uint64_t> hashes;
  for (std::uint8_t i : loops) hashes.push_back(loop_hash(layer_.loops[i].name));
  std::vector<std::uint8_t> ordered;
  for (std::uint8_t i : set_order(hashes)) ordered.push_back(loops[i]);
  return ordered;
}

Expected<std::uint8_t> Unroller::dimension(const std::string& name) const {
  const auto found = std::ranges::find(machine_.dimensions, name);
  if (found != machine_.dimensions.end()) return static_cast<std::uint8_t>(found - machine_.dimensions.begin());
  const std::string near = nearest(name, machine_.dimensions);
  return Error{ErrorKind::user, fmt::format("the array has no dimension {}", name), layer_.name,
               near.empty() ? fmt::format("it has {}", fmt::join(machine_.dimensions, ", "))
                            : fmt::format("did you mean {}?", near)};
}

std::optional<std::uint8_t> Unroller::loop(Dim name) const {
  const auto found = std::ranges::find(layer_.loops, name, &Loop::name);
  if (found == layer_.loops.end()) return std::nullopt;
  return static_cast<std::uint8_t>(found - layer_.loops.begin());
}

// Loops that make a dimension too long leave it, in a set's order, until it fits.
void Unroller::cut_dimensions(ArrayMapping& mapping) const {
  for (auto& [d, loops] : mapping) {
    for (Unrolled& each : loops) each.size = std::min(each.size, limits_[d][each.loop]);
    while (product(loops) > static_cast<double>(machine_.sizes[d])) {
      std::vector<std::uint8_t> there;
      for (const Unrolled& each : loops) there.push_back(each.loop);
      const std::uint8_t leaves = in_set_order(there).front();
      std::erase_if(loops, [&](const Unrolled& each) { return each.loop == leaves; });
    }
  }
}

// A loop that is unrolled more often than it has iterations leaves dimensions, in a set's order, until it fits.
void Unroller::cut_loops(ArrayMapping& mapping) const {
  for (std::uint8_t i = 0; i < loop_count(); ++i) {
    while (total(mapping, i) > loop_size(i)) {
      std::vector<std::uint8_t> there;
      std::vector<std::uint64_t> hashes;
      // The set of dimensions is walked as such before those with the loop are put into another.
      std::vector<std::uint64_t> all_hashes;
      for (const auto& [d, loops] : mapping) all_hashes.push_back(machine_.hashes[d]);
      for (std::uint8_t at : set_order(all_hashes)) {
        const auto& [d, loops] = mapping[at];
        if (std::ranges::find(loops, i, &Unrolled::loop) == loops.end()) continue;
        there.push_back(d);
        hashes.push_back(machine_.hashes[d]);
      }
      const std::uint8_t leaves = there[set_order(hashes).front()];
      std::erase_if(*find(mapping, leaves), [&](const Unrolled& each) { return each.loop == i; });
    }
  }
}

Expected<ArrayMapping> Unroller::given(const ZigzagMapping& mapping) const {
  ArrayMapping made;
  for (const auto& [name, unrolls] : mapping.spatial) {
    MONET_TRY(const std::uint8_t d, dimension(name));
    std::vector<Unrolled> loops;
    for (const ZigzagUnroll& unroll : unrolls) {
      if (unroll.size < 1) {
        return Error{ErrorKind::user,
                     fmt::format("{} is unrolled {} times on {}", name_of(unroll.loop), unroll.size, name), layer_.name,
                     "unroll once at least"};
      }
      const auto i = loop(unroll.loop);
      if (!i) continue;
      const auto known = std::ranges::find(loops, *i, &Unrolled::loop);
      if (known == loops.end()) {
        loops.push_back({*i, static_cast<double>(unroll.size)});
      } else {
        known->size = static_cast<double>(unroll.size);
      }
    }
    if (find(made, d) != nullptr) {
      return Error{ErrorKind::user, fmt::format("the spatial mapping has {} twice", name), layer_.name,
                   "give each once"};
    }
    made.emplace_back(d, std::move(loops));
  }
  cut_dimensions(made);
  cut_loops(made);
  return made;
}

std::vector<std::uint8_t> Unroller::open_dimensions(const ArrayMapping& mapping) const {
  std::vector<std::uint8_t> open;
  for (std::uint8_t d = 0; d < static_cast<std::uint8_t>(machine_.sizes.size()); ++d) {
    if (std::ranges::find(mapping, d, &ArrayMapping::value_type::first) == mapping.end()) open.push_back(d);
  }
  return open;
}

std::vector<std::uint8_t> Unroller::hinted_loops(std::uint8_t dimension, const ZigzagMapping& mapping) const {
  std::vector<std::uint8_t> hinted;
  for (const auto& [name, hints] : mapping.hints) {
    if (name != machine_.dimensions[dimension]) continue;
    std::vector<std::uint64_t> hashes;
    std::vector<Dim> names;
    for (Dim hint : hints) {
      if (std::ranges::find(names, hint) != names.end()) continue;
      names.push_back(hint);
      hashes.push_back(loop_hash(hint));
    }
    for (std::uint8_t at : set_order(hashes)) {
      if (const auto i = loop(names[at])) hinted.push_back(*i);
    }
  }
  if (!hinted.empty()) return hinted;
  std::vector<std::uint8_t> all(layer_.loops.size());
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  return in_set_order(all);
}

// Divisors, the largest first.
std::vector<std::int64_t> divisors(std::int64_t n) {
  std::vector<std::int64_t> found;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    found.push_back(d);
    if (d * d != n) found.push_back(n / d);
  }
  std::ranges::sort(found, std::ranges::greater{});
  return found;
}

Expected<std::vector<ArrayMapping>> Unroller::filled(const ArrayMapping& start, const ZigzagMapping& mapping,
                                                     std::int64_t count) const {
  const std::vector<std::uint8_t> open = open_dimensions(start);
  std::vector<std::vector<Unrolled>> choices;
  double combinations = 1;
  for (std::uint8_t d : open) {
    auto& list = choices.emplace_back();
    for (std::uint8_t i : hinted_loops(d, mapping)) {
      for (std::int64_t lanes : divisors(static_cast<std::int64_t>(limits_[d][i]))) {
        list.push_back({i, static_cast<double>(lanes)});
      }
    }
    combinations *= static_cast<double>(list.size());
  }
  if (combinations > max_candidates) {
    return Error{ErrorKind::user, fmt::format("there are {:.0f} ways to unroll the layer over the array", combinations),
                 layer_.name, "give a spatial mapping, or hints"};
  }
  std::vector<double> lanes(layer_.loops.size(), 1);  // of each loop, with the choices made so far
  std::vector<bool> present(layer_.loops.size(), false);
  double start_lanes = 1;
  for (const auto& [d, loops] : start) {
    start_lanes *= product(loops);
    for (const Unrolled& each : loops) {
      lanes[each.loop] *= each.size;
      present[each.loop] = true;
    }
  }
  struct Candidate {
    double promise;
    std::vector<std::size_t> choice;
  };
  std::vector<Candidate> best;  // most promising first; of equals the earlier
  std::vector<std::size_t> choice(open.size(), 0);
  const auto visit = [&](auto&& self, std::size_t depth, double used) -> void {
    if (depth < open.size()) {
      for (std::size_t c = 0; c < choices[depth].size(); ++c) {
        const Unrolled& each = choices[depth][c];
        const double before = lanes[each.loop];
        if (before * each.size > loop_size(each.loop)) continue;
        choice[depth] = c;
        const bool was_present = present[each.loop];
        lanes[each.loop] = before * each.size;
        present[each.loop] = true;
        self(self, depth + 1, used * each.size);
        lanes[each.loop] = before;
        present[each.loop] = was_present;
      }
      return;
    }
    double largest = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (present[i]) largest = std::max(largest, lanes[i]);
    }
    const double promise = used + (used / largest - 1);
    if (std::ssize(best) == count && promise <= best.back().promise) return;
    const auto place = std::ranges::find_if(best, [&](const Candidate& other) { return promise > other.promise; });
    best.insert(place, {promise, choice});
    if (std::ssize(best) > count) best.pop_back();
  };
  visit(visit, 0, start_lanes);
  std::vector<ArrayMapping> made;
  for (const Candidate& candidate : best) {
    made.push_back(start);
    for (std::size_t k = 0; k < open.size(); ++k) {
      made.back().emplace_back(open[k], std::vector<Unrolled>{choices[k][candidate.choice[k]]});
    }
  }
  if (made.empty()) {
    return Error{ErrorKind::infeasible, "no unrolling over the array fits", layer_.name,
                 "widen the ports of the lowest memories, or give a spatial mapping"};
  }
  return made;
}

// Takes lanes from the largest factor, one at a time, until an operand's part of the array fits the memory below it.
Status Unroller::limit_to_capacity(ArrayMapping& mapping) const {
  for (std::uint8_t m : machine_.inner) {
    const MachineMemory& memory = machine_.memories[m];
    for (Path path : memory.paths) {
      const std::size_t o = links_.operand[static_cast<std::size_t>(path)];
      std::vector<std::uint8_t> loops;  // that the operand depends on
      double lanes = 1;
      for (std::uint8_t d : memory.served) {
        for (const Unrolled& each : *find(mapping, d)) {
          if (is_irrelevant(o, each.loop)) continue;
          if (std::ranges::find(loops, each.loop) == loops.end()) loops.push_back(each.loop);
          lanes *= each.size;
        }
      }
      const double elements = memory.size_bits / static_cast<double>(layer_.operands[o].bits);
      if (elements >= lanes) continue;
      loops = in_set_order(loops);
      std::vector<double> factors;
      for (std::uint8_t i : loops) {
        for (std::uint8_t d : memory.served) {
          for (const Unrolled& each : *find(mapping, d)) {
            if (each.loop == i) factors.push_back(each.size);
          }
        }
      }
      if (factors.empty()) {
        return Error{ErrorKind::infeasible,
                     fmt::format("an element of {} does not fit memory {}", layer_.operands[o].name, machine_.names[m]),
                     layer_.name, "make the memory larger, or the precision less"};
      }
      std::vector<double> fewer = factors;
      const auto multiplied = [&] {
        double all = 1;
        for (double factor : fewer) all *= factor;
        return all;
      };
      while (multiplied() > elements) *std::ranges::max_element(fewer) -= 1;
      // ZigZag looks the new size up by the old one: of equal factors the last counts.
      for (std::uint8_t d : memory.served) {
        for (Unrolled& each : *find(mapping, d)) {
          if (is_irrelevant(o, each.loop)) continue;
          const auto last = std::ranges::find(factors.rbegin(), factors.rend(), each.size);
          each.size = fewer[static_cast<std::size_t>(factors.rend() - last - 1)];
        }
      }
    }
  }
  return Done{};
}

}  // namespace

Expected<std::vector<ArrayMapping>> array_mappings(const ZigzagLayer& layer, const Machine& machine, const Links& links,
                                                   const ZigzagMapping& mapping, const ZigzagOptions& options) {
  const Unroller unroller(layer, machine, links);
  MONET_TRY(const ArrayMapping given, unroller.given(mapping));
  std::vector<ArrayMapping> made{given};
  if (!unroller.open_dimensions(given).empty()) {
    MONET_TRY(made, unroller.filled(given, mapping, options.spatial_candidates));
  }
  for (ArrayMapping& each : made) {
    MONET_RETURN_IF_ERROR(unroller.limit_to_capacity(each));
    for (const auto& [d, loops] : each) {
      for (const Unrolled& unrolled : loops) {
        if (unrolled.size >= 1) continue;
        return Error{ErrorKind::infeasible,
                     fmt::format("the lowest memories cannot feed {} on {}", name_of(layer.loops[unrolled.loop].name),
                                 machine.dimensions[d]),
                     layer.name, "widen their ports or make them larger than one element"};
      }
    }
  }
  return made;
}

}  // namespace monet::zigzag
