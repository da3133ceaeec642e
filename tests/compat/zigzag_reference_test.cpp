// Does the search give what ZigZag 3.8.5 gives, layer by layer, on its own examples?
#include "compat/zigzag/search.h"
#include "networks/open.h"
#include "support/shared.h"
#include "support/zigzag_files.h"

#include <algorithm>

namespace monet {
namespace {

struct Totals {
  double energy_pj = 0;
  double cycles = 0;
};

void expect_reference_row(std::map<std::string, std::string> row, const ZigzagResult& result) {
  const auto number = [&](const char* column) { return std::stod(row[column]); };
  EXPECT_EQ(result.macs, number("macs"));
  EXPECT_NEAR(result.energy_pj, number("energy_pJ"), 1e-9 * number("energy_pJ"));
  EXPECT_NEAR(result.mac_pj, number("mac_energy_pJ"), 1e-9 * number("mac_energy_pJ"));
  EXPECT_NEAR(result.memory_pj, number("mem_energy_pJ"), 1e-9 * number("mem_energy_pJ"));
  EXPECT_EQ(result.ideal_cycles, number("ideal_cycle"));
  EXPECT_EQ(result.ideal_temporal_cycles, number("ideal_temporal_cycle"));
  EXPECT_EQ(result.stall_cycles, number("stall_cc"));
  EXPECT_NEAR(result.onload_cycles, number("onload_cc"), 1e-9 * number("latency_total2"));
  EXPECT_NEAR(result.offload_cycles, number("offload_cc"), 1e-9 * number("latency_total2"));
  EXPECT_NEAR(result.latency0, number("latency_total0"), 1e-9 * number("latency_total0"));
  EXPECT_NEAR(result.latency1, number("latency_total1"), 1e-9 * number("latency_total1"));
  EXPECT_NEAR(result.latency2, number("latency_total2"), 1e-9 * number("latency_total2"));
  if (number("evals") != 0) {  // 0: copied from an equal layer
    EXPECT_EQ(result.evaluated, number("evals"));
  }
  EXPECT_EQ(test::accesses_text(result), row["accesses"]);
  EXPECT_EQ(test::temporal_text(result), row["temporal"]);
  EXPECT_EQ(test::spatial_text(result), row["spatial"]);
}

Totals compare_with(const std::filesystem::path& folder, const std::string& machine) {
  const auto network = open_network((folder / "resnet18.onnx").string(), {});
  EXPECT_TRUE(network) << network.error().text();
  const Target target = test::read_zigzag_target(test::file_text(folder / "hardware" / (machine + ".yaml")));
  const std::string mapping = test::file_text(folder / "mapping" / (machine + ".yaml"));
  const auto rows = test::read_csv(test::file_text(folder / "results" / ("resnet18_" + machine + "_latency.csv")));
  const ZigzagWorkload work = zigzag_layers(network->graph);
  EXPECT_EQ(work.layers.size(), rows.size());
  Totals totals;
  for (auto row : rows) {
    SCOPED_TRACE(row["name"]);
    const auto found = std::ranges::find(work.layers, row["name"], &ZigzagLayer::name);
    if (found == work.layers.end()) {
      ADD_FAILURE() << "not read as a layer";
      continue;
    }
    const ZigzagLayer& layer = *found;
    const auto result = zigzag_map(layer, target, test::read_zigzag_mapping(mapping, layer.name, layer.type));
    if (!result) {
      ADD_FAILURE() << result.error().text();
      continue;
    }
    expect_reference_row(row, *result);
    totals.energy_pj += result->energy_pj;
    totals.cycles += result->latency2;
  }
  return totals;
}

// Totals: ZigZag's repository, tests of its ResNet-18 runs.
TEST(ZigzagReference, Resnet18OnTpuLike) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag");
  const Totals totals = compare_with(path, "tpu_like");
  EXPECT_NEAR(totals.energy_pj, 1871436380.66, 0.01);
  EXPECT_NEAR(totals.cycles, 3703960.5, 0.01);
}

TEST(ZigzagReference, Resnet18OnEdgeTpuLike) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag");
  const Totals totals = compare_with(path, "edge_tpu_like");
  EXPECT_NEAR(totals.energy_pj, 1903229377.55, 0.01);
  EXPECT_NEAR(totals.cycles, 2887804.5, 0.01);
}

// A layer of a workload file: loops in another order, no groups, and an input as large as the windows reach.
TEST(ZigzagReference, OneConvolutionOnTpuLike) {
  MONET_SHARED_OR_SKIP(path, "reference/zigzag");
  const auto layers = test::read_zigzag_layers(R"([{name: Layer0, operator_type: Conv,
    equation: "O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]", dimension_relations: [ix=1*ox+1*fx, iy=1*oy+1*fy],
    loop_dims: [B, K, C, OY, OX, FY, FX], loop_sizes: [1, 64, 64, 56, 56, 3, 3], pr_loop_sizes: [58, 58],
    operand_precision: {W: 8, I: 8, O: 16, O_final: 8}}])");
  const Target target = test::read_zigzag_target(test::file_text(path / "hardware" / "tpu_like.yaml"));
  const std::string mapping = test::file_text(path / "mapping" / "tpu_like.yaml");
  const auto rows = test::read_csv(test::file_text(path / "results" / "one_conv_tpu_like_latency.csv"));
  const auto result = zigzag_map(layers[0], target, test::read_zigzag_mapping(mapping, "Layer0", "Conv"));
  ASSERT_TRUE(result) << result.error().text();
  expect_reference_row(rows.at(0), *result);
}

}  // namespace
}  // namespace monet
