// Each rule about memories, transfers and channels finds what breaks it.
#include "evaluate/check_case.h"

namespace monet::test {
namespace {

using enum TransferKind;

TEST(CheckPresence, FindsOperandsThatAreNotThere) {
  expect_found_in_small_step([](CheckCase& c) { c.stay(c.buffer("x"), c.tile("y")).end = c.at("y").start + 5; },
                             {"y tile 0", "reads buffer 0 of x in core0/sram: it has no room there"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).to = c.machine.sram[1]; },
                             {"y tile 0", "reads buffer 0 of x in core0/sram: it is not there in time"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).bytes = 4; },
                             {"y tile 0", "reads buffer 0 of x in core0/sram: it is not there as a whole"});
  // The partial sum is not fetched again for the second tile of the chain.
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("y"), fetch).buffer = c.buffer("w"); },
                             {"y tile 1", "adds to buffer 0 of y in core0/sram: it is not there in time"});
  expect_found_in_small_step([](CheckCase& c) { c.stay(c.buffer("y"), c.tile("y", 1)).bytes -= 4; },
                             {"y tile 1", "has no room in core0/sram for its result, buffer 0 of y"});
  expect_found_in_small_step([](CheckCase& c) { c.part(c.tile("y"), 0).input = 7; },
                             {"y tile 0 reads buffer 0 of x for input 7, which it does not use"});
}

TEST(CheckPresence, FindsLackOfWorkspace) {
  CheckCase made = small_step();
  made.schedule.costs[0].held = {{0, 100}};
  expect_found(made.check(), {"y tile 0 has 0 bytes of workspace in memories of its core and needs 100"});
  for (std::size_t i = 0; i < made.tiles.tiles(); ++i) {
    const ScheduledTile& run = made.schedule.tiles[i];
    made.schedule.stays.push_back({.start = run.start,
                                   .end = run.end,
                                   .bytes = 100,
                                   .buffer = {},
                                   .tile = TileId(i),
                                   .memory = made.machine.sram[run.core.index()]});
  }
  expect_valid(made.check());
  made.schedule.stays.back().memory = made.machine.sram[1];  // step runs on core 0
  expect_found(made.check(), {"step tile 0 has 0 bytes of workspace"});
}

// n streams what it reads and what it makes.
CheckCase streaming_step() {
  CheckCase made = small_step();
  const BufferId result = made.buffer("n");
  const auto is_of_n = [&](const auto& entry) {
    const bool read = entry.buffer == made.buffer("r", 0) || entry.buffer == made.buffer("r", 1);
    return entry.buffer == result || (read && entry.start >= made.at("r", 1).end + 5);
  };
  std::erase_if(made.schedule.transfers, is_of_n);
  std::erase_if(made.schedule.stays, is_of_n);
  made.schedule.costs.push_back({.cycles = 10, .streamed = 0b101, .home_read_bits = 768, .home_write_bits = 768});
  ScheduledTile& run = made.at("n");
  run.cost = 1;
  run.start -= 12;  // its input used to arrive in that time, its result to leave in as much after it
  run.end += 12;
  run.read_route = TwoCores::from_dram[0];
  run.write_route = TwoCores::to_dram[0];
  return made;
}

TEST(CheckPresence, FollowsTilesThatStream) {
  expect_valid(streaming_step().check());
  CheckCase spoiled = streaming_step();
  spoiled.home("r").start = spoiled.at("n").start + 1;
  expect_found(spoiled.check(), {"n tile 0", "reads buffer 0 of r in dram: it has no room there"});
  spoiled = streaming_step();
  spoiled.transfer(spoiled.buffer("r", 1), write_back).bytes = 8;
  expect_found(spoiled.check(), {"n tile 0", "reads buffer 1 of r in dram: it is not there as a whole"});
  spoiled = streaming_step();
  spoiled.home("n").start = spoiled.at("n").start + 1;
  expect_found(spoiled.check(), {"n tile 0", "has no room in dram for its result, buffer 0 of n"});
  spoiled = streaming_step();
  spoiled.at("n").read_route = no_route;
  expect_found(spoiled.check(), {"n tile 0 streams and has no route from dram"});
  spoiled = streaming_step();
  spoiled.at("n").write_route = no_route;
  expect_found(spoiled.check(), {"n tile 0 streams and has no route to dram"});
  spoiled = streaming_step();
  spoiled.at("n").read_route = TwoCores::from_dram[1];
  expect_found(spoiled.check(),
               {"n tile 0 streams over a route between dram and core1/sram, which are not its core's"});
  // 1536 bits over 64 bits a cycle take 24 cycles.
  spoiled = streaming_step();
  spoiled.at("n").end = spoiled.at("n").start + 23;
  expect_found(spoiled.check(), {"the channel memory_bus is asked for more than it can carry", "n tile 0"});
}

