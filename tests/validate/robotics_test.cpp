// Do the claims for square groups come out of the graphs as out of arithmetic on the sizes of the layers?
#include "validate/robotics.h"

#include "graph/builder.h"
#include "networks/layers.h"
#include "support/shared.h"
#include "validate/products.h"

#include <monet/validate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <vector>

namespace monet {
namespace {

// kchua/handful-of-trials.
const std::map<std::string, std::vector<double>>& layer_sizes() {
  static const std::map<std::string, std::vector<double>> sizes = {{"pets-cartpole", {6, 500, 500, 500, 8}},
                                                                   {"pets-reacher", {24, 200, 200, 200, 200, 34}},
                                                                   {"pets-pusher", {27, 200, 200, 200, 40}},
                                                                   {"pets-halfcheetah", {24, 200, 200, 200, 200, 36}}};
  return sizes;
}

// 1 - 8.125 (W + A) / (9 (2 W + A)), W = sum of d_i d_(i+1), A = batch times sum of the inputs of layers.
double reduction_by_hand(const std::vector<double>& sizes, double batch, double bits) {
  double weights = 0, inputs = 0;
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    weights += sizes[i] * sizes[i + 1];
    inputs += batch * sizes[i];
  }
  return 100 * (1 - 8.125 * (weights + inputs) / (bits * (2 * weights + inputs)));
}

double average_by_hand(double batch, double bits) {
  double sum = 0;
  for (const auto& [name, sizes] : layer_sizes()) sum += reduction_by_hand(sizes, batch, bits);
  return sum / 4;
}

const Validation& robotics() {
  static const Validation found = [] {
    auto validation = validate("robotics");
    EXPECT_TRUE(validation) << validation.error().text();
    return validation ? *std::move(validation) : Validation{};
  }();
  return found;
}

double modelled(const std::string& name) {
  const auto found = std::ranges::find(robotics().rows, name, &ValidationRow::name);
  EXPECT_NE(found, robotics().rows.end()) << name;
  return found == robotics().rows.end() ? 0 : found->modelled;
}

TEST(RoboticsValidation, TheClaimedFootprint) {
  const ValidationRow& claim = robotics().rows.front();
  EXPECT_EQ(claim.name, "weights twice, inputs once, unpadded, batch 32");
  EXPECT_EQ(claim.measured, 51);
  EXPECT_EQ(claim.aside, "");
  EXPECT_NEAR(claim.modelled, 51.2, 0.05);
  EXPECT_NEAR(claim.modelled, average_by_hand(32, 9), 1e-9);
  const std::map<std::string, double> published = {
      {"pets-cartpole", 52.8}, {"pets-reacher", 50.8}, {"pets-pusher", 50.5}, {"pets-halfcheetah", 50.8}};
  for (const auto& [robot, percent] : published) {
    const double found = modelled(claim.name + ", " + robot);
    EXPECT_NEAR(found, percent, 0.05) << robot;
    EXPECT_NEAR(found, reduction_by_hand(layer_sizes().at(robot), 32, 9), 1e-9) << robot;
  }
  EXPECT_NEAR(modelled("weights twice, inputs once, unpadded, batch 16"), average_by_hand(16, 9), 1e-9);
  EXPECT_NEAR(modelled("weights twice, inputs once, unpadded, batch 64"), average_by_hand(64, 9), 1e-9);
  EXPECT_NEAR(modelled(claim.name + ", against OCP's groups of 32"), average_by_hand(32, 8.25), 1e-9);
}

// Whatever is kept twice on one side and once on the other takes 8.125 / 18 there.
TEST(RoboticsValidation, EverythingTwiceIsTheSameForEveryNetwork) {
  for (const char* name : {"weights twice, unpadded", "weights twice, inputs twice, unpadded",
                           "weights twice, inputs twice, gradients twice, unpadded"}) {
    EXPECT_NEAR(modelled(name), 100 * (1 - 8.125 / 18), 1e-9) << name;
  }
  EXPECT_NEAR(modelled("weights once, inputs once, gradients once, unpadded"), 100 * (1 - 8.125 / 9), 1e-9);
  EXPECT_NEAR(modelled("weights twice, fp32 weights and two moments, unpadded"), 100 * (1 - (8.125 + 96) / (18 + 96)),
              1e-9);
}

TEST(RoboticsValidation, EveryWayOfCountingIsThereOnce) {
  std::map<std::string, int> names;
  for (const ValidationRow& row : robotics().rows) ++names[row.name];
  for (const auto& [name, count] : names) EXPECT_EQ(count, 1) << name;
  const auto ways = std::ranges::count(robotics().rows, std::string("another way of counting"), &ValidationRow::aside);
  EXPECT_EQ(ways, 2 * 3 * 3 * 2 * 2 - 1);
  const auto counted = std::ranges::count(robotics().rows, std::string(), &ValidationRow::aside);
  EXPECT_EQ(counted, 1);
}

// One layer of 3 samples, 20 inputs and 9 results: groups of 16 along an axis, of 8 x 8.
TEST(Footprint, PaddingFillsGroups) {
  GraphBuilder builder("layer");
  const TensorId x = builder.input("x", {3, 20});
  const auto graph = networks::finish(builder, networks::fully_connected(builder, "fc", x, 9), "y");
  ASSERT_TRUE(graph);
  const auto bits = [&](const Accounting& accounting, const Format& format) {
    return footprint_bits(*graph, accounting, format);
  };
  EXPECT_EQ(bits({.weights = 1, .activations = 0, .padded = true}, mx9_format()), 9 * 32 * 9);
  EXPECT_EQ(bits({.weights = 2, .activations = 0, .padded = true}, mx9_format()), 9 * 32 * 9 + 16 * 20 * 9);
  EXPECT_EQ(bits({.weights = 0, .activations = 2, .padded = true}, mx9_format()), 3 * 32 * 9 + 16 * 20 * 9);
  EXPECT_EQ(bits({.weights = 0, .activations = 0, .gradients = 1, .padded = true}, mx9_format()), 3 * 16 * 9);
  EXPECT_EQ(bits({.weights = 1, .activations = 0, .padded = true}, square_format()), 16 * 24 * 8 + 6 * 8);
  EXPECT_EQ(bits({.weights = 1, .activations = 1}, mx9_format()), (180 + 60) * 9);
  EXPECT_EQ(bits({.weights = 1, .activations = 0, .state = true}, square_format()), 180 * (8.125 + 96));
}

// Bytes of a matrix in whole groups: of 16 with 18 bytes along an axis, of 8 x 8 with 65.
double in_rows(double rows, double columns) { return rows * std::ceil(columns / 16) * 18; }
double in_squares(double rows, double columns) { return std::ceil(rows / 8) * std::ceil(columns / 8) * 65; }

// Every copy that products read, then what is kept in fp32: of a parameter itself, its gradient and two moments; of a
// layer its result, which the gradient of swish or of the loss reads.
TEST(RoboticsValidation, OurFullAccountingByHand) {
  const double batch = 32;
  const std::string with_plain = "the same with fp32 weights, their gradients, two moments and what is saved in fp32";
  double sum_of_copies = 0, sum_of_all = 0;
  for (const auto& [robot, sizes] : layer_sizes()) {
    double vectors = 0, squares = 0, plain = 0;
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      const double in = sizes[i], out = sizes[i + 1];
      const bool first = i == 0;  // no gradient of its input
      vectors += in_rows(out, in) + (first ? 0 : in_rows(in, out));
      vectors += in_rows(batch, in) + in_rows(in, batch);
      vectors += in_rows(out, batch) + (first ? 0 : in_rows(batch, out));
      squares += in_squares(out, in) + in_squares(batch, in) + in_squares(batch, out);
      plain += 16 * (in * out + out) + 4 * batch * out;
    }
    const double copies = 100 * (1 - squares / vectors), all = 100 * (1 - (squares + plain) / (vectors + plain));
    EXPECT_NEAR(modelled(robot + ", every copy in its training graph, padded"), copies, 1e-9) << robot;
    EXPECT_NEAR(modelled(robot + ", " + with_plain), all, 1e-9) << robot;
    sum_of_copies += copies;
    sum_of_all += all;
  }
  EXPECT_NEAR(modelled("every copy in the training graphs, padded"), sum_of_copies / 4, 1e-9);
  EXPECT_NEAR(modelled(with_plain), sum_of_all / 4, 1e-9);
}

