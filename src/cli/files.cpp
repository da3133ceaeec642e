#include "cli/files.h"

#include <monet/report.h>

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <utility>

namespace monet::cli {

namespace {

Error no_folder(const std::string& path, const std::string& why) {
  return {ErrorKind::user, fmt::format("cannot be made: {}", why), path, "give another folder to -o"};
}

}  // namespace

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
  return error ? report(no_folder(path, error.message())) : 0;
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

FolderFiles::FolderFiles(std::string folder) : folder_(std::move(folder)) {
  // "out/" is "out".
  while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
  std::error_code error;
  const auto type = std::filesystem::symlink_status(folder_, error).type();
  is_new_ = type == std::filesystem::file_type::not_found;
  if (!is_new_) {
    status_ = make_folder(folder_);
    return;
  }
  const std::filesystem::path parent = std::filesystem::path(folder_).parent_path();
  error.clear();  // it said that there is none
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (error) {
    status_ = report(no_folder(folder_, error.message()));
    return;
  }
  // Whether there can be one is said before anything is written.
  std::string made = folder_ + ".XXXXXX";
  if (mkdtemp(made.data()) == nullptr) {
    status_ = report(no_folder(folder_, std::strerror(errno)));
  } else {
    rmdir(made.c_str());
  }
}

void FolderFiles::file(const std::string& name, const std::function<void(std::ostream&)>& write) {
  if (status_ != 0) return;
  auto file = is_new_ ? WholeFile::open_beside(folder_, name) : WholeFile::open(std::filesystem::path(folder_) / name);
  if (!file) {
    status_ = report(file.error());
    return;
  }
  write(file->stream());
  const Status done = file->finish();
  if (done) {
    files_.push_back(*std::move(file));
    names_.insert(name);
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
  if (status_ != 0) return status_;
  if (is_new_) return status_ = publish_folder();
  const std::string unfinished = std::filesystem::path(folder_) / unfinished_name;
  if (const Status begun = write_whole_file(unfinished, [](std::ostream&) {}); !begun)
    return status_ = report(begun.error());
  for (WholeFile& file : files_) {
    if (const Status done = file.publish(); !done) return status_ = report(done.error());
  }
  remove_older_plans();
  unlink(unfinished.c_str());
  return status_;
}

void FolderFiles::remove_older_plans() const {
  // plan_000.yaml
  const auto is_numbered = [](const std::string& name) {
    return name.size() > 10 && name.starts_with("plan_") && name.ends_with(".yaml") &&
           name.find_first_not_of("0123456789", 5) == name.size() - 5;
  };
  if (std::ranges::none_of(names_, is_numbered)) return;
  std::error_code error;
  std::vector<std::filesystem::path> older;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    const std::string name = entry.path().filename();
    if (is_numbered(name) && !names_.contains(name)) older.push_back(entry.path());
  }
  for (const std::filesystem::path& path : older) std::filesystem::remove(path, error);
}

int FolderFiles::publish_folder() {
  std::string made = folder_ + ".XXXXXX";
  std::error_code error;
  if (mkdtemp(made.data()) == nullptr) return report(no_folder(folder_, std::strerror(errno)));
  for (WholeFile& file : files_) {
    const Status done = file.publish_in(made);
    if (done) continue;
    std::filesystem::remove_all(made, error);
    return report(done.error());
  }
  const mode_t mask = umask(0);
  umask(mask);
  if (chmod(made.c_str(), 0777U & ~mask) == 0 && std::rename(made.c_str(), folder_.c_str()) == 0) return 0;
  const int reason = errno;
  std::filesystem::remove_all(made, error);
  return report(no_folder(folder_, std::strerror(reason)));
}

}  // namespace monet::cli
