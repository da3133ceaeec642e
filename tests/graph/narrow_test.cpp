// Do operators of many inputs mean the same as chains of few?
#include "graph/narrow.h"
#include "support/nest_check.h"
#include "support/same_values.h"

#include <gtest/gtest.h>

namespace monet::test {
namespace {

Counts counts_of_all(const Graph& graph) {
  Counts sum;
  for (const Node& node : graph.nodes()) {
    const auto counts = operation_counts(nests_of(site_of(graph, node)));
    EXPECT_TRUE(counts.has_value());
    for (std::size_t i = 0; i < count_kinds; ++i) sum[static_cast<Count>(i)] += (*counts)[static_cast<Count>(i)];
  }
  return sum;
}

TEST(Narrow, ChainsMeanTheSameAndCountTheSame) {
  for (Op op : {Op::Sum, Op::Max, Op::Min, Op::Mean}) {
    for (std::size_t inputs : {2, 15, 16, 17, 29, 30, 100, 300}) {
      SCOPED_TRACE(fmt::format("{} of {}", name_of(op), inputs));
      const auto graph = single(op, floats(std::vector<Shape>(inputs, {3, 2})));
      ASSERT_TRUE(graph.has_value());
      std::vector<std::string> notes;
      const auto narrow = with_few_inputs(*graph, notes);
      ASSERT_TRUE(narrow.has_value()) << narrow.error().text();
      ASSERT_TRUE(verify(*narrow).has_value());
      EXPECT_EQ(notes.size(), inputs > most_inputs_at_once ? 1 : 0);
      // The first takes 15, each other one what is there and 14 more.
      const std::size_t links = inputs <= 15 ? 1 : 1 + (inputs - 15 + 13) / 14;
      EXPECT_EQ(narrow->nodes().size(), links + (op == Op::Mean && links > 1 ? 1 : 0));
      for (const Node& node : narrow->nodes()) EXPECT_LE(node.inputs.size(), most_inputs_at_once);
      EXPECT_EQ(narrow->nodes().back().name, "node");
      EXPECT_EQ(narrow->outputs, graph->outputs);
      EXPECT_EQ(counts_of_all(*narrow), counts_of_all(*graph));
      expect_same_values(*graph, *narrow, 7, 1e-14);
    }
  }
}

TEST(Narrow, InputsMayBeBroadcast) {
  std::vector<Shape> shapes(20, Shape{1});
  shapes.back() = {4, 3};
  const auto graph = single(Op::Sum, floats(shapes));
  ASSERT_TRUE(graph.has_value());
  std::vector<std::string> notes;
  const auto narrow = with_few_inputs(*graph, notes);
  ASSERT_TRUE(narrow.has_value());
  EXPECT_EQ((*narrow)[narrow->nodes().front().outputs[0]].type.shape, Shape{1});
  expect_same_values(*graph, *narrow, 3, 1e-14);
  ASSERT_EQ(notes.size(), 1);
  EXPECT_NE(notes[0].find("Sum of 20 inputs 'node'"), std::string::npos) << notes[0];
}

TEST(Narrow, WhatIsNarrowStaysAsItIs) {
  const auto graph = single(Op::Concat, floats(std::vector<Shape>(40, Shape{2})), {{Attr::axis, std::int64_t{0}}});
  ASSERT_TRUE(graph.has_value());
  std::vector<std::string> notes;
  EXPECT_EQ(with_few_inputs(*graph, notes)->nodes().size(), 1);
  EXPECT_TRUE(notes.empty());
}

}  // namespace
}  // namespace monet::test
