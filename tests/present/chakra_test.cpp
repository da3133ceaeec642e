// Does a small schedule become the nodes of a Chakra trace that its definition asks for?
#include "onnx/wire.h"

#include <monet/evaluate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace monet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ReadNode {
  std::uint64_t id = 0, type = 0, start = 0, duration = 0;
  std::string name;
  std::vector<std::uint64_t> control, data;
  std::map<std::string, std::int64_t> numbers;
  std::map<std::string, std::string> texts;
};

void read_attribute(protozero::pbf_reader attribute, ReadNode& node) {
  std::string name;
  while (attribute.next()) {
    switch (attribute.tag()) {
      case 1: name = attribute.get_string(); break;
      case 7: node.numbers[name] = attribute.get_int32(); break;
      case 9: node.numbers[name] = attribute.get_int64(); break;
      case 13: node.numbers[name] = static_cast<std::int64_t>(attribute.get_uint64()); break;
      case 29: node.texts[name] = attribute.get_string(); break;
      default: attribute.skip();
    }
  }
}

ReadNode read_node(protozero::pbf_reader message) {
  ReadNode node;
  while (message.next()) {
    switch (message.tag()) {
      case 1: node.id = message.get_uint64(); break;
      case 2: node.name = message.get_string(); break;
      case 3: node.type = message.get_uint64(); break;
      case 4:
        for (const std::uint64_t on : message.get_packed_uint64()) node.control.push_back(on);
        break;
      case 5:
        for (const std::uint64_t on : message.get_packed_uint64()) node.data.push_back(on);
        break;
      case 6: node.start = message.get_uint64(); break;
      case 7: node.duration = message.get_uint64(); break;
      case 10: read_attribute(message.get_message(), node); break;
      default: ADD_FAILURE() << "field " << message.tag();
    }
  }
  return node;
}

// Without the metadata.
std::vector<ReadNode> nodes_of(const Evaluation& evaluation) {
  std::ostringstream out;
  write_chakra(evaluation, out);
  const std::string text = out.str();
  std::vector<ReadNode> nodes;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool metadata = true; at < end; metadata = false) {
    const auto length = protozero::decode_varint(&at, end);
    if (!metadata) nodes.push_back(read_node(protozero::pbf_reader(at, length)));
    at += length;
  }
  return nodes;
}

// Two tiles on one core, what they need and what the second one gives to another core.
Evaluation traced_evaluation() {
  Evaluation evaluation{.model = "net", .hardware = "machine", .clock_hz = 1e6};
  evaluation.resources = {{.name = "a", .kind = "core"}, {.name = "b", .kind = "core"}};
  evaluation.operators = {
      {.name = "conv", .op = "Conv", .stack = "0", .tiles = 2, .macs = 7, .home_read_bytes = 5, .home_write_bytes = 0},
      {.name = "relu", .op = "Relu", .stack = "1", .tiles = 1, .recomputed = true}};
  evaluation.trace = {
      {.track = "core a",
       .name = "conv",
       .kind = "forward",
       .start = 3,
       .end = 5,
       .wait = EventWait::data,
       .by = 3,
       .operator_row = 0,
       .part = 0},
      {.track = "core a", .name = "conv", .kind = "forward", .start = 5, .end = 9, .operator_row = 0, .part = 1},
      {.track = "core b",
       .name = "relu",
       .kind = "backward",
       .start = 10,
       .end = 12,
       .wait = EventWait::data,
       .by = 4,
       .operator_row = 1},
      {.track = "link bus", .name = "w", .kind = "fetch", .start = 0, .end = 3, .bytes = 100, .from = "dram"},
      {.track = "link a-b",
       .name = "y",
       .kind = "core to core",
       .start = 9,
       .end = 10,
       .bytes = 40,
       .wait = EventWait::data,
       .by = 1,
       .from = "a/sram",
       .to = "b/sram"},
      {.track = "link bus",
       .name = "z",
       .kind = "write back",
       .start = 12,
       .end = 14,
       .bytes = 8,
       .wait = EventWait::data,
       .by = 2,
       .from = "a/sram"},
      {.track = "link sd", .name = "w", .kind = "page out", .start = 14, .end = 20, .bytes = 100, .from = "dram"},
      {.track = "link sd",
       .name = "w",
       .kind = "page in",
       .start = 20,
       .end = 26,
       .bytes = 100,
       .wait = EventWait::data,
       .by = 6,
       .from = "sd"},
  };
  return evaluation;
}

