#include "base/whole_file.h"

#include "base/try.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <string_view>
#include <utility>

namespace monet {

namespace {

// Links are followed: what they point to is replaced, not they.
std::string behind_links(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target.string();
}

// As a file that is opened for writing would have them, or as the one has that is replaced.
mode_t permissions_for(const std::string& path) {
  struct stat known{};
  if (stat(path.c_str(), &known) == 0) return known.st_mode & 07777U;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

// The name by which the kernel knows an open file.
std::string name_of_open(int file) { return fmt::format("/proc/self/fd/{}", file); }

// A file without a name: nothing is left of it, however the program ends. -1 where the disk has no such files.
int open_without_name(const std::string& folder) {
#ifdef O_TMPFILE
  const int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0 || access(name_of_open(file).c_str(), F_OK) == 0) return file;
  close(file);
#endif
  return -1;
}

// 0, or why not.
int give_name(int file, const std::string& path) {
  const std::string open_file = name_of_open(file);
  return linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

// An open file as a stream that knows why it failed.
class WholeFile::Sink : public std::streambuf {
 public:
  explicit Sink(int file) : file_(file), stream_(this) {}
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  ~Sink() override {
    if (file_ >= 0) close(file_);
  }

  std::ostream& stream() { return stream_; }

  int file() const { return file_; }

  // 0: all is written, and where `lasts` on the disk. A file without a name stays open: it is gone when it is closed.
  int finish(bool lasts, bool stays_open) {
    write_out();
    if (reason_ == 0 && lasts && fsync(file_) != 0) reason_ = errno;
    if (!stays_open && close(std::exchange(file_, -1)) != 0 && reason_ == 0) reason_ = errno;
    // Who reads a pipe may have read enough.
    return !lasts && reason_ == EPIPE ? 0 : reason_;
  }

 protected:
  int_type overflow(int_type c) override {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char one = traits_type::to_char_type(c);
    return xsputn(&one, 1) == 1 ? c : traits_type::eof();
  }

  std::streamsize xsputn(const char* text, std::streamsize count) override {
    constexpr std::size_t most = 1 << 16;
    if (reason_ != 0) return 0;
    buffer_.append(text, static_cast<std::size_t>(count));
    if (buffer_.size() >= most) write_out();
    return reason_ == 0 ? count : 0;
  }

  int sync() override {
    write_out();
    return reason_ == 0 ? 0 : -1;
  }

 private:
  void write_out() {
    std::string_view left = buffer_;
    while (!left.empty() && reason_ == 0) {
      const ssize_t written = ::write(file_, left.data(), left.size());
      if (written >= 0) {
        left.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        reason_ = errno;
      }
    }
    buffer_.clear();
  }

  int file_;
  int reason_ = 0;
  std::string buffer_;
  std::ostream stream_;
};

WholeFile::WholeFile() = default;

std::ostream& WholeFile::stream() { return sink_->stream(); }

Error WholeFile::cannot_be_written(int reason) const {
  return {.message = fmt::format("cannot be written: {}", std::strerror(reason)),
          .place = path_,
          .advice = "name a file in a folder that exists and may be written to"};
}

Expected<WholeFile> WholeFile::open(const std::string& path) {
  WholeFile file;
  file.path_ = path;
  file.final_ = behind_links(path);
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) return file.cannot_be_written(EISDIR);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    const int opened = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (opened < 0) return file.cannot_be_written(errno);
    file.sink_ = std::make_unique<Sink>(opened);
    return file;
  }
  // A file that may not be written to is not replaced either.
  if (std::filesystem::exists(status) && access(file.final_.c_str(), W_OK) != 0) return file.cannot_be_written(errno);
  MONET_RETURN_IF_ERROR(file.open_in(folder_of(file.final_)));
  if (std::filesystem::exists(status) && fchmod(file.sink_->file(), permissions_for(file.final_)) != 0)
    return file.cannot_be_written(errno);
  return file;
}

Expected<WholeFile> WholeFile::open_beside(const std::string& folder, const std::string& name) {
  WholeFile file;
  file.path_ = file.final_ = std::filesystem::path(folder) / name;
  MONET_RETURN_IF_ERROR(file.open_in(folder_of(folder)));
  return file;
}

Status WholeFile::open_in(const std::string& folder) {
  if (const int nameless = open_without_name(folder); nameless >= 0) {
    sink_ = std::make_unique<Sink>(nameless);
    nameless_ = true;
    return Done{};
  }
  std::string name = std::filesystem::path(folder) / std::filesystem::path(final_).filename();
  name += ".XXXXXX";
  const int made = mkostemp(name.data(), O_CLOEXEC);
  if (made < 0) return cannot_be_written(errno);
  sink_ = std::make_unique<Sink>(made);
  other_ = std::move(name);
  if (fchmod(made, permissions_for(final_)) != 0) return cannot_be_written(errno);
  return Done{};
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : path_(std::move(other.path_)),
      final_(std::move(other.final_)),
      other_(std::exchange(other.other_, {})),
      nameless_(other.nameless_),
      sink_(std::move(other.sink_)) {}

WholeFile::~WholeFile() {
  if (!other_.empty()) unlink(other_.c_str());
}

Status WholeFile::finish() {
  if (const int reason = sink_->finish(nameless_ || !other_.empty(), nameless_); reason != 0)
    return cannot_be_written(reason);
  return Done{};
}

Status WholeFile::publish() {
  if (nameless_) {
    int reason = give_name(sink_->file(), final_);
    // One that is there is replaced by another name only.
    for (int attempt = 0; reason == EEXIST && attempt < 1000; ++attempt) {
      std::string name = fmt::format("{}.{}-{}", final_, getpid(), attempt);
      reason = give_name(sink_->file(), name);
      if (reason != 0) continue;
      other_ = std::move(name);
    }
    if (reason != 0) return cannot_be_written(reason);
    nameless_ = false;
  }
  if (other_.empty()) return Done{};
  if (std::rename(other_.c_str(), final_.c_str()) != 0) return cannot_be_written(errno);
  other_.clear();
  return Done{};
}

Status WholeFile::publish_in(const std::string& folder) {
  final_ = std::filesystem::path(folder) / std::filesystem::path(final_).filename();
  return publish();
}

Status write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  MONET_TRY(WholeFile file, WholeFile::open(path));
  write(file.stream());
  MONET_RETURN_IF_ERROR(file.finish());
  return file.publish();
}

}  // namespace monet
