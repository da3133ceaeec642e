// Are coefficients found again that made the times, and are errors on the H200's kernels what the documents say?
#include "kernels/calibrate/fit.h"

#include "kernels/calibrate/minimize.h"
#include "kernels/hand_made_laws.h"
#include "kernels/laws.h"
#include "support/source_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace monet {
namespace {

using test::hand_made_laws;

TEST(Minimize, FindsTheLeastOfASumOfDistances) {
  std::array<double, 3> x = {1, 1, 5};
  const std::array<SearchRange, 3> ranges = {SearchRange{0.01, 100}, SearchRange{0.01, 100}, SearchRange{5, 5}};
  minimize(x, ranges, 20, [](std::span<const double> v) {
    return std::abs(std::log(v[0] / 7)) + std::abs(std::log(v[1] / 0.3)) + std::abs(std::log(v[2] / 2));
  });
  EXPECT_NEAR(x[0], 7, 0.05);
  EXPECT_NEAR(x[1], 0.3, 0.002);
  EXPECT_EQ(x[2], 5);  // not to be changed
}

std::vector<MeasuredKernel> timed(const KernelLaws& laws, std::vector<Kernel> kernels) {
  std::vector<MeasuredKernel> result;
  for (Kernel& kernel : kernels) {
    derive_sizes(kernel);
    result.push_back({kernel, microseconds(laws, kernel)});
  }
  return result;
}

TEST(FitCoefficients, FindsThoseOfAProductAgain) {
  KernelLaws laws = hand_made_laws();
  const Coefficients truth = {120e6, 40, 3, 1.5, 5, 1, 0.5};
  test::set_law(laws, "product.forward.fp32", truth);
  std::vector<Kernel> kernels;
  for (const std::int64_t m : {32, 200, 1000, 4000})
    for (const std::int64_t n : {64, 700, 3000})
      for (const std::int64_t k : {64, 500, 5000})
        kernels.push_back({.kind = KernelKind::product, .m = m, .n = n, .k = k});
  const auto measured = timed(laws, kernels);
  const Coefficients found = fit_coefficients(hand_made_laws(), laws.classes[0].kernel_class, measured);
  double error = 0;
  for (const MeasuredKernel& point : measured)
    error += std::abs(product_form.us(laws, point.kernel, found) / point.us - 1) / static_cast<double>(measured.size());
  EXPECT_LT(error, 0.02);
  EXPECT_NEAR(found[0] / truth[0], 1, 0.1);
}

TEST(FitCoefficients, FindsThoseOfAStreamAndTheMemoryAgain) {
  KernelLaws laws = hand_made_laws();
  test::set_law(laws, "elementwise.copy.fp32", {1.7, 1e9, 1});
  std::vector<Kernel> kernels;
  for (std::int64_t elements = 1024; elements < 200'000'000; elements *= 3)
    kernels.push_back({.kind = KernelKind::elementwise, .op = KernelOp::copy, .elements = elements});
  const auto measured = timed(laws, kernels);
  KernelLaws fitted = hand_made_laws();
  fitted.memory = {.cache_rate = 5e6, .memory_rate = 3.6e6, .cache_until = 15e6, .memory_from = 30e6, .cold_after = 1};
  fit_memory(fitted, measured);
  EXPECT_NEAR(fitted.memory.cache_rate, 8e6, 3e5);
  EXPECT_NEAR(fitted.memory.memory_rate, 4e6, 1e5);
  const auto errors = fit_classes(fitted, measured, 3, 1);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].measured, measured.size());
  EXPECT_LT(errors[0].law, 0.02);
  EXPECT_NEAR(fitted.classes[0].coefficients[0], 1.7, 0.1);
}

TEST(FitEnergy, FindsPowersAgain) {
  const KernelLaws truth = hand_made_laws();
  std::vector<MeasuredEnergy> energies;
  const auto add = [&](Kernel kernel, double us) {
    derive_sizes(kernel);
    energies.push_back({.kernel = kernel, .us = us, .mj = millijoules(truth, kernel, us)});
  };
  for (const auto precision : {KernelPrecision::fp32, KernelPrecision::tf32, KernelPrecision::bf16}) {
    for (const std::int64_t size : {64, 500, 2000, 8000}) {
      const Kernel product{.kind = KernelKind::product, .precision = precision, .m = size, .n = size, .k = size};
      add(product,
          5 + 2.5 * std::pow(static_cast<double>(size), 3) / truth.ceiling[static_cast<std::size_t>(precision)]);
      const Kernel copy{
          .kind = KernelKind::elementwise, .precision = precision, .op = KernelOp::copy, .elements = size * size};
      add(copy, 3 + 3e-6 * static_cast<double>(size * size));
    }
    add({.kind = KernelKind::batch_norm, .precision = precision, .batch = 8, .c = 10, .h = 50, .w = 50}, 300);
  }
  KernelLaws fitted = truth;
  fitted.energy = {};
  const ClassError error = fit_energy(fitted, energies, 5);
  EXPECT_EQ(error.measured, energies.size());
  EXPECT_LT(error.law, 0.02);
  EXPECT_NEAR(fitted.energy.flop_pj[0], 10, 1);
  EXPECT_NEAR(fitted.energy.base_w, 100, 5);
}

