// Steps of many chips in time: is another setting of a known chip's step what it is when all is made anew, do ten
// thousand chips ask for no more work than eight, and do all ranks, each by itself, end when the one that stands for
// all does?
#include "evaluate/kernels/exchange_line.h"
#include "evaluate/kernels/kernel_step.h"
#include "evaluate/open/hardware.h"
#include "networks/builtin.h"
#include "parallel/recipe.h"
#include "training/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace monet {
namespace {

const Hardware& pod() {
  static const Hardware hardware = *open_hardware("dgx_h100", {});
  return hardware;
}

struct SplitChip {
  parallel::ParallelStep split;
  ChipNetwork network;
  KernelStep step;
};

SplitChip split_chip(const std::string& words, std::int64_t batch) {
  auto forward = build_builtin("gpt2-mini:layers=2,width=256,heads=8,ffn=1024,vocabulary=1024,tokens=128", batch);
  EXPECT_TRUE(forward.has_value()) << forward.error().text();
  auto whole = training::make_training_step({*std::move(forward), false, {}, {}}, {});
  EXPECT_TRUE(whole.has_value()) << whole.error().text();
  const auto options = parallel::parse_parallel(words);
  EXPECT_TRUE(options.has_value()) << options.error().text();
  auto split = parallel::parallel_step(std::move(whole->graph), *options);
  EXPECT_TRUE(split.has_value()) << split.error().text();
  auto network = network_of(pod(), options->mesh, options->overlap);
  EXPECT_TRUE(network.has_value()) << network.error().text();
  KernelStep step = kernel_step(split->graph, **laws_of(pod()), false, &*network);
  return {*std::move(split), *std::move(network), std::move(step)};
}

TEST(ChipSteps, AnotherSettingOfAKnownStepIsPricedAsIfAllWereMadeAnew) {
  const SplitChip known = split_chip("dp=2,tp=4", 4);
  const ExchangeLine line = exchange_line(known.step.graph, known.step.lowered, known.step.costs);
  EXPECT_LT(line.items.size(), known.step.lowered.launches.size());
  LineTimes times(line);
  for (const auto& [words, batch] : {std::pair("dp=2,tp=4", 4), {"dp=2,tp=4,overlap=off", 4}, {"dp=64,tp=4", 128}}) {
    const SplitChip anew = split_chip(words, batch);
    const auto again = times.total_us(anew.network);
    ASSERT_TRUE(again.has_value()) << again.error().text();
    EXPECT_NEAR(*again / anew.step.times.total_us, 1, 1e-12) << words;
  }
}

TEST(ChipSteps, TenThousandChipsAskForNoMoreWorkThanEight) {
  for (const std::string rest : {",tp=4", ",tp=2,zero=1", ",zero=3"}) {
    const std::int64_t others = rest.starts_with(",tp=4") ? 4 : rest.starts_with(",tp=2") ? 2 : 1;
    const auto of = [&](std::int64_t chips) {
      const std::int64_t dp = chips / others;
      return split_chip("dp=" + std::to_string(dp) + rest, dp);
    };
    const SplitChip few = of(8), many = of(10240);
    EXPECT_EQ(many.split.mesh.chips(), 10240);
    // Vectors that 10,240 chips do not divide stay whole, with no slice of them.
    EXPECT_LE(many.step.graph.nodes().size(), few.step.graph.nodes().size()) << rest;
    EXPECT_LE(many.step.lowered.launches.size(), few.step.lowered.launches.size()) << rest;
    EXPECT_LE(many.step.times.exchanges.size(), few.step.times.exchanges.size() * 1.1) << rest;
  }
}

// Every rank by itself: it goes on until a collective, which starts once all members of the group are there.
class Ranks {
 public:
  explicit Ranks(const SplitChip& of)
      : step_(of.step), network_(of.network), ranks_(static_cast<std::size_t>(of.network.mesh.chips())) {
    for (Rank& rank : ranks_) {
      rank.made.resize(step_.lowered.buffers.size(), 0);
      rank.read.resize(step_.lowered.buffers.size(), 0);
    }
  }

