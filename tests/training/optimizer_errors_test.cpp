// What the optimizer refuses, and what it says.
#include "support/expect_error.h"
#include "training/optimizer.h"

#include <gtest/gtest.h>

#include <limits>

namespace monet::test {
namespace {

using namespace monet::training;
using enum OptimizerKind;

TEST(OptimizerNames, EachNameGivesItsKind) {
  for (const OptimizerInfo& info : optimizers()) {
    EXPECT_EQ(*optimizer_named(info.name), info.kind);
    EXPECT_EQ(name_of(info.kind), info.name);
    EXPECT_TRUE(info.description.ends_with('.')) << info.description;
  }
  EXPECT_EQ(optimizers().size(), 8U);
}

TEST(OptimizerNames, AnUnknownNameIsAnsweredWithTheNearest) {
  const auto near = optimizer_named("adamv");
  ASSERT_FALSE(near.has_value());
  expect_error(near.error(), {"no optimizer 'adamv'"});
  EXPECT_NE(near.error().advice.find("did you mean 'adam"), std::string::npos) << near.error().advice;
  const auto far = optimizer_named("shampoo");
  ASSERT_FALSE(far.has_value());
  EXPECT_NE(far.error().advice.find("sgd, momentum, nesterov, adam, adamw, adafactor, lion, adam8bit"),
            std::string::npos)
      << far.error().advice;
}

void expect_refused(const OptimizerOptions& options, const std::vector<std::string>& words) {
  const auto status = check(options);
  ASSERT_FALSE(status.has_value()) << words.front();
  expect_error(status.error(), words);
}

TEST(OptimizerOptions, OutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (double bad : {-0.1, 1.0, 2.0, nan, infinity}) {
    expect_refused({.kind = momentum, .momentum = bad}, {"momentum is"});
    expect_refused({.kind = adam, .beta1 = bad}, {"beta1 is"});
    expect_refused({.kind = lion, .beta2 = bad}, {"beta2 is"});
  }
  for (double bad : {-1e-9, nan, infinity}) {
    expect_refused({.kind = adamw, .epsilon = bad}, {"epsilon is"});
    expect_refused({.kind = adafactor, .least_scale = bad}, {"least_scale is"});
    expect_refused({.kind = sgd, .weight_decay = bad}, {"weight_decay is"});
  }
  for (double bad : {0.1, nan, -infinity}) expect_refused({.kind = adafactor, .beta2_decay = bad}, {"beta2_decay is"});
  for (double bad : {0.0, -1.0, nan, infinity}) {
    expect_refused({.clip_norm = bad}, {"clipped to a norm of"});
    expect_refused({.loss_scale = bad}, {"loss is scaled by"});
  }
  for (std::int64_t bad : {0, -3}) expect_refused({.micro_batches = bad}, {"micro-batches"});
  expect_refused({.kind = nesterov, .momentum = 0.0}, {"nesterov's momentum is 0"});
  expect_refused({.kind = adam8bit, .min_8bit_size = -1}, {"8 bits from -1"});
}

TEST(OptimizerOptions, EndsOfRangesAreAllowed) {
  EXPECT_TRUE(check({.kind = momentum, .momentum = 0.0}).has_value());
  EXPECT_TRUE(check({.kind = adam, .beta1 = 0.0, .beta2 = 0.0, .epsilon = 0.0, .weight_decay = 0.0}).has_value());
  EXPECT_TRUE(check({.kind = adafactor, .beta2_decay = 0.0}).has_value());
}

TEST(OptimizerOptions, WhatAnOptimizerDoesNotHave) {
  expect_refused({.kind = sgd, .momentum = 0.9}, {"sgd has no momentum"});
  expect_refused({.kind = momentum, .beta1 = 0.9}, {"momentum has no beta1"});
  expect_refused({.kind = adafactor, .beta2 = 0.9}, {"adafactor has no beta2"});
  expect_refused({.kind = adam, .beta2_decay = -0.8}, {"adam has no beta2_decay"});
  expect_refused({.kind = lion, .epsilon = 1e-8}, {"lion has no epsilon"});
  const auto status = check({.kind = sgd, .momentum = 0.9});
  EXPECT_NE(status.error().advice.find("momentum, nesterov"), std::string::npos) << status.error().advice;
}

// torch.optim's (2.15), the Lion paper's and bitsandbytes' defaults.
TEST(OptimizerOptions, Defaults) {
  const auto momentum_defaults = with_defaults({.kind = nesterov});
  EXPECT_EQ(momentum_defaults.momentum, 0.9);
  EXPECT_EQ(momentum_defaults.weight_decay, 0.0);
  for (OptimizerKind kind : {adam, adamw, adam8bit}) {
    const auto options = with_defaults({.kind = kind});
    EXPECT_EQ(options.beta1, 0.9);
    EXPECT_EQ(options.beta2, 0.999);
    EXPECT_EQ(options.epsilon, 1e-8);
    EXPECT_EQ(options.weight_decay, kind == adamw ? 0.01 : 0.0);
  }
  EXPECT_EQ(with_defaults({.kind = lion}).beta2, 0.99);
  EXPECT_EQ(with_defaults({.kind = adafactor}).beta2_decay, -0.8);
  EXPECT_EQ(with_defaults({.kind = adafactor}).least_scale, 1e-3);
  EXPECT_EQ(with_defaults({.kind = adafactor}).epsilon, std::nullopt);
  EXPECT_EQ(with_defaults({.kind = adamw, .weight_decay = 0.2}).weight_decay, 0.2);
}

TEST(OptimizerErrors, WhatCannotBeTrained) {
  GraphBuilder builder("step");
  const TensorId codes = builder.parameter("codes", {3}, ElementType::int8);
  const TensorId gradient = builder.input("codes.grad", {3});
  const Trained trained[] = {{codes, gradient}};
  const auto integer = add_optimizer(builder, trained, {});
  ASSERT_FALSE(integer.has_value());
  expect_error(integer.error(), {"type int8 cannot be trained"}, "codes");

  const auto nothing = add_optimizer(builder, {}, {});
  ASSERT_FALSE(nothing.has_value());
  expect_error(nothing.error(), {"nothing to optimize"});
  const Trained without[] = {{codes, {}}};
  EXPECT_FALSE(add_optimizer(builder, without, {}).has_value());
  EXPECT_FALSE(add_optimizer(builder, trained, {.micro_batches = 0}).has_value());
}

TEST(OptimizerErrors, AGradientOfAnotherShape) {
  GraphBuilder builder("step");
  const TensorId parameter = builder.parameter("w", {3, 4});
  const Trained trained[] = {{parameter, builder.input("w.grad", {4, 3})}};
  ASSERT_TRUE(add_optimizer(builder, trained, {.kind = adafactor, .clip_norm = 1.0}).has_value());
  const auto graph = builder.finish();
  ASSERT_FALSE(graph.has_value());
  EXPECT_NE(graph.error().message.find("a gradient of"), std::string::npos) << graph.error().text();
}

}  // namespace
}  // namespace monet::test
