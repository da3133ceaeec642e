// Does the checker of stacks agree with the search on real steps, and does it find each broken rule?
#include "evaluate/evaluate.h"
#include "evaluate/random_hardware.h"
#include "graph/verify.h"
#include "hardware/reader.h"
#include "optimize/fusion/candidates.h"
#include "optimize/fusion/check.h"
#include "optimize/fusion/price.h"
#include "support/random_network.h"

#include <gtest/gtest.h>

namespace monet::fusion {
namespace {

using test::Random;

Expected<Hardware> small_machine(const std::string& weights = "1 MiB") {
  return read_hardware_text(
      "monet: 1\nname: machine\nclock: 1 GHz\n"
      "memories:\n  dram: {kind: dram, size: 1 GiB, read_energy: 1 pJ, write_energy: 1 pJ, ports: {rw: {width: 64 "
      "bit/cycle}}}\n"
      "cores:\n  core:\n    rate: {operations: {all: 1 GOP/s}, energy: {all: 1 pJ}}\n    memories: {sram: {kind: sram, "
      "size: " +
          weights +
          ", read_energy: 1 pJ, write_energy: 1 pJ, ports: {rw: {width: 64 bit/cycle}}}}\n"
          "links:\n  - {bus: [core, dram], width: 64 bit/cycle}\n",
      "machine.yaml");
}

std::vector<std::vector<NodeId>> with_singles(const Problem& problem, const std::vector<std::vector<NodeId>>& stacks) {
  std::vector<std::vector<NodeId>> all = stacks;
  for (NodeId node : problem.nodes) {
    const bool taken =
        std::ranges::any_of(stacks, [&](const auto& stack) { return std::ranges::find(stack, node) != stack.end(); });
    if (!taken) all.push_back({node});
  }
  return all;
}

class FusionCheck : public ::testing::TestWithParam<int> {};

// Random connected sets of a random step: the search has them as candidates exactly when the checker allows them.
TEST_P(FusionCheck, AgreesWithTheCandidates) {
  Random random(static_cast<std::uint64_t>(GetParam()));
  const auto graph = test::random_step(random);
  ASSERT_TRUE(graph.has_value()) << graph.error().text();
  const auto hardware = small_machine(random.one_of<std::string>({"1 MiB", "256 B", "1 KiB"}));
  ASSERT_TRUE(hardware.has_value()) << hardware.error().text();
  MappingCache cache;
  Evaluator evaluator(*graph, *hardware, cache, {});
  Rules rules;
  rules.limit = static_cast<std::size_t>(random.between(2, 6));
  rules.leaving = static_cast<std::size_t>(random.between(1, 2));
  rules.published = random.chance(0.5);
  const auto problem = make_problem(*graph, evaluator.machine(), rules, evaluator.element_bits());
  ASSERT_TRUE(problem.has_value());
  const Candidates candidates = candidates_of(*problem, rules, Reachability(*problem));
  std::set<std::vector<Index>> known;
  for (std::size_t s = 0; s < candidates.sets.size(); ++s)
    known.insert(std::vector<Index>(candidates.sets[s].begin(), candidates.sets[s].end()));
  std::size_t allowed = 0;
  for (int i = 0; i < 40 && problem->size() > 1; ++i) {
    std::set<Index> set{static_cast<Index>(random.between(0, static_cast<std::int64_t>(problem->size()) - 1))};
    for (std::int64_t grow = random.between(1, 6); grow > 0; --grow) {
      const Index from = *std::next(set.begin(), random.between(0, static_cast<std::int64_t>(set.size()) - 1));
      const auto beside = problem->beside[from];
      if (!beside.empty())
        set.insert(beside[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(beside.size()) - 1))]);
    }
    const std::vector<Index> chosen(set.begin(), set.end());
    const std::vector<std::vector<NodeId>> stacks = with_singles(*problem, {nodes_of(*graph, *problem, chosen)});
    const std::string fault = check_stacks(*graph, *hardware, rules, stacks, evaluator.element_bits());
    if (candidates.complete || known.contains(chosen)) {
      EXPECT_EQ(fault.empty(), known.contains(chosen)) << fault;
    }
    allowed += fault.empty() ? 1 : 0;
  }
  RecordProperty("allowed", static_cast<int>(allowed));
}

INSTANTIATE_TEST_SUITE_P(Random, FusionCheck, ::testing::Range(0, 60));

