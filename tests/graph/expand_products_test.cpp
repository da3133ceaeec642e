// Do products and pools mean the same when they are written with standard operators?
#include "graph/expand.h"
#include "support/nest_check.h"
#include "support/same_values.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

using Integers = std::vector<std::int64_t>;

void expect_same_expanded(Op op, const std::vector<TensorType>& inputs, const Attributes& attributes,
                          std::size_t wanted = 1) {
  SCOPED_TRACE(std::string(name_of(op)));
  const auto graph = single(op, inputs, attributes, wanted);
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto expanded = expand(*graph, [](const Graph&, const Node&) { return true; });
  ASSERT_TRUE(expanded.has_value()) << expanded.error().text();
  const Status status = verify(*expanded);
  ASSERT_TRUE(status.has_value()) << status.error().text();
  for (const Node& node : expanded->nodes()) {
    EXPECT_TRUE(node.op != op || op == Op::MatMul);
    if (node.op != Op::MatMul) continue;
    EXPECT_EQ(node.attributes.integer(Attr::trans_a) + node.attributes.integer(Attr::trans_b), 0);
    EXPECT_EQ(node.attributes.real(Attr::alpha), 1);
  }
  expect_same_values(*graph, *expanded, 5, 1e-9);
}

TEST(ExpandProducts, MatMul) {
  for (std::int64_t trans_a : {0, 1}) {
    for (std::int64_t trans_b : {0, 1}) {
      for (double alpha : {1.0, 0.5}) {
        const Attributes attributes = {{Attr::trans_a, trans_a}, {Attr::trans_b, trans_b}, {Attr::alpha, alpha}};
        expect_same_expanded(Op::MatMul,
                             floats({trans_a ? Shape{2, 4, 3} : Shape{2, 3, 4}, trans_b ? Shape{5, 4} : Shape{4, 5}}),
                             attributes);
      }
    }
  }
}

TEST(ExpandProducts, Attention) {
  for (std::int64_t groups : {1, 2, 4}) {
    for (std::int64_t causal : {0, 1}) {
      for (double softcap : {0.0, 2.0}) {
        const Attributes attributes = {{Attr::scale, 0.5}, {Attr::softcap, softcap}, {Attr::is_causal, causal}};
        std::vector<TensorType> inputs = floats({{2, 4, 3, 2}, {2, groups, 5, 2}, {2, groups, 5, 3}});
        expect_same_expanded(Op::Attention, inputs, attributes);
        expect_same_expanded(Op::Attention, inputs, attributes, 2);
        inputs.push_back({{2, 1, 3, 5}, {}});
        expect_same_expanded(Op::Attention, inputs, attributes, 2);
        // Rows of a boolean mask on which nothing is seen come up here.
        inputs.back() = {{2, 4, 3, 5}, {.element = ElementType::boolean}};
        expect_same_expanded(Op::Attention, inputs, attributes, 2);
        inputs.back() = {{2, 1, 1, 1}, {.element = ElementType::boolean}};
        expect_same_expanded(Op::Attention, inputs, attributes, 2);
      }
    }
  }
}

TEST(ExpandProducts, AveragePoolGrad) {
  const auto window = [](Integers kernel, Integers strides, Integers dilations, Integers pads, Shape shape) {
    return Attributes{{Attr::kernel_shape, kernel},
                      {Attr::strides, strides},
                      {Attr::dilations, dilations},
                      {Attr::pads, pads},
                      {Attr::shape, shape}};
  };
  const std::vector<std::pair<Shape, Attributes>> samples = {
      {{2, 3, 3, 3}, window({2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {2, 3, 6, 7})},  // a column is not reached
      {{2, 3, 5, 3}, window({3, 2}, {2, 2}, {1, 1}, {1, 0, 1, 0}, {2, 3, 9, 6})},  // padded
      {{1, 2, 4, 3}, window({3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 2, 8, 6})},  // rounded up
      {{1, 2, 4}, window({3}, {2}, {1}, {0, 1}, {1, 2, 8})},                       // rounded up over padding
      {{1, 2, 3, 5}, window({3, 2}, {2, 1}, {1, 2}, {1, 0, 0, 1}, {1, 2, 6, 6})},  // dilated
      {{1, 2, 2, 5, 1}, window({2, 3, 2}, {2, 1, 2}, {1, 1, 2}, {0, 1, 0, 0, 1, 0}, {1, 2, 4, 5, 4})},
      {{2, 2, 1, 1}, window({3, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0}, {2, 2, 3, 4})},  // one window
  };
  for (const auto& [shape, attributes] : samples) {
    for (std::int64_t with_padding : {0, 1}) {
      Attributes each = attributes;
      each.set(Attr::count_include_pad, with_padding);
      expect_same_expanded(Op::AveragePoolGrad, floats({shape}), each);
    }
  }
}

}  // namespace
}  // namespace monet::test