// Two factors of a product come by two paths: what is streamed is the one, not the other.
TEST(CheckPresence, KnowsThePathsOfAProduct) {
  for (const bool second : {false, true}) {
    GraphBuilder b("product");
    const TensorId x = b.input("x", {4, 4});
    const TensorId z = b.input("z", {4, 4});
    b.output(b.add(Op::MatMul, "y", {x, z}));
    CheckCase made = case_of(std::move(b), {});
    const BufferId streamed = made.buffer(second ? "z" : "x");
    std::erase_if(made.schedule.transfers, [&](const ScheduledTransfer& t) { return t.buffer == streamed; });
    std::erase_if(made.schedule.stays, [&](const Stay& stay) { return stay.buffer == streamed; });
    made.schedule.costs[0] = {.cycles = 10, .streamed = 0b010, .home_read_bits = 512};
    made.at("y").read_route = TwoCores::from_dram[0];
    if (second) {
      expect_valid(made.check());
    } else {
      expect_found(made.check(), {"y tile 0", "reads buffer 0 of x in core0/sram: it has no room there"});
    }
  }
}

TEST(CheckTransfers, FindsSourcesWithoutTheData) {
  expect_found_in_small_step(
      [](CheckCase& c) { c.home("x").start = 1; },
      {"transfer 0 (buffer 0 of x from dram to core0/sram", "at its source the buffer has no room"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("r"), write_back).from = c.machine.sram[0]; },
                             {"buffer 0 of r from core0/sram", "at its source the buffer has no room"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("r"), write_back).bytes = 4; },
                             {"buffer 0 of r from dram", "at its source the buffer is not there as a whole"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        ScheduledTransfer& transfer = c.transfer(c.buffer("r"), write_back);
        transfer.start -= 4;
        transfer.end -= 4;
      },
      {"buffer 0 of r from core1/sram", "at its source the buffer is not there in time"});
}

TEST(CheckTransfers, FindsDestinationsWithoutRoom) {
  expect_found_in_small_step([](CheckCase& c) { c.stay(c.buffer("x"), c.tile("y")).start += 1; },
                             {"transfer 0", "no room is kept for it at its destination"});
  expect_found_in_small_step([](CheckCase& c) { c.home("r").end = 1; }, {"buffer 0 of r from", "no room is kept"});
}

TEST(CheckTransfers, FindsWhatItsRouteCannotDo) {
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).end -= 1; },
                             {"transfer 0", "takes 15 cycles, 128 bytes over its route 16"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).bytes = 129; },
                             {"transfer 0", "carries 129 bytes of 128"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).bytes = 0; },
                             {"transfer 0", "carries 0 bytes of 128"});
  expect_found_in_small_step([](CheckCase& c) { c.transfer(c.buffer("x"), fetch).route = TwoCores::from_dram[1]; },
                             {"transfer 0", "takes a route from dram to core1/sram"});
}

TEST(CheckTransfers, FindsKindsThatAreNot) {
  const auto expect_kind = [](TransferKind is, TransferKind called, const std::string& name) {
    expect_found_in_small_step([&](CheckCase& c) { c.transfer(c.buffer("y"), is).kind = called; },
                               {"buffer 0 of y", "is called a " + name});
  };
  expect_kind(write_back, fetch, "fetch");
  expect_kind(fetch, write_back, "write-back");
  expect_kind(fetch, core_to_core, "transfer from core to core");
  expect_kind(fetch, page_out, "page-out");
  expect_kind(fetch, page_in, "page-in");
}

// The second half of y goes from core 1 to core 0 directly, for n's sake.
CheckCase direct_step() {
  CheckCase made = small_step();
  const BufferId half = made.buffer("y", 1);
  made.stay(half, made.tile("y", 3)).end += 30;
  const double start = made.at("y", 3).end;
  made.schedule.transfers.push_back({.start = start,
                                     .end = start + 15,
                                     .bytes = 48,
                                     .buffer = half,
                                     .from = made.machine.sram[1],
                                     .to = made.machine.sram[0],
                                     .route = TwoCores::down,
                                     .kind = core_to_core});
  made.schedule.stays.push_back(
      {.start = start, .end = start + 20, .bytes = 48, .buffer = half, .tile = {}, .memory = made.machine.sram[0]});
  return made;
}

