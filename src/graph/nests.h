// What an operator does, as loops: the one description from which MACs, traffic, tiles, dependencies and mappings
// follow.
//
// An operator runs one or more nests in turn. A nest is a box of named loops; at each of its points it reads and writes
// one element (or a few neighbours) of each operand, where the loop counters say, and does a fixed number of
// operations. An index outside the tensor is padding: nothing is read.
#pragma once

#include "graph/graph.h"

#include <monet/expected.h>
#include <monet/loops.h>

#include <array>
#include <initializer_list>
#include <span>
#include <utility>

namespace monet {

// Kinds of operations that hardware may price differently.
enum class Count : std::uint8_t {
  mac,
  add,
  multiply,
  divide,
  compare,
  exp,
  log,
  sqrt,
  erf,
  tanh,
  trigonometric,
  power,
  logic,
  round,
  random,
  move,
};
constexpr std::size_t count_kinds = 16;
std::string_view name_of(Count kind);

struct Counts {
  std::array<std::int64_t, count_kinds> of{};

  std::int64_t& operator[](Count kind) { return of[static_cast<std::size_t>(kind)]; }
  std::int64_t operator[](Count kind) const { return of[static_cast<std::size_t>(kind)]; }
  bool operator==(const Counts&) const = default;
};

Counts counts_of(std::initializer_list<std::pair<Count, std::int64_t>> entries);

// Arithmetic other than MACs: everything but mac and move.
std::int64_t other_operations(const Counts& counts);

struct Loop {
  Dim name;
  std::int64_t size;
  bool operator==(const Loop&) const = default;
};

// factor * loops[loop]
struct Term {
  std::uint8_t loop;
  std::int64_t factor;
  bool operator==(const Term&) const = default;
};

// Position along one axis of an operand: floor((sum of terms + offset) / divisor), and the `span` elements from there.
// `anywhere`: the position depends on data, so all of the axis may be read.
struct AxisIndex {
  std::vector<Term> terms;
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
  std::int64_t span = 1;
  bool anywhere = false;
  bool operator==(const AxisIndex&) const = default;
};

enum class OperandKind : std::uint8_t { input, output, scratch };

struct Access {
  OperandKind kind;
  std::uint8_t operand;         // which input, output or scratch tensor
  std::vector<AxisIndex> axes;  // one for each axis of the operand
  // A write that adds to (or multiplies, maximizes with …) what an earlier nest has left there, or else what the
  // operation starts from: 0, 1, -infinity ….
  bool accumulate = false;
};

struct Nest {
  std::vector<Loop> loops;
  std::vector<Access> reads;
  std::vector<Access> writes;
  Counts per_point;
  // What it makes of a sum is proportional to the sum: the same of each part of it, added up, is as good.
  bool proportional = false;
};

struct OperatorNests {
  std::vector<Nest> nests;
  std::vector<TensorType> scratch;  // what passes from one nest to the next inside the operator
};

// One operator with its types, as the rules under nests/ see it.
struct OperatorSite {
  Op op;
  const Attributes& attributes;
  std::vector<const TensorType*> inputs;   // null: absent
  std::vector<const TensorType*> outputs;  // null: unwanted; the first never is

  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
  bool has_output(std::size_t i) const { return i < outputs.size() && outputs[i] != nullptr; }
  const Shape& in(std::size_t i) const { return inputs[i]->shape; }
  const Shape& out(std::size_t i) const { return outputs[i]->shape; }
};
OperatorSite site_of(const Graph& graph, const Node& node);

// The nests of an operator whose types are right (verify() holds). A view has none.
OperatorNests nests_of(const OperatorSite& site);

// The families, each in a file of its own under nests/.
OperatorNests elementwise_nests(const OperatorSite& site);
OperatorNests contraction_nests(const OperatorSite& site);
OperatorNests convolution_nests(const OperatorSite& site);
OperatorNests pool_nests(const OperatorSite& site);
OperatorNests reduction_nests(const OperatorSite& site);
OperatorNests softmax_nests(const OperatorSite& site);
OperatorNests norm_nests(const OperatorSite& site);
OperatorNests movement_nests(const OperatorSite& site);
OperatorNests generate_nests(const OperatorSite& site);
OperatorNests optimizer_nests(const OperatorSite& site);
OperatorNests custom_nests(const OperatorSite& site);
OperatorNests collective_nests(const OperatorSite& site);

// Helpers that the rules share.

// Loops over all axes of `shape`, named by rank: K; B K; B D K; B K OY OX; B K OZ OY OX; else A0, A1, ….
std::vector<Loop> loops_over(const Shape& shape);
// An operand that is read at the loops of `loops_over(full)`, broadcast as NumPy does: axes of size 1 stay at 0.
std::vector<AxisIndex> broadcast_axes(const Shape& operand, const Shape& full);
// Axis i is loop `first + i`.
std::vector<AxisIndex> identity_axes(std::size_t rank, std::size_t first = 0);
// Axis i is loop i, and stays at 0 along the axes listed.
std::vector<AxisIndex> reduced_axes(std::size_t rank, std::span<const std::int64_t> axes);
AxisIndex at_loop(std::size_t loop, std::int64_t factor = 1, std::int64_t offset = 0);
AxisIndex at_zero();
AxisIndex at_any(std::int64_t size);  // anywhere on an axis of that size
Access read_input(std::size_t input, std::vector<AxisIndex> axes);
Access read_output(std::size_t output, std::vector<AxisIndex> axes);  // what an earlier nest has written
Access read_scratch(std::size_t scratch, std::vector<AxisIndex> axes);
Access write_output(std::size_t output, std::vector<AxisIndex> axes, bool accumulate = false);
Access write_scratch(std::size_t scratch, std::vector<AxisIndex> axes, bool accumulate = false);

// Points of a nest; nothing when more than 64 bits can count.
std::optional<std::int64_t> points(const Nest& nest);
// Operations of the whole operator, by kind. Fails (message only) when all kinds together are more than 64 bits can
// count.
Expected<Counts> operation_counts(const OperatorNests& nests);

}  // namespace monet
