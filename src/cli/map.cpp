#include "cli/command.h"

#include <unistd.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace monet::cli {

namespace {

// Progress is for people who watch.
std::function<void(std::size_t, std::size_t)> progress_for(const CommonOptions& common) {
  if (common.quiet || isatty(STDERR_FILENO) == 0) return nullptr;
  return [](std::size_t done, std::size_t all) {
    fmt::print(stderr, "\r{} of {} mapped{}", done, all, done == all ? "\r\033[K" : "");
    std::fflush(stderr);
  };
}

}  // namespace

int run(const MapCommand& command) {
  MapOptions options = command.options;
  options.progress = progress_for(command.common);
  const auto mapping = map_network(command.model, options);
  if (!mapping) return report(mapping.error());
  report(mapping->warnings, mapping->notes, command.common);
  if (!command.csv.empty()) {
    std::ofstream file(command.csv);
    file << to_csv(*mapping);
    file.flush();
    if (!file) {
      return report(
          Error{.message = "cannot be written", .place = command.csv, .advice = "give another path to --csv"});
    }
  }
  const int status = print(command.common.json ? to_json(*mapping) + "\n" : to_text(*mapping, command.view));
  if (status != 0) return status;
  // Nothing could be mapped at all: no answer.
  return mapping->layers.empty() && !mapping->unmapped.empty() ? 2 : 0;
}

}  // namespace monet::cli
