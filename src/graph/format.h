// How the numbers of a tensor are stored. `bytes` alone turns a shape and a format into bytes.
#pragma once

#include "graph/shape.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace monet {

enum class ElementType : std::uint8_t {
  float32,
  float64,
  float16,
  bfloat16,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float8e8m0,
  float4e2m1,
  int64,
  int32,
  int16,
  int8,
  int4,
  uint64,
  uint32,
  uint16,
  uint8,
  uint4,
  boolean,
};

std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_named(std::string_view name);
int bits_of(ElementType type);
bool is_floating(ElementType type);
bool is_signed_integer(ElementType type);
bool is_integer(ElementType type);  // signed or unsigned; not boolean

// Elements, and for block formats one scale for each group of neighbours along an axis.
struct Format {
  ElementType element = ElementType::float32;
  std::uint8_t scale_bits = 0;   // 0: no groups
  std::int8_t group_axis = -1;   // counted from the last axis: -1 is the last
  std::uint16_t group_size = 1;  // elements sharing a scale along group_axis
  std::uint16_t group_rows = 1;  // and along the axis before it: 8 for 8x8 groups

  bool operator==(const Format&) const = default;
};

// Bytes of a tensor stored densely; groups are padded to whole ones, the total is rounded up to a byte.
std::int64_t bytes(std::span<const std::int64_t> shape, const Format& format);

}  // namespace monet
