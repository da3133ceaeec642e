#include "training/options.h"

#include "base/suggest.h"
#include "base/try.h"

#include <fmt/format.h>

#include <algorithm>

namespace monet::training {

namespace {

// The position of `value` among the words that an option knows.
Expected<std::size_t> one_of(const std::string& value, const std::vector<std::string>& words, const char* option) {
  const auto found = std::ranges::find(words, value);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  const std::string guess = nearest(value, words);
  return Error{.message = fmt::format("'{}' is not possible here", value),
               .place = option,
               .advice = guess.empty() ? fmt::format("use {}", fmt::join(words, " or "))
                                       : fmt::format("did you mean '{}'?", guess)};
}

Expected<OptimizerOptions> optimizer_options(const TrainOptions& options) {
  OptimizerOptions result;
  MONET_TRY(result.kind, optimizer_named(options.optimizer));
  MONET_TRY(const std::size_t form, one_of(options.optimizer_form, {"fused", "elementwise"}, "--optimizer-form"));
  result.elementwise = form == 1;
  result.momentum = options.momentum;
  result.beta1 = options.beta1;
  result.beta2 = options.beta2;
  result.epsilon = options.epsilon;
  result.weight_decay = options.weight_decay;
  result.clip_norm = options.clip_norm;
  result.micro_batches = options.accumulate;
  result.loss_scale = options.loss_scale.value_or(1);
  MONET_RETURN_IF_ERROR(check(result));
  return result;
}

}  // namespace

Expected<StepOptions> step_options(const TrainOptions& options) {
  StepOptions result;
  MONET_TRY(result.loss, parse_loss(options.loss));
  result.loss.label_smoothing = options.label_smoothing;
  result.loss.ignore_index = options.ignore_index;
  result.loss.class_axis = options.class_axis;
  MONET_TRY(result.optimizer, optimizer_options(options));
  MONET_TRY(const std::size_t conv, one_of(options.conv_gradient, {"direct", "im2col"}, "--conv-gradient"));
  result.conv_gradient = conv == 0 ? ConvGradient::direct : ConvGradient::im2col;
  if (!options.precision.empty()) {
    MONET_TRY(result.recipe, read_recipe(options.precision));
  }
  if (!options.loss_scale && result.recipe) result.optimizer.loss_scale = result.recipe->values.default_loss_scale;
  if (options.lora_rank) {
    const double alpha = options.lora_alpha.value_or(static_cast<double>(*options.lora_rank));
    result.lora = {.rank = *options.lora_rank, .alpha = alpha, .targets = options.lora_targets};
  } else if (options.lora_alpha || !options.lora_targets.empty()) {
    return Error{.message = "there is no --lora for it",
                 .place = options.lora_alpha ? "--lora-alpha" : "--lora-target",
                 .advice = "add --lora RANK"};
  }
  result.select = {.train = options.train,
                   .freeze = options.freeze,
                   .bias_only = options.bias_only,
                   .last_layers = options.last_layers};
  return result;
}

}  // namespace monet::training
