// Are graphs and devices read as written, and does each mistake get an answer that helps?
#include "remat/reader.h"
#include "support/expect_error.h"

#include <gmock/gmock.h>

namespace monet::remat {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Expected<GraphFile> graph_of(std::string_view text, const Device* device = nullptr) {
  return read_graph(text, "x.json", device);
}

void expect_wrong(std::string_view text, const std::vector<std::string>& words, const std::string& place) {
  const auto graph = graph_of(text);
  ASSERT_FALSE(graph) << text;
  test::expect_error(graph.error(), words, place);
}

Device device() {
  return {.name = "d",
          .flop_per_s = 10,
          .flop_per_j = 5,
          .element_bytes = 4,
          .channel = {.in_latency_s = 1, .in_bytes_per_s = 2, .out_latency_s = 3, .out_bytes_per_s = 4, .power_w = 5}};
}

TEST(RematReader, Checkmate) {
  const auto graph = graph_of(R"({"directed": true, "nodes": [
      {"name": "b", "backward": true, "cost_cpu": 2.5, "cost_ram": 7, "id": 1, "recompute": false},
      {"name": "a", "cost_cpu": 3, "cost_ram": 100, "id": 0}],
      "links": [{"source": 0, "target": 1}, {"source": 0, "target": 1}]})");
  ASSERT_TRUE(graph) << graph.error().text();
  const Problem& problem = graph->problem;
  ASSERT_EQ(problem.size(), 2U);
  EXPECT_EQ(problem.nodes[0].name, "a");
  EXPECT_EQ(problem.nodes[0].bytes, 100);
  EXPECT_TRUE(problem.nodes[0].recomputable);
  EXPECT_EQ(problem.nodes[1].time, 2.5);
  EXPECT_FALSE(problem.nodes[1].recomputable);
  EXPECT_THAT(problem.operands.of(1), ElementsAre(0));
  EXPECT_THAT(problem.users.of(0), ElementsAre(1));
  EXPECT_EQ(problem.operands.size(), 1U);
  EXPECT_FALSE(problem.has_energy);
  EXPECT_FALSE(problem.channel);
  EXPECT_TRUE(graph->notes.empty());
}

TEST(RematReader, Moccasin) {
  const auto graph = graph_of(R"({"graph": {"order": [2, 0, 1]}, "nodes": [
      {"out_cost": 790, "param_cost": 0, "duration": 1, "name": 0},
      {"out_cost": 20, "duration": 2, "name": 1}, {"out_cost": 30, "duration": 3, "name": 2}],
      "links": [{"0": 0, "1": 1}, {"0": 2, "1": 1}]})");
  ASSERT_TRUE(graph) << graph.error().text();
  const Problem& problem = graph->problem;
  EXPECT_EQ(problem.nodes[0].name, "2");
  EXPECT_EQ(problem.nodes[1].bytes, 790);
  EXPECT_EQ(problem.nodes[2].time, 2);
  EXPECT_THAT(problem.operands.of(2), ElementsAre(0, 1));
  EXPECT_EQ(base_peak_bytes(problem), 30 + 790 + 20);
}

TEST(RematReader, Poet) {
  const Device on = device();
  const auto graph = graph_of(R"({"name": "n", "nodes": [
      {"id": 0, "op": "Input", "flop": 0.0, "out_elems": 3, "params": 0.0, "deps": []},
      {"id": 1, "op": "Linear", "flop": 20.0, "out_elems": 2, "deps": [0]}]})",
                              &on);
  ASSERT_TRUE(graph) << graph.error().text();
  const Problem& problem = graph->problem;
  EXPECT_EQ(problem.nodes[1].name, "Linear_1");
  EXPECT_EQ(problem.nodes[1].time, 2);
  EXPECT_EQ(problem.nodes[1].energy_j, 4);
  EXPECT_EQ(problem.nodes[0].bytes, 12);
  EXPECT_TRUE(problem.has_energy);
  EXPECT_EQ(problem.time_unit, TimeUnit::second);
  ASSERT_TRUE(problem.channel);
  EXPECT_EQ(problem.channel->out_s(8), 3 + 8.0 / 4);
}

