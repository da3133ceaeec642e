// Each rule about tiles, cores and dependencies finds what breaks it.
#include "evaluate/check_case.h"

namespace monet::test {
namespace {

TEST(CheckGrids, FindsGridsThatAreNotWhole) {
  expect_found_in_small_step([](CheckCase& c) { c.grid("t").count = 1; }, {"t is a view and has 1 tiles"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("r").first = 3; }, {"r has 2 tiles from 3 on, where 4 of 8"});
  expect_found_in_small_step([](CheckCase& c) { std::swap(c.grid("y").axes[0], c.grid("y").axes[1]); },
                             {"y: its axes that add up do not come last"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[1].loop = Dim::K; }, {"y is cut twice along K"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes.pop_back(); }, {"y has 4 tiles and a grid of 2"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes.pop_back(); }, {"y is not cut along C, as the plan"});
  expect_found_in_small_step([](CheckCase& c) { c.plan("y").cores.pop_back(); },
                             {"y is split into 2 pieces and has 1"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[0].bounds = {0, 3, 3}; },
                             {"y: its tiles along K do not follow"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[0].bounds = {0, 3, 5}; },
                             {"y: its tiles along K cover 5 of 6"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[0].bounds = {0, 2, 6}; },
                             {"y: its tiles along K are not those of the plan"});
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[1].loop = Dim::OY; },
                             {"y is cut along OY, which not all of its nests have"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.grid("step").count = 0;
        c.grid("n").count = 0;
      },
      {"n has 0 tiles from 6 on"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.tiles.node.push_back(c.node("step"));
        c.tiles.first_read.push_back(c.tiles.first_read.back());
        c.tiles.first_write.push_back(c.tiles.first_write.back());
        c.schedule.tiles.push_back(c.schedule.tiles.back());
      },
      {"1 of 9 tiles belong to no operator"});
}

TEST(CheckGrids, FindsBuffersThatAreNotWhatTilesMake) {
  expect_found_in_small_step([](CheckCase& c) { c.tiles.node[1] = c.node("r"); },
                             {"tile 1 is one of y and says that it belongs to r"});
  expect_found_in_small_step([](CheckCase& c) { c.tiles.writes[1].adds = false; },
                             {"y tile 1 does not write its part"});
  expect_found_in_small_step([](CheckCase& c) { c.tiles.writes[0].buffer = BufferId(c.buffer("y", 1)); },
                             {"y tile 0 does not write its part of y"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.tiles.writes.push_back(c.tiles.writes.back());
        ++c.tiles.first_write.back();
      },
      {"step tile 0 writes 2 buffers for 1 results"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.tiles.buffers.push_back(c.tiles.buffers.back());
        ++c.tiles.first_buffer.back();
      },
      {"step has 2 buffers where its makers write 1"});
  expect_found_in_small_step([](CheckCase& c) { c.of(c.buffer("y", 1)).maker = c.tile("y", 2); },
                             {"buffer 1 of y names another tensor or maker"});
  expect_found_in_small_step([](CheckCase& c) { c.of(c.buffer("y", 1)).bytes -= 4; },
                             {"buffer 1 of y has 44 bytes where its elements take 48"});
  expect_found_in_small_step([](CheckCase& c) { c.of(c.buffer("x")).bytes += 8; },
                             {"the buffers of x have 136 bytes together, its elements 128"});
  expect_found_in_small_step([](CheckCase& c) { c.of(c.buffer("x")).maker = c.tile("y", 0); },
                             {"a buffer of x, with which the step begins"});
  // One of the two buffers of r is said to be t's.
  expect_found_in_small_step([](CheckCase& c) { --c.tiles.first_buffer[c.tensor("t").index()]; },
                             {"t is a view and has buffers"});
}

