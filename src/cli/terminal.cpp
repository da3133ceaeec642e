#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace monet::cli {

namespace {

Color chosen = Color::automatic;

int descriptor(Stream stream) { return stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO; }

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void set_color(Color choice) { chosen = choice; }

bool has_color(Stream stream) {
  if (chosen != Color::automatic) return chosen == Color::always;
  return is_terminal(stream) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

bool is_terminal(Stream stream) { return isatty(descriptor(stream)) != 0; }

std::size_t columns(Stream stream) {
  constexpr std::size_t usual = 80, most = 10000;
  if (!is_terminal(stream)) return 0;
  const std::string_view told = variable("COLUMNS");
  std::size_t width = 0;
  const auto read = std::from_chars(told.data(), told.data() + told.size(), width);
  if (read.ec == std::errc() && width > 0 && width < most) return width;
  winsize size{};
  if (ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return usual;
}

}  // namespace monet::cli
