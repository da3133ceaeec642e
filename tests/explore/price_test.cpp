#include "base/random.h"
#include "evaluate/open/hardware.h"
#include "explore/executor/executor.h"
#include "explore/price/constraints.h"
#include "explore/price/pricer.h"

#include <monet/evaluate.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace monet::explore {
namespace {

using ::testing::HasSubstr;

constexpr const char* small_space = R"(
space: 1
name: small
hardware: edge_tpu
parameters:
  x: [1, 2]
  simd: [16, 64]
  pe_memory: [512 KiB, 2 MiB]
workloads:
  - {name: training, network: mlp-robotics, batch: 4, step: training, weight: 2}
  - {name: inference, network: mlp-robotics, batch: 4, step: inference}
objectives: [latency, energy]
)";

std::unique_ptr<DesignPricer> pricer_of(const std::string& text) {
  auto space = Space::read_text(text, "space.yaml");
  EXPECT_TRUE(space) << space.error().text();
  if (!space) return nullptr;
  auto pricer = DesignPricer::open(*space);
  EXPECT_TRUE(pricer) << pricer.error().text();
  return pricer ? *std::move(pricer) : nullptr;
}

// Of any sign and size.
double any_number(SeededRandom& random) {
  const double number = std::bit_cast<double>(random.next());
  return std::isfinite(number) ? number : random.unit();
}

TEST(ExplorePrice, LinesAreReadBackToTheSameBits) {
  SeededRandom random(1);
  for (int i = 0; i < 200; ++i) {
    Outcome outcome{.design = random.next() >> 16,
                    .failure = random.with(0.3) ? "sram: \"too small\"\n\t\xc3\xa9" : "",
                    .excluded = random.with(0.5),
                    .hardware_hash = "0123",
                    .area_mm2 = any_number(random),
                    .static_w = any_number(random),
                    .macs_per_cycle = any_number(random),
                    .on_chip_bits = static_cast<std::int64_t>(random.next() >> 1)};
    for (std::size_t w = random.below(4); w > 0; --w) {
      WorkloadOutcome workload;
      if (random.with(0.3)) {
        workload.failure = "no";
      } else {
        workload = {.latency_cycles = any_number(random),
                    .latency_s = any_number(random),
                    .energy_pj = any_number(random),
                    .peak_bytes = static_cast<std::int64_t>(random.next() >> 1),
                    .macs = any_number(random),
                    .utilization = any_number(random),
                    .stacks = 1,
                    .tiles = 2,
                    .recomputed = 3,
                    .paged = 4};
      }
      outcome.workloads.push_back(workload);
    }
    const std::string line = to_line(outcome);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto back = outcome_from(line);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, outcome);
  }
}

TEST(ExplorePrice, KernelsAreLoweredAsTheWorkloadSays) {
  const auto pricer = pricer_of(R"(
space: 1
name: gpu
hardware:
  monet: 1
  name: wider
  include: h100
  parameters:
    bandwidth: 3350
  memories:
    hbm: {ports: {rw: {width: =bandwidth * 1 GB/s}}}
parameters:
  bandwidth: [3350]
workloads:
  - {network: gpt2-tiny, batch: 4, precision: bf16, lowering: [eager, compiled]}
objectives: [latency]
)");
  ASSERT_TRUE(pricer);
  EXPECT_EQ(pricer->space().workloads[1].name, "gpt2-tiny-compiled");
  const Outcome outcome = pricer->price(0, true);
  ASSERT_TRUE(outcome.ran()) << outcome.failure;
  double before = 0;
  for (std::size_t w = 0; w < 2; ++w) {
    StepRequest request;
    request.machine = "h100";
    request.lowering = w == 0 ? "eager" : "compiled";
    request.train.batch = 4;
    request.train.precision = "bf16";
    const auto alone = evaluate_network("gpt2-tiny", request);
    ASSERT_TRUE(alone) << alone.error().text();
    EXPECT_EQ(outcome.workloads[w].latency_cycles, alone->latency_cycles);
    EXPECT_NE(outcome.workloads[w].latency_cycles, before);
    before = outcome.workloads[w].latency_cycles;
  }
}

TEST(ExplorePrice, ALoweringOfKernelsIsForMachinesThatRunThem) {
  std::string text = small_space;
  text.replace(text.find("step: training"), 14, "lowering: compiled");
  const auto pricer = pricer_of(text);
  ASSERT_TRUE(pricer);
  EXPECT_THAT(pricer->price(0).workloads[0].failure, HasSubstr("no core of edge_tpu is a graphics processor"));
}

TEST(ExplorePrice, OtherLinesAreAnError) {
  for (const char* line : {"", "{", "[]", "{\"design\": 1}", "{\"design\": -1}", "null"}) {
    const auto outcome = outcome_from(line);
    ASSERT_FALSE(outcome) << line;
    EXPECT_THAT(outcome.error().text(), HasSubstr("not the outcome of a design"));
  }
}