// Tiles may be made with other widths than the formats say.
TEST(CheckGrids, CountsElementsOfOtherWidths) {
  CheckCase made = small_step();
  const CheckOptions options{.element_bits = std::vector<StoredWidth>(made.graph.tensors().size(), 8)};
  expect_found(made.check(options), {"buffer 0 of y has 48 bytes where its elements take 12"});
  for (Buffer& buffer : made.tiles.buffers) buffer.bytes /= 4;
  for (ReadPart& part : made.tiles.parts) part = {part.bytes / 4, part.group_bytes / 4, part.input};
  for (ScheduledTransfer& transfer : made.schedule.transfers) transfer.bytes /= 4;
  expect_valid(made.check(options));
}

TEST(CheckGrids, FindsAxesThatAddUpAndDoNot) {
  expect_found_in_small_step([](CheckCase& c) { c.grid("y").axes[1].reduces = false; },
                             {"y has 2 buffers where its makers write 4"});
  CheckCase spoiled = small_step();
  GridAxis& axis = spoiled.grid("r").axes[0];
  axis.reduces = true;
  for (std::size_t i = 0; i < 2; ++i) {
    TileWrite& write = spoiled.tiles.writes[spoiled.tiles.first_write[spoiled.tile("r", i).index()]];
    write = {.buffer = spoiled.buffer("r"), .adds = i == 1, .final = i == 1};
  }
  spoiled.of(spoiled.buffer("r")).maker = spoiled.tile("r", 1);
  spoiled.tiles.buffers.erase(spoiled.tiles.buffers.begin() +
                              static_cast<std::ptrdiff_t>(spoiled.buffer("r", 1).index()));
  const BufferId removed = spoiled.buffer("r", 1);
  for (TileRead& read : spoiled.tiles.reads) {
    if (read.buffer >= removed) read.buffer = BufferId(read.buffer.index() - 1);
  }
  for (TileWrite& write : spoiled.tiles.writes) {
    if (write.buffer >= removed) write.buffer = BufferId(write.buffer.index() - 1);
  }
  for (ScheduledTransfer& transfer : spoiled.schedule.transfers) {
    if (transfer.buffer >= removed) transfer.buffer = BufferId(transfer.buffer.index() - 1);
  }
  for (Stay& stay : spoiled.schedule.stays) {
    if (stay.buffer >= removed) stay.buffer = BufferId(stay.buffer.index() - 1);
  }
  for (std::uint32_t& first : spoiled.tiles.first_buffer) first -= first > removed.index() ? 1 : 0;
  expect_found(spoiled.check(), {"r: tiles along B do not add to the same elements of r"});
}

// Two tiles along a loop that the result does not follow, each with a buffer of its own.
TEST(CheckGrids, FindsTilesThatMakeTheSameBuffer) {
  GraphBuilder b("sum");
  b.output(b.add(Op::MatMul, "y", {b.input("x", {4, 8}), b.input("z", {8, 6})}));
  CheckCase made = case_of(std::move(b), {{"y", {.cuts = {{Dim::C, 1, 4}}, .cores = {CoreId(0)}}}});
  expect_valid(made.check());
  made.grid("y").axes[0].reduces = false;
  Buffer second = made.of(made.buffer("y"));
  made.of(made.buffer("y")).maker = made.tile("y", 0);
  made.tiles.buffers.push_back(second);
  ++made.tiles.first_buffer.back();
  made.tiles.writes[0].final = true;
  made.tiles.writes[1] = {.buffer = made.buffer("y", 1)};
  expect_found(made.check(), {"y: tiles along C make the same elements of y"});
}

TEST(CheckCores, FindsTilesOnTheWrongCore) {
  expect_found_in_small_step([](CheckCase& c) { c.at("y", 2).core = CoreId(0); },
                             {"y tile 2 runs on core0 and is planned elsewhere"});
  expect_found_in_small_step([](CheckCase& c) { c.hardware.cores[1].operators = {"contraction"}; },
                             {"r runs on core1, which cannot run Relu"});
  expect_found_in_small_step([](CheckCase& c) { c.hardware.cores[0].operators = {"*", "!Neg"}; },
                             {"n runs on core0, which cannot run Neg"});
  expect_found_in_small_step([](CheckCase& c) { c.hardware.cores[0].units[0].cycles[0] = 0; },
                             {"y runs on core0, which cannot run MatMul"});
}

