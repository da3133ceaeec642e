// Does every rule for products agree with central differences, and cost what the formulas say?
#include "support/nest_check.h"
#include "support/operator_attributes.h"
#include "support/operator_step.h"
#include "training/expect_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace monet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Shape stored(Shape shape, std::int64_t transposed) {
  if (transposed != 0) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

TEST(ContractionGradients, OfMatMulTransposedAndBroadcast) {
  const std::vector<std::pair<Shape, Shape>> operands = {
      {{3, 4}, {4, 5}},       {{2, 3, 4}, {2, 4, 5}},    {{2, 3, 4}, {4, 5}},       {{3, 4}, {2, 4, 5}},
      {{2, 3, 3, 4}, {4, 5}}, {{2, 1, 3, 4}, {3, 4, 2}}, {{2, 3, 4}, {1, 4, 5}},    {{1, 3, 4}, {4, 5}},
      {{1, 3, 4}, {2, 4, 5}}, {{1, 1, 3, 4}, {1, 4, 5}}, {{2, 3, 3, 4}, {3, 4, 2}}, {{2, 1, 4}, {4, 1}}};
  for (std::int64_t trans_a : {0, 1}) {
    for (std::int64_t trans_b : {0, 1}) {
      for (double alpha : {1.0, 0.5}) {
        for (const auto& [a, b] : operands) {
          SCOPED_TRACE(to_string(a) + " by " + to_string(b));
          expect_gradient(Op::MatMul, floats({stored(a, trans_a), stored(b, trans_b)}),
                          product_attributes(trans_a, trans_b, alpha));
        }
      }
    }
  }
}

// A weight that all batches share is differentiated in one product over batches and rows.
TEST(ContractionGradients, OfASharedMatrixAreOneProduct) {
  const std::int64_t macs = 2 * 6 * 3 * 4 * 5;
  for (std::int64_t trans_a : {0, 1}) {
    for (std::int64_t trans_b : {0, 1}) {
      for (bool first : {false, true}) {
        const Shape a = first ? Shape{3, 4} : Shape{2, 6, 3, 4};
        const Shape b = first ? Shape{2, 6, 4, 5} : Shape{4, 5};
        const auto step = operator_step(Op::MatMul, floats({stored(a, trans_a), stored(b, trans_b)}),
                                        product_attributes(trans_a, trans_b), {0, 1});
        ASSERT_TRUE(step.has_value()) << step.error().text();
        EXPECT_THAT(step->macs(Phase::forward), ElementsAre(macs));
        EXPECT_THAT(step->macs(Phase::backward), ElementsAre(macs, macs));
        EXPECT_EQ(step->count(Op::ReduceSum), 0);
        EXPECT_EQ(step->count(Op::Transpose), first ? (trans_b == 0 ? 2 : 1) : trans_a);
      }
    }
  }
}

TEST(ContractionGradients, OfBatchesCostWhatTheProductCosts) {
  const auto step = operator_step(Op::MatMul, floats({{2, 1, 3, 4}, {6, 4, 5}}), product_attributes(0, 0), {0, 1});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_THAT(step->macs(Phase::backward), ElementsAre(2 * 6 * 3 * 4 * 5, 2 * 6 * 3 * 4 * 5));
  EXPECT_EQ(step->count(Op::ReduceSum), 2);
}

TEST(ContractionGradients, NothingThatIsNotNeeded) {
  for (std::size_t wanted : {0u, 1u}) {
    const auto step = operator_step(Op::MatMul, floats({{3, 4}, {4, 5}}), product_attributes(0, 0), {wanted});
    ASSERT_TRUE(step.has_value()) << step.error().text();
    EXPECT_THAT(step->macs(Phase::backward), ElementsAre(3 * 4 * 5));
    EXPECT_EQ(Readers(step->graph).of(step->inputs[wanted]).size(), 1u);  // by the forward part only
  }
}

