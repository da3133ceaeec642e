// Does what a folder keeps of an evaluation say the same as the evaluation, compactly?
#include "present/page/details_parts.h"

#include <monet/report.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace monet {
namespace {

using testing::ElementsAre;

StepRequest edge_tpu_options() {
  StepRequest options;
  options.machine = "edge_tpu";
  options.compare = false;
  options.trace = options.lifetimes = options.graph = true;
  return options;
}

Evaluation evaluated(const std::string& model, const StepRequest& options) {
  auto evaluation = evaluate_network(model, options);
  EXPECT_TRUE(evaluation.has_value()) << (evaluation ? "" : evaluation.error().text());
  return evaluation ? *std::move(evaluation) : Evaluation{};
}

// An event of the page.
struct Shown {
  std::string track, kind, name;
  double start = 0, end = 0;
  std::int64_t bytes = 0, part = -1, node = -1, lane = 0, from = -1;
};

std::vector<Shown> decoded(const nlohmann::json& schedule) {
  std::vector<Shown> events;
  const double tick = schedule.at("tick");
  std::size_t next = 0;
  for (const nlohmann::json& track : schedule.at("tracks")) {
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < track.at("events").get<std::int64_t>(); ++i, ++next) {
      const auto number = [&](const char* column) { return schedule.at(column).at(next).get<std::int64_t>(); };
      at += number("start");
      Shown& event = events.emplace_back();
      const std::string kind = track.at("kind");
      event.track =
          kind == "other" ? track.at("name").get<std::string>() : kind + " " + track.at("name").get<std::string>();
      event.kind = schedule.at("kinds").at(static_cast<std::size_t>(number("kind")));
      event.name = schedule.at("names").at(static_cast<std::size_t>(number("name")));
      event.start = static_cast<double>(at) * tick;
      event.end = static_cast<double>(at + number("length")) * tick;
      event.bytes = number("bytes");
      event.part = number("part");
      event.node = number("node");
      event.lane = number("lane");
      event.from = number("from");
      EXPECT_LT(event.lane, track.at("lanes").get<std::int64_t>());
    }
  }
  for (const char* column : {"start", "length", "name", "part", "kind", "cause", "node", "lane", "from", "bytes"})
    EXPECT_EQ(schedule.at(column).size(), next) << column;
  return events;
}

void expect_same_events(const Evaluation& e) {
  const nlohmann::json schedule = nlohmann::json::parse(to_details(e)).at("schedule");
  const std::vector<Shown> events = decoded(schedule);
  ASSERT_EQ(events.size(), e.trace.size());
  double makespan = 0;
  for (const TraceEvent& event : e.trace) makespan = std::max(makespan, event.end);
  const double near = 1e-6 * makespan;
  // By track, each in the order of start; of equal names the k-th is the k-th.
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  std::map<Key, std::vector<const TraceEvent*>> wanted;
  for (const TraceEvent& event : e.trace)
    wanted[{event.track, event.kind, event.operator_row, event.part}].push_back(&event);
  std::map<Key, std::vector<const Shown*>> found;
  for (const Shown& event : events) found[{event.track, event.kind, event.node, event.part}].push_back(&event);
  ASSERT_EQ(wanted.size(), found.size());
  for (auto& [key, list] : wanted) {
    const auto at = found.find(key);
    ASSERT_NE(at, found.end()) << std::get<0>(key);
    ASSERT_EQ(list.size(), at->second.size());
    std::ranges::stable_sort(list, {}, &TraceEvent::start);
    double busy = 0, shown_busy = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      ASSERT_NEAR(list[i]->start, at->second[i]->start, near);
      busy += list[i]->end - list[i]->start;
      shown_busy += at->second[i]->end - at->second[i]->start;
    }
    ASSERT_NEAR(busy, shown_busy, near * static_cast<double>(list.size()));
  }
  // On one lane of a track nothing overlaps; a cause has ended before what it caused.
  std::map<std::pair<std::string, std::int64_t>, double> free;
  for (const Shown& event : events) {
    double& until = free[{event.track, event.lane}];
    ASSERT_LE(until, event.start);
    until = event.end;
    if (event.from >= 0) {
      ASSERT_LE(events[static_cast<std::size_t>(event.from)].end, event.start + near);
    }
    if (event.node >= 0) {
      ASSERT_EQ(event.name, e.operators[static_cast<std::size_t>(event.node)].name);
    }
  }
  double before = 0;
  std::size_t critical = 0;
  for (const nlohmann::json& index : schedule.at("critical")) {
    const double start = events[index.get<std::size_t>()].start;
    ASSERT_LE(before, start + near);
    before = start;
    ++critical;
  }
  EXPECT_EQ(critical, static_cast<std::size_t>(std::ranges::count(e.trace, true, &TraceEvent::critical)));
  EXPECT_GT(critical, 0U);
}