TEST(RoboticsValidation, NoThroughputCounts) {
  EXPECT_DOUBLE_EQ(modelled("peak, equal multipliers: MX9 against MXFP8 or MXFP6"), 4);
  for (const ValidationRow& row : robotics().rows) {
    if (row.quantity != "times the throughput") continue;
    EXPECT_EQ(row.measured, 4);
    EXPECT_TRUE(row.aside.starts_with("a candidate: ")) << row.aside;
  }
}

// The rules again, product by product: tiles of 16 x 16 with skew and waiting queues and 196 cycles to load; four
// arrays of 8 x 8 with depth / rate + 1 cycles a block. Gradients of the inputs of the first layer are not needed.
double dacapo_by_hand(double m, double k, double n, double c) {
  const double kt = std::ceil(k / 16), full = c > 1 ? std::floor(16 * c / (c - 1)) : 1e9;
  double cycles = 196;
  for (double row = 0; row < m; row += 16) {
    for (double column = 0; column < n; column += 16) {
      const double skew = std::min(16.0, m - row) + std::min(16.0, n - column) - 2;
      const bool waits = kt > full && skew > full;
      cycles += kt * c + (waits ? full + (std::min(kt, skew) - full) * c + std::max(0.0, skew - kt) : skew);
    }
  }
  return cycles;
}

