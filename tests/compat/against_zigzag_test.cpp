// Costed by our model, is our mapping never worse than the one that ZigZag 3.8.5 finds best?
#include "compat/zigzag/search.h"
#include "evaluate/open/hardware.h"
#include "mapping/operators.h"
#include "mapping/search.h"
#include "networks/open.h"
#include "support/shared.h"
#include "support/zigzag_files.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>

namespace monet {
namespace {

constexpr std::uint8_t not_there = 0xff;

// The layer as a problem, operands in the layer's order, and the new index of each of its loops.
struct Converted {
  Problem problem;
  std::vector<std::uint8_t> index;
};

Converted problem_of(const ZigzagLayer& layer) {
  Converted result;
  for (const Loop& loop : layer.loops) {
    result.index.push_back(loop.size > 1 ? static_cast<std::uint8_t>(result.problem.loops.size()) : not_there);
    if (loop.size > 1) result.problem.loops.push_back(loop);
  }
  const auto add = [&](ProblemAxis& axis, std::uint8_t loop, std::int64_t factor) {
    if (result.index[loop] != not_there) axis.terms.push_back({result.index[loop], factor});
  };
  for (const ZigzagOperand& from : layer.operands) {
    ProblemOperand operand{.path = from.name == 'I'   ? Path::input
                                   : from.name == 'W' ? Path::weight
                                                      : Path::output,
                           .written = from.name == 'O',
                           .accumulates = from.name == 'O',
                           .bits = static_cast<double>(from.name == 'O' ? layer.final_bits : from.bits),
                           .partial_bits = from.name == 'O' ? from.bits : 16};
    for (std::uint8_t loop : from.loops) {
      ProblemAxis axis{.limit = layer.loops[loop].size};
      add(axis, loop, 1);
      if (!axis.terms.empty()) operand.axes.push_back(std::move(axis));
    }
    for (const ZigzagWindow& window : layer.windows) {
      if (!from.windows) break;
      ProblemAxis axis{.limit = window.limit};
      add(axis, window.outer, window.stride);
      add(axis, window.inner, window.dilation);
      operand.axes.push_back(std::move(axis));
    }
    result.problem.operands.push_back(std::move(operand));
  }
  result.problem.per_point[Count::mac] = 1;
  result.problem.precision = "int8";
  return result;
}

// In the problem's loops, without those of one iteration.
Mapping mapping_of(const Mapping& from, const std::vector<std::uint8_t>& index) {
  Mapping mapping{.spatial = {}, .temporal = {}, .cuts = from.cuts};
  for (SpatialLoop loop : from.spatial) {
    loop.loop = index[loop.loop];
    if (loop.loop != not_there) mapping.spatial.push_back(loop);
  }
  for (std::size_t i = from.temporal.size(); i-- > 0;) {
    TemporalLoop loop = from.temporal[i];
    loop.loop = index[loop.loop];
    if (loop.loop != not_there) {
      mapping.temporal.insert(mapping.temporal.begin(), loop);
      continue;
    }
    for (auto& cuts : mapping.cuts) {
      for (std::uint8_t& cut : cuts) cut -= cut > i ? 1 : 0;
    }
  }
  return mapping;
}

struct Comparison {
  std::size_t layers = 0, refused = 0, better = 0;
  double theirs = 0, ours = 0;
};

Comparison compare_with_zigzag(const std::filesystem::path& folder, const std::string& machine) {
  Comparison result;
  const auto network = open_network((folder / "resnet18.onnx").string(), {});
  const auto hardware = open_hardware((folder / "hardware" / (machine + ".yaml")).string());
  EXPECT_TRUE(network && hardware);
  if (!network || !hardware) return result;
  const CoreId core(0);
  const auto target = target_of(*hardware, core, 0, off_chip_memory(*hardware, core));
  EXPECT_TRUE(target) << target.error().text();
  const std::string file = test::file_text(folder / "mapping" / (machine + ".yaml"));
  std::vector<ZigzagLayer> done;
  for (const ZigzagLayer& layer : zigzag_layers(network->graph).layers) {
    if (std::ranges::any_of(done, [&](const ZigzagLayer& other) { return other.same_work(layer); })) continue;
    done.push_back(layer);
    SCOPED_TRACE(layer.name);
    const auto peer = zigzag_map(layer, *target, test::read_zigzag_mapping(file, layer.name, layer.type));
    EXPECT_TRUE(peer) << peer.error().text();
    if (!peer) continue;
    const Converted converted = problem_of(layer);
    EXPECT_EQ(converted.problem.points(), peer->macs);
    const auto theirs = cost_of(converted.problem, *target, mapping_of(peer->mapped.mapping, converted.index));
    const auto ours = map_problem(converted.problem, *target);
    EXPECT_TRUE(ours) << ours.error().text();
    if (!ours) continue;
    ++result.layers;
    if (!theirs) {
      ++result.refused;
      fmt::print("{:16} {:46} {:>11.1f} there; refused: {}\n", machine, layer.name, peer->latency2,
                 theirs.error().message);
      continue;
    }
    fmt::print("{:16} {:46} {:>11.1f} there, {:>11.1f} by our model, {:>11.1f} ours ({:+.2f} %)\n", machine, layer.name,
               peer->latency2, theirs->cost.cycles, ours->cost.cycles,
               100 * (ours->cost.cycles / theirs->cost.cycles - 1));
    EXPECT_LE(ours->cost.cycles, theirs->cost.cycles * (1 + 1e-9));
    EXPECT_GE(ours->cost.cycles, ours->cost.bound_cycles * (1 - 1e-9));
    result.theirs += theirs->cost.cycles;
    result.ours += ours->cost.cycles;
    result.better += ours->cost.cycles < theirs->cost.cycles * (1 - 1e-9) ? 1 : 0;
  }
  fmt::print("{:16} {} different layers, {} refused, {} better: {:.1f} and {:.1f} cycles\n", machine, result.layers,
             result.refused, result.better, result.theirs, result.ours);
  return result;
}

TEST(AgainstZigzag, Resnet18OnTpuLike) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag");
  const Comparison found = compare_with_zigzag(path, "tpu_like");
  EXPECT_EQ(found.layers, 12U);
  EXPECT_LT(found.refused, found.layers);
  EXPECT_LT(found.ours, found.theirs);
}

TEST(AgainstZigzag, Resnet18OnEdgeTpuLike) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag");
  const Comparison found = compare_with_zigzag(path, "edge_tpu_like");
  EXPECT_EQ(found.layers, 12U);
  EXPECT_LT(found.refused, found.layers);
  EXPECT_LT(found.ours, found.theirs);
}

}  // namespace
}  // namespace monet
