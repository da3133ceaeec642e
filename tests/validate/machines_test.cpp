// SNAX-MX and integer training on microcontrollers: what is published, what goes in, what is predicted.
#include <monet/validate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace monet {
namespace {

Validation found(const std::string& name, const std::string& only = {}) {
  auto validation = validate(name, {.data = {}, .only = only, .jobs = 1});
  EXPECT_TRUE(validation) << validation.error().text();
  return validation ? *std::move(validation) : Validation{};
}

// 64 MACs at 500 MHz do 1, 4 or 8 products a cycle, and a block of depth K takes one cycle more than K / products.
TEST(SnaxMxValidation, ThroughputFollowsFromTheRule) {
  const Validation rates = found("snax-mx", "*, depth 65536");
  const std::map<std::string, std::pair<double, double>> published = {
      {"MXINT8", {64, 1}}, {"MXFP8", {256, 4}}, {"MXFP6", {256, 4}}, {"MXFP4", {512, 8}}};
  ASSERT_EQ(rates.rows.size(), published.size());
  for (const ValidationRow& row : rates.rows) {
    const auto& [gops, products] = published.at(row.name.substr(0, row.name.find(',')));
    EXPECT_EQ(row.measured, gops);
    EXPECT_NEAR(row.modelled, 2 * 64 * 0.5 * 65536 / (65536 / products + 1), 1e-9) << row.name;
    EXPECT_EQ(row.aside, "");
    EXPECT_EQ(row.quantity, "GOPS");
  }
  EXPECT_LT(rates.worst_percent(), 0.02);
}

TEST(SnaxMxValidation, EfficiencyIsAnInput) {
  const Validation inputs = found("snax-mx", "*, peak");
  ASSERT_EQ(inputs.rows.size(), 4U);
  const double published[] = {657, 1438, 1675, 4065};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(inputs.rows[i].measured, published[i]);
    EXPECT_NEAR(inputs.rows[i].modelled / published[i], 1, 1e-3);
    EXPECT_TRUE(inputs.rows[i].aside.starts_with("an input, not a prediction")) << inputs.rows[i].aside;
    // The two in the middle are published together, as a range.
    EXPECT_EQ(inputs.rows[i].aside.ends_with("this end of it is assumed"), i == 1 || i == 2) << inputs.rows[i].name;
  }
  EXPECT_TRUE(std::ranges::any_of(inputs.notes, [](const std::string& note) {
    return note.starts_with("GOPS/W of MXFP8 and MXFP6: ") && note.find("our assumption") != std::string::npos;
  }));
  EXPECT_EQ(inputs.mean_absolute_percent(), 0);  // no row counts
}

TEST(SnaxMxValidation, WholeStepsArePredictions) {
  const Validation steps = found("snax-mx", "* training, *");
  EXPECT_EQ(steps.rows.size(), 2U * 4U * 4U);
  for (const ValidationRow& row : steps.rows) {
    EXPECT_TRUE(std::isnan(row.measured)) << row.name;
    EXPECT_GT(row.modelled, 0) << row.name << ": " << row.aside;
    EXPECT_EQ(row.aside, "a prediction: nothing is published");
    EXPECT_TRUE(row.modelled <= 100 || !row.quantity.starts_with("%")) << row.name;
  }
  EXPECT_NE(to_json({steps}).find("\"measured\": null"), std::string::npos);
}

const ValidationRow* row_of(const Validation& validation, const std::string& name, const std::string& quantity) {
  const auto row = std::ranges::find_if(
      validation.rows, [&](const ValidationRow& each) { return each.name == name && each.quantity == quantity; });
  return row == validation.rows.end() ? nullptr : &*row;
}

