// A small space, outcomes that are a function of the design alone, and stores of them.
#pragma once

#include "base/random.h"
#include "explore/price/outcome.h"
#include "explore/store/database.h"
#include "explore/store/store.h"
#include "support/folder.h"

#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace monet::test {

// 4 · 3 · 5 designs.
inline const std::string toy_space_text = R"yaml(space: 1
name: toy
description: a space for tests
hardware: edge_tpu
parameters:
  x: [1, 2, 4, 8]
  lanes: [1, 2, 4]
  pe_memory: [0.5 MiB, 1 MiB, 2 MiB, 3 MiB, 4 MiB]
workloads:
  - name: inference
    network: mlp-robotics
    step: inference
  - name: training
    network: mlp-robotics
objectives: [latency, energy]
)yaml";

inline explore::Space toy_space(const std::string& text = toy_space_text) {
  auto space = explore::Space::read_text(text, "toy.yaml");
  EXPECT_TRUE(space) << (space ? "" : space.error().text());
  return *std::move(space);
}

inline explore::StoreContent toy_content() {
  return {
      toy_space(), "fingerprint of toy", {{"inference", "hash of inference", 11, 12}, {"training", "hash", 21, 22}}};
}

// Fills every field with what has no short decimal form. Some fail, some are excluded.
inline explore::Outcome toy_outcome(explore::Design design) {
  SeededRandom random(design + 7);
  explore::Outcome outcome{.design = design};
  if (design % 17 == 3) {
    outcome.failure = "\"pe_memory\" is too small,\nby far";
    return outcome;
  }
  outcome.hardware_hash = fmt::format("{:016x}", random.next());
  outcome.area_mm2 = random.unit() * 100;
  outcome.static_w = random.unit();
  outcome.macs_per_cycle = static_cast<double>(random.next() >> 40);
  outcome.on_chip_bits = static_cast<std::int64_t>(random.next() >> 4);
  if (design % 13 == 5) {
    outcome.failure = "area <= 50 mm2 does not hold";
    outcome.excluded = true;
    return outcome;
  }
  for (int i = 0; i < 2; ++i) {
    explore::WorkloadOutcome workload;
    if (design % 11 == 2 && i == 1) {
      workload.failure = "dram is too small by 1 MiB";
    } else {
      workload.latency_cycles = random.unit() * 1e9;
      workload.latency_s = workload.latency_cycles / 5e8;
      workload.energy_pj = random.unit() * 1e12;
      workload.peak_bytes = static_cast<std::int64_t>(random.next() >> 2);
      workload.macs = random.unit() * 1e15;
      workload.utilization = random.unit();
      workload.stacks = static_cast<std::int64_t>(random.below(1000));
      workload.tiles = static_cast<std::int64_t>(random.next() >> 30);
      workload.recomputed = static_cast<std::int64_t>(random.below(10));
      workload.paged = static_cast<std::int64_t>(random.below(10));
    }
    outcome.workloads.push_back(workload);
  }
  return outcome;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline explore::Store filled_store(const std::string& path, std::size_t count) {
  auto store = explore::Store::open_to_fill(path, toy_content(), true);
  EXPECT_TRUE(store) << store.error().text();
  for (explore::Design design = count; design-- > 0;) EXPECT_TRUE(store->put(toy_outcome(design)));
  EXPECT_TRUE(store->flush());
  return *std::move(store);
}

inline void run_sql(const std::string& path, const std::string& sql) {
  auto database = explore::Database::open(path, explore::Database::Mode::write);
  ASSERT_TRUE(database) << database.error().text();
  const Status status = database->execute(sql);
  ASSERT_TRUE(status) << status.error().text();
}

}  // namespace monet::test
