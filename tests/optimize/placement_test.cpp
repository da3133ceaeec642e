// Does the search for cores find the best of all, and never anything worse than the policy?
#include "optimize/placement/placement.h"

#include "evaluate/open/hardware.h"
#include "optimize/memory/exact.h"
#include "optimize/memory_case.h"
#include "support/in_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace monet {
namespace {

using namespace test;

// Three cores over one memory: one fast and hungry, two slow and frugal.
Hardware three_cores() {
  std::string text =
      "monet: 1\nname: three\nclock: 1 GHz\nmemories:\n"
      "  ram: {kind: sram, size: 64 MiB, ports: {rw: {width: 64 bit/cycle}}, read_energy: 1 pJ, write_energy: 1 pJ}\n"
      "cores:\n";
  const auto core = [&](const char* name, int rate, int energy) {
    text += std::string("  ") + name + ":\n    rate: {operations: {all: " + std::to_string(rate) +
            " GOP/s}, energy: {all: " + std::to_string(energy) + " pJ}}\n    memories: {ram: {use: ram}}\n";
  };
  core("fast", 3, 9);
  core("slow0", 1, 2);
  core("slow1", 1, 2);
  auto hardware = read_hardware_text(text, "three.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

struct PlacementCase {
  Graph graph = training_step_of("mlp-robotics:inputs=4,hidden=8,outputs=4,layers=1", 4);
  Hardware hardware = three_cores();
  MappingCache cache;
  EvaluatorOptions how;
  Plan plan;

  // All but some operators stay on one core.
  explicit PlacementCase(const std::set<std::string>& free) {
    for (const Node& node : graph.nodes()) {
      if (family_of(node.op) == OpFamily::view || free.contains(node.name)) continue;
      plan.operators.push_back({.name = node.name, .cores = {"slow0"}});
    }
  }

  Placement placed(const PlacementOptions& options) {
    const auto found = place(graph, hardware, cache, how, plan, {}, options);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().text());
    return *found;
  }
};

using FrontObjectives = std::set<std::vector<double>>;

FrontObjectives objectives_of(const Placement& placement) {
  FrontObjectives result;
  for (const PlacedPlan& placed : placement.front) result.insert({placed.price.cycles, placed.price.energy_pj});
  return result;
}

TEST(Placement, ALongSearchFindsTheFrontOfAllChoices) {
  PlacementCase example({"layers.0", "relu.0", "layers.1"});
  Pricer pricer(example.graph, example.hardware, example.cache, example.how);
  const PlacementSpace space(pricer.original(), example.hardware, example.plan);
  ASSERT_EQ(space.classes(), 3U);  // the others are decided
  const std::vector<std::uint16_t> choices = space.choices();
  std::vector<GeneticPoint> all;
  for (std::size_t i = 0; i < static_cast<std::size_t>(plans_in(choices)); ++i) {
    GeneticPoint point{.genome = genome_at(choices, i), .objectives = {}};
    const auto priced = pricer.price(space.apply(example.plan, point.genome));
    ASSERT_TRUE(priced.has_value()) << priced.error().text();
    ASSERT_TRUE(pricer.check(*priced).has_value());
    point.objectives = {priced->price.cycles, priced->price.energy_pj};
    all.push_back(std::move(point));
  }
  ASSERT_GT(all.size(), 20U);
  FrontObjectives expected;
  for (const GeneticPoint& point : front_of(std::move(all))) expected.insert(point.objectives);
  EXPECT_EQ(objectives_of(example.placed({.population = 40, .generations = 60})), expected);
  EXPECT_GT(expected.size(), 1U);  // the fast core costs energy
}

TEST(Placement, IsNeverWorseThanThePolicyAndBinds) {
  auto hardware = open_hardware("monet_2x2", {});
  ASSERT_TRUE(hardware.has_value());
  const Graph graph = in_bytes(training_step_of("mlp-robotics:hidden=32", 16));
  MappingCache cache;
  EvaluatorOptions how;
  how.cost.search.factors = 3;
  Pricer pricer(graph, *hardware, cache, how);
  const auto policy = pricer.price(Plan());
  ASSERT_TRUE(policy.has_value());
  for (const SearchObjective objective : {SearchObjective::latency, SearchObjective::energy}) {
    std::vector<std::vector<FrontObjectives>> answers;
    for (const std::size_t jobs : {1, 2}) {
      const auto found = place(graph, *hardware, cache, how, Plan(), {},
                               {.objective = objective, .population = 8, .generations = 2, .jobs = jobs});
      ASSERT_TRUE(found.has_value()) << found.error().text();
      double best = std::numeric_limits<double>::infinity();
      for (const PlacedPlan& placed : found->front) {
        best = std::min(best, value_of(placed.price, objective));
        const auto again = pricer.price(placed.plan);
        ASSERT_TRUE(again.has_value()) << again.error().text();
        EXPECT_EQ(again->price.cycles, placed.price.cycles);
        EXPECT_EQ(again->price.energy_pj, placed.price.energy_pj);
        EXPECT_TRUE(pricer.check(*again).has_value());
      }
      EXPECT_LE(best, value_of(policy->price, objective));
      answers.push_back({objectives_of(*found)});
    }
    EXPECT_EQ(answers[0], answers[1]) << "another number of threads";
  }
}

TEST(Placement, KeepsToABudget) {
  PlacementCase example({"layers.0", "relu.0"});
  const MemoryId ram(0);
  Pricer pricer(example.graph, example.hardware, example.cache, example.how);
  const auto start = pricer.price(example.plan);
  ASSERT_TRUE(start.has_value());
  const std::int64_t peak = start->price.peak_bytes[0];
  for (const PlacedPlan& placed : example.placed({.memory = ram, .budget_bytes = peak}).front) {
    EXPECT_LE(placed.price.peak_bytes[0], peak);
  }
  EXPECT_TRUE(example.placed({.memory = ram, .budget_bytes = 1, .generations = 2}).front.empty());
}

TEST(Placement, WhatAPatternSettlesIsNotSearched) {
  PlacementCase example({});
  Pricer pricer(example.graph, example.hardware, example.cache, example.how);
  EXPECT_EQ(PlacementSpace(pricer.original(), example.hardware, example.plan).classes(), 0U);
  Plan plan;
  const std::size_t all = PlacementSpace(pricer.original(), example.hardware, plan).classes();
  plan.operators.push_back({.name = "relu.?", .cores = {"fast"}});
  EXPECT_EQ(PlacementSpace(pricer.original(), example.hardware, plan).classes(), all - 1);
  plan.operators.back() = {.name = "*", .priority = 2.0};  // nothing about cores
  EXPECT_EQ(PlacementSpace(pricer.original(), example.hardware, plan).classes(), all);
}

}  // namespace
}  // namespace monet
