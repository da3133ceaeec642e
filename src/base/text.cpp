#include "base/text.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

namespace monet {

namespace {

// Bytes of the character that begins there; 0: there is none. Surrogates and what could be said in fewer bytes are no
// characters (RFC 3629).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return count;
}

}  // namespace

namespace {

std::string as_hexadecimal(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<std::uint8_t>(c);
  return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
}

// C0 but for ends of lines and tabs, delete; C1 (U+0080 to U+009F); marks that turn the direction of text around.
bool steers(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(character[i]); };
  if (character.size() == 1) return (byte(0) < 0x20 && byte(0) != '\n' && byte(0) != '\t') || byte(0) == 0x7f;
  if (character.size() == 2) return byte(0) == 0xc2 && byte(1) < 0xa0;
  if (character.size() != 3 || byte(0) != 0xe2) return false;
  return (byte(1) == 0x80 && byte(2) >= 0xaa && byte(2) <= 0xae) ||
         (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

std::string bytes_as_hexadecimal(std::string_view bytes) {
  std::string text;
  for (char c : bytes) text += as_hexadecimal(c);
  return text;
}

// Of two or three bytes.
std::string as_json_escape(std::string_view character) {
  unsigned code = static_cast<std::uint8_t>(character[0]) & (character.size() == 2 ? 0x1fU : 0x0fU);
  for (char c : character.substr(1)) code = code << 6U | (static_cast<std::uint8_t>(c) & 0x3fU);
  return fmt::format("\\u{:04x}", code);
}

// Each character that `is_escaped` and each byte that is none as `escape` has it.
template <class IsEscaped, class Escape>
std::string escaped(std::string_view text, const IsEscaped& is_escaped, const Escape& escape) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t known = character_bytes(text);
    const std::size_t count = known > 0 ? known : 1;
    const std::string_view character = text.substr(0, count);
    if (known > 0 && !is_escaped(character)) {
      result += character;
    } else {
      result += escape(character);
    }
    text.remove_prefix(count);
  }
  return result;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  return escaped(text, [](std::string_view) { return false; }, bytes_as_hexadecimal);
}

std::string for_terminal(std::string_view text) { return escaped(text, steers, bytes_as_hexadecimal); }

std::string json_for_terminal(std::string_view json) {
  const auto steers_in_json = [](std::string_view character) { return character.size() > 1 && steers(character); };
  return escaped(json, steers_in_json, [](std::string_view character) {
    return character.size() > 1 ? as_json_escape(character) : bytes_as_hexadecimal(character);
  });
}

}  // namespace monet