TEST(RematReader, OrdersThatAreNone) {
  const auto graph =
      graph_of(R"({"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1}, {"id": 1, "cost_cpu": 1, "cost_ram": 2}],
      "edges": [{"source": 1, "target": 0}]})");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->problem.nodes[0].bytes, 2);
  EXPECT_THAT(graph->notes, ElementsAre(HasSubstr("node 0 reads node 1")));
}

TEST(RematReader, TextIdsKeepTheOrderOfTheFile) {
  const auto graph =
      graph_of(R"({"nodes": [{"id": "z", "cost_cpu": 1, "cost_ram": 1}, {"id": "a", "cost_cpu": 1, "cost_ram": 2}],
      "links": [{"source": "z", "target": "a"}]})");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->problem.nodes[0].name, "z");
}

TEST(RematReader, NotJson) {
  expect_wrong("", {"unexpected end of input"}, "x.json:1:1");
  expect_wrong("{\"nodes\":\n [}", {"unexpected '}'"}, "x.json:2:3");
  expect_wrong(R"({"nodes": [{"id": 0, "cost_cpu": NaN, "cost_ram": 1}]})", {"invalid literal"}, "x.json:1:");
  expect_wrong(R"({"nodes": [{"id": 0, "cost_cpu": 1e999, "cost_ram": 1}]})", {"number overflow"}, "x.json");
  expect_wrong(std::string(100, '['), {"nested deeper than 64"}, "x.json:1:65");
  expect_wrong(std::string((std::size_t{16} << 20) + 1, ' '), {"at most 16777216"}, "x.json");
  expect_wrong("\xff\xfe", {"invalid"}, "x.json:1:1");
}

TEST(RematReader, FieldsThatAreWrong) {
  expect_wrong("[]", {"an object is expected", "a list"}, "x.json");
  expect_wrong("{}", {"\"nodes\" is missing"}, "x.json");
  expect_wrong(R"({"node": []})", {"\"nodes\" is missing", "there is \"node\""}, "x.json");
  expect_wrong(R"({"nodes": 3})", {"a list is expected", "a number"}, "x.json: nodes");
  expect_wrong(R"({"nodes": []})", {"no nodes"}, "x.json: nodes");
  expect_wrong(R"({"nodes": [{"id": 0}]})", {"no costs"}, "x.json: nodes[0]");
  expect_wrong(R"({"nodes": ["a"]})", {"no costs"}, "x.json: nodes[0]");
  expect_wrong(R"({"nodes": [{"id": 0, "cost_cpu": 1}]})", {"\"cost_ram\" is missing"}, "x.json: nodes[0]");
  expect_wrong(R"({"nodes": [{"id": 0, "cost_ram": 1, "cost_cpus": 1}]})", {"\"cost_cpu\" is missing", "cost_cpus"},
               "x.json: nodes[0]");
  const auto node = [](const std::string& fields) { return "{\"nodes\": [{" + fields + "}], \"links\": []}"; };
  expect_wrong(node(R"("cost_cpu": 1, "cost_ram": 1)"), {"\"id\" is missing"}, "x.json: nodes[0]");
  expect_wrong(node(R"("id": 1.5, "cost_cpu": 1, "cost_ram": 1)"), {"an id is expected", "1.5"}, "x.json: nodes[0].id");
  expect_wrong(node(R"("id": null, "cost_cpu": 1, "cost_ram": 1)"), {"an id is expected", "null"}, "nodes[0].id");
  expect_wrong(node(R"("id": 0, "cost_cpu": -1, "cost_ram": 1)"), {"-1 is out of range"}, "nodes[0].cost_cpu");
  expect_wrong(node(R"("id": 0, "cost_cpu": "1", "cost_ram": 1)"), {"a number is expected", "a text"},
               "nodes[0].cost_cpu");
  expect_wrong(node(R"("id": 0, "cost_cpu": 1e40, "cost_ram": 1)"), {"out of range"}, "nodes[0].cost_cpu");
  expect_wrong(node(R"("id": 0, "cost_cpu": 1, "cost_ram": 1.5)"), {"whole number"}, "nodes[0].cost_ram");
  expect_wrong(node(R"("id": 0, "cost_cpu": 1, "cost_ram": 1e17)"), {"whole number", "2^53"}, "nodes[0].cost_ram");
  expect_wrong(node(R"("id": 0, "duration": 1, "out_cost": true)"), {"a number is expected", "true or false"},
               "nodes[0].out_cost");
  expect_wrong(node(R"("id": 0, "cost_cpu": 1, "cost_ram": 1, "recompute": 1)"), {"true or false is expected"},
               "nodes[0].recompute");
}

