#include "graph/number.h"
#include "onnx/encode.h"

#include <cstring>

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
    default: break;  // ONNX has no such type
  }
  return 0;
}

namespace {

template <class T>
void append(std::string& bytes, T value) {
  char buffer[sizeof(T)];
  std::memcpy(buffer, &value, sizeof(T));
  bytes.append(buffer, sizeof(T));
}

// Of at most 16 bits. What is beyond the largest number is infinite where the type knows infinity.
std::uint32_t float_code(const Constant& constant, std::int64_t index) {
  return encoded(constant.real_at(index), constant.type, false);
}

void append_element(std::string& bytes, const Constant& constant, std::int64_t index) {
  using enum ElementType;
  switch (constant.type) {
    case float32: return append(bytes, static_cast<float>(constant.real_at(index)));
    case float64: return append(bytes, constant.real_at(index));
    case float16:
    case bfloat16: return append(bytes, static_cast<std::uint16_t>(float_code(constant, index)));
    case int64:
    case uint64: return append(bytes, constant.integer_at(index));
    case int32:
    case uint32: return append(bytes, static_cast<std::uint32_t>(constant.integer_at(index)));
    case int16:
    case uint16: return append(bytes, static_cast<std::uint16_t>(constant.integer_at(index)));
    case int8:
    case uint8: return append(bytes, static_cast<std::uint8_t>(constant.integer_at(index)));
    case boolean: return append(bytes, static_cast<std::uint8_t>(constant.real_at(index) != 0));
    default: return append(bytes, static_cast<std::uint8_t>(float_code(constant, index)));
  }
}

std::uint8_t four_bits(const Constant& constant, std::int64_t index) {
  const auto bits =
      is_floating(constant.type) ? float_code(constant, index) : static_cast<std::uint32_t>(constant.integer_at(index));
  return static_cast<std::uint8_t>(bits & 0xf);
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
