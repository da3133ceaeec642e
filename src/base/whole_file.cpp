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

  // 0: all is written, and where `lasts` on the disk.
  int finish(bool lasts) {
    write_out();
    if (reason_ == 0 && lasts && fsync(file_) != 0) reason_ = errno;
    if (close(std::exchange(file_, -1)) != 0 && reason_ == 0) reason_ = errno;
    return reason_;
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
  std::string name = file.final_ + ".XXXXXX";
  const int made = mkostemp(name.data(), O_CLOEXEC);
  if (made < 0) return file.cannot_be_written(errno);
  file.sink_ = std::make_unique<Sink>(made);
  file.other_ = std::move(name);
  if (fchmod(made, permissions_for(file.final_)) != 0) return file.cannot_be_written(errno);
  return file;
}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : path_(std::move(other.path_)),
      final_(std::move(other.final_)),
      other_(std::exchange(other.other_, {})),
      sink_(std::move(other.sink_)) {}

WholeFile::~WholeFile() {
  if (!other_.empty()) unlink(other_.c_str());
}

Status WholeFile::finish() {
  if (const int reason = sink_->finish(!other_.empty()); reason != 0) return cannot_be_written(reason);
  return Done{};
}

Status WholeFile::publish() {
  if (other_.empty()) return Done{};
  if (std::rename(other_.c_str(), final_.c_str()) != 0) return cannot_be_written(errno);
  other_.clear();
  return Done{};
}

Status write_whole_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  MONET_TRY(WholeFile file, WholeFile::open(path));
  write(file.stream());
  MONET_CHECK(file.finish());
  return file.publish();
}

}  // namespace monet
