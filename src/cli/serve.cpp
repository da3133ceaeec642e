#include "cli/command.h"
#include "optimize/memory/budget.h"

#include <csignal>

namespace monet::cli {

namespace {

volatile std::sig_atomic_t ended = 0;

void on_end(int signal) {
  ended = 1;
  std::signal(signal, SIG_DFL);  // a second one ends at once
}

}  // namespace

int run(const ServeCommand& command) {
  ServeOptions options = command.options;
  const auto most = bytes_from(command.most_upload, "--most-upload");
  if (!most) return report(most.error());
  options.most_upload_bytes = *most;
  std::signal(SIGINT, on_end);
  std::signal(SIGTERM, on_end);
  int printed = 0;
  options.ready = [&](const std::string& url) { printed = print_file(url + "\n"); };
  options.stop = [&] { return ended != 0 || printed != 0; };
  const Status status = serve(options);
  if (!status) return report(status.error());
  return printed;
}

}  // namespace monet::cli
