// What a terminal shows, in colour.
#pragma once

#include "present/text/layout.h"

#include <span>
#include <string>
#include <string_view>

namespace monet::cli {

enum class Style { bold, dim, red, yellow };
std::string painted(Style style, std::string_view text);

// Headings bold, rules dim, what is bad red.
std::string painted(std::span<const TextLine> lines);
// Without colours.
std::string joined(std::span<const TextLine> lines);
// The same for help: its headings end with a colon.
std::string painted_help(const std::string& text);

}  // namespace monet::cli