TEST(CheckCores, FindsTimesThatCannotBe) {
  expect_found_in_small_step([](CheckCase& c) { c.at("y", 0).end -= 1; }, {"y tile 0 takes 10 cycles and runs for 9"});
  expect_found_in_small_step([](CheckCase& c) { c.at("y", 0).start -= 1; },
                             {"y tile 0 takes 10 cycles and runs for 11, though it shares nothing"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.costs[0].home_read_bits = 8; },
                             {"y tile 0 moves data from or to home memory and streams nothing"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.at("y", 0).wait = Wait::transfer;
        c.at("y", 0).by = 5;
      },
      {"y tile 0 starts at", "is said to wait for what ends at"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        c.schedule.transfers[0].wait = Wait::core;
        c.schedule.transfers[0].by = 5;
      },
      {"transfer 0 (buffer 0 of x", "is said to wait for what ends at"});
  expect_found_in_small_step([](CheckCase& c) { c.schedule.cycles += 1; },
                             {"the step takes", "its last tile or transfer ends at"});
}

TEST(CheckCores, FindsTwoTilesAtOnce) {
  const auto overlap = [](CheckCase& c) {
    const double start = c.at("y", 0).start + 5;
    c.at("y", 1).start = start;
    c.at("y", 1).end = start + 10;
  };
  expect_found_in_small_step(overlap, {"core0 runs y tile 1 from", "before y tile 0 ends at"});
  expect_found_in_small_step(overlap, {"core0 is busy for 40 and idle for"});
  expect_found_in_small_step(overlap, {"y tile 1 starts at", "adds to buffer 0 of y, to which y tile 0 adds until"});
}

TEST(CheckOrder, FindsReadersBeforeTheirMakers) {
  expect_found_in_small_step([](CheckCase& c) { std::swap(c.at("r", 0), c.at("y", 3)); },
                             {"r tile 0 starts at", "reads buffer 1 of y, which y tile 3 completes at"});
  expect_found_in_small_step([](CheckCase& c) { std::swap(c.at("y", 0), c.at("y", 1)); },
                             {"y tile 1 starts at", "adds to buffer 0 of y"});
  expect_found_in_small_step([](CheckCase& c) { c.part(c.tile("y"), 0).bytes = 1000; },
                             {"y tile 0 reads 1000 bytes, with"});
  expect_found_in_small_step([](CheckCase& c) { c.part(c.tile("y"), 0).group_bytes = 1000; },
                             {"with its group 1000, of buffer 0 of x, which has 128"});
}

TEST(CheckElements, FindsReadsThatAreMissingOrTooMany) {
  // r tile 1 (rows 2 and 3) reads both halves of y.
  expect_found_in_small_step([](CheckCase& c) { c.remove_read(c.tile("r", 1), 1); },
                             {"r tile 1 needs element 15 of y and does not read buffer 1 of y"});
  expect_found_in_small_step([](CheckCase& c) { c.remove_read(c.tile("n"), 1); },
                             {"n tile 0 needs element 12 of r and does not read buffer 1 of r"});
  expect_found_in_small_step([](CheckCase& c) { c.remove_read(c.tile("y", 0), 1); },
                             {"y tile 0 needs element 0 of w and does not read w"});
  expect_found_in_small_step(
      [](CheckCase& c) { c.tiles.reads[c.tiles.first_read[c.tile("step").index()]].buffer = c.buffer("y", 1); },
      {"step tile 0 needs element 0 of w"});
  expect_found_in_small_step([](CheckCase& c) { c.part(c.tile("r", 1), 1).bytes = 20; },
                             {"r tile 1 reads 20 bytes of buffer 1 of y and its elements there take 24"});
  expect_found_in_small_step([](CheckCase& c) { c.part(c.tile("y", 1), 1).bytes = 52; },
                             {"y tile 1 reads 52 bytes of w and its elements there take 48"});
  expect_found_in_small_step(
      [](CheckCase& c) {
        const TileId step = c.tile("step");
        c.tiles.reads.push_back({c.buffer("x"), static_cast<std::uint32_t>(c.tiles.parts.size())});
        c.tiles.parts.push_back({.bytes = 4, .group_bytes = 4});
        ++c.tiles.first_read[step.index() + 1];
      },
      {"step tile 0 reads buffer 0 of x and needs no element of it"});
}

