#include "cli/pages.h"

#include "cli/command.h"
#include "cli/files.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace monet::cli {

Status may_become_page(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return Done{};
  std::ifstream file(path, std::ios::binary);
  const int first = file.get();
  if (first == '<' || file.eof()) return Done{};
  return Error{.message = "there is a file that is no page, and it is not written over",
               .place = path,
               .advice = "write to another file: -o report.html"};
}

int write_page(const std::string& path, const std::function<Expected<std::string>()>& page) {
  if (!has_report_page()) {
    fmt::print(stderr, "monet: warning: {} is left out: this build of monet has no report page\n", path);
    return 0;
  }
  const Expected<std::string> text = page();
  return text ? write_text(path, *text) : report(text.error());
}

int write_result(const std::string& folder, const std::string& json,
                 const std::function<Expected<std::string>()>& page) {
  const std::filesystem::path path = folder;
  const int status = write_text(path / "result.json", json + "\n");
  return status == 0 ? write_page(path / "report.html", page) : status;
}

}  // namespace monet::cli