TEST(ExplorePrice, MetricsAreSumsByWeight) {
  Space space;
  space.workloads = {{.name = "a", .weight = 2}, {.name = "b", .weight = 0.5}};
  space.prices = {.per_kwh = 0.3, .per_mm2 = 2, .per_machine = 100, .lifetime_s = 1000};
  const Outcome outcome{.area_mm2 = 50,
                        .macs_per_cycle = 10,
                        .workloads = {{.latency_cycles = 100,
                                       .latency_s = 3,
                                       .energy_pj = 7.2e18,
                                       .peak_bytes = 40,
                                       .macs = 500,
                                       .utilization = 0.5},
                                      {.latency_cycles = 400,
                                       .latency_s = 5,
                                       .energy_pj = 3.6e18,
                                       .peak_bytes = 90,
                                       .macs = 40,
                                       .utilization = 0.01}}};
  const auto all = [&](Metric metric) { return metric_of(outcome, space, metric, -1); };
  EXPECT_DOUBLE_EQ(all(Metric::latency), 2 * 3 + 0.5 * 5);
  EXPECT_DOUBLE_EQ(all(Metric::energy), 2 * 7.2e18 + 0.5 * 3.6e18);
  EXPECT_DOUBLE_EQ(all(Metric::edp), 2 * 3 * 7.2e18 + 0.5 * 5 * 3.6e18);
  EXPECT_DOUBLE_EQ(all(Metric::area), 50);
  EXPECT_DOUBLE_EQ(all(Metric::memory), 90);
  EXPECT_DOUBLE_EQ(all(Metric::utilization), (2 * 500 + 0.5 * 40) / ((2 * 100 + 0.5 * 400) * 10));
  // A machine of 100 + 2 * 50 lasts 1000 s: 0.2 a second; 7.2e18 pJ are 2 kWh.
  EXPECT_DOUBLE_EQ(metric_of(outcome, space, Metric::cost, 0), 2 * 0.3 + 3 * 0.2);
  EXPECT_DOUBLE_EQ(metric_of(outcome, space, Metric::cost, 1), 1 * 0.3 + 5 * 0.2);
  EXPECT_DOUBLE_EQ(all(Metric::cost), 2 * (0.6 + 0.6) + 0.5 * (0.3 + 1));
  EXPECT_DOUBLE_EQ(value_of(outcome, space, {.metric = Metric::utilization, .workload = 0}), -0.5);
  EXPECT_EQ(values_of(outcome, space, {{Metric::latency, 1}, {Metric::memory, 0}}), (std::vector<double>{5, 40}));
}

// The way of `monet evaluate` shares the evaluation with this one, but neither the opening nor the breakdowns.
TEST(ExplorePrice, IsWhatEvaluatingTheMachineGives) {
  const auto pricer = pricer_of(small_space);
  ASSERT_TRUE(pricer);
  for (Design design = 0; design < pricer->space().size(); ++design) {
    const Outcome outcome = pricer->price(design, true);
    ASSERT_TRUE(outcome.ran()) << outcome.failure;
    for (std::size_t w = 0; w < 2; ++w) {
      StepRequest options;
      options.train.batch = 4;
      options.inference = w == 1;
      options.machine = {"edge_tpu", pricer->space().parameters(design)};
      options.compare = false;
      const auto evaluated = evaluate_network("mlp-robotics", options);
      ASSERT_TRUE(evaluated) << evaluated.error().text();
      const WorkloadOutcome& workload = outcome.workloads[w];
      EXPECT_EQ(workload.latency_cycles, evaluated->latency_cycles);
      EXPECT_EQ(workload.latency_s, evaluated->latency_s);
      EXPECT_EQ(workload.energy_pj, evaluated->energy_pj);
      EXPECT_EQ(workload.tiles, evaluated->tiles);
      EXPECT_EQ(workload.stacks, evaluated->stacks);
      EXPECT_NEAR(workload.utilization, evaluated->utilization, 1e-12);
      const auto dram = std::ranges::find(evaluated->memories, "dram", &MemoryResult::name);
      ASSERT_NE(dram, evaluated->memories.end());
      EXPECT_EQ(workload.peak_bytes, dram->packed_peak_bytes);
    }
  }
}

TEST(ExplorePrice, ThreadsAndOrderChangeNothing) {
  std::vector<Outcome> expected;
  {
    const auto alone = pricer_of(small_space);
    ASSERT_TRUE(alone);
    for (Design design = alone->space().size(); design > 0; --design) expected.push_back(alone->price(design - 1));
    std::ranges::reverse(expected);
  }
  for (const std::size_t jobs : {1, 4}) {
    const auto pricer = pricer_of(small_space);
    std::vector<Design> designs(pricer->space().size());
    for (std::size_t i = 0; i < designs.size(); ++i) designs[i] = i;
    std::vector<Outcome> outcomes(designs.size());
    const auto executor = thread_executor(*pricer, jobs);
    std::size_t done = 0;
    const Status ran = executor->run(designs,
                                     [&](Outcome&& outcome) -> Status {
                                       ++done;
                                       outcomes[outcome.design] = std::move(outcome);
                                       return Done{};
                                     },
                                     {});
    ASSERT_TRUE(ran);
    EXPECT_EQ(done, designs.size());
    EXPECT_EQ(outcomes, expected);
  }
}

