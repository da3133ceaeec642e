// What does the search refuse, and do its switches keep the answer?
#include "compat/zigzag/search.h"

#include "support/source_folder.h"
#include "support/zigzag_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace monet {
namespace {

Target machine(const std::string& name) {
  const auto folder = test::source_folder() / "tests" / "compat" / "zigzag_cases";
  return test::read_zigzag_target(test::file_text(folder / name / "machine.yaml"));
}

ZigzagLayer small_conv() {
  return zigzag_conv("conv", {.output_channels = 24,
                              .width = 14,
                              .height = 14,
                              .channels = 20,
                              .kernel = {3, 3},
                              .input_width = 16,
                              .input_height = 16});
}

void expect_refusal(const ZigzagLayer& layer, const Target& target, const ZigzagMapping& mapping,
                    const ZigzagOptions& options, ErrorKind kind, const std::string& words) {
  const auto result = zigzag_map(layer, target, mapping, options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, kind);
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().text();
  EXPECT_FALSE(result.error().advice.empty());
}

ZigzagMapping rows_and_columns() {
  ZigzagMapping mapping;
  mapping.spatial = {{"D1", {{Dim::K, 12}}}, {"D2", {{Dim::C, 10}}}};
  return mapping;
}

TEST(ZigzagErrors, DimensionsMustBeThere) {
  ZigzagMapping mapping;
  mapping.spatial = {{"D7", {{Dim::K, 4}}}};
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::user, "no dimension D7");
  mapping.spatial = {{"D1", {{Dim::K, 4}}}, {"D1", {{Dim::C, 4}}}};
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::user, "D1 twice");
  mapping.spatial = {{"D1", {{Dim::K, 0}}}};
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::user, "K is unrolled 0 times");
}

TEST(ZigzagErrors, EachOperandNeedsAPathOfItsOwn) {
  ZigzagMapping mapping;
  mapping.weight_path = Path::input;
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::user, "memory_operand_links");
}

TEST(ZigzagErrors, PathsNeedMemoriesAndPorts) {
  Target target = machine("shared_buffer");
  target.memories.resize(1);
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "the path of inputs (I1) has 0 memories");
  target = machine("shared_buffer");
  target.memories[1].port[0][static_cast<std::size_t>(Transfer::from_high)] = no_port;
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user,
                 "memory buffer has no port for inputs (I1) from the level above");
  target = machine("shared_buffer");
  target.unit.dimensions.resize(9, {"D9", 1, {}});
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "9 dimensions");
}

TEST(ZigzagErrors, SizesMustBePossible) {
  Target target = machine("shared_buffer");
  target.unit.dimensions[1].size = 0;
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "dimension D2 of the array has size 0");
  target.unit.dimensions[1].size = std::int64_t{1} << 40;
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "dimension D2 of the array has size 1099511627776");
  target = machine("shared_buffer");
  target.memories[1].size_bits = 0;
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "memory buffer has no bits");
  target = machine("shared_buffer");
  target.memories[0].ports[0].min_bits = 0;
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "port r_port_1 of memory sums moves 0 to 24 bits");
  target = machine("shared_buffer");
  target.memories.resize(33, target.memories[0]);
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "33 memories");
  target.memories.resize(20);
  expect_refusal(small_conv(), target, {}, {}, ErrorKind::user, "the path of outputs (O) has 20 memories");
}

// Sums along K * C come back to a register that cannot be written from above.
TEST(ZigzagErrors, PartialSumsNeedAPort) {
  Target target = machine("shared_buffer");
  target.memories[0].port[2][static_cast<std::size_t>(Transfer::to_low)] = no_port;
  expect_refusal(small_conv(), target, rows_and_columns(), {}, ErrorKind::infeasible, "partial sums come back");
}

TEST(ZigzagErrors, ElementsMustFit) {
  Target target = machine("shared_buffer");
  target.memories[0].size_bits = 8;
  expect_refusal(small_conv(), target, rows_and_columns(), {}, ErrorKind::infeasible,
                 "an element of O does not fit memory sums");
  target = machine("shared_buffer");
  target.memories[2].size_bits = 1000;
  expect_refusal(small_conv(), target, rows_and_columns(), {}, ErrorKind::infeasible, "no order of its loops fits");
  target = machine("shared_buffer");
  target.memories[0].ports[1].min_bits = target.memories[0].ports[1].max_bits = 8;
  target.memories[0].served = 3;
  expect_refusal(small_conv(), target, rows_and_columns(), {}, ErrorKind::infeasible, "cannot feed K on D1");
  ZigzagMapping hinted;
  hinted.hints = {{"D1", {Dim::K}}};
  expect_refusal(small_conv(), target, hinted, {}, ErrorKind::infeasible, "no unrolling over the array fits");
}

