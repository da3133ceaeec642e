#include "mapping/cache.h"

#include "base/read_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <sstream>

namespace monet {

namespace {

// Reads whole numbers separated by blanks; a word that is none, or too large a count, ends it.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> next(std::int64_t least, std::int64_t most) {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < least || value > most) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  bool done() const { return text_.find_first_not_of(' ') == std::string_view::npos; }

 private:
  std::string_view text_;
};

constexpr std::int64_t most_entries = 64;
constexpr std::int64_t most_loop_size = std::int64_t{1} << 62;

int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// After what others have written meanwhile; 0, or why not. What does not fit whole is taken away again.
int append_lines(const std::string& path, std::string text) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  (void)flock(file, LOCK_EX);
  const off_t before = lseek(file, 0, SEEK_END);
  char last = '\n';
  // A line that somebody began and did not end.
  if (before > 0 && pread(file, &last, 1, before - 1) == 1 && last != '\n') text.insert(0, "\n");
  int reason = write_all(file, text);
  if (reason != 0 && before >= 0) (void)!ftruncate(file, before);
  // A copy of this process may have the file open too: closing it here alone would not let others in.
  (void)flock(file, LOCK_UN);
  if (close(file) != 0 && reason == 0) reason = errno;
  return reason;
}

}  // namespace

// Not the bits by which a part's own table goes.
std::size_t MappingCache::part_of(const std::string& key) {
  return XXH3_64bits(key.data(), key.size()) % std::tuple_size_v<decltype(parts_)>;
}

MappingCache::MappingCache(std::size_t most)
    : most_in_half_(most == 0 ? std::numeric_limits<std::size_t>::max()
                              : std::max<std::size_t>(1, most / (2 * std::tuple_size_v<decltype(parts_)>))) {}

MappingCache::Result MappingCache::Part::add(const std::string& key, Result result, std::size_t most) {
  if (results.size() >= most) {
    older = std::move(results);
    results.clear();
  }
  return results.emplace(key, std::move(result)).first->second;
}

MappingCache::Result MappingCache::Part::find(const std::string& key, std::size_t most) {
  if (const auto found = results.find(key); found != results.end()) return found->second;
  const auto found = older.find(key);
  if (found == older.end()) return nullptr;
  // It is asked for still: it stays with the new ones.
  Result kept = std::move(found->second);
  older.erase(found);
  return add(key, std::move(kept), most);
}

MappingCache::Result MappingCache::find(const std::string& key) const {
  Part& part = parts_[part_of(key)];
  const std::scoped_lock lock(part.mutex);
  return part.find(key, most_in_half_);
}

MappingCache::Result MappingCache::put(const std::string& key, Result result) {
  Part& part = parts_[part_of(key)];
  const std::scoped_lock lock(part.mutex);
  if (Result known = part.find(key, most_in_half_)) return known;
  return part.add(key, std::move(result), most_in_half_);
}

std::size_t MappingCache::size() const {
  std::size_t sum = 0;
  for (Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    sum += part.results.size() + part.older.size();
  }
  return sum;
}

std::string to_line(const Mapping& mapping) {
  std::string line = fmt::format("{}", mapping.spatial.size());
  for (const SpatialLoop& loop : mapping.spatial)
    line += fmt::format(" {} {} {}", loop.dimension, loop.loop, loop.size);
  line += fmt::format(" {}", mapping.temporal.size());
  for (const TemporalLoop& loop : mapping.temporal) line += fmt::format(" {} {}", loop.loop, loop.size);
  line += fmt::format(" {}", mapping.cuts.size());
  for (const auto& cuts : mapping.cuts) {
    line += fmt::format(" {}", cuts.size());
    for (std::uint8_t cut : cuts) line += fmt::format(" {}", cut);
  }
  return line;
}

std::optional<Mapping> mapping_from(std::string_view line) {
  Numbers numbers(line);
  Mapping mapping;
  bool good = true;
  const auto read = [&](std::int64_t least, std::int64_t most) {
    const auto value = good ? numbers.next(least, most) : std::nullopt;
    good = good && value.has_value();
    return value.value_or(0);
  };
  for (std::int64_t i = read(0, most_entries); good && i > 0; --i) {
    SpatialLoop& loop = mapping.spatial.emplace_back();
    loop.dimension = static_cast<std::uint8_t>(read(0, 63));
    loop.loop = static_cast<std::uint8_t>(read(0, 63));
    loop.size = read(1, most_loop_size);
  }
  for (std::int64_t i = read(0, most_entries); good && i > 0; --i) {
    TemporalLoop& loop = mapping.temporal.emplace_back();
    loop.loop = static_cast<std::uint8_t>(read(0, 63));
    loop.size = read(1, most_loop_size);
  }
  for (std::int64_t i = read(0, most_entries); good && i > 0; --i) {
    auto& cuts = mapping.cuts.emplace_back();
    for (std::int64_t j = read(0, most_entries); good && j > 0; --j)
      cuts.push_back(static_cast<std::uint8_t>(read(0, 63)));
  }
  if (!good || !numbers.done()) return std::nullopt;
  return mapping;
}

Expected<MappingStore> MappingStore::open(const std::string& path) {
  MappingStore store;
  store.path_ = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return store;
  auto text = read_file(path);
  if (!text) {
    text.error().advice = "give another file for the kept mappings";
    return std::move(text).error();
  }
  std::istringstream lines(*std::move(text));
  for (std::string line; std::getline(lines, line);) {
    // Without its end it may be the beginning of another mapping.
    if (lines.eof()) {
      ++store.ignored_;
      break;
    }
    const std::size_t blank = line.find(' ');
    auto mapping = blank == 32 ? mapping_from(std::string_view(line).substr(blank + 1)) : std::nullopt;
    if (mapping) {
      store.mappings_[line.substr(0, blank)] = *std::move(mapping);
    } else {
      ++store.ignored_;
    }
  }
  return store;
}

const Mapping* MappingStore::find(const std::string& digest) const {
  const std::scoped_lock lock(*mutex_);
  const auto found = mappings_.find(digest);
  return found == mappings_.end() ? nullptr : &found->second;
}

void MappingStore::add(const std::string& digest, const Mapping& mapping) {
  const std::scoped_lock lock(*mutex_);
  if (mappings_.emplace(digest, mapping).second) added_.push_back(digest);
}

Status MappingStore::save() {
  const std::scoped_lock lock(*mutex_);
  if (added_.empty()) return Done{};
  std::string text;
  for (const std::string& digest : added_) text += fmt::format("{} {}\n", digest, to_line(mappings_.at(digest)));
  if (const int reason = append_lines(path_, std::move(text)); reason != 0) {
    return Error{.message = fmt::format("cannot be written: {}", std::strerror(reason)),
                 .place = path_,
                 .advice = "give another file for the kept mappings"};
  }
  added_.clear();
  return Done{};
}

}  // namespace monet