class FusionRules : public ::testing::Test {
 protected:
  // x -> relu0 -> relu1 -> relu2 -> relu3, and relu1 also to sigmoid; conv0 -> conv1 -> ... beside them.
  FusionRules() : builder_("rules") {
    TensorId x = builder_.input("x", {1, 4, 8, 8});
    for (int i = 0; i < 4; ++i) {
      x = builder_.add(Op::Relu, "relu" + std::to_string(i), {x});
      if (i == 1) side_ = builder_.add(Op::Sigmoid, "sigmoid", {x});
    }
    builder_.output(builder_.add(Op::Add, "join", {x, side_}));
    TensorId y = builder_.input("y", {1, 4, 8, 8});
    for (int i = 0; i < 5; ++i) {
      const TensorId w = builder_.parameter("w" + std::to_string(i), {4, 4, 1, 1});
      y = builder_.add(Op::Conv, "conv" + std::to_string(i), {y, w},
                       {{Attr::strides, std::vector<std::int64_t>{1, 1}},
                        {Attr::dilations, std::vector<std::int64_t>{1, 1}},
                        {Attr::pads, std::vector<std::int64_t>{0, 0, 0, 0}},
                        {Attr::group, std::int64_t{1}}});
    }
    const TensorId rows = builder_.add(Op::Reshape, "rows", {y}, {{Attr::shape, std::vector<std::int64_t>{32, 8}}});
    const TensorId w = builder_.parameter("w", {8, 6});
    const TensorId v = builder_.parameter("v", {6, 3});
    const TensorId product = builder_.add(Op::MatMul, "product0", {rows, w});
    const TensorId again = builder_.add(Op::MatMul, "product1", {product, v});
    builder_.output(builder_.add(Op::Relu, "last", {again}));
    graph_ = *builder_.finish();
  }

  std::string check(const std::vector<std::string>& names, const Rules& rules = {}, const std::string& room = "1 MiB") {
    const auto hardware = small_machine(room);
    EXPECT_TRUE(hardware.has_value());
    std::vector<NodeId> stack;
    std::vector<std::vector<NodeId>> stacks;
    for (std::size_t n = 0; n < graph_.nodes().size(); ++n) {
      if (std::ranges::find(names, graph_.nodes()[n].name) != names.end()) {
        stack.emplace_back(n);
      } else if (family_of(graph_.nodes()[n].op) != OpFamily::view) {
        stacks.push_back({NodeId(n)});
      }
    }
    stacks.push_back(stack);
    return check_stacks(graph_, *hardware, rules, stacks, std::vector<StoredWidth>(graph_.tensors().size(), 32));
  }

  GraphBuilder builder_;
  TensorId side_;
  Graph graph_;
};

TEST_F(FusionRules, AllowsWhatKeepsThem) {
  EXPECT_EQ(check({"relu0", "relu1"}), "");
  EXPECT_EQ(check({"conv0", "conv1", "conv2"}), "");
  EXPECT_EQ(check({"conv4", "product0"}), "");  // through a view
}

TEST_F(FusionRules, FindsEachThatIsBroken) {
  const auto broken = [&](const std::vector<std::string>& names, const std::string& what, const Rules& rules = {},
                          const std::string& room = "1 MiB") {
    EXPECT_NE(check(names, rules, room).find(what), std::string::npos) << check(names, rules, room);
  };
  Rules small;
  small.limit = 2;
  broken({"relu0", "relu1", "sigmoid"}, "3 operators", small);
  broken({"conv0", "conv1", "conv2", "conv3"}, "4 convolutions");
  broken({"product0", "product1"}, "2 products");
  broken({"conv3", "conv4", "product0"}, "2 convolutions beside a product");
  broken({"relu1", "relu2"}, "2 operators have readers outside");
  broken({"relu0", "last"}, "not connected", [] {
    Rules rules;
    rules.leaving = 2;
    return rules;
  }());
  broken({"conv0", "conv1"}, "bytes of weights on core", {}, "100 B");
  Rules any;
  any.leaving = 3;
  broken({"relu1", "relu2", "relu3", "join"}, "wait for each other", any);  // past the sigmoid
}

TEST_F(FusionRules, FindsOperatorsThatAreLeftOutOrTwice) {
  const auto hardware = small_machine();
  const std::vector<StoredWidth> bits(graph_.tensors().size(), 32);
  const std::vector<std::vector<NodeId>> none;
  EXPECT_EQ(check_stacks(graph_, *hardware, {}, none, bits), "relu0 is in no stack");
  const std::vector<std::vector<NodeId>> twice{{NodeId(0)}, {NodeId(0)}};
  EXPECT_EQ(check_stacks(graph_, *hardware, {}, twice, bits), "relu0 is in two stacks");
}

TEST_F(FusionRules, TilingsMustDivide) {
  // Rows of 32 against channels of 6: the product's second axis is what an activation is tiled along.
  GraphBuilder builder("tilings");
  const TensorId x = builder.input("x", {32, 8});
  const TensorId w = builder.parameter("w", {8, 6});
  builder.output(builder.add(Op::Relu, "relu", {builder.add(Op::MatMul, "product", {x, w})}));
  const Graph graph = *builder.finish();
  const auto hardware = small_machine();
  const std::vector<std::vector<NodeId>> stacks{{NodeId(0), NodeId(1)}};
  const std::vector<StoredWidth> bits(graph.tensors().size(), 32);
  EXPECT_NE(check_stacks(graph, *hardware, {}, stacks, bits).find("tiles of product and relu"), std::string::npos);
  Rules any;
  any.divisible_tilings = false;
  EXPECT_EQ(check_stacks(graph, *hardware, any, stacks, bits), "");
}

}  // namespace
}  // namespace monet::fusion