TEST(ZigzagErrors, LayersMustBeCountable) {
  ZigzagLayer layer = small_conv();
  layer.loops[0].size = 0;
  expect_refusal(layer, machine("shared_buffer"), {}, {}, ErrorKind::user, "loop B has 0 iterations");
  layer = small_conv();
  layer.operands[1].bits = -1;
  expect_refusal(layer, machine("shared_buffer"), {}, {}, ErrorKind::user, "operand W");
  layer = small_conv();
  layer.windows[0].stride = 0;
  expect_refusal(layer, machine("shared_buffer"), {}, {}, ErrorKind::user, "IX has stride 0");
  layer = small_conv();
  layer.loops.clear();
  expect_refusal(layer, machine("shared_buffer"), {}, {}, ErrorKind::user, "0 loops");
  layer = small_conv();
  layer.loops[0].size = std::int64_t{1} << 50;
  expect_refusal(layer, machine("shared_buffer"), {}, {}, ErrorKind::user, "MACs");
}

TEST(ZigzagErrors, ASearchNeedsCandidates) {
  ZigzagOptions options;
  options.spatial_candidates = 0;
  expect_refusal(small_conv(), machine("shared_buffer"), {}, options, ErrorKind::user, "0 unrollings");
}

TEST(ZigzagErrors, TooManyOrdersAreNotTried) {
  ZigzagLayer layer = small_conv();
  for (Loop& loop : layer.loops) loop.size = 24;
  ZigzagOptions options;
  options.factors = 0;
  expect_refusal(layer, machine("shared_buffer"), rows_and_columns(), options, ErrorKind::user, "orders");
  for (Loop& loop : layer.loops) loop.size = 36;
  layer.loops[0].size = 2048;
  ZigzagMapping ones;
  ones.spatial = {{"D1", {{Dim::K, 1}}}, {"D2", {{Dim::C, 1}}}};
  expect_refusal(layer, machine("shared_buffer"), ones, options, ErrorKind::user, "temporal loops");
}

TEST(ZigzagErrors, FewerThanNoCores) {
  ZigzagOptions options;
  options.parallel_cores = -1;
  expect_refusal(small_conv(), machine("shared_buffer"), rows_and_columns(), options, ErrorKind::user, "cores");
}

TEST(ZigzagErrors, TooManyUnrollingsAreNotTried) {
  Target target = machine("shared_buffer");
  ZigzagLayer layer = small_conv();
  for (Loop& loop : layer.loops) loop.size = 60;
  for (UnitDimension& dimension : target.unit.dimensions) dimension.size = 60;
  while (target.unit.dimensions.size() < 6) {
    target.unit.dimensions.push_back({"D" + std::to_string(target.unit.dimensions.size() + 1), 60, {}});
  }
  expect_refusal(layer, target, {}, {}, ErrorKind::user, "ways to unroll");
}

TEST(ZigzagErrors, FixedLoopsMustBeThoseOfTheLayer) {
  ZigzagMapping mapping = rows_and_columns();
  mapping.temporal = {{Dim::K, 7}};
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::infeasible, "fixes K 7");
  mapping.temporal = {{Dim::G, 1}};
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::user, "a loop G of size 1");
  mapping.temporal.assign(9, {Dim::OX, std::nullopt});
  expect_refusal(small_conv(), machine("shared_buffer"), mapping, {}, ErrorKind::infeasible, "9 loops");
  // Of 2 * 2 * 5 the 4 is fixed; ZigZag then merges the 5 with a 2 that is gone.
  mapping.temporal = {{Dim::C, 4}};
  ZigzagOptions options;
  options.factors = 1;
  ZigzagLayer layer = small_conv();
  layer.loops[5].size = 200;
  expect_refusal(layer, machine("shared_buffer"), mapping, options, ErrorKind::infeasible, "fixed parts of C");
}