TEST(TinTinValidation, ComparesTheLargestSavings) {
  const Validation savings = found("tin-tin");
  const auto counted = std::ranges::count(savings.rows, std::string(), &ValidationRow::aside);
  EXPECT_EQ(counted, 2);
  const std::string largest = "largest of the networks that fit on Cortex-M0+";
  const ValidationRow* energy = row_of(savings, largest + ": claim not reproduced, more is saved", "% energy saved");
  const ValidationRow* memory = row_of(savings, largest, "% memory saved");
  ASSERT_TRUE(energy != nullptr && memory != nullptr) << to_text(savings).plain();
  EXPECT_EQ(energy->measured, 82);
  EXPECT_EQ(memory->measured, 40);
  // No more than if integers cost nothing.
  EXPECT_GT(energy->modelled, 0);
  EXPECT_LT(energy->modelled, 100);
  EXPECT_LT(memory->modelled, 75);  // 8 bits of 32
  EXPECT_NEAR(memory->modelled, 40, 0.05 * 40);
  // LeNet-5 does not fit, and is not among those that are compared.
  double largest_energy = 0, largest_memory = 0;
  int fitting = 0;
  for (const char* name :
       {"LeNet-5", "perceptron 64-32-4 (bearing faults)", "perceptron 128-16-16-2 (spectrum sensing)"}) {
    const ValidationRow* of_energy = row_of(savings, std::string(name) + " on Cortex-M0+", "% energy saved");
    const ValidationRow* of_memory = row_of(savings, std::string(name) + " on Cortex-M0+", "% memory saved");
    ASSERT_TRUE(of_energy != nullptr && of_memory != nullptr) << name;
    const bool apart = of_energy->aside.starts_with("does not fit into 32768 bytes in fp32 and in integers");
    EXPECT_EQ(apart, std::string(name) == "LeNet-5") << of_energy->aside;
    EXPECT_EQ(of_energy->aside, of_memory->aside);
    if (apart) continue;
    ++fitting;
    largest_energy = std::max(largest_energy, of_energy->modelled);
    largest_memory = std::max(largest_memory, of_memory->modelled);
  }
  EXPECT_EQ(fitting, 2);
  EXPECT_EQ(energy->modelled, largest_energy);
  EXPECT_EQ(memory->modelled, largest_memory);
  const auto says = [&](const std::string& text) {
    return std::ranges::any_of(savings.notes,
                               [&](const std::string& note) { return note.find(text) != std::string::npos; });
  };
  EXPECT_TRUE(says("the claim is reproduced to 5 % of it"));
  EXPECT_TRUE(says("takes 288 cycles"));
}

// Weights, the gradient of the first of them, the sample, and what little is there beside, of 128-16-16-2: 128 x 16 +
// 16 x 16 + 16 x 2 weights and 34 biases. Weights and sample are four times as wide in fp32, gradients and biases are
// not; a tensor of integers has a byte of scale.
TEST(TinTinValidation, ThePeakHoldsTheLargestGradient) {
  const std::string name = "perceptron 128-16-16-2 (spectrum sensing) on Cortex-M0+";
  const Validation savings = found("tin-tin", name + "*");
  const double weights = 2048 + 256 + 32, biases = 34, gradient = 2048, sample = 128;
  const std::map<std::string, double> bytes = {
      {"fp32", 4 * (weights + biases + gradient + sample)},
      {"int8-integer", weights + 3 + 4 * biases + 3 + 4 * gradient + 1 + sample + 1}};
  for (const auto& [precision, least] : bytes) {
    const ValidationRow* row = row_of(savings, name + ", " + precision, "bytes of RAM");
    ASSERT_NE(row, nullptr) << precision;
    EXPECT_GE(row->modelled, least) << precision;
    EXPECT_LE(row->modelled, 1.02 * least) << precision;
  }
}

// 8 bits of a weight and 32 of its gradient instead of 64: 37.5 %. Activations are few.
TEST(TinTinValidation, TensorsTakeAThirdLess) {
  const Validation savings = found("tin-tin", "* on Cortex-M0+");
  int networks = 0;
  for (const ValidationRow& row : savings.rows) {
    if (row.quantity != "% memory saved, tensors alone") continue;
    EXPECT_NEAR(row.modelled, 37.5, 3) << row.name;
    ++networks;
  }
  EXPECT_EQ(networks, 3);
}

// 61,706 numbers of fp32 are more than 32 KiB; POET's energy of a MAC in fp32 is two operations.
TEST(TinTinValidation, SaysWhatDoesNotFit) {
  const Validation lenet = found("tin-tin", "LeNet-5 on Cortex-M0+, fp32");
  const ValidationRow* memory = row_of(lenet, "LeNet-5 on Cortex-M0+, fp32", "bytes of RAM");
  ASSERT_NE(memory, nullptr);
  EXPECT_GT(memory->modelled, 4 * 61706);
  EXPECT_EQ(memory->aside, "does not fit into 32768 bytes; evaluated as if it did");
  const ValidationRow* energy = row_of(lenet, "LeNet-5 on Cortex-M0+, fp32", "mJ a step");
  ASSERT_NE(energy, nullptr);
  // Forward and weight gradients of all layers, input gradients of all but the first.
  const double macs = 3 * 416520 - 117600;
  EXPECT_GT(energy->modelled, 1e3 * macs * 2 / 2525252.525252525);
}

}  // namespace
}  // namespace monet
