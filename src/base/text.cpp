#include "base/text.h"

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

std::string as_utf8(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::size_t count = character_bytes(text);
    if (count > 0) {
      result += text.substr(0, count);
    } else {
      const auto byte = static_cast<std::uint8_t>(text[0]);
      result += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      count = 1;
    }
    text.remove_prefix(count);
  }
  return result;
}

}  // namespace monet