TEST(RematReader, LinksThatAreWrong) {
  const auto links = [](const std::string& text) {
    return R"({"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1}, {"id": 1, "cost_cpu": 1, "cost_ram": 1},
              {"id": 2, "cost_cpu": 1, "cost_ram": 1}], )" +
           text + "}";
  };
  expect_wrong(links(R"("x": 0)"), {"\"links\" is missing"}, "x.json");
  expect_wrong(links(R"("links": 1)"), {"a list is expected"}, "x.json: links");
  expect_wrong(links(R"("links": [{"source": 0}])"), {"\"target\" is missing"}, "x.json: links[0]");
  expect_wrong(links(R"("links": [{"source": 0, "target": 7}])"), {"no node with the id 7"}, "x.json: links[0]");
  expect_wrong(links(R"("links": [{"source": 1, "target": 1}])"), {"node 1 reads itself"}, "x.json: links[0]");
  expect_wrong(
      links(R"("links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}, {"source": 2, "target": 0}])"),
      {"wait for each other", "reads"}, "x.json");
  expect_wrong(links(R"("links": [], "graph": {"order": [0, 1]})"), {"node 2 is not in the order"}, "graph.order");
}

TEST(RematReader, OrdersThatAreWrong) {
  const auto order = [](const std::string& text) {
    return R"({"nodes": [{"name": 0, "duration": 1, "out_cost": 1}, {"name": 1, "duration": 1, "out_cost": 1}],
              "links": [{"0": 0, "1": 1}], "graph": {"order": )" +
           text + "}}";
  };
  expect_wrong(order("[0]"), {"node 1 is not in the order"}, "x.json: graph.order");
  expect_wrong(order("[0, 0]"), {"node 0 is there twice"}, "x.json: graph.order");
  expect_wrong(order("[0, 5]"), {"no node with the id 5"}, "x.json: graph.order");
  expect_wrong(order("[1, 0]"), {"node 1 comes before node 0"}, "x.json: graph.order");
  expect_wrong(order("7"), {"a list is expected"}, "x.json: graph.order");
}

TEST(RematReader, IdsAndSizesTogether) {
  expect_wrong(
      R"({"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1}, {"id": 0, "cost_cpu": 1, "cost_ram": 1}], "links": []})",
      {"the id 0 is that of nodes[0] too"}, "x.json: nodes[1]");
  expect_wrong(R"({"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 9007199254740992},
                             {"id": 1, "cost_cpu": 1, "cost_ram": 1}], "links": []})",
               {"more than 2^53 bytes"}, "x.json: nodes[1]");
  std::string many = R"({"nodes": [)";
  for (int i = 0; i <= 20000; ++i) many += (i == 0 ? "{}" : ",{}");
  expect_wrong(many + "]}", {"20001 entries", "at most 20000"}, "x.json: nodes");
}