TEST(CheckElements, LooksAtTheFirstAndTheLastTileOfAnOperatorAtLeast) {
  CheckCase spoiled = small_step();
  spoiled.remove_read(spoiled.tile("r", 1), 1);
  const CheckReport report = spoiled.check({.sample = 0});
  expect_found(report, {"r tile 1 needs element 15 of y"});
  EXPECT_NE(report.looked_at.find("8 tiles (6 by element)"), std::string::npos) << report.looked_at;
}

// Windows of an average's gradient overlap: tiles along the window's position write the same elements.
TEST(CheckElements, FindsTilesThatWriteTheSameElements) {
  using Integers = std::vector<std::int64_t>;
  GraphBuilder b("overlap");
  const TensorId dy = b.input("dy", {1, 1, 4, 4});
  const TensorId dx = b.add(Op::AveragePoolGrad, "dx", {dy},
                            {{Attr::kernel_shape, Integers{3, 3}},
                             {Attr::strides, Integers{1, 1}},
                             {Attr::pads, Integers{0, 0, 0, 0}},
                             {Attr::dilations, Integers{1, 1}},
                             {Attr::count_include_pad, std::int64_t{0}},
                             {Attr::shape, Integers{1, 1, 6, 6}}});
  // Rows 2 and 3: each under windows of both tiles.
  const TensorId middle = b.add(Op::Slice, "middle", {dx},
                                {{Attr::axes, Integers{2}},
                                 {Attr::starts, Integers{2}},
                                 {Attr::steps, Integers{1}},
                                 {Attr::shape, Integers{1, 1, 2, 6}}});
  b.output(b.add(Op::Neg, "n", {middle}));
  CheckCase made = case_of(std::move(b), {{"dx", {.cuts = {{Dim::OY, 1, 2}}, .cores = {CoreId(0)}}}});
  expect_found(made.check(), {"dx tile 0 writes an element of dx that belongs to another tile along OY"});
  while (!made.tiles.reads_of(made.tile("n")).empty()) made.remove_read(made.tile("n"), 0);
  expect_found(made.check(), {"n tile 0 needs element 12 of dx and does not read the buffer that holds it"});
}

// The sum of a softmax is of all its row.
TEST(CheckElements, FindsResultsThatPassBetweenTiles) {
  GraphBuilder b("softmax");
  b.output(b.add(Op::Softmax, "s", {b.input("x", {4, 6})}, {{Attr::axes, std::vector<std::int64_t>{1}}}));
  const GraphBuilder& rows = b;
  const CheckCase valid = case_of(rows, {{"s", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(0)}}}});
  expect_valid(valid.check());
  const CheckCase cut = case_of(rows, {{"s", {.cuts = {{Dim::K, 1, 2}}, .cores = {CoreId(0)}}}});
  expect_found(cut.check(), {"s tile 0 uses between its nests an element of its intermediate results", "along K"});
}

