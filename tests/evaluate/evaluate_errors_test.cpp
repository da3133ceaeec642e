// What cannot be carried out says so, and what can be by streaming is.
#include "evaluate/evaluate_case.h"
#include "training/step.h"

#include <fmt/format.h>

namespace monet {
namespace {

using namespace test;

Graph square_product(std::int64_t size) {
  GraphBuilder b("product");
  b.output(b.add(Op::MatMul, "fc", {b.input("x", {size, size}), b.parameter("w", {size, size})},
                 {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  return finished(b);
}

// tanh is saved for the backward part; `aside` reads it too, for a result that the loss does not see.
Graph step_with_aside() {
  GraphBuilder b("step");
  const TensorId made = b.add(Op::Tanh, "tanh", {b.add(Op::Mul, "mul", {b.input("x", {8}), b.parameter("w", {8})})});
  b.output(b.add(Op::Neg, "result", {made}));
  b.output(b.add(Op::Neg, "aside", {made}));
  auto step = training::make_training_step({finished(b), false, {}, {}},
                                           {.loss = {.kind = training::LossKind::mean_squared_error}});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? std::move(step->graph) : Graph();
}

const std::string with_slow_flash =
    "memories:\n  " + memory("main", "sram", "1 MiB", 64) +
    "\n  flash: {kind: storage, size: 1 MiB, ports: {rw: {width: 8 bit/cycle}}}\ncores:\n" +
    rate_core("c0", "main: {use: main}, flash: {use: flash}");

TEST(EvaluateErrors, ReasonsWhyNoCoreCanRunItAreGivenOnce) {
  GraphBuilder b("exp");
  b.output(b.add(Op::Exp, "exp", {b.input("x", {4})}));
  std::string cores = "cores:\n";
  // Five kinds, of which three have the same reason.
  for (const char* operations : {"mac", "add", "multiply", "divide", "compare"}) {
    cores += fmt::format(
        "  {0}: {{count: 3, type: core, vector: {{lanes: 2, operations: {{{0}: {{cycles: 1, energy: 1 pJ}}}}}}, "
        "memories: {{main: {{use: main}}}}}}\n",
        operations);
  }
  const Case c(finished(b), "memories:\n  " + memory("main", "sram", "1 MiB", 64) + "\n" + cores);
  EXPECT_EQ(c.error().kind, ErrorKind::infeasible);
  EXPECT_EQ(c.error().message, "no core can run it: no unit of core core has all of its operations (without exp)");
  EXPECT_EQ(c.error().place, "exp");
}

TEST(EvaluateErrors, OfManyReasonsAFewAreGiven) {
  GraphBuilder b("exp");
  b.output(b.add(Op::Exp, "exp", {b.input("x", {4})}));
  std::string cores = "cores:\n";
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    cores += fmt::format(
        "  {}: {{vector: {{lanes: 2, operations: {{add: {{cycles: 1, energy: 1 pJ}}}}}}, memories: {{main: {{use: "
        "main}}}}, operators: [Exp]}}\n",
        name);
  }
  // Kinds that differ in what they cost.
  std::size_t lanes = 2;
  for (std::size_t at = cores.find("lanes: 2"); at != std::string::npos; at = cores.find("lanes: 2", at + 1)) {
    cores[at + 7] = static_cast<char>('0' + ++lanes);
  }
  const Case c(finished(b), "memories:\n  " + memory("main", "sram", "1 MiB", 64) + "\n" + cores);
  EXPECT_EQ(
      c.error().message,
      "no core can run it: no unit of core a has all of its operations (without exp); no unit of core b has all of "
      "its operations (without exp); no unit of core c has all of its operations (without exp); and 2 more");
}

TEST(EvaluateErrors, PagingToWhereItIs) {
  const Case c(step_with_aside(), with_slow_flash, "tensors: {tanh.out: {page: main}}\n");
  EXPECT_EQ(c.error().kind, ErrorKind::user);
  EXPECT_EQ(c.error().text(),
            "tanh.out: paging it to main moves nothing: it is there anyway (page it to another memory, or keep it)");
}

TEST(EvaluateErrors, PagingWithoutATimeToBeAway) {
  const Graph step = step_with_aside();
  std::string backward;
  for (const Node& node : step.nodes()) {
    if (node.phase == Phase::backward && node.op == Op::TanhGrad) backward = node.name;
  }
  const Case c(
      step, with_slow_flash,
      fmt::format("order: listed\nstacks: [[\"{}\"], [aside]]\ntensors: {{tanh.out: {{page: flash}}}}\n", backward));
  EXPECT_EQ(c.error().kind, ErrorKind::user);
  EXPECT_EQ(c.error().place, "tanh.out");
  EXPECT_EQ(c.error().message,
            "it cannot be paged out: in this order the backward part is done with it before the forward part is");
  // By readiness the backward part waits.
  const Case waits(step, with_slow_flash, "tensors: {tanh.out: {page: flash}}\n");
  EXPECT_EQ(waits.transfers("tanh.out", TransferKind::page_in).size(), 1U);
}

TEST(EvaluateErrors, PathsThatNeverMeet) {
  const auto level = [](const std::string& name, const std::string& paths) {
    const std::string text = memory(name, "sram", "1 MiB", 64);
    return text.substr(0, text.size() - 1) + ", paths: [" + paths + "]}";
  };
  const Case c(square_product(4),
               "cores:\n" + rate_core("c0", level("acts", "input, output") + ", " + level("weights", "weight")));
  EXPECT_EQ(
      c.error().text(),
      "c0: its paths end in different memories, c0/acts and c0/weights (give it one above them, for input, weight and "
      "output)");
}

TEST(EvaluateErrors, ACoreWithoutMemory) {
  const Case c(square_product(4), "cores:\n  c0: {rate: {operations: {all: 1 GOP/s}}}\n");
  EXPECT_EQ(c.error().text(), "c0: it has no memory for the path 'input' (give it one, or join it to one by a link)");
}

TEST(EvaluateErrors, NoWayBack) {
  const Case c(square_product(4), "memories:\n  " + memory("dram", "dram", "1 GiB", 64) + "\ncores:\n" +
                                      rate_core("c0", memory("sram", "sram", "1 MiB", 64) + ", dram: {use: dram}") +
                                      "links:\n  - {link: [dram, c0], width: 8 bit/cycle, one_way: true}\n");
  EXPECT_EQ(c.error().text(), "machine: nothing leads from c0/sram to dram (join them by a link)");
}

// An element of four bytes comes and one goes.
TEST(EvaluateErrors, AMemoryTooSmallForOneElement) {
  const Case c(chain(1, 64),
               "memories:\n  " + memory("dram", "dram", "1 GiB", 64) +
                   "\ncores:\n  c0:\n    vector: {lanes: 1, operations: {all: {cycles: 1, energy: 1 pJ}}}\n"
                   "    memories: {" +
                   memory("sram", "sram", "7 B", 32) + ", dram: {use: dram}}\n");
  EXPECT_EQ(c.error().kind, ErrorKind::infeasible);
  EXPECT_TRUE(c.error().message.starts_with("a tile of it cannot run on core c0: ")) << c.error().text();
  EXPECT_EQ(c.error().place, "op0");
}

TEST(EvaluateErrors, WhatDoesNotFitStreams) {
  const auto machine = [](const std::string& size) {
    return "memories:\n  " + memory("dram", "dram", "1 GiB", 64) +
           "\ncores:\n  c0:\n    array: {dimensions: {K: 4, C: 4}, operations: {all: {cycles: 1, energy: 1 pJ}}, "
           "precisions: "
           "{int8: {rate: 1, accumulate: int32}}}\n    memories: {" +
           memory("sram", "sram", size, 64) + ", dram: {use: dram}}\n";
  };
  const auto streamed = [](const Case& c) { return c.schedule().costs[c.tiles("fc")[0].cost].streamed; };
  // Three matrices of 256 bytes; an operator alone takes half of a memory at most.
  EXPECT_EQ(streamed(Case(in_bytes(square_product(16)), machine("64 KiB"))), 0);
  for (const char* size : {"1535 B", "1000 B", "800 B", "600 B", "300 B", "128 B"}) {
    EXPECT_NE(streamed(Case(in_bytes(square_product(16)), machine(size))), 0) << size;
  }
  GraphBuilder b("stack");
  TensorId x = b.input("x", {16, 16});
  for (const char* name : {"fc", "fc2"}) {
    x = b.add(Op::MatMul, name, {x, b.parameter(std::string(name) + ".w", {16, 16})},
              {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
  }
  b.output(x);
  const Graph stack = in_bytes(finished(b));
  // In a stack it may have all of it.
  EXPECT_EQ(streamed(Case(stack, machine("768 B"), "stacks: [[fc, fc2]]\n")), 0);
  for (const char* size : {"767 B", "600 B", "300 B", "128 B"}) {
    EXPECT_NE(streamed(Case(stack, machine(size), "stacks: [[fc, fc2]]\n")), 0) << size;
  }
}

}  // namespace
}  // namespace monet
