// Does every elementwise rule agree with central differences, and keep what PyTorch keeps?
#include "graph/infer.h"
#include "support/backward_of.h"
#include "support/nest_check.h"
#include "training/expect_gradient.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet::test {
namespace {

// Random values, each as `change` makes it.
Array changed(const Shape& shape, unsigned seed, double (*change)(double)) {
  Array array = random_array(shape, seed);
  for (double& value : array.values) value = change(value);
  return array;
}

TEST(ElementwiseGradients, OfFunctionsOfOneInput) {
  const Shape shape = {2, 3, 4};
  for (Op op : {Op::Abs,   Op::Asinh,     Op::Atan, Op::Ceil, Op::Cos,        Op::Cosh,     Op::Erf,   Op::Exp,
                Op::Floor, Op::HardSwish, Op::Mish, Op::Neg,  Op::Reciprocal, Op::Relu,     Op::Round, Op::Sigmoid,
                Op::Sign,  Op::Silu,      Op::Sin,  Op::Sinh, Op::Softplus,   Op::Softsign, Op::Tan,   Op::Tanh}) {
    expect_gradient(op, floats({shape}));
  }
  for (Op op : {Op::Log, Op::Sqrt}) expect_gradient(op, floats({shape}), {}, {{0, positive_array(shape, 1)}});
  for (Op op : {Op::Acos, Op::Asin, Op::Atanh}) {
    expect_gradient(op, floats({shape}), {}, {{0, changed(shape, 1, [](double x) { return 0.8 * x; })}});
  }
  expect_gradient(Op::Acosh, floats({shape}), {}, {{0, changed(shape, 1, [](double x) { return 2.5 + x; })}});
}

TEST(ElementwiseGradients, OfFunctionsWithAttributes) {
  const std::vector<TensorType> types = floats({{3, 5}});
  for (double alpha : {0.25, 1.0, 1.7}) {
    for (Op op : {Op::Celu, Op::Elu, Op::LeakyRelu, Op::ThresholdedRelu}) {
      expect_gradient(op, types, {{Attr::alpha, alpha == 0.25 ? 0.2503 : alpha}});
    }
    expect_gradient(Op::Selu, types, {{Attr::alpha, alpha}, {Attr::gamma, 1.3}});
    expect_gradient(Op::HardSigmoid, types, {{Attr::alpha, alpha}, {Attr::beta, 0.4003}});
  }
  for (const std::string approximate : {"none", "tanh"}) {
    expect_gradient(Op::Gelu, types, {{Attr::approximate, approximate}});
    expect_gradient(Op::Gelu, types, {{Attr::approximate, approximate}},
                    {{0, changed({3, 5}, 4, [](double x) { return 4 * x; })}});
  }
  expect_gradient(Op::HardSwish, types, {}, {{0, changed({3, 5}, 4, [](double x) { return 5 * x; })}});
  expect_gradient(Op::Clip, types);
  expect_gradient(Op::Clip, types, {{Attr::min, -0.3}});
  expect_gradient(Op::Clip, types, {{Attr::max, 0.3}});
  expect_gradient(Op::Clip, types, {{Attr::min, -0.3}, {Attr::max, 0.6}});
  expect_gradient(Op::Clip, types, {{Attr::min, 0.3}, {Attr::max, -0.3}});
  for (double bias : {0.0, 0.2}) expect_gradient(Op::Shrink, types, {{Attr::bias, bias}, {Attr::lambd, 0.4}});
}

TEST(ElementwiseGradients, OfSeveralInputsUndoBroadcasting) {
  const std::vector<std::vector<Shape>> pairs = {
      {{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {3, 1}}, {{4}, {2, 3, 1}}, {{2, 3, 4}, {}}, {{}, {1, 3}}};
  for (const std::vector<Shape>& shapes : pairs) {
    for (Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Min, Op::Mean, Op::Sum}) {
      expect_gradient(op, floats(shapes));
    }
    expect_gradient(Op::Pow, floats(shapes), {}, {{0, positive_array(shapes[0], 1)}});
  }
  const std::vector<std::vector<Shape>> lists = {{{2, 3}}, {{2, 3}, {3}, {2, 1}}, {{3}, {}, {2, 1}, {2, 3}, {1, 1, 1}}};
  for (const std::vector<Shape>& shapes : lists) {
    for (Op op : {Op::Max, Op::Min, Op::Mean, Op::Sum}) expect_gradient(op, floats(shapes));
  }
}

TEST(ElementwiseGradients, OfRemainders) {
  const Array dividend = changed({4, 3}, 1, [](double x) { return 7 * x; });
  const Array divisor = changed({3}, 2, [](double x) { return x < 0 ? x - 1 : x + 1; });
  for (std::int64_t fmod : {0, 1}) {
    expect_gradient(Op::Mod, floats({{4, 3}, {3}}), {{Attr::fmod, fmod}}, {{0, dividend}, {1, divisor}});
  }
}

TEST(ElementwiseGradients, OfPRelu) {
  for (const Shape& slope : {Shape{2, 3, 4}, Shape{3, 1}, Shape{4}, Shape{}, Shape{1}}) {
    expect_gradient(Op::PRelu, floats({{2, 3, 4}, slope}));
  }
}

TEST(ElementwiseGradients, OfWhere) {
  std::vector<TensorType> types = floats({{3, 1}, {2, 1, 4}, {3, 4}});
  types[0].format.element = ElementType::boolean;
  expect_gradient(Op::Where, types, {}, {{0, Array{{3, 1}, {1, 0, 1}}}});
}

TEST(ElementwiseGradients, OfPowersWithKnownExponentOrBase) {
  for (double known : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0}) {
    for (bool of_base : {true, false}) {
      GraphBuilder builder("power");
      const TensorId x = builder.input("x", {2, 3});
      const TensorId constant = builder.scalar(ElementType::float32, of_base ? known : known + 2);
      builder.output(of_base ? builder.add(Op::Pow, "node", {x, constant})
                             : builder.add(Op::Pow, "node", {constant, x}));
      const auto checked = check_gradients(*builder.finish(), {{x, positive_array({2, 3}, 3)}}, {x});
      ASSERT_TRUE(checked.has_value()) << checked.error().text();
      EXPECT_LE(checked->worst(), 1e-6) << known;
    }
  }
  // An exponent that is an integer tensor, and one that is not everywhere the same.
  std::vector<TensorType> types = floats({{2, 3}, {3}});
  types[1].format.element = ElementType::int64;
  expect_gradient(Op::Pow, types, {}, {{1, Array{{3}, {0, 2, -3}}}});
}

