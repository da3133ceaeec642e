// Does every wrong use of a product or convolution give a message that says what is wrong?
#include "graph/infer.h"
#include "graph/inferred.h"
#include "onnx/import/einsum.h"
#include "support/nest_check.h"
#include "support/operator_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace monet {
namespace {

using test::product_attributes;
using ::testing::HasSubstr;
using Integers = std::vector<std::int64_t>;

Expected<Types> contraction_types(Op op, const Attributes& attributes, const std::vector<Shape>& shapes) {
  return test::inferred(op, test::floats(shapes), attributes);
}

std::string contraction_complaint(Op op, const Attributes& attributes, const std::vector<Shape>& shapes) {
  const auto result = contraction_types(op, attributes, shapes);
  return result ? "no complaint: " + to_string((*result)[0].shape) : result.error().message;
}

Attributes plain_attention() { return {{Attr::scale, 1.0}, {Attr::softcap, 0.0}, {Attr::is_causal, std::int64_t{0}}}; }

TEST(InferMatMul, Complaints) {
  EXPECT_THAT(contraction_complaint(Op::MatMul, product_attributes(), {{3, 4}, {5, 6}}),
              HasSubstr("4 columns meet 5 rows"));
  EXPECT_THAT(contraction_complaint(Op::MatMul, product_attributes(true), {{3, 4}, {4, 6}}),
              HasSubstr("3x4 transposed by 4x6"));
  EXPECT_THAT(contraction_complaint(Op::MatMul, product_attributes(), {{4}, {4, 6}}), HasSubstr("two axes or more"));
  EXPECT_THAT(contraction_complaint(Op::MatMul, product_attributes(), {{2, 3, 4}, {3, 4, 5}}),
              HasSubstr("cannot broadcast the batch axes"));
  EXPECT_THAT(contraction_complaint(Op::MatMul, product_attributes(), {{3, 4}}), HasSubstr("input 2 is missing"));
  EXPECT_THAT(
      contraction_complaint(Op::MatMul, product_attributes(), {{std::int64_t{1} << 40, 1}, {1, std::int64_t{1} << 40}}),
      HasSubstr("more elements than can be counted"));
}

TEST(InferGemm, Complaints) {
  EXPECT_THAT(contraction_complaint(Op::Gemm, product_attributes(), {{2, 3, 4}, {4, 5}}),
              HasSubstr("input 1 is 2x3x4"));
  EXPECT_THAT(contraction_complaint(Op::Gemm, product_attributes(), {{3, 4}, {4, 5}, {4}}),
              HasSubstr("cannot broadcast its bias 4"));
  EXPECT_THAT(contraction_complaint(Op::Gemm, product_attributes(), {{3, 4}, {4, 5}, {2, 3, 5}}),
              HasSubstr("cannot broadcast its bias"));
  EXPECT_THAT(contraction_complaint(Op::Gemm, product_attributes(false, true), {{3, 4}, {4, 5}}),
              HasSubstr("4 columns meet 5 rows"));
}

TEST(InferEinsum, Complaints) {
  const auto said = [](const std::string& equation, const std::vector<Shape>& shapes) {
    return contraction_complaint(Op::Einsum, {{Attr::equation, equation}}, shapes);
  };
  EXPECT_THAT(said("ij,jk->ik", {{2, 3}, {4, 5}}), HasSubstr("'j'"));
  EXPECT_THAT(said("ij,jk->ik", {{2, 3}}), HasSubstr("has 2 operands"));
  EXPECT_THAT(said("ij->iz", {{2, 3}}), HasSubstr("in no operand"));
  EXPECT_THAT(said("ii->i", {{2, 2}}), HasSubstr("twice in one operand"));
  EXPECT_THAT(said("ij->i", {{2, 2, 2}}), HasSubstr("gives operand 1 the 2 axes 'ij'"));
  EXPECT_THAT(said("i.->i", {{2, 2}}), HasSubstr("where a letter is due"));
  EXPECT_THAT(said("", {{2, 2}}), HasSubstr("gives operand 1 the 0 axes"));
}

TEST(InferAttention, Complaints) {
  const Shape q = {2, 4, 3, 8};
  const Shape k = {2, 2, 5, 8};
  EXPECT_THAT(contraction_complaint(Op::Attention, plain_attention(), {{3, 8}, k, k}), HasSubstr("needs a query"));
  EXPECT_THAT(contraction_complaint(Op::Attention, plain_attention(), {q, {2, 2, 5, 7}, k}),
              HasSubstr("do not fit each other"));
  EXPECT_THAT(contraction_complaint(Op::Attention, plain_attention(), {q, {2, 3, 5, 8}, {2, 3, 5, 8}}),
              HasSubstr("3 key heads"));
  EXPECT_THAT(contraction_complaint(Op::Attention, plain_attention(), {q, {2, 0, 5, 8}, {2, 0, 5, 8}}),
              HasSubstr("0 key heads"));
  EXPECT_THAT(contraction_complaint(Op::Attention, plain_attention(), {q, k, k, {3, 4}}),
              HasSubstr("cannot broadcast its mask"));
  const std::int64_t large = std::int64_t{1} << 30;
  EXPECT_THAT(
      contraction_complaint(Op::Attention, plain_attention(), {{1, 1, large, 1}, {1, 1, large, 1}, {1, 1, large, 1}}),
      HasSubstr("more elements than can be counted"));
}

TEST(InferAttentionGrad, Complaints) {
  const Shape q = {2, 4, 3, 8}, k = {2, 2, 5, 8}, v = {2, 2, 5, 6}, y = {2, 4, 3, 6}, rows = {2, 4, 3};
  const auto said = [](const std::vector<Shape>& shapes) {
    return contraction_complaint(Op::AttentionGrad, plain_attention(), shapes);
  };
  EXPECT_THAT(said({y, q, k, v, y, rows}), HasSubstr("no complaint: 2x4x3x8"));
  EXPECT_THAT(said({y, q, k, v, y}), HasSubstr("input 6 is missing"));
  EXPECT_THAT(said({q, q, k, v, y, rows}), HasSubstr("the gradient 2x4x3x8 where 2x4x3x6 is due"));
  EXPECT_THAT(said({y, q, k, v, q, rows}), HasSubstr("the output 2x4x3x8 where 2x4x3x6 is due"));
  EXPECT_THAT(said({y, q, k, v, y, y}), HasSubstr("the log-sum-exp 2x4x3x6 where 2x4x3 is due"));
  EXPECT_THAT(said({y, q, v, v, y, rows}), HasSubstr("do not fit each other"));
  EXPECT_THAT(said({y, q, k, v, y, rows, {3, 4}}), HasSubstr("cannot broadcast its mask"));
  const auto masked = contraction_types(Op::AttentionGrad, plain_attention(), {y, q, k, v, y, rows, {3, 5}});
  ASSERT_TRUE(masked.has_value());
  EXPECT_EQ(masked->size(), 4u);
}

struct Window {
  Integers strides = {1, 1};
  Integers dilations = {1, 1};
  Integers pads = {0, 0, 0, 0};
  std::int64_t group = 1;
  Integers output_padding = {0, 0};

