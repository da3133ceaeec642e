// What passes between the nests of an operator: does it find a place, however little room there is?
#include "mapping/machines.h"
#include "mapping/search.h"

#include <gtest/gtest.h>

namespace monet {
namespace {

ProblemOperand vector_operand(std::int64_t size, bool written, std::int64_t piece_bits) {
  ProblemOperand operand{.path = written ? Path::output : Path::input, .written = written};
  operand.bits = 8;
  operand.partial_bits = 32;
  operand.piece_bits = piece_bits;
  operand.axes.push_back({.terms = {{0, 1}}, .divisor = 1, .span = 1, .limit = size});
  return operand;
}

// y = f(x) over `size` elements, both handed on between nests as a whole, beside a sum.
Problem handed_on(std::int64_t size) {
  Problem problem;
  problem.loops = {{Dim::K, size}};
  problem.operands = {vector_operand(size, false, 8 * size), vector_operand(size, true, 8 * size)};
  ProblemOperand sum{.path = Path::output, .written = true, .accumulates = true};
  sum.bits = 16;
  sum.partial_bits = 32;
  sum.piece_bits = 16;
  problem.operands.push_back(sum);
  problem.per_point[Count::add] = 1;
  problem.precision = "int8";
  return problem;
}

Target small_memory(std::int64_t bytes) {
  using enum Path;
  return test::target_with(
      {{8, {Dim::K}}}, 0.1,
      {{"sram", 8 * bytes, 1, 1, {input, weight, output}, 1, 64, 64, true},
       {"dram", 10000000000, 100, 100, {input, weight, output}, 1, 64, 64, true, MemoryKind::dram}});
}

// Each piece alone fits, and the next one beside it; all of them together do not, by two bytes.
TEST(Pieces, ThoseThatDoNotFitTogetherPassThroughTheNextMemory) {
  const std::int64_t size = 65536;
  const auto crowded = map_problem(handed_on(size), small_memory(2 * size));
  ASSERT_TRUE(crowded.has_value()) << crowded.error().text();
  const auto roomy = map_problem(handed_on(size), small_memory(4 * size));
  ASSERT_TRUE(roomy.has_value()) << roomy.error().text();
  // One of them goes to DRAM and comes back: 64 KiB more by its port.
  EXPECT_GT(crowded->cost.energy_pj, roomy->cost.energy_pj);
  EXPECT_EQ(roomy->cost.levels[0].size(), 1);
  EXPECT_EQ(crowded->cost.levels[0].size(), 2);  // what is read passes through DRAM, what is written stays
  EXPECT_EQ(crowded->cost.levels[1].size(), 1);
}

TEST(Pieces, OfAnySizeCanBeMapped) {
  for (std::int64_t size = 16; size <= 4096; size *= 2) {
    for (std::int64_t bytes :
         {size - 1, size, size + 1, 2 * size - 1, 2 * size, 2 * size + 2, 2 * size + 64, 3 * size}) {
      if (bytes < 64) continue;  // less than one cycle needs
      const auto mapped = map_problem(handed_on(size), small_memory(bytes));
      EXPECT_TRUE(mapped.has_value()) << size << " elements, " << bytes << " bytes: " << mapped.error().text();
    }
  }
}

}  // namespace
}  // namespace monet
