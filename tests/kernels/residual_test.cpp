// Do residuals go through what was measured, fade with the distance, and leave each point out as refitting would?
#include "kernels/residual.h"

#include <gtest/gtest.h>

#include <cmath>

namespace monet {
namespace {

KernelShape shape_at(double x, double y) { return {x, y, -1, -1, -1, -1}; }

const std::vector<KernelShape> residual_shapes = {shape_at(0, 0), shape_at(1, 0), shape_at(2, 3), shape_at(4, 1),
                                                  shape_at(5, 5)};
const std::vector<double> residual_logs = {0.1, -0.2, 0.3, 0.05, -0.4};

TEST(Residual, GoesThroughWhatWasMeasuredAndFades) {
  const Residual residual(residual_shapes, residual_logs, {.reach = 1, .noise = 1e-9});
  for (std::size_t i = 0; i < residual_shapes.size(); ++i)
    EXPECT_NEAR(std::log(residual.factor(residual_shapes[i])), residual_logs[i], 1e-6);
  EXPECT_NEAR(residual.factor(shape_at(100, 100)), 1, 1e-9);
  EXPECT_EQ(Residual().factor(shape_at(1, 1)), 1);
}

TEST(Residual, LeavesEachOutAsFittingTheOthersDoes) {
  const Nearness nearness{.reach = 2, .noise = 0.1};
  const std::vector<double> predicted = Residual(residual_shapes, residual_logs, nearness).left_out();
  for (std::size_t i = 0; i < residual_shapes.size(); ++i) {
    std::vector<KernelShape> other_shapes = residual_shapes;
    std::vector<double> other_logs = residual_logs;
    other_shapes.erase(other_shapes.begin() + static_cast<std::ptrdiff_t>(i));
    other_logs.erase(other_logs.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NEAR(predicted[i], std::log(Residual(other_shapes, other_logs, nearness).factor(residual_shapes[i])), 1e-12);
  }
}

}  // namespace
}  // namespace monet
