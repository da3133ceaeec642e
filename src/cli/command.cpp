#include "cli/command.h"

#include "base/text.h"
#include "base/try.h"
#include "cli/paint.h"
#include "cli/terminal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace monet::cli {

namespace {

// A damaged file can have names of any length: the beginning says where, the end what to do.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 4000;
  if (text.size() <= most) return text;
  return fmt::format("{} … {}", text.substr(0, most / 2), text.substr(text.size() - most / 2));
}

int write_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (written || errno == EPIPE) return 0;
  complain(fmt::format("cannot write the output: {}", std::strerror(errno)));
  return 1;
}

}  // namespace

Status MachineNames::put_into(StepRequest& request) const {
  request.machine = {hardware, parameters};
  if (plan.empty()) return Done{};
  MONET_TRY(request.plan, read_plan(plan));
  return Done{};
}

void write_message(const std::string& text) {
  // Where messages cannot be written there is nobody to tell.
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void complain(const std::string& message) {
  write_message(fmt::format(
      "{} {}\n", has_color(Stream::messages) ? painted(Style::red, "monet:") : "monet:", for_terminal(message)));
}

int report(const Error& error) {
  const bool ours = error.kind == ErrorKind::defect;
  complain((ours ? "internal error, please report it: " : "") + shortened(error.text()));
  switch (error.kind) {
    case ErrorKind::user: return 1;
    case ErrorKind::infeasible: return 2;
    case ErrorKind::defect: break;
  }
  return 3;
}

void report(const std::vector<std::string>& warnings, const std::vector<std::string>& notes,
            const CommonOptions& options) {
  // A damaged file can give a warning for every node; a few show what it is about.
  constexpr std::size_t most = 8;
  const bool color = has_color(Stream::messages);
  const auto say = [&](const char* kind, const std::string& foreign) {
    const std::string line = for_terminal(foreign);
    const bool note = std::strcmp(kind, "note") == 0;
    const std::string head = fmt::format("monet: {}:", kind);
    const std::string text = note && color ? painted(Style::dim, head + " " + line)
                                           : (color ? painted(Style::yellow, head) : head) + " " + line;
    write_message(text + "\n");
  };
  const auto list = [&](const char* kind, const std::vector<std::string>& lines) {
    const std::size_t shown = options.verbose ? lines.size() : std::min(lines.size(), most);
    for (std::size_t i = 0; i < shown; ++i) say(kind, shortened(lines[i]));
    if (shown < lines.size()) say(kind, fmt::format("and {} more like these; -v shows all", lines.size() - shown));
  };
  list("warning", warnings);
  if (!options.quiet) list("note", notes);
}

int print_json(const std::string& json) { return write_out(json_for_terminal(json + "\n")); }

int print(const Text& text) {
  std::vector<TextLine> lines = laid_out(text, columns(Stream::output));
  for (TextLine& line : lines) line.text = for_terminal(line.text);
  return write_out(has_color(Stream::output) ? painted(lines) : joined(lines));
}

int print_help(const std::string& text) { return write_out(has_color(Stream::output) ? painted_help(text) : text); }

int print_file(const std::string& text) { return write_out(text); }

std::string network_help() {
  return "monet networks lists the built-in networks and the sizes that each takes (NAME:SIZE=NUMBER,...).\n";
}

}  // namespace monet::cli