TEST(ElementwiseGradients, OfCastsHaveTheTypeOfTheInput) {
  for (ElementType to : {ElementType::float16, ElementType::bfloat16, ElementType::float64}) {
    GraphBuilder builder("cast");
    const TensorId x = builder.input("x", {2, 3});
    builder.output(builder.add(Op::Cast, "node", {x}, {{Attr::to, static_cast<std::int64_t>(to)}}));
    const auto checked = check_gradients(*builder.finish(), {{x, random_array({2, 3}, 3)}}, {x});
    ASSERT_TRUE(checked.has_value()) << checked.error().text();
    EXPECT_LE(checked->worst(), 1e-6);
    EXPECT_EQ(checked->step[checked->gradients[0]].type.format.element, ElementType::float32);
  }
}

TEST(ElementwiseGradients, ReadWhatPyTorchSaves) {
  const Attributes attributes = {{Attr::alpha, 1.5}, {Attr::beta, 0.5},  {Attr::gamma, 1.1},
                                 {Attr::min, -0.5},  {Attr::lambd, 0.5}, {Attr::approximate, std::string("none")}};
  for (Op op : {Op::Exp, Op::Reciprocal, Op::Relu, Op::Sigmoid, Op::Sqrt, Op::Tan, Op::Tanh}) {
    EXPECT_EQ(saved(op, floats({{2}}), attributes), "output0") << name_of(op);
  }
  for (Op op : {Op::Abs,      Op::Acos,           Op::Asin,        Op::Atan,      Op::Acosh,     Op::Asinh,
                Op::Atanh,    Op::Celu,           Op::Clip,        Op::Cos,       Op::Cosh,      Op::Elu,
                Op::Erf,      Op::Gelu,           Op::HardSigmoid, Op::HardSwish, Op::LeakyRelu, Op::Log,
                Op::Mish,     Op::Selu,           Op::Shrink,      Op::Silu,      Op::Sin,       Op::Sinh,
                Op::Softplus, Op::ThresholdedRelu}) {
    EXPECT_EQ(saved(op, floats({{2}}), attributes), "input0") << name_of(op);
  }
  for (Op op : {Op::Neg, Op::Ceil, Op::Floor, Op::Round, Op::Sign, Op::Add, Op::Sub, Op::Sum, Op::Mean}) {
    EXPECT_EQ(saved(op, floats(required_inputs(op) == 1 ? std::vector<Shape>{{2}} : std::vector<Shape>{{2}, {2}})), "")
        << name_of(op);
  }
  const std::vector<TensorType> two = floats({{2}, {2}});
  EXPECT_EQ(saved(Op::Mul, two), "input0 input1");
  EXPECT_EQ(saved(Op::Mul, two, {}, {0}), "input1");
  EXPECT_EQ(saved(Op::Mul, two, {}, {1}), "input0");
  EXPECT_EQ(saved(Op::Div, two, {}, {0}), "input1");
  EXPECT_EQ(saved(Op::Div, two, {}, {1}), "input0 input1");
  EXPECT_EQ(saved(Op::Max, two, {}, {0}), "input0 input1");
  EXPECT_EQ(saved(Op::Pow, two, {}, {0}), "input0 input1");
  EXPECT_EQ(saved(Op::Pow, two, {}, {1}), "input0 input1 output0");
  EXPECT_EQ(saved(Op::Mod, two, {{Attr::fmod, std::int64_t{1}}}, {0}), "");
}

TEST(GradientRules, AreThereForAllButGradientsAndQuantization) {
  for (std::size_t i = 0; i < op_count; ++i) {
    const Op op = static_cast<Op>(i);
    const OpFamily family = family_of(op);
    if (family != OpFamily::elementwise && family != OpFamily::reduction && family != OpFamily::softmax) continue;
    const bool gradient = name_of(op).ends_with("Grad");
    const bool quantization = op == Op::Quantize || op == Op::QuantizeLinear || op == Op::DequantizeLinear;
    EXPECT_EQ(training::gradient_rule(op) == nullptr, gradient || quantization) << name_of(op);
  }
}

TEST(ElementwiseGradients, StopAtQuantization) {
  std::vector<TensorType> types = floats({{2, 3}, {}});
  types[0].format.element = ElementType::int8;
  const auto error = operator_gradient_error(Op::DequantizeLinear, types);
  ASSERT_FALSE(error.has_value());
  EXPECT_NE(error.error().message.find("DequantizeLinear cannot be differentiated"), std::string::npos);
}

}  // namespace
}  // namespace monet::test