TEST(CheckTransfers, FollowsTransfersFromCoreToCore) {
  expect_valid(direct_step().check());
  CheckCase spoiled = direct_step();
  spoiled.schedule.transfers.back().end -= 1;  // 48 bytes over 32 bits a cycle, and 3 cycles on the way
  expect_found(spoiled.check(), {"takes 14 cycles, 48 bytes over its route 15"});
  spoiled = direct_step();
  spoiled.schedule.transfers.back().start -= 1;
  expect_found(spoiled.check(), {"from core1/sram to core0/sram", "no room is kept"});
}

// x goes to both cores at once.
CheckCase joined_step() {
  CheckCase made = small_step();
  const ScheduledTransfer carrier = made.transfer(made.buffer("x"), fetch);
  ScheduledTransfer joined = carrier;
  joined.to = made.machine.sram[1];
  joined.route = TwoCores::from_dram[1];
  joined.joined = true;
  made.schedule.transfers.push_back(joined);
  made.schedule.stays.push_back({.start = carrier.start,
                                 .end = carrier.end,
                                 .bytes = 128,
                                 .buffer = carrier.buffer,
                                 .tile = {},
                                 .memory = joined.to});
  return made;
}

TEST(CheckTransfers, FollowsTransfersThatJoinAnother) {
  expect_valid(joined_step().check());
  CheckCase spoiled = joined_step();
  spoiled.schedule.transfers.back().joined = false;  // two of them are too much for the bus
  expect_found(spoiled.check(), {"the channel memory_bus is asked for more than it can carry"});
  spoiled = joined_step();
  spoiled.schedule.transfers.back().end += 1;
  expect_found(spoiled.check(), {"joins another over a bus, and there is none"});
  spoiled = joined_step();
  spoiled.schedule.transfers.front().bytes = 64;
  expect_found(spoiled.check(), {"joins another over a bus, and there is none"});
  spoiled = joined_step();
  spoiled.schedule.routes[TwoCores::from_dram[1]].channels = {TwoCores::dram_port};
  expect_found(spoiled.check(), {"joins another over a bus, and there is none"});
}

TEST(CheckRoutes, FindsWhatTheMachineDoesNotHave) {
  expect_found_in_small_step([](CheckCase& c) { c.schedule.channels[TwoCores::bus].bits_per_cycle = 65; },
                             {"the channel memory_bus carries 65 bits a cycle, the machine has 64"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.channels[TwoCores::dram_port].bits_per_cycle = 100; },
                             {"the channel dram rw carries 100 bits a cycle, the machine has 128"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.routes[0].bits_per_cycle = 128; },
                             {"the route from dram to core0/sram carries 128 bits a cycle, its narrowest channel 64"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.routes[TwoCores::up].latency_cycles = 2; },
                             {"the route from core0/sram to core1/sram takes 2 cycles, its links 3"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.routes[TwoCores::up].pj_per_bit = 1; },
                             {"costs 1 pJ a bit, its links 2"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.routes[TwoCores::up].channels.clear(); },
                             {"has no channel"});
  expect_found_in_small_step(
      [](CheckCase& c) { c.schedule.routes[TwoCores::page_out].channels[1] = TwoCores::flash_read; },
      {"the route from dram to flash uses a port that does not carry it"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.routes[0].channels = {TwoCores::dram_port}; },
                             {"the route from dram to core0/sram does not lead there"});
  expect_found_in_small_step(
      [](CheckCase& c) { c.schedule.routes[0].channels = {TwoCores::dram_port, TwoCores::link_up}; },
      {"the route from dram to core0/sram does not lead there"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        for (Link& link : c.hardware.links) link.both_ways = false;
      },
      {"the route from core1/sram to core0/sram does not lead there"});
}

TEST(CheckChannels, FindsWhatIsTooMuchTogether) {
  // Twice the same transfer at the same time.
  expect_found_in_small_step(
      [](CheckCase& c) { c.schedule.transfers.push_back(c.transfer(c.buffer("x"), fetch)); },
      {"the channel memory_bus is asked for more than it can carry", "buffer 0 of x", "could end at 32 at best"});
  // At half the speed each they share it.
  CheckCase made = small_step();
  made.delay(1, 16);
  ScheduledTransfer& first = made.transfer(made.buffer("x"), fetch);
  first.end = 32;
  made.schedule.transfers.push_back(first);
  expect_valid(made.check());
  made.schedule.transfers.back().end -= 1;  // the other one may have more of it meanwhile
  expect_valid(made.check());
  made.transfer(made.buffer("x"), fetch).end -= 1;
  expect_found(made.check(), {"the channel memory_bus is asked for more than it can carry"});
}

