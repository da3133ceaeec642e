// Normalizations: counts by formula, shapes, and what is refused.
#include "support/nest_check.h"
#include "support/operator_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using enum Count;
using Integers = std::vector<std::int64_t>;
using testing::HasSubstr;

void expect_norm_counts(Op op, const std::vector<Shape>& shapes, Attributes given, Counts expected,
                        std::size_t outputs = 1) {
  const auto [complaint, counts] = checked(op, floats(shapes), std::move(given), outputs);
  EXPECT_EQ(complaint, "") << name_of(op);
  EXPECT_EQ(counts, expected) << name_of(op);
}

// n elements in r rows: a mean, a variance, an inverse deviation, a normalization of m further operations.
Counts full(std::int64_t n, std::int64_t r, std::int64_t scale, std::int64_t bias) {
  return counts_of({{add, 4 * n + r + bias}, {multiply, 2 * n + 2 * r + scale}, {sqrt, r}, {divide, r}});
}

TEST(NormNests, Batch) {
  const std::vector<Shape> shapes = {{2, 3, 4, 5}, {3}, {3}, {3}, {3}};
  expect_norm_counts(Op::BatchNormalization, shapes, norm_attributes({{Attr::training_mode, 0}}),
                     counts_of({{add, 2 * 120 + 3}, {multiply, 2 * 120}, {sqrt, 3}, {divide, 3}}));
  Counts training = full(120, 3, 120, 120);
  expect_norm_counts(Op::BatchNormalization, shapes, norm_attributes({{Attr::training_mode, 1}}), training);
  training[multiply] += 2 * 2 * 3;
  training[add] += 2 * 3;
  // Statistics that somebody wants are made anyway.
  for (std::size_t outputs : {3, 5}) {
    expect_norm_counts(Op::BatchNormalization, shapes, norm_attributes({{Attr::training_mode, 1}}), training, outputs);
  }
}

TEST(NormNests, Rows) {
  for (std::size_t outputs : {1, 3}) {
    expect_norm_counts(Op::LayerNormalization, {{2, 3, 8}, {8}, {8}}, norm_attributes({{Attr::axis, 2}}),
                       full(48, 6, 48, 48), outputs);
  }
  expect_norm_counts(Op::LayerNormalization, {{2, 3, 8}, {3, 8}}, norm_attributes({{Attr::axis, 1}}),
                     full(48, 2, 48, 0));
  for (std::size_t outputs : {1, 2}) {
    expect_norm_counts(Op::RMSNormalization, {{2, 3, 8}, {8}}, norm_attributes({{Attr::axis, 2}}),
                       counts_of({{add, 48 + 6}, {multiply, 3 * 48 + 6}, {sqrt, 6}, {divide, 6}}), outputs);
  }
  for (std::size_t outputs : {1, 3}) {
    expect_norm_counts(Op::InstanceNormalization, {{2, 3, 4}, {3}, {3}}, norm_attributes({}), full(24, 6, 24, 24),
                       outputs);
    expect_norm_counts(Op::GroupNormalization, {{2, 6, 4}, {6}, {6}}, norm_attributes({{Attr::num_groups, 3}}),
                       full(48, 6, 48, 48), outputs);
  }
  Attributes axes = norm_attributes({});
  axes.set(Attr::axes, Integers{0, 2});
  expect_norm_counts(Op::MeanVarianceNormalization, {{2, 3, 4}}, axes, full(24, 3, 0, 0));
}

TEST(NormNests, Lengths) {
  expect_norm_counts(Op::LpNormalization, {{4, 10}}, norm_attributes({{Attr::axis, 1}, {Attr::p, 1}}),
                     counts_of({{compare, 40}, {add, 40}, {divide, 40}}));
  expect_norm_counts(Op::LpNormalization, {{4, 10}}, norm_attributes({{Attr::axis, 1}, {Attr::p, 2}}),
                     counts_of({{multiply, 40}, {add, 40}, {sqrt, 4}, {divide, 40}}));
  expect_norm_counts(Op::LRN, {{1, 4, 2, 2}}, norm_attributes({{Attr::size, 3}}),
                     counts_of({{multiply, 16 * 3 + 16}, {add, 16 * 3 + 16}, {power, 16}, {divide, 16}}));
}