// Through each kind of view, against the interpreter: nothing is missed and nothing is asked for in vain.
TEST(CheckElements, SeesThroughEveryView) {
  using Integers = std::vector<std::int64_t>;
  const std::int64_t one = 1, two = 2;
  const std::vector<std::pair<Op, Attributes>> views = {
      {Op::Identity, {}},
      {Op::Reshape, {{Attr::shape, Integers{4, 6, 8}}}},
      {Op::Transpose, {{Attr::perm, Integers{2, 0, 3, 1}}}},
      {Op::Slice,
       {{Attr::axes, Integers{1, 3}},
        {Attr::starts, Integers{1, 3}},
        {Attr::steps, Integers{2, -1}},
        {Attr::shape, Integers{1, 3, 4, 3}}}},
      {Op::Split, {{Attr::axis, one}, {Attr::split, Integers{3, 5}}}},
      {Op::Concat, {{Attr::axis, two}}},
      {Op::Expand, {{Attr::shape, Integers{2, 2, 8, 4, 6}}}},
      {Op::DepthToSpace, {{Attr::blocksize, two}, {Attr::mode, std::string("DCR")}}},
      {Op::DepthToSpace, {{Attr::blocksize, two}, {Attr::mode, std::string("CRD")}}},
      {Op::SpaceToDepth, {{Attr::blocksize, two}}},
  };
  for (const auto& [op, attributes] : views) {
    SCOPED_TRACE(name_of(op));
    GraphBuilder b("view");
    const TensorId r = b.add(Op::Relu, "r", {b.input("x", {1, 8, 4, 6})});
    const bool joins = op == Op::Concat;
    const std::vector<TensorId> inputs = joins ? std::vector{r, b.add(Op::Neg, "q", {r}), r} : std::vector{r};
    const auto seen = b.add_many(op, "view", inputs, attributes, op == Op::Split ? 2 : 1);
    b.output(b.add(Op::Neg, "n", {seen.back()}));
    const Dim last = b.shape(seen.back()).size() == 4 ? Dim::OX : Dim::K;
    CheckCase made = case_of(std::move(b), {{"r", {.cuts = {{Dim::K, 1, 3}, {Dim::OX, 1, 2}}, .cores = {CoreId(0)}}},
                                            {"n", {.cuts = {{last, 2, 2}}, .cores = {CoreId(0), CoreId(1)}}}});
    expect_valid(made.check());
    const OperatorTiles grid = made.grid("n");
    ASSERT_GT(grid.count, 1U);
    for (std::size_t i = 0; i < grid.count; ++i) {
      const TileId tile = made.tile("n", i);
      for (std::size_t read = 0; read < made.tiles.reads_of(tile).size(); ++read) {
        CheckCase spoiled = made;
        spoiled.remove_read(tile, read);
        expect_found(spoiled.check(), {"n tile " + std::to_string(i), "needs element", "does not read buffer"});
      }
    }
  }
}

// Repeats are two loops on one axis: the inner one is found by what the outer one leaves.
TEST(CheckElements, TurnsRoundLoopsThatShareAnAxis) {
  for (const Dim loop : {Dim::K, Dim::OX}) {
    GraphBuilder b("tile");
    const TensorId x = b.input("x", {1, 2, 3, 4});
    const TensorId repeated =
        b.add(Op::Tile, "repeated", {x}, {{Attr::repeats, std::vector<std::int64_t>{1, 1, 1, 3}}});
    b.output(b.add(Op::Neg, "n", {repeated}));
    CheckCase made = case_of(std::move(b), {{"repeated", {.cuts = {{loop, 1, 1}}, .cores = {CoreId(0)}}}});
    expect_valid(made.check());
    made.remove_read(made.tile("n"), 1);
    expect_found(made.check(), {"n tile 0 needs element", "of repeated and does not read buffer 1 of repeated"});
  }
}

