// How far long work is, for people who watch.
#pragma once

#include "cli/command.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>

namespace monet::cli {

// Standard error is a terminal, and nobody asked for quiet.
bool is_watched(const CommonOptions& common);

// One line on standard error, over what stood there: "what: 12 of 80, 3.2 a second, 21 s left"; without `all`, as far
// as it is known. A few times a second at most, whoever calls how often; from any thread.
void show_progress(const std::string& what, std::size_t done, std::size_t all);
// Takes the line away; nothing is done where none was shown.
void clear_progress();

// What such a line says. Rate and remaining time are those of the last seconds.
class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // Nothing: the last line was a moment ago.
  std::optional<std::string> next(const std::string& what, std::size_t done, std::size_t all, Clock::time_point now);

 private:
  std::string what_;
  std::size_t all_ = 0;
  std::optional<Clock::time_point> shown_;
  std::deque<std::pair<Clock::time_point, std::size_t>> recent_;
};

// Cut to so many characters, the end marked.
std::string cut(const std::string& text, std::size_t columns);

}  // namespace monet::cli
