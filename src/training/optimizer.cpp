#include "training/optimizer.h"

#include "base/try.h"
#include "graph/expand.h"
#include "graph/optimizer_layout.h"
#include "training/gradient_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace monet::training {

namespace {

using enum OptimizerKind;
using Ids = std::vector<TensorId>;

constexpr std::int64_t block_size = 256;  // of bitsandbytes' block-wise optimizers
constexpr double clip_epsilon = 1e-6;     // of torch.nn.utils.clip_grad_norm_

// 2^(1 - bits of the significand): torch.finfo(type).eps
double machine_epsilon(ElementType type) {
  switch (type) {
    case ElementType::float64: return 0x1p-52;
    case ElementType::float16: return 0x1p-10;
    case ElementType::bfloat16: return 0x1p-7;
    case ElementType::float8e4m3fn:
    case ElementType::float8e4m3fnuz: return 0x1p-3;
    case ElementType::float8e5m2:
    case ElementType::float8e5m2fnuz: return 0x1p-2;
    default: return 0x1p-23;
  }
}

std::vector<std::string_view> state_names(Op op) {
  switch (op) {
    case Op::MomentumUpdate: return {"momentum"};
    case Op::AdamUpdate: return {"m", "v"};
    case Op::LionUpdate: return {"m"};
    case Op::AdafactorUpdate: return {"row", "column"};
    case Op::AdafactorVectorUpdate: return {"v"};
    case Op::Adam8bitUpdate: return {"m", "v", "m.scale", "v.scale"};
    default: return {};
  }
}

class OptimizerWriter {
 public:
  OptimizerWriter(GraphBuilder& builder, const OptimizerOptions& options)
      : builder_(builder), writer_(builder, "optimizer"), options_(with_defaults(options)) {}

  OptimizerResult write(std::vector<Trained> trained) {
    if (options_.micro_batches > 1) {
      for (Trained& each : trained) each.gradient = accumulated(each);
    }
    builder_.set_phase(Phase::optimizer);
    builder_.set_role(Role::workspace);
    write_scalars();
    write_factor(trained);
    for (const Trained& each : trained) write_update(each);
    return result_;
  }

 private:
  std::string name(TensorId id) const { return builder_.graph()[id].name; }

  TensorId accumulated(const Trained& trained) {
    builder_.set_phase(Phase::backward);
    const std::string base = name(trained.parameter) + ".accumulated";
    const TensorId old =
        builder_.optimizer_state(base, builder_.shape(trained.gradient), builder_.type(trained.gradient));
    builder_.edit()[old].role = Role::weight_gradient;
    const TensorId sum = builder_.add(Op::Add, base + ".Add", {old, trained.gradient});
    replace(old, sum);
    return sum;
  }

  void replace(TensorId old, TensorId value) {
    builder_.update(old, value);
    builder_.rename(value, name(old) + ".new");
  }

  // What all parameters share, once in a step.
  void write_scalars() {
    result_.learning_rate = builder_.input("learning_rate", {});
    Ids scalars = {result_.learning_rate};
    const auto power = [&](TensorId base, TensorId exponent) { return writer_.add(Op::Pow, {base, exponent}); };
    const auto constant = [&](double value) { return builder_.scalar(ElementType::float32, value); };
    switch (options_.kind) {
      case adam:
      case adamw:
      case adam8bit:
        result_.step = builder_.input("step", {});
        for (double beta : {*options_.beta1, *options_.beta2}) {
          scalars.push_back(writer_.minus(1, power(constant(beta), result_.step)));
        }
        break;
      case adafactor: {
        result_.step = builder_.input("step", {});
        const TensorId root = writer_.add(Op::Sqrt, {result_.step});
        scalars.push_back(writer_.add(Op::Min, {scalars[0], writer_.over(constant(1), root)}));
        scalars.push_back(power(result_.step, constant(*options_.beta2_decay)));
        break;
      }
      default: break;
    }
    scalars_.emplace(ElementType::float32, std::move(scalars));
  }

  // min(1, clip_norm / (norm + 1e-6)) / loss_scale, or as much of it as there is.
  void write_factor(std::span<const Trained> trained) {
    TensorId factor;
    if (options_.clip_norm) {
      Ids squares;
      for (const Trained& each : trained) squares.push_back(sum_of_squares(each.gradient));
      TensorId norm = writer_.add(Op::Sqrt, {sum_parts(writer_, squares)});
      if (options_.loss_scale != 1) norm = writer_.times(norm, 1 / options_.loss_scale);
      builder_.rename(norm, "gradient_norm");
      result_.gradient_norm = norm;
      const TensorId ratio = writer_.over(writer_.scalar(*options_.clip_norm, norm), writer_.plus(norm, clip_epsilon));
      factor = writer_.add(Op::Min, {ratio, writer_.scalar(1, ratio)});
    }
    if (options_.loss_scale != 1) {
      const double inverse = 1 / options_.loss_scale;
      factor = factor.valid() ? writer_.times(factor, inverse) : builder_.scalar(ElementType::float32, inverse);
    }
    if (factor.valid()) scalars_.at(ElementType::float32).push_back(factor);
  }