TEST(Details, ScheduleOfAStep) {
  const Evaluation e = evaluated("mlp-robotics", edge_tpu_options());
  ASSERT_NO_FATAL_FAILURE(expect_same_events(e));
  const nlohmann::json tracks = nlohmann::json::parse(to_details(e)).at("schedule").at("tracks");
  // All cores, in the order of the machine, whether they work or not.
  std::size_t next = 0;
  for (const ResourceResult& resource : e.resources) {
    if (resource.kind != "core") continue;
    EXPECT_EQ(tracks.at(next).at("name"), resource.name);
    EXPECT_EQ(tracks.at(next++).at("kind"), "core");
  }
  for (; next < tracks.size(); ++next) EXPECT_GT(tracks.at(next).at("events"), 0);
}

TEST(Details, ScheduleOfMicroBatchesAndOfInference) {
  StepRequest options = edge_tpu_options();
  options.train.accumulate = 3;
  ASSERT_NO_FATAL_FAILURE(expect_same_events(evaluated("mlp-robotics", options)));
  options = edge_tpu_options();
  options.inference = true;
  ASSERT_NO_FATAL_FAILURE(expect_same_events(evaluated("mlp-robotics", options)));
}

TEST(Details, LifetimesOfAStep) {
  const Evaluation e = evaluated("mlp-robotics", edge_tpu_options());
  const nlohmann::json stays = nlohmann::json::parse(to_details(e)).at("lifetimes");
  const double tick = stays.at("tick");
  for (std::size_t i = 0; i < e.lifetimes.size(); ++i) {
    const Lifetime& stay = e.lifetimes[i];
    const auto number = [&](const char* column) { return stays.at(column).at(i).get<std::int64_t>(); };
    const auto word = [&](const char* table, const char* column) {
      return stays.at(table).at(static_cast<std::size_t>(number(column))).get<std::string>();
    };
    ASSERT_EQ(word("memories", "memory"), stay.memory);
    ASSERT_EQ(word("names", "name"), stay.tensor);
    ASSERT_EQ(word("roles", "role"), stay.role);
    ASSERT_EQ(number("bytes"), stay.bytes);
    ASSERT_EQ(number("address"), stay.address);
    ASSERT_NEAR(static_cast<double>(number("start")) * tick, stay.start, 1e-6 * e.latency_cycles);
    ASSERT_NEAR(static_cast<double>(number("start") + number("length")) * tick, stay.end, 1e-6 * e.latency_cycles);
  }
}

TEST(Details, GraphOfAStep) {
  const Evaluation e = evaluated("mlp-robotics", edge_tpu_options());
  const nlohmann::json graph = nlohmann::json::parse(to_details(e)).at("graph");
  const nlohmann::json& nodes = graph.at("nodes");
  const nlohmann::json& tensors = graph.at("tensors");
  for (const auto& [key, column] : nodes.items()) EXPECT_EQ(column.size(), e.graph.nodes.size()) << key;
  for (const auto& [key, column] : tensors.items()) EXPECT_EQ(column.size(), e.graph.tensors.size()) << key;
  EXPECT_EQ(nodes.size(), 8U);
  EXPECT_EQ(tensors.size(), 8U);
  for (std::size_t i = 0; i < e.graph.nodes.size(); ++i) {
    EXPECT_EQ(nodes.at("name").at(i), e.graph.nodes[i].name);
    EXPECT_EQ(nodes.at("x").at(i), e.graph.nodes[i].x);
    EXPECT_EQ(nodes.at("node").at(i), e.graph.nodes[i].operator_row);
  }
  for (std::size_t i = 0; i < e.graph.tensors.size(); ++i) {
    EXPECT_EQ(tensors.at("to").at(i), nlohmann::json(e.graph.tensors[i].to));
    EXPECT_EQ(tensors.at("saved").at(i), e.graph.tensors[i].saved ? 1 : 0);
    EXPECT_EQ(tensors.at("decision").at(i), e.graph.tensors[i].decision);
  }
}

TEST(Details, WhatIsNotThereIsLeftOut) {
  Evaluation e;
  e.machine = {.peak_macs_per_cycle = 64, .roofs = {{"dram", 0.5}}, .derived = {{"clock", "1 GHz", "usual"}}};
  EXPECT_EQ(to_details(e),
            R"({"schema":1,"machine":{"peak_macs_per_cycle":64,"roofs":[{"memory":"dram","bytes_per_cycle":0.5}],)"
            R"("derived":[{"name":"clock","value":"1 GHz","source":"usual"}]}})");
  e.machine.peak_macs_per_cycle = std::nan("");
  EXPECT_TRUE(nlohmann::json::parse(to_details(e)).at("machine").at("peak_macs_per_cycle").is_null());
}

