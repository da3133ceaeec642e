#include "mapping/constraints.h"
#include "mapping/entry_of.h"
#include "mapping/machines.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

using test::convolution;
using test::entry_of;
using test::tpu_like;

TEST(HeldLevels, LoopsRunInsideWhatTheMemoryHolds) {
  const Problem problem = convolution(64, 64, 28, 28, 3);
  const Target target = tpu_like();
  const auto free = map_problem(problem, target);
  ASSERT_TRUE(free);
  // All rows and columns of the map inside the register of one output: it holds one element, so it cannot be.
  const auto wrong = entry_of("  levels: {O: {rf_o: [OX]}}\n");
  SearchOptions options;
  options.constraints = *constraints_of(wrong, problem, target);
  EXPECT_FALSE(map_problem(problem, target, options));
  // All sums inside it: that can be, and is what the free search does as well or better.
  const auto right = entry_of("  levels: {O: {rf_o: [C, FX, FY]}}\n");
  options.constraints = *constraints_of(right, problem, target);
  const auto held = map_problem(problem, target, options);
  ASSERT_TRUE(held) << held.error().text();
  EXPECT_GE(held->cost.cycles, free->cost.cycles);
  // Partial sums never leave the register then.
  const Traffic& sram = held->cost.traffic[2][1];
  EXPECT_EQ(sram.words[static_cast<std::size_t>(Transfer::to_low)], 0);
}

TEST(HeldLevels, Errors) {
  const auto entry = entry_of("  levels: {O: {cache: [C]}}\n");
  const auto constraints = constraints_of(entry, convolution(8, 8, 4, 4, 1), tpu_like());
  ASSERT_FALSE(constraints);
  EXPECT_EQ(constraints.error().text(),
            "m.yaml:1:3: the core has no memory \"cache\" (its memories are rf_w, rf_o, sram, dram)");
  const auto message = [](const std::string& text) {
    const auto file = read_mapping_text(text, "m.yaml");
    return file ? "no error" : file.error().text();
  };
  EXPECT_NE(message("- name: default\n  levels: {Q: {sram: [C]}}\n").find("m.yaml:2:12"), std::string::npos);
  EXPECT_NE(message("- name: default\n  levels: {O: {sram: [c]}}\n").find("is not the name of a loop"),
            std::string::npos);
}

}  // namespace
}  // namespace monet
