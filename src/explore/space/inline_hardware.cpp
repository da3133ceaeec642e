#include "explore/space/inline_hardware.h"

#include "config/yaml_values.h"

#include <limits>

namespace monet::explore {

Expected<std::string> block_text(const std::string& text, const Yaml& root, const Yaml::Entry& entry) {
  const Place& first = entry.value->place;
  int last = std::numeric_limits<int>::max();  // the line after it
  for (const Yaml::Entry& other : root.entries) {
    if (other.place.line > entry.place.line) last = std::min(last, other.place.line);
  }
  std::string result;
  int line = 1;
  std::size_t begin = 0, start = std::string::npos;
  while (begin < text.size() && line < last) {
    std::size_t end = text.find('\n', begin);
    end = end == std::string::npos ? text.size() : end + 1;
    if (line < first.line) {
      result += '\n';
    } else if (line == first.line) {
      const auto indent = static_cast<std::size_t>(first.column - 1);
      start = begin + indent;
      if (start >= end) break;
      result += std::string(indent, ' ') + text.substr(start, end - start);
    } else {
      result += text.substr(begin, end - begin);
    }
    begin = end;
    ++line;
  }
  const bool elsewhere = start == std::string::npos || start >= text.size() || first.line < entry.place.line;
  const bool flow_around = root.place.line == first.line || entry.place.column != root.place.column;
  if (elsewhere || flow_around || (first.line == entry.place.line && text[start] != '{')) {
    return error_at(entry.place, "the machine is not written as a block of its own",
                    "write its keys in lines of their own under 'hardware:'");
  }
  return result;
}

}  // namespace monet::explore