// A ceiling on energy never changes which order is found.
TEST(ZigzagSearch, PruningKeepsTheAnswer) {
  const auto folder = test::source_folder() / "tests" / "compat";
  const auto layers = test::read_zigzag_layers(test::file_text(folder / "zigzag_layers.yaml"));
  for (const char* name : {"split_tops", "uneven_array"}) {
    const Target target = machine(name);
    ZigzagMapping mapping;
    mapping.spatial = {{"D1", {{Dim::K, 8}}}, {"D2", {{Dim::C, 4}}}, {"D3", {{Dim::OX, 3}}}};
    mapping.spatial.resize(target.unit.dimensions.size());
    for (const ZigzagLayer& layer : layers) {
      SCOPED_TRACE(layer.name + " on " + name);
      ZigzagOptions options;
      options.objective = Objective::energy;
      options.factors = 4;
      const auto pruned = zigzag_map(layer, target, mapping, options);
      options.prune = false;
      const auto whole = zigzag_map(layer, target, mapping, options);
      ASSERT_EQ(pruned.has_value(), whole.has_value());
      if (!pruned) continue;
      EXPECT_EQ(pruned->order, whole->order);
      EXPECT_EQ(pruned->energy_pj, whole->energy_pj);
      EXPECT_EQ(pruned->latency2, whole->latency2);
      EXPECT_EQ(pruned->evaluated, whole->evaluated);
    }
  }
}

TEST(ZigzagSearch, LoadsAreNotNegativeWithoutTheDefect) {
  for (std::int64_t columns : {8, 16, 40, 100}) {
    const ZigzagLayer layer = zigzag_product("fc", "Gemm", {.rows = 3, .contracted = 24, .columns = columns});
    ZigzagOptions options;
    ZigzagMapping mapping;
    mapping.spatial = {{"D1", {{Dim::K, 16}}}};
    const auto with = zigzag_map(layer, machine("narrow_ports"), mapping, options);
    options.negative_onloading = false;
    const auto without = zigzag_map(layer, machine("narrow_ports"), mapping, options);
    ASSERT_TRUE(with && without);
    EXPECT_GE(without->onload_cycles, 0);
    EXPECT_GE(without->offload_cycles, 0);
    EXPECT_GE(without->latency2, with->latency2);
  }
}

TEST(ZigzagSearch, EveryLoopMayBeUnrolledOnEveryDimension) {
  ZigzagMapping mapping;
  Target target = machine("shared_buffer");
  for (TargetMemory& memory : target.memories) memory.served = 0;
  target.unit.dimensions.clear();
  const ZigzagLayer layer = zigzag_conv("conv", {});
  for (int d = 1; d <= 8; ++d) {
    target.unit.dimensions.push_back({"D" + std::to_string(d), 2, {}});
    auto& [name, loops] = mapping.spatial.emplace_back("D" + std::to_string(d), std::vector<ZigzagUnroll>{});
    for (const Loop& loop : layer.loops) loops.push_back({loop.name, 1});
  }
  const auto result = zigzag_map(layer, target, mapping);
  ASSERT_TRUE(result) << result.error().text();
}

// The parts of the result tell the same story.
TEST(ZigzagSearch, ResultIsConsistent) {
  const auto result = zigzag_map(small_conv(), machine("shared_buffer"), rows_and_columns());
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->macs, 24.0 * 14 * 14 * 20 * 9);
  EXPECT_DOUBLE_EQ(result->energy_pj, result->mac_pj + result->memory_pj);
  EXPECT_EQ(result->latency2, result->latency1 + result->offload_cycles);
  double levels = 0;
  for (const auto& operand : result->operands) {
    double iterations = 1;
    for (const ZigzagLevel& level : operand.levels) {
      levels += level.energy_pj;
      for (const Loop& loop : level.loops) iterations *= static_cast<double>(loop.size);
    }
    EXPECT_EQ(iterations, result->ideal_temporal_cycles);
  }
  EXPECT_NEAR(levels, result->memory_pj, 1e-9 * levels);
  const MappingCost& cost = result->mapped.cost;
  EXPECT_EQ(cost.cycles, result->latency2);
  double memories = 0;
  for (double pj : cost.memory_pj) memories += pj;
  EXPECT_NEAR(memories, result->memory_pj, 1e-9 * memories);
  EXPECT_EQ(result->mapped.mapping.spatial.size(), 2U);
  EXPECT_EQ(result->mapped.mapping.spatial[0].size, 12);
  EXPECT_EQ(result->mapped.mapping.temporal.size(), result->order.size());
  for (const auto& cuts : result->mapped.mapping.cuts) EXPECT_EQ(cuts.back(), result->order.size());
}

}  // namespace
}  // namespace monet
