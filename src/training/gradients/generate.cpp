#include "training/gradient_builder.h"

namespace monet::training {

namespace {

// dX = dY · mask / (1 − ratio); where nothing is dropped there is no mask to keep
void dropout(GradientBuilder& g) {
  const double ratio = g.attributes().real(Attr::ratio);
  if (ratio == 0) return g.accumulate(0, g.output_gradient());
  g.accumulate(0, g.add(Op::DropoutGrad, {g.output_gradient(), g.extra_output(1)}, {{Attr::ratio, ratio}}));
}

}  // namespace

GradientRule generate_gradient(Op op) {
  switch (op) {
    case Op::Dropout: return dropout;
    case Op::Bernoulli: return zero_gradient;
    default: return nullptr;
  }
}

}  // namespace monet::training
