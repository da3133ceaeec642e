#include "cli/progress.h"

#include "base/quantities.h"
#include "base/text.h"
#include "cli/terminal.h"
#include "present/text/layout.h"

#include <fmt/format.h>

#include <cstdio>
#include <mutex>

namespace monet::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds between = 100ms, remembered = 10s;

struct Shown {
  std::mutex mutex;
  ProgressLine line;
  bool visible = false;
};

Shown& shown() {
  static Shown one;
  return one;
}

std::string left_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

std::string rate_text(double rate) {
  return rate >= 1 ? fmt::format("{:.3g} a second", rate) : fmt::format("{:.3g} s each", 1 / rate);
}

}  // namespace

std::optional<std::string> ProgressLine::next(const std::string& what, std::size_t done, std::size_t all,
                                              Clock::time_point now) {
  // Other work. Of a list, each piece has a name of its own.
  const bool other = all != all_ || (all == 0 && what != what_) || (!recent_.empty() && done < recent_.back().second);
  if (other) recent_.clear();
  what_ = what;
  all_ = all;
  const bool soon = shown_ && now - *shown_ < between;
  if (recent_.empty()) recent_.emplace_back(now, done);
  if (soon) return std::nullopt;
  shown_ = now;
  // What was there before, as in a store, took no time: only the last seconds count.
  recent_.emplace_back(now, done);
  while (recent_.size() > 2 && now - recent_.front().first > remembered) recent_.pop_front();
  std::string text = what;
  if (done > 0 || all > 0) text += fmt::format(": {}", grouped(static_cast<std::int64_t>(done)));
  if (all > 0) text += fmt::format(" of {}", grouped(static_cast<std::int64_t>(all)));
  const double seconds = std::chrono::duration<double>(now - recent_.front().first).count();
  const auto progressed = static_cast<double>(done - recent_.front().second);
  if (seconds > 0 && progressed > 0) {
    const double rate = progressed / seconds;
    text += ", " + rate_text(rate);
    if (all > done) text += ", " + left_text(static_cast<double>(all - done) / rate);
  }
  return text;
}

std::string cut(const std::string& text, std::size_t columns) {
  if (width_of(text) <= columns) return text;
  std::size_t end = 0;
  for (std::size_t shown_columns = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && ++shown_columns >= columns) break;
  }
  return text.substr(0, end) + "…";
}

bool is_watched(const CommonOptions& common) { return !common.quiet && is_terminal(Stream::messages); }

void show_progress(const std::string& what, std::size_t done, std::size_t all) {
  Shown& now = shown();
  const std::lock_guard lock(now.mutex);
  const auto text = now.line.next(what, done, all, ProgressLine::Clock::now());
  if (!text) return;
  now.visible = true;
  // The last column stays free: some terminals begin a new line behind it.
  write_message(fmt::format("\r{}\033[K", cut(for_terminal(*text), columns(Stream::messages) - 1)));
}

void clear_progress() {
  Shown& now = shown();
  const std::lock_guard lock(now.mutex);
  if (now.visible) write_message("\r\033[K");
  now.visible = false;
}

}  // namespace monet::cli
