// Do the loops of convolutions touch the right elements, as often as closed formulas say?
#include "graph/nest_walk.h"

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

std::int64_t between(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Integers list(std::mt19937& random, std::size_t count, std::int64_t low, std::int64_t high) {
  Integers values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(between(random, low, high));
  return values;
}

Shape joined(Shape front, const Integers& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

struct Drawn {
  Sample sample;
  std::int64_t group;
  std::size_t spatial;
  std::int64_t kernel_volume;
};

Drawn draw(Op op, std::mt19937& random, bool bias) {
  const auto spatial = static_cast<std::size_t>(between(random, 1, 3));
  const std::int64_t group = between(random, 1, 3);
  const std::int64_t inputs = group * between(random, 1, 2);
  const std::int64_t outputs = group * between(random, 1, 2);
  const Integers kernel = list(random, spatial, 1, 3);
  Attributes attributes = {{Attr::strides, list(random, spatial, 1, 3)},
                           {Attr::dilations, list(random, spatial, 1, 2)},
                           {Attr::pads, list(random, 2 * spatial, 0, 2)},
                           {Attr::group, group}};
  if (op == Op::ConvTranspose) attributes.set(Attr::output_padding, list(random, spatial, 0, 1));
  const Shape weights =
      op == Op::Conv ? joined({outputs, inputs / group}, kernel) : joined({inputs, outputs / group}, kernel);
  std::vector<Shape> shapes = {joined({between(random, 1, 2), inputs}, list(random, spatial, 5, 6)), weights};
  if (bias) shapes.push_back({outputs});
  return {Sample::of(op, attributes, shapes), group, spatial, element_count(kernel)};
}

TEST(ConvolutionNests, RandomConvolutions) {
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    const Drawn drawn = draw(Op::Conv, random, false);
    const Sample& sample = drawn.sample;
    const std::int64_t inputs = sample.inputs[0].shape[1];
    EXPECT_EQ(sample.counts()[Count::mac],
              element_count(sample.outputs[0].shape) * (inputs / drawn.group) * drawn.kernel_volume);
    expect_inside(sample,
                  [](const Access& access) { return access.kind == OperandKind::input && access.operand == 0; });
    expect_same_products(sample, random);
  }
}

TEST(ConvolutionNests, RandomTransposedConvolutions) {
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    const Drawn drawn = draw(Op::ConvTranspose, random, false);
    const Sample& sample = drawn.sample;
    const std::int64_t outputs = sample.outputs[0].shape[1];
    EXPECT_EQ(sample.counts()[Count::mac],
              element_count(sample.inputs[0].shape) * (outputs / drawn.group) * drawn.kernel_volume);
    expect_inside(sample, [](const Access& access) { return access.kind == OperandKind::output; });
    expect_same_products(sample, random);
  }
}

// The gradient of the weights has the MACs of its convolution, and touches what the definition by standard operators
// reads.
TEST(ConvolutionNests, RandomWeightGradients) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const Drawn drawn = draw(Op::Conv, random, false);
    Attributes attributes = drawn.sample.attributes;
    attributes.set(Attr::shape, drawn.sample.inputs[1].shape);
    const Sample sample =
        Sample::of(Op::ConvWeightGrad, attributes, {drawn.sample.inputs[0].shape, drawn.sample.outputs[0].shape});
    EXPECT_EQ(sample.outputs[0].shape, drawn.sample.inputs[1].shape);
    EXPECT_EQ(sample.counts()[Count::mac], drawn.sample.counts()[Count::mac]);
    expect_inside(sample,
                  [](const Access& access) { return access.kind == OperandKind::input && access.operand == 0; });
    expect_same_products(sample, random);
  }
}

// Outside the input there is padding as wide as the attribute says, and no more.
TEST(ConvolutionNests, PaddingIsAsWideAsStated) {
  std::mt19937 random(5);
  for (int i = 0; i < 60; ++i) {
    const Drawn drawn = draw(Op::Conv, random, false);
    const Shape& x = drawn.sample.inputs[0].shape;
    const Integers& pads = drawn.sample.attributes.integers(Attr::pads);
    const Nest nest = drawn.sample.nests().nests[0];
    for_each_point(nest, [&](const Shape& point) {
      const Shape at = position(nest.reads[0], point);
      ASSERT_TRUE(at[1] >= 0 && at[1] < x[1]);
      for (std::size_t axis = 0; axis < drawn.spatial; ++axis) {
        ASSERT_GE(at[2 + axis], -pads[axis]);
        ASSERT_LT(at[2 + axis], x[2 + axis] + pads[drawn.spatial + axis]);
      }
    });
  }
}

TEST(ConvolutionNests, BiasIsOneAdditionForEachOutput) {
  std::mt19937 random(6);
  for (const Op op : {Op::Conv, Op::ConvTranspose}) {
    for (int i = 0; i < 20; ++i) {
      const Drawn drawn = draw(op, random, true);
      EXPECT_EQ(drawn.sample.nests().nests.size(), 2u);
      EXPECT_EQ(drawn.sample.counts()[Count::add], element_count(drawn.sample.outputs[0].shape));
    }
  }
}

TEST(ConvolutionNests, LoopNames) {
  const auto names = [](Op op, const std::vector<Shape>& shapes, std::int64_t group) {
    const std::size_t spatial = shapes[0].size() - 2;
    const Attributes attributes = {{Attr::strides, Integers(spatial, 1)},  {Attr::dilations, Integers(spatial, 1)},
                                   {Attr::pads, Integers(2 * spatial, 0)}, {Attr::output_padding, Integers(spatial, 0)},
                                   {Attr::shape, Shape{4, 1, 3, 3}},       {Attr::group, group}};
    std::string text;
    const OperatorNests nests = Sample::of(op, attributes, shapes).nests();
    for (const Loop& loop : nests.nests[0].loops) text += std::string(name_of(loop.name)) + " ";
    return text;
  };
  EXPECT_EQ(names(Op::Conv, {{1, 2, 5}, {3, 2, 3}}, 1), "B K C OX FX ");
  EXPECT_EQ(names(Op::Conv, {{1, 2, 5, 5}, {4, 1, 3, 3}}, 2), "B G K C OY OX FY FX ");
  EXPECT_EQ(names(Op::Conv, {{1, 2, 5, 5, 5}, {3, 2, 3, 3, 3}}, 1), "B K C OZ OY OX FZ FY FX ");
  EXPECT_EQ(names(Op::ConvTranspose, {{1, 2, 5, 5}, {2, 3, 3, 3}}, 1), "B K C IY IX FY FX ");
  EXPECT_EQ(names(Op::ConvWeightGrad, {{1, 2, 5, 5}, {1, 4, 3, 3}}, 2), "G K C FY FX B OY OX ");
}

}  // namespace
}  // namespace monet
