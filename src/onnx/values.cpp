#include "onnx/values.h"

#include "base/checked.h"
#include "base/read_file.h"
#include "base/try.h"
#include "graph/number.h"
#include "onnx/wire.h"

#include <monet/expected.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string>

namespace monet::onnx {

std::optional<ElementType> element_type_of(std::int64_t onnx_number) {
  using enum ElementType;
  switch (onnx_number) {  // TensorProto.DataType
    case 1: return float32;
    case 2: return uint8;
    case 3: return int8;
    case 4: return uint16;
    case 5: return int16;
    case 6: return int32;
    case 7: return int64;
    case 9: return boolean;
    case 10: return float16;
    case 11: return float64;
    case 12: return uint32;
    case 13: return uint64;
    case 16: return bfloat16;
    case 17: return float8e4m3fn;
    case 18: return float8e4m3fnuz;
    case 19: return float8e5m2;
    case 20: return float8e5m2fnuz;
    case 21: return uint4;
    case 22: return int4;
    case 23: return float4e2m1;
    case 24: return float8e8m0;
    default: return std::nullopt;
  }
}

namespace {

namespace fs = std::filesystem;

Error refused(const std::string& location, const std::string& how) {
  return {.message = fmt::format("its values are said to be in '{}', {}: a model file must not make the program read "
                                 "other files of the user",
                                 location, how),
          .place = {},
          .advice = "put the data into the model's folder, and name them by their path in it"};
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

// The path of the file that `location` names in the model's folder ("" is the current one), whether it is there or not.
// Fails for one that is not in that folder, as it is written or by links: a model that somebody sent must not make the
// program read other files of the user.
Expected<std::string> external_path(const std::string& folder, const std::string& location) {
  const fs::path written = location;
  if (written.is_absolute()) return refused(location, "an absolute path");
  if (std::ranges::find(written, "..") != written.end())
    return refused(location, "which may leave the model's folder by '..'");
  const fs::path path = fs::path(folder) / written;
  std::error_code problem;
  const fs::path home = fs::canonical(folder.empty() ? "." : folder, problem);
  // What is not there is for the reader to find out.
  if (problem) return path.string();
  const fs::path target = fs::weakly_canonical(path, problem);
  if (problem || !is_inside(target, home)) return refused(location, "which links out of the model's folder");
  return path.string();
}

template <class T>
T load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// Whether values of this type are worth decoding; the others never decide a shape.
bool decodable(ElementType type) { return bits_of(type) >= 8 && !(is_floating(type) && bits_of(type) == 8); }

void append_raw(ElementType type, const char* at, Constant& constant) {
  using enum ElementType;
  const auto real = [&](double value) { std::get<std::vector<double>>(constant.values).push_back(value); };
  const auto integer = [&](auto value) {
    std::get<std::vector<std::int64_t>>(constant.values).push_back(static_cast<std::int64_t>(value));
  };
  switch (type) {
    case float32: real(static_cast<double>(load<float>(at))); break;
    case float64: real(load<double>(at)); break;
    case float16:
    case bfloat16: real(decoded(load<std::uint16_t>(at), type)); break;
    case int64: integer(load<std::int64_t>(at)); break;
    case int32: integer(load<std::int32_t>(at)); break;
    case int16: integer(load<std::int16_t>(at)); break;
    case int8: integer(load<std::int8_t>(at)); break;
    case uint64: integer(load<std::uint64_t>(at)); break;
    case uint32: integer(load<std::uint32_t>(at)); break;
    case uint16: integer(load<std::uint16_t>(at)); break;
    case uint8: integer(load<std::uint8_t>(at)); break;
    case boolean: integer(load<std::uint8_t>(at) != 0 ? 1 : 0); break;
    default: break;
  }
}

Error wrong_size(const RawTensor& tensor, std::int64_t count) {
  return {.message = fmt::format("tensor '{}' should have {} values, and its data do not", tensor.name, count),
          .place = {},
          .advice = "the file is damaged; export or copy it again"};
}

Status decode_bytes(const RawTensor& tensor, std::string_view bytes, std::int64_t count, Constant& constant) {
  const auto width = static_cast<std::size_t>(bits_of(constant.type) / 8);
  if (bytes.size() != width * static_cast<std::size_t>(count)) return wrong_size(tensor, count);
  for (std::int64_t i = 0; i < count; ++i)
    append_raw(constant.type, bytes.data() + width * static_cast<std::size_t>(i), constant);
  return Done{};
}

// A value of one of the typed fields, as its bits.
void append_field_value(std::uint64_t bits, std::uint8_t field, Constant& constant) {
  const auto real = [&](double value) { std::get<std::vector<double>>(constant.values).push_back(value); };
  if (field == 4) return real(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  if (field == 10) return real(std::bit_cast<double>(bits));
  if (is_floating(constant.type)) return real(decoded(static_cast<std::uint16_t>(bits), constant.type));
  auto value = static_cast<std::int64_t>(bits);
  if (constant.type == ElementType::boolean) value = value != 0 ? 1 : 0;
  std::get<std::vector<std::int64_t>>(constant.values).push_back(value);
}

Status decode_fields(const RawTensor& tensor, std::int64_t count, Constant& constant) {
  std::vector<std::uint64_t> bits = tensor.single_values;
  const auto limit = static_cast<std::size_t>(count);
  try {
    for (Text run : tensor.packed_values) {
      const char* at = run.data();
      const char* end = at + run.size();
      while (at < end && bits.size() <= limit) {
        if (tensor.value_field == 4 || tensor.value_field == 10) {
          const std::size_t width = tensor.value_field == 4 ? 4 : 8;
          if (static_cast<std::size_t>(end - at) < width) return wrong_size(tensor, count);
          bits.push_back(width == 4 ? load<std::uint32_t>(at) : load<std::uint64_t>(at));
          at += width;
        } else {
          bits.push_back(protozero::decode_varint(&at, end));
        }
      }
    }
  } catch (const std::exception&) {
    return wrong_size(tensor, count);
  }
  if (bits.size() != limit) return wrong_size(tensor, count);
  const bool real_field = tensor.value_field == 4 || tensor.value_field == 10;
  if (real_field && !is_floating(constant.type)) return wrong_size(tensor, count);
  const bool real_type = constant.type == ElementType::float32 || constant.type == ElementType::float64;
  if (!real_field && real_type && count > 0) return wrong_size(tensor, count);
  for (std::uint64_t value : bits) append_field_value(value, tensor.value_field, constant);
  return Done{};
}

// Only the part of the file that is asked for, which others may change.
Expected<std::optional<Constant>> decode_external_bytes(const RawTensor& tensor, const std::string& folder,
                                                        std::int64_t count, Constant constant) {
  if (tensor.location.empty()) return std::optional<Constant>{};
  MONET_TRY(const std::string path, external_path(folder, std::string(tensor.location)));
  const std::size_t length = static_cast<std::size_t>(count) * static_cast<std::size_t>(bits_of(constant.type) / 8);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::optional<Constant>{};
  MONET_TRY(const auto bytes, read_range(path, static_cast<std::uint64_t>(tensor.offset), length));
  if (!bytes) return std::optional<Constant>{};
  MONET_RETURN_IF_ERROR(decode_bytes(tensor, *bytes, count, constant));
  return std::optional<Constant>(std::move(constant));
}

}  // namespace

Expected<std::optional<Constant>> decode_values(const RawTensor& tensor, const std::string& folder, std::int64_t most) {
  const auto type = element_type_of(tensor.data_type);
  const auto count = checked_product(tensor.dims);
  if (!type || !count || *count < 0 || *count > most || !decodable(*type) || tensor.has_strings) {
    return std::optional<Constant>{};
  }
  Constant constant{
      .type = *type, .shape = tensor.dims, .pattern = Constant::Pattern::dense, .diagonal = 0, .values = {}};
  if (is_floating(*type)) constant.values = std::vector<double>{};
  if (tensor.external) return decode_external_bytes(tensor, folder, *count, std::move(constant));
  if (tensor.has_raw_data) {
    MONET_RETURN_IF_ERROR(decode_bytes(tensor, tensor.raw_data, *count, constant));
  } else {
    MONET_RETURN_IF_ERROR(decode_fields(tensor, *count, constant));
  }
  return std::optional<Constant>(std::move(constant));
}

std::optional<bool> holds_mask(const RawTensor& tensor, const std::string& folder) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  constexpr double mildest = -100;
  const auto values = decode_values(tensor, folder, most);
  if (!values || !*values) return std::nullopt;
  const auto* reals = std::get_if<std::vector<double>>(&(*values)->values);
  if (reals == nullptr) return std::nullopt;
  return std::ranges::all_of(*reals, [](double value) { return value == 0 || value <= mildest; });
}

}  // namespace monet::onnx