  Attributes attributes() const {
    return {{Attr::strides, strides},
            {Attr::dilations, dilations},
            {Attr::pads, pads},
            {Attr::group, group},
            {Attr::output_padding, output_padding}};
  }
};

TEST(InferConv, Complaints) {
  const auto said = [](const Window& window, const std::vector<Shape>& shapes) {
    return contraction_complaint(Op::Conv, window.attributes(), shapes);
  };
  const std::vector<Shape> right = {{1, 4, 8, 8}, {6, 4, 3, 3}};
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(said({}, right), HasSubstr("no complaint: 1x6x6x6"));
  EXPECT_THAT(said({}, {{4, 8}, {6, 4}}), HasSubstr("one to three more axes"));
  EXPECT_THAT(said({}, {{1, 4, 8, 8}, {6, 4, 3}}), HasSubstr("weights of 6x4x3"));
  EXPECT_THAT(said({}, {{1, 4, 8, 8}, {6, 3, 3, 3}}), HasSubstr("4 input channels in 1 groups"));
  EXPECT_THAT(said({.group = 3}, right), HasSubstr("in 3 groups"));
  EXPECT_THAT(said({.group = 4}, {{1, 4, 8, 8}, {6, 1, 3, 3}}), HasSubstr("cannot divide 6 output channels"));
  EXPECT_THAT(said({.group = 0}, right), HasSubstr("0 groups"));
  EXPECT_THAT(said({.group = lowest}, right), HasSubstr("groups"));
  EXPECT_THAT(said({}, {{1, 4, 2, 8}, {6, 4, 3, 3}}), HasSubstr("larger than its padded input of 2"));
  EXPECT_THAT(said({}, {{1, 4, 8, 8}, {6, 4, 0, 3}}), HasSubstr("empty kernel"));
  EXPECT_THAT(said({}, {{1, 4, 8, 8}, {6, 4, 3, 3}, {5}}), HasSubstr("bias of 5 for 6 output channels"));
  EXPECT_THAT(said({.strides = {1}}, right), HasSubstr("1 strides where 2 are due"));
  EXPECT_THAT(said({.strides = {0, 1}}, right), HasSubstr("strides of 0"));
  EXPECT_THAT(said({.strides = {lowest, highest}}, right), HasSubstr("strides of"));
  EXPECT_THAT(said({.dilations = {-1, 1}}, right), HasSubstr("dilations of -1"));
  EXPECT_THAT(said({.dilations = {1, highest}}, right), HasSubstr("dilations of"));
  EXPECT_THAT(said({.pads = {0, 0, 0, highest}}, right), HasSubstr("pads of"));
  EXPECT_THAT(said({.pads = {lowest, 0, 0, 0}}, right), HasSubstr("pads of"));
  EXPECT_THAT(said({.pads = {0, 0}}, right), HasSubstr("2 pads where 4 are due"));
}

TEST(InferConvWeightGrad, Complaints) {
  const auto said = [](const Window& window, const std::vector<Shape>& shapes, Shape weights) {
    Attributes attributes = window.attributes();
    attributes.set(Attr::shape, std::move(weights));
    return contraction_complaint(Op::ConvWeightGrad, attributes, shapes);
  };
  const Shape x = {2, 4, 8, 8}, y = {2, 6, 6, 6}, w = {6, 4, 3, 3};
  EXPECT_THAT(said({}, {x, y}, w), HasSubstr("no complaint: 6x4x3x3"));
  EXPECT_THAT(said({.group = 2}, {x, y}, {6, 2, 3, 3}), HasSubstr("no complaint: 6x2x3x3"));
  EXPECT_THAT(said({}, {x}, w), HasSubstr("input 2 is missing"));
  for (const Shape& wrong :
       {Shape{6, 4, 3}, Shape{5, 4, 3, 3}, Shape{6, 2, 3, 3}, Shape{6, 4, 0, 3}, Shape{6, 4, 4, 3}}) {
    EXPECT_THAT(said({}, {x, y}, wrong), HasSubstr("cannot give weights of " + to_string(wrong)));
  }
  EXPECT_THAT(said({}, {x, {1, 6, 6, 6}}, w), HasSubstr("a gradient of 1x6x6x6"));
  EXPECT_THAT(said({}, {{4, 8}, {6, 6}}, {6, 4}), HasSubstr("from an input of 4x8"));
  EXPECT_THAT(said({.group = 3}, {x, y}, w), HasSubstr("cannot give weights"));
  EXPECT_THAT(said({.group = 0}, {x, y}, w), HasSubstr("0 groups"));
  EXPECT_THAT(said({.strides = {1}}, {x, y}, w), HasSubstr("1 strides where 2 are due"));
  EXPECT_THAT(said({}, {x, y}, {6, 4, 9, 3}), HasSubstr("larger than its padded input of 8"));
}

TEST(InferConvTranspose, Complaints) {
  const auto said = [](const Window& window, const std::vector<Shape>& shapes) {
    return contraction_complaint(Op::ConvTranspose, window.attributes(), shapes);
  };
  const std::vector<Shape> right = {{1, 4, 8, 8}, {4, 6, 3, 3}};
  EXPECT_THAT(said({.strides = {2, 2}, .output_padding = {1, 0}}, right), HasSubstr("no complaint: 1x6x18x17"));
  EXPECT_THAT(said({}, {{1, 4, 8, 8}, {6, 4, 3, 3}}), HasSubstr("weights 6x4x3x3 for 4 input channels"));
  EXPECT_THAT(said({.group = 3}, right), HasSubstr("in 3 groups"));
  EXPECT_THAT(said({.pads = {5, 0, 5, 0}}, right), HasSubstr("leaves nothing"));
  EXPECT_THAT(said({.output_padding = {-1, 0}}, right), HasSubstr("output_padding of -1"));
  const std::int64_t large = std::int64_t{1} << 50;
  EXPECT_THAT(said({.strides = {std::int64_t{1} << 31, 1}}, {{1, 1, large, 1}, {1, 1, 3, 3}}),
              HasSubstr("larger than can be counted"));
  EXPECT_THAT(said({.group = 4}, {{1, 4, 8, 8}, {4, std::int64_t{1} << 62, 3, 3}}),
              HasSubstr("more output channels than can be counted"));
}

TEST(EinsumText, NormalForm) {
  const auto normal = [](std::string_view text, std::vector<std::size_t> ranks) {
    const auto equation = onnx::normalized_einsum(text, ranks);
    if (!equation) return "error: " + equation.error().message;
    std::string result;
    for (const std::string& operand : equation->operands) result += operand + ",";
    result.pop_back();
    return result + "->" + equation->output;
  };
  EXPECT_EQ(normal("ij, jk -> ik", {2, 2}), "ij,jk->ik");
  EXPECT_EQ(normal("ij,jk", {2, 2}), "ij,jk->ik");
  EXPECT_EQ(normal("ba", {2}), "ba->ab");
  EXPECT_EQ(normal("...ij,...jk->...ik", {4, 3}), "zyij,yjk->zyik");
  EXPECT_EQ(normal("...ij,jk", {3, 2}), "zij,jk->zik");
  EXPECT_EQ(normal("Ab,bC->AC", {2, 2}), "zb,by->zy");
  EXPECT_EQ(normal("i,i->", {1, 1}), "i,i->");
  EXPECT_THAT(normal("ij->i->j", {2}), HasSubstr("signs other than"));
  EXPECT_THAT(normal("ij->i,j", {2}), HasSubstr("two outputs"));
  EXPECT_THAT(normal("i-j", {2}), HasSubstr("signs other than"));
  EXPECT_THAT(normal("i..j", {2}), HasSubstr("signs other than"));
  EXPECT_THAT(normal("ij,jk", {2}), HasSubstr("2 operands, and 1 inputs"));
  EXPECT_THAT(normal("ijk->i", {2}), HasSubstr("3 letters for operand 1, which has 2 axes"));
  EXPECT_THAT(normal("......->...", {2}), HasSubstr("two ellipses in one operand"));
  EXPECT_THAT(normal("...->......", {2}), HasSubstr("two ellipses in its output"));
  EXPECT_THAT(normal("...i->i", {2}), HasSubstr("none in the output"));
  EXPECT_THAT(normal("...->...", {30}), HasSubstr("more than 26"));
}

}  // namespace
}  // namespace monet