double square_by_hand(double m, double k, double n, double rate) {
  return std::ceil(std::ceil(m / 8) * std::ceil(n / 8) / 4) * (std::ceil(8 * std::ceil(k / 8) / rate) + 1);
}

TEST(RoboticsValidation, ThroughputByTheTwoRules) {
  struct Case {
    const char* name;
    double cycles, rate;
  };
  for (const Case& rates : {Case{"MX9 against MXINT8, equal peaks", 16, 1},
                            {"MX6 against MXFP6, equal peaks", 4, 4},
                            {"MX4 against MXFP4, DaCapo's peak twice as high", 1, 8},
                            {"MX9 against MXFP8, a quarter of the peak", 16, 4}}) {
    for (int batch : {16, 32, 64}) {
      double sum = 0;
      for (const auto& [name, sizes] : layer_sizes()) {
        double slow = 0, fast = 0;
        for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
          const double in = sizes[i], out = sizes[i + 1], b = batch;
          std::vector<std::array<double, 3>> products = {{b, in, out}, {out, b, in}};
          if (i > 0) products.push_back({b, out, in});
          for (const auto& [m, k, n] : products) {
            slow += dacapo_by_hand(m, k, n, rates.cycles);
            fast += square_by_hand(m, k, n, rates.rate);
          }
        }
        sum += slow / fast;
      }
      const std::string row = "whole steps by cycle rules, batch " + std::to_string(batch) + ": " + rates.name;
      EXPECT_NEAR(modelled(row), sum / 4, 1e-9) << row;
    }
  }
}

// What others worked out from the same sizes.
TEST(RoboticsValidation, AgreesWithTheReference) {
  MONET_SHARED_OR_SKIP(path, "reference/hardware/mx_claim_reproduction.csv");
  const std::map<std::string, std::string> rows = {
      {"MX9_vs_MXINT8_fill196", "MX9 against MXINT8, equal peaks"},
      {"MX6_vs_MXFP6_fill196", "MX6 against MXFP6, equal peaks"},
      {"MX4_vs_MXFP4_fill196", "MX4 against MXFP4, DaCapo's peak twice as high"},
      {"MX9_vs_MXFP8_fill196", "MX9 against MXFP8, a quarter of the peak"}};
  std::ifstream file(path);
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells(1);
    for (const char c : line) c == ',' ? cells.emplace_back() : cells.back() += c;
    const auto row = rows.find(cells[3]);
    if (row == rows.end() || cells[1] != "AVERAGE") continue;
    if (cells[0] != "16" && cells[0] != "32" && cells[0] != "64") continue;
    const std::string name = "whole steps by cycle rules, batch " + cells[0] + ": " + row->second;
    EXPECT_NEAR(modelled(name), std::stod(cells[4]), 1e-3) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 12);
}

TEST(RoboticsValidation, SaysWhenNothingMatches) {
  const auto none = validate("robotics", {.data = {}, .only = "nothing"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "no case matches 'nothing'");
}

// A convolution's rows are pixels, its depth channels times filter; its gradients have the same three sizes.
TEST(Products, OfAGraph) {
  GraphBuilder builder("net");
  TensorId x = builder.input("x", {2, 3, 8, 8});
  x = networks::convolution(builder, "conv", x, {.channels = 5, .kernel = 3});
  const auto graph = networks::finish(builder, x, "y");
  ASSERT_TRUE(graph);
  const std::vector<NodeProduct> products = products_of(*graph);
  ASSERT_EQ(products.size(), 1U);
  EXPECT_EQ(products[0].node, "conv");
  EXPECT_EQ(products[0].sizes, (Product{.rows = 128, .depth = 27, .columns = 5}));
  EXPECT_EQ(products[0].sizes.turned(), (Product{.rows = 5, .depth = 27, .columns = 128}));
  EXPECT_EQ(products[0].sizes.macs(), 128 * 27 * 5);
}

TEST(RuledCore, NeedsARule) {
  const auto none = RuledCore::open("edge_tpu");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text(), "edge_tpu: no core of it states a cycle rule (give it a cycle_rule)");
  EXPECT_FALSE(RuledCore::open("no_such_machine"));
  auto snax = RuledCore::open("snax_mx");
  ASSERT_TRUE(snax) << snax.error().text();
  EXPECT_FALSE(snax->cycles({.rows = 8, .depth = 8, .columns = 8}, "mx9"));
  EXPECT_EQ(snax->peak_macs("mx9"), 0);
  EXPECT_EQ(snax->peak_macs("mxfp4"), 512);
  const auto block = snax->cost({.rows = 8, .depth = 80, .columns = 8}, "mxfp8");
  ASSERT_TRUE(block) << block.error().text();
  EXPECT_EQ(block->cycles, 21);
  EXPECT_GT(block->pj, 0);
}

}  // namespace
}  // namespace monet