std::vector<std::string> names_of(const std::vector<ReadNode>& nodes) {
  std::vector<std::string> names;
  for (const ReadNode& node : nodes) names.push_back(node.name);
  return names;
}

TEST(Chakra, NodesComeInTheOrderOfTime) {
  EXPECT_THAT(names_of(nodes_of(traced_evaluation())),
              ElementsAre("fetch w", "conv [0]", "conv [1]", "core to core y", "core to core y", "relu", "write back z",
                          "page out w", "page in w"));
}

TEST(Chakra, KindsAreLoadStoreComputeSendAndReceive) {
  std::vector<std::uint64_t> types;
  for (const ReadNode& node : nodes_of(traced_evaluation())) types.push_back(node.type);
  EXPECT_THAT(types, ElementsAre(2, 4, 4, 5, 6, 4, 3, 3, 2));
}

TEST(Chakra, DependenciesAreDataAndTheOrderOnACore) {
  const auto nodes = nodes_of(traced_evaluation());
  EXPECT_THAT(nodes[1].data, ElementsAre(3));  // the fetch
  EXPECT_THAT(nodes[1].control, IsEmpty());
  EXPECT_THAT(nodes[2].control, ElementsAre(0));  // the tile before it
  EXPECT_THAT(nodes[3].data, ElementsAre(1));     // sent by the tile that made it
  EXPECT_THAT(nodes[4].data, ElementsAre(4));
  EXPECT_EQ(nodes[4].id, 8U);  // behind those of all events
  EXPECT_THAT(nodes[5].data, ElementsAre(8)) << "what waits for a transfer waits for its other end";
  EXPECT_THAT(nodes[6].data, ElementsAre(2));
}

TEST(Chakra, ADependencyOnSomethingLaterIsNone) {
  Evaluation evaluation = traced_evaluation();
  for (TraceEvent& event : evaluation.trace) event.wait = EventWait::data;
  evaluation.trace[3].by = 2;    // the fetch at 0 on the tile at 10
  evaluation.trace[1].by = 1;    // on itself
  evaluation.trace[2].by = 999;  // on nothing
  for (const ReadNode& node : nodes_of(evaluation)) {
    if (node.id >= 1 && node.id <= 3) {
      EXPECT_THAT(node.data, IsEmpty());
    }
  }
}

TEST(Chakra, OperationsAndBytesOfAnOperatorAreSharedByItsTiles) {
  const auto nodes = nodes_of(traced_evaluation());
  EXPECT_EQ(nodes[1].numbers.at("num_ops") + nodes[2].numbers.at("num_ops"), 2 * 7);
  EXPECT_EQ(nodes[1].numbers.at("tensor_size"), 2);
  EXPECT_EQ(nodes[2].numbers.at("tensor_size"), 3);
  EXPECT_EQ(nodes[1].texts.at("op"), "Conv");
  EXPECT_EQ(nodes[1].texts.at("operator"), "conv");
  EXPECT_EQ(nodes[1].texts.at("phase"), "forward");
  EXPECT_EQ(nodes[5].texts.at("stack"), "1");
}

TEST(Chakra, SizesCoresAndTimes) {
  const auto nodes = nodes_of(traced_evaluation());
  EXPECT_EQ(nodes[0].numbers.at("tensor_size"), 100);
  for (const std::size_t end : {3, 4}) {
    EXPECT_EQ(nodes[end].numbers.at("comm_size"), 40);
    EXPECT_EQ(nodes[end].numbers.at("comm_src"), 0);
    EXPECT_EQ(nodes[end].numbers.at("comm_dst"), 1);
    EXPECT_EQ(nodes[end].numbers.at("comm_tag"), 4);
  }
  EXPECT_EQ(nodes[2].start, 5U);  // at 1 MHz a cycle is a microsecond
  EXPECT_EQ(nodes[2].duration, 4U);
  EXPECT_EQ(nodes[4].start, 10U);
  EXPECT_EQ(nodes[4].duration, 0U);
}

TEST(Chakra, NothingScheduledIsMetadataAlone) { EXPECT_THAT(nodes_of(Evaluation{.model = "net"}), IsEmpty()); }

}  // namespace
}  // namespace monet
