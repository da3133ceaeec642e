// Are spelt-out norms and attention found in every usual spelling, only there, and mean the same?
#include "support/same_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace monet::onnx {
namespace {

using test::attr;
using test::count_of;
using test::macs_of;
using test::OnnxModel;
using test::parameters_of;
using test::recognized;

struct NormSpelling {
  bool centred = true;
  bool square_by_power = true;
  enum class Division { divide, reciprocal, one_over, power } division = Division::divide;
  bool scale = true;
  bool bias = true;
};

OnnxModel norm(const NormSpelling& spelling) {
  using Division = NormSpelling::Division;
  OnnxModel model;
  model.input("x", {2, 3, 8});
  for (const auto& [name, value] : {std::pair{"two", 2.0F}, {"epsilon", 1e-5F}, {"one", 1.0F}, {"half", -0.5F}})
    model.initializer(test::float_scalar(name, value));
  std::string d = "x";
  if (spelling.centred) {
    model.node("ReduceMean", {"x"}, {"mean"}, {attr("axes", {-1})});
    model.node("Sub", {"x", "mean"}, {"d"});
    d = "d";
  }
  if (spelling.square_by_power) {
    model.node("Pow", {d, "two"}, {"square"});
  } else {
    model.node("Mul", {d, d}, {"square"});
  }
  model.node("ReduceMean", {"square"}, {"variance"}, {attr("axes", {-1})});
  model.node("Add", {"variance", "epsilon"}, {"sum"});
  if (spelling.division == Division::power) {
    model.node("Pow", {"sum", "half"}, {"inverse"});
  } else {
    model.node("Sqrt", {"sum"}, {"root"});
  }
  if (spelling.division == Division::reciprocal) model.node("Reciprocal", {"root"}, {"inverse"});
  if (spelling.division == Division::one_over) model.node("Div", {"one", "root"}, {"inverse"});
  if (spelling.division == Division::divide) {
    model.node("Div", {d, "root"}, {"normal"});
  } else {
    model.node("Mul", {d, "inverse"}, {"normal"});
  }
  std::string last = "normal";
  if (spelling.scale) {
    model.initializer(test::external("g", {8}));
    model.node("Mul", {"g", last}, {"scaled"});
    last = "scaled";
  }
  if (spelling.bias) {
    model.initializer(test::external("b", {8}));
    model.node("Add", {last, "b"}, {"shifted"});
    last = "shifted";
  }
  model.output(last);
  return model;
}

TEST(IdiomsNorm, LayerNormInEverySpelling) {
  for (const bool power : {false, true}) {
    for (const auto division : {NormSpelling::Division::divide, NormSpelling::Division::reciprocal,
                                NormSpelling::Division::one_over, NormSpelling::Division::power}) {
      for (const int affine : {0, 1, 2, 3}) {
        const Graph graph = recognized(norm({true, power, division, (affine & 1) != 0, (affine & 2) != 0}));
        // A bias without a scale may stay an addition of its own.
        EXPECT_EQ(count_of(graph, Op::LayerNormalization), 1);
        EXPECT_EQ(count_of(graph, Op::Sqrt) + count_of(graph, Op::ReduceMean) + count_of(graph, Op::Sub), 0);
        EXPECT_EQ(parameters_of(graph), 8 * ((affine & 1) + (affine >> 1)));
      }
    }
  }
}

// Set 17 has an operator for layer norm, so that one who spells it out means it; RMS norms had none for long.
TEST(IdiomsNorm, StayAsWrittenUnlessAskedFor) {
  for (const bool centred : {false, true}) {
    const OnnxModel model = norm({centred, false, NormSpelling::Division::divide, true, false});
    const NetworkGraph written = model.network();
    EXPECT_EQ(count_of(written.graph, Op::LayerNormalization) + count_of(written.graph, Op::RMSNormalization), 0);
    EXPECT_THAT(written.notes, testing::Contains(testing::HasSubstr("1 norm is spelt out in the file")));
    const NetworkGraph fused = model.network({.fused_norms = true});
    EXPECT_EQ(count_of(fused.graph, centred ? Op::LayerNormalization : Op::RMSNormalization), 1);
    OnnxModel before = model;
    before.opsets = {{"", 16}};
    EXPECT_EQ(count_of(before.network().graph, Op::LayerNormalization), centred ? 1 : 0);
  }
}

TEST(IdiomsNorm, RmsNormInEverySpelling) {
  for (const bool power : {false, true}) {
    for (const auto division : {NormSpelling::Division::divide, NormSpelling::Division::reciprocal,
                                NormSpelling::Division::one_over, NormSpelling::Division::power}) {
      for (const bool scale : {false, true}) {
        const Graph graph = recognized(norm({false, power, division, scale, false}));
        EXPECT_EQ(count_of(graph, Op::RMSNormalization), 1);
        EXPECT_EQ(graph.nodes().size(), 1);
      }
    }
  }
}

TEST(IdiomsNorm, NotWhenAnInnerValueIsReadOutside) {
  for (const char* inner : {"mean", "d", "square", "variance", "sum", "root"}) {
    OnnxModel model = norm({});
    model.node("Neg", {inner}, {"z"});
    model.output("z");
    EXPECT_EQ(count_of(recognized(model), Op::LayerNormalization), 0) << inner;
    OnnxModel given = norm({});
    given.output(inner);
    EXPECT_EQ(count_of(recognized(given), Op::LayerNormalization), 0) << inner;
  }
}

TEST(IdiomsNorm, NotOverOtherAxes) {
  OnnxModel model = norm({});
  for (test::OnnxNode& node : model.nodes) {
    if (node.op_type == "ReduceMean") node.attributes = {attr("axes", {1})};
  }
  EXPECT_EQ(count_of(recognized(model), Op::LayerNormalization), 0);
}

TEST(IdiomsNorm, AScaleThatIsComputedStaysAProduct) {
  OnnxModel model = norm({.scale = false, .bias = false});
  model.input("condition", {8});
  model.node("Mul", {"normal", "condition"}, {"y"});
  model.node("Neg", {"y"}, {"z"});
  model.output("z");
  const Graph graph = recognized(model);
  EXPECT_EQ(count_of(graph, Op::LayerNormalization), 1);
  EXPECT_EQ(count_of(graph, Op::Mul), 1);
}

TEST(IdiomsNorm, AddedNamesDoNotMeetOthers) {
  OnnxModel model = norm({.scale = false, .bias = false});
  model.initializer(test::external("normal/scale", {8}));
  model.node("Add", {"normal", "normal/scale"}, {"y"});
  model.output("y");
  EXPECT_EQ(count_of(recognized(model), Op::LayerNormalization), 1);
}

enum class Mask { none, causal, data, other, one_row };

// scaled_dot_product_attention as exporters write it; `once` scales the scores instead of both operands.
OnnxModel exported_attention(Mask mask, bool once = false, float in_place_of_nan = NAN) {
  OnnxModel model;
  model.input("q", {2, 3, 4, 8});
  model.input("k", {2, 3, 4, 8});
  model.input("v", {2, 3, 4, 5});
  model.initializer(test::float_scalar("s", once ? 0.35355338F : 0.59460356F));
  model.node("Transpose", {"k"}, {"kt"}, {attr("perm", {0, 1, 3, 2})});
  if (once) {
    model.node("MatMul", {"q", "kt"}, {"raw"});
    model.node("Mul", {"raw", "s"}, {"scores"});
  } else {
    model.node("Mul", {"q", "s"}, {"qs"});
    model.node("Mul", {"kt", "s"}, {"ks"});
    model.node("MatMul", {"qs", "ks"}, {"scores"});
  }
  std::string last = "scores";
  if (mask == Mask::causal || mask == Mask::one_row) {
    model.initializer(test::int64_vector("size", {mask == Mask::causal ? 4 : 1, 4}));
    model.node("ConstantOfShape", {"size"}, {"fill"}, {attr("value", test::float_tensor("", {1}, {-30000}))});
    model.initializer(test::int64_tensor("above", {}, {1}));
    model.node("Trilu", {"fill", "above"}, {"mask"}, {attr("upper", 1)});
  }
  if (mask == Mask::data) model.input("mask", {2, 1, 4, 4});
  if (mask == Mask::other) model.initializer(test::external("mask", {4, 4}));
  if (mask != Mask::none) {
    model.node("Add", {"scores", "mask"}, {"masked"});
    last = "masked";
  }
  model.node("Softmax", {last}, {"weights"}, {attr("axis", -1)});
  last = "weights";
  if (!std::isnan(in_place_of_nan)) {
    model.initializer(test::float_scalar("otherwise", in_place_of_nan));
    model.node("IsNaN", {"weights"}, {"nan"});
    model.node("Where", {"nan", "otherwise", "weights"}, {"numbers"});
    last = "numbers";
  }
  model.node("MatMul", {last, "v"}, {"y"});
  model.output("y");
  return model;
}

const Node& only_attention(const Graph& graph) {
  EXPECT_EQ(count_of(graph, Op::Attention), 1);
  EXPECT_EQ(count_of(graph, Op::MatMul), 0);
  return *std::ranges::find(graph.nodes(), Op::Attention, &Node::op);
}

TEST(IdiomsAttention, WithoutAMask) {
  const Graph graph = recognized(exported_attention(Mask::none));
  const Node& node = only_attention(graph);
  EXPECT_EQ(node.inputs.size(), 3);
  EXPECT_EQ(node.attributes.integer(Attr::is_causal), 0);
  EXPECT_NEAR(node.attributes.real(Attr::scale), 1 / std::sqrt(8.0), 1e-6);
}

TEST(IdiomsAttention, WithACausalMask) {
  const Graph graph = recognized(exported_attention(Mask::causal));
  const Node& node = only_attention(graph);
  EXPECT_EQ(node.inputs.size(), 3);
  EXPECT_EQ(node.attributes.integer(Attr::is_causal), 1);
}

TEST(IdiomsAttention, AMaskOfOneRowIsNotCausal) {
  const Graph graph = recognized(exported_attention(Mask::one_row));
  EXPECT_EQ(only_attention(graph).attributes.integer(Attr::is_causal), 0);
}

TEST(IdiomsAttention, WithAMaskOfData) {
  for (const Mask mask : {Mask::data, Mask::other}) {
    const Graph graph = recognized(exported_attention(mask));
    const Node& node = only_attention(graph);
    ASSERT_EQ(node.inputs.size(), 4);
    EXPECT_EQ(graph[node.inputs[3]].name, "mask");
    EXPECT_EQ(parameters_of(graph), 0);
  }
}

TEST(IdiomsAttention, WhereNoNumbersBecomeZeros) {
  for (const Mask mask : {Mask::none, Mask::data}) {
    const Graph graph = recognized(exported_attention(mask, false, 0));
    EXPECT_EQ(only_attention(graph).inputs.size(), mask == Mask::none ? 3U : 4U);
    EXPECT_EQ(graph.nodes().size(), 1U);
  }
  EXPECT_EQ(count_of(recognized(exported_attention(Mask::data, false, 1)), Op::Attention), 0);
  OnnxModel model = exported_attention(Mask::data, false, 0);
  model.output("weights");
  EXPECT_EQ(count_of(recognized(model), Op::Attention), 0);
}

TEST(IdiomsAttention, ScaledOnceStaysSpeltOut) {
  for (const Mask mask : {Mask::none, Mask::causal, Mask::data}) {
    const Graph graph = recognized(exported_attention(mask, true));
    EXPECT_EQ(count_of(graph, Op::Attention), 0);
    EXPECT_EQ(count_of(graph, Op::MatMul), 2);
  }
}

TEST(IdiomsAttention, NotWhenAnInnerValueIsReadOutside) {
  for (const char* inner : {"qs", "ks", "scores", "masked", "weights"}) {
    OnnxModel model = exported_attention(Mask::data);
    model.output(inner);
    EXPECT_EQ(count_of(recognized(model), Op::Attention), 0) << inner;
  }
}

TEST(IdiomsAttention, KeysThatOthersReadTransposedKeepItApart) {
  OnnxModel model = exported_attention(Mask::none);
  model.node("Neg", {"kt"}, {"z"});
  model.output("z");
  EXPECT_EQ(count_of(recognized(model), Op::Attention), 0);
}

TEST(IdiomsAttention, MacsAreThoseOfTheProducts) {
  const OnnxModel model = exported_attention(Mask::none);
  EXPECT_EQ(macs_of(model.network().graph), macs_of(model.network({.recognize_idioms = false}).graph));
}

}  // namespace
}  // namespace monet::onnx
