// A small step with a valid schedule, to be spoiled by the tests of the checker.
#pragma once

#include "evaluate/check/check.h"
#include "graph/builder.h"
#include "support/naive_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace monet::test {

struct CheckCase {
  Graph graph;
  Hardware hardware;
  Assignment assignment;
  TileGraph tiles;
  Schedule schedule;
  TwoCores machine{hardware};

  CheckReport check(const CheckOptions& options = {}) const {
    return check_schedule(graph, hardware, assignment, tiles, schedule, options);
  }
  NodeId node(const std::string& name) const {
    const auto found = std::ranges::find(graph.nodes(), name, &Node::name);
    EXPECT_NE(found, graph.nodes().end()) << name;
    return NodeId(static_cast<std::size_t>(found - graph.nodes().begin()));
  }
  TensorId tensor(const std::string& name) const {
    const auto found = std::ranges::find(graph.tensors(), name, &Tensor::name);
    EXPECT_NE(found, graph.tensors().end()) << name;
    return TensorId(static_cast<std::size_t>(found - graph.tensors().begin()));
  }
  OperatorTiles& grid(const std::string& name) { return tiles.operators[node(name).index()]; }
  OperatorAssignment& plan(const std::string& name) { return assignment.operators[node(name).index()]; }
  TileId tile(const std::string& name, std::size_t number = 0) const {
    return TileId(tiles.operators[node(name).index()].first + number);
  }
  ScheduledTile& at(const std::string& name, std::size_t number = 0) {
    return schedule.tiles[tile(name, number).index()];
  }
  BufferId buffer(const std::string& tensor_name, std::size_t number = 0) const {
    return BufferId(tiles.first_buffer[tensor(tensor_name).index()] + number);
  }
  Buffer& of(BufferId id) { return tiles.buffers[id.index()]; }
  ReadPart& part(TileId id, std::size_t read) { return tiles.parts[tiles.reads_of(id)[read].part]; }
  // The transfer of that buffer, the nth one.
  ScheduledTransfer& transfer(BufferId id, TransferKind kind, std::size_t nth = 0) {
    for (ScheduledTransfer& transfer : schedule.transfers) {
      if (transfer.buffer == id && transfer.kind == kind && nth-- == 0) return transfer;
    }
    ADD_FAILURE() << "no such transfer";
    return schedule.transfers.front();
  }
  // The stay of that buffer which covers the run of the tile.
  Stay& stay(BufferId id, TileId during) {
    const ScheduledTile& run = schedule.tiles[during.index()];
    for (Stay& stay : schedule.stays) {
      if (stay.buffer == id && stay.start <= run.start && stay.end >= run.end) return stay;
    }
    ADD_FAILURE() << "no such stay";
    return schedule.stays.front();
  }
  TensorStay& home(const std::string& name) {
    const auto found = std::ranges::find(schedule.home, tensor(name), &TensorStay::tensor);
    EXPECT_NE(found, schedule.home.end()) << name;
    return *found;
  }
  void remove_read(TileId id, std::size_t read) {
    tiles.reads.erase(tiles.reads.begin() + static_cast<std::ptrdiff_t>(tiles.first_read[id.index()] + read));
    for (std::size_t i = id.index() + 1; i < tiles.first_read.size(); ++i) --tiles.first_read[i];
  }
  // Everything that begins at `time` or later, that much later.
  void delay(double time, double by) {
    const auto move = [&](auto& entry) {
      if (entry.start >= time) entry.start += by;
      if (entry.end > time) entry.end += by;
    };
    std::ranges::for_each(schedule.tiles, move);
    std::ranges::for_each(schedule.transfers, move);
    std::ranges::for_each(schedule.stays, move);
    std::ranges::for_each(schedule.home, move);
    schedule.cycles += by;
  }
};

// The graph on two_cores(), cut as said, in a naive schedule.
inline CheckCase case_of(GraphBuilder builder, const std::vector<std::pair<std::string, OperatorAssignment>>& plans) {
  auto graph = builder.finish();
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : graph.error().text());
  CheckCase made{.graph = *std::move(graph), .hardware = two_cores(), .assignment = {}, .tiles = {}, .schedule = {}};
  // A result is called as its node.
  for (std::size_t i = 0; i < made.graph.tensors().size(); ++i) {
    std::string& name = made.graph[TensorId(i)].name;
    if (name.ends_with(".out")) name.resize(name.size() - 4);
  }
  made.assignment = plain_assignment(made.graph, made.hardware);
  for (const auto& [name, plan] : plans) made.assignment.operators[made.node(name).index()] = plan;
  made.tiles = naive_tiles(made.graph, made.assignment);
  made.schedule = naive_schedule(made.graph, made.hardware, made.tiles, made.assignment);
  return made;
}

// y = x·w in four tiles: two halves of its columns on two cores, each in two tiles that add up; r = relu(y) in two
// tiles by row; n = -rᵀ; and w is replaced by -w.
inline CheckCase small_step() {
  GraphBuilder b("small");
  const TensorId x = b.input("x", {4, 8});
  const TensorId w = b.parameter("w", {8, 6});
  const TensorId r = b.add(Op::Relu, "r", {b.add(Op::MatMul, "y", {x, w})});
  b.output(b.add(Op::Neg, "n", {b.add(Op::Transpose, "t", {r}, {{Attr::perm, std::vector<std::int64_t>{1, 0}}})}));
  b.update(w, b.add(Op::Neg, "step", {w}));
  return case_of(std::move(b), {{"y", {.cuts = {{Dim::K, 2, 0}, {Dim::C, 1, 4}}, .cores = {CoreId(0), CoreId(1)}}},
                                {"r", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(1)}}}});
}

// Something that is found says all of the words.
inline void expect_found(const CheckReport& report, const std::vector<std::string>& words) {
  EXPECT_GT(report.count, 0U);
  const auto says_all = [&](const Violation& violation) {
    return std::ranges::all_of(words,
                               [&](const std::string& word) { return violation.what.find(word) != std::string::npos; });
  };
  std::string all;
  for (const Violation& violation : report.violations) all += "\n  " + violation.what;
  std::string wanted;
  for (const std::string& word : words) wanted += " '" + word + "'";
  EXPECT_TRUE(std::ranges::any_of(report.violations, says_all)) << "not found:" << wanted << " among" << all;
}

inline void expect_valid(const CheckReport& report) {
  for (const Violation& violation : report.violations) ADD_FAILURE() << violation.what;
  EXPECT_EQ(report.count, 0U);
}

// What a spoiled small_step() is found to break.
template <class Spoil>
void expect_found_in_small_step(const Spoil& spoil, const std::vector<std::string>& words) {
  CheckCase spoiled = small_step();
  spoil(spoiled);
  expect_found(spoiled.check(), words);
}

}  // namespace monet::test