TEST(RematReader, PoetNeedsADeviceAndOthersTakeNone) {
  const std::string poet = R"({"nodes": [{"id": 0, "op": "a", "flop": 1, "out_elems": 1, "deps": []}]})";
  expect_wrong(poet, {"operation counts"}, "x.json");
  const Device on = device();
  EXPECT_TRUE(graph_of(poet, &on));
  const auto other = graph_of(R"({"nodes": [{"id": 0, "cost_cpu": 1, "cost_ram": 1}], "links": []})", &on);
  ASSERT_FALSE(other);
  test::expect_error(other.error(), {"times of their own"}, "x.json");
  const auto wrong = [&](const std::string& fields, const std::vector<std::string>& words, const std::string& place) {
    const auto graph = graph_of("{\"nodes\": [{" + fields + "}]}", &on);
    ASSERT_FALSE(graph) << fields;
    test::expect_error(graph.error(), words, place);
  };
  wrong(R"("id": 0, "flop": 1, "out_elems": 1)", {"\"deps\" is missing"}, "nodes[0]");
  wrong(R"("id": 0, "flop": 1, "deps": [])", {"\"out_elems\" is missing"}, "nodes[0]");
  wrong(R"("id": 0, "out_elems": 1, "deps": [])", {"\"flop\" is missing"}, "nodes[0]");
  wrong(R"("id": 0, "flop": 1, "out_elems": 9007199254740992, "deps": [])", {"more than 2^53 bytes"}, "out_elems");
  wrong(R"("id": 0, "flop": 1, "out_elems": 1, "deps": [3])", {"no node with the id 3"}, "nodes[0].deps[0]");
}

std::string profiles(const std::string& more = "") {
  return R"json({"devices": {"mkr1000(m0)": {"FLOPS": 10, "FLOPS_PER_WATT": 20, "PAGEIN_LATENCY": 0.1,
      "PAGEIN_THROUGHPUT": 30, "PAGEOUT_LATENCY": 0.2, "PAGEOUT_THROUGHPUT": 40, "MEMORY_POWER": 0.5, "TYPE": 4},
      "rpi_nocache(a72nocache)": {"FLOPS": 0, "FLOPS_PER_WATT": 1},
      "jetsontx2": {"PAGEIN_LATENCY": 1})json" +
         more + "}}";
}

TEST(RematReader, DevicesByEachOfTheirNames) {
  for (const char* name : {"mkr1000(m0)", "MKR1000", "m0", "mkr-1000"}) {
    const auto found = read_device(profiles(), "p.json", name);
    ASSERT_TRUE(found) << name << ": " << found.error().text();
    EXPECT_EQ(found->name, "mkr1000(m0)");
    EXPECT_EQ(found->flop_per_j, 20);
    EXPECT_EQ(found->channel.in_s(60), 0.1 + 2);
    EXPECT_EQ(found->channel.out_s(40), 0.2 + 1);
    EXPECT_EQ(found->channel.power_w, 0.5);
  }
}

TEST(RematReader, DevicesThatAreWrong) {
  const auto wrong = [](const std::string& text, const std::string& name, const std::vector<std::string>& words,
                        const std::string& advice) {
    const auto found = read_device(text, "p.json", name);
    ASSERT_FALSE(found) << name;
    test::expect_error(found.error(), words, "p.json");
    EXPECT_NE(found.error().advice.find(advice), std::string::npos) << found.error().text();
  };
  wrong(profiles(), "mkr100", {"no device called 'mkr100'"}, "did you mean 'mkr1000'?");
  wrong(profiles(), "abacus", {"no device called 'abacus'"}, "devices are jetsontx2, mkr1000(m0), rpi_nocache");
  wrong(profiles(), "", {"no device called ''"}, "");
  wrong(profiles(), "jetsontx2", {"'jetsontx2' has no FLOPS"}, "choose another");
  wrong(profiles(), "RPiNoCache", {"0 is too little"}, "1e-30");
  wrong(profiles(R"(, "half": {"FLOPS": 1, "FLOPS_PER_WATT": 1})"), "half", {"\"TYPE\" is missing"}, "TYPE");
  wrong(profiles(R"(, "odd": 5)"), "odd", {"an object is expected"}, "FLOPS");
  wrong(R"({"devices": []})", "x", {"an object is expected"}, "names");
  wrong("{}", "x", {"\"devices\" is missing"}, "devices");
  wrong("{", "x", {"unexpected end of input"}, "JSON");
}

}  // namespace
}  // namespace monet::remat
