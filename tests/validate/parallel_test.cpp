// Are all published steps there, and how far are they?
#include "validate/validation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/shared.h"

namespace monet {
namespace {

double mean_of_source(const Validation& validation, const std::string& source, const std::string& quantity) {
  for (const ValidationGroup& group : validation.groups) {
    if (group.by != "source" || group.name.find(source) != 0) continue;
    for (const auto& [name, percent] : group.means)
      if (name == quantity) return percent;
  }
  return -1;
}

TEST(ParallelValidation, EveryRowIsThereAndTheA100KeepsItsBars) {
  MONET_SHARED_OR_SKIP(path, "reference/parallel/measured_points.csv");
  const auto found = validate("parallel", {.data = path.parent_path().string()});
  ASSERT_TRUE(found.has_value()) << found.error().text();
  std::size_t steps = 0;
  for (const ValidationRow& row : found->rows) steps += row.quantity == "step s" ? 1 : 0;
  EXPECT_EQ(steps, 311U);
  const std::pair<const char*, double> bars[] = {{"Korthikanti", 6}, {"Narayanan", 8}, {"vTrain", 12}};
  for (const auto& [source, bar] : bars) {
    const double mean = mean_of_source(*found, source, "step s");
    EXPECT_GE(mean, 0) << source;
    EXPECT_LE(mean, bar) << source;
  }
  EXPECT_LE(mean_of_source(*found, "vTrain", "median"), 8);
}

}  // namespace
}  // namespace monet
