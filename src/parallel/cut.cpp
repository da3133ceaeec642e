#include "parallel/cut.h"

#include "base/require.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::parallel {

namespace {

std::string words_of(const Loop& loop) { return fmt::format("loop {} of {} points", name_of(loop.name), loop.size); }

Error cannot(std::string message) { return {.message = std::move(message), .place = {}, .advice = {}}; }

}  // namespace

Expected<Place> follow(const AxisIndex& index, const std::vector<Loop>& loops, std::int64_t axis_size,
                       std::int64_t chips, const LoopCut& cut) {
  if (index.anywhere) return Place{};
  const Term* own = nullptr;
  for (const Term& term : index.terms) {
    if (term.loop != cut.loop) continue;
    if (own != nullptr) return cannot("an axis follows it twice");
    own = &term;
  }
  if (own == nullptr) return Place{};
  const std::int64_t size = loops[cut.loop].size;
  if (index.offset != 0 || index.span != 1) return cannot("an axis is read beside it (padding or neighbours)");
  if (own->factor < 1) return cannot("an axis follows it backwards");
  std::int64_t below = 0;
  for (const Term& term : index.terms) {
    const std::int64_t other = loops[term.loop].size;
    if (term.loop == cut.loop || other <= 1) continue;
    if (term.factor >= own->factor * size) {
      if (term.factor % (own->factor * size) != 0) return cannot("an axis follows it in steps");
    } else {
      if (term.factor < 0) return cannot("an axis is read backwards");
      below += term.factor * (other - 1);
    }
  }
  if (below >= own->factor) return cannot("pieces of an axis would overlap (a window)");
  const std::int64_t places = axis_size * index.divisor;
  const std::int64_t inner = size / (cut.blocks * chips) * own->factor;
  if (places % (own->factor * size) != 0) return cannot("an axis is longer or shorter than it");
  if (inner % index.divisor != 0) return cannot("a chip would have a part of what several points share");
  return Place::sharded(0, axis_size / (chips * (inner / index.divisor)));
}

namespace {

// The loop that must be cut so that the axis is sharded in these blocks.
std::optional<LoopCut> loop_behind(const AxisIndex& index, const std::vector<Loop>& loops, std::int64_t axis_size,
                                   std::int64_t chips, std::int64_t blocks) {
  const std::int64_t inner_axis = axis_size / (blocks * chips);
  for (const Term& term : index.terms) {
    const std::int64_t size = loops[term.loop].size;
    if (size <= 1 || term.factor < 1 || inner_axis * index.divisor % term.factor != 0) continue;
    const std::int64_t inner = inner_axis * index.divisor / term.factor;
    if (inner < 1 || size % (inner * chips) != 0) continue;
    const LoopCut found{term.loop, size / (inner * chips)};
    const auto back = follow(index, loops, axis_size, chips, found);
    if (back && back->is_sharded() && back->blocks == blocks) return found;
  }
  return std::nullopt;
}

std::optional<Reduction> reduction_of(const Node& node, const Nest& nest) {
  if (nest.per_point[Count::add] > 0 || nest.per_point[Count::mac] > 0) return Reduction::sum;
  if (node.op == Op::ReduceMax) return Reduction::max;
  if (node.op == Op::ReduceMin) return Reduction::min;
  return std::nullopt;
}

// From one operand's place to all others', nest by nest, until nothing changes.
class Rule {
 public:
  Rule(const Graph& graph, const Node& node, std::int64_t chips)
      : node_(node), chips_(chips), site_(site_of(graph, node)), nests_(nests_of(site_)), loops_(nests_.nests.size()) {
    for (std::size_t i = 0; i < nests_.scratch.size(); ++i) scratch_shapes_.push_back(nests_.scratch[i].shape);
    places_[input].resize(site_.inputs.size());
    places_[output].resize(site_.outputs.size());
    places_[scratch].resize(nests_.scratch.size());
  }

