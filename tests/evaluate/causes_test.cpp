// What latency and energy go to, by hand.
#include "evaluate/account/causes.h"

#include "evaluate/account/cores.h"
#include "evaluate/account/owners.h"
#include "evaluate/account_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace monet {
namespace {

using namespace test;
using testing::ElementsAre;

std::array<double, latency_causes> latency_of(const AccountCase& c) {
  return latency_by_cause(c.step(), critical_path(c.step(), owners_of(c.step())));
}

std::array<double, energy_causes> energy_of(const AccountCase& c) {
  const std::vector<NodeId> owners = owners_of(c.step());
  const auto operators = operator_breakdowns(c.step(), gaps_before(c.step()), owners);
  return energy_by_cause(c.step(), monet::energy_of(c.hardware, c.schedule), operators, owners);
}

// The path of account_case(): two fetches of 20, 90 of layer (60 computing), 12 of passing, 8 of waiting, 50 of back,
// 12 of passing, 38 of update (30 computing), 10 of writing back.
TEST(Causes, LatencyByHand) {
  EXPECT_THAT(latency_of(account_case()), ElementsAre(60 + 50 + 30, 30 + 8, 40 + 12 + 12 + 10, 0, 0, 0, 8));
}

TEST(Causes, AllThatBelongsToWhatIsRunAgainIsRecomputation) {
  AccountCase c = account_case();
  c.graph[NodeId(std::size_t{1})].recomputed = true;
  EXPECT_THAT(latency_of(c), ElementsAre(60 + 30, 30 + 8, 40 + 12 + 10, 12 + 8 + 50, 0, 0, 0));
  const auto operators = operator_breakdowns(c.step(), gaps_before(c.step()), owners_of(c.step()));
  const std::array<double, energy_causes> energy = energy_of(c), without = energy_of(account_case());
  EXPECT_DOUBLE_EQ(energy[2], operators[1].energy_pj());
  EXPECT_DOUBLE_EQ(energy[0], 1000 + 1000 + 50);
  EXPECT_DOUBLE_EQ(energy[3], without[3]);
  EXPECT_DOUBLE_EQ(energy[4], without[4]);
}

TEST(Causes, TransfersThatPage) {
  AccountCase c = account_case();
  c.schedule.transfers[6].kind = TransferKind::page_in;
  EXPECT_THAT(latency_of(c), ElementsAre(140, 38, 40 + 12 + 10, 0, 12, 0, 8));
}

TEST(Causes, EnergyByHand) {
  // 600 bytes to flash: 4,800 bits are read at 1 pJ, two pages of 4,096 bits written at 2, 4,800 bits cross the card.
  constexpr double paged = 4800 + 2 * 4096 * 2 + 4800;
  const AccountCase c = account_case();
  const std::array<double, energy_causes> energy = energy_of(c);
  const double total = monet::energy_of(c.hardware, c.schedule).total;
  EXPECT_DOUBLE_EQ(energy[0], 1000 + 1000 + 300 + 50);
  EXPECT_NEAR(energy[1], total - 2350 - paged - leaked_pj, 1e-6);
  EXPECT_DOUBLE_EQ(energy[2], 0);
  EXPECT_DOUBLE_EQ(energy[3], paged);
  EXPECT_NEAR(energy[4], leaked_pj, 1e-9);
}

// Two transfers over one bus: the second begins when the first ends, and says that it waited for nothing.
TEST(Causes, WaitingForALinkIsTraffic) {
  AccountCase c = account_case();
  c.schedule.transfers[3].wait = Wait::nothing;
  EXPECT_THAT(latency_of(c), ElementsAre(140, 38, 40 + 12 + 12 + 10, 0, 0, 0, 8));
  // The first still goes on when the second begins: of each what the other does not cover.
  c.schedule.transfers[0].end = c.schedule.transfers[1].end = c.schedule.transfers[2].end = 25;
  EXPECT_THAT(latency_of(c), ElementsAre(140, 38, 40 + 12 + 12 + 10, 0, 0, 0, 8));
  // Nothing uses the way before it.
  c.schedule.transfers[0].start = c.schedule.transfers[1].start = c.schedule.transfers[2].start = 30;
  EXPECT_THAT(latency_of(c), ElementsAre(140, 38, 20 + 12 + 12 + 10, 0, 0, 0, 8 + 20));
}

}  // namespace
}  // namespace monet
