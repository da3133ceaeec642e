// Random steps on random machines by random plans: a schedule that the checker accepts, or an error that says what is
// wrong. MONET_SEEDS=FIRST-LAST asks for other seeds.
#include "evaluate/addresses/addresses.h"
#include "evaluate/evaluated_difference.h"
#include "evaluate/kernels/lowering_choice.h"
#include "evaluate/open/hardware.h"
#include "evaluate/random_evaluation.h"
#include "evaluate/run/fit.h"
#include "evaluate/run/result.h"
#include "hardware/presets.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

namespace monet {
namespace {

using namespace test;

struct Seeds {
  std::uint64_t first, last;
};

Seeds seeds(std::uint64_t count) {
  const char* wanted = std::getenv("MONET_SEEDS");
  if (wanted == nullptr) return {0, count};
  char* end = nullptr;
  const std::uint64_t first = std::strtoull(wanted, &end, 10);
  return {first, *end == '-' ? std::strtoull(end + 1, nullptr, 10) : first + 1};
}

// What a user may read, and never a defect.
void expect_clear(const Error& error, std::uint64_t seed) {
  EXPECT_NE(error.kind, ErrorKind::defect) << seed << ": " << error.text();
  EXPECT_FALSE(error.message.empty() || error.advice.empty()) << seed << ": " << error.text();
  EXPECT_LT(error.text().size(), 500U) << seed << ": " << error.text();
}

void expect_checked(Evaluator& evaluator, const Evaluated& result, std::uint64_t seed) {
  const CheckReport report = check(evaluator, result);
  EXPECT_EQ(report.count, 0U) << "seed " << seed << ": " << report.violations.front().what;
}

TEST(EvaluateRandom, EveryScheduleIsRight) {
  std::size_t scheduled = 0, all = 0;
  const Seeds range = seeds(110);
  for (std::uint64_t seed = range.first; seed < range.last; ++seed, ++all) {
    const auto example = random_evaluation(seed);
    if (!example) {
      expect_clear(example.error(), seed);
      continue;
    }
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options());
    const auto result = evaluate(evaluator, *example);
    if (!result) {
      expect_clear(result.error(), seed);
      continue;
    }
    ++scheduled;
    expect_checked(evaluator, *result, seed);
  }
  // Nearly all can be carried out.
  EXPECT_GE(scheduled * 10, all * 9);
}

TEST(EvaluateRandom, TheSameForAnyNumberOfThreadsWarmAndCold) {
  const Seeds range = seeds(25);
  std::uint64_t compared = 0;
  for (std::uint64_t seed = range.first; seed < range.last; ++seed) {
    const auto example = random_evaluation(seed);
    if (!example) continue;
    ++compared;
    MappingCache cache, other_cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options(1));
    Evaluator other(example->graph, example->hardware, other_cache, quick_options(4));
    const auto cold = evaluate(evaluator, *example);
    const auto warm = evaluate(evaluator, *example);
    const auto threads = evaluate(other, *example);
    EXPECT_EQ(difference(cold, warm), "") << seed;
    EXPECT_EQ(difference(cold, threads), "") << seed;
  }
  EXPECT_GE(compared * 2, range.last - range.first);
}

void expect_equal(double a, double b, std::uint64_t seed, const char* what) {
  EXPECT_LE(std::abs(a - b), 1e-6 * std::max({1.0, std::abs(a), std::abs(b)})) << seed << ": " << what << a << " " << b;
}

void expect_balanced(const Evaluation& result, const Totals& totals, const Hardware& hardware, RoutedMachine& machine,
                     std::uint64_t seed) {
  expect_equal(sum_of(result.energy), result.energy_pj, seed, "energy ");
  expect_equal(totals.energy_pj, result.energy_pj, seed, "energy of totals ");
  EXPECT_EQ(totals.cycles, result.latency_cycles) << seed;
  double phases = 0, phase_pj = 0;
  for (const PhaseResult& phase : result.phases) {
    phases += phase.latency_cycles;
    phase_pj += phase.energy_pj;
  }
  expect_equal(phases, result.latency_cycles, seed, "phases ");
  expect_equal(phase_pj, result.energy_pj, seed, "energy of phases ");
  for (const ResourceResult& resource : result.resources) {
    expect_equal(resource.busy_cycles + resource.idle_cycles, result.latency_cycles, seed, resource.name.c_str());
  }
  EXPECT_LE(result.bound_cycles, result.latency_cycles * (1 + 1e-9)) << seed << ": " << result.bound_by;
  EXPECT_LE(result.bound_pj, result.energy_pj * (1 + 1e-9)) << seed;
  for (const OperatorResult& row : result.operators) {
    EXPECT_LE(row.bound_cycles, row.busy_cycles * (1 + 1e-9)) << seed << ": " << row.name;
  }
  for (std::size_t m = 0; m < hardware.memories.size(); ++m) {
    const auto memory = std::ranges::find(result.memories, hardware.memories[m].name, &MemoryResult::name);
    EXPECT_TRUE(memory == result.memories.end() || memory->live_peak_bytes == totals.live_peak_bytes[m]) << seed;
    if (machine.is_home(MemoryId(m)) || hardware.memories[m].kind == MemoryKind::storage) continue;
    EXPECT_LE(totals.live_peak_bytes[m], machine.capacity_bytes(MemoryId(m))) << seed << hardware.memories[m].name;
  }
}

