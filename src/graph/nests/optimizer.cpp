#include "graph/nests/optimizer.h"

#include "graph/optimizer_layout.h"

namespace monet {

namespace optimizer {

using enum Count;

Counts operator+(Counts a, const Counts& b) {
  for (std::size_t i = 0; i < count_kinds; ++i) a.of[i] += b.of[i];
  return a;
}

Counts decay_counts(const OperatorSite& site) {
  if (site.attributes.real(Attr::weight_decay) == 0) return {};
  const bool adam = site.op == Op::AdamUpdate || site.op == Op::Adam8bitUpdate;
  const bool in_gradient = site.op == Op::SgdUpdate || site.op == Op::MomentumUpdate ||
                           (adam && site.attributes.integer(Attr::decoupled) == 0);
  return in_gradient ? counts_of({{multiply, 1}, {add, 1}}) : counts_of({{multiply, 1}});
}

Counts factor_counts(const OperatorSite& site) {
  return site.has_input(optimizer_layout(site.op).factor()) ? counts_of({{multiply, 1}}) : Counts{};
}

Counts adam_counts() { return counts_of({{multiply, 6}, {add, 4}, {divide, 3}, {sqrt, 1}}); }

Access read_scalar(std::size_t input) { return read_input(input, {}); }

void read_gradient(const OperatorSite& site, std::vector<Access>& reads) {
  reads.push_back(read_input(1, identity_axes(site.in(1).size())));
  const std::size_t factor = optimizer_layout(site.op).factor();
  if (site.has_input(factor)) reads.push_back(read_scalar(factor));
}

namespace {

Counts step_counts(const OperatorSite& site) {
  switch (site.op) {
    case Op::SgdUpdate: return counts_of({{multiply, 1}, {add, 1}});
    case Op::MomentumUpdate:
      return site.attributes.integer(Attr::nesterov) != 0 ? counts_of({{multiply, 3}, {add, 3}})
                                                          : counts_of({{multiply, 2}, {add, 2}});
    case Op::LionUpdate: return counts_of({{multiply, 5}, {add, 3}, {compare, 1}});
    default: return adam_counts();
  }
}

// One pass: every state element is read and written once, beside its parameter's.
OperatorNests one_pass(const OperatorSite& site) {
  const Shape& full = site.in(0);
  Nest nest{.loops = loops_over(full),
            .reads = {},
            .writes = {},
            .per_point = step_counts(site) + decay_counts(site) + factor_counts(site)};
  for (std::size_t i = 0; i < site.inputs.size(); ++i) {
    if (site.has_input(i)) nest.reads.push_back(read_input(i, broadcast_axes(site.in(i), full)));
  }
  for (std::size_t i = 0; i < site.outputs.size(); ++i) {
    if (site.has_output(i)) nest.writes.push_back(write_output(i, identity_axes(full.size())));
  }
  return {.nests = {std::move(nest)}, .scratch = {}};
}

OperatorNests nests_of_kind(const OperatorSite& site) {
  switch (site.op) {
    case Op::AdafactorUpdate:
    case Op::AdafactorVectorUpdate: return adafactor_nests(site);
    case Op::Adam8bitUpdate: return adam8bit_nests(site);
    default: return one_pass(site);
  }
}

}  // namespace

}  // namespace optimizer

OperatorNests optimizer_nests(const OperatorSite& site) {
  OperatorNests result = optimizer::nests_of_kind(site);
  if (!site.attributes.has(Attr::mode) || site.attributes.text(Attr::mode) != "stochastic") return result;
  // New weights are rounded at random: a random number is added before the rest is cut off.
  for (Nest& nest : result.nests) {
    for (const Access& write : nest.writes) {
      if (write.kind != OperandKind::output || write.operand != 0) continue;
      nest.per_point[Count::random] += 1;
      nest.per_point[Count::add] += 1;
    }
  }
  return result;
}

}  // namespace monet
