// Does a machine run what it can, in parts where it must, and say all that it cannot?
#include "evaluate/open/runnable.h"
#include "evaluate/plan/part.h"
#include "hardware/reader.h"
#include "support/nest_check.h"
#include "support/same_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An array for products and vector lanes with these operations for the rest.
Hardware array_and_vector(const std::string& operations, const std::string& array_runs = "[contraction]") {
  const std::string memories = "memories: {main: {use: main}}";
  const auto hardware = read_hardware_text(
      "monet: 1\nname: machine\nclock: 1 GHz\nmemories:\n"
      "  main: {kind: dram, size: 1 GiB, read_energy: 1 pJ, write_energy: 1 pJ, "
      "ports: {rw: {kind: read_write, width: 64 bit/cycle}}}\n"
      "cores:\n"
      "  pe: {operators: " +
          array_runs +
          ", array: {dimensions: {K: {size: 4, loops: [K]}}, "
          "operations: {mac: {cycles: 1, energy: 1 pJ}, multiply: {cycles: 1, energy: 1 pJ}}}, " +
          memories +
          "}\n"
          "  simd: {operators: [elementwise, reduction, generate], vector: {lanes: 4, operations: {" +
          operations + "}}, " + memories + "}\n",
      "machine.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return hardware ? *hardware : Hardware();
}

const Attributes causal = {{Attr::scale, 0.5}, {Attr::softcap, 0.0}, {Attr::is_causal, std::int64_t{1}}};

Graph attention_graph() {
  return *single(Op::Attention, floats({{2, 4, 3, 2}, {2, 2, 5, 2}, {2, 2, 5, 3}}), causal, 2);
}

TEST(Runnable, WhatNoCoreRunsWholeRunsInItsParts) {
  const Hardware hardware = array_and_vector("all: {cycles: 1, energy: 1 pJ}");
  const Graph graph = attention_graph();
  ASSERT_EQ(unrunnable_operators(graph, hardware).size(), 1);
  const auto expanded = expanded_for(graph, hardware, {});
  ASSERT_TRUE(expanded.has_value()) << expanded.error().text();
  EXPECT_THAT(expanded->names, ElementsAre("node"));
  EXPECT_THAT(expanded->notes, ElementsAre(HasSubstr("no core of machine runs Attention: 1 runs")));
  EXPECT_TRUE(unrunnable_operators(expanded->graph, hardware).empty());
  EXPECT_TRUE(verify(expanded->graph).has_value());
  expect_same_values(graph, expanded->graph, 3, 1e-9);
}

TEST(Runnable, WhatACoreRunsStaysWhole) {
  const Hardware hardware = array_and_vector("all: {cycles: 1, energy: 1 pJ}");
  const auto product = single(Op::MatMul, floats({{3, 4}, {5, 4}}),
                              {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{1}}, {Attr::alpha, 0.5}});
  const auto same = expanded_for(*product, hardware, {});
  ASSERT_TRUE(same.has_value());
  EXPECT_TRUE(same->names.empty() && same->notes.empty());
  EXPECT_EQ(same->graph.nodes().size(), 1);
  // Unless a plan has it in parts.
  const std::vector<std::string> also = {"node"};
  EXPECT_GT(expanded_for(*product, hardware, {}, also)->graph.nodes().size(), 1);
}

TEST(Runnable, AllThatIsMissingIsSaidAtOnce) {
  GraphBuilder b("net");
  const TensorId x = b.input("x", {4});
  TensorId y = x;
  for (int i = 0; i < 3; ++i) y = b.add(Op::Exp, "exp" + std::to_string(i), {y});
  b.output(b.add(Op::Tanh, "tanh", {y}));
  const Graph graph = *b.finish();
  const Hardware hardware = array_and_vector("add: {cycles: 1, energy: 1 pJ}");
  const std::vector<Unrunnable> missing = unrunnable_operators(graph, hardware);
  ASSERT_EQ(missing.size(), 2);
  EXPECT_EQ(missing[0].op, "Exp");
  EXPECT_EQ(missing[0].count, 3);
  EXPECT_EQ(missing[0].example, "exp0");
  EXPECT_EQ(missing[1].op, "Tanh");
  EXPECT_THAT(missing[0].reasons, ElementsAre("Exp is not among the operators of core pe",
                                              "no unit of core simd has all of its operations (without exp)"));
  const Error error = unrunnable_error(hardware, missing);
  EXPECT_EQ(error.kind, ErrorKind::infeasible);
  for (const char* word : {"3 Exp (such as 'exp0')", "1 Tanh (such as 'tanh')", "without tanh"}) {
    EXPECT_THAT(error.message, HasSubstr(word));
  }
}

// Definitions of one type may differ.
TEST(Runnable, AbilitiesTellMachinesApart) {
  const auto able = [](const std::string& operations) { return abilities_of(array_and_vector(operations)); };
  EXPECT_EQ(able("add: {cycles: 1, energy: 1 pJ}"), able("add: {cycles: 2, energy: 3 pJ}"));
  EXPECT_NE(able("add: {cycles: 1, energy: 1 pJ}"), able("exp: {cycles: 1, energy: 1 pJ}"));
}

TEST(PlanForPart, LeavesOutWhatThePartHasNot) {
  GraphBuilder b("net");
  const TensorId first = b.add(Op::Relu, "first", {b.input("x", {4})});
  b.set_phase(Phase::optimizer);
  b.output(b.add(Op::Relu, "update.last", {first}));
  const Graph whole = *b.finish();
  Graph part = whole;
  part.set_nodes({whole.nodes()[0]});
  Plan plan;
  plan.operators = {{.name = "first"}, {.name = "update.last"}, {.name = "update.*"}, {.name = "*"}, {.name = "other"}};
  plan.stacks = {{.operators = {"first", "update.last"}}, {.operators = {"update.last"}}};
  const Plan left = plan_for_part(plan, whole, part);
  std::vector<std::string> names;
  for (const PlannedOperator& each : left.operators) names.push_back(each.name);
  // What neither has is a mistake that the binder tells.
  EXPECT_THAT(names, ElementsAre("first", "*", "other"));
  ASSERT_EQ(left.stacks.size(), 1);
  EXPECT_THAT(left.stacks[0].operators, ElementsAre("first"));
}

}  // namespace
}  // namespace monet::test
