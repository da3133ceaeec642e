// Which operators count as equal, whatever graph they are in.
#include "evaluate/classes/operator_classes.h"

#include "graph/builder.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using Integers = std::vector<std::int64_t>;

class OperatorClassesTest : public testing::Test {
 protected:
  // The number of the last operator of a graph that `make` builds.
  template <class Make>
  std::uint32_t of(const Make& make) {
    GraphBuilder builder("graph");
    builder.output(make(builder));
    graphs_.push_back(*builder.finish());
    const OperatorClasses classes(graphs_.back(), numbers_);
    return classes[NodeId(graphs_.back().nodes().size() - 1)];
  }

  OperatorClassTable numbers_;
  std::vector<Graph> graphs_;
};

TEST_F(OperatorClassesTest, AreTheSameUnderOtherNamesAndBehindOtherOperators) {
  const auto plain = of([](GraphBuilder& b) { return b.add(Op::Relu, "r", {b.input("x", {2, 3})}); });
  EXPECT_EQ(of([](GraphBuilder& b) {
              b.output(b.add(Op::Exp, "other", {b.input("before", {7})}));
              const TensorId x = b.input("y", {2, 3});
              return b.add(Op::Relu, "another", {x});
            }),
            plain);
  // As the inputs of a step and what is computed are told apart by their roles.
  EXPECT_NE(of([](GraphBuilder& b) { return b.add(Op::Relu, "r", {b.add(Op::Exp, "e", {b.input("x", {2, 3})})}); }),
            plain);
}

TEST_F(OperatorClassesTest, DifferWhereResultsMay) {
  const auto sum = [](const Shape& shape, ElementType type) {
    return [=](GraphBuilder& b) { return b.add(Op::Add, "s", {b.input("x", shape, type), b.input("y", shape, type)}); };
  };
  const auto plain = of(sum({4, 6}, ElementType::float32));
  EXPECT_EQ(of(sum({4, 6}, ElementType::float32)), plain);
  EXPECT_NE(of(sum({6, 4}, ElementType::float32)), plain);
  EXPECT_NE(of(sum({4, 6}, ElementType::float16)), plain);
  EXPECT_NE(of([](GraphBuilder& b) { return b.add(Op::Mul, "s", {b.input("x", {4, 6}), b.input("y", {4, 6})}); }),
            plain);
  // One tensor twice is read once.
  EXPECT_NE(of([](GraphBuilder& b) {
              const TensorId x = b.input("x", {4, 6});
              return b.add(Op::Add, "s", {x, x});
            }),
            plain);
  // A weight comes by another path.
  EXPECT_NE(of([](GraphBuilder& b) { return b.add(Op::Add, "s", {b.input("x", {4, 6}), b.parameter("y", {4, 6})}); }),
            plain);
}

TEST_F(OperatorClassesTest, DifferByAttributes) {
  const auto softmax = [&](std::int64_t axis) {
    return of([=](GraphBuilder& b) {
      return b.add(Op::Softmax, "s", {b.input("x", {4, 4})}, {{Attr::axes, Integers{axis}}});
    });
  };
  EXPECT_EQ(softmax(1), softmax(1));
  EXPECT_NE(softmax(0), softmax(1));
}

TEST_F(OperatorClassesTest, DifferByTheViewsBehindInputs) {
  const auto behind = [&](const Integers& perm, int times) {
    return of([&](GraphBuilder& b) {
      TensorId x = b.input("x", {4, 4, 4});
      for (int i = 0; i < times; ++i) x = b.add(Op::Transpose, "t" + std::to_string(i), {x}, {{Attr::perm, perm}});
      return b.add(Op::Relu, "r", {x});
    });
  };
  EXPECT_EQ(behind({1, 2, 0}, 1), behind({1, 2, 0}, 1));
  EXPECT_NE(behind({1, 2, 0}, 1), behind({2, 0, 1}, 1));
  EXPECT_NE(behind({1, 2, 0}, 1), behind({1, 2, 0}, 2));
  EXPECT_NE(behind({1, 2, 0}, 0), behind({1, 2, 0}, 1));
}

// What a concatenation shows is sorted by tensor: which comes first counts.
TEST_F(OperatorClassesTest, DifferByTheOrderOfWhatAViewShows) {
  const auto joined = [&](bool reversed, bool same) {
    return of([&](GraphBuilder& b) {
      const TensorId x = b.input("x", {2, 3});
      const TensorId y = same ? x : b.input("y", {2, 3});
      const std::vector<TensorId> parts = reversed ? std::vector{y, x} : std::vector{x, y};
      return b.add(Op::Relu, "r", {b.add(Op::Concat, "c", parts, {{Attr::axis, std::int64_t{0}}})});
    });
  };
  EXPECT_EQ(joined(false, false), joined(false, false));
  EXPECT_NE(joined(false, false), joined(true, false));
  EXPECT_NE(joined(false, false), joined(false, true));
}

TEST_F(OperatorClassesTest, DifferByTheIndicesOfAGather) {
  const auto gather = [&](const Integers& rows) {
    return of([&](GraphBuilder& b) {
      const TensorId indices = b.constant("i", Constant::integers(ElementType::int64, {2}, rows));
      return b.add(Op::Gather, "g", {b.input("x", {5, 3}), indices}, {{Attr::axis, std::int64_t{0}}});
    });
  };
  EXPECT_EQ(gather({0, 4}), gather({0, 4}));
  EXPECT_NE(gather({0, 4}), gather({0, 3}));
}

// A view that is shown many times over is gone through once.
TEST_F(OperatorClassesTest, TakeNoLongerThanThereAreViews) {
  const auto doubled = [&](int times) {
    return of([times](GraphBuilder& b) {
      TensorId x = b.input("x", {1, 1});
      for (int i = 0; i < times; ++i) {
        x = b.add(Op::Concat, "c" + std::to_string(i), {x, x}, {{Attr::axis, std::int64_t{0}}});
      }
      return b.add(Op::Relu, "r", {x});
    });
  };
  EXPECT_EQ(doubled(40), doubled(40));
  EXPECT_NE(doubled(40), doubled(39));
}

TEST_F(OperatorClassesTest, GiveWhatIsStoredBehindEachInput) {
  GraphBuilder builder("graph");
  const TensorId x = builder.input("x", {2, 3});
  const TensorId y = builder.input("y", {2, 3});
  const TensorId both = builder.add(Op::Concat, "c", {y, x, y}, {{Attr::axis, std::int64_t{0}}});
  const TensorId other = builder.input("z", {6, 3});
  builder.output(builder.add(Op::Add, "a", {both, other}));
  const Graph graph = *builder.finish();
  const OperatorClasses classes(graph, numbers_);
  const auto stored = [&](std::size_t input) {
    const auto span = classes.stored(NodeId(1), input);
    return std::vector<TensorId>(span.begin(), span.end());
  };
  EXPECT_EQ(stored(0), (std::vector{x, y}));
  EXPECT_EQ(stored(1), (std::vector{other}));
}

}  // namespace
}  // namespace monet
