// One launch on a graphics processor: what it does and how large it is, in the words of a table of measurements
// (docs/calibrate.md). Laws (kernels/laws.h) say how long it takes, what energy and how much workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace monet {

enum class KernelKind : std::uint8_t {
  product,      // batch × [m, k]·[k, n]
  convolution,  // with groups: depthwise where there is one channel a group
  batch_norm,
  layer_norm,  // and norms like it: over the columns of each row
  softmax,
  log_softmax,
  nll,  // negative log-likelihood of class indices
  attention,
  optimizer,    // over a list of tensors
  elementwise,  // and broadcasts, permuted copies, concatenations, sums, pools, gathers: `op` says which
};
constexpr std::size_t kernel_kinds = 10;
std::string_view name_of(KernelKind kind);
std::optional<KernelKind> kernel_kind_named(std::string_view name);

// Of a product: how its operands lie. forward: both along the sum (x·wᵀ, q·kᵀ); input_gradient: the second across it
// (g·w, p·v); weight_gradient: both across it (gᵀ·x, pᵀ·v).
enum class KernelPart : std::uint8_t { forward, input_gradient, weight_gradient, backward };
constexpr std::size_t kernel_parts = 4;
std::string_view name_of(KernelPart part);
std::optional<KernelPart> kernel_part_named(std::string_view name);

// In which numbers the operands are kept; tf32: 32 bits kept, fewer multiplied.
enum class KernelPrecision : std::uint8_t { fp32, tf32, bf16 };
constexpr std::size_t kernel_precisions = 3;
std::string_view name_of(KernelPrecision precision);
std::optional<KernelPrecision> kernel_precision_named(std::string_view name);
constexpr double bytes_of(KernelPrecision precision) { return precision == KernelPrecision::bf16 ? 2 : 4; }

// What an optimizer or an element-wise kernel does; `none` for the other kinds.
enum class KernelOp : std::uint8_t {
  none,
  // contiguous tensors of one size; one that is not here is `mul_scalar` (a tensor in) or `add`, with its `passes`
  add,
  add_inplace,
  mul_scalar,
  cast,
  copy,
  fill,
  relu,
  relu_backward,
  gelu,
  gelu_backward,
  sigmoid,
  silu,
  silu_backward,
  // an operand with other strides or another size than the result
  bias_nchw_inplace,  // one number a channel is added, channels first
  scale_nc11,         // one number a channel and image
  expand_23_div,      // the same, divided, and no other operand: gradient of a mean
  row_bias,           // one number a column
  mask_add,           // a matrix to each of a batch
  // permuted copies
  nchw_to_nhwc,
  nhwc_to_nchw,
  bshd_to_bhsd,       // the last axis stays
  bhds_to_bhsd,       // the last axis moves
  qkv_slice_to_bhsd,  // a part of the source, the last axis stays
  cat_channels,       // concatenations; `elements` of the result
  cat_qkv,
  // sums
  sum,       // to one number
  sum_023,   // to one number a channel
  mean_23,   // to one number a channel and image
  sum_rows,  // to one number a column
  // pools; `elements` of the input
  max_pool_2,
  max_pool_2_backward,
  max_pool_3s2,
  max_pool_3s2_backward,
  max_pool_3s1,
  max_pool_3s1_backward,
  avg_pool_2,
  avg_pool_2_backward,
  avg_pool_3s1,
  avg_pool_3s1_backward,
  adaptive_avg_pool_7,
  // gathers; `elements` of the result, or of its gradient
  embedding,
  embedding_backward,
  // optimizers
  sgd,
  momentum,
  adam,
  adamw,
};
constexpr std::size_t kernel_ops = 47;
std::string_view name_of(KernelOp op);
std::optional<KernelOp> kernel_op_named(std::string_view name);

// Fields that a kind does not use keep their defaults.
struct Kernel {
  KernelKind kind = KernelKind::elementwise;
  KernelPart part = KernelPart::forward;
  KernelPrecision precision = KernelPrecision::fp32;
  KernelOp op = KernelOp::none;

  // Product: m × n results, sums over k. Aligned: every stride of an operand or the result that is not 1 is a multiple
  // of 16 bytes.
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  bool aligned = true;
  bool bias = false;

  // Convolution (batch images of c × h × w to o × oh × ow, whichever direction), batch norm (c, h, w), sums over
  // channels and pools.
  std::int64_t c = 0, o = 0, h = 0, w = 0, oh = 0, ow = 0, kernel_h = 1, kernel_w = 1, stride = 1, groups = 1;
  bool channels_last = false;

  // Norms, softmax, losses, sums to columns.
  std::int64_t rows = 0, columns = 0;

  // Element-wise. Passes: how often `elements` numbers are read or written; 0: as its op does.
  std::int64_t elements = 0;
  double passes = 0;
  std::int64_t parts = 0;  // of a concatenation; 0: two channels' or three projections', as measured

  // Attention: batch × heads × (queries s, keys `keys`) × d.
  std::int64_t s = 0, keys = 0, d = 0, heads = 0;
  bool causal = false;
  std::int64_t vocabulary = 0;  // rows of an embedding's table

  std::vector<std::int64_t> tensors = {};  // optimizer: elements of each

  double bytes = 0;       // of operands and results, each once; 0: as derive_sizes() counts them
  double cold_share = 0;  // of `bytes`: in DRAM, since much else was touched since
  double flops = 0;       // 2 for a MAC; 0: as derive_sizes() counts them

  bool depthwise() const { return kind == KernelKind::convolution && groups > 1 && groups == c; }
};

// oh and ow of a convolution whose input is padded by half a window.
void set_same_padding(Kernel& kernel);
// Passes, bytes and flops from op and shape, where they are 0.
void derive_sizes(Kernel& kernel);

}  // namespace monet
