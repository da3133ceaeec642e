// The format: https://sqlite.org/fileformat2.html
#include "explore/store/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace monet::explore {

namespace {

using Bytes = std::span<const unsigned char>;

constexpr std::size_t longest_row = 64 * 1024 * 1024;  // bytes; damage may name any
constexpr std::size_t most_columns = 64;

constexpr int leaf_with_rowids = 0x0d, leaf_of_keys = 0x0a, inner_of_keys = 0x02;

constexpr std::size_t journal_head = 32, frame_head = 24;

std::uint64_t number_at(Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < count; ++i) number = number << 8 | bytes[at + i];
  return number;
}

// Seven bits a byte, eight of the ninth; `at` moves behind it. None: the bytes end before.
std::optional<std::uint64_t> varint(Bytes bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9 && at < bytes.size(); ++i) {
    const unsigned char byte = bytes[at++];
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if ((byte & 0x80) == 0) return value;
  }
  return std::nullopt;
}

// By the type that a row's head has for it.
std::optional<std::size_t> width_of(std::uint64_t type) {
  constexpr std::array<std::size_t, 10> widths = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < widths.size()) return widths[type];
  if (type < 12 || (type - 12) / 2 > longest_row) return std::nullopt;
  return static_cast<std::size_t>((type - 12) / 2);
}

FoundValue value_of(std::uint64_t type, Bytes bytes) {
  if (type == 0) return std::monostate{};
  if (type == 8 || type == 9) return static_cast<std::int64_t>(type - 8);
  if (type == 7) return std::bit_cast<double>(number_at(bytes, 0, 8));
  if (type >= 12) return std::string(bytes.begin(), bytes.end());
  const std::uint64_t number = number_at(bytes, 0, bytes.size());
  const auto unused = static_cast<int>(64 - 8 * bytes.size());
  return static_cast<std::int64_t>(number << unused) >> unused;
}

// None, unless head and values fill it to the last byte.
std::optional<std::vector<FoundValue>> values_of(Bytes row) {
  std::size_t at = 0;
  const auto head = varint(row, at);
  if (!head || *head > row.size() || *head < at) return std::nullopt;
  std::vector<FoundValue> values;
  std::size_t value_at = static_cast<std::size_t>(*head);
  while (at < *head) {
    const auto type = varint(row, at);
    if (!type || at > *head || values.size() == most_columns) return std::nullopt;
    const auto width = width_of(*type);
    if (!width || *width > row.size() - value_at) return std::nullopt;
    values.push_back(value_of(*type, row.subspan(value_at, *width)));
    value_at += *width;
  }
  if (value_at != row.size()) return std::nullopt;
  return values;
}

Error unreadable(const std::string& path) {
  return {.message = fmt::format("the store cannot be read: {}", std::strerror(errno != 0 ? errno : EIO)),
          .place = path,
          .advice = "check the path and its permissions"};
}

bool is_page_size(std::uint64_t bytes) { return bytes >= 512 && bytes <= 65536 && std::has_single_bit(bytes); }

}  // namespace

Expected<PageReader> PageReader::open(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return Error{.message = "there is no such store", .place = path, .advice = "check the path"};
  errno = 0;
  auto file = OpenFile::open(path);
  if (!file) return unreadable(path);
  PageReader reader(*std::move(file));
  std::array<unsigned char, 100> head{};
  const bool has_head = reader.file_.read_at(0, head);
  constexpr std::string_view magic{"SQLite format 3", 16};
  // Without a head that can be believed, pages are as large as in all stores that were ever made.
  if (has_head && std::equal(magic.begin(), magic.end(), head.begin())) {
    const std::uint64_t said = number_at(head, 16, 2);
    const std::uint64_t bytes = said == 1 ? 65536 : said;
    if (is_page_size(bytes)) reader.page_bytes_ = static_cast<std::size_t>(bytes);
    if (head[20] <= 32) reader.usable_bytes_ = reader.page_bytes_ - head[20];
  }
  reader.open_journal(path + "-wal");
  return reader;
}

