// Files that commands write, and progress for people who watch.
#pragma once

#include "cli/command.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace monet::cli {

bool is_watched(const CommonOptions& common);
// "what: 12 of 80", over what stood there; without `all`, "what: 12".
void show_progress(const std::string& what, std::size_t done, std::size_t all);
void clear_progress();

// Exit status; nothing is done for an empty path.
int write_file(const std::string& path, const std::function<void(std::ostream&)>& write);
int write_text(const std::string& path, const std::string& text);
// With all folders above it.
int make_folder(const std::string& path);

}  // namespace monet::cli
