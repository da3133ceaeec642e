#include "parallel/cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace monet::parallel {

namespace {

Error no_view(const Graph& graph, const Node& node, const Seed& seed, std::string_view why) {
  const TensorId id = seed.output ? node.outputs[seed.operand] : node.inputs[seed.operand];
  return {.message = fmt::format("{} of {} cannot keep it {}: {}", name_of(node.op),
                                 monet::to_string(graph[id].type.shape), to_string(seed.place), why),
          .place = {},
          .advice = {}};
}

std::int64_t product(const Shape& shape, std::size_t first, std::size_t last) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(first),
                         shape.begin() + static_cast<std::ptrdiff_t>(last), std::int64_t{1}, std::multiplies<>());
}

// The piece is a digit of the element's number: its place value stays, the axis in which it lies changes.
std::optional<Place> reshaped(const Shape& from, const Shape& to, const Place& place, std::int64_t chips) {
  const std::int64_t value = from[place.axis] / (place.blocks * chips) * product(from, place.axis + 1, from.size());
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const std::int64_t below = product(to, axis + 1, to.size());
    if (to[axis] == 1 || below > value || value * chips > below * to[axis]) continue;
    if (value % below != 0 || to[axis] % (value / below * chips) != 0) return std::nullopt;
    return Place::sharded(axis, to[axis] / (value / below * chips));
  }
  return std::nullopt;
}

// A stretch of the axis as pieces of the same length: whole blocks of it.
std::optional<std::int64_t> blocks_of(std::int64_t start, std::int64_t size, std::int64_t block) {
  if (start % block != 0 || size % block != 0 || size == 0) return std::nullopt;
  return size / block;
}

class ViewRule {
 public:
  ViewRule(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed)
      : graph_(graph), node_(node), chips_(chips), seed_(seed), cut_(whole_cut(node)), place_(seed.place) {}

  Expected<Cut> run() {
    if (seed_.output && node_.op != Op::Expand) return fail("only what it reads decides");
    if (!seed_.output) cut_.inputs[seed_.operand] = place_;
    const Shape& from = in(0);
    switch (node_.op) {
      case Op::Identity: return give(place_);
      case Op::Reshape: {
        const auto to = reshaped(from, out(0), place_, chips_);
        if (!to) return fail("its pieces are no pieces of one axis afterwards");
        return give(*to);
      }
      case Op::Transpose: {
        const auto& perm = node_.attributes.integers(Attr::perm);
        const auto at = std::ranges::find(perm, static_cast<std::int64_t>(place_.axis)) - perm.begin();
        return give(Place::sharded(static_cast<std::size_t>(at), place_.blocks));
      }
      case Op::Slice: return slice();
      case Op::Split: return split();
      case Op::Concat: return concat();
      case Op::Expand: return expand();
      default:
        if (place_.axis != 0) return fail("blocks of pixels go to other places");
        return give(place_);
    }
  }

 private:
  const Shape& in(std::size_t i) const { return graph_[node_.inputs[i]].type.shape; }
  const Shape& out(std::size_t i) const { return graph_[node_.outputs[i]].type.shape; }
  Error fail(std::string_view why) const { return no_view(graph_, node_, seed_, why); }

  Expected<Cut> give(const Place& place) {
    cut_.outputs[0] = place;
    if (!fits(out(0), place, chips_)) return fail("the pieces would not be equal");
    if (node_.attributes.has(Attr::shape)) cut_.attributes.set(Attr::shape, local_shape(out(0), place, chips_));
    return cut_;
  }

  Expected<Cut> slice() {
    const auto& axes = node_.attributes.integers(Attr::axes);
    const auto found = std::ranges::find(axes, static_cast<std::int64_t>(place_.axis));
    if (found == axes.end()) return give(place_);
    const auto at = static_cast<std::size_t>(found - axes.begin());
    const std::int64_t start = node_.attributes.integers(Attr::starts)[at];
    const std::int64_t size = out(0)[place_.axis];
    if (start == 0 && size == in(0)[place_.axis] && node_.attributes.integers(Attr::steps)[at] == 1)
      return give(place_);
    if (node_.attributes.integers(Attr::steps)[at] != 1) return fail("it takes elements in steps");
    if (node_.attributes.has(Attr::mesh)) {
      // One chip's part of an axis, of which each part is cut again.
      const std::int64_t group = in(0)[place_.axis] / size;
      if (place_.blocks % group != 0) return fail("its parts lie across the pieces");
      return give(Place::sharded(place_.axis, place_.blocks / group));
    }
    const auto blocks = blocks_of(start, size, in(0)[place_.axis] / place_.blocks);
    if (!blocks) return fail("it takes parts of blocks");
    std::vector<std::int64_t> starts = node_.attributes.integers(Attr::starts);
    starts[at] /= chips_;
    cut_.attributes.set(Attr::starts, std::move(starts));
    return give(Place::sharded(place_.axis, *blocks));
  }

