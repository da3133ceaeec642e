#include "graph/format.h"

#include "base/checked.h"
#include "base/require.h"

#include <array>

namespace monet {

namespace {

enum class Class : std::uint8_t { floating, signed_integer, unsigned_integer, boolean };

struct TypeInfo {
  ElementType type;
  std::string_view name;
  int bits;
  Class kind;
};

constexpr std::array type_table = {
    TypeInfo{ElementType::float32, "fp32", 32, Class::floating},
    TypeInfo{ElementType::float64, "fp64", 64, Class::floating},
    TypeInfo{ElementType::float16, "fp16", 16, Class::floating},
    TypeInfo{ElementType::bfloat16, "bf16", 16, Class::floating},
    TypeInfo{ElementType::float8e4m3fn, "fp8e4m3", 8, Class::floating},
    TypeInfo{ElementType::float8e4m3fnuz, "fp8e4m3uz", 8, Class::floating},
    TypeInfo{ElementType::float8e5m2, "fp8e5m2", 8, Class::floating},
    TypeInfo{ElementType::float8e5m2fnuz, "fp8e5m2uz", 8, Class::floating},
    TypeInfo{ElementType::float8e8m0, "fp8e8m0", 8, Class::floating},
    TypeInfo{ElementType::float4e2m1, "fp4e2m1", 4, Class::floating},
    TypeInfo{ElementType::int64, "int64", 64, Class::signed_integer},
    TypeInfo{ElementType::int32, "int32", 32, Class::signed_integer},
    TypeInfo{ElementType::int16, "int16", 16, Class::signed_integer},
    TypeInfo{ElementType::int8, "int8", 8, Class::signed_integer},
    TypeInfo{ElementType::int4, "int4", 4, Class::signed_integer},
    TypeInfo{ElementType::uint64, "uint64", 64, Class::unsigned_integer},
    TypeInfo{ElementType::uint32, "uint32", 32, Class::unsigned_integer},
    TypeInfo{ElementType::uint16, "uint16", 16, Class::unsigned_integer},
    TypeInfo{ElementType::uint8, "uint8", 8, Class::unsigned_integer},
    TypeInfo{ElementType::uint4, "uint4", 4, Class::unsigned_integer},
    TypeInfo{ElementType::boolean, "bool", 8, Class::boolean},
};

const TypeInfo& info(ElementType type) {
  const TypeInfo& found = type_table[static_cast<std::size_t>(type)];
  MONET_REQUIRE(found.type == type);
  return found;
}

}  // namespace

std::string_view name_of(ElementType type) { return info(type).name; }

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const TypeInfo& entry : type_table) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

int bits_of(ElementType type) { return info(type).bits; }
bool is_floating(ElementType type) { return info(type).kind == Class::floating; }
bool is_signed_integer(ElementType type) { return info(type).kind == Class::signed_integer; }
bool is_integer(ElementType type) {
  return info(type).kind == Class::signed_integer || info(type).kind == Class::unsigned_integer;
}

std::int64_t bytes(std::span<const std::int64_t> shape, const Format& format) {
  Shape padded(shape.begin(), shape.end());
  std::int64_t groups = 0;
  if (format.scale_bits > 0 && !padded.empty()) {
    const auto axis = normalized_axis(format.group_axis, padded.size());
    MONET_REQUIRE(axis.has_value());
    const auto column = static_cast<std::size_t>(*axis);
    padded[column] = ceil_divide(padded[column], format.group_size) * format.group_size;
    if (column > 0) padded[column - 1] = ceil_divide(padded[column - 1], format.group_rows) * format.group_rows;
    groups = element_count(padded) / (format.group_size * (column > 0 ? format.group_rows : 1));
  }
  const std::int64_t bits = element_count(padded) * bits_of(format.element) + groups * format.scale_bits;
  return ceil_divide(bits, 8);
}

}  // namespace monet
