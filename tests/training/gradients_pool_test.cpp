// Does every rule for pools agree with central differences?
#include "support/nest_check.h"
#include "support/operator_step.h"
#include "training/expect_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;
using testing::ElementsAre;

struct Pool {
  Shape input;
  Integers kernel, strides, dilations, pads;
  bool ceil = false;

  Attributes attributes() const {
    Shape shape = {input[0], input[1]};
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::int64_t slack = input[2 + i] + pads[i] + pads[kernel.size() + i] - (kernel[i] - 1) * dilations[i] - 1;
      std::int64_t places = (slack + (ceil ? strides[i] - 1 : 0)) / strides[i] + 1;
      // As PyTorch does: the last window starts in the input or before it.
      if ((places - 1) * strides[i] >= input[2 + i] + pads[i]) --places;
      shape.push_back(places);
    }
    return {{Attr::kernel_shape, kernel},
            {Attr::strides, strides},
            {Attr::dilations, dilations},
            {Attr::pads, pads},
            {Attr::shape, std::move(shape)}};
  }
};

Attributes with(Attributes attributes, Attr key, AttributeValue value) {
  attributes.set(key, std::move(value));
  return attributes;
}

// Every kind of window: apart, overlapping, padded on one side, dilated, rounded up, of one to three axes; and chance.
std::vector<Pool> pools() {
  std::vector<Pool> all = {{{2, 3, 6, 6}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
                           {{2, 2, 7, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
                           {{1, 2, 6, 7}, {3, 2}, {1, 2}, {1, 1}, {1, 0, 0, 1}},
                           {{1, 2, 8, 7}, {2, 3}, {2, 1}, {3, 2}, {0, 1, 0, 1}},
                           {{1, 2, 6, 7}, {3, 2}, {2, 3}, {1, 1}, {1, 0, 1, 0}, true},
                           {{1, 2, 8}, {3}, {2}, {1}, {0, 1}, true},
                           {{2, 2, 4, 5, 4}, {2, 3, 2}, {2, 1, 2}, {1, 1, 2}, {0, 1, 0, 0, 1, 0}}};
  std::mt19937 random(21);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int i = 0; i < 15; ++i) {
    Pool pool{{1, 2}, {}, {}, {}, {}, between(0, 1) == 1};
    const std::int64_t spatial = between(1, 2);
    for (std::int64_t axis = 0; axis < spatial; ++axis) {
      pool.input.push_back(between(6, 9));
      pool.kernel.push_back(between(2, 3));
      pool.strides.push_back(between(1, 3));
      pool.dilations.push_back(between(1, 2));
    }
    for (std::int64_t end = 0; end < 2 * spatial; ++end) pool.pads.push_back(between(0, 1));
    all.push_back(std::move(pool));
  }
  return all;
}

void expect_pool_gradient(Op op, const Pool& pool, const Attributes& attributes, std::size_t outputs = 1) {
  SCOPED_TRACE(to_string(pool.input) + " | " + to_string(pool.kernel) + " | " + to_string(pool.strides));
  expect_gradient(op, floats({pool.input}), attributes, {}, outputs);
}

TEST(PoolGradients, OfAverages) {
  for (const Pool& pool : pools()) {
    for (std::int64_t with_padding : {0, 1}) {
      expect_pool_gradient(Op::AveragePool, pool, with(pool.attributes(), Attr::count_include_pad, with_padding));
    }
  }
}

TEST(PoolGradients, OfMaxima) {
  for (const Pool& pool : pools()) {
    for (std::int64_t order : {0, 1}) {
      for (std::size_t outputs : {1u, 2u}) {
        expect_pool_gradient(Op::MaxPool, pool, with(pool.attributes(), Attr::storage_order, order), outputs);
      }
    }
  }
}

TEST(PoolGradients, OfPowers) {
  for (const Pool& pool : pools()) {
    for (std::int64_t p : {1, 2, 3}) expect_pool_gradient(Op::LpPool, pool, with(pool.attributes(), Attr::p, p));
  }
}

// Where all of a window is 0 the root has no slope; its gradient is 0, not the quotient of two zeros.
TEST(PoolGradients, OfPowersOfNothing) {
  const Pool pool{{1, 1, 4}, {2}, {2}, {1}, {0, 0}};
  const auto step =
      operator_step(Op::LpPool, floats({pool.input}), with(pool.attributes(), Attr::p, std::int64_t{2}), {0});
  ASSERT_TRUE(step.has_value()) << step.error().text();
  Values values = {{step->inputs[0], Array{pool.input, {0, 0, 3, 4}}}};
  ASSERT_TRUE(run(step->graph, values).has_value());
  EXPECT_THAT(values.at(step->gradients[0]).values,
              ElementsAre(0, 0, testing::DoubleEq(3.0 / 5), testing::DoubleEq(4.0 / 5)));
}

TEST(PoolGradients, KeepWhatPyTorchKeeps) {
  const Pool pool = pools()[0];
  for (Op op : {Op::AveragePool, Op::MaxPool}) {
    const Attributes attributes =
        with(with(pool.attributes(), Attr::storage_order, std::int64_t{1}), Attr::count_include_pad, std::int64_t{0});
    const auto step = operator_step(op, floats({pool.input}), attributes, {0});
    ASSERT_TRUE(step.has_value()) << step.error().text();
    EXPECT_THAT(step->kept, ElementsAre(step->inputs[0]));
    EXPECT_EQ(Readers(step->graph).of(step->inputs[0]).size(), 1u);
    const Node& forward = step->graph.nodes().front();
    if (op == Op::AveragePool) continue;
    ASSERT_EQ(forward.outputs.size(), 2u);
    EXPECT_EQ(step->graph[forward.outputs[1]].type.format.element, ElementType::int64);
    EXPECT_EQ(forward.attributes.integer(Attr::storage_order), 0);
  }
}

}  // namespace
}  // namespace monet::test
