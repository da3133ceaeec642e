// Lines of a report's text.
#pragma once

#include <string>

namespace monet::test {

// The first line that begins so; nothing where none does.
inline std::string line_with(const std::string& text, const std::string& beginning) {
  const std::size_t begin = ("\n" + text).find("\n" + beginning);
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace monet::test