TEST(ContractionGradients, OfGemm) {
  for (std::int64_t trans_a : {0, 1}) {
    for (std::int64_t trans_b : {0, 1}) {
      const Shape a = stored({3, 4}, trans_a);
      const Shape b = stored({4, 5}, trans_b);
      expect_gradient(Op::Gemm, floats({a, b}), product_attributes(trans_a, trans_b, 0.5));
      for (const Shape& c : {Shape{}, Shape{5}, Shape{1}, Shape{3, 1}, Shape{1, 5}, Shape{3, 5}}) {
        for (double beta : {1.0, -0.75, 0.0}) {
          expect_gradient(Op::Gemm, floats({a, b, c}), product_attributes(trans_a, trans_b, 1.5, beta));
        }
      }
    }
  }
  const auto step = operator_step(Op::Gemm, floats({{3, 4}, {4, 5}, {5}}), product_attributes(0, 0), {0, 1, 2});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_THAT(step->macs(Phase::backward), ElementsAre(3 * 4 * 5, 3 * 4 * 5));
}

TEST(ContractionGradients, OfEinsum) {
  const std::vector<std::pair<std::string, std::vector<Shape>>> samples = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}},
      {"bij,bjk->kbi", {{2, 3, 4}, {2, 4, 2}}},
      {"bhid,bhjd->bhij", {{2, 2, 3, 4}, {2, 2, 5, 4}}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},  // three operands
      {"i,j,k->kij", {{2}, {3}, {2}}},             // nothing summed
      {"ij,k->k", {{2, 3}, {4}}},                  // i and j in one operand only
      {"ij,j->", {{2, 3}, {3}}},                   // to a scalar
      {"ijk->j", {{2, 3, 4}}},                     // one operand
      {"ijk->kij", {{2, 3, 4}}},                   // a transposition
      {"ij->ij", {{2, 3}}},                        // nothing at all
      {"ij->", {{2, 3}}},                          // a sum
      {",ij->ji", {{}, {2, 3}}},                   // a scalar operand
      {"ab,ab->a", {{2, 3}, {2, 1}}},              // a contracted axis that is broadcast
      {"ab,ab->ab", {{2, 3}, {1, 3}}},             // an axis that is broadcast
      {"ab,bc->ca", {{1, 3}, {3, 2}}},             // axes of size 1
      {"ab,ab,b->a", {{2, 1}, {1, 3}, {3}}},       // all of it
      {"abc,abd->cd", {{2, 1, 3}, {1, 4, 2}}},
  };
  for (const auto& [equation, shapes] : samples) {
    SCOPED_TRACE(equation);
    expect_gradient(Op::Einsum, floats(shapes), {{Attr::equation, equation}});
  }
  const auto step = operator_step(Op::Einsum, floats({{2, 3, 4}, {2, 4, 5}}),
                                  {{Attr::equation, std::string("bij,bjk->bik")}}, {0, 1});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_THAT(step->macs(Phase::backward), ElementsAre(2 * 3 * 4 * 5, 2 * 3 * 4 * 5));
}

struct AttentionCase {
  std::int64_t heads = 2;
  std::int64_t groups = 2;
  std::int64_t causal = 0;
  double softcap = 0;

  static constexpr std::int64_t batch = 2, queries = 3, keys = 4, channels = 2, values = 3;

  std::vector<TensorType> inputs() const {
    return floats({{batch, heads, queries, channels}, {batch, groups, keys, channels}, {batch, groups, keys, values}});
  }
  Attributes attributes() const { return {{Attr::scale, 0.75}, {Attr::softcap, softcap}, {Attr::is_causal, causal}}; }
};

std::vector<AttentionCase> attention_cases() {
  std::vector<AttentionCase> cases;
  for (const auto& [heads, groups] : std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 2}, {4, 2}, {3, 1}}) {
    for (std::int64_t causal : {0, 1}) {
      for (double softcap : {0.0, 1.25}) cases.push_back({heads, groups, causal, softcap});
    }
  }
  return cases;
}

