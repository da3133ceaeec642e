// What the program writes to. A terminal gets colour and lines that fit; anything else gets plain text.
#pragma once

#include <cstddef>

namespace monet::cli {

enum class Stream { output, messages };  // standard output, standard error

// `automatic`: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is "dumb".
enum class Color { automatic, always, never };

void set_color(Color choice);
bool has_color(Stream stream);

bool is_terminal(Stream stream);
// Of the terminal; 0: there is none.
std::size_t columns(Stream stream);

}  // namespace monet::cli
