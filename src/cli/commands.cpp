#include "cli/commands.h"

#include "base/require.h"
#include "cli/arguments.h"
#include "cli/completion.h"
#include "cli/reference.h"
#include "cli/schema.h"
#include "cli/words.h"

#include <monet/cache.h>
#include <monet/version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace monet::cli {

namespace {

// What one wants to do with it: the headings of the help.
constexpr const char* const look = "Look at networks and machines";
constexpr const char* const time = "Time, energy and memory of a step";
constexpr const char* const better = "Better plans";
constexpr const char* const build = "Which hardware to build";
constexpr const char* const read_results = "Read results";
constexpr const char* const bare = "The solvers on bare problems";
constexpr const char* const trust = "Accuracy, and help";

// Whether a command searches for mappings, which are kept.
enum class Maps : bool { no, yes };

struct Command {
  const char* group;
  Maps maps;
  // Adds it to the program, and gives what runs it.
  std::function<std::function<int()>(CLI::App&)> add;
};

template <class Arguments>
Command command(const char* group, void (*add)(CLI::App&, Arguments&), Maps maps = Maps::no) {
  return {group, maps, [add](CLI::App& app) -> std::function<int()> {
            const auto arguments = std::make_shared<Arguments>();
            add(app, *arguments);
            return [arguments] { return run(*arguments); };
          }};
}

// In the order of the help.
const std::vector<Command>& all_commands() {
  static const std::vector<Command> all = {
      command(look, add_inspect),
      command(look, add_networks),
      command(look, add_train),
      command(look, add_hardware),
      command(look, add_precisions, Maps::yes),
      command(look, add_collective),
      command(time, add_evaluate, Maps::yes),
      command(time, add_map, Maps::yes),
      command(better, add_fuse, Maps::yes),
      command(better, add_checkpoint, Maps::yes),
      command(better, add_optimize, Maps::yes),
      command(better, add_parallel_search, Maps::yes),
      command(build, add_explore, Maps::yes),
      command(read_results, add_report),
      command(read_results, add_compare),
      command(read_results, add_serve, Maps::yes),
      command(bare, add_pack),
      command(bare, add_remat),
      command(trust, add_validate, Maps::yes),
      command(trust, add_calibrate),
  };
  return all;
}

CLI::App* newest(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; }).back();
}

}  // namespace

Commands::Commands()
    : app_("MONET: how long a training step of a network takes on an accelerator, with what energy and memory.",
           "monet") {
  app_.set_version_flag("--version", fmt::format("monet {}", version), "print the version and exit");
  app_.set_help_flag("-h,--help", "print this help and exit");
  app_.require_subcommand(1);
  for (const Command& each : all_commands()) {
    auto run_it = each.add(app_);
    entries_.push_back({newest(app_), std::move(run_it)});
    entries_.back().app->group(each.group);
    if (each.maps == Maps::yes) add_no_cache(*entries_.back().app);
  }
  add_help_commands(trust);
  app_.footer(
      "Examples:\n"
      "  monet evaluate resnet18 --hardware edge_tpu            a training step, in time\n"
      "  monet optimize gpt2-tiny --hardware edge_tpu -o plans  better plans for it\n"
      "  monet explore edge_tpu -o report.html                  which machine would do better\n"
      "  monet evaluate --help                                  all that a command takes\n\n"
      "Exit status:\n"
      "  0  done\n"
      "  1  something given is wrong: the message says what, where, and what to do\n"
      "  2  there is no answer: it does not fit, or nothing can run it\n"
      "  3  a defect of monet");
}

void Commands::add_no_cache(CLI::App& command) {
  // Where a command has commands of its own, they map.
  for (CLI::App* own : command.get_subcommands([](const CLI::App*) { return true; })) add_no_cache(*own);
  if (command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
    command.add_flag("--no-cache", no_cache_,
                     "neither take mappings that are kept in the user's cache folder nor keep any there");
  }
}

void Commands::add_help_commands(const std::string& group) {
  const auto add = [&](const char* name, const char* meaning, const char* argument, const char* argument_meaning,
                       const std::vector<std::string>& words, const char* footer,
                       std::string (*text_of)(const CommandReference&, const std::string&)) {
    CLI::App* added = app_.add_subcommand(name, meaning);
    const auto word = std::make_shared<std::string>();
    added->add_option(argument, *word, argument_meaning)->required()->check(one_of(words));
    added->group(group)->footer(footer);
    entries_.push_back({added, [this, word, text_of] { return print_file(text_of(reference_of(app_), *word)); }});
  };
  add("reference", "all commands and options, as a page or as a manual", "FORMAT", "markdown or man",
      {"markdown", "man"},
      "Examples:\n"
      "  monet reference man > monet.1 && man -l monet.1\n"
      "  monet reference markdown > reference.md",
      reference_text);
  add("completion", "completion of commands, options and names in a shell", "SHELL", "bash, zsh or fish",
      {"bash", "zsh", "fish"},
      "Examples:\n"
      "  source <(monet completion bash)                                    in ~/.bashrc\n"
      "  monet completion zsh > \"${fpath[1]}/_monet\"                        then begin a new shell\n"
      "  monet completion fish > ~/.config/fish/completions/monet.fish",
      completion_text);
  const std::string names = fmt::format("of what: {}", fmt::join(schema_names(), ", "));
  add("schema", "the JSON schema of what a command prints with --json, or of a machine file", "NAME", names.c_str(),
      schema_names(),
      "The schemas follow JSON Schema 2020-12. Fields that are required stay under their names; new ones may come.\n\n"
      "Examples:\n"
      "  monet schema result > result.schema.json     of monet evaluate --json, and of result.json\n"
      "  monet schema machine > machine.schema.json   of machine files, for editors",
      [](const CommandReference&, const std::string& name) { return schema_text(name); });
}

int Commands::run_parsed() const {
  keep_mappings(!no_cache_);
  for (const Entry& entry : entries_)
    if (entry.app->parsed()) return entry.run();
  MONET_REQUIRE(false);
  return 3;
}

}  // namespace monet::cli