TEST(NormNests, GradientsOfParameters) {
  const Shape x = {2, 6, 4};
  // Σ dY · (x − mean) · i and Σ dY over 48 elements; i has one value for each channel, or for each row.
  expect_norm_counts(Op::BatchNormalizationParameterGrad, {x, x, {6}, {6}}, {},
                     counts_of({{add, 2 * 48}, {multiply, 48 + 6}}));
  expect_norm_counts(Op::BatchNormalizationParameterGrad, {x, x, {6}, {6}}, {},
                     counts_of({{add, 3 * 48}, {multiply, 48 + 6}}), 2);
  const Attributes rows = {{Attr::axis, std::int64_t{2}}, {Attr::shape, Shape{4}}};
  expect_norm_counts(Op::LayerNormalizationParameterGrad, {x, x, {2, 6, 1}, {2, 6, 1}}, rows,
                     counts_of({{add, 3 * 48}, {multiply, 2 * 48}}), 2);
  expect_norm_counts(Op::RMSNormalizationParameterGrad, {x, x, {2, 6, 1}}, rows,
                     counts_of({{add, 48}, {multiply, 2 * 48}}));
  expect_norm_counts(Op::GroupNormalizationParameterGrad, {x, x, {2, 3}, {2, 3}},
                     norm_attributes({{Attr::num_groups, 3}}), counts_of({{add, 3 * 48}, {multiply, 2 * 48}}), 2);
}

TEST(NormNests, GradientsOfInputs) {
  const Shape x = {2, 6, 4};
  expect_norm_counts(Op::BatchNormalizationGrad, {x, x, {6}, {6}, {6}, {6}, {6}}, {},
                     counts_of({{add, 3 * 48}, {multiply, 2 * 48 + 4 * 6}}));
  // Two sums over g = dY · scale, two factors a row, and inverse · (g − a − (x − mean) · b).
  const auto centred = [](std::int64_t r) { return counts_of({{add, 6 * 48}, {multiply, 5 * 48 + 4 * r}}); };
  const Attributes rows = {{Attr::axis, std::int64_t{2}}};
  expect_norm_counts(Op::LayerNormalizationGrad, {x, x, {4}, {2, 6, 1}, {2, 6, 1}}, rows, centred(12));
  expect_norm_counts(Op::GroupNormalizationGrad, {x, x, {6}, {2, 3}, {2, 3}}, norm_attributes({{Attr::num_groups, 3}}),
                     centred(6));
  expect_norm_counts(Op::RMSNormalizationGrad, {x, x, {4}, {2, 6, 1}}, rows,
                     counts_of({{add, 2 * 48}, {multiply, 5 * 48 + 3 * 12}}));
}

TEST(InferNorm, StatisticsHaveOneValueForEachRow) {
  const auto graph = single(Op::LayerNormalization, floats({{2, 3, 8}, {8}}), norm_attributes({{Attr::axis, 1}}), 3);
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ((*graph)[graph->outputs[1]].type.shape, (Shape{2, 1, 1}));
}

TEST(InferNorm, StatisticsOfGroupsAndBatches) {
  const auto types = [](Op op, const std::vector<Shape>& shapes, Attributes given, std::size_t outputs) {
    const auto graph = single(op, floats(shapes), std::move(given), outputs);
    EXPECT_TRUE(graph.has_value());
    return (*graph)[graph->outputs.back()].type;
  };
  EXPECT_EQ(
      types(Op::BatchNormalization, {{2, 3, 4}, {3}, {3}, {3}, {3}}, norm_attributes({{Attr::training_mode, 1}}), 5)
          .shape,
      (Shape{3}));
  EXPECT_EQ(types(Op::GroupNormalization, {{2, 6, 4}, {6}, {6}}, norm_attributes({{Attr::num_groups, 3}}), 3).shape,
            (Shape{2, 3}));
  EXPECT_EQ(types(Op::InstanceNormalization, {{2, 6, 4}, {6}, {6}}, norm_attributes({}), 3).shape, (Shape{2, 6}));
}

