// Do the loops of matrix products, Einsum and attention touch the right elements, as often as closed formulas say?
#include "graph/nest_walk.h"
#include "support/operator_attributes.h"

#include <set>

namespace monet {
namespace {

using test::product_attributes;

constexpr auto never = [](const Access&) { return false; };

Attributes equation(const std::string& text) { return {{Attr::equation, text}}; }

Attributes scaled_attention(bool causal, double softcap = 0.0) {
  return {{Attr::scale, 0.5}, {Attr::softcap, softcap}, {Attr::is_causal, std::int64_t{causal}}};
}

std::int64_t size(std::mt19937& random) { return std::uniform_int_distribution<std::int64_t>(1, 4)(random); }

Shape matrix(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

Shape batched(Shape batch, const Shape& tail) {
  batch.insert(batch.end(), tail.begin(), tail.end());
  return batch;
}

TEST(MatMulNests, RandomShapesAndTranspositions) {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    const bool trans_a = random() % 2 != 0;
    const bool trans_b = random() % 2 != 0;
    const std::int64_t rows = size(random), columns = size(random), inner = size(random), batch = size(random);
    const std::vector<std::pair<Shape, Shape>> batches = {
        {{}, {}}, {{batch}, {}}, {{batch}, {1}}, {{1, batch}, {2, 1}}, {{2}, {batch, 2}}};
    for (const auto& [a, b] : batches) {
      const Sample sample =
          Sample::of(Op::MatMul, product_attributes(trans_a, trans_b),
                     {batched(a, matrix(rows, inner, trans_a)), batched(b, matrix(inner, columns, trans_b))});
      const std::int64_t count = element_count(*broadcast(a, b));
      EXPECT_EQ(sample.counts()[Count::mac], count * rows * columns * inner);
      EXPECT_EQ(other_operations(sample.counts()), 0);
      expect_inside(sample, never);
      expect_same_products(sample, random);
    }
  }
}

TEST(MatMulNests, LoopNames) {
  const auto names = [](const Sample& sample) {
    std::string text;
    const OperatorNests nests = sample.nests();
    for (const Loop& loop : nests.nests[0].loops) text += std::string(name_of(loop.name)) + " ";
    return text;
  };
  EXPECT_EQ(names(Sample::of(Op::MatMul, product_attributes(false, false), {{2, 3}, {3, 4}})), "D K C ");
  EXPECT_EQ(names(Sample::of(Op::MatMul, product_attributes(false, false), {{5, 2, 3}, {3, 4}})), "B D K C ");
  EXPECT_EQ(names(Sample::of(Op::MatMul, product_attributes(false, false), {{5, 6, 2, 3}, {3, 4}})), "A0 A1 D K C ");
  EXPECT_EQ(names(Sample::of(Op::Einsum, equation("bik,bkj->bij"), {{5, 2, 3}, {5, 3, 4}})), "B D K C ");
  EXPECT_EQ(names(Sample::of(Op::Einsum, equation("bhik,bhkj->bhij"), {{5, 6, 2, 3}, {5, 6, 3, 4}})), "A0 A1 D K C ");
}

TEST(MatMulNests, ScaleIsOneMultiplicationForEachElement) {
  const Sample sample = Sample::of(Op::MatMul, product_attributes(false, false, 0.5), {{2, 3}, {3, 4}});
  EXPECT_EQ(sample.counts()[Count::multiply], 2 * 4);
  expect_inside(sample, never);
}

TEST(GemmNests, BiasIsASecondNest) {
  for (const Shape& bias : {Shape{}, Shape{5}, Shape{4, 1}, Shape{4, 5}}) {
    const Sample sample = Sample::of(Op::Gemm, product_attributes(true, false), {{3, 4}, {3, 5}, bias});
    EXPECT_EQ(sample.nests().nests.size(), 2u);
    EXPECT_EQ(sample.counts()[Count::mac], 4 * 5 * 3);
    EXPECT_EQ(sample.counts()[Count::add], 4 * 5);
    EXPECT_EQ(sample.counts()[Count::multiply], 0);
    expect_inside(sample, never);
  }
  EXPECT_EQ(Sample::of(Op::Gemm, product_attributes(false, false), {{3, 4}, {4, 5}}).nests().nests.size(), 1u);
}

TEST(EinsumNests, CountsByKind) {
  const Sample contracted = Sample::of(Op::Einsum, equation("ij,jk->ik"), {{2, 3}, {3, 4}});
  EXPECT_EQ(contracted.counts()[Count::mac], 2 * 3 * 4);
  const Sample outer = Sample::of(Op::Einsum, equation("i,j->ij"), {{2}, {3}});
  EXPECT_EQ(outer.counts()[Count::mac], 0);
  EXPECT_EQ(outer.counts()[Count::multiply], 2 * 3);
  const Sample three = Sample::of(Op::Einsum, equation("ij,jk,kl->il"), {{2, 3}, {3, 4}, {4, 5}});
  EXPECT_EQ(three.counts()[Count::mac], 2 * (2 * 3 * 4 * 5));
  const Sample sum = Sample::of(Op::Einsum, equation("ij->i"), {{2, 3}});
  EXPECT_EQ(sum.counts()[Count::add], 2 * 3);
}

TEST(EinsumNests, TouchWhatTheInterpreterReads) {
  std::mt19937 random(2);
  const std::vector<std::pair<std::string, std::vector<Shape>>> samples = {
      {"ij,jk->ik", {{2, 3}, {3, 4}}},
      {"bhid,bhjd->bhij", {{2, 2, 3, 4}, {2, 2, 5, 4}}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}},
      {"ab,bc->ca", {{1, 3}, {3, 2}}},
      {"ab,ab->a", {{2, 3}, {2, 1}}},
      {"i,j->ij", {{2}, {3}}},
      {"ijk->j", {{2, 3, 4}}},
      {"abcdefghij,j->abcdefghi", {{1, 2, 1, 2, 1, 2, 1, 2, 1, 3}, {3}}},
  };
  for (const auto& [text, shapes] : samples) {
    const Sample sample = Sample::of(Op::Einsum, equation(text), shapes);
    expect_inside(sample, never);
    expect_same_products(sample, random);
  }
}

TEST(AttentionNests, MacsAreNotHalvedByMasks) {
  const std::int64_t batch = 2, heads = 6, groups = 3, queries = 4, keys = 5, channels = 3, values = 7;
  for (const bool causal : {false, true}) {
    for (const std::vector<Shape>& mask : {std::vector<Shape>{}, {{queries, keys}}, {{batch, 1, 1, keys}}}) {
      std::vector<Shape> shapes = {
          {batch, heads, queries, channels}, {batch, groups, keys, channels}, {batch, groups, keys, values}};
      shapes.insert(shapes.end(), mask.begin(), mask.end());
      const Sample sample = Sample::of(Op::Attention, scaled_attention(causal), shapes);
      const Counts counts = sample.counts();
      const std::int64_t scores = batch * heads * queries * keys;
      EXPECT_EQ(counts[Count::mac], scores * (channels + values));
      EXPECT_EQ(counts[Count::exp], scores);
      EXPECT_EQ(counts[Count::divide], scores);
      EXPECT_EQ(counts[Count::compare], scores * (causal ? 2 : 1));
      expect_inside(sample, never);
    }
  }
}

TEST(AttentionNests, LogSumExpIsOneLogarithmForEachRow) {
  const std::vector<Shape> shapes = {{2, 6, 4, 3}, {2, 3, 5, 3}, {2, 3, 5, 7}};
  EXPECT_EQ(Sample::of(Op::Attention, scaled_attention(false), shapes).counts()[Count::log], 2 * 6 * 4);
}

TEST(AttentionNests, GradientHasFiveProducts) {
  const std::int64_t batch = 2, heads = 6, groups = 3, queries = 4, keys = 5, channels = 3, values = 7;
  const std::int64_t scores = batch * heads * queries * keys;
  const Shape output = {batch, heads, queries, values};
  for (const bool causal : {false, true}) {
    for (const double softcap : {0.0, 2.0}) {
      for (const std::vector<Shape>& mask : {std::vector<Shape>{}, {{queries, keys}}}) {
        std::vector<Shape> shapes = {output,
                                     {batch, heads, queries, channels},
                                     {batch, groups, keys, channels},
                                     {batch, groups, keys, values},
                                     output,
                                     {batch, heads, queries}};
        shapes.insert(shapes.end(), mask.begin(), mask.end());
        const Sample sample = Sample::of(Op::AttentionGrad, scaled_attention(causal, softcap), shapes);
        const Counts counts = sample.counts();
        EXPECT_EQ(sample.outputs.size(), 3 + mask.size());
        EXPECT_EQ(counts[Count::mac], scores * (3 * channels + 2 * values));
        EXPECT_EQ(counts[Count::exp], scores);
        EXPECT_EQ(counts[Count::tanh], softcap == 0 ? 0 : scores);
        EXPECT_EQ(counts[Count::compare], causal ? scores : 0);
        expect_inside(sample, never);
      }
    }
  }
}

TEST(AttentionNests, QueryHeadsShareKeysInOrder) {
  const Sample sample = Sample::of(Op::Attention, scaled_attention(false), {{1, 6, 1, 1}, {1, 3, 1, 1}, {1, 3, 1, 1}});
  const Nest nest = sample.nests().nests[0];
  for_each_point(nest, [&](const Shape& point) { EXPECT_EQ(position(nest.reads[1], point)[1], point[1] / 2); });
}

TEST(ContractionNests, LoopNamesAreUniqueUpToEight) {
  const Sample sample =
      Sample::of(Op::MatMul, product_attributes(false, false), {{1, 1, 1, 1, 1, 1, 1, 1, 2, 3}, {3, 4}});
  std::set<Dim> names;
  const OperatorNests nests = sample.nests();
  for (const Loop& loop : nests.nests[0].loops) EXPECT_TRUE(names.insert(loop.name).second);
}

}  // namespace
}  // namespace monet
