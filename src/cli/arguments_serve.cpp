#include "cli/arguments.h"

namespace monet::cli {

void add_serve(CLI::App& app, ServeCommand& command) {
  CLI::App* serve =
      app.add_subcommand("serve", "a local page in the browser that runs things, and keeps their history");
  serve->add_option("--port", command.options.port, "that it listens on; 0: any that is free")
      ->type_name("N")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  serve
      ->add_option("--host", command.options.host,
                   "address that it listens on; others than this machine's let others in")
      ->type_name("ADDRESS")
      ->capture_default_str();
  serve
      ->add_option("--name", command.options.names,
                   "another name that it is asked by, HOST or HOST:PORT: of a proxy, of a container")
      ->type_name("HOST");
  serve
      ->add_option(
          "--folder", command.options.folder,
          "where history, networks and machines are kept; by default $XDG_DATA_HOME/monet or ~/.local/share/monet")
      ->type_name("DIR");
  serve->add_option("--most-upload", command.most_upload, "size of a network that is sent, at most")
      ->type_name("SIZE")
      ->capture_default_str();
  serve->add_option("--jobs", command.options.jobs, "evaluations at a time; by default as many as there are cores")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  serve->footer(
      "Prints the address, with its token, alone on a line; whoever has it can ask. Ctrl-C ends it.\n\n"
      "Examples:\n"
      "  monet serve\n"
      "  monet serve --port 0 --folder runs");
}

}  // namespace monet::cli
