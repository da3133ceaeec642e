#include "cli/interrupt.h"

#include <csignal>

namespace monet::cli {

namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

std::function<bool()> stop_on_interrupt() {
  std::signal(SIGINT, on_interrupt);
  return [] { return interrupted != 0; };
}

}  // namespace monet::cli
