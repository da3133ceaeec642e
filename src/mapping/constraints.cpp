#include "mapping/constraints.h"

#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet {

namespace {

std::optional<std::uint8_t> loop_named(const Problem& problem, const std::string& name) {
  for (std::size_t i = 0; i < problem.loops.size(); ++i) {
    if (name_of(problem.loops[i].name) == name) return static_cast<std::uint8_t>(i);
  }
  // The channels of sums and pools are called G in such files.
  if (name == "G" && problem.per_point[Count::mac] == 0) return loop_named(problem, "K");
  return std::nullopt;
}

void add_unrolled(const MappingFile::Entry& entry, const Problem& problem, const Target& target,
                  MappingConstraints& result) {
  for (std::size_t d = 0; d < entry.spatial.size(); ++d) {
    std::int64_t room = target.unit.dimensions[d].size;
    bool given = false;
    for (const auto& [name, size] : entry.spatial[d]) {
      const auto loop = loop_named(problem, name);
      if (!loop || room < 1) continue;
      const std::int64_t lanes = std::min({room, static_cast<std::int64_t>(size), problem.loops[*loop].size});
      result.unrolled.push_back({static_cast<std::uint8_t>(d), *loop, lanes, static_cast<double>(lanes)});
      room /= lanes;
      given = true;
    }
    // A dimension for loops that are not here stays empty.
    if (!given && !entry.spatial[d].empty()) result.unrolled.push_back({static_cast<std::uint8_t>(d), 0, 1, 1});
  }
}

void add_order(const MappingFile::Entry& entry, const Problem& problem, MappingConstraints& result) {
  bool outside = false;
  for (const MappingFile::OrderedLoop& line : entry.order) {
    if (!line.loop && !line.size) {
      outside = true;
      continue;
    }
    OrderSlot slot;
    if (line.loop) {
      slot.loop = loop_named(problem, *line.loop);
      if (!slot.loop) continue;
    }
    slot.size = line.size;
    if (slot.size == 1) continue;
    if (outside) {
      result.outermost.insert(result.outermost.begin(), slot);
    } else {
      result.innermost.push_back(slot);
    }
  }
}

Status add_levels(const MappingFile::Entry& entry, const Problem& problem, const Target& target,
                  MappingConstraints& result) {
  for (const MappingFile::Entry::Level& level : entry.levels) {
    HeldLoops held{.path = level.operand == "I" ? Path::input : level.operand == "W" ? Path::weight : Path::output};
    // By its own name, without the core's.
    const auto found = std::ranges::find_if(target.memories, [&](const TargetMemory& memory) {
      return memory.name == level.memory || memory.name.substr(memory.name.rfind('/') + 1) == level.memory;
    });
    if (found == target.memories.end()) {
      std::vector<std::string> names;
      for (const TargetMemory& memory : target.memories)
        names.push_back(memory.name.substr(memory.name.rfind('/') + 1));
      return Error{.message = fmt::format("the core has no memory \"{}\"", level.memory),
                   .place = entry.place,
                   .advice = fmt::format("its memories are {}", fmt::join(names, ", "))};
    }
    held.memory = static_cast<std::uint8_t>(found - target.memories.begin());
    for (const std::string& name : level.loops) {
      if (const auto loop = loop_named(problem, name)) held.loops |= 1U << *loop;
    }
    if (held.loops != 0) result.held.push_back(held);
  }
  return Done{};
}

}  // namespace

std::vector<Dim> named_loops(const MappingFile::Entry& entry) {
  std::vector<Dim> dims;
  const auto add = [&](const std::string& name) {
    if (const auto dim = dim_named(name)) dims.push_back(*dim);
    if (name == "G") dims.push_back(Dim::K);
  };
  for (const auto& dimension : entry.spatial) {
    for (const auto& [name, size] : dimension) add(name);
  }
  for (const MappingFile::OrderedLoop& line : entry.order) {
    if (line.loop) add(*line.loop);
  }
  for (const MappingFile::Entry::Level& level : entry.levels) {
    for (const std::string& loop : level.loops) add(loop);
  }
  return dims;
}

Expected<MappingConstraints> constraints_of(const MappingFile::Entry& entry, const Problem& problem,
                                            const Target& target) {
  MONET_RETURN_IF_ERROR(check_dimensions(entry, target.unit.dimensions.size()));
  MappingConstraints result;
  add_unrolled(entry, problem, target, result);
  add_order(entry, problem, result);
  MONET_RETURN_IF_ERROR(add_levels(entry, problem, target, result));
  return result;
}

}  // namespace monet
