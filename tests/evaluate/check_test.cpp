// The checker finds nothing in valid schedules, and wrong forms before it looks further.
#include "evaluate/check_case.h"
#include "evaluate/open/hardware.h"
#include "graph/nests.h"
#include "support/random_graph.h"

#include <cmath>
#include <functional>
#include <limits>

namespace monet::test {
namespace {

TEST(Check, FindsNothingInAValidSchedule) {
  const CheckCase valid = small_step();
  const CheckReport report = valid.check();
  expect_valid(report);
  // A fetch for each read and for the two sums that go on, a write-back for each tile; a stay for each read and each
  // result of a tile, and for the five tensors that have storage of their own.
  EXPECT_EQ(report.looked_at, "8 tiles (8 by element), 15 reads, 25 transfers, 28 stays, 6 channels");
  EXPECT_TRUE(verify_schedule(valid.graph, valid.hardware, valid.assignment, valid.tiles, valid.schedule));
}

TEST(Check, GivesTheFirstViolationAsADefect) {
  CheckCase spoiled = small_step();
  for (ScheduledTile& tile : spoiled.schedule.tiles) tile.core = CoreId(1 - tile.core.index());
  const Status status =
      verify_schedule(spoiled.graph, spoiled.hardware, spoiled.assignment, spoiled.tiles, spoiled.schedule);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::defect);
  EXPECT_NE(status.error().message.find("y tile 0 runs on core1 and is planned elsewhere"), std::string::npos);
  EXPECT_NE(status.error().message.find("more)"), std::string::npos);
  EXPECT_FALSE(status.error().advice.empty());
}

TEST(Check, KeepsTheFirstOnesAndCountsAll) {
  CheckCase spoiled = small_step();
  for (ScheduledTile& tile : spoiled.schedule.tiles) tile.core = CoreId(1 - tile.core.index());
  const CheckReport report = spoiled.check({.keep = 2});
  EXPECT_EQ(report.violations.size(), 2U);
  EXPECT_GE(report.count, 8U);
}

// Loops that may be cut without asking: of an operator with one nest that writes an axis for a loop.
std::vector<Loop> plain_loops(const Graph& graph, const Node& node) {
  const OperatorNests nests = nests_of(site_of(graph, node));
  return nests.nests.size() == 1 ? nests.nests.front().loops : std::vector<Loop>{};
}

CheckCase random_check_case(unsigned seed) {
  std::mt19937 random(seed);
  auto graph = RandomGraph(seed).make();
  EXPECT_TRUE(graph.has_value());
  CheckCase made{.graph = *std::move(graph), .hardware = two_cores(), .assignment = {}, .tiles = {}, .schedule = {}};
  for (Memory& memory : made.hardware.memories) memory.size_bits = std::int64_t{1} << 40;
  made.assignment = plain_assignment(made.graph, made.hardware);
  for (std::size_t i = 0; i < made.graph.nodes().size(); ++i) {
    OperatorAssignment& plan = made.assignment.operators[i];
    for (const Loop& loop : plain_loops(made.graph, made.graph[NodeId(i)])) {
      if (loop.size == 1 || random() % 2 == 0) continue;
      const auto pieces = static_cast<std::int64_t>(1 + random() % 2);
      const auto tile = static_cast<std::int64_t>(random() % static_cast<unsigned>(loop.size));
      plan.cuts.push_back({loop.name, pieces, tile});
      std::vector<CoreId> cores;
      for (const CoreId core : plan.cores) {
        for (std::int64_t p = 0; p < pieces; ++p) cores.push_back(CoreId((core.index() + random()) % 2));
      }
      plan.cores = std::move(cores);
    }
  }
  made.tiles = naive_tiles(made.graph, made.assignment);
  made.schedule = naive_schedule(made.graph, made.hardware, made.tiles, made.assignment);
  return made;
}

TEST(Check, FindsNothingInNaiveSchedulesOfRandomGraphs) {
  std::size_t tiles = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const CheckCase valid = random_check_case(seed);
    tiles += valid.tiles.tiles();
    SCOPED_TRACE(seed);
    expect_valid(valid.check());
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(tiles, 4000U);
}

// In a naive schedule each thing waits for the one before it: nothing can begin earlier.
TEST(Check, FindsWhateverBeginsTooEarly) {
  std::size_t spoiled = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    CheckCase made = random_check_case(seed);
    std::mt19937 random(seed);
    const std::size_t tile = random() % made.tiles.tiles();
    ScheduledTile& run = made.schedule.tiles[tile];
    if (run.start >= 1 && !made.tiles.reads_of(TileId(tile)).empty()) {
      const ScheduledTile before = run;
      run.start -= 1;
      run.end -= 1;
      EXPECT_GT(made.check().count, 0U) << "tile " << tile << " of seed " << seed;
      run = before;
      ++spoiled;
    }
    ScheduledTransfer& transfer = made.schedule.transfers[random() % made.schedule.transfers.size()];
    if (transfer.start < 1) continue;
    transfer.start -= 0.5;
    transfer.end -= 0.5;
    EXPECT_GT(made.check().count, 0U) << "a transfer of seed " << seed;
    ++spoiled;
  }
  EXPECT_GT(spoiled, 80U);
}