  // When each of them is done.
  std::vector<double> run() {
    for (bool all = false; !all;) {
      all = true;
      bool moved = false;
      for (std::size_t r = ranks_.size(); r-- > 0;) {
        while (ranks_[r].next < step_.lowered.launches.size() && advance(r)) moved = true;
        all = all && ranks_[r].next == step_.lowered.launches.size();
      }
      EXPECT_TRUE(moved || all) << "a deadlock";
      if (!moved && !all) break;
    }
    std::vector<double> ends;
    for (const Rank& rank : ranks_) {
      double end = rank.now;
      for (const Running& each : rank.running) end = std::max(end, each.end);
      ends.push_back(end);
    }
    return ends;
  }

 private:
  struct Running {
    double start, end, share;
  };
  struct Rank {
    std::size_t next = 0, exchanges = 0;
    double now = 0;
    std::vector<double> made, read;  // by buffer: when the collective that writes or reads it is done
    std::vector<double> level = std::vector<double>(max_fabric_levels, 0);
    std::vector<Running> running;
    std::optional<double> arrived;  // at the collective that is next
  };

  double ready(const Rank& rank, const Launch& launch) const {
    double time = rank.now;
    for (const Touch& each : launch.reads) time = std::max(time, rank.made[each.buffer.index()]);
    for (const Touch& each : launch.writes)
      time = std::max({time, rank.made[each.buffer.index()], rank.read[each.buffer.index()]});
    return time;
  }

  bool advance(std::size_t r) {
    Rank& rank = ranks_[r];
    const Launch& launch = step_.lowered.launches[rank.next];
    if (!launch.collective) {
      rank.now = ready(rank, launch);
      work(rank, step_.costs.us[rank.next]);
      ++rank.next;
      return true;
    }
    const Exchange& exchange = step_.times.exchanges[rank.exchanges];
    if (!rank.arrived) {
      rank.arrived = ready(rank, launch);
      for (std::size_t level = 0; level < max_fabric_levels; ++level) {
        if (exchange.price.level_seconds[level] > 0) rank.arrived = std::max(*rank.arrived, rank.level[level]);
      }
    }
    const auto members = network_.mesh.group(static_cast<std::int64_t>(r), *network_.mesh.find_all(exchange.over));
    double start = 0;
    for (const std::int64_t member : members) {
      const Rank& other = ranks_[static_cast<std::size_t>(member)];
      if (other.next != rank.next || !other.arrived) return false;
      start = std::max(start, *other.arrived);
    }
    const double end = start + exchange.price.seconds * 1e6;
    for (const std::int64_t member : members)
      finish(ranks_[static_cast<std::size_t>(member)], launch, exchange, start, end);
    return true;
  }

  void finish(Rank& rank, const Launch& launch, const Exchange& exchange, double start, double end) {
    double share = 0;
    for (std::size_t level = 0; level < network_.fabric.levels.size(); ++level) {
      if (exchange.price.level_seconds[level] <= 0) continue;
      rank.level[level] = end;
      share = std::max(share, network_.fabric.levels[level].chip_share);
    }
    for (const Touch& each : launch.reads) rank.read[each.buffer.index()] = end;
    for (const Touch& each : launch.writes) rank.made[each.buffer.index()] = end;
    rank.running.push_back({start, end, share});
    rank.arrived.reset();
    ++rank.next;
    ++rank.exchanges;
  }

  // From one beginning or end of a collective to the next.
  static void work(Rank& rank, double us) {
    while (us > 0) {
      double share = 0, change = INFINITY;
      for (const Running& each : rank.running) {
        if (each.start <= rank.now && rank.now < each.end) share = std::max(share, each.share);
        for (const double at : {each.start, each.end}) {
          if (at > rank.now) change = std::min(change, at);
        }
      }
      const double until = std::min(change, rank.now + us / (1 - share));
      us = until < change ? 0 : us - (until - rank.now) * (1 - share);
      rank.now = until;
    }
  }

  const KernelStep& step_;
  const ChipNetwork& network_;
  std::vector<Rank> ranks_;
};

TEST(ChipSteps, EveryRankByItselfEndsWhenTheOneForAllDoes) {
  for (const auto& [words, batch] :
       {std::pair("dp=4,tp=4,zero=1", 4), {"dp=2,cp=2,tp=4,sequence=on", 2}, {"dp=16,zero=3", 16}}) {
    const SplitChip chip = split_chip(words, batch);
    for (const double end : Ranks(chip).run()) EXPECT_NEAR(end / chip.step.times.total_us, 1, 1e-9) << words;
  }
}

}  // namespace
}  // namespace monet