  Expected<Cut> run(const Seed& seed) {
    if (nests_.nests.empty()) return cannot("it has no loops");
    place(seed.output ? output : input, seed.operand) = seed.place;
    changed_ = true;
    while (changed_) {
      changed_ = false;
      for (std::size_t i = 0; i < nests_.nests.size(); ++i) MONET_RETURN_IF_ERROR(visit(i));
    }
    MONET_RETURN_IF_ERROR(check_uncut());
    return result();
  }

 private:
  static constexpr std::size_t input = 0, output = 1, scratch = 2;
  using Kept = std::optional<Place>;

  Kept& place(std::size_t kind, std::size_t operand) { return places_[kind][operand]; }
  Kept& place(const Access& access) { return place(static_cast<std::size_t>(access.kind), access.operand); }
  const Shape& shape(const Access& access) const {
    if (access.kind == OperandKind::input) return site_.in(access.operand);
    return access.kind == OperandKind::output ? site_.out(access.operand) : scratch_shapes_[access.operand];
  }

  std::string cut_loop() const {
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i]) return words_of(nests_.nests[i].loops[loops_[i]->loop]);
    }
    return "its loop";
  }
  Error conflict(std::string_view why) const {
    return cannot(fmt::format("{} cannot be cut over {} chips: {}", cut_loop(), chips_, why));
  }

  Status set(const Access& access, const Place& now) {
    Kept& kept = place(access);
    if (kept == now) return Done{};
    if (kept) return conflict(fmt::format("an operand would be {} and {}", to_string(*kept), to_string(now)));
    kept = now;
    changed_ = true;
    return Done{};
  }

  Status visit(std::size_t at) {
    const Nest& nest = nests_.nests[at];
    for (const auto* accesses : {&nest.reads, &nest.writes}) {
      for (const Access& access : *accesses) MONET_RETURN_IF_ERROR(find_loop(at, access));
    }
    if (!loops_[at]) return Done{};
    for (const Access& access : nest.reads) {
      MONET_TRY(const Place now, place_after(at, access));
      MONET_RETURN_IF_ERROR(set(access, now));
    }
    for (const Access& access : nest.writes) {
      MONET_TRY(Place now, place_after(at, access));
      if (now.is_whole()) {
        if (!access.accumulate) return conflict("all chips would write the same element");
        const auto reduction = reduction_of(node_, nest);
        if (!reduction) return conflict("what it joins is no sum");
        now = Place::partial(*reduction);
      }
      MONET_RETURN_IF_ERROR(set(access, now));
    }
    return Done{};
  }

  Status find_loop(std::size_t at, const Access& access) {
    const Kept kept = place(access);
    if (!kept || !kept->is_sharded()) return Done{};
    const std::vector<Loop>& loops = nests_.nests[at].loops;
    const AxisIndex& index = access.axes[kept->axis];
    const std::int64_t size = shape(access)[kept->axis];
    const auto found = loop_behind(index, loops, size, chips_, kept->blocks);
    if (!found) {
      if (index.anywhere)
        return cannot(fmt::format("axis {} cannot be cut: where it is read depends on data", kept->axis));
      for (const Term& term : index.terms) {
        if (loops[term.loop].size <= 1) continue;
        return cannot(fmt::format("{} cannot be cut over {} chips as axis {} of {} in {} block{}",
                                  words_of(loops[term.loop]), chips_, kept->axis, size, kept->blocks,
                                  kept->blocks == 1 ? "" : "s"));
      }
      return cannot(fmt::format("no loop runs along axis {}", kept->axis));
    }
    if (loops_[at] && loops_[at] != found) return conflict("two loops of one nest would be cut");
    if (!loops_[at]) changed_ = true;
    loops_[at] = found;
    return Done{};
  }

  Expected<Place> place_after(std::size_t at, const Access& access) const {
    Place result;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
      auto now = follow(access.axes[axis], nests_.nests[at].loops, shape(access)[axis], chips_, *loops_[at]);
      if (!now) return conflict(now.error().message);
      if (now->is_whole()) continue;
      if (result.is_sharded()) return conflict("two axes of one operand follow it");
      result = Place::sharded(axis, now->blocks);
      if (!fits(shape(access), result, chips_)) return conflict("the pieces would not be equal");
    }
    return result;
  }

  // Nests that no chip does a part of: every chip does all of it, on what it has whole.
  Status check_uncut() {
    for (std::size_t at = 0; at < loops_.size(); ++at) {
      const Nest& nest = nests_.nests[at];
      for (const Access& access : nest.reads) {
        const Kept kept = place(access);
        if (kept && kept->is_partial()) return conflict("a sum over it is read inside the operator");
        if (!loops_[at] && kept && !kept->is_whole()) return conflict("another part of the operator needs all of it");
      }
      if (loops_[at]) continue;
      for (const Access& access : nest.writes) {
        const Kept kept = place(access);
        if (!kept || kept->is_whole()) continue;
        // Zeros to which the terms are added.
        if (kept->is_partial() && nest.reads.empty() && kept->reduction == Reduction::sum) continue;
        return conflict("another part of the operator writes all of it");
      }
    }
    return Done{};
  }

  Expected<Cut> result() {
    Cut cut;
    for (const Kept& kept : places_[input]) cut.inputs.push_back(kept.value_or(Place{}));
    for (const Kept& kept : places_[output]) cut.outputs.push_back(kept.value_or(Place{}));
    for (const Place& each : cut.inputs) {
      if (each.is_partial()) return conflict("it sums into an input");
    }
    MONET_TRY(cut.attributes, local_attributes(cut));
    return cut;
  }

  // The one set of attributes with which one chip's operator has the nests of the whole one with the loop cut.
  Expected<Attributes> local_attributes(const Cut& cut) const {
    std::vector<TensorType> inputs, outputs;
    const auto localize = [&](const std::vector<const TensorType*>& types, const std::vector<Place>& places,
                              std::vector<TensorType>& result) {
      for (std::size_t i = 0; i < types.size(); ++i) {
        result.push_back(types[i] == nullptr ? TensorType{} : *types[i]);
        if (types[i] != nullptr) result.back().shape = local_shape(types[i]->shape, places[i], chips_);
      }
    };
    localize(site_.inputs, cut.inputs, inputs);
    localize(site_.outputs, cut.outputs, outputs);
    Attributes same = node_.attributes;
    if (same.has(Attr::shape)) same.set(Attr::shape, outputs[0].shape);
    std::vector<Attributes> candidates = {same};
    for (const Attr key : {Attr::group, Attr::num_groups}) {
      if (!same.has(key) || same.integer(key) % chips_ != 0) continue;
      candidates.push_back(same);
      candidates.back().set(key, same.integer(key) / chips_);
    }
    for (const Attributes& attributes : candidates) {
      OperatorSite site{.op = node_.op, .attributes = attributes, .inputs = {}, .outputs = {}};
      for (std::size_t i = 0; i < inputs.size(); ++i) site.inputs.push_back(site_.inputs[i] ? &inputs[i] : nullptr);
      for (std::size_t i = 0; i < outputs.size(); ++i) site.outputs.push_back(site_.outputs[i] ? &outputs[i] : nullptr);
      if (same_nests(nests_of(site))) return attributes;
    }
    return conflict("one chip's part is not an operator of this kind");
  }

  bool same_nests(const OperatorNests& local) const {
    if (local.nests.size() != nests_.nests.size()) return false;
    for (std::size_t i = 0; i < local.nests.size(); ++i) {
      const Nest& whole = nests_.nests[i];
      const Nest& part = local.nests[i];
      if (part.loops.size() != whole.loops.size() || part.per_point != whole.per_point) return false;
      for (std::size_t loop = 0; loop < part.loops.size(); ++loop) {
        const bool is_cut = loops_[i] && loops_[i]->loop == loop;
        if (part.loops[loop].size != (is_cut ? whole.loops[loop].size / chips_ : whole.loops[loop].size)) return false;
      }
      if (!same_accesses(i, whole.reads, part.reads) || !same_accesses(i, whole.writes, part.writes)) return false;
    }
    return true;
  }

  bool same_accesses(std::size_t at, const std::vector<Access>& whole, const std::vector<Access>& part) const {
    if (whole.size() != part.size()) return false;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (whole[i].kind != part[i].kind || whole[i].operand != part[i].operand ||
          whole[i].axes.size() != part[i].axes.size())
        return false;
      for (std::size_t axis = 0; axis < whole[i].axes.size(); ++axis) {
        AxisIndex expected = whole[i].axes[axis];
        if (expected.anywhere) continue;
        shorten(expected, at);
        // Axes and loops of one point say nothing.
        if (!(expected == part[i].axes[axis]) && !same_positions(expected, part[i].axes[axis], at)) return false;
      }
    }
    return true;
  }

  // Terms above the loop that is cut step over one chip's part of it only.
  void shorten(AxisIndex& index, std::size_t at) const {
    if (!loops_[at]) return;
    std::int64_t own = 0;
    for (const Term& term : index.terms) {
      if (term.loop == loops_[at]->loop) own = term.factor;
    }
    if (own == 0) return;
    for (Term& term : index.terms) {
      if (term.loop != loops_[at]->loop && term.factor > own) term.factor /= chips_;
    }
  }

  bool same_positions(const AxisIndex& a, const AxisIndex& b, std::size_t at) const {
    const auto size = [&](const Term& term) {
      const std::int64_t whole = nests_.nests[at].loops[term.loop].size;
      return loops_[at] && loops_[at]->loop == term.loop ? whole / chips_ : whole;
    };
    const auto told = [&](const AxisIndex& index) {
      AxisIndex result = index;
      std::erase_if(result.terms, [&](const Term& term) { return size(term) <= 1; });
      if (result.terms.empty()) result.divisor = 1;
      return result;
    };
    return told(a) == told(b);
  }

  const Node& node_;
  std::int64_t chips_;
  OperatorSite site_;
  OperatorNests nests_;
  std::vector<std::optional<LoopCut>> loops_;  // by nest
  std::vector<Shape> scratch_shapes_;
  std::array<std::vector<Kept>, 3> places_;
  bool changed_ = false;
};

}  // namespace

