// The layers of which the built-in networks consist, as the operators that PyTorch's exporter writes for them.
// A layer's tensors and nodes carry PyTorch's names: "fc" has the parameters "fc.weight" and "fc.bias".
#pragma once

#include "graph/builder.h"

#include <string>

namespace monet::networks {

// Size of an axis; 1 where the builder has already met a mistake and the axis does not exist.
std::int64_t axis_size(const GraphBuilder& builder, TensorId x, std::size_t axis);

struct Convolution {
  std::int64_t channels;  // of the output
  std::int64_t kernel;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
  bool bias = false;
  bool padded = true;  // by kernel / 2 on each side: stride 1 keeps the image's size
};

// x: [B, C, H, W].
TensorId convolution(GraphBuilder& builder, const std::string& name, TensorId x, const Convolution& sizes);

// A transposed convolution that doubles the image: 2x2 at stride 2, with bias.
TensorId upsampling_convolution(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t channels);

// With batch statistics; updates the running ones.
TensorId batch_norm(GraphBuilder& builder, const std::string& name, TensorId x);

TensorId relu(GraphBuilder& builder, const std::string& name, TensorId x);

TensorId max_pool(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding);

// Average over the whole image, [B, C, H, W] -> [B, C]: a mean over axes, or an AveragePool with the image as window.
TensorId global_mean(GraphBuilder& builder, const std::string& name, TensorId x);
TensorId global_average_pool(GraphBuilder& builder, const std::string& name, TensorId x);

// x: [B, in] -> [B, out], one Gemm.
TensorId fully_connected(GraphBuilder& builder, const std::string& name, TensorId x, std::int64_t outputs);

// The graph with its one output under a name of its own.
Expected<Graph> finish(GraphBuilder& builder, TensorId output, const std::string& output_name);

}  // namespace monet::networks
