// Is the hash the same for the same content, another for other content, and does a plan for something else get refused?
#include "evaluate/plan/hash.h"

#include "evaluate/plan_network.h"
#include "graph/compact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace monet {
namespace {

using testing::HasSubstr;

TEST(PlanHash, IsTheSameForTheSameContent) {
  const Graph step = test::planned_step();
  EXPECT_EQ(hash_of(step).size(), 32U);
  EXPECT_EQ(hash_of(step), hash_of(test::planned_step()));
  Graph renamed = step;
  renamed.name = "another file";
  EXPECT_EQ(hash_of(renamed), hash_of(step));
  // Tensors that nothing refers to, and so other numbers, change nothing.
  Graph moved;
  moved.add_tensor({.name = "unused", .type = {}, .role = {}, .producer = {}, .parameter = false, .updates = {}});
  const auto shifted = [](std::vector<TensorId> ids) {
    for (TensorId& id : ids) id = id.valid() ? TensorId(id.index() + 1) : id;
    return ids;
  };
  for (Tensor tensor : step.tensors()) {
    if (tensor.updates.valid()) tensor.updates = TensorId(tensor.updates.index() + 1);
    moved.add_tensor(tensor);
  }
  for (Node node : step.nodes()) {
    node.inputs = shifted(node.inputs);
    node.outputs = shifted(node.outputs);
    moved.add_node(node);
  }
  for (const auto& [id, constant] : step.constants) moved.constants.emplace(TensorId(id.index() + 1), constant);
  moved.inputs = shifted(step.inputs);
  moved.outputs = shifted(step.outputs);
  EXPECT_EQ(hash_of(moved), hash_of(step));

  Hardware hardware = test::small_hardware();
  const std::string hash = hash_of(hardware);
  EXPECT_EQ(hash.size(), 32U);
  hardware.name = "another";
  hardware.description = "text";
  hardware.notes.push_back("note");
  hardware.origins.clear();
  EXPECT_EQ(hash_of(hardware), hash);
}

TEST(PlanHash, ChangesWithEveryPartOfAGraph) {
  const std::vector<std::function<void(Graph&)>> changes = {
      [](Graph& g) { g[NodeId(0)].name += "x"; },
      [](Graph& g) { g[NodeId(1)].op = Op::Tanh; },
      [](Graph& g) { g[NodeId(1)].phase = Phase::backward; },
      [](Graph& g) { g[NodeId(0)].attributes.set(Attr::group, std::int64_t{3}); },
      [](Graph& g) { g[NodeId(1)].inputs[0] = g.inputs[0]; },
      [](Graph& g) { g[g.inputs[0]].type.shape[0] = 7; },
      [](Graph& g) { g[g.inputs[0]].type.format.element = ElementType::float16; },
      [](Graph& g) { g[g.inputs[0]].type.format.scale_bits = 8; },
      [](Graph& g) { g[g.inputs[0]].name = "z"; },
      [](Graph& g) { g[g.inputs[0]].role = Role::constant; },
      [](Graph& g) { g[g[NodeId(0)].inputs[1]].parameter = false; },
      [](Graph& g) { g[g[NodeId(0)].outputs[0]].updates = g.inputs[0]; },
      [](Graph& g) { g.outputs.push_back(g[NodeId(0)].outputs[0]); },
      [](Graph& g) { g.constants[g[NodeId(0)].inputs[1]] = Constant::reals(ElementType::float32, {1}, {2.0}); },
      [](Graph& g) { g.constants[g[NodeId(0)].inputs[1]] = Constant::reals(ElementType::float32, {1}, {3.0}); },
  };
  std::set<std::string> hashes = {hash_of(test::small_network())};
  for (const auto& change : changes) {
    Graph graph = test::small_network();
    change(graph);
    hashes.insert(hash_of(graph));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST(PlanHash, ChangesWithEveryPartOfAMachine) {
  const std::vector<std::function<void(Hardware&)>> changes = {
      [](Hardware& h) { h.clock_hz *= 2; },
      [](Hardware& h) { h.effects.fill_drain = !h.effects.fill_drain; },
      [](Hardware& h) { h.cores[0].name += "x"; },
      [](Hardware& h) { h.cores[0].operators.push_back("Exp"); },
      [](Hardware& h) { h.cores[0].units[0].cycles[0] = 2; },
      [](Hardware& h) { h.cores[0].units[0].energy_pj[0] = 2; },
      [](Hardware& h) { h.cores[0].units[0].dimensions[0].size = 3; },
      [](Hardware& h) { h.cores[0].units[0].dimensions[0].loops.push_back(Dim::B); },
      [](Hardware& h) { h.cores[0].units[0].precisions[0].rate = 7; },
      [](Hardware& h) { h.cores[0].rate = Rate{}; },
      [](Hardware& h) { h.cores[0].rate.emplace().by_precision.resize(1); },
      [](Hardware& h) { h.cores[0].rate.emplace().by_precision.resize(1, {.operations_per_s = {3}, .energy_pj = {}}); },
      [](Hardware& h) { h.cores[0].units[0].energy_pj_per_cycle = 7; },
      [](Hardware& h) { h.cores[0].levels[0].served ^= 1U; },
      [](Hardware& h) { h.cores[0].levels.pop_back(); },
      [](Hardware& h) { h.cores[0].dataflow.push_back({0, Dim::K, 2}); },
      [](Hardware& h) { h.cores.pop_back(); },
      [](Hardware& h) { h.memories[0].size_bits += 8; },
      [](Hardware& h) { h.memories[0].read_pj += 1; },
      [](Hardware& h) { h.memories[0].ports[0].max_bits += 1; },
      [](Hardware& h) { h.memories[0].read_latency_cycles += 1; },
      [](Hardware& h) { h.links[0].bits_per_cycle += 1; },
      [](Hardware& h) { h.links[0].both_ways = !h.links[0].both_ways; },
      [](Hardware& h) { std::swap(h.links[0].ends[0], h.links[0].ends[1]); },
      [](Hardware& h) { h.static_w += 1; },
  };
  std::set<std::string> hashes = {hash_of(test::small_hardware())};
  for (const auto& change : changes) {
    Hardware hardware = test::small_hardware();
    change(hardware);
    hashes.insert(hash_of(hardware));
  }
  EXPECT_EQ(hashes.size(), changes.size() + 1);
}

TEST(PlanHash, APlanForSomethingElseIsRefusedOrUsedWithAWarning) {
  const Graph step = test::planned_step();
  const Hardware hardware = test::small_hardware();
  const std::string graph_line = "graph: " + hash_of(step) + "\n";
  const std::string hardware_line = "hardware: " + hash_of(hardware) + "\n";
  const auto fine = check_hashes(test::plan_of(graph_line + hardware_line), step, hardware);
  ASSERT_TRUE(fine.has_value()) << fine.error().text();
  EXPECT_TRUE(fine->empty());
  EXPECT_TRUE(check_hashes(Plan(), step, hardware).has_value());

  const Plan other = test::plan_of("graph: 0123456789abcdef0123456789abcdef\n" + hardware_line);
  const auto refused = check_hashes(other, step, hardware);
  ASSERT_FALSE(refused.has_value());
  test::expect_error(refused.error(), {"made for another graph", "0123456789abcdef", hash_of(step)}, "p.yaml:2:8");
  EXPECT_THAT(refused.error().advice, HasSubstr("--force"));
  const auto forced = check_hashes(other, step, hardware, true);
  ASSERT_TRUE(forced.has_value());
  ASSERT_EQ(forced->size(), 1U);
  EXPECT_THAT(forced->front(), HasSubstr("p.yaml:2:8: the plan was made for another graph"));

  const auto machine =
      check_hashes(test::plan_of(graph_line + "hardware: 0123456789abcdef0123456789abcdef\n"), step, hardware);
  ASSERT_FALSE(machine.has_value());
  test::expect_error(machine.error(), {"made for another machine"}, "p.yaml:3:11");
}

}  // namespace
}  // namespace monet
