#include "graph/format.h"

#include "base/checked.h"
#include "base/require.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

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
    TypeInfo{ElementType::tfloat32, "tf32", 32, Class::floating},
    TypeInfo{ElementType::float8e4m3fn, "fp8e4m3", 8, Class::floating},
    TypeInfo{ElementType::float8e4m3fnuz, "fp8e4m3uz", 8, Class::floating},
    TypeInfo{ElementType::float8e5m2, "fp8e5m2", 8, Class::floating},
    TypeInfo{ElementType::float8e5m2fnuz, "fp8e5m2uz", 8, Class::floating},
    TypeInfo{ElementType::float8e8m0, "fp8e8m0", 8, Class::floating},
    TypeInfo{ElementType::float6e3m2, "fp6e3m2", 6, Class::floating},
    TypeInfo{ElementType::float6e2m3, "fp6e2m3", 6, Class::floating},
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

// Named types among those that float_element can say.
struct NamedFloat {
  ElementType type;
  int exponent_bits, mantissa_bits;
  Specials specials;
};

constexpr std::array named_floats = {
    NamedFloat{ElementType::float32, 8, 23, Specials::ieee},
    NamedFloat{ElementType::float16, 5, 10, Specials::ieee},
    NamedFloat{ElementType::bfloat16, 8, 7, Specials::ieee},
    NamedFloat{ElementType::float8e4m3fn, 4, 3, Specials::nan},
    NamedFloat{ElementType::float8e5m2, 5, 2, Specials::ieee},
    NamedFloat{ElementType::float6e3m2, 3, 2, Specials::none},
    NamedFloat{ElementType::float6e2m3, 2, 3, Specials::none},
    NamedFloat{ElementType::float4e2m1, 2, 1, Specials::none},
};

// A type without a name of its own, in 16 bits: 1, integer?, specials (2), exponent bits (4), mantissa bits (8); of an
// integer its bits stand where those of the mantissa do.
constexpr unsigned unnamed = 0x8000;
constexpr unsigned unnamed_integer = 0x4000;

bool is_named(ElementType type) { return static_cast<std::size_t>(type) < type_table.size(); }

int unnamed_integer_bits(ElementType type) { return static_cast<int>(static_cast<unsigned>(type) & 0xff); }

constexpr std::array<std::string_view, 3> specials_suffix = {"", "n", "i"};

// All of them, so that their names can be handed out: a few hundred.
const std::map<ElementType, std::string>& unnamed_types() {
  static const std::map<ElementType, std::string> all = [] {
    std::map<ElementType, std::string> types;
    for (int e = 2; e <= 8; ++e) {
      for (int m = 0; m <= 23; ++m) {
        for (const Specials specials : {Specials::none, Specials::nan, Specials::ieee}) {
          const auto type = float_element(e, m, specials);
          if (!type || is_named(*type)) continue;
          const std::string_view suffix = specials_suffix[static_cast<std::size_t>(specials)];
          std::string name = fmt::format("fp{}e{}m{}{}", 1 + e + m, e, m, suffix);
          if (std::ranges::any_of(type_table, [&](const TypeInfo& entry) { return entry.name == name; })) name += 'f';
          types[*type] = std::move(name);
        }
      }
    }
    for (int bits = 2; bits <= 32; ++bits) {
      const auto type = integer_element(bits);
      if (!is_named(*type)) types[*type] = fmt::format("int{}", bits);
    }
    return types;
  }();
  return all;
}

struct Kind {
  int bits;
  Class kind;
};

Kind kind_of(ElementType type) {
  if (is_named(type)) {
    const TypeInfo& found = type_table[static_cast<std::size_t>(type)];
    return {found.bits, found.kind};
  }
  if (const auto parts = unnamed_float_parts(type))
    return {1 + parts->exponent_bits + parts->mantissa_bits, Class::floating};
  return {unnamed_integer_bits(type), Class::signed_integer};
}

static_assert([] {
  for (std::size_t i = 0; i < type_table.size(); ++i) {
    if (static_cast<std::size_t>(type_table[i].type) != i) return false;
  }
  return true;
}());

std::size_t column_of(const Shape& shape, const Format& format) {
  const auto axis = normalized_axis(format.group_axis, shape.size());
  MONET_REQUIRE(axis.has_value());
  return static_cast<std::size_t>(*axis);
}

