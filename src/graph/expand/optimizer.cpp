#include "graph/expand/optimizer.h"

#include "graph/optimizer_layout.h"

namespace monet {

namespace optimizer {

TensorId gradient(Expansion& e) {
  const TensorId g = e.cast(e.input(1), e.type(e.input(0)));
  const std::size_t factor = optimizer_layout(e.node().op).factor();
  return e.has(factor) ? e.times(g, e.cast(e.input(factor), e.type(g))) : g;
}

TensorId scalar(Expansion& e, std::size_t i) {
  return e.cast(e.input(optimizer_layout(e.node().op).scalar(i)), e.type(e.input(0)));
}

TensorId decayed_parameter(Expansion& e) {
  const double decay = e.attributes().real(Attr::weight_decay);
  return decay == 0 ? e.input(0) : e.times(e.input(0), e.minus(1, e.times(scalar(e, 0), decay)));
}

namespace {

// g + weight_decay · P
TensorId with_decay(Expansion& e, TensorId g) {
  const double decay = e.attributes().real(Attr::weight_decay);
  return decay == 0 ? g : e.plus(g, e.times(e.input(0), decay));
}

// P − learning rate · update
TensorId step(Expansion& e, TensorId p, TensorId update) { return e.minus(p, e.times(update, scalar(e, 0))); }

// β old + (1 − β) now
TensorId average(Expansion& e, TensorId old, TensorId now, double beta) {
  return e.plus(e.times(old, beta), e.times(now, 1 - beta));
}

void sgd(Expansion& e) { e.output(0, step(e, e.input(0), with_decay(e, gradient(e)))); }

// M' = momentum · M + g; P' = P − lr · M', or − lr · (g + momentum · M') as Nesterov does.
void momentum(Expansion& e) {
  const double mu = e.attributes().real(Attr::momentum);
  const TensorId g = with_decay(e, gradient(e));
  const TensorId m = e.plus(e.times(e.input(2), mu), g);
  const bool nesterov = e.attributes().integer(Attr::nesterov) != 0;
  e.output(1, m);
  e.output(0, step(e, e.input(0), nesterov ? e.plus(g, e.times(m, mu)) : m));
}

void adam(Expansion& e) {
  const Moments moments = adam_step(e, {e.input(2), e.input(3)});
  e.output(1, moments.m);
  e.output(2, moments.v);
}

// P' = P (1 − lr · decay) − lr · sign(β1 M + (1 − β1) g);  M' = β2 M + (1 − β2) g  (Chen et al. 2023)
void lion(Expansion& e) {
  const TensorId g = gradient(e);
  const TensorId direction = e.add(Op::Sign, {average(e, e.input(2), g, e.attributes().real(Attr::beta1))});
  e.output(1, average(e, e.input(2), g, e.attributes().real(Attr::beta2)));
  e.output(0, step(e, decayed_parameter(e), direction));
}

}  // namespace

// M' = β1 M + (1 − β1) g;  V' = β2 V + (1 − β2) g²;  P' = P − lr · (M'/c1) / (√(V'/c2) + ε)
Moments adam_step(Expansion& e, const Moments& old) {
  const bool decoupled = e.attributes().integer(Attr::decoupled) != 0;
  const TensorId p = decoupled ? decayed_parameter(e) : e.input(0);
  const TensorId g = decoupled ? gradient(e) : with_decay(e, gradient(e));
  const TensorId m = average(e, old.m, g, e.attributes().real(Attr::beta1));
  const TensorId v = average(e, old.v, e.square(g), e.attributes().real(Attr::beta2));
  const TensorId root = e.add(Op::Sqrt, {e.over(v, scalar(e, 2))});
  const TensorId deviation = e.plus(root, e.attributes().real(Attr::epsilon));
  e.output(0, step(e, p, e.over(e.over(m, scalar(e, 1)), deviation)));
  return {m, v};
}

}  // namespace optimizer

ExpansionRule optimizer_expansion(Op op) {
  switch (op) {
    case Op::SgdUpdate: return optimizer::sgd;
    case Op::MomentumUpdate: return optimizer::momentum;
    case Op::AdamUpdate: return optimizer::adam;
    case Op::LionUpdate: return optimizer::lion;
    case Op::AdafactorUpdate: return optimizer::adafactor;
    case Op::AdafactorVectorUpdate: return optimizer::adafactor_vector;
    case Op::Adam8bitUpdate: return optimizer::adam8bit;
    default: return nullptr;
  }
}

}  // namespace monet
