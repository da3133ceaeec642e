#include "compat/zigzag/spatial.h"

#include "base/try.h"
#include "compat/zigzag/python.h"
#include "compat/zigzag/relevance.h"

#include <algorithm>
#include <cmath>

namespace monet::zigzag {

namespace {

double size_of(const std::vector<Unrolled>& loops, std::uint8_t loop) {
  const auto found = std::ranges::find(loops, loop, &Unrolled::loop);
  return found == loops.end() ? 0 : found->size;
}

// Of the dimensions that unroll a loop, the first with the largest size gives way where the loop does not divide.
bool is_first_largest(const ArrayMapping& mapping, std::uint8_t dimension, std::uint8_t loop) {
  double largest = 0;
  std::uint8_t first = dimension;
  for (const auto& [d, loops] : mapping) {
    const double size = size_of(loops, loop);
    if (size > largest) {
      largest = size;
      first = d;
    }
  }
  return first == dimension;
}

double unrolled_before(const ArrayMapping& mapping, std::uint8_t loop) {
  double product = 1;
  for (const auto& [d, loops] : mapping) {
    const double size = size_of(loops, loop);
    if (size != 0) product *= size;
  }
  return product;
}

// The mapping with every loop's lanes made to fit a whole number of iterations.
ArrayMapping limited(const ZigzagLayer& layer, const Machine& machine, const ArrayMapping& mapping, bool whole) {
  ArrayMapping made;
  for (const auto& [dimension, loops] : mapping) {
    std::vector<Unrolled> kept;
    for (const Unrolled& each : loops) {
      double lanes = std::min(each.size, static_cast<double>(machine.sizes[dimension]));
      if (is_first_largest(mapping, dimension, each.loop)) {
        const auto size = static_cast<double>(layer.loops[each.loop].size);
        const double before = unrolled_before(made, each.loop);
        const double iterations = std::ceil(size / (lanes * before));
        lanes = size / iterations / before;
        if (whole) lanes = truncate(lanes);
      }
      kept.push_back({each.loop, lanes});
    }
    if (!kept.empty()) made.emplace_back(dimension, std::move(kept));
  }
  return made;
}

void merge(std::vector<Unrolled>& level, const std::vector<Unrolled>& loops) {
  for (const Unrolled& each : loops) {
    const auto found = std::ranges::find(level, each.loop, &Unrolled::loop);
    if (found == level.end()) {
      level.push_back(each);
    } else {
      found->size *= each.size;
    }
  }
}

LevelLoops by_level(const Machine& machine, Path path, ArrayMapping mapping) {
  LevelLoops levels;
  for (std::uint8_t m : machine.levels[static_cast<std::size_t>(path)]) {
    std::vector<Unrolled> level;
    for (std::uint8_t dimension : machine.memories[m].served) {
      const auto found = std::ranges::find(mapping, dimension, &ArrayMapping::value_type::first);
      if (found == mapping.end()) continue;
      merge(level, found->second);
      mapping.erase(found);
    }
    levels.push_back(std::move(level));
  }
  levels.emplace_back();
  for (const auto& [dimension, loops] : mapping) merge(levels.back(), loops);
  return levels;
}

// Products from entry i up of the loops' relevant parts and of all of them. A loop of a window is relevant as far as
// it reaches new positions.
OperandUnrolling counted(const ZigzagLayer& layer, const std::array<Relevance, max_loops>& relevance,
                         LevelLoops levels) {
  const std::size_t count = levels.size();
  std::vector<double> relevant(count, 1);
  std::vector<double> all(count, 1);
  std::array<double, max_loops> sizes;
  sizes.fill(1);
  std::vector<double> reached(layer.windows.size(), 1);
  std::vector<double> reused(layer.windows.size(), 1);
  for (std::size_t i = 0; i < count; ++i) {
    for (const Unrolled& each : levels[i]) {
      if (relevance[each.loop] != Relevance::window) {
        if (relevance[each.loop] == Relevance::relevant) relevant[i] *= each.size;
        all[i] *= each.size;
        continue;
      }
      sizes[each.loop] *= each.size;
      for (std::size_t w = 0; w < layer.windows.size(); ++w) {
        const WindowSize window(layer.windows[w]);
        if (window.outer != each.loop && window.inner != each.loop) continue;
        const double reach = window(sizes[window.outer], sizes[window.inner]);
        const double reuse = sizes[window.outer] * sizes[window.inner] / reach;
        relevant[i] *= reach / reached[w];
        all[i] *= reach / reached[w];
        all[i] *= reuse / reused[w];
        reached[w] = reach;
        reused[w] = reuse;
      }
    }
  }
  OperandUnrolling made;
  std::vector<double> distinct;
  for (std::size_t i = 0; i < count; ++i) {
    double units = 1;
    double unique = 1;
    for (std::size_t j = i; j < count; ++j) {
      units *= all[j];
      unique *= relevant[j];
    }
    made.units.push_back(round_even(round_thousandths(units)));
    distinct.push_back(unique);
  }
  for (std::size_t i = 0; i + 1 < count; ++i) made.boosts.push_back(round_even(distinct[i] / distinct[i + 1]));
  made.loops = std::move(levels);
  return made;
}

}  // namespace

Expected<Links> links_of(const ZigzagLayer& layer, const ZigzagMapping& mapping) {
  Links links;
  std::array<bool, path_count> taken{};
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    const char name = layer.operands[o].name;
    const Path path = name == 'O' ? mapping.output_path : name == 'W' ? mapping.weight_path : mapping.input_path;
    links.path[o] = path;
    links.operand[static_cast<std::size_t>(path)] = static_cast<std::uint8_t>(o);
    taken[static_cast<std::size_t>(path)] = true;
  }
  if (!std::ranges::all_of(taken, std::identity{}) || mapping.output_path != Path::output) {
    return Error{ErrorKind::user,
                 "memory_operand_links do not give O the path of outputs, and I and W one of the others each",
                 layer.name, "link O to O, and I and W to I1 and I2"};
  }
  return links;
}

Expected<Unrolling> unroll(const ZigzagLayer& layer, const Machine& machine, const Links& links,
                           const ArrayMapping& mapping) {
  const ArrayMapping average = limited(layer, machine, mapping, false);
  const ArrayMapping whole = limited(layer, machine, mapping, true);
  const Relevances relevance = relevances(layer);
  Unrolling made;
  made.lanes = average;
  for (std::size_t o = 0; o < zigzag_operands; ++o) {
    made.average[o] = counted(layer, relevance[o], by_level(machine, links.path[o], average));
    made.whole[o] = counted(layer, relevance[o], by_level(machine, links.path[o], whole));
  }
  for (std::size_t o = 1; o < zigzag_operands; ++o) {
    if (made.average[o].units[0] != made.average[0].units[0] || made.whole[o].units[0] != made.whole[0].units[0]) {
      return Error{ErrorKind::infeasible, "the lanes in use do not come out equal for all operands", layer.name,
                   "unroll sizes that divide the layer's loops"};
    }
  }
  return made;
}

}  // namespace monet::zigzag
