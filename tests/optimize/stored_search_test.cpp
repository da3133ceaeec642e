// Data at home in storage: do parts fit, do they move what they must and no less, is the search's answer what its plan
// gives, and is it above its bound?
#include "evaluate/account/bound.h"
#include "evaluate/account/totals.h"
#include "evaluate/open/known_rows.h"
#include "optimize/memory/bound.h"
#include "optimize/memory/stored.h"
#include "optimize/memory_case.h"
#include "support/expect_error.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace monet {
namespace {

// A byte a cycle from and to flash, 100 pJ for each; a MAC or operation a cycle.
Hardware small_machine(const std::string& ram, const std::string& flash_ports =
                                                   "r: {kind: read, width: 8 bit/cycle}, w: {kind: write, width: 8 "
                                                   "bit/cycle}") {
  const std::string text =
      "monet: 1\nname: tiny\nclock: 1 GHz\nmemories:\n  flash: {kind: storage, size: 64 MiB, ports: {" + flash_ports +
      "}, read_energy: 100 pJ, write_energy: 100 pJ}\n"
      "cores:\n  cpu:\n    rate: {operations: {all: 1 GOP/s}, energy: {all: 2 pJ}}\n    memories:\n      ram: {kind: "
      "sram, size: " +
      ram +
      ", paths: [input, weight, output], ports: {rw: {width: 64 bit/cycle}}, read_energy: 0 pJ, write_energy: 0 pJ}\n"
      "      flash: {use: flash}\n";
  auto hardware = read_hardware_text(text, "tiny.yaml");
  EXPECT_TRUE(hardware.has_value()) << (hardware ? "" : hardware.error().text());
  return *std::move(hardware);
}

MemoryId named(const Hardware& hardware, const std::string& name) {
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    if (hardware.memories[m].name == name) return MemoryId(m);
  }
  return {};
}

// y = x · w, 4 x 16 by 16 x 16: 256, 1024 and 256 bytes.
Graph one_product() {
  GraphBuilder b("product");
  const TensorId x = b.input("x", {4, 16});
  b.output(b.add(Op::MatMul, "fc", {x, b.parameter("w", {16, 16})},
                 {{Attr::trans_a, std::int64_t{0}}, {Attr::trans_b, std::int64_t{0}}, {Attr::alpha, 1.0}}));
  return *b.finish();
}

struct Moved {
  std::int64_t in = 0, out = 0;
};
Moved moved_bytes(const Schedule& schedule, MemoryId storage) {
  Moved moved;
  for (const ScheduledTransfer& transfer : schedule.transfers) {
    if (transfer.from == storage) moved.in += transfer.bytes;
    if (transfer.to == storage) moved.out += transfer.bytes;
  }
  return moved;
}

Expected<Priced> from_flash(Pricer& pricer, PlanOrder order, double share) {
  Plan plan;
  plan.order = order;
  pricer.set_part_share(share);
  return pricer.price(plan);
}

TEST(StoredHome, AProductThatDoesNotFitMovesEachByteOnce) {
  // All of it is 1536 bytes. With columns in two halves a part has x, half of w and half of y: 256 + 512 + 128.
  const Graph graph = one_product();
  const Hardware hardware = small_machine("1 KiB");
  MappingCache cache;
  const MemoryId flash = named(hardware, "flash");
  Pricer pricer(graph, hardware, cache, {.home = {.memory = flash}});
  const auto priced = from_flash(pricer, PlanOrder::graph, 1);
  ASSERT_TRUE(priced.has_value()) << priced.error().text();
  const Moved moved = moved_bytes(priced->evaluated.schedule, flash);
  EXPECT_EQ(moved.in, 256 + 1024);
  EXPECT_EQ(moved.out, 256);
  // 1024 MACs at 2 pJ, and 100 pJ a byte each way.
  EXPECT_NEAR(priced->price.energy_pj, 2.0 * 1024 + 100.0 * (256 + 1024 + 256), 1e-6);
  EXPECT_TRUE(pricer.check(*priced).has_value());
  EXPECT_LE(*pricer.packed_peak(*priced, named(hardware, "cpu/ram")), 1024);
}

TEST(StoredHome, EveryStepFitsWhateverTheRoom) {
  const Graph graph = test::training_step_of("mlp-robotics:hidden=64", 8);
  for (const char* ram : {"16 KiB", "64 KiB", "512 KiB"}) {
    const Hardware hardware = small_machine(ram);
    MappingCache cache;
    const MemoryId flash = named(hardware, "flash"), memory = named(hardware, "cpu/ram");
    Pricer pricer(graph, hardware, cache, {.home = {.memory = flash}});
    for (const PlanOrder order : {PlanOrder::graph, PlanOrder::frugal, PlanOrder::critical_path}) {
      const auto priced = from_flash(pricer, order, 0.45);
      ASSERT_TRUE(priced.has_value()) << ram << ": " << priced.error().text();
      const Status checked = pricer.check(*priced);
      EXPECT_TRUE(checked.has_value()) << ram << ": " << (checked ? "" : checked.error().text());
      EXPECT_LE(priced->price.peak_bytes[memory.index()], hardware[memory].size_bits / 8);
      // Weights and moments come at least once, and go back as new ones.
      std::int64_t outlives = 0;
      for (const Tensor& tensor : graph.tensors()) {
        const bool kept = tensor.role == Role::weight || tensor.role == Role::optimizer_state;
        if (kept && !tensor.producer.valid()) outlives += 4 * element_count(tensor.type.shape);
      }
      const Moved moved = moved_bytes(priced->evaluated.schedule, flash);
      EXPECT_GE(moved.in, outlives);
      EXPECT_GE(moved.out, outlives);
      // No schedule does better than the bounds.
      const ScheduledStep scheduled = priced->scheduled(hardware);
      const Bounds bounds = bounds_of(scheduled, priced->variant->evaluator.operator_bounds());
      EXPECT_LE(bounds.cycles, priced->price.cycles * (1 + 1e-9));
      EXPECT_LE(bounds.pj, priced->price.energy_pj * (1 + 1e-9));
    }
  }
}

