// Formats as words: to_string and parse_format.
#include "graph/format.h"

#include <fmt/format.h>

#include <charconv>

namespace monet {

namespace {

std::string scale_name(ElementType scale) {
  return scale == ElementType::float8e8m0 ? "e8m0" : std::string(name_of(scale));
}

// Takes pieces off the front of a text.
class Pieces {
 public:
  explicit Pieces(std::string_view text) : rest_(text) {}
  bool done() const { return rest_.empty(); }
  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::string_view up_to(std::string_view marks) {
    const std::string_view piece = rest_.substr(0, rest_.find_first_of(marks));
    rest_.remove_prefix(piece.size());
    return piece;
  }
  std::optional<int> number(int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{} || value < least || value > most) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

 private:
  std::string_view rest_;
};

bool read_axis(Pieces& pieces, Format& format) {
  if (!pieces.take("@")) return false;
  const auto axis = pieces.number(-32, -1);
  if (axis) format.group_axis = static_cast<std::int8_t>(*axis);
  return axis.has_value();
}

bool read_block(Pieces& pieces, Format& format) {
  const auto first = pieces.number(1, 0xffff);
  if (!first) return false;
  format.group_size = static_cast<std::uint16_t>(*first);
  if (pieces.take("x")) {
    const auto second = pieces.number(1, 0xffff);
    if (!second) return false;
    format.group_rows = format.group_size;
    format.group_size = static_cast<std::uint16_t>(*second);
  }
  return read_axis(pieces, format);
}

bool read_groups(Pieces& pieces, Format& format) {
  if (pieces.take("tensor")) {
    format.grouping = Grouping::tensor;
    return true;
  }
  if (pieces.take("channel")) {
    format.grouping = Grouping::channel;
    return read_axis(pieces, format);
  }
  return read_block(pieces, format);
}

bool read_second_level(Pieces& pieces, Format& format) {
  if (pieces.take("tensor")) {
    const auto bits = pieces.number(1, 255);
    if (bits) format.tensor_scale_bits = static_cast<std::uint8_t>(*bits);
    return bits.has_value();
  }
  const auto bits = pieces.number(1, 8);
  if (!bits || !pieces.take("/")) return false;
  const auto size = pieces.number(1, 255);
  if (!size) return false;
  format.subscale_bits = static_cast<std::uint8_t>(*bits);
  format.subgroup_size = static_cast<std::uint8_t>(*size);
  return true;
}

}  // namespace

std::string to_string(const Format& format) {
  std::string text(name_of(format.element));
  if (!format.is_scaled()) return text;
  text += fmt::format(":{}/", scale_name(format.scale));
  switch (format.grouping) {
    case Grouping::tensor: text += "tensor"; break;
    case Grouping::channel: text += fmt::format("channel@{}", format.group_axis); break;
    case Grouping::block:
      if (format.group_rows > 1) text += fmt::format("{}x", format.group_rows);
      text += fmt::format("{}@{}", format.group_size, format.group_axis);
  }
  if (format.subscale_bits > 0) text += fmt::format("+{}/{}", format.subscale_bits, format.subgroup_size);
  if (format.tensor_scale_bits > 0) text += fmt::format("+tensor{}", format.tensor_scale_bits);
  return text;
}

std::optional<Format> parse_format(std::string_view text) {
  Pieces pieces(text);
  Format format;
  const auto element = element_type_named(pieces.up_to(":"));
  if (!element) return std::nullopt;
  format.element = *element;
  if (pieces.done()) return format;
  pieces.take(":");
  const std::string_view scale = pieces.up_to("/");
  const auto type = scale == "e8m0" ? ElementType::float8e8m0 : element_type_named(scale);
  if (!type || !is_floating(*type) || !pieces.take("/")) return std::nullopt;
  format.scale = *type;
  format.scale_bits = static_cast<std::uint8_t>(bits_of(*type));
  if (!read_groups(pieces, format)) return std::nullopt;
  while (pieces.take("+")) {
    if (!read_second_level(pieces, format)) return std::nullopt;
  }
  // What is left over, said twice, or written in another way.
  if (to_string(format) != text || !what_is_wrong(format).empty()) return std::nullopt;
  return format;
}

std::string what_is_wrong(const Format& format) {
  if (!format.is_scaled()) return {};
  const auto name = [](ElementType type) { return std::string(name_of(type)); };
  if (format.element == ElementType::boolean || format.element == ElementType::float8e8m0)
    return fmt::format("{} cannot be scaled", name(format.element));
  if (bits_of(format.element) > 32)
    return fmt::format("a scale needs numbers of at most 32 bits, not {}", name(format.element));
  if (!is_floating(format.scale)) return fmt::format("a scale is a floating-point number, not {}", name(format.scale));
  if (format.group_size < 1 || format.group_rows < 1 || format.subgroup_size < 1)
    return "a group has at least one element";
  if (format.group_axis > -1 || format.group_axis < -32)
    return "the axis of groups is counted from the last, which is -1";
  if (format.subscale_bits > 8) return "the scale of a subgroup has at most 8 bits";
  if (format.subscale_bits > 0 && (format.grouping != Grouping::block || format.scale != ElementType::float8e8m0))
    return "subgroups need blocks with a power of two (e8m0) as their scale";
  if (format.subscale_bits > 0 && format.subgroup_size > format.group_size)
    return fmt::format("a subgroup of {} is larger than its group of {}", format.subgroup_size, format.group_size);
  if (format.tensor_scale_bits != 0 && format.tensor_scale_bits != 32)
    return fmt::format("the scale of a whole tensor has 32 bits, not {}", format.tensor_scale_bits);
  if (format.tensor_scale_bits != 0 && (format.grouping == Grouping::tensor || format.scale == ElementType::float8e8m0))
    return "a scale of the whole tensor needs groups with a floating-point scale below it";
  return {};
}

}  // namespace monet
