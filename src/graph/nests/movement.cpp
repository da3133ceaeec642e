#include "graph/nests.h"

#include "graph/nests/resize.h"

namespace monet {

namespace {

const Counts one_move = counts_of({{Count::move, 1}});

// Every element of output 0 from what `reads` say.
OperatorNests over_output(const OperatorSite& site, std::vector<Access> reads, Counts per_point = one_move) {
  const Shape& to = site.out(0);
  Nest nest{.loops = loops_over(to),
            .reads = std::move(reads),
            .writes = {write_output(0, identity_axes(to.size()))},
            .per_point = per_point};
  return {.nests = {std::move(nest)}, .scratch = {}};
}

OperatorNests pad_nests(const OperatorSite& site) {
  const Shape& from = site.in(0);
  const auto& pads = site.attributes.integers(Attr::pads);
  const bool constant = site.attributes.text(Attr::mode) == "constant";
  std::vector<AxisIndex> axes;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const bool only_crops = pads[axis] <= 0 && pads[axis + from.size()] <= 0;
    axes.push_back(constant || only_crops ? at_loop(axis, 1, -pads[axis]) : at_any(from[axis]));
  }
  std::vector<Access> reads = {read_input(0, std::move(axes))};
  if (site.has_input(1)) reads.push_back(read_input(1, std::vector<AxisIndex>(site.in(1).size(), at_zero())));
  return over_output(site, std::move(reads));
}

// A repeated axis is two loops, so that both sides stay affine: which copy, and where in it.
OperatorNests tile_nests(const OperatorSite& site) {
  const Shape& from = site.in(0);
  const auto& repeats = site.attributes.integers(Attr::repeats);
  std::vector<Loop> loops = loops_over(from);
  std::vector<AxisIndex> target = identity_axes(from.size());
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    if (repeats[axis] == 1) continue;
    target[axis].terms.push_back({static_cast<std::uint8_t>(loops.size()), from[axis]});
    loops.push_back({generic_dim(from.size() + axis), repeats[axis]});
  }
  Nest nest{.loops = std::move(loops),
            .reads = {read_input(0, identity_axes(from.size()))},
            .writes = {write_output(0, std::move(target))},
            .per_point = one_move};
  return {.nests = {std::move(nest)}, .scratch = {}};
}

// The place in a table at the loops over what is gathered from it: indices stand in place of `axis`.
std::vector<AxisIndex> table_axes(const Shape& table, std::size_t axis, std::size_t index_rank) {
  std::vector<AxisIndex> axes;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i == axis) {
      axes.push_back(at_any(table[i]));
    } else {
      axes.push_back(at_loop(i < axis ? i : i + index_rank - 1));
    }
  }
  return axes;
}

OperatorNests gather_nests(const OperatorSite& site) {
  const std::size_t index_rank = site.in(1).size();
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  return over_output(
      site, {read_input(0, table_axes(site.in(0), axis, index_rank)), read_input(1, identity_axes(index_rank, axis))});
}

// Zeros everywhere, then each element of dY is added to its row of the table.
OperatorNests gather_gradient_nests(const OperatorSite& site) {
  OperatorNests result = over_output(site, {});
  const Shape& gradient = site.in(0);
  const std::size_t index_rank = site.in(1).size();
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  result.nests.push_back(
      {.loops = loops_over(gradient),
       .reads = {read_input(0, identity_axes(gradient.size())), read_input(1, identity_axes(index_rank, axis))},
       .writes = {write_output(0, table_axes(site.out(0), axis, index_rank), true)},
       .per_point = counts_of({{Count::add, 1}})});
  return result;
}

// Position along every axis as the loops say, but anywhere along the axis that indices decide.
std::vector<AxisIndex> anywhere_along(const Shape& shape, std::int64_t axis) {
  std::vector<AxisIndex> axes = identity_axes(shape.size());
  axes[static_cast<std::size_t>(axis)] = at_any(shape[static_cast<std::size_t>(axis)]);
  return axes;
}

OperatorNests gather_elements_nests(const OperatorSite& site) {
  const auto data = anywhere_along(site.in(0), site.attributes.integer(Attr::axis));
  return over_output(site, {read_input(0, data), read_input(1, identity_axes(site.in(1).size()))});
}

// Indices whose last axis holds positions along the data's axes from `batch_axes`.
struct TupleAccess {
  std::vector<AxisIndex> data;
  std::vector<AxisIndex> indices;
};

TupleAccess tuple_access(const Shape& data, const Shape& indices, std::size_t batch_axes) {
  const std::size_t outer = indices.size() - 1;
  const auto length = static_cast<std::size_t>(indices.back());
  TupleAccess access{.data = {}, .indices = identity_axes(outer)};
  AxisIndex tuple = at_zero();
  tuple.span = indices.back();
  access.indices.push_back(tuple);
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (i < batch_axes) {
      access.data.push_back(at_loop(i));
    } else if (i < batch_axes + length) {
      access.data.push_back(at_any(data[i]));
    } else {
      access.data.push_back(at_loop(outer + i - batch_axes - length));
    }
  }
  return access;
}