TEST(EvaluateRandom, TotalsAreTheSumsOfTheirParts) {
  const Seeds range = seeds(40);
  std::uint64_t summed = 0;
  for (std::uint64_t seed = range.first; seed < range.last; ++seed) {
    const auto example = random_evaluation(seed);
    if (!example) continue;
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options());
    const auto evaluated = evaluate(evaluator, *example);
    if (!evaluated) continue;
    ++summed;
    const ScheduledStep step{example->graph, example->hardware, evaluated->assignment, evaluated->tiles,
                             evaluated->schedule};
    std::vector<OperatorBound> bounds;
    for (std::size_t n = 0; n < example->graph.nodes().size(); ++n)
      bounds.push_back(evaluator.costs().bound(NodeId(n)));
    const auto packed = pack_stays(step, evaluator.machine());
    ASSERT_TRUE(packed.has_value()) << seed << ": " << packed.error().text();
    Evaluation result;
    fill(result, step, bounds, {.packed = &*packed});
    expect_balanced(result, totals(example->hardware, evaluated->schedule), example->hardware, evaluator.machine(),
                    seed);
  }
  EXPECT_GE(summed * 2, range.last - range.first);
}

// Whatever the graph: every operator once and in order, the allocator's peak made again, and no launch below its bound.
TEST(EvaluateRandom, EveryStepOfKernelsIsRight) {
  const auto hardware = open_hardware("h200");
  ASSERT_TRUE(hardware.has_value());
  const Seeds range = seeds(150);
  std::size_t checked = 0;
  for (std::uint64_t seed = range.first; seed < range.last; ++seed) {
    const auto example = random_evaluation(seed, *hardware);
    if (!example || !check_kernel_numbers(example->graph, *hardware, "", "")) continue;
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options());
    const auto result = evaluator.evaluate(empty_request(example->graph));
    ASSERT_TRUE(result) << seed << ": " << result.error().text();
    ASSERT_NE(result->kernels, nullptr);
    expect_checked(evaluator, *result, seed);
    for (const TileCost& cost : result->schedule.costs) EXPECT_LE(cost.bound_cycles, cost.cycles * (1 + 1e-9)) << seed;
    const std::vector<std::int64_t> peaks = live_peaks(hardware->memories.size(), result->schedule);
    EXPECT_EQ(*std::ranges::max_element(peaks), result->kernels->memory.peak()) << seed;
    ++checked;
  }
  EXPECT_GT(checked, 100U);
}

TEST(EvaluateRandom, EveryPresetGivesAResultOrSaysWhyNot) {
  const std::vector<std::string>& presets = preset_names();
  EXPECT_GE(presets.size(), 36U);
  std::size_t scheduled = 0;
  for (std::size_t i = 0; i < presets.size(); ++i) {
    auto hardware = open_hardware(presets[i]);
    ASSERT_TRUE(hardware.has_value()) << presets[i];
    auto example = random_evaluation(1000 + i, *hardware);
    ASSERT_TRUE(example.has_value()) << presets[i] << ": " << example.error().text();
    MappingCache cache;
    Evaluator evaluator(example->graph, example->hardware, cache, quick_options());
    // Its own policy, and a plan.
    for (int plan = 0; plan < 2; ++plan) {
      const auto result = plan == 0 ? evaluator.evaluate(empty_request(example->graph)) : evaluate(evaluator, *example);
      if (!result) {
        expect_clear(result.error(), 1000 + i);
        continue;
      }
      ++scheduled;
      expect_checked(evaluator, *result, 1000 + i);
    }
  }
  EXPECT_GE(scheduled, presets.size());
}

}  // namespace
}  // namespace monet
