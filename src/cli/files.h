// Files that commands write.
#pragma once

#include "cli/command.h"
#include "cli/progress.h"

#include <functional>
#include <iosfwd>
#include <string>

namespace monet::cli {

// Exit status; nothing is done for an empty path.
int write_file(const std::string& path, const std::function<void(std::ostream&)>& write);
int write_text(const std::string& path, const std::string& text);
// With all folders above it.
int make_folder(const std::string& path);

}  // namespace monet::cli