TEST(ContractionGradients, OfAttention) {
  for (const AttentionCase& each : attention_cases()) expect_gradient(Op::Attention, each.inputs(), each.attributes());
}

// The mask is differentiated too: position biases are trained.
TEST(ContractionGradients, OfAttentionWithAnAddedMask) {
  for (const AttentionCase& each : attention_cases()) {
    for (const Shape& shape : {Shape{3, 4}, Shape{4}, Shape{each.heads, 3, 4}, Shape{2, 1, 1, 4}, Shape{1, 1, 3, 1}}) {
      std::vector<TensorType> inputs = each.inputs();
      inputs.push_back({shape, {}});
      expect_gradient(Op::Attention, inputs, each.attributes());
    }
  }
}

TEST(ContractionGradients, OfAttentionWhereRowsSeeNothing) {
  const double never = -std::numeric_limits<double>::infinity();
  const Array added{{3, 4}, {0.5, never, 0, 0.25, never, never, never, never, 0, 0, never, -0.5}};
  const Array seen{{3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1}};
  for (const AttentionCase& each : attention_cases()) {
    std::vector<TensorType> inputs = each.inputs();
    inputs.push_back({{3, 4}, {}});
    expect_gradient(Op::Attention, inputs, each.attributes(), {{3, added}});
    inputs.back().format.element = ElementType::boolean;
    expect_gradient(Op::Attention, inputs, each.attributes(), {{3, seen}});
  }
}

// Two products forward, five backward: 2.5 times the MACs where keys and values are alike.
TEST(ContractionGradients, OfAttentionAreFiveProducts) {
  const Attributes attributes = AttentionCase{}.attributes();
  const std::int64_t scores = 2 * 6 * 4 * 5;
  const auto step =
      operator_step(Op::Attention, floats({{2, 6, 4, 3}, {2, 3, 5, 3}, {2, 3, 5, 7}}), attributes, {0, 1, 2});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  EXPECT_THAT(step->macs(Phase::forward), ElementsAre(scores * (3 + 7)));
  EXPECT_THAT(step->macs(Phase::backward), ElementsAre(scores * (3 * 3 + 2 * 7)));
  const auto alike =
      operator_step(Op::Attention, floats({{2, 6, 4, 8}, {2, 6, 5, 8}, {2, 6, 5, 8}}), attributes, {0, 1, 2});
  ASSERT_TRUE(alike.has_value()) << alike.error().text();
  EXPECT_EQ(2 * alike->macs(Phase::backward)[0], 5 * alike->macs(Phase::forward)[0]);
}

// q, k, v, the output and one number for each row; no probabilities.
TEST(ContractionGradients, OfAttentionSaveNoProbabilities) {
  const auto step = operator_step(Op::Attention, floats({{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}}),
                                  AttentionCase{}.attributes(), {0, 1, 2});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  const Node& forward = step->graph.nodes().front();
  const Node& backward = step->graph.nodes().back();
  ASSERT_EQ(backward.op, Op::AttentionGrad);
  const std::vector<TensorId> saved(backward.inputs.begin() + 1, backward.inputs.end());
  EXPECT_THAT(saved,
              ElementsAre(step->inputs[0], step->inputs[1], step->inputs[2], forward.outputs[0], forward.outputs[1]));
  EXPECT_EQ(step->graph[forward.outputs[1]].type.shape, (Shape{1, 2, 3}));
}

TEST(ContractionGradients, OfTheLogSumExpAreRefused) {
  const AttentionCase each;
  const auto error = operator_gradient_error(Op::Attention, each.inputs(), each.attributes(), 2);
  ASSERT_FALSE(error.has_value());
  EXPECT_THAT(error.error().message, HasSubstr("log-sum-exp of attention cannot be differentiated"));
}

}  // namespace
}  // namespace monet::test