// Halos with stride, dilation and padding, sums over channels, and rows that only some windows reach.
TEST(CheckElements, FollowsConvolutions) {
  using Integers = std::vector<std::int64_t>;
  GraphBuilder b("convolution");
  const TensorId r = b.add(Op::Relu, "r", {b.input("x", {1, 4, 9, 7})});
  b.output(b.add(Op::Conv, "y", {r, b.parameter("w", {3, 4, 3, 3})},
                 {{Attr::kernel_shape, Integers{3, 3}},
                  {Attr::strides, Integers{2, 1}},
                  {Attr::dilations, Integers{1, 2}},
                  {Attr::pads, Integers{1, 2, 1, 2}},
                  {Attr::group, std::int64_t{1}}}));
  const CheckCase made =
      case_of(std::move(b), {{"r", {.cuts = {{Dim::OY, 1, 2}, {Dim::K, 2, 1}}, .cores = {CoreId(0), CoreId(1)}}},
                             {"y", {.cuts = {{Dim::C, 1, 2}, {Dim::OY, 2, 1}}, .cores = {CoreId(0), CoreId(1)}}}});
  expect_valid(made.check());
  for (std::size_t i = 0; i < made.tiles.reads_of(made.tile("y", 3)).size(); ++i) {
    CheckCase spoiled = made;
    spoiled.remove_read(made.tile("y", 3), i);
    expect_found(spoiled.check(), {"y tile 3 needs element", "does not read"});
  }
}

// A tile with many points is looked at in some of them: the corners are among these.
TEST(CheckElements, FindsWhatLargeTilesDoNotRead) {
  GraphBuilder b("large");
  b.output(b.add(Op::Neg, "n", {b.add(Op::Relu, "r", {b.input("x", {32, 40})})}));
  CheckCase made = case_of(std::move(b), {{"r", {.cuts = {{Dim::B, 1, 16}}, .cores = {CoreId(0)}}},
                                          {"n", {.cuts = {{Dim::K, 1, 20}}, .cores = {CoreId(0)}}}});
  expect_valid(made.check());
  made.remove_read(made.tile("n", 1), 0);
  expect_found(made.check(), {"n tile 1 needs element 20 of r and does not read buffer 0 of r"});
}

// Whether known indices of other operators than Gather are followed is open: both are right.
TEST(CheckElements, LeavesOpenWhatElseFollowsKnownIndices) {
  GraphBuilder b("elements");
  const TensorId table = b.add(Op::Relu, "table", {b.input("x", {4, 2})});
  const TensorId rows = b.constant("rows", Constant::integers(ElementType::int64, {1, 2}, {3, 3}));
  b.output(b.add(Op::GatherElements, "picked", {table, rows}, {{Attr::axis, std::int64_t{0}}}));
  CheckCase made = case_of(std::move(b), {{"table", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(0)}}}});
  expect_valid(made.check());
  made.remove_read(made.tile("picked"), 0);
  expect_valid(made.check());
}

// Rows that are known by number are the only ones that a tile depends on.
TEST(CheckElements, FollowsKnownIndicesOfAGather) {
  GraphBuilder b("gather");
  const TensorId table = b.add(Op::Relu, "table", {b.input("x", {6, 2})});
  const TensorId rows = b.constant("rows", Constant::integers(ElementType::int64, {3}, {4, -1, 5}));
  b.output(b.add(Op::Gather, "picked", {table, rows}, {{Attr::axis, std::int64_t{0}}}));
  CheckCase made = case_of(std::move(b), {{"table", {.cuts = {{Dim::B, 1, 2}}, .cores = {CoreId(0)}}}});
  ASSERT_EQ(made.tiles.reads_of(made.tile("picked")).size(), 4U);
  expect_valid(made.check());
  made.remove_read(made.tile("picked"), 0);  // rows 0 and 1
  expect_valid(made.check());
  made.remove_read(made.tile("picked"), 1);  // rows 4 and 5
  expect_found(made.check(), {"picked tile 0 needs element 8 of table and does not read buffer 2 of table"});
}

}  // namespace
}  // namespace monet::test
