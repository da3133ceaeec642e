#include "cli/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace monet::cli {

int write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) return 0;
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (file) write(file);
  file.close();
  if (file) return 0;
  return report(Error{ErrorKind::user, fmt::format("cannot be written: {}", std::strerror(errno)), path,
                      "name a file in a folder that exists and may be written to"});
}

int write_text(const std::string& path, const std::string& text) {
  return write_file(path, [&](std::ostream& out) { out << text; });
}

int make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return 0;
  return report(
      Error{ErrorKind::user, fmt::format("cannot be made: {}", error.message()), path, "give another folder to -o"});
}

}  // namespace monet::cli
