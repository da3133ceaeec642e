// All commands: how their arguments are read, and what is run.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace monet::cli {

class Commands {
 public:
  Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  CLI::App& app() { return app_; }
  // Of the command that was parsed; gives the exit status.
  int run_parsed() const;

 private:
  struct Entry {
    CLI::App* app;
    std::function<int()> run;
  };

  void add_help_commands(const std::string& group);
  void add_no_cache(CLI::App& command);

  CLI::App app_;
  bool no_cache_ = false;
  std::vector<Entry> entries_;
};

}  // namespace monet::cli
