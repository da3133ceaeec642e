// Are spelt-out activation functions found in every usual spelling, only there, and mean the same?
#include "support/same_values.h"

#include <gtest/gtest.h>

#include <sstream>

namespace monet::onnx {
namespace {

using test::count_of;
using test::OnnxModel;
using test::recognized;

// A line is "output = Op a b"; numbers are scalar constants.
OnnxModel spelt(const std::vector<std::string>& lines, std::vector<test::OnnxDim> dims = {2, 3, 4}) {
  OnnxModel model;
  model.input("x", std::move(dims));
  std::size_t constants = 0;
  std::string last;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string output;
    std::string equals;
    std::string op;
    words >> output >> equals >> op;
    test::Names inputs;
    for (std::string word; words >> word;) {
      const bool number = word[0] == '-' || (word[0] >= '0' && word[0] <= '9');
      if (number) {
        const std::string name = "c" + std::to_string(constants++);
        model.initializer(test::float_scalar(name, std::stof(word)));
        word = name;
      }
      inputs.push_back(word);
    }
    model.node(op, inputs, {output});
    last = output;
  }
  model.output(last);
  return model;
}

void expect_one(const OnnxModel& model, Op op, double tolerance = 1e-9) {
  const Graph graph = recognized(model, tolerance);
  EXPECT_EQ(graph.nodes().size(), 1);
  EXPECT_EQ(count_of(graph, op), 1);
}

void expect_none(const OnnxModel& model, Op op) {
  const Graph graph = recognized(model);
  EXPECT_EQ(count_of(graph, op), 0);
  EXPECT_EQ(graph.nodes().size(), model.network({.recognize_idioms = false}).graph.nodes().size());
}

// Constants in a file have 24 bits; the operator's are exact.
constexpr double rounding = 1e-6;

TEST(IdiomsActivation, GeluWithErf) {
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {"d = Div x 1.4142135", "e = Erf d", "a = Add e 1", "m = Mul x a", "y = Mul m 0.5"},
           {"d = Mul x 0.70710678", "e = Erf d", "a = Add 1 e", "m = Mul a x", "y = Mul 0.5 m"},
           {"d = Mul 0.70710678 x", "e = Erf d", "a = Add e 1", "h = Mul a 0.5", "y = Mul x h"},
           {"d = Div x 1.4142135", "e = Erf d", "a = Add e 1", "h = Mul x 0.5", "y = Mul h a"},
           {"d = Div x 1.4142135", "e = Erf d", "a = Add e 1", "m = Mul x a", "y = Div m 2"},
       }) {
    expect_one(spelt(lines), Op::Gelu, rounding);
  }
}

TEST(IdiomsActivation, GeluWithTanh) {
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {"p = Pow x 3", "c = Mul p 0.044715", "s = Add x c", "t = Mul s 0.79788456", "h = Tanh t", "a = Add h 1",
            "m = Mul x a", "y = Mul m 0.5"},
           {"q = Mul x x", "p = Mul q x", "c = Mul 0.044715 p", "s = Add c x", "t = Mul 0.79788456 s", "h = Tanh t",
            "a = Add 1 h", "m = Mul 0.5 x", "y = Mul m a"},
           {"q = Mul x x", "c = Mul q 0.044715", "s = Add c 1", "v = Mul x 0.79788456", "t = Mul v s", "h = Tanh t",
            "a = Add h 1", "m = Mul x a", "y = Mul m 0.5"},
           {"q = Pow x 2", "c = Mul 0.044715 q", "s = Add 1 c", "v = Mul x s", "t = Mul v 0.79788456", "h = Tanh t",
            "a = Add h 1", "m = Mul a 0.5", "y = Mul x m"},
       }) {
    const OnnxModel model = spelt(lines);
    expect_one(model, Op::Gelu, rounding);
    EXPECT_EQ(model.network().graph.nodes()[0].attributes.text(Attr::approximate), "tanh");
  }
}

// From operator set 20 on exporters write Gelu: what is spelt out there was computed so.
TEST(IdiomsActivation, GeluStaysSpeltOutWhereItHasAnOperator) {
  OnnxModel model = spelt({"a = Div x 1.4142135", "b = Erf a", "c = Add b 1", "d = Mul x c", "y = Mul d 0.5"});
  EXPECT_EQ(count_of(recognized(model, 1e-7), Op::Gelu), 1);
  model.opsets = {{"", 20}};
  EXPECT_EQ(count_of(recognized(model, 1e-7), Op::Gelu), 0);
}

