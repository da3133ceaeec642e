#include "graph/nests.h"

namespace monet {

namespace {

Counts per_element(Op op) {
  using enum Count;
  switch (op) {
    case Op::Range: return counts_of({{add, 1}});
    case Op::Dropout: return counts_of({{random, 1}, {compare, 1}, {multiply, 1}});
    case Op::DropoutGrad: return counts_of({{multiply, 2}});
    // Box and Muller: sqrt(-2 scale^2 log u) cos(2 pi v) + mean.
    case Op::RandomNormal:
      return counts_of({{random, 1}, {log, 1}, {sqrt, 1}, {trigonometric, 1}, {multiply, 3}, {add, 1}});
    case Op::RandomUniform: return counts_of({{random, 1}, {multiply, 1}, {add, 1}});
    case Op::Bernoulli: return counts_of({{random, 1}, {compare, 1}});
    default: return counts_of({{move, 1}});
  }
}

}  // namespace

OperatorNests generate_nests(const OperatorSite& site) {
  const bool reads = site.has_input(0);
  const Shape& shape = reads ? site.in(0) : site.out(0);
  Nest nest{.loops = loops_over(shape), .reads = {}, .writes = {}, .per_point = per_element(site.op)};
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    if (site.has_input(i)) nest.reads.push_back(read_input(i, identity_axes(shape.size())));
  }
  for (std::size_t i = 0; i < site.outputs.size(); ++i) {
    if (site.has_output(i)) nest.writes.push_back(write_output(i, identity_axes(shape.size())));
  }
  return {.nests = {std::move(nest)}, .scratch = {}};
}

}  // namespace monet