TEST(CheckCapacities, FindsMemoriesThatOverflow) {
  // y tile 0 works on x, w and its part of y, 128 + 192 + 48 bytes; step on w and its successor, 2 * 192 bytes.
  CheckCase made = small_step();
  for (Memory& memory : made.hardware.memories) {
    if (memory.kind == MemoryKind::sram) memory.size_bits = 368 * 8;
  }
  expect_found(made.check(), {"core0/sram holds 384 bytes", "and has room for 368"});
  for (Memory& memory : made.hardware.memories) {
    if (memory.kind == MemoryKind::sram) memory.size_bits = 384 * 8;
  }
  expect_valid(made.check());
  expect_found_in_small_step([](CheckCase& c) { c.home("x").bytes = 1 << 20; }, {"dram holds", "room for 65536"});
  expect_found_in_small_step([](CheckCase& c) { c.home("x").end += 1; },
                             {"x stays in dram until", "after the end of the step"});
  expect_found_in_small_step([](CheckCase& c) { c.stay(c.buffer("w"), c.tile("step")).end += 1; },
                             {"buffer 0 of w stays in core0/sram until"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        Stay stay = c.schedule.stays.back();
        stay.buffer = {};
        stay.tile = c.tile("step");
        stay.end += 1;
        c.schedule.stays.push_back(stay);
      },
      {"workspace of step tile 0 stays in core0/sram until"});
}

// As many instances as lanes, where one serves only its own.
TEST(CheckCapacities, CountsAllInstances) {
  CheckCase made = small_step();
  for (Memory& memory : made.hardware.memories) {
    if (memory.kind == MemoryKind::sram) memory.size_bits = 96 * 8;
  }
  expect_found(made.check(), {"core0/sram holds", "and has room for 96"});
  for (Core& core : made.hardware.cores) core.levels.front().served = 0;  // 4 lanes
  expect_valid(made.check());
}

TEST(CheckStorage, FindsWhatIsNotAtHome) {
  expect_found_in_small_step([](CheckCase& c) { c.home("w").bytes -= 1; },
                             {"w stays in dram with 191 bytes and has 192"});
  expect_found_in_small_step([](CheckCase& c) { c.home("w").end -= 20; },
                             {"w outlives the step and is not in home memory"});
  expect_found_in_small_step([](CheckCase& c) { c.home("n").end -= 1; },
                             {"buffer 0 of n is a result of the step, and in home memory it has no room there"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        std::erase_if(c.schedule.transfers, [&](const auto& t) { return t.buffer == c.buffer("n"); });
      },
      {"buffer 0 of n is a result of the step, and in home memory it is not there in time at the end"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        std::erase_if(c.schedule.transfers, [&](const auto& t) { return t.buffer == c.buffer("step"); });
      },
      {"buffer 0 of step is a result of the step"});
}

// A result that is a view: what it shows must be at home, and no more.
TEST(CheckStorage, LooksBehindViews) {
  using Integers = std::vector<std::int64_t>;
  for (const std::int64_t rows : {2, 4}) {
    GraphBuilder b("views");
    const TensorId r = b.add(Op::Relu, "r", {b.input("x", {4, 6})});
    const Attributes part = {{Attr::axes, Integers{0}},
                             {Attr::starts, Integers{0}},
                             {Attr::steps, Integers{1}},
                             {Attr::shape, Integers{rows, 6}}};
    b.output(b.add(Op::Transpose, "t", {b.add(Op::Slice, "s", {r}, part)}, {{Attr::perm, Integers{1, 0}}}));
    if (rows == 4) b.output(b.add(Op::Concat, "c", {r, r}, {{Attr::axis, std::int64_t{0}}}));
    CheckCase made = case_of(std::move(b), {{"r", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(0)}}}});
    expect_valid(made.check());
    made.transfer(made.buffer("r", 1), write_back).to = made.machine.sram[1];
    const CheckReport report = made.check();
    const auto is_result = [](const Violation& v) {
      return v.what.find("buffer 1 of r is a result") != std::string::npos;
    };
    EXPECT_EQ(std::ranges::count_if(report.violations, is_result), rows == 2 ? 0 : 2);
  }
}

TEST(CheckStorage, FindsReadersOfWhatIsOverwritten) {
  // The new w is written before y's last tile fetches the old one.
  expect_found_in_small_step(
      [](CheckCase& c) {
        ScheduledTransfer& update = c.transfer(c.buffer("step"), write_back);
        update.start = update.end = c.at("y", 3).start - 30;
      },
      {"buffer 0 of w from dram", "at its source the buffer is overwritten there meanwhile"});
}