TEST(StoredHome, MoreRoomMovesNoMore) {
  const Graph graph = test::training_step_of("mlp-robotics:hidden=64", 8);
  double before = std::numeric_limits<double>::infinity();
  for (const char* ram : {"16 KiB", "64 KiB", "512 KiB"}) {
    test::MemoryCase example(Graph(graph), small_machine(ram), {.page_static = true});
    const MemoryId memory = named(example.hardware_, "cpu/ram");
    const MemoryGoal goal{.objective = SearchObjective::energy,
                          .budget_bytes = example.hardware_[memory].size_bits / 8};
    const auto answer =
        search_stored(example.prices_->input(), goal, named(example.hardware_, "flash"), {.evaluations = 12});
    ASSERT_TRUE(answer.has_value()) << answer.error().text();
    ASSERT_TRUE(answer->best.has_value()) << answer->failure;
    EXPECT_LE(answer->best->peak_bytes, goal.budget_bytes);
    EXPECT_LE(answer->best->price.energy_pj, before);
    before = answer->best->price.energy_pj;
  }
}

TEST(StoredHome, ItsPlanGivesTheSameAgainAndIsAboveTheBound) {
  test::MemoryCase example(test::training_step_of("mlp-robotics:hidden=64", 8), small_machine("8 KiB"),
                           {.page_static = true});
  const MemoryId flash = named(example.hardware_, "flash");
  const MemoryGoal goal{.objective = SearchObjective::energy, .budget_bytes = 8 * 1024};
  const auto answer = search_stored(example.prices_->input(), goal, flash, {.evaluations = 20});
  ASSERT_TRUE(answer.has_value()) << answer.error().text();
  ASSERT_TRUE(answer->best.has_value()) << answer->failure;
  const auto read = plan_from(to_yaml(answer->best->plan), "plan.yaml");
  ASSERT_TRUE(read.has_value()) << read.error().text();
  EXPECT_EQ(read->home, "flash");
  EXPECT_GT(read->room_bytes, 0);
  const auto choice = home_choice(example.hardware_, read->home, read->room_bytes);
  ASSERT_TRUE(choice.has_value());
  const Graph graph = with_known_rows(example.graph_);
  Pricer pricer(graph, example.hardware_, example.cache_, {.home = *choice});
  const auto again = pricer.price(*read);
  ASSERT_TRUE(again.has_value()) << again.error().text();
  EXPECT_EQ(again->price.cycles, answer->best->price.cycles);
  EXPECT_EQ(again->price.energy_pj, answer->best->price.energy_pj);

  Pricer as_it_is(example.graph_, example.hardware_, example.cache_, {});
  const auto priced = as_it_is.price(Plan{});
  ASSERT_TRUE(priced.has_value());
  const MemoryBound bound =
      memory_bound(priced->scheduled(example.hardware_), example.machine_, priced->variant->evaluator.operator_bounds(),
                   *example.space_, example.home(), goal.budget_bytes);
  EXPECT_LE(bound.energy_pj, answer->best->price.energy_pj);
  EXPECT_LE(bound.cycles, answer->best->price.cycles);
  EXPECT_GT(bound.energy_pj, 0.5 * answer->best->price.energy_pj) << "it should say something";
}

TEST(StoredHome, OperandsOfOneOperatorAreTogetherInMemory) {
  const Graph graph = one_product();
  const Hardware hardware = small_machine("1 MiB");
  MappingCache cache;
  Evaluator evaluator(graph, hardware, cache, {});
  EXPECT_EQ(least_in_memory(graph, evaluator.machine(), evaluator.element_bits()), 256 + 1024 + 256);
}

TEST(StoredHome, LookupsReadTheirRowsAlone) {
  GraphBuilder b("lookup");
  const TensorId table = b.parameter("table", {1000, 8});
  const TensorId at = b.input("indices", {4}, ElementType::int64);
  b.output(b.add(Op::Gather, "rows", {table, at}, {{Attr::axis, std::int64_t{0}}}));
  const Graph graph = with_known_rows(*b.finish());
  const Hardware hardware = small_machine("1 KiB");
  MappingCache cache;
  const MemoryId flash = named(hardware, "flash");
  Pricer pricer(graph, hardware, cache, {.home = {.memory = flash}});
  const auto priced = from_flash(pricer, PlanOrder::graph, 1);
  ASSERT_TRUE(priced.has_value()) << priced.error().text();
  EXPECT_EQ(moved_bytes(priced->evaluated.schedule, flash).in, 4 * 8 * 4 + 4 * 8);  // rows, and the indices
}

TEST(StoredHome, WhatCannotBeIsSaid) {
  const Hardware hardware = small_machine("1 KiB");
  const auto unknown = home_choice(hardware, "card");
  ASSERT_FALSE(unknown.has_value());
  test::expect_error(unknown.error(), {"tiny has no storage 'card'"}, "--home");
  const auto read_only = home_choice(small_machine("1 KiB", "r: {kind: read, width: 8 bit/cycle}"), "flash");
  ASSERT_FALSE(read_only.has_value());
  test::expect_error(read_only.error(), {"which can only be read"}, "--home");
  EXPECT_TRUE(homes_in_storage(small_machine("1 KiB", "r: {kind: read, width: 8 bit/cycle}")).empty());
  EXPECT_EQ(homes_in_storage(hardware).size(), 1U);
}

}  // namespace
}  // namespace monet
