// Does the search give what ZigZag 3.8.5 gives on machines and layers made to catch its corners?
//
// zigzag_cases/*/expected.csv was written by running ZigZag 3.8.5 (zigzag-dse on PyPI; CPython 3.11) on the machine and
// the mapping beside it and on zigzag_layers.yaml, with the given limit of factors and each objective. A layer without
// a row is one that ZigZag cannot map.
#include "compat/zigzag/search.h"
#include "support/source_folder.h"
#include "support/zigzag_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace monet {
namespace {

const std::filesystem::path tests_of_compat = test::source_folder() / "tests" / "compat";

class ZigzagCases : public testing::TestWithParam<const char*> {};

void expect_case_row(std::map<std::string, std::string> row, const ZigzagResult& result) {
  const auto number = [&](const char* column) { return std::stod(row[column]); };
  const double cycles = number("latency_total2");
  EXPECT_NEAR(result.energy_pj, number("energy_pJ"), 1e-9 * number("energy_pJ"));
  EXPECT_EQ(result.ideal_cycles, number("ideal_cycle"));
  EXPECT_EQ(result.ideal_temporal_cycles, number("ideal_temporal_cycle"));
  EXPECT_EQ(result.stall_cycles, number("stall_cc"));
  EXPECT_NEAR(result.onload_cycles, number("onload_cc"), 1e-9 * cycles);
  EXPECT_NEAR(result.offload_cycles, number("offload_cc"), 1e-9 * cycles);
  EXPECT_NEAR(result.latency2, cycles, 1e-9 * cycles);
  EXPECT_EQ(result.evaluated, number("evals"));
  EXPECT_EQ(test::temporal_text(result), row["temporal"]);
  EXPECT_EQ(test::spatial_text(result), row["spatial"]);
  EXPECT_EQ(test::accesses_text(result), row["accesses"]);
}

TEST_P(ZigzagCases, AreCostedAsByZigzag) {
  const std::filesystem::path own = tests_of_compat / "zigzag_cases" / GetParam();
  const auto layers = test::read_zigzag_layers(test::file_text(tests_of_compat / "zigzag_layers.yaml"));
  const Target target = test::read_zigzag_target(test::file_text(own / "machine.yaml"));
  const std::string mapping = test::file_text(own / "mapping.yaml");
  const auto rows = test::read_csv(test::file_text(own / "expected.csv"));
  ASSERT_FALSE(layers.empty());
  ASSERT_FALSE(rows.empty());
  const std::map<std::string, Objective> objectives{
      {"latency", Objective::latency}, {"energy", Objective::energy}, {"EDP", Objective::edp}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at("name") + " by " + row.at("objective"));
    const auto layer = std::ranges::find(layers, row.at("name"), &ZigzagLayer::name);
    ASSERT_NE(layer, layers.end());
    ZigzagOptions options;
    options.objective = objectives.at(row.at("objective"));
    options.factors = std::stoll(row.at("factors"));
    const auto result =
        zigzag_map(*layer, target, test::read_zigzag_mapping(mapping, layer->name, layer->type), options);
    const bool mapped = !row.at("energy_pJ").empty();
    EXPECT_EQ(result.has_value(), mapped) << (result ? "" : result.error().text());
    if (result && mapped) expect_case_row(row, *result);
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, ZigzagCases,
                         testing::Values("narrow_ports", "one_level", "register_pairs", "shared_buffer", "split_tops",
                                         "uneven_array"));

}  // namespace
}  // namespace monet
