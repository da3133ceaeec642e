// Where one core runs all: does an update follow its gradient where that cannot stay, and only there?
#include "evaluate/evaluate_case.h"
#include "training/step.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;

constexpr int layers = 4;

// x -> fc1 -> tanh1 -> fc2 … with weights of 32 x 32, trained.
Graph perceptron() {
  GraphBuilder b("perceptron");
  TensorId x = b.input("x", {4, 32});
  for (int i = 1; i <= layers; ++i) {
    const std::string number = std::to_string(i);
    x = b.add(Op::MatMul, "fc" + number, {x, b.parameter("w" + number, {32, 32})},
              {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}});
    x = b.add(Op::Tanh, "tanh" + number, {x});
  }
  b.output(x);
  auto step = training::make_training_step({finished(b), false, {}, {}},
                                           {.loss = {.kind = training::LossKind::mean_squared_error}});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? std::move(step->graph) : Graph();
}

std::string one_core_machine(int kib) {
  return "memories:\n  " + memory("main", "dram", "1 MiB", 64) + "\ncores:\n" +
         rate_core("c0", memory("local", "sram", std::to_string(kib) + " KiB", 64) + ", main: {use: main}");
}

// The update of the last layer before the way back has come to the first.
bool updates_at_once(const Case& c) {
  const std::string last = "w" + std::to_string(layers) + ".update";
  return c.tiles(last).back().start < c.tiles("tanh1.grad.TanhGrad").front().start;
}

TEST(OneCoreOrder, AnUpdateFollowsItsGradientWhereNotAllCanStay) {
  // Four gradients of weights take 16 KiB by themselves.
  EXPECT_TRUE(updates_at_once(Case(perceptron(), one_core_machine(8))));
}

TEST(OneCoreOrder, WhereAllStaysTheLongestWayComesFirst) {
  EXPECT_FALSE(updates_at_once(Case(perceptron(), one_core_machine(512))));
}

TEST(OneCoreOrder, WhatThePlanSaysIsLeftAlone) {
  EXPECT_FALSE(updates_at_once(Case(perceptron(), one_core_machine(8), "order: graph\n")));
}

}  // namespace
}  // namespace monet
