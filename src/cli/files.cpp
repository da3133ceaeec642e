#include "cli/files.h"

#include <monet/report.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <utility>

namespace monet::cli {

int write_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) return 0;
  const Status written = write_whole_file(path, write);
  return written ? 0 : report(written.error());
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

FolderFiles::FolderFiles(std::string folder) : folder_(std::move(folder)), status_(make_folder(folder_)) {}

void FolderFiles::file(const std::string& name, const std::function<void(std::ostream&)>& write) {
  if (status_ != 0) return;
  auto file = WholeFile::open(std::filesystem::path(folder_) / name);
  if (!file) {
    status_ = report(file.error());
    return;
  }
  write(file->stream());
  const Status done = file->finish();
  if (done) {
    files_.push_back(*std::move(file));
  } else {
    status_ = report(done.error());
  }
}

void FolderFiles::text(const std::string& name, const std::string& text) {
  file(name, [&](std::ostream& out) { out << text; });
}

void FolderFiles::page(const std::string& name, const std::function<Expected<std::string>()>& page) {
  if (status_ != 0) return;
  if (!has_report_page()) {
    report({fmt::format("{} is left out: this build of monet has no report page", name)}, {}, {});
    return;
  }
  const Expected<std::string> made = page();
  if (made) {
    text(name, *made);
  } else {
    status_ = report(made.error());
  }
}

int FolderFiles::publish() {
  for (WholeFile& file : files_) {
    if (status_ != 0) break;
    if (const Status done = file.publish(); !done) status_ = report(done.error());
  }
  return status_;
}

}  // namespace monet::cli
