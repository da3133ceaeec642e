#include "cli/arguments.h"

#include "cli/terminal.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace monet::cli {

std::pair<std::string, std::int64_t> parse_dimension(const std::string& text) {
  const auto equals = text.find('=');
  std::int64_t size = 0;
  const char* const end = text.data() + text.size();
  const bool named = equals != std::string::npos && equals > 0;
  const auto read = std::from_chars(named ? text.data() + equals + 1 : end, end, size);
  if (read.ec != std::errc() || read.ptr != end)
    throw CLI::ValidationError("--dim", fmt::format("'{}' is not NAME=NUMBER, as in --dim sequence=128", text));
  return {text.substr(0, equals), size};
}

Ranges parse_ranges(const std::string& text) {
  Ranges ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto wrong = [&] {
    return CLI::ValidationError("--stacks",
                                fmt::format("'{}' is not FIRST-LAST, ..., as in --stacks 0-10,11-21", text));
  };
  for (;;) {
    auto& [first, last] = ranges.emplace_back();
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != '-') throw wrong();
    read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc()) throw wrong();
    if (read.ptr == end) return ranges;
    if (*read.ptr != ',') throw wrong();
    at = read.ptr + 1;
  }
}

std::string check_whole_number(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc::result_out_of_range) return fmt::format("{} is out of range", text);
  return read.ec == std::errc() && read.ptr == end ? "" : fmt::format("'{}' is not a whole number", text);
}

void add_common(CLI::App& command, CommonOptions& common) {
  static const std::map<std::string, Color> colors = {
      {"auto", Color::automatic}, {"always", Color::always}, {"never", Color::never}};
  command.add_flag("--json", common.json, "print one JSON object and nothing else");
  command.add_flag("-q,--quiet", common.quiet, "leave out notes");
  command.add_flag("-v,--verbose", common.verbose, "show all warnings and notes");
  command
      .add_option_function<std::string>(
          "--color", [](const std::string& when) { set_color(colors.at(when)); },
          "auto: on a terminal, unless NO_COLOR is set; always or never")
      ->check(one_of({"auto", "always", "never"}))
      ->type_name("WHEN");
}

void add_step_options(CLI::App& command, TrainOptions& options) {
  CommandLine to(command, options);
  describe_step(to);
}

void add_parameters(CLI::App& command, HardwareParameters& parameters) {
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&parameters](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto equals = text.find('=');
              if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
                throw CLI::ValidationError("--set",
                                           fmt::format("'{}' is not NAME=VALUE, as in --set pe_memory=4MiB", text));
              parameters.emplace_back(text.substr(0, equals), text.substr(equals + 1));
            }
          },
          "value of a parameter of the family; may be given several times")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void add_machine(CLI::App& command, MachineNames& on, TrainOptions& train) {
  command.add_option("--hardware", on.hardware, "a preset (monet hardware list) or a file; ZigZag's and Stream's too")
      ->required()
      ->type_name("H")
      ->check(name_or_file(Offer::machines));
  add_parameters(command, on.parameters);
  add_precision(command, train, true);
}

}  // namespace monet::cli
