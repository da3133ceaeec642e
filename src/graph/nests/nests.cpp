#include "graph/nests.h"

#include "base/checked.h"
#include "base/require.h"

#include <algorithm>
#include <limits>

namespace monet {

std::string_view name_of(Count kind) {
  static constexpr std::array<std::string_view, count_kinds> names = {
      "mac", "add",  "multiply",      "divide", "compare", "exp",   "log",    "sqrt",
      "erf", "tanh", "trigonometric", "power",  "logic",   "round", "random", "move"};
  return names[static_cast<std::size_t>(kind)];
}

std::string name_of(Dim dim) {
  static constexpr std::array<std::string_view, 15> names = {"B",  "G",  "K",  "C",  "D",  "H",  "OZ", "OY",
                                                             "OX", "FZ", "FY", "FX", "IZ", "IY", "IX"};
  const auto index = static_cast<std::size_t>(dim);
  return index < names.size() ? std::string(names[index]) : "A" + std::to_string(index - names.size());
}

std::optional<Dim> dim_named(std::string_view name) {
  static const auto names = [] {
    std::array<std::string, std::size_t{std::numeric_limits<std::uint8_t>::max()} + 1> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = name_of(static_cast<Dim>(i));
    return all;
  }();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Dim>(found - names.begin());
}

Counts counts_of(std::initializer_list<std::pair<Count, std::int64_t>> entries) {
  Counts counts;
  for (const auto& [kind, number] : entries) counts[kind] += number;
  return counts;
}

std::int64_t other_operations(const Counts& counts) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < count_kinds; ++i) {
    const auto kind = static_cast<Count>(i);
    if (kind != Count::mac && kind != Count::move) total += counts[kind];
  }
  return total;
}

OperatorSite site_of(const Graph& graph, const Node& node) {
  OperatorSite site{.op = node.op, .attributes = node.attributes, .inputs = {}, .outputs = {}};
  for (TensorId id : node.inputs) site.inputs.push_back(id.valid() ? &graph[id].type : nullptr);
  for (TensorId id : node.outputs) site.outputs.push_back(id.valid() ? &graph[id].type : nullptr);
  return site;
}

OperatorNests nests_of(const OperatorSite& site) {
  switch (family_of(site.op)) {
    case OpFamily::elementwise: return elementwise_nests(site);
    case OpFamily::contraction: return contraction_nests(site);
    case OpFamily::convolution: return convolution_nests(site);
    case OpFamily::pool: return pool_nests(site);
    case OpFamily::reduction: return reduction_nests(site);
    case OpFamily::softmax: return softmax_nests(site);
    case OpFamily::norm: return norm_nests(site);
    case OpFamily::view: return {};
    case OpFamily::movement: return movement_nests(site);
    case OpFamily::generate: return generate_nests(site);
    case OpFamily::optimizer: return optimizer_nests(site);
    case OpFamily::custom: return custom_nests(site);
    case OpFamily::collective: return collective_nests(site);
  }
  return {};
}

std::vector<Loop> loops_over(const Shape& shape) {
  static const std::vector<std::vector<Dim>> names = {{},
                                                      {Dim::K},
                                                      {Dim::B, Dim::K},
                                                      {Dim::B, Dim::D, Dim::K},
                                                      {Dim::B, Dim::K, Dim::OY, Dim::OX},
                                                      {Dim::B, Dim::K, Dim::OZ, Dim::OY, Dim::OX}};
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Dim name = shape.size() < names.size() ? names[shape.size()][i] : generic_dim(i);
    loops.push_back({name, shape[i]});
  }
  return loops;
}

std::vector<AxisIndex> broadcast_axes(const Shape& operand, const Shape& full) {
  MONET_REQUIRE(operand.size() <= full.size());
  const std::size_t lead = full.size() - operand.size();
  std::vector<AxisIndex> axes;
  for (std::size_t i = 0; i < operand.size(); ++i) {
    axes.push_back(operand[i] == 1 && full[lead + i] != 1 ? at_zero() : at_loop(lead + i));
  }
  return axes;
}

std::vector<AxisIndex> identity_axes(std::size_t rank, std::size_t first) {
  std::vector<AxisIndex> axes;
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(at_loop(first + i));
  return axes;
}

std::vector<AxisIndex> reduced_axes(std::size_t rank, std::span<const std::int64_t> axes) {
  std::vector<AxisIndex> indices = identity_axes(rank);
  for (std::int64_t axis : axes) indices[static_cast<std::size_t>(axis)] = at_zero();
  return indices;
}

AxisIndex at_loop(std::size_t loop, std::int64_t factor, std::int64_t offset) {
  return {.terms = {{static_cast<std::uint8_t>(loop), factor}}, .offset = offset};
}

AxisIndex at_zero() { return {}; }

AxisIndex at_any(std::int64_t size) { return {.terms = {}, .span = size, .anywhere = true}; }

Access read_input(std::size_t input, std::vector<AxisIndex> axes) {
  return {OperandKind::input, static_cast<std::uint8_t>(input), std::move(axes)};
}

Access read_output(std::size_t output, std::vector<AxisIndex> axes) {
  return {OperandKind::output, static_cast<std::uint8_t>(output), std::move(axes)};
}

Access read_scratch(std::size_t scratch, std::vector<AxisIndex> axes) {
  return {OperandKind::scratch, static_cast<std::uint8_t>(scratch), std::move(axes)};
}

Access write_output(std::size_t output, std::vector<AxisIndex> axes, bool accumulate) {
  return {OperandKind::output, static_cast<std::uint8_t>(output), std::move(axes), accumulate};
}

Access write_scratch(std::size_t scratch, std::vector<AxisIndex> axes, bool accumulate) {
  return {OperandKind::scratch, static_cast<std::uint8_t>(scratch), std::move(axes), accumulate};
}

std::optional<std::int64_t> points(const Nest& nest) {
  Shape sizes;
  for (const Loop& loop : nest.loops) sizes.push_back(loop.size);
  return checked_product(sizes);
}

Expected<Counts> operation_counts(const OperatorNests& nests) {
  Counts total;
  std::int64_t of_all_kinds = 0;
  for (const Nest& nest : nests.nests) {
    const auto volume = points(nest);
    for (std::size_t i = 0; i < count_kinds; ++i) {
      const std::int64_t each = nest.per_point.of[i];
      if (each == 0) continue;
      const auto product = volume ? checked_multiply(*volume, each) : std::nullopt;
      const auto sum = product ? checked_add(of_all_kinds, *product) : std::nullopt;
      if (!sum) return Error{.message = "it does more operations than 64 bits can count", .place = {}, .advice = {}};
      of_all_kinds = *sum;
      total.of[i] += *product;
    }
  }
  return total;
}

}  // namespace monet
