#include "solvers/apart.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

namespace monet {

namespace {

constexpr int milliseconds_between_questions = 10;

[[noreturn]] void work_in_the_copy(const std::function<void()>& work, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // What the parent has not written yet is the parent's to write.
  ::__fpurge(stdout);
  try {
    work();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

class Copy {
 public:
  explicit Copy(const std::function<void()>& work) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    // Ctrl-C is for the parent, from the first moment on.
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) work_in_the_copy(work, parent);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[1]);
    open_while_it_runs_ = ends[0];
  }
  ~Copy() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      is_gone(0);
    }
    if (open_while_it_runs_ >= 0) ::close(open_while_it_runs_);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  bool started() const { return pid_ != -1; }

  // Waits a little.
  bool ends() {
    pollfd file{.fd = open_while_it_runs_, .events = POLLIN, .revents = 0};
    return is_gone(::poll(&file, 1, milliseconds_between_questions) > 0 ? 0 : WNOHANG);
  }

 private:
  bool is_gone(int how) {
    pid_t result = 0;
    do result = ::waitpid(pid_, nullptr, how);
    while (result < 0 && errno == EINTR);
    if (result != 0) pid_ = 0;
    return result != 0;
  }

  pid_t pid_ = -1;  // 0: it is gone
  int open_while_it_runs_ = -1;
};

}  // namespace

std::shared_ptr<std::byte> shared_memory(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(memory), [bytes](std::byte* at) { ::munmap(at, bytes); }};
}

bool run_apart(const std::function<void()>& work, const std::function<bool()>& over) {
  Copy copy(work);
  if (!copy.started()) return false;
  while (!over() && !copy.ends()) {
  }
  return true;
}

}  // namespace monet
