#include "evaluate/tiles/reads.h"

#include "evaluate/tiles/group_elements.h"

#include <algorithm>
#include <optional>

namespace monet::tiling {

namespace {

// Leaves of one operand, and ways in which one operand reads a tensor; beyond that it is taken to read all of it.
constexpr std::size_t max_leaves = 4096;
constexpr std::size_t max_accesses = 256;

AxisAccess axis_access(const Nest& nest, const AxisIndex& index, std::int64_t size, const Cuttable& cuttable) {
  AxisAccess all{.terms = {}, .size = size, .anywhere = true};
  if (index.anywhere) return all;
  AxisAccess access{.terms = {}, .offset = index.offset, .divisor = index.divisor, .span = index.span, .size = size};
  std::vector<std::uint8_t> loops;
  for (const Term& term : index.terms) {
    const Loop& loop = nest.loops[term.loop];
    if (term.factor == 0 || loop.size == 1) continue;
    if (const auto known = std::ranges::find(loops, term.loop); known != loops.end()) {
      access.terms[static_cast<std::size_t>(known - loops.begin())].factor += term.factor;
      continue;
    }
    const auto cut = std::ranges::find(cuttable.loops, loop, &CuttableLoop::loop);
    const bool can = cut != cuttable.loops.end();
    loops.push_back(term.loop);
    access.terms.push_back({.slot = can ? static_cast<std::uint8_t>(cut - cuttable.loops.begin()) : AccessTerm::no_slot,
                            .size = loop.size,
                            .factor = term.factor});
  }
  return access.terms.size() <= max_terms ? access : all;
}

// What one access of one nest reads of one stored tensor.
struct Reading {
  std::uint8_t input;
  TensorId tensor;
  std::vector<GroupAccess> groups;
};

// Any element of a tensor.
std::vector<GroupAccess> all_of(const Shape& shape) {
  std::vector<GroupAccess> groups;
  for (ViewPart& part : own_axes(shape)) {
    AxisAccess access{.terms = {}, .size = shape[part.axes[0]], .anywhere = true};
    groups.push_back({.axes = {std::move(access)}, .map = std::move(part.map)});
  }
  return groups;
}

// An operand as it is read: its shape, the position along each of its axes, and what is behind it.
struct Operand {
  Shape shape;
  std::vector<AxisIndex> axes;
  std::vector<ViewPart> parts;
};

// The rows that known indices take from a table are a view of it: read at the output's own place.
std::optional<Operand> known_gather(const Graph& graph, const Node& node, const Access& access) {
  if (node.op != Op::Gather || access.operand != 0) return std::nullopt;
  const Constant* indices = graph.constant(node.inputs[1]);
  if (indices == nullptr) return std::nullopt;
  const Shape& table = graph[node.inputs[0]].type.shape;
  const auto axis = static_cast<std::size_t>(node.attributes.integer(Attr::axis));
  const std::size_t rank = indices->shape.size();
  const std::int64_t count = element_count(indices->shape);
  auto rows = std::make_shared<std::vector<std::int64_t>>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = indices->integer_at(i);
    rows->push_back(row < 0 ? row + table[axis] : row);
  }
  Operand operand{.shape = graph[node.outputs[0]].type.shape, .axes = {}, .parts = own_axes(table)};
  operand.axes = identity_axes(operand.shape.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    ViewPart& part = operand.parts[i];
    if (i != axis) {
      part.axes[0] = static_cast<std::uint8_t>(i < axis ? i : i + rank - 1);
      continue;
    }
    part.axes.clear();
    for (std::size_t k = 0; k < rank; ++k) part.axes.push_back(static_cast<std::uint8_t>(axis + k));
    part.map = {.size = count, .steps = {}, .axes = {static_cast<std::uint8_t>(axis)}, .sizes = {count}};
    part.map.append_lookup(0, rows, table[axis]);
    if (table[axis] == 1) {
      part.map.axes.clear();
      part.map.sizes.clear();
    }
  }
  return operand;
}

Operand operand_of(const Graph& graph, const Node& node, const Access& access) {
  if (auto gather = known_gather(graph, node, access)) return *std::move(gather);
  const Shape& shape = graph[node.inputs[access.operand]].type.shape;
  return {.shape = shape, .axes = access.axes, .parts = own_axes(shape)};
}

void add_readings(const Graph& graph, const Node& node, const Nest& nest, const Access& access,
                  const Cuttable& cuttable, std::vector<Reading>& readings) {
  Operand operand = operand_of(graph, node, access);
  for (Leaf& leaf : leaves_of(graph, node.inputs[access.operand], std::move(operand.parts), max_leaves)) {
    Reading reading{access.operand, leaf.tensor, {}};
    if (leaf.all) {
      reading.groups = all_of(graph[leaf.tensor].type.shape);
    } else {
      for (ViewPart& part : leaf.parts) {
        GroupAccess& group = reading.groups.emplace_back();
        for (std::uint8_t axis : part.axes) {
          group.axes.push_back(axis_access(nest, operand.axes[axis], operand.shape[axis], cuttable));
        }
        group.map = std::move(part.map);
      }
    }
    readings.push_back(std::move(reading));
  }
}

GroupAccess joined(std::vector<GroupAccess> groups) {
  GroupAccess result = std::move(groups.front());
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const GroupAccess& next = groups[i];
    result.axes.insert(result.axes.end(), next.axes.begin(), next.axes.end());
    result.map = join(std::move(result.map), next.map);
  }
  std::vector<std::uint8_t> order = result.map.axes;
  std::ranges::sort(order);
  result.map.reorder(order);
  return result;
}

