#include "cli/interrupt.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace monet::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
  const int error = errno;
  constexpr std::string_view told = "\r\033[Kmonet: ending with what was found; Ctrl-C again ends at once\n";
  if (isatty(STDERR_FILENO) != 0) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, told.data(), told.size());
  }
  errno = error;
}

}  // namespace

std::function<bool()> stop_on_interrupt() {
  std::signal(SIGINT, on_interrupt);
  return [] { return interrupted != 0; };
}

}  // namespace monet::cli