  Expected<Cut> split() {
    const auto axis = static_cast<std::size_t>(node_.attributes.integer(Attr::axis));
    std::vector<std::int64_t> sizes = node_.attributes.integers(Attr::split);
    std::int64_t start = 0;
    for (std::size_t i = 0; i < node_.outputs.size(); ++i) {
      Place part = place_;
      if (axis == place_.axis) {
        const auto blocks = blocks_of(start, sizes[i], in(0)[axis] / place_.blocks);
        if (!blocks) return fail("its parts are no whole blocks");
        part.blocks = *blocks;
        start += sizes[i];
      }
      cut_.outputs[i] = part;
      if (node_.outputs[i].valid() && !fits(out(i), part, chips_)) return fail("the pieces would not be equal");
    }
    if (axis != place_.axis) return cut_;
    for (std::int64_t& size : sizes) {
      if (size % chips_ != 0) return fail("the pieces would not be equal");
      size /= chips_;
    }
    cut_.attributes.set(Attr::split, std::move(sizes));
    return cut_;
  }

  Expected<Cut> concat() {
    const auto axis = static_cast<std::size_t>(node_.attributes.integer(Attr::axis));
    const std::int64_t block = in(seed_.operand)[place_.axis] / place_.blocks;
    std::int64_t blocks = 0;
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      Place part = place_;
      if (axis == place_.axis) {
        if (in(i)[axis] % block != 0) return fail("its parts have no blocks of one size");
        part.blocks = in(i)[axis] / block;
        blocks += part.blocks;
      }
      if (!fits(in(i), part, chips_)) return fail("the pieces would not be equal");
      cut_.inputs[i] = part;
    }
    return give(Place::sharded(place_.axis, axis == place_.axis ? blocks : place_.blocks));
  }

  Expected<Cut> expand() {
    const std::size_t lead = out(0).size() - in(0).size();
    if (!seed_.output) {
      if (in(0)[place_.axis] != out(0)[lead + place_.axis]) return fail("it repeats that axis");
      return give(Place::sharded(lead + place_.axis, place_.blocks));
    }
    if (place_.axis >= lead && in(0)[place_.axis - lead] == out(0)[place_.axis])
      cut_.inputs[0] = Place::sharded(place_.axis - lead, place_.blocks);
    return give(place_);
  }

  const Graph& graph_;
  const Node& node_;
  std::int64_t chips_;
  const Seed& seed_;
  Cut cut_;
  Place place_;
};

}  // namespace

Expected<Cut> cut_view(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed) {
  return ViewRule(graph, node, chips, seed).run();
}

namespace {

// Along an axis that `group` chips have in `blocks` blocks, `whole` elements together, the place on the other side of
// the collective, whose own blocks change where the new pieces hold whole ones of them.
struct Through {
  std::int64_t blocks;      // of the place on the other side
  std::int64_t own_blocks;  // of the collective
};

std::optional<Through> through(std::int64_t whole, std::int64_t group, std::int64_t own_blocks, std::int64_t chips,
                               std::int64_t blocks, bool from_whole) {
  // In numbers of the whole axis: pieces of `own` elements here, of `inner` elements now.
  const std::int64_t own = whole / (own_blocks * group);
  const std::int64_t here = from_whole ? whole : whole / group;
  const std::int64_t inner = here / (blocks * chips);
  // New pieces consist of whole blocks of the collective.
  const std::int64_t inner_whole = from_whole ? inner : inner * group;
  if (inner_whole % (own * group) == 0 && own_blocks % chips == 0) return Through{blocks, own_blocks / chips};
  // New pieces lie inside the collective's.
  if (own % (inner * chips) == 0) return Through{from_whole ? blocks / group : blocks * group, own_blocks};
  return std::nullopt;
}

}  // namespace

Expected<Cut> cut_collective(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed) {
  Cut cut = whole_cut(node);
  const std::size_t i = seed.operand;
  cut.inputs[i] = cut.outputs[i] = seed.place;
  if (seed.output || node.inputs.size() != 1) return no_view(graph, node, seed, "several tensors travel together");
  const bool along = node.op == Op::AllGather || node.op == Op::ReduceScatter || node.op == Op::AllToAll;
  if (!along) return cut;
  const std::vector<std::int64_t> axes = node.attributes.integers(Attr::axes);
  std::vector<std::int64_t> own = node.attributes.integers(Attr::blocks);
  const std::int64_t group = node.attributes.integer(Attr::group);
  const Shape& from = graph[node.inputs[0]].type.shape;
  Place place = seed.place;
  for (std::size_t at = 0; at < axes.size(); ++at) {
    if (!std::cmp_equal(axes[at], place.axis)) continue;
    const bool gathers = node.op == Op::AllGather || (node.op == Op::AllToAll && at == 0);
    const std::int64_t here = from[place.axis];
    const auto found = through(gathers ? here * group : here, group, own[at], chips, place.blocks, !gathers);
    if (!found) return no_view(graph, node, seed, "the pieces lie across those of another axis of the mesh");
    place.blocks = found->blocks;
    own[at] = found->own_blocks;
  }
  cut.outputs[0] = place;
  cut.attributes.set(Attr::blocks, std::move(own));
  return cut;
}

}  // namespace monet::parallel