TEST(InferNorm, RefusesGradientsThatDoNotFit) {
  const Shape x = {2, 6, 4};
  EXPECT_THAT(complaint(Op::BatchNormalizationParameterGrad, floats({{2, 6, 3}, x, {6}, {6}}), {}),
              HasSubstr("BatchNormalizationParameterGrad of an input of 2x6x4 has an output gradient of 2x6x3"));
  EXPECT_THAT(complaint(Op::BatchNormalizationParameterGrad, floats({x, x, {4}, {6}}), {}), HasSubstr("a mean of 4"));
  EXPECT_THAT(complaint(Op::BatchNormalizationParameterGrad, floats({{4}, {4}, {4}, {4}}), {}),
              HasSubstr("at least 2 axes"));
  EXPECT_THAT(complaint(Op::BatchNormalizationGrad, floats({x, x, {6}, {6}, {6}, {6}, {5}}), {}),
              HasSubstr("a gradient of the bias of 5 where 6 is needed"));
  const Attributes rows = {{Attr::axis, std::int64_t{2}}, {Attr::shape, Shape{5}}};
  EXPECT_THAT(complaint(Op::LayerNormalizationParameterGrad, floats({x, x, {2, 6, 1}, {2, 6, 1}}), rows),
              HasSubstr("cannot belong to a scale of 5"));
  EXPECT_THAT(complaint(Op::LayerNormalizationGrad, floats({x, x, {5}, {2, 6, 1}, {2, 6, 1}}), rows),
              HasSubstr("a scale of 5"));
  EXPECT_THAT(complaint(Op::RMSNormalizationGrad, floats({x, x, {4}, {2, 1, 1}}), rows),
              HasSubstr("an inverse deviation of 2x1x1 where 2x6x1 is needed"));
  EXPECT_THAT(complaint(Op::RMSNormalizationGrad, floats({x, x, {4}, {2, 6, 1}}), {{Attr::axis, std::int64_t{3}}}),
              HasSubstr("along axis 3"));
  EXPECT_THAT(complaint(Op::GroupNormalizationGrad, floats({x, x, {6}, {2, 4}, {2, 4}}),
                        norm_attributes({{Attr::num_groups, 4}})),
              HasSubstr("6 channels into 4 groups"));
  EXPECT_THAT(
      complaint(Op::GroupNormalizationParameterGrad, floats({x, x, {2, 3}}), norm_attributes({{Attr::num_groups, 3}})),
      HasSubstr("needs 4 inputs"));
}

TEST(InferNorm, RefusesWhatDoesNotFit) {
  EXPECT_THAT(complaint(Op::BatchNormalization, floats({{2, 3, 4}, {3}, {4}, {3}, {3}}), norm_attributes({})),
              HasSubstr("the bias of BatchNormalization is 4 for 3 channels"));
  EXPECT_THAT(complaint(Op::BatchNormalization, floats({{2}, {1}, {1}, {1}, {1}}), norm_attributes({})),
              HasSubstr("at least 2"));
  EXPECT_THAT(complaint(Op::LayerNormalization, floats({{2, 8}, {4}}), norm_attributes({{Attr::axis, 1}})),
              HasSubstr("the scale of LayerNormalization is 4"));
  EXPECT_THAT(complaint(Op::LayerNormalization, floats({{2, 8}, {8}}), norm_attributes({{Attr::axis, 2}})),
              HasSubstr("axis 2"));
  EXPECT_THAT(complaint(Op::LayerNormalization, floats({{1, 8}, {2, 8}}), norm_attributes({{Attr::axis, 1}})),
              HasSubstr("2x8"));
  EXPECT_THAT(
      complaint(Op::GroupNormalization, floats({{2, 6, 4}, {6}, {6}}), norm_attributes({{Attr::num_groups, 0}})),
      HasSubstr("6 channels into 0 groups"));
  EXPECT_THAT(complaint(Op::InstanceNormalization, floats({{2, 3}, {3}, {3}}), norm_attributes({})),
              HasSubstr("at least 3"));
  EXPECT_THAT(complaint(Op::LpNormalization, floats({{4}}), norm_attributes({{Attr::axis, 0}, {Attr::p, 3}})),
              HasSubstr("p = 3"));
  EXPECT_THAT(complaint(Op::LRN, floats({{1, 4, 2}}), norm_attributes({{Attr::size, 0}})),
              HasSubstr("over 0 channels"));
}

}  // namespace
}  // namespace monet::test
