#include "graph/expand.h"

namespace monet {

namespace {

// dX = dY · mask / (1 − ratio)
void dropout_grad(Expansion& e) {
  const TensorId kept = e.times(e.input(0), e.cast(e.input(1), e.type(e.input(0))));
  e.output(0, e.times(kept, 1 / (1 - e.attributes().real(Attr::ratio))));
}

}  // namespace

ExpansionRule generate_expansion(Op op) {
  switch (op) {
    case Op::DropoutGrad: return dropout_grad;
    default: return nullptr;
  }
}

}  // namespace monet