TEST(ExplorePrice, AnExecutorStopsWhenAskedAndWhenItsAnswersCannotBeTaken) {
  const auto pricer = pricer_of(small_space);
  ASSERT_TRUE(pricer);
  const std::vector<Design> designs = {0, 1, 2, 3};
  const auto executor = thread_executor(*pricer, 1);
  std::size_t done = 0;
  const auto count = [&](Outcome&&) -> Status {
    ++done;
    return Done{};
  };
  ASSERT_TRUE(executor->run(designs, count, [&] { return done >= 2; }));
  EXPECT_EQ(done, 2U);
  const auto refuse = [](Outcome&&) -> Status { return Error{.message = "the disk is full"}; };
  const Status refused = executor->run(designs, refuse, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the disk is full");
}

TEST(ExplorePrice, MachinesThatCannotRunItSayWhy) {
  const auto pricer = pricer_of(R"(
space: 1
name: tiny
hardware: {monet: 1, name: tiny, include: edge_tpu, parameters: {memory: 1 KiB}, memories: {dram: {size: =memory}}}
parameters: {memory: [1 KiB, 1 GiB]}
workloads: [{network: mlp-robotics}]
objectives: [latency]
)");
  ASSERT_TRUE(pricer);
  const Outcome small = pricer->price(0);
  EXPECT_FALSE(small.ran());
  ASSERT_EQ(small.workloads.size(), 1U);
  EXPECT_THAT(small.workloads[0].failure, HasSubstr("dram is too small"));
  EXPECT_TRUE(pricer->price(1).ran());
}

TEST(ExplorePrice, ConstraintsLeaveMachinesOut) {
  const std::string base = small_space;
  const auto excluded = [&](const std::string& constraint) {
    const auto pricer = pricer_of(base + "constraints: ['" + constraint + "']\n");
    std::string which;
    for (Design design = 0; pricer && design < 8; ++design) which += pricer->price(design).excluded ? 'x' : '.';
    return which;
  };
  EXPECT_EQ(excluded("x * simd <= 64"), "......xx");
  EXPECT_EQ(excluded("pe_memory > 1 MiB"), "x.x.x.x.");
  EXPECT_EQ(excluded("macs >= 128 and macs < 1000"), "..xx..xx") << "x * 4 PEs of simd * 4 MACs";
  EXPECT_EQ(excluded("area <= 0 mm2"), "xxxxxxxx");
  EXPECT_EQ(excluded("peak > 0 OP/s and on_chip > 0 B"), "........");
}

TEST(ExplorePrice, ConstraintsThatMeanNothingAreErrors) {
  const auto error_of = [](const std::string& constraint) {
    auto space = Space::read_text(std::string(small_space) + "constraints: ['" + constraint + "']\n", "space.yaml");
    if (!space) return space.error().text();
    const auto pricer = DesignPricer::open(*space);
    return pricer ? std::string() : pricer.error().text();
  };
  EXPECT_THAT(error_of("aera <= 3 mm2"), HasSubstr("did you mean 'area'"));
  EXPECT_THAT(error_of("area <= 3 MiB"), HasSubstr("space.yaml"));
  EXPECT_THAT(error_of("static_power < 1 W"), HasSubstr("the static power of core pe is not known"));
}

TEST(ExplorePrice, WhatHasNoAreaIsNotFree) {
  // The published machine states no technology, so that no area can be derived.
  const auto error_of = [](const std::string& rest) {
    auto space = Space::read_text(
        "space: 1\nname: s\nhardware: eyeriss_like\nparameters: {arithmetic: [int8]}\n"
        "workloads: [{network: mlp-robotics}]\n" +
            rest,
        "space.yaml");
    if (!space) return space.error().text();
    const auto pricer = DesignPricer::open(*space);
    return pricer ? std::string("no error") : pricer.error().text();
  };
  EXPECT_THAT(error_of("objectives: [latency, area]\n"), HasSubstr("the area of core core: array is not known"));
  EXPECT_THAT(error_of("constraints: [area <= 3 mm2]\n"),
              HasSubstr("or the technology and precisions to derive it from"));
  EXPECT_THAT(error_of("objectives: [cost]\nprices: {per_mm2: 1, lifetime_years: 1}\n"), HasSubstr("is not known"));
  EXPECT_EQ(error_of("objectives: [latency, energy]\n"), "no error");
}

TEST(ExplorePrice, TheFingerprintTellsSpacesApart) {
  const auto one = pricer_of(small_space);
  const auto same = pricer_of(small_space);
  std::string other_text = small_space;
  other_text.replace(other_text.find("batch: 4"), 8, "batch: 8");
  const auto other = pricer_of(other_text);
  EXPECT_EQ(one->fingerprint(), same->fingerprint());
  EXPECT_NE(one->fingerprint(), other->fingerprint());
}

}  // namespace
}  // namespace monet::explore
