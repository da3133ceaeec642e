// A depthwise convolution shares no input between channels, so arrays that unroll channels cannot do it well. Does
// every preset run one near what the better of its units could do?
#include "evaluate/open/hardware.h"
#include "hardware/presets.h"
#include "mapping/operators.h"
#include "mapping/precision.h"
#include "networks/builtin.h"
#include "support/in_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace monet {
namespace {

// The last depthwise layer of MobileNet-V2: 960 channels of 7 x 7 under 3 x 3.
constexpr const char* depthwise_layer = "features.17.conv.1.0";
constexpr double depthwise_macs = 960.0 * 7 * 7 * 3 * 3;

double extent_of(Dim loop) {
  switch (loop) {
    case Dim::G: return 960;
    case Dim::OY:
    case Dim::OX: return 7;
    case Dim::FY:
    case Dim::FX: return 3;
    default: return 1;
  }
}

// Most lanes of a unit that the layer can use, were each dimension to have all loops for itself.
double usable_lanes(const Unit& unit) {
  double lanes = 1;
  for (const UnitDimension& dimension : unit.dimensions) {
    double most = dimension.loops.empty() ? depthwise_macs : 1;
    for (const Dim loop : dimension.loops) most *= extent_of(loop);
    lanes *= std::min(static_cast<double>(dimension.size), most);
  }
  return lanes;
}

// Cycles of the layer on the fastest unit that takes convolutions if it computed and did nothing else.
double compute_bound(const Hardware& hardware, std::string_view numbers) {
  double least = std::numeric_limits<double>::infinity();
  for (const Core& core : hardware.cores) {
    if (!may_run(core, Op::Conv)) continue;
    for (const Unit& unit : core.units) {
      const double cycles = unit.cycles[static_cast<std::size_t>(Count::mac)];
      if (cycles == 0) continue;
      const PrecisionRate* precision = precision_for(unit.precisions, numbers);
      if (precision == nullptr && !unit.precisions.empty()) continue;
      const double rate = precision == nullptr ? 1 : precision->rate;
      least = std::min(least, depthwise_macs * cycles / (usable_lanes(unit) * rate));
    }
    if (core.rate) {
      const double rate = core.rate->operations_per_s[static_cast<std::size_t>(Count::mac)];
      if (rate > 0) least = std::min(least, depthwise_macs * hardware.clock_hz / rate);
    }
  }
  return least;
}

class Depthwise : public testing::TestWithParam<std::string> {};

TEST_P(Depthwise, RunsNearTheBoundOfTheBetterUnit) {
  const auto hardware = open_hardware(GetParam());
  ASSERT_TRUE(hardware) << hardware.error().text();
  const auto own = build_builtin("mobilenet-v2", 1);
  ASSERT_TRUE(own) << own.error().text();
  const Graph graph = test::in_numbers_of(*hardware, *own);
  MappingCache cache;
  OperatorOptions options{.jobs = 1};
  options.wanted = [](const Node& node) { return node.name == depthwise_layer; };
  const auto mapped = map_operators(graph, *hardware, cache, options);
  ASSERT_TRUE(mapped) << mapped.error().text();
  ASSERT_EQ(mapped->operators.size(), 1U);
  const OperatorCost& cost = mapped->operators.front();
  if (!cost.core.valid()) GTEST_SKIP() << "cannot run it: " << cost.reason;
  EXPECT_EQ(cost.macs, depthwise_macs);
  const double bound =
      std::max(compute_bound(*hardware, name_of(graph.tensors().front().type.format.element)), cost.bound_cycles);
  RecordProperty("times_its_bound", std::to_string(cost.cycles / bound));
  EXPECT_LE(cost.cycles, 5 * bound) << depthwise_macs / cost.cycles << " MACs a cycle";
}

INSTANTIATE_TEST_SUITE_P(Presets, Depthwise, testing::ValuesIn(preset_names()),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace monet