// Of a tensor with elements.
std::int64_t scale_bits_of(const Shape& padded, const Format& format) {
  const std::int64_t bits = format.tensor_scale_bits;
  if (padded.empty()) return bits + format.scale_bits + format.subscale_bits;
  switch (format.grouping) {
    case Grouping::tensor: return bits + format.scale_bits;
    case Grouping::channel: return bits + padded[column_of(padded, format)] * format.scale_bits;
    case Grouping::block: break;
  }
  const std::int64_t rows = column_of(padded, format) > 0 ? format.group_rows : 1;
  const std::int64_t subgroups = rows * ceil_divide(format.group_size, format.subgroup_size);
  const std::int64_t groups = element_count(padded) / (rows * format.group_size);
  return bits + groups * (format.scale_bits + subgroups * format.subscale_bits);
}

}  // namespace

std::string_view name_of(ElementType type) {
  if (is_named(type)) return type_table[static_cast<std::size_t>(type)].name;
  return unnamed_types().at(type);
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const TypeInfo& entry : type_table) {
    if (entry.name == name) return entry.type;
  }
  for (const auto& [type, its_name] : unnamed_types()) {
    if (its_name == name) return type;
  }
  return std::nullopt;
}

int bits_of(ElementType type) { return kind_of(type).bits; }
bool is_floating(ElementType type) { return kind_of(type).kind == Class::floating; }
bool is_signed_integer(ElementType type) { return kind_of(type).kind == Class::signed_integer; }
bool is_integer(ElementType type) {
  const Class kind = kind_of(type).kind;
  return kind == Class::signed_integer || kind == Class::unsigned_integer;
}
bool is_known(std::int64_t number) {
  if (number < 0 || number > 0xffff) return false;
  const auto type = static_cast<ElementType>(number);
  return is_named(type) || unnamed_types().contains(type);
}

std::optional<ElementType> float_element(int exponent_bits, int mantissa_bits, Specials specials) {
  for (const NamedFloat& named : named_floats) {
    if (named.exponent_bits == exponent_bits && named.mantissa_bits == mantissa_bits && named.specials == specials)
      return named.type;
  }
  // A type without mantissa has no code for what is not a number beside that of infinity.
  const int least = specials == Specials::ieee ? 1 : 0;
  if (exponent_bits < 2 || exponent_bits > 8 || mantissa_bits < least || mantissa_bits > 23) return std::nullopt;
  return static_cast<ElementType>(unnamed | static_cast<unsigned>(specials) << 12 |
                                  static_cast<unsigned>(exponent_bits) << 8 | static_cast<unsigned>(mantissa_bits));
}

std::optional<FloatParts> unnamed_float_parts(ElementType type) {
  const auto number = static_cast<unsigned>(type);
  if ((number & unnamed) == 0 || (number & unnamed_integer) != 0) return std::nullopt;
  return FloatParts{.exponent_bits = static_cast<int>(number >> 8 & 0xf),
                    .mantissa_bits = static_cast<int>(number & 0xff),
                    .specials = static_cast<Specials>(number >> 12 & 0x3)};
}

std::optional<ElementType> integer_element(int bits) {
  switch (bits) {
    case 4: return ElementType::int4;
    case 8: return ElementType::int8;
    case 16: return ElementType::int16;
    case 32: return ElementType::int32;
    default: break;
  }
  if (bits < 2 || bits > 32) return std::nullopt;
  return static_cast<ElementType>(unnamed | unnamed_integer | static_cast<unsigned>(bits));
}

Shape padded_shape(std::span<const std::int64_t> shape, const Format& format) {
  Shape padded(shape.begin(), shape.end());
  if (!format.is_scaled() || padded.empty() || format.grouping != Grouping::block) return padded;
  const std::size_t column = column_of(padded, format);
  padded[column] = ceil_divide(padded[column], format.group_size) * format.group_size;
  if (column > 0) padded[column - 1] = ceil_divide(padded[column - 1], format.group_rows) * format.group_rows;
  return padded;
}

std::int64_t bytes(std::span<const std::int64_t> shape, const Format& format) {
  const Shape padded = padded_shape(shape, format);
  const std::int64_t elements = element_count(padded);
  std::int64_t bits = elements * bits_of(format.element);
  if (format.is_scaled() && elements > 0) bits += scale_bits_of(padded, format);
  return ceil_divide(bits, 8);
}

double stored_bits(const Format& format) {
  const double bits = bits_of(format.element);
  if (!format.is_scaled() || format.grouping != Grouping::block) return bits;
  const double size = format.group_size;
  const auto subgroups = static_cast<double>(ceil_divide(format.group_size, format.subgroup_size));
  return bits + format.scale_bits / (size * format.group_rows) + subgroups * format.subscale_bits / size;
}

std::string precision_name(const Format& format) {
  if (!format.is_scaled() || format.grouping != Grouping::block) return std::string(name_of(format.element));
  if (format.subscale_bits > 0) return fmt::format("mx{}", std::lround(stored_bits(format)));
  return fmt::format("mx{}{}", is_floating(format.element) ? "fp" : "int", bits_of(format.element));
}

}  // namespace monet