// A dependency that is left out is found, whatever views are between.
TEST(Check, FindsEveryReadThatIsMissing) {
  std::size_t removed = 0;
  for (unsigned seed = 100; seed < 130; ++seed) {
    CheckCase made = random_check_case(seed);
    std::mt19937 random(seed);
    for (int i = 0; i < 10; ++i) {
      const TileId tile(random() % made.tiles.tiles());
      const auto reads = made.tiles.reads_of(tile);
      if (reads.empty()) continue;
      CheckCase spoiled = made;
      const std::size_t read = random() % reads.size();
      const BufferId buffer = reads[read].buffer;
      spoiled.remove_read(tile, read);
      // What is read for two inputs is still there for one of them.
      const auto left = spoiled.tiles.reads_of(tile);
      if (std::ranges::find(left, buffer, &TileRead::buffer) != left.end()) continue;
      expect_found(spoiled.check(), {"needs element", "does not read"});
      ++removed;
    }
  }
  EXPECT_GT(removed, 150U);
}

// One memory for everything: no transfers, tensors stay where they are worked on.
TEST(Check, TakesAMachineWithOneMemory) {
  auto hardware = open_hardware("gemm_l1");
  ASSERT_TRUE(hardware);
  CheckCase made = small_step();
  made.hardware = *std::move(hardware);
  for (OperatorAssignment& plan : made.assignment.operators) {
    std::ranges::fill(plan.cores, CoreId(0));
  }
  const auto l1 = std::ranges::find(made.hardware.memories, std::string("core/l1"), &Memory::name);
  ASSERT_NE(l1, made.hardware.memories.end());
  const MemoryId memory(static_cast<std::size_t>(l1 - made.hardware.memories.begin()));
  Schedule schedule;
  schedule.costs = made.schedule.costs;
  schedule.home_of = {memory};
  for (std::size_t i = 0; i < made.tiles.tiles(); ++i) {
    schedule.tiles.push_back(
        {.start = 10.0 * static_cast<double>(i), .end = 10.0 * static_cast<double>(i + 1), .core = CoreId(0)});
  }
  schedule.cycles = schedule.tiles.back().end;
  schedule.home = made.schedule.home;
  for (TensorStay& stay : schedule.home) {
    stay.end = schedule.cycles;
    stay.memory = memory;
  }
  made.schedule = schedule;
  expect_valid(made.check());
  made.home("r").end = made.at("n").start + 5;
  expect_found(made.check(), {"n tile 0", "reads", "of r", "no room"});
  made.home("r").end = schedule.cycles;
  // The old value is read while the new one takes its place.
  std::swap(made.at("step"), made.at("y", 0));
  expect_found(made.check(), {"y tile 0", "buffer 0 of w", "overwritten"});
}

struct Slip {
  std::string what;
  std::function<void(CheckCase&)> spoil;
};

TEST(CheckForm, FindsTablesOfTheWrongSize) {
  const std::vector<Slip> slips = {
      {"operators of the plan", [](CheckCase& c) { c.assignment.operators.pop_back(); }},
      {"paged tensors", [](CheckCase& c) { c.assignment.paged.resize(1); }},
      {"operators in tiles", [](CheckCase& c) { c.tiles.operators.pop_back(); }},
      {"scheduled tiles", [](CheckCase& c) { c.schedule.tiles.pop_back(); }},
      {"home memories", [](CheckCase& c) { c.schedule.home_of.clear(); }},
      {"first reads", [](CheckCase& c) { c.tiles.first_read.pop_back(); }},
      {"first writes", [](CheckCase& c) { c.tiles.first_write.clear(); }},
      {"first buffers", [](CheckCase& c) { c.tiles.first_buffer.push_back(0); }},
  };
  for (const Slip& slip : slips) expect_found_in_small_step(slip.spoil, {slip.what, "entries where"});
  expect_found(small_step().check({.element_bits = {8}}), {"bits of elements", "1 entries where"});
  expect_found_in_small_step([](CheckCase& c) { c.tiles.first_read[1] = 99; }, {"first reads: entry 1 lies after"});
  expect_found_in_small_step([](CheckCase& c) { c.tiles.reads.pop_back(); },
                             {"first reads: it ends at 15, the table at 14"});
}

