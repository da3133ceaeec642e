// Do pools count what their formulas say, and touch every element they should?
#include "support/nest_check.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

Attributes pool_window(Integers kernel, Integers strides, Integers pads, Shape shape) {
  const Integers ones(kernel.size(), 1);
  return {{Attr::kernel_shape, std::move(kernel)},
          {Attr::strides, std::move(strides)},
          {Attr::dilations, ones},
          {Attr::pads, std::move(pads)},
          {Attr::shape, std::move(shape)},
          {Attr::count_include_pad, std::int64_t{0}},
          {Attr::storage_order, std::int64_t{0}},
          {Attr::p, std::int64_t{2}}};
}

// B 2, K 3, 9x7 in, 3x2 window, stride 2, pads 1 and 0: 5x3 places.
const Attributes image = pool_window({3, 2}, {2, 2}, {1, 0, 1, 0}, {2, 3, 5, 3});
constexpr std::int64_t image_outputs = 2 * 3 * 5 * 3;
constexpr std::int64_t image_points = image_outputs * 3 * 2;

TEST(PoolNests, MaximumComparesAtEachPoint) {
  const auto [complaint, counts] = checked(Op::MaxPool, floats({{2, 3, 9, 7}}), image, 2);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(counts, counts_of({{Count::compare, image_points}}));
}

TEST(PoolNests, AverageAddsAtEachPointAndScalesEachOutput) {
  const auto [complaint, counts] = checked(Op::AveragePool, floats({{2, 3, 9, 7}}), image);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(counts, counts_of({{Count::add, image_points}, {Count::multiply, image_outputs}}));
}

TEST(PoolNests, OrderDecidesHowPowersAreTaken) {
  const auto counts_for = [](std::int64_t p) {
    Attributes attributes = image;
    attributes.set(Attr::p, p);
    const auto [complaint, counts] = checked(Op::LpPool, floats({{2, 3, 9, 7}}), attributes);
    EXPECT_EQ(complaint, "");
    return counts;
  };
  EXPECT_EQ(counts_for(1), counts_of({{Count::compare, image_points}, {Count::add, image_points}}));
  EXPECT_EQ(counts_for(2),
            counts_of({{Count::multiply, image_points}, {Count::add, image_points}, {Count::sqrt, image_outputs}}));
  EXPECT_EQ(counts_for(3), counts_of({{Count::power, image_points + image_outputs}, {Count::add, image_points}}));
}

TEST(PoolNests, GradientOfAverageScalesEachPlaceAndSpreadsIt) {
  Attributes attributes = pool_window({3, 2}, {2, 2}, {1, 0, 1, 0}, {2, 3, 9, 6});
  const auto [complaint, counts] = checked(Op::AveragePoolGrad, floats({{2, 3, 5, 3}}), attributes);
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(counts, counts_of({{Count::multiply, image_outputs}, {Count::add, image_points}}));
}

TEST(PoolNests, GradientOfMaximumAddsEachPlaceToZeros) {
  std::vector<TensorType> inputs = floats({{2, 3, 5, 3}, {2, 3, 5, 3}});
  inputs[1].format.element = ElementType::int64;
  const auto [complaint, counts] = checked(Op::MaxPoolGrad, inputs, {{Attr::shape, Shape{2, 3, 9, 7}}});
  EXPECT_EQ(complaint, "");
  EXPECT_EQ(counts, counts_of({{Count::move, 2 * 3 * 9 * 7}, {Count::add, image_outputs}}));
}

TEST(PoolNests, LoopsAreNamedFromTheLastAxis) {
  const auto names = [](const Shape& input, const Attributes& attributes) {
    const auto graph = single(Op::MaxPool, floats({input}), attributes);
    EXPECT_TRUE(graph.has_value());
    std::string text;
    const OperatorNests nests = nests_of(site_of(*graph, graph->nodes().back()));
    for (const Loop& loop : nests.nests[0].loops) {
      text += std::string(name_of(loop.name)) + " ";
    }
    return text;
  };
  EXPECT_EQ(names({2, 3, 8}, pool_window({2}, {2}, {0, 0}, {2, 3, 4})), "B K OX FX ");
  EXPECT_EQ(names({2, 3, 9, 7}, image), "B K OY OX FY FX ");
  EXPECT_EQ(names({1, 1, 4, 4, 4}, pool_window({2, 2, 2}, {2, 2, 2}, Integers(6, 0), {1, 1, 2, 2, 2})),
            "B K OZ OY OX FZ FY FX ");
}

}  // namespace
}  // namespace monet::test