TEST(IdiomsActivation, Silu) {
  expect_one(spelt({"s = Sigmoid x", "y = Mul x s"}), Op::Silu);
  expect_one(spelt({"s = Sigmoid x", "y = Mul s x"}), Op::Silu);
}

TEST(IdiomsActivation, HardSwish) {
  expect_one(spelt({"a = Add x 3", "c = Clip a 0 6", "m = Mul x c", "y = Div m 6"}), Op::HardSwish);
  expect_one(spelt({"a = Add 3 x", "c = Clip a 0 6", "m = Div c 6", "y = Mul m x"}), Op::HardSwish);
  OnnxModel model = spelt({"h = HardSigmoid x", "y = Mul x h"});
  model.nodes[0].attributes = {test::attr("alpha", 1.0 / 6), test::attr("beta", 0.5)};
  expect_one(model, Op::HardSwish, rounding);
}

TEST(IdiomsActivation, OtherConstantsAreOtherFunctions) {
  expect_none(spelt({"d = Div x 1.5", "e = Erf d", "a = Add e 1", "m = Mul x a", "y = Mul m 0.5"}), Op::Gelu);
  expect_none(spelt({"d = Div x 1.4142135", "e = Erf d", "a = Add e 2", "m = Mul x a", "y = Mul m 0.5"}), Op::Gelu);
  expect_none(spelt({"d = Div x 1.4142135", "e = Erf d", "a = Add e 1", "m = Mul x a", "y = Mul m 0.25"}), Op::Gelu);
  expect_none(spelt({"p = Pow x 3", "c = Mul p 0.05", "s = Add x c", "t = Mul s 0.79788456", "h = Tanh t",
                     "a = Add h 1", "m = Mul x a", "y = Mul m 0.5"}),
              Op::Gelu);
  expect_none(spelt({"a = Add x 3", "c = Clip a 0 5", "m = Mul x c", "y = Div m 6"}), Op::HardSwish);
  expect_none(spelt({"h = HardSigmoid x", "y = Mul x h"}), Op::HardSwish);  // 0.2, not 1/6
  expect_none(spelt({"r = Relu x", "s = Sigmoid r", "y = Mul x s"}), Op::Silu);
}

TEST(IdiomsActivation, InnerValuesThatAreReadOutsideKeepThePatternApart) {
  OnnxModel silu = spelt({"s = Sigmoid x", "y = Mul x s"});
  silu.node("Neg", {"s"}, {"z"});
  silu.output("z");
  expect_none(silu, Op::Silu);
  OnnxModel gelu = spelt({"d = Div x 1.4142135", "e = Erf d", "a = Add e 1", "m = Mul x a", "y = Mul m 0.5"});
  for (const char* inner : {"d", "e", "a", "m"}) {
    OnnxModel read = gelu;
    read.node("Neg", {inner}, {"z"});
    read.output("z");
    expect_none(read, Op::Gelu);
    OnnxModel given = gelu;
    given.output(inner);
    expect_none(given, Op::Gelu);
  }
}

TEST(IdiomsActivation, ManyInAChain) {
  OnnxModel model =
      spelt({"s = Sigmoid x", "a = Mul x s", "t = Sigmoid a", "b = Mul a t", "u = Sigmoid b", "y = Mul b u"});
  const Graph graph = recognized(model);
  EXPECT_EQ(count_of(graph, Op::Silu), 3);
  EXPECT_EQ(graph.nodes().size(), 3);
}

TEST(IdiomsActivation, ABroadcastProductIsNoActivation) {
  OnnxModel model;
  model.input("x", {4});
  model.initializer(test::float_tensor("one", {1, 1}, {1}));
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Mul", {"s", "one"}, {"t"});
  model.node("Mul", {"x", "t"}, {"y"});
  model.output("y");
  // The constant adds an axis: 1x4, not 4.
  const Graph graph = recognized(model);
  EXPECT_EQ(graph[graph.outputs[0]].type.shape, (Shape{1, 4}));
}

}  // namespace
}  // namespace monet::onnx
