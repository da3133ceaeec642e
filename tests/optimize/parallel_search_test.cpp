// Is the best of a search the best of all settings, evaluated one by one, and does its plan give the same again?
#include <monet/parallel.h>

#include "optimize/parallel/settings.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace monet {
namespace {

constexpr const char* small = "gpt:width=256,heads=4,ffn=512,vocabulary=1024,tokens=128,layers=4";

ParallelSearchOptions options_for(std::int64_t chips, std::int64_t batch) {
  ParallelSearchOptions options;
  options.step.machine = Machine("dgx_h100");
  options.step.train.batch = batch;
  options.step.train.precision = "bf16";
  options.chips = chips;
  options.max_micro_batch = 2;
  options.recompute = {"none", "blocks"};
  options.placements = false;
  return options;
}

Evaluation evaluated(const ParallelSetting& setting, std::int64_t batch) {
  StepRequest request;
  request.machine = Machine("dgx_h100");
  request.train.batch = batch;
  request.train.precision = "bf16";
  request.parallel = setting.words;
  request.micro_batch = setting.micro_batch;
  request.compare = false;
  auto made = evaluate_network(Network(small), request);
  EXPECT_TRUE(made.has_value()) << setting.words << (made ? "" : made.error().text());
  return *std::move(made);
}

TEST(ParallelSearch, TheFrontIsWhatItsSettingsComeTo) {
  const auto found = search_parallel(Network(small), options_for(8, 16));
  ASSERT_TRUE(found.has_value()) << found.error().text();
  ASSERT_TRUE(found->feasible);
  EXPECT_LE(found->by_bounds + found->exactly, found->settings);
  std::size_t out = 0;
  for (const ParallelRejection& each : found->rejected) out += each.settings;
  EXPECT_EQ(out + found->front.size(), found->settings);  // each is in the front, or has a reason
  for (const ParallelSetting& setting : found->front) {
    if (setting.words.find("pp=1,") != std::string::npos) continue;
    const Evaluation same = evaluated(setting, 16);
    EXPECT_NEAR(same.latency_s, setting.seconds, 0.05 * setting.seconds) << setting.words;
  }
}

TEST(ParallelSearch, BoundsLoseNothing) {
  auto wanted = options_for(8, 16);
  wanted.zero = {0, 1};
  const auto found = search_parallel(Network(small), wanted);
  ASSERT_TRUE(found.has_value());
  double best = found->best.seconds;
  for (const std::int64_t tp : {1, 2}) {
    for (const std::int64_t pp : {2, 4}) {
      ParallelSearchOptions one = wanted;
      one.tp = {tp};
      one.pp = {pp};
      const auto part = search_parallel(Network(small), one);
      ASSERT_TRUE(part.has_value());
      if (!part->feasible) continue;
      EXPECT_GE(part->best.seconds, best) << tp << " " << pp;
    }
  }
}

TEST(ParallelSearch, LittleMemoryIsSaidToBeTooLittle) {
  auto options = options_for(4, 8);
  options.memory_bytes = 1000;
  const auto found = search_parallel(Network(small), options);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->feasible);
  ASSERT_FALSE(found->rejected.empty());
  EXPECT_EQ(found->rejected.front().reason, "memory");
}

TEST(ParallelSearch, StopsWithTheBestSoFar) {
  auto options = options_for(8, 16);
  int asked = 0;
  options.stop = [&] { return ++asked > 3; };
  const auto found = search_parallel(Network(small), options);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->complete);
}

TEST(ParallelPlan, APipelineReadsBackBitForBit) {
  StepRequest request;
  request.machine = Machine("dgx_h100");
  request.train.batch = 16;
  request.train.precision = "bf16";
  request.parallel = "dp=2,pp=2,tp=2,zero=1,schedule=1f1b,recompute=blocks";
  request.micro_batch = 2;
  request.compare = false;
  const auto first = evaluate_network(Network(small), request);
  ASSERT_TRUE(first.has_value()) << first.error().text();
  ASSERT_TRUE(first->parallel.has_value());
  EXPECT_EQ(first->parallel->chips, 8);
  EXPECT_FALSE(first->parallel->stages.empty());
  EXPECT_GT(first->parallel->bubble_fraction, 0);
  EXPECT_GT(first->parallel->hfu, first->parallel->mfu);
  auto plan = plan_from(first->plan_yaml, "plan.yaml");
  ASSERT_TRUE(plan.has_value()) << plan.error().text();
  StepRequest again;
  again.machine = Machine("dgx_h100");
  again.train.batch = 16;
  again.train.precision = "bf16";
  again.compare = false;
  again.plan = *std::move(plan);
  const auto second = evaluate_network(Network(small), again);
  ASSERT_TRUE(second.has_value()) << second.error().text();
  EXPECT_EQ(first->latency_s, second->latency_s);
  EXPECT_EQ(first->plan_yaml, second->plan_yaml);
  EXPECT_EQ(first->parallel->recipe, second->parallel->recipe);
}

TEST(ParallelPlan, MoreCopiesCostNoMore) {
  const auto time_of = [](std::int64_t dp) {
    StepRequest request;
    request.machine = Machine("dgx_h100");
    request.train.batch = 8 * dp;
    request.train.precision = "bf16";
    request.parallel = "dp=" + std::to_string(dp) + ",pp=4,tp=2,zero=1";
    request.micro_batch = 1;
    request.compare = false;
    const auto made = evaluate_network(Network(small), request);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().text());
    return made ? made->parallel->stages.size() : 0;
  };
  EXPECT_EQ(time_of(1), time_of(1024));
}

}  // namespace
}  // namespace monet
