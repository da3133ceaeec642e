// How the numbers of a tensor are stored. `bytes` alone turns a shape and a format into bytes.
#pragma once

#include "graph/shape.h"

#include <monet/expected.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monet {

// The types that have a name of their own. Others (a user's) are values beyond `boolean` that say what they consist of:
// see float_element and integer_element.
enum class ElementType : std::uint16_t {
  float32,
  float64,
  float16,
  bfloat16,
  tfloat32,  // float32 in memory, of which products use 10 bits of the mantissa
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float8e8m0,
  float6e3m2,
  float6e2m3,
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
// Also of those without a name of their own: "fp7e3m3", "fp7e3m3n", "fp12e5m6i", "int5" (see Specials); "fp8e4m3f" and
// "fp8e5m2f" are those of finite numbers alone, unlike the ones known as fp8e4m3 and fp8e5m2.
std::optional<ElementType> element_type_named(std::string_view name);
int bits_of(ElementType type);  // in memory
bool is_floating(ElementType type);
bool is_signed_integer(ElementType type);
bool is_integer(ElementType type);   // signed or unsigned; not boolean
bool is_known(std::int64_t number);  // of an element type

// What the largest exponent of a floating-point type stands for: numbers like every other; numbers but for the code of
// all ones, which is not a number; infinities and what is not a number.
enum class Specials : std::uint8_t { none, nan, ieee };

// The type with a sign and so many bits of exponent (2 to 8) and mantissa (0 to 23), of at most 32 bits: the named one
// where there is one. Nothing: out of range.
std::optional<ElementType> float_element(int exponent_bits, int mantissa_bits, Specials specials);
// What float_element was asked for, of a type without a name of its own; nothing of other types.
struct FloatParts {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  Specials specials = Specials::none;
};
std::optional<FloatParts> unnamed_float_parts(ElementType type);
// Integers with a sign, of 2 to 32 bits.
std::optional<ElementType> integer_element(int bits);

// Which elements share a scale.
enum class Grouping : std::uint8_t {
  block,    // neighbours along group_axis, and along the axis before it
  channel,  // all at one position of group_axis
  tensor,   // all
};

// Elements, and for block formats one scale for each group of neighbours along an axis. A number is its element times
// its scales.
struct Format {
  ElementType element = ElementType::float32;
  std::uint8_t scale_bits = 0;  // 0: no groups
  std::int8_t group_axis = -1;  // counted from the last axis: -1 is the last
  // Of a block: elements sharing a scale along group_axis, and along the axis before it (8 for 8x8 groups).
  std::uint16_t group_size = 1;
  std::uint16_t group_rows = 1;
  Grouping grouping = Grouping::block;
  ElementType scale = ElementType::float8e8m0;  // of scale_bits; that of a power of two is called e8m0
  // A second scale of so many bits for each `subgroup_size` elements of a group along group_axis: a shift of the
  // elements down by it (shared microexponents).
  std::uint8_t subscale_bits = 0;
  std::uint8_t subgroup_size = 1;
  std::uint8_t tensor_scale_bits = 0;  // and one for the whole tensor, a float32 (NVFP4)

  bool operator==(const Format&) const = default;
  bool is_scaled() const { return scale_bits > 0; }
  // Real numbers, whatever the elements are.
  bool is_real() const { return is_scaled() || is_floating(element); }
};

// Bytes of a tensor stored densely; groups are padded to whole ones, the total is rounded up to a byte. A tensor
// without elements has no scales either; a scalar is one element with its scales.
std::int64_t bytes(std::span<const std::int64_t> shape, const Format& format);
// The shape with its grouped axes padded to whole groups.
Shape padded_shape(std::span<const std::int64_t> shape, const Format& format);
// Bits of one element with its share of the scales of a whole group; scales of channels and tensors do not count.
double stored_bits(const Format& format);

// "fp32"; "fp8e4m3:e8m0/32@-1", "int8:e8m0/8x8@-3", "int8:e8m0/16@-1+1/2" (microexponents), "int8:fp32/tensor",
// "int8:fp32/channel@-4", "fp4e2m1:fp8e4m3/16@-1+tensor32".
std::string to_string(const Format& format);
// Of exactly what to_string writes, where it makes sense (see what_is_wrong).
std::optional<Format> parse_format(std::string_view text);

// Why no tensor can have this format: "a scale needs numbers of at most 32 bits, not fp64". Empty: all is well.
std::string what_is_wrong(const Format& format);

// The precision under which hardware lists its rates for numbers of this format: "fp32", "fp8e4m3", "int8", and for
// blocks "mxfp8", "mxfp6", "mxfp4", "mxint8"; with microexponents "mx9", "mx6", "mx4" (all bits of an element).
std::string precision_name(const Format& format);

}  // namespace monet
