// Files of the source tree that are part of the program: tables under data/hardware/, machines under presets/,
// recipes of numbers under recipes/, spaces under spaces/, schemas of JSON under schemas/.
// cmake/embed.cmake writes the definition.
#pragma once

#include <span>
#include <string_view>

namespace monet {

struct EmbeddedFile {
  std::string_view path;  // in the source tree
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();
// Requires: there is such a file.
std::string_view embedded_text(std::string_view path);

}  // namespace monet
