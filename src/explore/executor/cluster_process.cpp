#include "explore/executor/cluster_process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

namespace monet::explore {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t most_line_bytes = std::size_t{64} << 20;
constexpr std::size_t most_words_bytes = 4000;
constexpr milliseconds time_to_end{20000}, time_to_be_ended{3000};

void close_one(int& file) {
  if (file >= 0) ::close(file);
  file = -1;
}

// Standard input is a socket: writing to one whose other end is gone raises no signal.
struct Ends {
  int in[2] = {-1, -1}, out[2] = {-1, -1}, words[2] = {-1, -1};

  bool open() {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) == 0 && ::pipe2(out, O_CLOEXEC) == 0 &&
           ::pipe2(words, O_CLOEXEC) == 0;
  }
  ~Ends() {
    for (int* pair : {in, out, words}) {
      close_one(pair[0]);
      close_one(pair[1]);
    }
  }
};

int spawn(pid_t& pid, const std::vector<std::string>& command, const Ends& ends) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends.in[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends.out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends.words[1], STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&usual, signal);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int failure = ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return failure;
}

void do_not_wait(int file) { ::fcntl(file, F_SETFL, ::fcntl(file, F_GETFL) | O_NONBLOCK); }

}  // namespace

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const std::vector<std::string>& command) {
  Ends ends;
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  int failure = ends.open() ? 0 : errno;
  if (failure == 0) failure = spawn(child->pid_, command, ends);
  if (failure != 0) {
    child->pid_ = -1;
    return Error{.message = fmt::format("cannot be started: {}", std::strerror(failure)), .place = command.front()};
  }
  child->in_ = std::exchange(ends.in[0], -1);
  child->out_ = std::exchange(ends.out[0], -1);
  child->words_in_ = std::exchange(ends.words[0], -1);
  for (const int file : {child->in_, child->out_, child->words_in_}) do_not_wait(file);
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  const auto until = Clock::now() + time_to_end;
  while (!to_send_.empty() && in_ >= 0 && out_ >= 0 && Clock::now() < until) pump(milliseconds(20));
  close_one(in_);
  if (!exits_within(std::chrono::duration_cast<milliseconds>(until - Clock::now()))) {
    ::kill(-pid_, SIGTERM);
    exits_within(time_to_be_ended);
  }
  ::kill(-pid_, SIGKILL);  // the group is there until we ask for the status
  if (!status_) ::waitpid(pid_, nullptr, 0);
  close_one(out_);
  close_one(words_in_);
}

void ChildProcess::send(const std::string& line) {
  to_send_ += line + "\n";
  write_some();
}

void ChildProcess::terminate() { ::kill(-pid_, SIGTERM); }

std::optional<std::string> ChildProcess::next_line(milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (true) {
    if (const auto end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (out_ < 0 || left <= milliseconds(0)) return std::nullopt;
    pump(left);
  }
}

std::string ChildProcess::how_it_ended() {
  // Its last words may still be on their way.
  if (!exits_within(time_to_be_ended)) return "it closed its output and runs on";
  read_words();
  if (!status_) {
    int status = 0;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
    status_ = status;
  }
  return WIFEXITED(*status_) ? fmt::format("exit status {}", WEXITSTATUS(*status_))
                             : fmt::format("signal {}", WTERMSIG(*status_));
}

void ChildProcess::pump(milliseconds patience) {
  std::array<pollfd, 3> files = {{{.fd = to_send_.empty() ? -1 : in_, .events = POLLOUT},
                                  {.fd = out_, .events = POLLIN},
                                  {.fd = words_in_, .events = POLLIN}}};
  if (::poll(files.data(), files.size(), static_cast<int>(patience.count())) <= 0) return;
  if (files[0].revents != 0) write_some();
  if (files[1].revents != 0) read_out();
  if (files[2].revents != 0) read_words();
}

void ChildProcess::write_some() {
  while (in_ >= 0 && !to_send_.empty()) {
    const ssize_t sent = ::send(in_, to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      to_send_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno != EINTR) {
      if (errno != EAGAIN && errno != EWOULDBLOCK) close_one(in_);  // it is gone; its output ends too
      return;
    }
  }
}

void ChildProcess::read_out() {
  std::array<char, 65536> piece;
  while (out_ >= 0) {
    const ssize_t size = ::read(out_, piece.data(), piece.size());
    if (size > 0) received_.append(piece.data(), static_cast<std::size_t>(size));
    if (size == 0 || received_.size() > most_line_bytes) close_one(out_);
    if (size < 0 && errno != EINTR) return;
  }
}

void ChildProcess::read_words() {
  std::array<char, 4096> piece;
  while (words_in_ >= 0) {
    const ssize_t size = ::read(words_in_, piece.data(), piece.size());
    if (size > 0) words_.append(piece.data(), static_cast<std::size_t>(size));
    if (words_.size() > most_words_bytes) {
      words_.erase(0, words_.size() - most_words_bytes);
      words_.erase(0, words_.find('\n') + 1);
    }
    if (size == 0) close_one(words_in_);
    if (size < 0 && errno != EINTR) return;
  }
}

bool ChildProcess::exits_within(milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (!status_) {
    siginfo_t info = {};
    // Its status stays with it, and with that its group.
    if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) break;
    if (Clock::now() >= until) return false;
    if (out_ >= 0 || words_in_ >= 0) {
      pump(milliseconds(20));
    } else {
      std::this_thread::sleep_for(milliseconds(20));
    }
    received_.clear();
  }
  return true;
}

}  // namespace monet::explore