OperatorNests gather_nd_nests(const OperatorSite& site) {
  const auto batch_axes = static_cast<std::size_t>(site.attributes.integer(Attr::batch_dims));
  TupleAccess access = tuple_access(site.in(0), site.in(1), batch_axes);
  return over_output(site, {read_input(0, std::move(access.data)), read_input(1, std::move(access.indices))});
}

// The data are copied, then the updates go where the indices say.
OperatorNests scatter_nests(const OperatorSite& site, std::vector<AxisIndex> target, std::vector<AxisIndex> indices) {
  OperatorNests result = over_output(site, {read_input(0, identity_axes(site.in(0).size()))});
  const std::string& reduction = site.attributes.text(Attr::reduction);
  const Count kind = reduction == "none"  ? Count::move
                     : reduction == "add" ? Count::add
                     : reduction == "mul" ? Count::multiply
                                          : Count::compare;
  const Shape& updates = site.in(2);
  result.nests.push_back({.loops = loops_over(updates),
                          .reads = {read_input(1, std::move(indices)), read_input(2, identity_axes(updates.size()))},
                          .writes = {write_output(0, std::move(target), reduction != "none")},
                          .per_point = counts_of({{kind, 1}})});
  return result;
}

OperatorNests scatter_elements_nests(const OperatorSite& site) {
  return scatter_nests(site, anywhere_along(site.in(0), site.attributes.integer(Attr::axis)),
                       identity_axes(site.in(1).size()));
}

OperatorNests scatter_nd_nests(const OperatorSite& site) {
  TupleAccess access = tuple_access(site.in(0), site.in(1), 0);
  return scatter_nests(site, std::move(access.data), std::move(access.indices));
}

OperatorNests one_hot_nests(const OperatorSite& site) {
  const auto axis = static_cast<std::size_t>(site.attributes.integer(Attr::axis));
  std::vector<AxisIndex> indices;
  for (std::size_t i = 0; i < site.in(0).size(); ++i) indices.push_back(at_loop(i < axis ? i : i + 1));
  return over_output(site, {read_input(0, std::move(indices)), read_input(1, {at_any(2)})},
                     counts_of({{Count::compare, 1}}));
}

OperatorNests reverse_sequence_nests(const OperatorSite& site) {
  const auto batch = static_cast<std::size_t>(site.attributes.integer(Attr::batch_axis));
  return over_output(site, {read_input(0, anywhere_along(site.in(0), site.attributes.integer(Attr::time_axis))),
                            read_input(1, {at_loop(batch)})});
}

// Zeros everywhere, then each value goes to its place in its own channel. Gradients add up there: windows overlap.
OperatorNests max_unpool_nests(const OperatorSite& site) {
  const bool adds = site.op == Op::MaxPoolGrad;
  OperatorNests result = over_output(site, {});
  const Shape& from = site.in(0);
  std::vector<AxisIndex> target = {at_loop(0), at_loop(1)};
  for (std::size_t axis = 2; axis < from.size(); ++axis) target.push_back(at_any(site.out(0)[axis]));
  result.nests.push_back(
      {.loops = loops_over(from),
       .reads = {read_input(0, identity_axes(from.size())), read_input(1, identity_axes(from.size()))},
       .writes = {write_output(0, std::move(target), adds)},
       .per_point = adds ? counts_of({{Count::add, 1}}) : one_move});
  return result;
}

}  // namespace

OperatorNests movement_nests(const OperatorSite& site) {
  switch (site.op) {
    case Op::Pad: return pad_nests(site);
    case Op::Tile: return tile_nests(site);
    case Op::Gather: return gather_nests(site);
    case Op::GatherGrad: return gather_gradient_nests(site);
    case Op::GatherElements: return gather_elements_nests(site);
    case Op::GatherND: return gather_nd_nests(site);
    case Op::ScatterElements: return scatter_elements_nests(site);
    case Op::ScatterND: return scatter_nd_nests(site);
    case Op::Trilu:
      return over_output(site, {read_input(0, identity_axes(site.in(0).size()))}, counts_of({{Count::logic, 1}}));
    case Op::Resize: return resize_nests(site);
    case Op::ResizeGrad: return resize_gradient_nests(site);
    case Op::GridSample: return grid_sample_nests(site);
    case Op::OneHot: return one_hot_nests(site);
    case Op::ReverseSequence: return reverse_sequence_nests(site);
    case Op::MaxUnpool:
    case Op::MaxPoolGrad: return max_unpool_nests(site);
    default: return {};
  }
}

}  // namespace monet
