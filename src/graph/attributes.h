// The constants of an operator, in normal form: every attribute an operator lists in op_list.inc is present unless it
// is marked optional there, axes are not negative, pads are explicit. Readers and builders see to that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace monet {

// clang-format off
#define MONET_ATTRIBUTES(X)                                                                                           \
  X(align_corners) X(alpha) X(antialias) X(approximate) X(axes) X(axis) X(batch_axis) X(batch_dims) X(beta)           \
  X(beta1) X(beta2) X(bias) X(blocksize) X(coordinate_mode) X(count_include_pad) X(cubic_coeff_a) X(decoupled)        \
  X(delta) X(depth) X(detect_negative) X(detect_positive) X(dilations) X(direction) X(epsilon) X(equation)            \
  X(exclude_outside) X(format) X(exclusive) X(extrapolation_value) X(fmod) X(gamma) X(group) X(high) X(ignore_index)            \
  X(is_causal) X(k) X(keepdims) X(kernel_shape) X(label_smoothing) X(lambd) X(largest) X(low) X(max) X(mean)          \
  X(min) X(mode) X(momentum) X(nearest_mode) X(nesterov) X(num_groups) X(output_padding) X(p) X(padding_mode)         \
  X(pads) X(perm) X(ratio) X(reduction) X(repeats) X(reverse) X(roi) X(scale) X(scales) X(select_last_index)          \
  X(shape) X(size) X(softcap) X(sorted) X(split) X(start) X(starts) X(steps) X(storage_order) X(strides)              \
  X(time_axis) X(to) X(training_mode) X(trans_a) X(trans_b) X(upper) X(value) X(weight_decay)         \
  X(domain) X(op_type) X(options) X(outputs) X(mesh) X(blocks)
// clang-format on

enum class Attr : std::uint8_t {
#define X(name) name,
  MONET_ATTRIBUTES(X)
#undef X
};

std::string_view name_of(Attr key);

using AttributeValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<Attr, AttributeValue>> entries);

  // Replaces an earlier value.
  void set(Attr key, AttributeValue value);
  bool has(Attr key) const { return find(key) != nullptr; }

  // Require that the attribute is there with that type.
  std::int64_t integer(Attr key) const;
  double real(Attr key) const;
  const std::string& text(Attr key) const;
  const std::vector<std::int64_t>& integers(Attr key) const;
  const std::vector<double>& reals(Attr key) const;

  std::int64_t integer_or(Attr key, std::int64_t otherwise) const;
  double real_or(Attr key, double otherwise) const;

  bool operator==(const Attributes&) const = default;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  const AttributeValue* find(Attr key) const;

  std::vector<std::pair<Attr, AttributeValue>> entries_;  // sorted by key
};

}  // namespace monet
