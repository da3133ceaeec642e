// The program `monet`: reads the arguments and calls the command.
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/mistakes.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <sstream>

namespace {

using namespace monet::cli;

int run_program(int argc, char** argv) {
  Commands commands;
  CLI::App& app = commands.app();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {  // --help, --version
    std::ostringstream text;
    const int status = app.exit(answered, text, text);
    const int printed = print_help(text.str());
    return printed != 0 ? printed : status;
  } catch (const CLI::ParseError& error) {
    complain(explain(app, error, {argv + 1, argv + argc}));
    return 1;
  }
  return commands.run_parsed();
}

// A stream that was closed gets a place that gives and takes nothing: else the next file that is opened has its number,
// and what is said goes into that file.
void open_closed_streams() {
  for (int stream = 0; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) (void)open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory for this");
    return 1;
  } catch (const std::exception& error) {
    complain(std::string("internal error, please report it: ") + error.what());
    return 3;
  }
}