TEST(Details, NamesMayBeAnyBytes) {
  Evaluation e;
  e.trace = {{"core \xff", "a\xfe\"\n", "forward", 0, 1, 0, EventWait::data, 7}};
  e.lifetimes = {{"\xff", "\xfe", "\xfd", "\xfc", 0, 1, 1, 0}};
  e.graph.nodes = {{.name = "\xff", .op = "\\", .phase = "forward"}};
  e.graph.tensors = {{.name = "\xff", .role = "", .shape = "", .decision = "\xff"}};
  const nlohmann::json details = nlohmann::json::parse(to_details(e));
  EXPECT_EQ(details.at("schedule").at("names"), nlohmann::json::array({"a\xef\xbf\xbd\"\n"}));
  EXPECT_EQ(details.at("schedule").at("from"), nlohmann::json::array({-1}));  // there is no event 7
  EXPECT_EQ(details.at("graph").at("nodes").at("operator"), nlohmann::json::array({"\\"}));
}

TEST(Details, TicksAreExactOrNear) {
  EXPECT_EQ(tick_of({}), 1);
  EXPECT_EQ(tick_of({0, 0}), 1);
  EXPECT_EQ(tick_of({0, 3, 1e5}), 1);
  EXPECT_EQ(tick_of({8, 24, 1e15}), std::exp2(29));  // 2^20 ticks or more: 1e15 is near 2^49.8
  EXPECT_EQ(tick_of({12, 20, 1024}), 4);
  EXPECT_EQ(tick_of({0.25, 1000}), 0.25);
  const double tick = tick_of({1.0 / 3, 1000});
  EXPECT_EQ(std::log2(tick), std::floor(std::log2(tick)));
  EXPECT_LT(tick / 2, 1000 * 1e-6);
  EXPECT_EQ(tick_of({std::nan(""), -1, 5}), 1);
}

TEST(Details, NumbersOfTilesAreLeftOut) {
  Evaluation e;
  e.trace = {{.name = "conv1", .kind = "forward", .part = 12},
             {.name = "x [3]", .kind = "fetch", .wait = EventWait::data, .by = 0, .from = "dram"},
             {.name = "conv2", .kind = "forward", .wait = EventWait::room, .by = 1, .part = 0}};
  EXPECT_EQ(label_of(e.trace[0]), "conv1 [12]");
  EXPECT_EQ(label_of(e.trace[1]), "fetch x [3]");
  EXPECT_EQ(cause_of(e.trace[1], e), "waited for conv1 [12]");
  EXPECT_EQ(cause_of(e.trace[2], e), "no room before fetch x [3] was done");
  const nlohmann::json schedule = nlohmann::json::parse(to_details(e)).at("schedule");
  EXPECT_EQ(schedule.at("names"), nlohmann::json::array({"conv1", "x [3]", "conv2"}));
  EXPECT_EQ(schedule.at("causes"),
            nlohmann::json::array({"", "waited for conv1", "no room before fetch x [3] was done"}));
}

// So many tiles on sixteen cores, each after a fetch, as long steps have them.
TEST(Details, ManyEventsAreSmall) {
  Evaluation e;
  for (int i = 0; i < 300; ++i) e.operators.push_back({.name = "block." + std::to_string(i) + ".conv.weight.grad"});
  for (int i = 0; i < 16; ++i) e.resources.push_back({.name = "pe" + std::to_string(i), .kind = "core"});
  e.resources.push_back({.name = "bus", .kind = "bus"});
  constexpr std::int64_t tiles = 50000;
  for (std::int64_t i = 0; i < tiles; ++i) {
    const std::int64_t row = i * 300 / tiles, part = i % (tiles / 300);
    const std::string& name = e.operators[static_cast<std::size_t>(row)].name;
    const double start = static_cast<double>(i / 16) * 1234.567 + static_cast<double>(i % 16) * 7.3;
    e.trace.push_back({.track = "link bus",
                       .name = name,
                       .kind = "fetch",
                       .start = start,
                       .end = start + 300.1,
                       .bytes = 4096 + i % 3,
                       .from = "dram"});
    e.trace.push_back({.track = "core pe" + std::to_string(i % 16),
                       .name = name,
                       .kind = row < 100 ? "forward" : "backward",
                       .start = start + 300.1,
                       .end = start + 1200.9,
                       .wait = EventWait::data,
                       .by = 2 * i,
                       .operator_row = row,
                       .part = part,
                       .critical = i % 16 == 0});
  }
  const std::string text = to_details(e);
  EXPECT_LT(text.size(), 40 * e.trace.size());
  ASSERT_NO_FATAL_FAILURE(expect_same_events(e));
}

}  // namespace
}  // namespace monet