void PageReader::open_journal(const std::string& path) {
  auto journal = OpenFile::open(path);
  if (!journal) return;
  journal_ = *std::move(journal);
  std::array<unsigned char, journal_head> head{};
  if (!journal_->read_at(0, head)) return;
  if ((number_at(head, 0, 4) & ~std::uint64_t{1}) != 0x377f0682 || number_at(head, 8, 4) != page_bytes_) return;
  std::array<unsigned char, frame_head> frame{};
  for (std::uint64_t at = journal_head;; at += frame_head + page_bytes_) {
    if (!journal_->read_at(at, frame)) break;
    // Those behind the last one are of an earlier round of the journal.
    if (!std::equal(frame.begin() + 8, frame.begin() + 16, head.begin() + 16)) break;
    frames_.push_back(at + frame_head);
    newest_frame_[static_cast<std::uint32_t>(number_at(frame, 0, 4))] = at + frame_head;
  }
}

bool PageReader::read(const OpenFile& file, std::uint64_t at, Page& page) const {
  page.resize(page_bytes_);
  return file.read_at(at, page);
}

bool PageReader::read_page(std::uint32_t number, Page& page) const {
  if (const auto frame = newest_frame_.find(number); frame != newest_frame_.end())
    return read(*journal_, frame->second, page);
  return number > 0 && read(file_, std::uint64_t{number - 1} * page_bytes_, page);
}

std::optional<std::string> PageReader::payload(const Page& page, std::size_t at, std::uint64_t size,
                                               bool has_rowid) const {
  if (size > longest_row) return std::nullopt;
  const std::size_t usable = usable_bytes_;
  const std::size_t most = has_rowid ? usable - 35 : (usable - 12) * 64 / 255 - 23;
  const std::size_t least = (usable - 12) * 32 / 255 - 23;
  auto local = static_cast<std::size_t>(size);
  if (size > most) {
    const std::size_t fitting = least + (static_cast<std::size_t>(size) - least) % (usable - 4);
    local = fitting <= most ? fitting : least;
  }
  const std::size_t end = at + local + (local < size ? 4 : 0);
  if (end > usable) return std::nullopt;
  std::string bytes(page.begin() + static_cast<std::ptrdiff_t>(at),
                    page.begin() + static_cast<std::ptrdiff_t>(at + local));
  if (local == size) return bytes;
  auto next = static_cast<std::uint32_t>(number_at(page, at + local, 4));
  Page more;
  while (bytes.size() < size) {
    if (next == 0 || !read_page(next, more)) return std::nullopt;
    next = static_cast<std::uint32_t>(number_at(more, 0, 4));
    const std::size_t part = std::min(usable - 4, static_cast<std::size_t>(size) - bytes.size());
    bytes.append(reinterpret_cast<const char*>(more.data()) + 4, part);
  }
  if (next != 0) return std::nullopt;
  return bytes;
}

void PageReader::look_through(const Page& page, const std::function<void(const FoundRow&)>& look) const {
  const int kind = page[0];
  if (kind != leaf_with_rowids && kind != leaf_of_keys && kind != inner_of_keys) return;
  const bool has_rowid = kind == leaf_with_rowids;
  const std::size_t head = kind == inner_of_keys ? 12 : 8;
  const auto cells = static_cast<std::size_t>(number_at(page, 3, 2));
  if (head + 2 * cells > usable_bytes_) return;
  const Bytes usable(page.data(), usable_bytes_);
  for (std::size_t i = 0; i < cells; ++i) {
    auto at = static_cast<std::size_t>(number_at(page, head + 2 * i, 2));
    if (at < head + 2 * cells) continue;
    if (kind == inner_of_keys) at += 4;  // the page below it
    const auto size = varint(usable, at);
    const auto rowid = size && has_rowid ? varint(usable, at) : std::optional<std::uint64_t>(0);
    if (!size || !rowid) continue;
    const auto bytes = payload(page, at, *size, has_rowid);
    if (!bytes) continue;
    auto values = values_of({reinterpret_cast<const unsigned char*>(bytes->data()), bytes->size()});
    if (values) look({has_rowid, static_cast<std::int64_t>(*rowid), *std::move(values)});
  }
}

void PageReader::for_each_row(const std::function<void(const FoundRow&)>& look) const {
  Page page;
  // The first one has the tables' own descriptions.
  for (std::uint64_t at = page_bytes_; at + page_bytes_ <= file_bytes_; at += page_bytes_) {
    if (read(file_, at, page)) look_through(page, look);
  }
  for (const std::uint64_t frame : frames_) {
    if (read(*journal_, frame, page)) look_through(page, look);
  }
}

}  // namespace monet::explore
