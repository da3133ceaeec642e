#include "onnx/node_import.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace monet::onnx {

namespace {

// `dtype`, or `otherwise` where it is absent.
std::int64_t target_type(NodeImport& node, ElementType otherwise) {
  if (!node.has_attribute("dtype")) return static_cast<std::int64_t>(otherwise);
  const std::int64_t number = node.integer("dtype", 0);
  const auto type = element_type_of(number);
  if (!type) node.fail(fmt::format("{} gives the ONNX element type {}, which is not read", node.op_type(), number));
  return static_cast<std::int64_t>(type.value_or(otherwise));
}

// Inputs that are known: a sequence too long to be folded is made at run time.
void range(NodeImport& node) {
  const double start = node.required_real(0);
  const double limit = node.required_real(1);
  const double delta = node.required_real(2);
  if (node.failed()) return;
  const double count = std::ceil((limit - start) / delta);
  if (delta == 0 || !(count < 9e15))
    return node.fail(fmt::format("Range from {} to {} cannot go in steps of {}", start, limit, delta));
  node.emit(Op::Range, {},
            {{Attr::shape, Shape{std::max<std::int64_t>(static_cast<std::int64_t>(std::max(count, 0.0)), 0)}},
             {Attr::start, start},
             {Attr::delta, delta},
             {Attr::to, static_cast<std::int64_t>(node.type(0))}});
}

void eye_like(NodeImport& node) {
  node.emit(
      Op::EyeLike, {},
      {{Attr::shape, node.shape(0)}, {Attr::k, node.integer("k", 0)}, {Attr::to, target_type(node, node.type(0))}});
}

// Inference hands its input on, and a mask of ones to who asks.
void pass_through(NodeImport& node) {
  if (!node.has_output(1)) {
    node.emit(Op::Identity, {node.input(0)});
    return;
  }
  const auto mask_type = static_cast<std::int64_t>(node.version() < 10 ? node.type(0) : ElementType::boolean);
  if (node.has_output(0)) node.alias(0, node.make(Op::Identity, {node.input(0)}));
  node.alias(1, node.make(Op::Fill, {}, {{Attr::shape, node.shape(0)}, {Attr::value, 1.0}, {Attr::to, mask_type}}));
}

// Before opset 12 there is no training mode.
void dropout(NodeImport& node) {
  node.ignore({"seed"});
  if (node.version() < 12) {
    node.ignore({"ratio"});
    return pass_through(node);
  }
  const bool trains = node.has_input(2) && node.required_integer(2) != 0;
  const double ratio = trains && node.has_input(1) ? node.required_real(1) : 0.5;
  if (!trains || ratio == 0) return pass_through(node);
  node.emit(Op::Dropout, {node.input(0)}, {{Attr::ratio, ratio}});
}

void random_normal(NodeImport& node, Shape shape, ElementType type) {
  node.ignore({"seed"});
  node.emit(Op::RandomNormal, {},
            {{Attr::shape, std::move(shape)},
             {Attr::mean, node.real("mean", 0)},
             {Attr::scale, node.real("scale", 1)},
             {Attr::to, target_type(node, type)}});
}

void random_uniform(NodeImport& node, Shape shape, ElementType type) {
  node.ignore({"seed"});
  node.emit(Op::RandomUniform, {},
            {{Attr::shape, std::move(shape)},
             {Attr::low, node.real("low", 0)},
             {Attr::high, node.real("high", 1)},
             {Attr::to, target_type(node, type)}});
}

void random_normal_shaped(NodeImport& node) { random_normal(node, node.integers("shape"), ElementType::float32); }
void random_normal_like(NodeImport& node) { random_normal(node, node.shape(0), node.type(0)); }
void random_uniform_shaped(NodeImport& node) { random_uniform(node, node.integers("shape"), ElementType::float32); }
void random_uniform_like(NodeImport& node) { random_uniform(node, node.shape(0), node.type(0)); }

void bernoulli(NodeImport& node) {
  node.ignore({"seed"});
  node.emit(Op::Bernoulli, {node.input(0)}, {{Attr::to, target_type(node, node.type(0))}});
}

void multinomial(NodeImport& node) {
  node.fail("Multinomial draws samples, which is not supported", "remove the sampling from the model");
}

constexpr std::array generate_entries = {
    ImportEntry{"", "Bernoulli", bernoulli},
    ImportEntry{"", "Dropout", dropout},
    ImportEntry{"", "EyeLike", eye_like},
    ImportEntry{"", "Multinomial", multinomial},
    ImportEntry{"", "RandomNormal", random_normal_shaped},
    ImportEntry{"", "RandomNormalLike", random_normal_like},
    ImportEntry{"", "RandomUniform", random_uniform_shaped},
    ImportEntry{"", "RandomUniformLike", random_uniform_like},
    ImportEntry{"", "Range", range},
};

}  // namespace

std::span<const ImportEntry> generate_rules() { return generate_entries; }

}  // namespace monet::onnx
