// Random small networks of real layers (convolutions, norms, pools, residuals, attention, views), and steps of them.
#pragma once

#include "base/try.h"
#include "mapping/random_cases.h"
#include "networks/layers.h"
#include "networks/transformer.h"
#include "support/random_step.h"

#include <string>

namespace monet::test {

class RandomNetwork {
 public:
  explicit RandomNetwork(Random& random) : random_(random), builder_("random") {}

  Expected<Graph> make() {
    TensorId x;
    switch (random_.between(0, 3)) {
      case 0: x = perceptron(); break;
      case 1: x = transformer(); break;
      default: x = image_network(); break;
    }
    builder_.output(x);
    return builder_.finish();
  }

 private:
  using Integers = std::vector<std::int64_t>;

  std::string name(const char* what) { return what + std::to_string(next_++); }
  std::int64_t size(TensorId x, std::size_t axis) const { return builder_.shape(x)[axis]; }

  TensorId activation(TensorId x) {
    return builder_.add(random_.one_of<Op>({Op::Relu, Op::Silu, Op::Sigmoid, Op::Tanh}), name("act"), {x});
  }

  TensorId perceptron() {
    TensorId x = builder_.input("x", {random_.between(1, 4), random_.between(1, 24)});
    for (std::int64_t i = random_.between(1, 3); i > 0; --i) {
      x = activation(networks::fully_connected(builder_, name("fc"), x, random_.between(1, 24)));
    }
    return networks::fully_connected(builder_, name("fc"), x, random_.between(2, 10));
  }

  TensorId image_network() {
    const std::int64_t side = random_.between(4, 10);
    TensorId x = builder_.input("x", {random_.between(1, 3), random_.between(1, 4), side, random_.between(4, 10)});
    for (std::int64_t i = random_.between(1, 4); i > 0; --i) x = image_layer(x);
    if (random_.chance(0.3)) {
      const Integers flat = {size(x, 0), size(x, 1) * size(x, 2) * size(x, 3)};
      x = networks::reshaped(builder_, name("flat"), x, flat);
    } else {
      x = random_.chance(0.5) ? networks::global_mean(builder_, name("mean"), x)
                              : networks::global_average_pool(builder_, name("mean"), x);
    }
    return networks::fully_connected(builder_, name("fc"), x, random_.between(2, 8));
  }

  TensorId convolution(TensorId x, std::int64_t channels, std::int64_t stride) {
    const std::int64_t in = size(x, 1);
    const bool depthwise = channels == in && random_.chance(0.3);
    return networks::convolution(builder_, name("conv"), x,
                                 {.channels = channels,
                                  .kernel = random_.one_of<std::int64_t>({1, 3, 3, 5}),
                                  .stride = stride,
                                  .groups = depthwise ? in : 1,
                                  .bias = random_.chance(0.3)});
  }

  TensorId image_layer(TensorId x) {
    const bool large = size(x, 2) >= 4 && size(x, 3) >= 4;
    switch (random_.between(0, 7)) {
      case 0: return large ? networks::max_pool(builder_, name("pool"), x, 2, 2, 0) : activation(x);
      case 1: return networks::batch_norm(builder_, name("bn"), x);
      case 2: {
        TensorId y = activation(convolution(x, size(x, 1), 1));
        if (random_.chance(0.5)) y = networks::batch_norm(builder_, name("bn"), y);
        return builder_.add(Op::Add, name("residual"), {x, convolution(y, size(x, 1), 1)});
      }
      case 3: return networks::transposed(builder_, name("turn"), x, {0, 1, 3, 2});
      case 4: {
        const TensorId y = convolution(x, random_.between(1, 4), 1);
        return builder_.add(Op::Concat, name("join"), {x, y}, {{Attr::axis, std::int64_t{1}}});
      }
      case 5: return activation(x);
      default:
        return activation(convolution(x, random_.one_of<std::int64_t>({size(x, 1), random_.between(1, 8)}),
                                      large ? random_.between(1, 2) : 1));
    }
  }

  TensorId transformer() {
    const std::int64_t heads = random_.between(1, 3);
    const networks::TransformerSizes sizes{.layers = 1,
                                           .width = heads * random_.between(1, 6),
                                           .heads = heads,
                                           .ffn = random_.between(2, 16),
                                           .vocabulary = random_.between(3, 12),
                                           .tokens = random_.between(2, 8)};
    TensorId x;
    if (random_.chance(0.5)) {
      const TensorId tokens = builder_.input("tokens", {random_.between(1, 2), sizes.tokens}, ElementType::int64);
      x = networks::embedding(builder_, sizes, tokens, sizes.tokens).tokens;
    } else {
      x = builder_.input("x", {random_.between(1, 2), sizes.tokens, sizes.width});
    }
    for (std::int64_t i = random_.between(1, 2); i > 0; --i) {
      const std::string block = name("block");
      networks::Attention attention{.heads = heads, .fused = random_.chance(0.3)};
      if (!attention.fused && random_.chance(0.5)) {
        attention.causal = true;
        attention.mask = networks::causal_mask(builder_, block + ".causal", {1, 1, sizes.tokens, sizes.tokens});
      }
      TensorId y = random_.chance(0.7) ? networks::layer_norm(builder_, block + ".norm", x) : x;
      y = networks::self_attention(builder_, block, y, attention);
      x = builder_.add(Op::Add, block + ".residual", {x, y});
      if (random_.chance(0.6)) {
        x = builder_.add(Op::Add, block + ".residual2", {x, networks::feed_forward(builder_, block, x, sizes.ffn)});
      }
    }
    return x;
  }

  Random& random_;
  GraphBuilder builder_;
  int next_ = 0;
};

// A training step, or the forward part alone, of a random network or a random graph.
inline Expected<Graph> random_step(Random& random) {
  while (random.chance(0.25)) {
    auto step = random_step(static_cast<unsigned>(random.between(0, 1 << 20)));
    // Some have nothing to train; a sum of very many results is more than a mapping can have.
    const auto few_inputs = [](const Node& node) { return node.inputs.size() <= 8; };
    if (step && std::ranges::all_of(step->nodes(), few_inputs)) return step;
  }
  MONET_TRY(Graph forward, RandomNetwork(random).make());
  if (random.chance(0.2)) return forward;
  using enum training::OptimizerKind;
  training::StepOptions options;
  options.loss.kind = training::LossKind::mean_squared_error;
  options.optimizer.kind = random.one_of<training::OptimizerKind>({sgd, momentum, adam, adamw, adafactor, lion});
  options.optimizer.elementwise = random.chance(0.1);
  if (random.chance(0.15)) options.optimizer.clip_norm = 1.0;
  if (random.chance(0.1)) options.optimizer.micro_batches = 2;
  if (random.chance(0.2)) options.conv_gradient = training::ConvGradient::im2col;
  if (random.chance(0.2)) {
    MONET_TRY(options.recipe,
              training::read_recipe(random.one_of<std::string>(
                  {"bf16", "mixed", "mxfp8", "mxfp4-square", "fp8-hybrid", "int8-channel", "int8-integer"})));
  }
  MONET_TRY(training::TrainingStep step, training::make_training_step({std::move(forward), false, {}, {}}, options));
  return std::move(step.graph);
}

}  // namespace monet::test
