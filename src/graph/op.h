// The operators a graph can hold, by name and family. What each one reads, writes and costs is in nests/; what its
// outputs look like in infer/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace monet {

enum class OpFamily : std::uint8_t {
  elementwise,
  contraction,
  convolution,
  pool,
  reduction,
  softmax,
  norm,
  view,
  movement,
  generate,
  optimizer,
  custom,
  collective,
};

enum class Op : std::uint16_t {
#define MONET_OP(name, family, inputs) name,
#include "graph/op_list.inc"
#undef MONET_OP
};

constexpr std::size_t op_count = 0
#define MONET_OP(name, family, inputs) +1
#include "graph/op_list.inc"
#undef MONET_OP
    ;

std::string_view name_of(Op op);
std::string_view name_of(OpFamily family);
constexpr std::size_t family_count = 13;
OpFamily family_of(Op op);
// How many leading inputs an operator cannot do without.
std::size_t required_inputs(Op op);
std::optional<Op> op_named(std::string_view name);

// Defined by simpler operators (graph/expand.h).
bool is_composite(Op op);

// Gives other values when it is run twice.
bool is_random(Op op);

// Every chip of a group takes part, and none goes on before its part is there.
inline bool is_collective(Op op) { return family_of(op) == OpFamily::collective; }

}  // namespace monet