Cut whole_cut(const Node& node) {
  return {.inputs = std::vector<Place>(node.inputs.size()),
          .outputs = std::vector<Place>(node.outputs.size()),
          .attributes = node.attributes};
}

Expected<Cut> cut(const Graph& graph, const Node& node, std::int64_t chips, const Seed& seed) {
  const TensorId id = seed.output ? node.outputs[seed.operand] : node.inputs[seed.operand];
  if (!seed.place.is_sharded() || !fits(graph[id].type.shape, seed.place, chips))
    return cannot(fmt::format("{} cannot be {} over {} chips", monet::to_string(graph[id].type.shape),
                              to_string(seed.place), chips));
  if (family_of(node.op) == OpFamily::view) return cut_view(graph, node, chips, seed);
  if (is_collective(node.op)) return cut_collective(graph, node, chips, seed);
  if (auto numbered = cut_numbered(graph, node, chips, seed)) return *std::move(numbered);
  MONET_TRY(Cut result, Rule(graph, node, chips).run(seed));
  if (numbers_query_rows(node, result.inputs)) {
    set_own_places(result.attributes, chips, result.inputs[node.op == Op::Attention ? 0 : 1].blocks);
  }
  if (const std::string why = obstacle(graph, node, result); !why.empty()) return cannot(why);
  return result;
}

}  // namespace monet::parallel
