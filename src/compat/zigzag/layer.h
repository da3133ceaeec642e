// Layers as ZigZag 3.8.5 reads them from an ONNX file: Conv, MatMul and Gemm, each a product of two operands under
// named loops. Its reading is kept where it departs from the operator's meaning: the first axis of kernel, strides and
// dilations goes with the width; weights that no node produces have no batch, whatever their shape; the bias is free.
#pragma once

#include "graph/graph.h"
#include "graph/nests.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace monet {

// Positions along an axis of the input: stride * loops[outer] + dilation * loops[inner], at most `limit` of them.
struct ZigzagWindow {
  Dim name = Dim::IX;
  std::uint8_t outer = 0;
  std::uint8_t inner = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t limit = 1;

  bool operator==(const ZigzagWindow&) const = default;
};

struct ZigzagOperand {
  char name = 'O';                  // O, W or I
  std::vector<std::uint8_t> loops;  // that index it alone, in the order of the equation
  bool windows = false;             // the windows of the layer index it too
  std::int64_t bits = 8;            // of an element; O: of a partial sum

  bool operator==(const ZigzagOperand&) const = default;
};

constexpr std::size_t zigzag_operands = 3;

struct ZigzagLayer {
  std::string name;
  std::string type;  // "Conv", "MatMul", "Gemm"
  std::vector<Loop> loops;
  std::vector<ZigzagWindow> windows;
  std::array<ZigzagOperand, zigzag_operands> operands;  // as in the equation, the output first
  std::int64_t final_bits = 8;                          // of an element of the finished output

  bool operator==(const ZigzagLayer&) const = default;
  double macs() const;
  // Without the name: layers that cost the same.
  bool same_work(const ZigzagLayer& other) const;
};

struct ZigzagPrecision {
  std::int64_t weight_bits = 8;
  std::int64_t input_bits = 8;
  std::int64_t partial_bits = 16;
  std::int64_t output_bits = 8;
};

struct ZigzagSkipped {
  NodeId node;
  std::string reason;
};

struct ZigzagWorkload {
  std::vector<ZigzagLayer> layers;     // in the order of the graph
  std::vector<NodeId> nodes;           // of the layers
  std::vector<ZigzagSkipped> skipped;  // what ZigZag counts as free
};

ZigzagWorkload zigzag_layers(const Graph& graph, const ZigzagPrecision& precision = {});

// A convolution by its sizes. `batch`, `output_channels` (of one group) and so on are loop sizes as they are named
// above; `input` are the sizes that cut the windows off.
struct ZigzagConv {
  std::int64_t batch = 1, output_channels = 1, groups = 1, width = 1, height = 1, channels = 1;
  std::array<std::int64_t, 2> kernel{1, 1}, strides{1, 1}, dilations{1, 1};  // [0] goes with the width
  std::int64_t input_width = 1, input_height = 1;
};
ZigzagLayer zigzag_conv(std::string name, const ZigzagConv& conv, const ZigzagPrecision& precision = {});

// O[B][H][D][K] += I[B][H][D][C] * W[B][H][C][K]; batch and heads of 0 are loops that are not there.
struct ZigzagProduct {
  std::int64_t rows = 1, contracted = 1, columns = 1, batch = 0, heads = 0;
  bool constant_weights = true;  // then W has no batch and no heads
};
ZigzagLayer zigzag_product(std::string name, std::string type, const ZigzagProduct& product,
                           const ZigzagPrecision& precision = {});

}  // namespace monet
