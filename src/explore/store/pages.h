// A SQLite file as pages: its rows are found one by one, also where the way that leads to them is lost.
#pragma once

#include "base/open_file.h"

#include <monet/expected.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace monet::explore {

using FoundValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct FoundRow {
  bool has_rowid = false;  // a table WITHOUT ROWID has none
  std::int64_t rowid = 0;
  std::vector<FoundValue> values;
};

// What it finds are rows of any table, in the order of pages, those of its journal (NAME-wal) last; a row may come more
// than once, and one that was deleted may come too. Reads the file and changes nothing.
class PageReader {
 public:
  static Expected<PageReader> open(const std::string& path);
  // Not what the file itself has: it is of another store.
  void journal_alone() { file_bytes_ = 0; }
  void for_each_row(const std::function<void(const FoundRow&)>& look) const;

 private:
  using Page = std::vector<unsigned char>;

  explicit PageReader(OpenFile file) : file_(std::move(file)), file_bytes_(file_.size()) {}
  void open_journal(const std::string& path);
  bool read(const OpenFile& file, std::uint64_t at, Page& page) const;
  // The newest of that number.
  bool read_page(std::uint32_t number, Page& page) const;
  void look_through(const Page& page, const std::function<void(const FoundRow&)>& look) const;
  // The whole of a row that begins in `page` at `at`, and may go on in other pages.
  std::optional<std::string> payload(const Page& page, std::size_t at, std::uint64_t size, bool has_rowid) const;

  OpenFile file_;
  std::optional<OpenFile> journal_;
  std::uint64_t file_bytes_;
  std::size_t page_bytes_ = 4096, usable_bytes_ = 4096;
  std::vector<std::uint64_t> frames_;                              // of the journal: where their pages begin
  std::unordered_map<std::uint32_t, std::uint64_t> newest_frame_;  // by number of the page
};

}  // namespace monet::explore
