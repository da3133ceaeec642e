#include "onnx/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace monet::onnx {

std::int32_t onnx_number(ElementType type) {
  using enum ElementType;
  switch (type) {
    case float32: return 1;
    case uint8: return 2;
    case int8: return 3;
    case uint16: return 4;
    case int16: return 5;
    case int32: return 6;
    case int64: return 7;
    case boolean: return 9;
    case float16: return 10;
    case float64: return 11;
    case uint32: return 12;
    case uint64: return 13;
    case bfloat16: return 16;
    case float8e4m3fn: return 17;
    case float8e4m3fnuz: return 18;
    case float8e5m2: return 19;
    case float8e5m2fnuz: return 20;
    case uint4: return 21;
    case int4: return 22;
    case float4e2m1: return 23;
    case float8e8m0: return 24;
  }
  return 0;
}

namespace {

// Codes are counted without the sign, which is the bit above them.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint16_t largest;                  // code of the largest number
  std::optional<std::uint16_t> infinity;  // absent: the largest number stands for what is beyond it
  std::uint16_t not_a_number;             // with its sign bit; 0 where there is none
  bool has_negative_zero = true;
};

SmallFloat layout_of(ElementType type) {
  switch (type) {
    case ElementType::float16: return {5, 10, 15, 0x7bff, 0x7c00, 0x7e00};
    case ElementType::bfloat16: return {8, 7, 127, 0x7f7f, 0x7f80, 0x7fc0};
    case ElementType::float8e4m3fn: return {4, 3, 7, 0x7e, std::nullopt, 0x7f};
    case ElementType::float8e4m3fnuz: return {4, 3, 8, 0x7f, std::nullopt, 0x80, false};
    case ElementType::float8e5m2: return {5, 2, 15, 0x7b, 0x7c, 0x7e};
    case ElementType::float8e5m2fnuz: return {5, 2, 16, 0x7f, std::nullopt, 0x80, false};
    case ElementType::float8e8m0: return {8, 0, 127, 0xfe, std::nullopt, 0xff};
    default: return {2, 1, 1, 0x7, std::nullopt, 0};
  }
}

}  // namespace

std::uint16_t small_float_bits(double value, ElementType type) {
  const SmallFloat layout = layout_of(type);
  if (std::isnan(value)) return layout.not_a_number;
  const double magnitude = std::abs(value);
  std::uint16_t code = layout.infinity.value_or(layout.largest);
  if (std::isfinite(value)) {
    // Below the smallest normal number the distance between neighbours stays what it is there.
    const int exponent = magnitude == 0 ? 1 - layout.bias : std::max(std::ilogb(magnitude), 1 - layout.bias);
    const double steps = std::nearbyint(std::ldexp(magnitude, layout.mantissa_bits - exponent));
    const double exact = std::ldexp(exponent + layout.bias - 1, layout.mantissa_bits) + steps;
    if (exact <= layout.largest) code = static_cast<std::uint16_t>(exact);
  }
  const bool unsigned_zero = code == 0 && !layout.has_negative_zero;
  if (std::signbit(value) && !unsigned_zero && type != ElementType::float8e8m0) {
    code |= static_cast<std::uint16_t>(1U << (layout.exponent_bits + layout.mantissa_bits));
  }
  return code;
}

namespace {

template <class T>
void append(std::string& bytes, T value) {
  char buffer[sizeof(T)];
  std::memcpy(buffer, &value, sizeof(T));
  bytes.append(buffer, sizeof(T));
}

void append_element(std::string& bytes, const Constant& constant, std::int64_t index) {
  using enum ElementType;
  switch (constant.type) {
    case float32: return append(bytes, static_cast<float>(constant.real_at(index)));
    case float64: return append(bytes, constant.real_at(index));
    case float16:
    case bfloat16: return append(bytes, small_float_bits(constant.real_at(index), constant.type));
    case int64:
    case uint64: return append(bytes, constant.integer_at(index));
    case int32:
    case uint32: return append(bytes, static_cast<std::uint32_t>(constant.integer_at(index)));
    case int16:
    case uint16: return append(bytes, static_cast<std::uint16_t>(constant.integer_at(index)));
    case int8:
    case uint8: return append(bytes, static_cast<std::uint8_t>(constant.integer_at(index)));
    case boolean: return append(bytes, static_cast<std::uint8_t>(constant.real_at(index) != 0));
    default: return append(bytes, static_cast<std::uint8_t>(small_float_bits(constant.real_at(index), constant.type)));
  }
}

std::uint8_t four_bits(const Constant& constant, std::int64_t index) {
  const auto bits = is_floating(constant.type) ? small_float_bits(constant.real_at(index), constant.type)
                                               : static_cast<std::uint16_t>(constant.integer_at(index));
  return bits & 0xf;
}

}  // namespace

std::string raw_data(const Constant& value) {
  const std::int64_t count = element_count(value.shape);
  std::string bytes;
  if (bits_of(value.type) == 4) {
    for (std::int64_t i = 0; i < count; i += 2) {
      const std::uint8_t second = i + 1 < count ? four_bits(value, i + 1) : 0;
      append(bytes, static_cast<std::uint8_t>(four_bits(value, i) | second << 4));
    }
    return bytes;
  }
  bytes.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(bits_of(value.type) / 8));
  for (std::int64_t i = 0; i < count; ++i) append_element(bytes, value, i);
  return bytes;
}

}  // namespace monet::onnx