// Groups that all readings have in common stay; the rest of each becomes one.
std::vector<std::vector<GroupAccess>> aligned(std::vector<std::vector<GroupAccess>> readings) {
  std::vector<std::vector<GroupAccess>> result;
  for (std::size_t i = 0; i < readings[0].size();) {
    const GroupAccess group = readings[0][i];
    const bool common = std::ranges::all_of(
        readings, [&](const auto& groups) { return std::ranges::find(groups, group) != groups.end(); });
    if (!common) {
      ++i;
      continue;
    }
    result.push_back({group});
    for (auto& groups : readings) groups.erase(std::ranges::find(groups, group));
  }
  // One that has no more than this reads all that the others read.
  if (std::ranges::any_of(readings, [](const auto& groups) { return groups.empty(); })) return result;
  std::vector<GroupAccess> rest;
  for (auto& groups : readings) rest.push_back(joined(std::move(groups)));
  result.push_back(std::move(rest));
  return result;
}

ReadGroup group_of(std::vector<GroupAccess> accesses) {
  ReadGroup group{.loops = 0, .axes = accesses[0].map.axes, .sizes = accesses[0].map.sizes, .accesses = {}};
  for (const GroupAccess& access : accesses) {
    for (const AxisAccess& axis : access.axes) {
      for (const AccessTerm& term : axis.terms) {
        if (term.slot != AccessTerm::no_slot) group.loops |= std::uint32_t{1} << term.slot;
      }
    }
  }
  const GroupAccess& first = accesses[0];
  const bool one_step = first.map.steps.size() == 1 && first.map.steps[0].kind == MapStep::Kind::affine &&
                        first.map.steps[0].size == first.map.size;
  group.simple =
      accesses.size() == 1 && first.axes.size() <= 1 && group.axes.size() <= 1 && (first.map.steps.empty() || one_step);
  if (group.simple) {
    if (!first.axes.empty()) group.axis = first.axes[0];
    group.shown_through = one_step;
    if (one_step) group.map = first.map.steps[0].affine;
  } else {
    group.accesses = std::move(accesses);
  }
  group.whole = whole_size(group);
  return group;
}

ReadSite site_of(std::uint8_t input, std::uint32_t stored, std::vector<std::vector<GroupAccess>> readings) {
  ReadSite site{.input = input, .stored = stored, .loops = 0, .groups = {}};
  std::vector<std::vector<GroupAccess>> different;
  for (auto& reading : readings) {
    if (std::ranges::find(different, reading) == different.end()) different.push_back(std::move(reading));
  }
  for (auto& accesses : aligned(std::move(different))) site.groups.push_back(group_of(std::move(accesses)));
  for (const ReadGroup& group : site.groups) site.loops |= group.loops;
  std::ranges::sort(site.groups, {}, [](const ReadGroup& group) {
    return group.axes.empty() ? -1 : static_cast<int>(*std::ranges::min_element(group.axes));
  });
  return site;
}

}  // namespace

std::vector<ReadSite> reads_of(const Graph& graph, const OperatorClasses& classes, NodeId node,
                               const OperatorNests& nests, const Cuttable& cuttable) {
  std::vector<Reading> readings;
  for (const Nest& nest : nests.nests) {
    if (std::ranges::any_of(nest.loops, [](const Loop& loop) { return loop.size == 0; })) continue;
    for (const Access& access : nest.reads) {
      if (access.kind == OperandKind::input) add_readings(graph, graph[node], nest, access, cuttable, readings);
    }
  }
  std::ranges::sort(readings, {}, [](const Reading& r) { return std::pair(r.input, r.tensor); });
  std::vector<ReadSite> sites;
  for (std::size_t i = 0; i < readings.size();) {
    const Reading& first = readings[i];
    std::vector<std::vector<GroupAccess>> same;
    std::size_t end = i;
    for (; end < readings.size() && readings[end].input == first.input && readings[end].tensor == first.tensor; ++end) {
      same.push_back(std::move(readings[end].groups));
    }
    if (same.size() > max_accesses) same = {all_of(graph[first.tensor].type.shape)};
    const std::span<const TensorId> stored = classes.stored(node, first.input);
    const auto number = std::ranges::lower_bound(stored, first.tensor) - stored.begin();
    ReadSite site = site_of(first.input, static_cast<std::uint32_t>(number), std::move(same));
    i = end;
    const bool read = std::ranges::all_of(site.groups, [](const ReadGroup& group) { return group.whole > 0; });
    if (read) sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace monet::tiling
