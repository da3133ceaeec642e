// What is minimized: a loss on top of the network, or one of its own outputs.
#pragma once

#include "graph/builder.h"

#include <optional>
#include <string>

namespace monet::training {

enum class LossKind : std::uint8_t { cross_entropy, mean_squared_error, binary_cross_entropy, output };

struct LossOptions {
  LossKind kind = LossKind::cross_entropy;
  std::string output;  // for LossKind::output: which
  double label_smoothing = 0;
  std::int64_t ignore_index = -100;        // PyTorch's default
  std::optional<std::int64_t> class_axis;  // of cross entropy; the last unless given. Negative: from the end
};

// "cross-entropy", "mse", "bce" or "output:NAME".
Expected<LossOptions> parse_loss(const std::string& text);

// Appends the loss, in phase forward, with its input `target`, and gives the scalar `loss`. Low-precision scores are
// cast to float32 first. Fails when the loss does not fit the network's first output.
Expected<TensorId> add_loss(GraphBuilder& builder, const LossOptions& options);

}  // namespace monet::training