  // In float32 at least: 16 bits cannot hold the square of a large norm.
  TensorId sum_of_squares(TensorId gradient) {
    const bool wide = builder_.type(gradient) == ElementType::float64;
    const TensorId g = wide ? gradient : writer_.cast(gradient, ElementType::float32);
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < builder_.shape(g).size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    const TensorId squares =
        writer_.add(Op::ReduceSumSquare, {g}, {{Attr::axes, std::move(axes)}, {Attr::keepdims, std::int64_t{0}}});
    return writer_.cast(squares, ElementType::float32);
  }

  // The scalars in the type of a parameter, made once for each type.
  const Ids& scalars(ElementType type) {
    const auto [entry, fresh] = scalars_.try_emplace(type);
    if (fresh) {
      for (TensorId id : scalars_.at(ElementType::float32)) entry->second.push_back(writer_.cast(id, type));
    }
    return entry->second;
  }

  Op update_of(const Shape& shape) const {
    switch (options_.kind) {
      case sgd: return Op::SgdUpdate;
      case momentum:
      case nesterov: return Op::MomentumUpdate;
      case adam:
      case adamw: return Op::AdamUpdate;
      case adafactor: return shape.size() > 1 ? Op::AdafactorUpdate : Op::AdafactorVectorUpdate;
      case lion: return Op::LionUpdate;
      case adam8bit: return element_count(shape) < options_.min_8bit_size ? Op::AdamUpdate : Op::Adam8bitUpdate;
    }
    return Op::SgdUpdate;
  }

  Attributes attributes(Op op, ElementType type) const {
    Attributes attributes = {{Attr::weight_decay, *options_.weight_decay}};
    if (options_.momentum) attributes.set(Attr::momentum, *options_.momentum);
    if (options_.beta1) attributes.set(Attr::beta1, *options_.beta1);
    if (options_.beta2) attributes.set(Attr::beta2, *options_.beta2);
    if (options_.least_scale) attributes.set(Attr::min, *options_.least_scale);
    switch (op) {
      case Op::MomentumUpdate: attributes.set(Attr::nesterov, std::int64_t{options_.kind == nesterov}); break;
      case Op::Adam8bitUpdate: attributes.set(Attr::size, block_size); [[fallthrough]];
      case Op::AdamUpdate:
        // bitsandbytes decays apart from the gradient under either name.
        attributes.set(Attr::decoupled, std::int64_t{options_.kind != adam});
        attributes.set(Attr::epsilon, *options_.epsilon);
        break;
      case Op::AdafactorUpdate:
      case Op::AdafactorVectorUpdate:
        attributes.set(Attr::epsilon, options_.epsilon.value_or(machine_epsilon(type)));
        break;
      default: break;
    }
    return attributes;
  }

  void write_update(const Trained& trained) {
    const std::string base = name(trained.parameter);
    const TensorType type = builder_.graph()[trained.parameter].type;
    const Op op = update_of(type.shape);
    Ids old = {trained.parameter};
    const std::vector<std::string_view> names = state_names(op);
    const std::vector<TensorType> states = optimizer_states(op, type, block_size);
    for (std::size_t i = 0; i < states.size(); ++i) {
      old.push_back(
          builder_.optimizer_state(fmt::format("{}.{}", base, names[i]), states[i].shape, states[i].format.element));
    }
    Ids inputs = old;
    inputs.insert(inputs.begin() + 1, trained.gradient);
    std::ranges::copy(scalars(type.format.element), std::back_inserter(inputs));
    const Ids now =
        builder_.add_many(op, base + ".update", std::move(inputs), attributes(op, type.format.element), old.size());
    for (std::size_t i = 0; i < now.size(); ++i) replace(old[i], now[i]);
  }

  GraphBuilder& builder_;
  OpWriter writer_;
  OptimizerOptions options_;
  OptimizerResult result_;
  std::map<ElementType, Ids> scalars_;  // with the factor on the gradient, where there is one, as the last
};

}  // namespace

Expected<OptimizerResult> add_optimizer(GraphBuilder& builder, std::span<const Trained> trained,
                                        const OptimizerOptions& options) {
  MONET_RETURN_IF_ERROR(check(options));
  std::vector<Trained> moved;
  for (const Trained& each : trained) {
    if (!each.gradient.valid()) continue;
    if (!is_floating(builder.type(each.parameter))) {
      return Error{
          .message = fmt::format("a parameter of type {} cannot be trained", name_of(builder.type(each.parameter))),
          .place = builder.graph()[each.parameter].name,
          .advice = "freeze it, or train a copy in floating point"};
    }
    moved.push_back(each);
  }
  if (moved.empty()) {
    return Error{.message = "there is nothing to optimize: no parameter has a gradient",
                 .place = {},
                 .advice = "train at least one parameter that the loss depends on"};
  }
  return OptimizerWriter(builder, options).write(std::move(moved));
}

Expected<Graph> elementwise_optimizer(Graph step, std::vector<TensorId>* renumbered) {
  const auto is_optimizer = [](const Graph&, const Node& node) { return family_of(node.op) == OpFamily::optimizer; };
  return expand(std::move(step), is_optimizer, renumbered);
}

}  // namespace monet::training
