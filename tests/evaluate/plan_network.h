// A small step and a machine to make plans for.
#pragma once

#include "evaluate/open/hardware.h"
#include "evaluate/plan/reader.h"
#include "graph/builder.h"
#include "support/expect_error.h"
#include "support/onnx_builder.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace monet::test {

// conv1 -> relu1 -> flat (a view) -> fc -> exp -> y, with a branch relu1 -> relu2 -> fc2 -> y.
inline Graph small_network() {
  using Integers = std::vector<std::int64_t>;
  GraphBuilder b("small");
  const Attributes product = {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}};
  const TensorId x = b.input("x", {2, 3, 8, 8});
  const TensorId conv = b.add(Op::Conv, "conv1", {x, b.parameter("conv1.weight", {16, 3, 3, 3})},
                              {{Attr::strides, Integers{1, 1}},
                               {Attr::dilations, Integers{1, 1}},
                               {Attr::pads, Integers{1, 1, 1, 1}},
                               {Attr::group, std::int64_t{1}}});
  const TensorId relu = b.add(Op::Relu, "relu1", {conv});
  const TensorId flat = b.add(Op::Reshape, "flat", {relu}, {{Attr::shape, Integers{2, 1024}}});
  const TensorId fc = b.add(Op::MatMul, "fc", {flat, b.parameter("fc.weight", {1024, 10})}, product);
  const TensorId again = b.add(Op::Relu, "relu2", {flat});
  const TensorId other = b.add(Op::MatMul, "fc2", {again, b.parameter("fc2.weight", {1024, 10})}, product);
  b.output(b.add(Op::Add, "y", {b.add(Op::Exp, "exp", {fc}), other}));
  auto graph = b.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  return *std::move(graph);
}

inline Graph planned_step() {
  auto step = training::make_training_step({small_network(), false, {}, {}},
                                           {.loss = {.kind = training::LossKind::mean_squared_error}});
  EXPECT_TRUE(step.has_value()) << (step ? "" : step.error().text());
  return step ? std::move(step->graph) : Graph();
}

// 2 x 2 cores pe for products, pool, simd, dram.
inline Hardware small_hardware() {
  auto hardware = open_hardware("monet_2x2");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

inline Plan plan_of(const std::string& text) {
  auto plan = plan_from("plan: 1\n" + text, "p.yaml");
  EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().text());
  return plan ? *std::move(plan) : Plan();
}

inline NodeId node_named(const Graph& graph, std::string_view name) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    if (graph.nodes()[i].name == name) return NodeId(i);
  }
  ADD_FAILURE() << "no node " << name;
  return {};
}

}  // namespace monet::test
