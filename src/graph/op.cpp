#include "graph/op.h"

#include <array>

namespace monet {

namespace {

struct OpInfo {
  std::string_view name;
  OpFamily family;
  std::uint8_t inputs;
  bool composite = false;
};

constexpr std::array<OpInfo, op_count> op_table = {{
#define MONET_OP(name, family, inputs) {#name, OpFamily::family, inputs},
#define MONET_COMPOSITE(name, family, inputs) {#name, OpFamily::family, inputs, true},
#include "graph/op_list.inc"
#undef MONET_OP
}};

}  // namespace

std::string_view name_of(Op op) { return op_table[static_cast<std::size_t>(op)].name; }

std::string_view name_of(OpFamily family) {
  constexpr std::array<std::string_view, family_count> names = {
      "elementwise", "contraction", "convolution", "pool",      "reduction", "softmax",   "norm",
      "view",        "movement",    "generate",    "optimizer", "custom",    "collective"};
  return names[static_cast<std::size_t>(family)];
}

OpFamily family_of(Op op) { return op_table[static_cast<std::size_t>(op)].family; }

std::size_t required_inputs(Op op) { return op_table[static_cast<std::size_t>(op)].inputs; }

bool is_composite(Op op) { return op_table[static_cast<std::size_t>(op)].composite; }

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t i = 0; i < op_count; ++i) {
    if (op_table[i].name == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

bool is_random(Op op) {
  return op == Op::Dropout || op == Op::RandomNormal || op == Op::RandomUniform || op == Op::Bernoulli;
}

}  // namespace monet
