#include "training/optimizer_options.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace monet::training {

namespace {

using enum OptimizerKind;

const std::vector<OptimizerInfo>& table() {
  static const std::vector<OptimizerInfo> infos = {
      {sgd, "sgd", "Gradient descent without state."},
      {momentum, "momentum", "Gradient descent with momentum: one state as large as the parameters."},
      {nesterov, "nesterov", "Gradient descent with Nesterov's momentum: one state as large as the parameters."},
      {adam, "adam", "Adam: two states, each as large as the parameters."},
      {adamw, "adamw", "Adam with weight decay apart from the gradient: two states, each as large as the parameters."},
      {adafactor, "adafactor", "Adafactor: one state value for each row and column of a matrix."},
      {lion, "lion", "Lion, which steps by signs: one state as large as the parameters."},
      {adam8bit, "adam8bit",
       "Adam with states of 8 bits, scaled by blocks of 256: half the bytes of a 32-bit parameter."},
  };
  return infos;
}

struct Hyperparameter {
  std::string_view name;
  std::optional<double> OptimizerOptions::* value;
  double low;
  double high;
  bool high_included;
  std::string_view range;
  std::vector<std::pair<OptimizerKind, std::optional<double>>> defaults;  // by kind that has it
};

const std::vector<Hyperparameter>& hyperparameters() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  static const std::vector<Hyperparameter> all = {
      {"momentum",
       &OptimizerOptions::momentum,
       0,
       1,
       false,
       "from 0 to less than 1",
       {{momentum, 0.9}, {nesterov, 0.9}}},
      {"beta1",
       &OptimizerOptions::beta1,
       0,
       1,
       false,
       "from 0 to less than 1",
       {{adam, 0.9}, {adamw, 0.9}, {adam8bit, 0.9}, {lion, 0.9}}},
      {"beta2",
       &OptimizerOptions::beta2,
       0,
       1,
       false,
       "from 0 to less than 1",
       {{adam, 0.999}, {adamw, 0.999}, {adam8bit, 0.999}, {lion, 0.99}}},
      {"beta2_decay", &OptimizerOptions::beta2_decay, -infinity, 0, true, "0 or less", {{adafactor, -0.8}}},
      {"epsilon",
       &OptimizerOptions::epsilon,
       0,
       infinity,
       false,
       "0 or more",
       {{adam, 1e-8}, {adamw, 1e-8}, {adam8bit, 1e-8}, {adafactor, std::nullopt}}},
      {"least_scale", &OptimizerOptions::least_scale, 0, infinity, false, "0 or more", {{adafactor, 1e-3}}},
      {"weight_decay",
       &OptimizerOptions::weight_decay,
       0,
       infinity,
       false,
       "0 or more",
       {{sgd, 0.0},
        {momentum, 0.0},
        {nesterov, 0.0},
        {adam, 0.0},
        {adamw, 0.01},
        {adafactor, 0.0},
        {lion, 0.0},
        {adam8bit, 0.0}}},
  };
  return all;
}

Error wrong(std::string message, std::string advice) {
  return {.message = std::move(message), .place = {}, .advice = std::move(advice)};
}

Status check(const Hyperparameter& info, const OptimizerOptions& options) {
  const std::optional<double> given = options.*info.value;
  if (!given) return Done{};
  if (std::ranges::find(info.defaults, options.kind, [](const auto& entry) { return entry.first; }) ==
      info.defaults.end()) {
    std::vector<std::string_view> kinds;
    for (const auto& [kind, value] : info.defaults) kinds.push_back(name_of(kind));
    return wrong(fmt::format("the optimizer {} has no {}", name_of(options.kind), info.name),
                 fmt::format("leave it out, or choose an optimizer that has one: {}", fmt::join(kinds, ", ")));
  }
  const bool fits = std::isfinite(*given) && *given >= info.low &&
                    (*given < info.high || (info.high_included && *given == info.high));
  if (fits) return Done{};
  return wrong(fmt::format("{} is {}", info.name, *given), fmt::format("choose a number {}", info.range));
}

}  // namespace

std::span<const OptimizerInfo> optimizers() { return table(); }

std::string_view name_of(OptimizerKind kind) { return table()[static_cast<std::size_t>(kind)].name; }

Expected<OptimizerKind> optimizer_named(std::string_view name) {
  std::vector<std::string> names;
  for (const OptimizerInfo& info : table()) {
    if (info.name == name) return info.kind;
    names.push_back(info.name);
  }
  const std::string guess = nearest(name, names);
  return wrong(fmt::format("there is no optimizer '{}'", name),
               fmt::format("{}choose one of {}", guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess),
                           fmt::join(names, ", ")));
}

OptimizerOptions with_defaults(OptimizerOptions options) {
  for (const Hyperparameter& info : hyperparameters()) {
    for (const auto& [kind, value] : info.defaults) {
      if (kind == options.kind && !(options.*info.value)) options.*info.value = value;
    }
  }
  return options;
}

Status check(const OptimizerOptions& options) {
  for (const Hyperparameter& info : hyperparameters()) MONET_RETURN_IF_ERROR(check(info, options));
  if (options.kind == nesterov && options.momentum == 0.0) {
    return wrong("nesterov's momentum is 0", "choose a momentum above 0, or the optimizer sgd");
  }
  if (options.clip_norm && !(std::isfinite(*options.clip_norm) && *options.clip_norm > 0)) {
    return wrong(fmt::format("gradients are to be clipped to a norm of {}", *options.clip_norm),
                 "choose a norm above 0, or no clipping");
  }
  if (options.micro_batches < 1) {
    return wrong(fmt::format("a step has {} micro-batches", options.micro_batches), "choose 1 or more");
  }
  if (!(std::isfinite(options.loss_scale) && options.loss_scale > 0)) {
    return wrong(fmt::format("the loss is scaled by {}", options.loss_scale), "choose a scale above 0; 1 is none");
  }
  if (options.min_8bit_size < 0) {
    return wrong(fmt::format("moments have 8 bits from {} elements on", options.min_8bit_size), "choose 0 or more");
  }
  return Done{};
}

}  // namespace monet::training