// Each half of w is replaced when the tile that reads that half has made its successor.
TEST(CheckStorage, FollowsWhatIsOverwrittenPieceByPiece) {
  GraphBuilder b("halves");
  const TensorId w = b.parameter("w", {4, 6});
  b.output(b.add(Op::Relu, "r", {w}));
  b.update(w, b.add(Op::Neg, "step", {w}));
  CheckCase made = case_of(std::move(b), {{"step", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(0)}}}});
  expect_valid(made.check());
  for (const std::size_t i : {0, 1}) {
    ScheduledTransfer& update = made.transfer(made.buffer("step", i), write_back);
    update.start = update.end = 0;
    if (i == 1) expect_found(made.check(), {"buffer 0 of w from dram", "is overwritten there meanwhile"});
  }
}

// What takes the place of a tensor may be made under another shape.
TEST(CheckStorage, FollowsUpdatesThroughViews) {
  GraphBuilder b("reshaped");
  const TensorId w = b.parameter("w", {4, 6});
  const TensorId flat = b.add(Op::Reshape, "flat", {w}, {{Attr::shape, std::vector<std::int64_t>{24}}});
  const TensorId step = b.add(Op::Neg, "step", {flat});
  b.update(w, b.add(Op::Reshape, "back", {step}, {{Attr::shape, std::vector<std::int64_t>{4, 6}}}));
  CheckCase made = case_of(std::move(b), {});
  expect_valid(made.check());
  // In the storage of w, without any of its own.
  std::erase_if(made.schedule.home, [&](const TensorStay& stay) { return stay.tensor == made.tensor("step"); });
  expect_valid(made.check());
  std::erase_if(made.schedule.transfers, [](const ScheduledTransfer& t) { return t.kind == write_back; });
  expect_found(made.check(), {"buffer 0 of step is a result of the step"});
}

// r is away in flash while others run.
CheckCase paged_step() {
  CheckCase made = small_step();
  made.assignment.paged.assign(made.graph.tensors().size(), MemoryId());
  made.assignment.paged[made.tensor("r").index()] = made.machine.flash;
  const double start =
      made.schedule.transfers[std::size_t(&made.transfer(made.buffer("r", 0), fetch) - made.schedule.transfers.data())]
          .start;
  made.delay(start, 200);
  double time = start;
  for (const std::size_t i : {0, 1}) {
    made.schedule.transfers.push_back({.start = time,
                                       .end = time + 48,
                                       .bytes = 48,
                                       .buffer = made.buffer("r", i),
                                       .from = made.machine.dram,
                                       .to = made.machine.flash,
                                       .route = TwoCores::page_out,
                                       .kind = page_out});
    made.schedule.transfers.push_back({.start = start + 150 + 24.0 * double(i),
                                       .end = start + 174 + 24.0 * double(i),
                                       .bytes = 48,
                                       .buffer = made.buffer("r", i),
                                       .from = made.machine.flash,
                                       .to = made.machine.dram,
                                       .route = TwoCores::page_in,
                                       .kind = page_in});
    time += 48;
  }
  TensorStay& home = made.home("r");
  TensorStay back = home, away = home;
  home.end = start + 96;
  away = {.start = start, .end = start + 198, .bytes = home.bytes, .tensor = home.tensor, .memory = made.machine.flash};
  back.start = start + 150;
  made.schedule.home.push_back(away);
  made.schedule.home.push_back(back);
  return made;
}

TEST(CheckPaging, FollowsWhatIsPagedOut) {
  expect_valid(paged_step().check());
  CheckCase spoiled = paged_step();
  spoiled.home("r").end += 10;
  expect_found(spoiled.check(), {"r is paged out to flash and stays in dram for 10 cycles meanwhile"});
  spoiled = paged_step();
  std::erase_if(spoiled.schedule.transfers,
                [&](const auto& t) { return t.kind == page_out && t.buffer == spoiled.buffer("r", 1); });
  expect_found(spoiled.check(), {"buffer 1 of r is planned to be paged out to flash and is not"});
  expect_found(spoiled.check(), {"buffer 1 of r from flash to dram", "at its source the buffer is not there in time"});
  spoiled = paged_step();
  std::erase_if(spoiled.schedule.transfers, [](const auto& t) { return t.kind == page_in; });
  expect_found(spoiled.check(),
               {"buffer 0 of r from dram to core0/sram", "at its source the buffer is not there in time"});
  // A reader in between.
  spoiled = paged_step();
  ScheduledTransfer& fetched = spoiled.transfer(spoiled.buffer("r"), fetch);
  fetched.start -= 60;
  fetched.end -= 60;
  expect_found(spoiled.check(), {"buffer 0 of r from dram to core0/sram", "at its source the buffer"});
}

}  // namespace
}  // namespace monet::test
