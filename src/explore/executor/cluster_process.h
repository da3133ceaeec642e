// Another program, spoken to in lines over its standard input and output; what it writes to standard error is kept for
// messages.
#pragma once

#include <monet/expected.h>

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace monet::explore {

class ChildProcess {
 public:
  // In a process group of its own, so that Ctrl-C reaches us alone. A program that cannot be started is an error.
  static Expected<std::unique_ptr<ChildProcess>> start(const std::vector<std::string>& command);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Closes its input, gives it time to end, then ends it and all that it started.
  ~ChildProcess();

  // Never waits: what the other end does not take yet is sent by next_line.
  void send(const std::string& line);
  // The next line, as soon as there is one; nothing when time is up, or there will be none (ended()). A line that is
  // longer than 64 MiB ends the conversation.
  std::optional<std::string> next_line(std::chrono::milliseconds patience);
  // Asks it to end, in the middle of whatever it does.
  void terminate();
  bool ended() const { return out_ < 0; }
  // After ended(): "exit status 1", "signal 9".
  std::string how_it_ended();
  // The last lines of its standard error.
  const std::string& last_words() const { return words_; }

 private:
  ChildProcess() = default;
  void pump(std::chrono::milliseconds patience);
  void write_some();
  void read_out();
  void read_words();
  bool exits_within(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, words_in_ = -1;  // -1: closed
  std::string to_send_, received_, words_;
  std::optional<int> status_;
};

}  // namespace monet::explore