// What the smallest kernels draw is the base, and slowed kernels say what the clock saves.
TEST(FitEnergy, FindsTheExponentOfTheClock) {
  KernelLaws truth = hand_made_laws();
  truth.energy.clock_exponent = 1.5;
  std::vector<MeasuredEnergy> energies = {{.watts = truth.energy.base_w, .clock_mhz = 2000, .tiny = true}};
  for (const auto precision : {KernelPrecision::fp32, KernelPrecision::tf32, KernelPrecision::bf16}) {
    for (const double clock : {1.0, 0.9, 0.8, 0.7}) {
      for (const std::int64_t size : {500, 2000, 8000}) {
        Kernel product{.kind = KernelKind::product, .precision = precision, .m = size, .n = size, .k = size};
        derive_sizes(product);
        const double us = 5 + product.flops / truth.ceiling[static_cast<std::size_t>(precision)] / clock;
        energies.push_back(
            {.kernel = product, .us = us, .mj = millijoules(truth, product, us, clock), .clock_mhz = 2000 * clock});
      }
    }
  }
  KernelLaws fitted = truth;
  fitted.energy = {};
  EXPECT_LT(fit_energy(fitted, energies, 4).law, 0.03);
  EXPECT_NEAR(fitted.energy.clock_exponent, 1.5, 0.15);
  EXPECT_EQ(fitted.energy.base_w, 100);
  EXPECT_NEAR(fitted.energy.flop_pj[2], 1, 0.1);
  // Of kernels at one clock nothing can be told.
  for (MeasuredEnergy& row : energies) row.clock_mhz = 2000;
  fit_energy(fitted, energies, 4);
  EXPECT_EQ(fitted.energy.clock_exponent, 0);
}

// Mean errors on kernels that were left out, by kind; bars a little above what was reached.
TEST(FitClasses, KernelsOfTheH200ThatWereLeftOut) {
  const std::string folder = (test::source_folder() / "data" / "groundtruth").string();
  const auto measured = read_measurements({folder + "/h200_micro.csv", folder + "/h200_micro2.csv"});
  ASSERT_TRUE(measured.has_value()) << measured.error().text();
  EXPECT_EQ(measured->kernels.size(), 4009U);
  KernelLaws laws = hand_made_laws();
  laws.multiprocessors = 132;
  laws.ceiling = {52e6, 398e6, 787e6};
  laws.memory = {.cache_rate = 7e6, .memory_rate = 4.3e6, .cache_until = 31e6, .memory_from = 57e6, .cold_after = 38e6};
  fit_memory(laws, measured->kernels);
  std::vector<MeasuredKernel> some;  // a part of the classes, for time
  for (const MeasuredKernel& point : measured->kernels) {
    const Kernel& k = point.kernel;
    const bool product = k.kind == KernelKind::product && k.part == KernelPart::weight_gradient && k.aligned;
    if (product || k.kind == KernelKind::attention || k.op == KernelOp::mul_scalar || k.op == KernelOp::relu_backward)
      some.push_back(point);
  }
  std::map<KernelKind, std::pair<double, double>> by_kind;
  for (const ClassError& error : fit_classes(laws, some, 4, 0)) {
    by_kind[error.kernel_class.kind].first += error.left_out * static_cast<double>(error.measured);
    by_kind[error.kernel_class.kind].second += static_cast<double>(error.measured);
  }
  const auto mean = [&](KernelKind kind) { return by_kind.at(kind).first / by_kind.at(kind).second; };
  EXPECT_LT(mean(KernelKind::product), 0.13);
  EXPECT_LT(mean(KernelKind::attention), 0.13);
  EXPECT_LT(mean(KernelKind::elementwise), 0.08);
}

}  // namespace
}  // namespace monet