TEST(CheckForm, FindsIdsOfNothing) {
  const std::vector<Slip> slips = {
      {"core 1 refers to a home memory", [](CheckCase& c) { c.schedule.home_of[1] = {}; }},
      {"paged tensor 0 refers to a memory",
       [](CheckCase& c) {
         c.assignment.paged.resize(c.graph.tensors().size());
         c.assignment.paged[0] = MemoryId(77);
       }},
      {"tile 0 refers to a node", [](CheckCase& c) { c.tiles.node[0] = {}; }},
      {"read 1 refers to a buffer", [](CheckCase& c) { c.tiles.reads[1].buffer = {}; }},
      {"read 1 refers to a part", [](CheckCase& c) { c.tiles.reads[1].part = 999; }},
      {"write 1 refers to a buffer", [](CheckCase& c) { c.tiles.writes[1].buffer = {}; }},
      {"buffer 0 refers to a tensor", [](CheckCase& c) { c.tiles.buffers[0].tensor = {}; }},
      {"buffer 0 refers to a tile", [](CheckCase& c) { c.tiles.buffers[0].maker = TileId(99); }},
      {"tile 3 refers to a core", [](CheckCase& c) { c.schedule.tiles[3].core = {}; }},
      {"tile 3 refers to a cost", [](CheckCase& c) { c.schedule.tiles[3].cost = 1; }},
      {"tile 3 refers to a route", [](CheckCase& c) { c.schedule.tiles[3].read_route = 99; }},
      {"tile 3 refers to a tile that it waits for",
       [](CheckCase& c) {
         c.schedule.tiles[3].wait = Wait::data;
         c.schedule.tiles[3].by = 99;
       }},
      {"transfer 3 refers to a transfer that it waits for",
       [](CheckCase& c) {
         c.schedule.transfers[3].wait = Wait::room;
         c.schedule.transfers[3].by = 99;
       }},
      {"channel 0 refers to a link", [](CheckCase& c) { c.schedule.channels[0].link = LinkId(9); }},
      {"channel 1 refers to a memory", [](CheckCase& c) { c.schedule.channels[1].memory = MemoryId(99); }},
      {"channel 1 refers to a port", [](CheckCase& c) { c.schedule.channels[1].port = 2; }},
      {"channel 1 refers to a port", [](CheckCase& c) { c.schedule.channels[1].port = no_port; }},
      {"route 0 refers to a memory", [](CheckCase& c) { c.schedule.routes[0].from = {}; }},
      {"route 0 refers to a channel", [](CheckCase& c) { c.schedule.routes[0].channels = {9}; }},
      {"transfer 0 refers to a buffer", [](CheckCase& c) { c.schedule.transfers[0].buffer = {}; }},
      {"transfer 0 refers to a memory", [](CheckCase& c) { c.schedule.transfers[0].to = {}; }},
      {"transfer 0 refers to a route", [](CheckCase& c) { c.schedule.transfers[0].route = 8; }},
      {"stay 0 refers to a memory", [](CheckCase& c) { c.schedule.stays[0].memory = {}; }},
      {"stay 0 refers to a buffer", [](CheckCase& c) { c.schedule.stays[0].buffer = BufferId(99); }},
      {"stay 0 refers to a tile", [](CheckCase& c) { c.schedule.stays[0].buffer = {}; }},
      {"stay of a tensor 0 refers to a memory", [](CheckCase& c) { c.schedule.home[0].memory = {}; }},
      {"stay of a tensor 0 refers to a tensor", [](CheckCase& c) { c.schedule.home[0].tensor = {}; }},
  };
  for (const Slip& slip : slips) expect_found_in_small_step(slip.spoil, {slip.what, "does not exist"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.channels[1].link = LinkId(0); },
                             {"channel 1 is neither a link nor a port"});
}

TEST(CheckForm, FindsTimesAndAmountsThatAreNone) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Slip> slips = {
      {"step 0: its length is nan", [](CheckCase& c) { c.schedule.cycles = nan; }},
      {"tile 2: its start is -1", [](CheckCase& c) { c.schedule.tiles[2].start = -1; }},
      {"tile 2: its end is inf",
       [](CheckCase& c) { c.schedule.tiles[2].end = std::numeric_limits<double>::infinity(); }},
      {"cost 0: its cycles is nan", [](CheckCase& c) { c.schedule.costs[0].cycles = nan; }},
      {"cost 0: what it reads from home is -1", [](CheckCase& c) { c.schedule.costs[0].home_read_bits = -1; }},
      {"cost 0: what it writes to home is -1", [](CheckCase& c) { c.schedule.costs[0].home_write_bits = -1; }},
      {"route 0: its latency is nan", [](CheckCase& c) { c.schedule.routes[0].latency_cycles = nan; }},
      {"stay 0: its bytes is -1", [](CheckCase& c) { c.schedule.stays[0].bytes = -1; }},
      {"stay of a tensor 0: its bytes is -1", [](CheckCase& c) { c.schedule.home[0].bytes = -1; }},
      {"transfer 5 ends at 0, before it starts at", [](CheckCase& c) { c.schedule.transfers[5].end = 0; }},
  };
  for (const Slip& slip : slips) expect_found_in_small_step(slip.spoil, {slip.what});
}

}  // namespace
}  // namespace monet::test
